/**
 * `refreshView` updates a materialized view to a version of its source, in at most one new version
 * of the view, or in none if the view shows that version already. If the source has only gained
 * rows and the view keeps its columns, only the added rows are computed. In other cases, and always
 * with the option `full`, all rows are computed again. A refresh that another one overtakes is
 * planned again; after 16 attempts it throws ConcurrentModification. A table that is no view throws
 * InvalidInput.
 */
import { DirspaceError } from '../errors.ts';
import type { ManifestView, ViewSource } from '../format/index.ts';
import { schemaToJson } from '../protocol/index.ts';
import { assignFieldIds } from './fields/index.ts';
import { orderOfNewRows, structOrder } from './lance/index.ts';
import { isSame, isUnchanged, onlyGrew } from './source-growth.ts';
import {
  announced,
  type Committed,
  commit,
  compressionOf,
  type Draft,
  type Engine,
  resolveHead,
  type Snapshot,
  type TableBranch,
} from './versions/index.ts';
import { viewRows } from './view-query.ts';
import {
  appended,
  fitFragments,
  fitOf,
  type NewFragment,
  removeFragments,
  replaced,
  type WriteOptions,
  writeFragments,
  writesLance,
} from './write/index.ts';

/** All rows were computed again, or only the added ones; `no_op` if the source had not changed. */
export type RefreshMode = 'rebuild' | 'incremental' | 'no_op';

export interface RefreshOptions extends WriteOptions {
  /** Computes all rows anew, whatever happened to the source. */
  readonly full?: boolean | undefined;
}

export interface ViewRefreshed extends Committed {
  readonly mode: RefreshMode;
  readonly rows: number;
}

/** Another refresh took place since this one was planned. */
class RefreshedMeanwhile extends Error {}

/** How often a refresh is planned anew because another one was faster. */
const MOST_PLANS = 16;

/**
 * @param source the version of the source to refresh to
 * @throws InvalidInput for a table that is no view, ConcurrentModification
 */
export async function refreshView(
  engine: Engine,
  branch: TableBranch,
  source: Snapshot,
  options: RefreshOptions = {},
): Promise<ViewRefreshed> {
  for (let plan = 1; ; plan++) {
    options.signal?.throwIfAborted();
    try {
      return await refreshOnce(engine, branch, source, options);
    } catch (error) {
      if (!(error instanceof RefreshedMeanwhile)) throw error;
      if (plan < MOST_PLANS) continue;
      throw new DirspaceError(
        'ConcurrentModification',
        `The view was refreshed by others ${MOST_PLANS} times while this refresh was under way. Read it as it is, or refresh it again.`,
      );
    }
  }
}

async function refreshOnce(
  engine: Engine,
  branch: TableBranch,
  source: Snapshot,
  options: RefreshOptions,
): Promise<ViewRefreshed> {
  const base = (await resolveHead(engine, branch))?.snapshot;
  const view = base?.manifest.view;
  if (base === undefined || view === undefined) {
    throw new DirspaceError(
      'InvalidInput',
      'The table is not a materialized view, so there is nothing to refresh it by; createMaterializedView makes one.',
    );
  }
  const state = {
    table: source.branch.incarnation,
    version: source.version,
    rows: source.rowCount,
  };
  const full = options.full === true;
  if (!full && view.of !== undefined && isSame(view.of, state)) {
    return { snapshot: base, transaction: undefined, mode: 'no_op', rows: 0 };
  }
  const known = full || !(await onlyGrew(engine, source, view.of)) ? undefined : view.of;
  return announced(engine, branch.tableFolder, (writing) =>
    written(writing, base, { view, state, known, source }, options),
  );
}

interface Plan {
  readonly view: ManifestView;
  /** The state of the source that the view is to show. */
  readonly state: ViewSource;
  /**
   * The state of the source that the rows that stay were computed from; undefined if none stays.
   */
  readonly known: ViewSource | undefined;
  readonly source: Snapshot;
}

async function written(
  engine: Engine,
  base: Snapshot,
  plan: Plan,
  options: RefreshOptions,
): Promise<ViewRefreshed> {
  const { view, state, source } = plan;
  const { branch } = base;
  const { signal } = options;
  let { known } = plan;
  const room = view.limit === undefined ? undefined : Math.max(0, view.limit - base.rowCount);
  const part = { after: known?.rows, limit: known === undefined ? view.limit : room, signal };
  let stream = await viewRows(engine, source, view, part);
  if (known !== undefined && !sameColumns(base, stream.schema)) {
    // A column of the source has another type by now.
    known = undefined;
    stream = await viewRows(engine, source, view, { signal });
  }
  const { tree, nextFieldId } = assignFieldIds(
    stream.schema.fields,
    base.manifest.nextFieldId,
    base.fields,
  );
  const { fragments, rows, durable } = await writeFragments(
    engine,
    branch.tableFolder,
    stream,
    tree,
    {
      lance: writesLance(engine, base),
      structs:
        known === undefined
          ? orderOfNewRows(base.manifest.lanceWrites === true)
          : await structOrder(engine, base, 'kept'),
      compression: await compressionOf(engine, branch, base.manifest),
      signal,
    },
  );
  const build = async (newest: Snapshot | undefined): Promise<Draft> => {
    const now = newest?.manifest.view;
    if (newest === undefined || now === undefined || !isUnchanged(now.of, view.of)) {
      await removeFragments(engine, branch.tableFolder, fragments);
      throw new RefreshedMeanwhile();
    }
    const draft =
      known === undefined
        ? await replaced(engine, branch, newest, {
            kind: 'overwrite',
            schema: stream.schema,
            fields: tree,
            nextFieldId: Math.max(nextFieldId, newest.manifest.nextFieldId),
            fragments,
            rows,
          })
        : await grown(engine, newest, { schema: stream.schema, fields: tree }, fragments, rows);
    return { ...draft, view: { ...view, of: state } };
  };
  const committed = await commit(engine, branch, {
    transaction: options.transaction,
    signal,
    survivesOverwrite: true,
    after: durable,
    build,
  });
  return { ...committed, mode: known === undefined ? 'rebuild' : 'incremental', rows };
}

async function grown(
  engine: Engine,
  newest: Snapshot,
  { schema, fields }: Pick<Parameters<typeof replaced>[3], 'schema' | 'fields'>,
  fragments: readonly NewFragment[],
  rows: number,
): Promise<Draft> {
  const fitting = fitFragments(newest.fields, fitOf(fields, schema), fragments);
  return appended(engine, newest, fitting, rows);
}

const sameColumns = ({ manifest }: Snapshot, schema: Snapshot['schema']): boolean =>
  JSON.stringify(manifest.schema.fields) === JSON.stringify(schemaToJson(schema).fields);
