/**
 * Formats query plans as text. `explainPlan` describes how a query will run. `analyzePlan` runs it,
 * and adds how many rows it returned, what it read (fragments, record batches and bytes), and how
 * long it took.
 */
import type { RecordBatchStream } from '../../arrow/index.ts';
import { liveRows } from '../../format/index.ts';
import { describeTextQuery, type TextQuery } from '../../search/index.ts';
import type { ScanCounters } from '../fragments/index.ts';
import { namesRowsOf, pruneFragment, type ScanPlan } from '../read/index.ts';
import { projectionOf } from './found-columns.ts';
import type { OrderKey } from './order.ts';

/** The steps that a query takes besides scanning. */
export interface PlanSteps {
  readonly orderBy: readonly OrderKey[];
  readonly nearest?: {
    readonly column: string;
    readonly metric: string;
    readonly vectors: number;
    /** Whether the vectors are one query, as rows hold several vectors each. */
    readonly together: boolean;
    readonly prefilter: boolean;
    /** Which index finds them, or why none does; undefined where there is none. */
    readonly said: string | undefined;
  };
  readonly texts?: {
    /** The real names of the columns searched. */
    readonly columns: readonly string[];
    readonly query: TextQuery;
    readonly prefilter: boolean;
    /** How their words are found. */
    readonly said: string;
  };
}

/** One line a step, the last one first, as query engines print them. */
export async function explainPlan(
  plan: ScanPlan & { readonly projection?: readonly string[] },
  { orderBy, nearest, texts }: PlanSteps,
  verbose: boolean,
): Promise<string> {
  const { snapshot, predicate, projection } = plan;
  const filter = predicate === undefined ? [] : [`Filter: ${predicate.toSql()}`];
  const prefilter = nearest?.prefilter ?? texts?.prefilter ?? true;
  const names = projection ?? projectionOf(plan.columns);
  const lines = [`Projection: ${names.join(', ')}`];
  if (plan.limit !== Number.MAX_SAFE_INTEGER || plan.offset > 0) {
    const limit = plan.limit === Number.MAX_SAFE_INTEGER ? 'all' : plan.limit;
    lines.push(`Limit: ${limit}, offset ${plan.offset}`);
  }
  for (const { column, ascending, nullsFirst } of orderBy) {
    lines.push(
      `Order: ${column} ${ascending ? 'ascending' : 'descending'}, nulls ${nullsFirst ? 'first' : 'last'}`,
    );
  }
  if (!prefilter) lines.push(...filter);
  if (nearest !== undefined) {
    const { column, metric, vectors, together, said } = nearest;
    const all = together ? ' together' : '';
    lines.push(
      `Nearest: ${column} by ${metric} to ${vectors} vector${vectors === 1 ? '' : 's'}${all}`,
    );
    if (said !== undefined) lines.push(said);
  }
  if (texts !== undefined) {
    lines.push(
      `Full text: ${shortened(describeTextQuery(texts.query))} in ${texts.columns.join(', ')}, by BM25`,
      `Texts: ${texts.said}`,
    );
  }
  if (prefilter) lines.push(...filter);
  const noteAt = lines.length;
  const fragments = await snapshot.fragments();
  let pruned = 0;
  let uncovered = 0;
  let position = 0;
  for (const entry of fragments) {
    const skipped =
      prefilter &&
      texts === undefined &&
      (!namesRowsOf(plan, entry, position) ||
        (predicate !== undefined && pruneFragment(predicate, snapshot, entry) === 'none'));
    if (skipped) pruned += 1;
    else if (plan.indexed?.covered.has(entry.id) === false) uncovered += 1;
    position += liveRows(entry);
  }
  const isSearch = nearest !== undefined || texts !== undefined;
  const note = indexNote(plan, isSearch ? [] : orderBy, uncovered);
  if (note !== undefined && prefilter) lines.splice(noteAt, 0, note);
  lines.push(
    `Scan: version ${snapshot.version} of branch ${snapshot.branch.branch}, ${snapshot.rowCount} rows in ${fragments.length} fragments, ${pruned} pruned`,
  );
  if (verbose) {
    const stored = new Set(snapshot.schema.fields.map(({ name }) => name));
    const read = new Set((predicate?.columns ?? []).filter((name) => stored.has(name)));
    if (nearest !== undefined) read.add(nearest.column);
    for (const column of texts?.columns ?? []) read.add(column);
    for (const column of plan.columns) {
      if (column.kind === 'field') read.add(column.field.field.name);
      if (column.kind === 'value') for (const name of column.expression.columns) read.add(name);
    }
    lines.push(`Columns read: ${[...read].join(', ')}`);
  }
  return lines.map((line, depth) => `${'  '.repeat(depth)}${line}`).join('\n');
}

/**
 * Says which indexes a condition or an order uses, or why none; undefined if there is nothing to
 * say.
 */
function indexNote(
  { snapshot, predicate, indexNote: note }: ScanPlan,
  { length: keys }: readonly OrderKey[],
  uncovered: number,
): string | undefined {
  const hasIndexes = snapshot.manifest.indexes !== undefined;
  if (predicate === undefined && keys > 0 && hasIndexes && note === undefined)
    return 'Index: none used, an order of all rows is not read from one';
  if (note === undefined || uncovered === 0) return note;
  return `${note}; fragments that are not covered and are scanned: ${uncovered}`;
}

const LONGEST_QUERY = 200;

const shortened = (query: string): string =>
  query.length > LONGEST_QUERY ? `${query.slice(0, LONGEST_QUERY)}...` : query;

/** Runs a query to its end, and tells what it read. */
export async function analyzePlan(
  explained: string,
  run: () => Promise<RecordBatchStream>,
  counters: ScanCounters,
  now: () => number,
): Promise<string> {
  const start = now();
  const rows = await run();
  let count = 0;
  for await (const batch of rows) count += batch.numRows;
  const figures = [
    `rows ${count}`,
    `columns ${rows.schema.fields.length}`,
    `fragments ${counters.fragments}, pruned ${counters.fragmentsPruned}`,
    `batches ${counters.batches}, pruned ${counters.batchesPruned}`,
    `bytes read ${counters.bytesRead}`,
    `time ${now() - start} ms`,
  ];
  return `${explained}\nMetrics: ${figures.join('; ')}`;
}
