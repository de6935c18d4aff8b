/**
 * `searchTexts`: finds the rows whose texts match a full-text query, best first, by reading all texts
 * of the version: its scores are BM25 over the whole table at that version, whatever the predicate
 * leaves of it. With `prefilter` rows are ranked of those that match the predicate; otherwise the
 * best rows are filtered afterwards. `planTexts` resolves the columns and the words of a query.
 */
import type { RecordBatchStream } from '../../arrow/index.ts';
import { DirspaceError } from '../../errors.ts';
import type { HeldMemory } from '../../request-memory.ts';
import {
  DEFAULT_SETTINGS,
  type FullTextQuery,
  leavesOf,
  SearchPlan,
  TermFinder,
  TextCollector,
} from '../../search/index.ts';
import { planScan, type ScanPlan, type ScanRequest } from '../read/index.ts';
import type { Engine, Snapshot } from '../versions/index.ts';
import { inTurns } from '../work/index.ts';
import {
  type Found,
  foundStream,
  NOTHING_FOUND,
  postfiltered,
  rowIdAt,
  SCORE,
  withoutValues,
} from './found-rows.ts';
import { TextScan } from './scan-texts.ts';
import { textColumn, textColumns } from './text-column.ts';

export interface TextSearchRequest extends ScanRequest {
  readonly text: FullTextQuery;
  /** True: the best of the rows that match; false: those that match of the best. */
  readonly prefilter: boolean;
}

export async function searchTexts(
  engine: Engine,
  snapshot: Snapshot,
  request: TextSearchRequest,
): Promise<RecordBatchStream> {
  const columns = withoutScore(request.columns);
  const plan = await planScan(engine, snapshot, { ...request, columns, filter: undefined });
  const held = plan.memory.hold('The rows that match a full-text query');
  let found: Found;
  try {
    found = await matchingTexts(plan, request, held);
    if (!request.prefilter && request.filter !== undefined) {
      const asked = { ...request, memory: plan.memory };
      found = await postfiltered(engine, snapshot, asked, request.filter, found);
    }
  } finally {
    held.end();
  }
  return foundStream(plan, found, SCORE);
}

export const withoutScore = (columns: ScanRequest['columns']): ScanRequest['columns'] =>
  withoutValues(columns, SCORE);

/** Columns of a query, by their real names, in the order of their searches. */
export function searchedColumns(snapshot: Snapshot, { root, columns }: FullTextQuery): string[] {
  const names = leavesOf(root).flatMap(({ column }) =>
    column === undefined ? defaultColumns(snapshot, columns) : [column],
  );
  return [...new Set(names.map((name) => textColumn(snapshot, name).name))];
}

/** @throws InvalidInput where no column can be searched */
function defaultColumns(
  snapshot: Snapshot,
  given: readonly string[] | undefined,
): readonly string[] {
  const columns = given ?? textColumns(snapshot);
  if (columns.length > 0) return columns;
  throw new DirspaceError(
    'InvalidInput',
    'The table has no column of texts; a full-text search reads utf8, large_utf8 and lists of these.',
  );
}

/** The words of a query in the columns that it searches. */
async function planTexts(
  snapshot: Snapshot,
  { root, columns }: FullTextQuery,
): Promise<SearchPlan> {
  const needsDefaults = leavesOf(root).some(({ column }) => column === undefined);
  const defaults = needsDefaults ? defaultColumns(snapshot, columns) : [];
  return SearchPlan.of(root, defaults, (path) => ({
    name: textColumn(snapshot, path).name,
    settings: DEFAULT_SETTINGS,
  }));
}

async function matchingTexts(
  plan: ScanPlan,
  request: TextSearchRequest,
  held: HeldMemory,
): Promise<Found> {
  const { snapshot } = plan;
  const search = await planTexts(snapshot, request.text);
  const wanted = Math.min(plan.limit + plan.offset, snapshot.rowCount);
  if (plan.limit === 0 || wanted === 0 || search.columns.length === 0) return NOTHING_FOUND;
  const texts = await TextScan.of(plan, request, search);
  if (search.isFuzzy) {
    await texts.findTerms(new TermFinder(search));
    search.expand();
  }
  const collector = new TextCollector(search);
  await texts.collect(collector, held);
  const { rows, scores } = await inTurns(plan.turn, collector.ranked(wanted), plan.signal);
  const { blocks } = texts;
  const rowIds = new BigUint64Array(Math.max(0, rows.length - plan.offset));
  for (let at = 0; at < rowIds.length; at++) {
    const document = rows[plan.offset + at] as number;
    rowIds[at] = rowIdAt(blocks, collector.rowOf(document));
    if (at % STEP_ROWS === STEP_ROWS - 1 && plan.turn.isOver()) await plan.turn.pass();
  }
  return { rowIds, values: scores.slice(plan.offset) };
}

/** Row ids that are looked up between two turns. */
const STEP_ROWS = 16_384;
