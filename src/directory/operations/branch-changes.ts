/**
 * Carries out DiffTable, DiffTableBranch and CherryPickTableBranch. `diffTable` compares any two
 * versions of a table. `diffTableBranch` compares a branch of main with main, and
 * `cherryPickTableBranch` brings its changes to main. These two throw InvalidInput for main itself
 * and for branches of other branches, and TableBranchNotFound for a missing one. If the changes
 * cannot be brought to main, the cherry-pick does not throw: its response has status `failed` and
 * says why.
 */
import { DirspaceError } from '../../errors.ts';
import { type IndexEntry, MAIN_BRANCH } from '../../format/index.ts';
import type {
  BranchIndex,
  CallOptions,
  CherryPickTableBranchRequest,
  CherryPickTableBranchResponse,
  DiffColumn,
  DiffTableBranchRequest,
  DiffTableBranchResponse,
  DiffTableRequest,
  DiffTableResponse,
  DiffVersion,
  VersionName,
} from '../../protocol/index.ts';
import {
  type ColumnSummary,
  diffVersions,
  type SideBranch,
  type Snapshot,
  type StoredTable,
} from '../../table/index.ts';
import {
  beginWrite,
  type Catalog,
  missingBranch,
  requireTable,
  snapshotToRead,
  storedTable,
} from '../catalog/index.ts';
import { atMost } from './reads/index.ts';
import { writeOptions } from './rows.ts';

/** Examples of each kind of rows: where nothing is said, and at most. */
const EXAMPLES = 10;
const MOST_EXAMPLES = 1_000;

/** @throws TableBranchNotFound, InvalidInput for main, and for a branch of another branch */
export async function diffTableBranch(
  catalog: Catalog,
  request: DiffTableBranchRequest,
): Promise<DiffTableBranchResponse> {
  return told(await compared(catalog, request));
}

/** @throws TableBranchNotFound, InvalidInput for main, and for a branch of another branch */
export async function cherryPickTableBranch(
  catalog: Catalog,
  request: CherryPickTableBranchRequest,
  options: CallOptions = {},
): Promise<CherryPickTableBranchResponse> {
  await beginWrite(catalog);
  const found = await compared(catalog, request);
  const diff = await told(found);
  const { stored, side, branch } = found;
  const { committed, obstacle } = await stored.cherryPick(side, branch, {
    ...writeOptions(stored, options),
    dryRun: request.dry_run,
  });
  if (obstacle !== undefined) return { status: 'failed', diff, error: { ...obstacle } };
  if (committed === undefined) return { status: 'ready', diff };
  const { snapshot, transaction } = committed;
  return {
    status: 'cherry_picked',
    diff,
    version: snapshot.version,
    ...(transaction === undefined ? {} : { transaction_id: transaction }),
  };
}

/** @throws TableColumnNotFound, InvalidInput for a key that only one version has */
export async function diffTable(
  catalog: Catalog,
  request: DiffTableRequest,
  options: CallOptions = {},
): Promise<DiffTableResponse> {
  const from = await snapshotToRead(catalog, named(request, request.from));
  const to = await snapshotToRead(catalog, named(request, request.to ?? {}));
  const { schema, metadata, properties, fragments, rows } = await diffVersions(
    catalog.engine,
    from,
    to,
    {
      on: request.on,
      limit: atMost('limit', request.limit ?? EXAMPLES, MOST_EXAMPLES),
      signal: options.signal,
    },
  );
  return {
    from: diffVersion(from),
    to: diffVersion(to),
    schema: {
      added: schema.added.map(diffColumn),
      dropped: schema.dropped.map(diffColumn),
      changed: schema.changed.map((change) => ({
        from: diffColumn(change.from),
        to: diffColumn(change.to),
        metadata_changed: change.metadata,
      })),
    },
    metadata,
    properties,
    fragments,
    rows: {
      by: rows.by,
      added: rows.added,
      removed: rows.removed,
      changed: rows.changed,
      unchanged: rows.unchanged,
      changed_columns: rows.changedColumns,
      not_compared: rows.notCompared,
      ...(rows.examples === undefined ? {} : { examples: rows.examples }),
    },
  };
}

const named = (
  { id, incarnation }: { readonly id: readonly string[]; readonly incarnation?: string },
  { branch, version, tag }: VersionName,
) => ({ id: [...id], incarnation, branch, version, tag });

const diffVersion = ({ branch, version, rowCount }: Snapshot): DiffVersion => ({
  branch: branch.branch,
  version,
  row_count: rowCount,
});

const diffColumn = ({ name, type, nullable }: ColumnSummary): DiffColumn => ({
  name,
  data_type: type,
  nullable,
});

interface Compared {
  readonly stored: StoredTable;
  readonly side: SideBranch;
  readonly main: Snapshot;
  readonly branch: Snapshot;
}

async function compared(catalog: Catalog, request: DiffTableBranchRequest): Promise<Compared> {
  const { from_branch: name, incarnation } = request;
  const table = await requireTable(catalog, { id: [...request.id], incarnation });
  const stored = storedTable(catalog, table);
  const side = name === MAIN_BRANCH ? undefined : await stored.branch(name);
  if (side === undefined && name !== MAIN_BRANCH) throw missingBranch(table, name);
  if (side === undefined || side.record.parentBranch !== MAIN_BRANCH) {
    throw new DirspaceError(
      'InvalidInput',
      `The branch ${name} is ${side === undefined ? 'the main one' : `a branch of ${side.record.parentBranch}`}; branches of main are compared with it, and brought to it.`,
      { details: { branch: name } },
    );
  }
  const [main, branch] = [await stored.main.newest(), await side.newest()];
  if (main === undefined || branch === undefined) throw missingBranch(table, name);
  return { stored, side, main, branch };
}

async function told({ stored, side, main, branch }: Compared): Promise<DiffTableBranchResponse> {
  const { columns, rows, ...indexes } = await stored.diffBranch(main, branch);
  return {
    from_branch: side.branch,
    parent_version: side.record.parentVersion,
    main_version: main.version,
    branch_version: branch.version,
    row_count_main: main.rowCount,
    row_count_branch: branch.rowCount,
    rows_unchanged: rows.unchanged,
    rows_changed: rows.changed,
    rows_on_main: rows.onMain,
    rows_on_branch: rows.onBranch,
    added_columns: columns.added.map(diffColumn),
    removed_columns: columns.removed.map(diffColumn),
    changed_columns: columns.changed.map((both) => ({
      name: both.main.name,
      main: diffColumn(both.main),
      branch: diffColumn(both.branch),
    })),
    added_indexes: indexes.addedIndexes.map((index) => indexOf(index, branch)),
    removed_indexes: indexes.removedIndexes.map((index) => indexOf(index, main)),
  };
}

const indexOf = ({ name, type, fields }: IndexEntry, { fields: known }: Snapshot): BranchIndex => ({
  index_name: name,
  index_type: type,
  columns: fields.flatMap((id) => known.find((field) => field.id === id)?.field.name ?? []),
});
