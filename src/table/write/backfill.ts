/**
 * `backfillColumn` computes the values of a computed column, for the rows where it is null or, with
 * a filter, for the rows that the filter selects. It commits one version, or several that fill a
 * limited number of fragments each (`perVersion`), or none if there is nothing to fill. Several
 * versions have transactions of their own, not the caller's. Rows keep their ids and places. A
 * column that is not computed throws InvalidInput, an unknown one TableColumnNotFound.
 * rewrite-fragments.ts writes the values.
 */
import { DirspaceError } from '../../errors.ts';
import { compilePredicate } from '../../sql/index.ts';
import { quotedName } from '../../sql-quotes.ts';
import { type ComputedColumn, computedColumns, findField, leafOf } from '../fields/index.ts';
import { planScan } from '../read/index.ts';
import {
  announced,
  type Committed,
  commit,
  type Draft,
  type Engine,
  editFragments,
  emptyTable,
  fragmentListOf,
  type Snapshot,
  type TableBranch,
} from '../versions/index.ts';
import type { WriteOptions } from './append.ts';
import { compileAssignment } from './assignments.ts';
import { matchingOffsets } from './delete-rows.ts';
import { type FragmentRewriter, rewriting } from './rewrite-fragments.ts';
import { schemaDraft } from './schema-version.ts';

export interface BackfillRequest {
  readonly column: string;
  /**
   * SQL; rows for which it is true are computed, whatever they hold. Those that are null if absent.
   */
  readonly filter?: string | undefined;
  /** Fragments that are filled at most; all of them if absent. */
  readonly fragments?: number | undefined;
  /** Fragments that one version fills at most; all of them if absent. */
  readonly perVersion?: number | undefined;
}

export interface Backfilled extends Committed {
  /**
   * Rows that were given a value; with a filter those whose value turned out null are among them.
   */
  readonly rows: number;
}

/**
 * @throws TableColumnNotFound, InvalidInput for a column that is not computed, and for a function
 * that the process does not know
 */
export async function backfillColumn(
  engine: Engine,
  branch: TableBranch,
  request: BackfillRequest,
  options: WriteOptions = {},
): Promise<Backfilled> {
  const done = new Set<number>();
  const most = request.fragments ?? Number.POSITIVE_INFINITY;
  let rows = 0;
  let transaction: string | undefined;
  for (;;) {
    const limit = Math.min(most - done.size, request.perVersion ?? most);
    // If it commits several versions, each has a transaction of its own.
    const write = request.perVersion === undefined ? options : { signal: options.signal };
    const { isOver, ...committed } = await backfillSome(engine, branch, write, {
      request,
      done,
      limit,
    });
    rows += committed.rows;
    transaction = committed.transaction ?? transaction;
    if (isOver || done.size >= most) return { ...committed, transaction, rows };
  }
}

interface Part {
  readonly request: BackfillRequest;
  /** Ids of fragments that were looked at; those of this part are added to them. */
  readonly done: Set<number>;
  readonly limit: number;
}

/** Fills some fragments in one version; in none where all values are there. */
async function backfillSome(
  engine: Engine,
  branch: TableBranch,
  options: WriteOptions,
  part: Part,
): Promise<Backfilled & { readonly isOver: boolean }> {
  let outcome = { rows: 0, isOver: true, looked: [] as readonly number[] };
  const committed = await announced(engine, branch.tableFolder, (writing) =>
    rewriting(writing, branch, options, (rewriter) =>
      commit(writing, branch, {
        transaction: options.transaction,
        signal: options.signal,
        build: async (base) => {
          if (base === undefined) throw emptyTable();
          return rewriter.attempt(async () => {
            const { draft, ...found } = await build(writing, base, part, rewriter, options.signal);
            outcome = found;
            return draft;
          });
        },
      }),
    ),
  );
  for (const id of outcome.looked) part.done.add(id);
  return { ...committed, rows: outcome.rows, isOver: outcome.isOver };
}

interface Built {
  readonly draft: Draft | undefined;
  readonly rows: number;
  /** Whether no fragment is left to be filled. */
  readonly isOver: boolean;
  readonly looked: readonly number[];
}

async function build(
  engine: Engine,
  base: Snapshot,
  { request, done, limit }: Part,
  rewriter: FragmentRewriter,
  signal: AbortSignal | undefined,
): Promise<Built> {
  const column = computedColumn(base, request.column);
  const place = findField(base.fields, column.name);
  const assignment = await compileAssignment(base, place, column.expression);
  const { filter = `${quotedName(column.name)} IS NULL` } = request;
  const { usesRowOffset } = await compilePredicate(filter, base.schema);
  if (usesRowOffset && (request.perVersion ?? request.fragments) !== undefined) {
    throw new DirspaceError(
      'InvalidInput',
      'A filter by _rowoffset cannot be carried out in parts: places of rows may change in between. Leave out the number of fragments.',
    );
  }
  const found = await matchingOffsets(
    await planScan(engine, base, { columns: [], filter, keep: false, signal }),
  );
  const waiting = [...found.keys()].filter((id) => !done.has(id));
  const looked = waiting.slice(0, limit);
  const offsets = new Map(looked.map((id) => [id, found.get(id) as Uint32Array]));
  const rest = { looked, isOver: looked.length === waiting.length };
  const chosen = { offsets, skipsNulls: request.filter === undefined };
  const made = await rewriter.rewrite(base, base.fields, [assignment], { chosen });
  if (made.replaced.size === 0) return { draft: undefined, rows: 0, ...rest };
  const matched = looked.reduce((sum, id) => sum + (found.get(id)?.length ?? 0), 0);
  const rows = request.filter === undefined ? made.values : matched;
  const list = fragmentListOf(base.manifest);
  const fragments = await editFragments(engine, base.branch.tableFolder, list, {
    replaced: made.replaced,
  });
  const schema = { tree: base.fields, fragments };
  const summary = { updated_rows: rows, changed_fragments: made.replaced.size };
  const draft = { ...schemaDraft(base, schema, 'update'), summary, after: made.durable };
  return { draft, rows, ...rest };
}

/** @throws TableColumnNotFound, InvalidInput */
function computedColumn(base: Snapshot, path: string): ComputedColumn {
  const node = leafOf(findField(base.fields, path));
  const column = computedColumns(base.fields).find((known) => known.node === node);
  if (column !== undefined) return column;
  throw new DirspaceError(
    'InvalidInput',
    `The column ${JSON.stringify(path)} is not a computed column, so nothing says what to fill it with. Set it with update, or add a column with addColumns({computed: [{name, valueSql}]}).`,
    { details: { column: path } },
  );
}
