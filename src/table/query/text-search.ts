/**
 * `searchTexts` returns the rows that match a full-text query best, by BM25, or in an order asked
 * for. It uses the indexes of the columns and reads the texts that these do not cover; a fast
 * search leaves the latter out, if the indexes can be used and are whole. The statistics do not
 * depend on the predicate. With `prefilter` only rows that match it are ranked; without it the best
 * rows are filtered afterwards. A table without texts throws InvalidInput if no column is named.
 * `searchedColumns` lists a query's columns, and `needsPositions` tells whether it may have phrases
 * of several words.
 */
import type { RecordBatchStream } from '../../arrow/index.ts';
import { DirspaceError } from '../../errors.ts';
import type { HeldMemory } from '../../request-memory.ts';
import {
  type FullTextQuery,
  leavesOf,
  SearchPlan,
  TermFinder,
  TextCollector,
  type TextStatistics,
  TopRows,
} from '../../search/index.ts';
import { readingIndexes } from '../indexes/index.ts';
import { type ScanPlan, type ScanRequest, TableRows } from '../read/index.ts';
import type { Engine, Snapshot } from '../versions/index.ts';
import { inTurns } from '../work/index.ts';
import { planFound } from './found-columns.ts';
import { type FoundOrder, orderedFound } from './found-order.ts';
import {
  type Found,
  foundStream,
  NOTHING_FOUND,
  postfiltered,
  SCORE,
  SCORES,
} from './found-rows.ts';
import { IndexedTexts } from './indexed-texts.ts';
import { TextScan } from './scan-texts.ts';
import { indexedTextColumns, textAccess, textSettingsOf } from './text-access.ts';
import { textColumn, textColumns } from './text-column.ts';

export interface TextSearchRequest extends ScanRequest {
  readonly text: FullTextQuery;
  /** True: the best of the rows that match; false: those that match of the best. */
  readonly prefilter: boolean;
  /** Whether rows that the index does not cover are left out; without an index none are. */
  readonly isFast: boolean;
  /** The order of the rows found; best first if absent. */
  readonly order?: FoundOrder | undefined;
}

export async function searchTexts(
  engine: Engine,
  snapshot: Snapshot,
  request: TextSearchRequest,
): Promise<RecordBatchStream> {
  const plan = await planFound(engine, snapshot, { ...request, filter: undefined }, SCORES);
  const held = plan.memory.hold('The rows that match a full-text query');
  let found: Found;
  try {
    found = await readingIndexes(engine, snapshot, () => matchingTexts(plan, request, held));
    if (!request.prefilter && request.filter !== undefined) {
      const asked = { ...request, memory: plan.memory };
      found = await postfiltered(engine, snapshot, asked, request.filter, found, SCORES);
    }
    if (request.order !== undefined) found = await orderedFound(plan, found, SCORE, request.order);
  } finally {
    held.end();
  }
  return foundStream(plan, found, SCORES);
}

/** Columns of a query, by their real names, in the order of their searches. */
export function searchedColumns(snapshot: Snapshot, { root, columns }: FullTextQuery): string[] {
  const names = new Set<string>();
  let hasDefaults = false;
  for (const { column } of leavesOf(root)) {
    if (column !== undefined) names.add(column);
    else if (!hasDefaults) {
      hasDefaults = true;
      for (const name of defaultColumns(snapshot, columns)) names.add(name);
    }
  }
  return [...new Set([...names].map((name) => textColumn(snapshot, name).name))];
}

/** Whether a query may have phrases of several words. */
export const needsPositions = ({ root }: FullTextQuery): boolean =>
  leavesOf(root).some(({ kind, terms }) => kind === 'phrase' && /\S\s+\S/.test(terms));

/**
 * Those that are given, else those with an index, else all top-level ones.
 * @throws InvalidInput where no column can be searched
 */
function defaultColumns(
  snapshot: Snapshot,
  given: readonly string[] | undefined,
): readonly string[] {
  const indexed = indexedTextColumns(snapshot);
  const columns = given ?? (indexed.length > 0 ? indexed : textColumns(snapshot));
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
  { turn, signal }: ScanPlan,
): Promise<SearchPlan> {
  const pause = (): Promise<void> | undefined => turn.pause()?.then(() => signal?.throwIfAborted());

  const needsDefaults = leavesOf(root).some(({ column }) => column === undefined);
  const defaults = needsDefaults ? defaultColumns(snapshot, columns) : [];
  const columnOf = (path: string) => {
    const { name } = textColumn(snapshot, path);
    return { name, settings: textSettingsOf(snapshot, name) };
  };
  return SearchPlan.of(root, defaults, columnOf, pause);
}

async function matchingTexts(
  plan: ScanPlan,
  request: TextSearchRequest,
  held: HeldMemory,
): Promise<Found> {
  const { engine, snapshot, turn, signal } = plan;
  const search = await planTexts(snapshot, request.text, plan);
  const wanted = Math.min(plan.limit + plan.offset, snapshot.rowCount);
  if (plan.limit === 0 || wanted === 0 || search.columns.length === 0) return NOTHING_FOUND;
  const names = search.columns.map(({ column }) => column);
  const { needsPositions } = search;
  const access = await textAccess(engine, snapshot, names, needsPositions, request.isFast);
  const rows = await TableRows.of(snapshot);
  // Damage of an index hides no row.
  const isFast = request.isFast && access.indexes.length > 0 && !access.isDamaged;
  const needless = isFast
    ? new Set((await snapshot.fragments()).map(({ id }) => id))
    : access.covered;
  const texts = await TextScan.of(plan, request, search, rows, needless);
  const indexed = await IndexedTexts.open(plan, request, search, rows, access);
  try {
    if (search.isFuzzy) {
      await indexed.findTerms();
      await texts.findTerms(new TermFinder(search));
      search.expand();
    }
    const collector = new TextCollector(search);
    await texts.collect(collector, held);
    await indexed.read(held, collector.heldBytes);
    const statistics = added(collector.statistics, indexed.statistics);
    const top = new TopRows(wanted);
    await indexed.score(statistics, top);
    await inTurns(turn, collector.score(search.scorer(statistics), top), signal);
    const found = await inTurns(turn, top.finish(), signal);
    const rowIds = await rows.rowIdsOf(found.rows.subarray(plan.offset), turn, signal);
    return { rowIds, values: found.scores.slice(plan.offset) };
  } finally {
    indexed.close();
  }
}

/** Statistics of the rows that were read and of those that an index covers. */
function added(read: TextStatistics, indexed: TextStatistics): TextStatistics {
  const sums = (left: ArrayLike<number>, right: ArrayLike<number>): Float64Array =>
    Float64Array.from(left, (value, at) => value + (right[at] ?? 0));
  return {
    documents: Array.from(sums(read.documents, indexed.documents)),
    tokens: Array.from(sums(read.tokens, indexed.tokens)),
    frequencies: sums(read.frequencies, indexed.frequencies),
  };
}
