/**
 * `orderedScan` returns the matching rows in the order of the sort keys. It streams their keys past
 * a sorter (row-sorter.ts), which keeps the first rows up to offset plus limit, or all without a
 * limit. Then it reads the rows in order, batch by batch. With a limit, if no index serves the
 * filter and a BTREE index of the first key can tell which rows may come first, of the rows that it
 * covers only these are sorted. `planKeys` plans how the keys are read. A key of a type without an
 * order throws InvalidInput, and an unknown one TableColumnNotFound. `sortedColumn` sorts the
 * values of one column, which it holds in memory.
 */
import {
  columnsOf,
  concatData,
  type Data,
  type DataType,
  dataBytes,
  describeType,
  gather,
  type RecordBatch,
  type RecordBatchStream,
  Vector,
} from '../../arrow/index.ts';
import { DirspaceError } from '../../errors.ts';
import type { FragmentEntry } from '../../format/index.ts';
import type { FragmentRows } from '../../indexes/index.ts';
import type { HeldMemory, RequestMemory } from '../../request-memory.ts';
import { quotedPath } from '../../sql-quotes.ts';
import { stepped } from '../../stepped.ts';
import type { Awaitable } from '../../store/index.ts';
import { structPath } from '../fields/index.ts';
import { readFields } from '../fragments/index.ts';
import { firstRows, type IndexChoice } from '../indexes/index.ts';
import {
  type BatchPlace,
  matchingRows,
  pipelined,
  planScan,
  ROW_ID,
  readSelected,
  type ScanPlan,
  type ScanRequest,
  type Selection,
  selectedCount,
  type TakenPart,
  takenInParts,
} from '../read/index.ts';
import type { Engine, Snapshot } from '../versions/index.ts';
import { andThen, inTurns, LentColumns, Turn } from '../work/index.ts';
import { RankSpans } from './order-bounds.ts';
import { RowSorter, type SortedRows } from './row-sorter.ts';
import { hasNumbers, hasOrder } from './sort-keys.ts';

export interface OrderKey {
  readonly column: string;
  readonly ascending: boolean;
  readonly nullsFirst: boolean;
}

export async function orderedScan(
  engine: Engine,
  snapshot: Snapshot,
  request: ScanRequest,
  keys: readonly OrderKey[],
): Promise<RecordBatchStream> {
  const plan = await planScan(engine, snapshot, { ...request, filter: undefined });
  const { memory } = plan;
  const keyPlan = await planKeys(engine, snapshot, { ...request, memory }, keys);
  return {
    schema: plan.schema,
    [Symbol.asyncIterator](): AsyncGenerator<RecordBatch> {
      const held = memory.hold('The rows to be put in order');
      let parts: AsyncGenerator<TakenPart> | undefined;
      const step = async (): Promise<RecordBatch | undefined> => {
        if (plan.limit <= 0) return undefined;
        if (parts === undefined) {
          const sorted = await sortedBy(keyPlan, keys, plan.offset + plan.limit, held);
          parts = takenInParts(plan, plan.offset, sorted.count, sorted.rowIds);
        }
        const { done, value } = await parts.next();
        return done === true ? undefined : value.batch;
      };
      return stepped(step, async () => {
        held.end();
        await parts?.return(undefined);
      });
    },
  };
}

/**
 * Plans the read of the keys, only of the rows that may come first if an index tells them.
 * @throws InvalidInput, TableColumnNotFound for what is no key
 */
export async function planKeys(
  engine: Engine,
  snapshot: Snapshot,
  { filter, counters, signal, memory, limit, offset }: ScanRequest,
  keys: readonly OrderKey[],
): Promise<ScanPlan> {
  const columns = keyColumns(snapshot, keys);
  const withRowId = keys.some(({ column }) => column === ROW_ID);
  const request = { columns, withRowId, filter, counters, signal, memory };
  const plan = await planScan(engine, snapshot, request);
  for (const { name, type } of plan.schema.fields) checkOrder(type, name);
  if (plan.indexed !== undefined || limit === undefined) return plan;
  const chosen = await firstByIndex(plan, keys[0] as OrderKey, limit + (offset ?? 0));
  const { indexed, note = plan.indexNote } = chosen;
  return indexed === undefined && plan.indexNote !== undefined
    ? plan
    : { ...plan, indexed, indexNote: note };
}

/** The rows that may be among the first ones, as far as an index of the first key tells. */
async function firstByIndex(
  plan: ScanPlan,
  { column, ascending, nullsFirst }: OrderKey,
  count: number,
): Promise<IndexChoice> {
  const { engine, snapshot, predicate } = plan;
  const key = plan.columns.find(({ name }) => name === column);
  const isByNumber = predicate?.usesRowId === true || predicate?.usesRowOffset === true;
  if (key === undefined || isByNumber || count === 0)
    return { indexed: undefined, note: undefined };
  const path = key.kind === 'field' ? [key.field.field.name] : pathOf(snapshot, column);
  const first = { path, ascending, nullsFirst };
  return firstRows(engine, snapshot, first, {
    count,
    hasCondition: predicate !== undefined,
    matching: (candidates) => matchingAmong({ ...plan, indexed: candidates }),
  });
}

/** Finds which of the rows named by the plan's indexes are live and match its predicate. */
async function matchingAmong(plan: ScanPlan): Promise<FragmentRows> {
  const found = new Map<number, number[]>();
  const isNeedless = ({ id }: FragmentEntry): boolean => plan.indexed?.covered.has(id) !== true;
  const reads = pipelined({ ...plan, isNeedless }, (place) =>
    andThen(matchingRows(plan, place), (rows) =>
      rows === undefined || rows.length === 0 ? undefined : { place, rows },
    ),
  );
  for await (const { place, rows } of reads) {
    const own = found.get(place.entry.id);
    const offsets = own ?? [];
    if (own === undefined) found.set(place.entry.id, offsets);
    for (const row of rows) offsets.push(place.first + row);
  }
  return new Map([...found].map(([id, offsets]) => [id, Uint32Array.from(offsets)]));
}

function keyColumns(snapshot: Snapshot, keys: readonly OrderKey[]): Record<string, string> {
  const columns = keys.filter(({ column }) => column !== ROW_ID);
  return Object.fromEntries(columns.map(({ column }) => [column, columnSql(snapshot, column)]));
}

/** A column by its name, or a nested one with dots between the names, as SQL has it. */
const columnSql = (snapshot: Snapshot, column: string): string =>
  quotedPath(pathOf(snapshot, column));

/** The names may hold dots themselves; those of no field are left to SQL, which ignores case. */
const pathOf = ({ fields }: Snapshot, column: string): readonly string[] =>
  structPath(fields, column) ?? column.split('.');

/** The first `limit` rows that the plan matches, in the order of the keys. */
async function sortedBy(
  plan: ScanPlan,
  keys: readonly OrderKey[],
  limit: number,
  held: HeldMemory,
): Promise<SortedRows> {
  const { rowCount } = plan.snapshot;
  const columns = keys.map(({ column }) => plan.columns.findIndex(({ name }) => name === column));
  const [only] = columns.length === 1 ? columns : [];
  const numeric = only !== undefined && hasNumbers(plan.schema.fields[only]?.type as DataType);
  // Where few columns are kept they are copied, so that memory of reads serves the next ones.
  const lends = limit < rowCount || numeric;
  const turn = new Turn(plan.engine.env);
  const first = keys[0] as OrderKey;
  const spans =
    limit < rowCount
      ? await RankSpans.of(plan, columns[0] as number, first, limit, turn)
      : undefined;
  const sorter = new RowSorter({
    directions: keys,
    limit,
    most: rowCount,
    lent: lends,
    holding: (bytes) => held.set(bytes),
    ...(spans === undefined ? {} : { bound: () => spans.bound }),
  });
  const isNeedless = (entry: FragmentEntry): boolean =>
    spans !== undefined && spans.lowestOf(entry) > sorter.bound;
  const reads = pipelined({ ...plan, isNeedless }, (place) => {
    if (spans !== undefined && spans.lowestOfBatch(place) > sorter.bound) {
      plan.counters.batches += 1;
      plan.counters.batchesPruned += 1;
      return undefined;
    }
    const lent = new LentColumns(plan.engine.scratch);
    return andThen(matchingRows(plan, place, lent), (selection) => {
      const rows = selectedCount(selection, place.rows);
      if (rows === 0) return undefined;
      return andThen(keyColumnsOf(plan, place, selection, lends ? lent : undefined), (read) => ({
        lent,
        batch: {
          keys: columns.map((column) => read[column] as Data),
          rows,
          fragment: place.entry.id,
          first: place.first,
          selection,
        },
      }));
    });
  });
  for await (const { batch, lent } of reads) {
    await inTurns(turn, sorter.add(batch), plan.signal);
    lent.giveBack();
  }
  return inTurns(turn, sorter.finish(), plan.signal);
}

function keyColumnsOf(
  plan: ScanPlan,
  place: BatchPlace,
  selection: Selection,
  lent: LentColumns | undefined,
): Awaitable<Data[]> {
  const names = fieldNames(plan);
  return names === undefined
    ? readSelected(plan, place, selection, lent)
    : readFields(plan, place, names, selection, lent);
}

const knownNames = new WeakMap<ScanPlan, readonly string[] | undefined>();

/**
 * The names of the fields that the plan's columns are, the same array each time; undefined if a
 * column is computed.
 */
function fieldNames(plan: ScanPlan): readonly string[] | undefined {
  if (knownNames.has(plan)) return knownNames.get(plan);
  const fields = plan.columns.flatMap((column) => (column.kind === 'field' ? [column.field] : []));
  const names =
    fields.length === plan.columns.length ? fields.map(({ field }) => field.name) : undefined;
  knownNames.set(plan, names);
  return names;
}

/** @throws InvalidInput for types without an order */
function checkOrder(type: DataType, column: string): void {
  if (hasOrder(type)) return;
  throw new DirspaceError(
    'InvalidInput',
    `Rows cannot be ordered by ${column}: values of ${describeType(type)} have no order here.`,
    { details: { column } },
  );
}

/** Some values in order, and the number of the row of each. */
export interface SortedValues {
  readonly values: Data;
  readonly rows: Uint32Array;
}

/** Values that are given out at once, at most, and about their bytes. */
const MOST_VALUES = 65_536;
const MOST_BYTES = 1 << 23;
/** Bytes of values that are copied into one array before they are picked, at most. */
const MOST_JOINED = 1 << 26;
const RISING = { ascending: true, nullsFirst: false };

/**
 * Gives all values of a column in rising order, nulls last, with the numbers of their rows, which
 * count from 0. Rows of equal values keep their order. The values and their order count as memory
 * of the request.
 * @param stream the column alone, of a type that has an order, of all rows of the snapshot
 */
export async function* sortedColumn(
  engine: Engine,
  { rowCount }: Snapshot,
  stream: RecordBatchStream,
  memory: RequestMemory,
  signal: AbortSignal | undefined,
): AsyncGenerator<SortedValues> {
  const held = memory.hold('The values of a column that is being sorted');
  const turn = new Turn(engine.env);
  try {
    const pieces: Data[] = [];
    let bytes = 0;
    let read = 0;
    const sorter = new RowSorter({
      directions: [RISING],
      limit: rowCount,
      most: rowCount,
      keeps: true,
      holding: (sum) => held.set(sum),
    });
    for await (const batch of stream) {
      const [data] = columnsOf(batch) as [Data];
      const place = { rows: batch.numRows, fragment: 0, first: read, selection: undefined };
      await inTurns(turn, sorter.add({ keys: [data], ...place }), signal);
      pieces.push(data);
      bytes += dataBytes(data);
      read += batch.numRows;
    }
    const { rows } = await inTurns(turn, sorter.finish(), signal);
    // Values of one array are picked without a search for the piece of each.
    const isJoined = bytes <= MOST_JOINED;
    if (isJoined) held.set(held.bytes + bytes);
    const column = isJoined ? concatData(pieces) : new Vector(pieces);
    const size = Math.max(1, Math.min(MOST_VALUES, Math.floor((MOST_BYTES * read) / bytes)));
    for (let from = 0; from < rows.length; from += size) {
      const some = rows.slice(from, from + size);
      yield { values: gather(column, some), rows: some };
      if (turn.isOver()) await turn.pass();
      signal?.throwIfAborted();
    }
  } finally {
    held.end();
  }
}
