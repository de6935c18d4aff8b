/**
 * Appends rows (`append`), and replaces all rows and the schema (`overwrite`), each in one version.
 */
import type { RecordBatchStream, Schema } from '../../arrow/index.ts';
import { DirspaceError, isDirspaceError } from '../../errors.ts';
import { schemaToJson } from '../../protocol/index.ts';
import { assignFieldIds, type IdentifiedField, listFieldIds } from '../fields/index.ts';
import {
  announced,
  type Committed,
  commit,
  type Draft,
  EMPTY_FRAGMENTS,
  type Engine,
  editFragments,
  fragmentListOf,
  isBaseGone,
  type Snapshot,
  type TableBranch,
} from '../versions/index.ts';
import { fitFragments, fitOf } from './match-fields.ts';
import { type NewFragment, removeFragments, writeFragments } from './write.ts';

export interface WriteOptions {
  readonly transaction?: string | (() => string);
  readonly signal?: AbortSignal | undefined;
}

export interface RowsCommitted extends Committed {
  readonly rows: number;
}

/** Appends the stream's rows; columns are matched by name, missing nullable ones become null. */
export const append = (
  engine: Engine,
  base: Snapshot,
  stream: RecordBatchStream,
  options: WriteOptions = {},
): Promise<RowsCommitted> =>
  announced(engine, base.branch.tableFolder, (writing) =>
    appendRows(writing, base, stream, options),
  );

async function appendRows(
  engine: Engine,
  base: Snapshot,
  stream: RecordBatchStream,
  options: WriteOptions,
): Promise<RowsCommitted> {
  const fit = fitOf(base.fields, stream.schema);
  const written = await writeFragments(
    engine,
    base.branch.tableFolder,
    stream,
    fit.matched,
    options.signal,
  );
  const committed = await commit(engine, base.branch, {
    transaction: options.transaction,
    signal: options.signal,
    after: written.durable,
    build: async (newest) => {
      if (newest === undefined) throw emptyTable();
      try {
        const fitting = fitFragments(newest.fields, fit, written.fragments);
        return await appended(engine, newest, fitting, written.rows);
      } catch (error) {
        if (!(await isBaseGone(engine, newest, error)))
          await removeFragments(engine, base.branch.tableFolder, written.fragments);
        throw error;
      }
    },
  });
  return { ...committed, rows: written.rows };
}

export interface OverwriteOptions extends WriteOptions {
  /** Set when the table must have no version yet: the error if it has one by then. */
  readonly onlyFirst?: () => DirspaceError;
  /** Where the table has a version by then, the rows are added to it in place of replacing its own. */
  readonly orAppend?: boolean;
  /** Runs right before a first version is published; what it throws ends the write. */
  readonly beforeFirst?: () => Promise<void>;
  /** Properties the table has from this version on; `first` when it is the first one. */
  readonly properties?: (first: boolean) => Readonly<Record<string, string>>;
}

/** Replaces schema and rows; history stays and version numbers go on. */
export const overwrite = (
  engine: Engine,
  branch: TableBranch,
  base: Snapshot | undefined,
  stream: RecordBatchStream,
  options: OverwriteOptions = {},
): Promise<RowsCommitted> =>
  announced(
    engine,
    branch.tableFolder,
    (writing) => replaceRows(writing, branch, base, stream, options),
    { isFirst: base === undefined },
  );

async function replaceRows(
  engine: Engine,
  branch: TableBranch,
  base: Snapshot | undefined,
  stream: RecordBatchStream,
  options: OverwriteOptions,
): Promise<RowsCommitted> {
  const { tree, nextFieldId } = assignFieldIds(
    stream.schema.fields,
    base?.manifest.nextFieldId ?? 0,
    base?.fields,
  );
  const written = await writeFragments(engine, branch.tableFolder, stream, tree, options.signal);
  const committing = commit(engine, branch, {
    transaction: options.transaction,
    signal: options.signal,
    survivesOverwrite: true,
    after: written.durable,
    build: async (newest) => {
      if (newest !== undefined && options.onlyFirst !== undefined) throw options.onlyFirst();
      if (newest === undefined) await options.beforeFirst?.();
      else if (options.orAppend === true) {
        const fit = fitOf(tree, stream.schema);
        const fitting = fitFragments(newest.fields, fit, written.fragments);
        return await appended(engine, newest, fitting, written.rows);
      }
      return replaced(engine, branch, newest, {
        schema: stream.schema,
        fields: tree,
        nextFieldId: Math.max(nextFieldId, newest?.manifest.nextFieldId ?? 0),
        fragments: written.fragments,
        rows: written.rows,
        kind: newest === undefined ? 'create' : 'overwrite',
        properties: options.properties?.(newest === undefined),
      });
    },
  });
  const committed = await (base === undefined
    ? withoutLeftovers(engine, branch, written.fragments, committing)
    : committing);
  return { ...committed, rows: written.rows };
}

/** Fragments that no version refers to would look like those of a table that lost its versions. */
async function withoutLeftovers(
  engine: Engine,
  { tableFolder }: TableBranch,
  fragments: readonly NewFragment[],
  committing: Promise<Committed>,
): Promise<Committed> {
  try {
    return await committing;
  } catch (error) {
    if (isDirspaceError(error, 'CommitStateUnknown')) throw error;
    // What the disk does not let go of now is cleanup's.
    await removeFragments(engine, tableFolder, fragments).catch(() => {});
    throw error;
  }
}

export interface Content {
  readonly kind: 'create' | 'overwrite';
  readonly schema: Schema;
  readonly fields: readonly IdentifiedField[];
  readonly nextFieldId: number;
  readonly fragments: readonly NewFragment[];
  readonly rows: number;
  readonly properties?: Readonly<Record<string, string>> | undefined;
}

/** The draft of a version that holds just this content. */
export async function replaced(
  engine: Engine,
  branch: TableBranch,
  base: Snapshot | undefined,
  content: Content,
): Promise<Draft> {
  const firstId = base?.manifest.nextFragmentId ?? 0;
  const added = content.fragments.map((fragment, index) => ({ ...fragment, id: firstId + index }));
  return {
    kind: content.kind,
    summary: {
      added_rows: content.rows,
      added_fragments: added.length,
      removed_rows: base?.rowCount ?? 0,
    },
    schema: schemaToJson(content.schema),
    fieldIds: listFieldIds(content.fields),
    nextFieldId: content.nextFieldId,
    nextFragmentId: firstId + added.length,
    metadata: base?.manifest.metadata ?? {},
    properties: content.properties,
    fragments: await editFragments(engine, branch.tableFolder, EMPTY_FRAGMENTS, { added }),
  };
}

async function appended(
  engine: Engine,
  base: Snapshot,
  fragments: readonly NewFragment[],
  rows: number,
): Promise<Draft> {
  const { manifest } = base;
  const firstId = manifest.nextFragmentId;
  const added = fragments.map((fragment, index) => ({ ...fragment, id: firstId + index }));
  return {
    kind: 'append',
    summary: { added_rows: rows, added_fragments: added.length },
    schema: manifest.schema,
    fieldIds: manifest.fieldIds,
    nextFieldId: manifest.nextFieldId,
    nextFragmentId: firstId + added.length,
    metadata: manifest.metadata,
    fragments: await editFragments(engine, base.branch.tableFolder, fragmentListOf(manifest), {
      added,
    }),
  };
}

/** The error for what needs a schema, of a table that is only declared. */
export const emptyTable = (): DirspaceError =>
  new DirspaceError(
    'InvalidTableState',
    'The table is declared but has no data yet, and so no schema. Create it with data or a schema first.',
    { details: { declared: true } },
  );

/** Whether something failed because its table is only declared. */
export const isEmptyTable = (error: unknown): boolean =>
  isDirspaceError(error, 'InvalidTableState') && error.details.declared === true;
