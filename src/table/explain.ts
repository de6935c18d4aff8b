/** Plans in words: what a query will do, and what it did. */
import { columnsOf } from '../format/arrow-data.ts';
import { liveRows } from '../format/fragment-entry.ts';
import { namesRowsOf } from './named-rows.ts';
import type { OrderKey } from './order.ts';
import { pruneFragment } from './pruning.ts';
import { scanStream } from './scan.ts';
import type { ScanPlan } from './scan-plan.ts';

/** One line a step, the last one first, as query engines print them. */
export async function explainPlan(
  plan: ScanPlan,
  orderBy: readonly OrderKey[],
  verbose: boolean,
): Promise<string> {
  const { snapshot, predicate } = plan;
  const names = plan.columns.map((column) =>
    column.kind === 'value' ? `${column.expression.toSql()} AS ${column.name}` : column.name,
  );
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
  if (predicate !== undefined) lines.push(`Filter: ${predicate.toSql()}`);
  const fragments = await snapshot.fragments();
  let pruned = 0;
  let position = 0;
  for (const entry of fragments) {
    const skipped =
      predicate !== undefined &&
      (!namesRowsOf(plan, entry, position) || pruneFragment(predicate, snapshot, entry) === 'none');
    if (skipped) pruned += 1;
    position += liveRows(entry);
  }
  lines.push(
    `Scan: version ${snapshot.version} of branch ${snapshot.branch.branch}, ${snapshot.rowCount} rows in ${fragments.length} fragments, ${pruned} pruned`,
  );
  if (verbose) {
    const read = new Set(predicate?.columns ?? []);
    for (const column of plan.columns) {
      if (column.kind === 'field') read.add(column.field.field.name);
      if (column.kind === 'value') for (const name of column.expression.columns) read.add(name);
    }
    lines.push(`Columns read: ${[...read].join(', ')}`);
  }
  return lines.map((line, depth) => `${'  '.repeat(depth)}${line}`).join('\n');
}

/** Runs the scan and tells what it read. */
export async function analyzePlan(
  plan: ScanPlan,
  orderBy: readonly OrderKey[],
  now: () => number,
): Promise<string> {
  const explained = await explainPlan(plan, orderBy, true);
  const start = now();
  let rows = 0;
  let columns = 0;
  for await (const batch of scanStream(plan)) {
    rows += batch.numRows;
    columns = columnsOf(batch).length;
  }
  const { counters } = plan;
  const figures = [
    `rows ${rows}`,
    `columns ${columns}`,
    `fragments ${counters.fragments}, pruned ${counters.fragmentsPruned}`,
    `batches ${counters.batches}, pruned ${counters.batchesPruned}`,
    `bytes read ${counters.bytesRead}`,
    `time ${now() - start} ms`,
  ];
  return `${explained}\nMetrics: ${figures.join('; ')}`;
}
