/**
 * Adds rows to a table (`append`), or replaces all its rows and its schema (`overwrite`), in one
 * version each. Data that does not fit the columns throws TableSchemaValidation. An overwrite keeps
 * the history. It can also commit the first version of a table; if another writer has committed one
 * meanwhile, it replaces that, or refuses or appends if the caller asks for it. An append needs a
 * version as its base. After an error the files that were written are removed if no version can
 * refer to them, and otherwise left to cleanup. `appended` and `replaced` build such versions for
 * other writers too.
 */

import {
  columnsOf,
  type RecordBatch,
  type RecordBatchStream,
  recordBatch,
  recordBatchStream,
  Schema,
} from '../../arrow/index.ts';
import type { Compression } from '../../compression.ts';
import { DirspaceError, isDirspaceError } from '../../errors.ts';
import { schemaToJson } from '../../protocol/index.ts';
import {
  adapterBetween,
  assignFieldIds,
  checkDeclared,
  type IdentifiedField,
  listFieldIds,
  withoutValues,
} from '../fields/index.ts';
import { orderOfNewRows, structOrder } from '../lance/index.ts';
import { scan } from '../read/index.ts';
import {
  announced,
  type Committed,
  commit,
  compressionOf,
  type Draft,
  EMPTY_FRAGMENTS,
  type Engine,
  editFragments,
  emptyTable,
  fragmentListOf,
  isBaseGone,
  nextManifest,
  Snapshot,
  type TableBranch,
} from '../versions/index.ts';
import { isBetweenAttempts } from './attempt.ts';
import { type Fit, fitFragments, fitOf, isWrittenFor } from './match-fields.ts';
import { type NewFragment, removeFragments, writeFragments, writesLance } from './write.ts';

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
  const lance = writesLance(engine, base);
  const given = fitOf(base.fields, stream.schema);
  const checked = withoutValues(stream, base.fields);
  const rows = lance && given.widened.size > 0 ? widenedRows(checked, given) : checked;
  const fit = given.schema === rows.schema ? given : fitOf(base.fields, rows.schema);
  const written = await writeFragments(engine, base.branch.tableFolder, rows, fit.matched, {
    lance,
    structs: await structOrder(engine, base, 'kept'),
    compression: await compressionOf(engine, base.branch, base.manifest),
    required: base.fields,
    signal: options.signal,
  });
  const committing = commit(engine, base.branch, {
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
  const committed = await orRemoved(engine, base.branch, written.fragments, committing, (error) =>
    isBetweenAttempts(error, options.signal),
  );
  return { ...committed, rows: written.rows };
}

/**
 * Removes the fragments if the commit fails with an error after which no version can refer to them.
 * Cleanup removes what cannot be removed now.
 */
async function orRemoved(
  engine: Engine,
  { tableFolder }: TableBranch,
  fragments: readonly NewFragment[],
  committing: Promise<Committed>,
  isUnused: (error: unknown) => boolean,
): Promise<Committed> {
  try {
    return await committing;
  } catch (error) {
    if (isUnused(error)) await removeFragments(engine, tableFolder, fragments);
    throw error;
  }
}

/** The rows with each column as the type of its field in the table: Lance adapts none. */
function widenedRows(stream: RecordBatchStream, fit: Fit): RecordBatchStream {
  const schema = new Schema([...fit.known], stream.schema.metadata);
  const adapters = fit.known.map((field, at) => {
    const wanted = fit.fields.find((known) => known.field === field) as IdentifiedField;
    return adapterBetween(wanted, fit.matched[at] as IdentifiedField);
  });
  const batches = async function* (): AsyncGenerator<RecordBatch> {
    for await (const batch of stream) {
      const columns = columnsOf(batch).map((data, at) => adapters[at]?.(data) ?? data);
      yield recordBatch(schema, columns, batch.numRows);
    }
  };
  return recordBatchStream(schema, batches());
}

export interface OverwriteOptions extends WriteOptions {
  /** Set when the table must have no version yet: the error if it has one by then. */
  readonly onlyFirst?: () => DirspaceError;
  /**
   * Where the table has a version by then, the rows are added to it in place of replacing its own.
   */
  readonly orAppend?: boolean;
  /** Runs right before a first version is published; what it throws ends the write. */
  readonly beforeFirst?: () => Promise<void>;
  /** Properties the table has from this version on; `first` when it is the first one. */
  readonly properties?: (first: boolean) => Readonly<Record<string, string>>;
  /**
   * Whether the table is written for Lance from now on; if absent it stays so, and the catalog
   * decides of a first version.
   */
  readonly lance?: boolean | undefined;
  /** How its fragments are compressed; what the table says if absent. */
  readonly compression?: Compression | undefined;
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
  refuseWithoutLance(base, options);
  const { tree, nextFieldId } = assignFieldIds(
    stream.schema.fields,
    base?.manifest.nextFieldId ?? 0,
    base?.fields,
  );
  await checkDeclared(stream.schema, tree);
  const rows = withoutValues(stream, tree);
  const written = await writeFragments(engine, branch.tableFolder, rows, tree, {
    lance: options.lance ?? writesLance(engine, base),
    structs: orderOfNewRows(base?.manifest.lanceWrites === true),
    compression: options.compression ?? (await compressionOf(engine, branch, base?.manifest)),
    signal: options.signal,
  });
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
        if (!isWrittenFor(newest.fields, fit)) throw new FilledOtherwise(newest);
        const fitting = fitFragments(newest.fields, fit, written.fragments);
        return await appended(engine, newest, fitting, written.rows);
      }
      refuseWithoutLance(newest, options);
      return replaced(engine, branch, newest, {
        schema: stream.schema,
        fields: tree,
        nextFieldId: Math.max(nextFieldId, newest?.manifest.nextFieldId ?? 0),
        fragments: written.fragments,
        rows: written.rows,
        kind: newest === undefined ? 'create' : 'overwrite',
        properties: options.properties?.(newest === undefined),
        lance: options.lance,
      });
    },
  });
  const landed = committing.catch(async (error: unknown) => {
    if (!(error instanceof FilledOtherwise)) throw error;
    await written.durable;
    const rows = { schema: stream.schema, fields: tree, fragments: written.fragments };
    const again = await readBack(engine, branch, rows, options.signal);
    const committed = await appendRows(engine, error.newest, again, options);
    await removeFragments(engine, branch.tableFolder, written.fragments);
    return committed;
  });
  // Fragments that no version refers to would look like those of a table that lost its versions.
  const isUnused = (error: unknown): boolean =>
    base === undefined
      ? !isDirspaceError(error, 'CommitStateUnknown')
      : isBetweenAttempts(error, options.signal);
  const committed = await orRemoved(engine, branch, written.fragments, landed, isUnused);
  return { ...committed, rows: written.rows };
}

/**
 * The rows are to be added to a version whose fields have other ids, as its columns come in another
 * order or are of wider types.
 */
class FilledOtherwise extends Error {
  readonly newest: Snapshot;

  constructor(newest: Snapshot) {
    super('The version that the rows are added to has other field ids.');
    this.newest = newest;
  }
}

/** The rows of fragments that no version refers to. */
function readBack(
  engine: Engine,
  branch: TableBranch,
  { schema, fields, fragments }: Pick<Content, 'schema' | 'fields' | 'fragments'>,
  signal: AbortSignal | undefined,
): Promise<RecordBatchStream> {
  const entries = fragments.map((fragment, id) => ({ ...fragment, id }));
  const draft: Draft = {
    kind: 'create',
    summary: {},
    schema: schemaToJson(schema),
    fieldIds: listFieldIds(fields),
    nextFieldId: 0,
    nextFragmentId: entries.length,
    metadata: {},
    fragments: { ...EMPTY_FRAGMENTS, tail: entries },
  };
  // A version that nobody publishes: it says what the fragments hold.
  const manifest = nextManifest(engine, branch, draft, undefined, '');
  const snapshot = new Snapshot(engine, branch, manifest, '', 0);
  return scan(engine, snapshot, { fresh: true, signal });
}

/**
 * What was begun on a version for Lance may be committed after this one, with fragments that only
 * tables for Lance may have.
 */
function refuseWithoutLance(base: Snapshot | undefined, { lance }: OverwriteOptions): void {
  if (lance !== false || base?.manifest.lance !== true) return;
  throw new DirspaceError(
    'InvalidInput',
    'lance is "off", and the table is written for Lance, which stays so. Leave lance out, or create a table of another name.',
    { details: { property: 'lance' } },
  );
}

export interface Content {
  readonly kind: 'create' | 'overwrite';
  readonly schema: Schema;
  readonly fields: readonly IdentifiedField[];
  readonly nextFieldId: number;
  readonly fragments: readonly NewFragment[];
  readonly rows: number;
  readonly properties?: Readonly<Record<string, string>> | undefined;
  /** Whether the table is written for Lance from now on; else it stays as it is. */
  readonly lance?: boolean | undefined;
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
    lance: content.lance,
    fragments: await editFragments(engine, branch.tableFolder, EMPTY_FRAGMENTS, { added }),
  };
}

/** The draft of a version with these fragments behind those there are. */
export async function appended(
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
