/**
 * Ordered reads: the keys of all matching rows are held in memory and sorted, then rows are taken
 * in that order, a batch at a time.
 */
import { type Data, DataType, type RecordBatch, type RecordBatchStream, Vector } from '../arrow.ts';
import { DirspaceError } from '../errors.ts';
import { columnsOf } from '../format/arrow-data.ts';
import { concatData } from '../format/concat.ts';
import { compareText } from '../format/statistics.ts';
import { describeType } from '../protocol/schema-equality.ts';
import { ROW_ID } from './columns.ts';
import type { Engine } from './engine.ts';
import { scanStream } from './scan.ts';
import { planScan, type ScanPlan, type ScanRequest } from './scan-plan.ts';
import type { Snapshot } from './snapshot.ts';
import { takeRows } from './take.ts';

export interface OrderKey {
  readonly column: string;
  readonly ascending: boolean;
  readonly nullsFirst: boolean;
}

/** Rows of one batch of the answer. */
const BATCH_ROWS = 8_192;

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
    async *[Symbol.asyncIterator](): AsyncGenerator<RecordBatch> {
      const rowIds = await orderedRowIds(keyPlan, keys);
      const end = Math.min(rowIds.length, plan.offset + plan.limit);
      for (let from = plan.offset; from < end; from += BATCH_ROWS) {
        plan.signal?.throwIfAborted();
        const part = rowIds.slice(from, Math.min(end, from + BATCH_ROWS));
        yield (await takeRows(plan, part)).batch;
      }
    },
  };
}

/** The read of the keys. @throws InvalidInput, TableColumnNotFound for what is no key */
export async function planKeys(
  engine: Engine,
  snapshot: Snapshot,
  { filter, counters, signal, memory }: ScanRequest,
  keys: readonly OrderKey[],
): Promise<ScanPlan> {
  const columns = keyColumns(snapshot, keys);
  const request = { columns, withRowId: true, filter, counters, signal, memory };
  const plan = await planScan(engine, snapshot, request);
  for (const { name, type } of plan.schema.fields) checkOrder(type, name);
  return plan;
}

/** The row ids are read as well, and need no key of their own. */
function keyColumns(snapshot: Snapshot, keys: readonly OrderKey[]): Record<string, string> {
  const columns = keys.filter(({ column }) => column !== ROW_ID);
  return Object.fromEntries(columns.map(({ column }) => [column, columnSql(snapshot, column)]));
}

/** A column by its name, or a nested one with dots between the names, as SQL has it. */
function columnSql({ fields }: Snapshot, column: string): string {
  const isWhole = fields.some(({ field }) => field.name === column);
  const names = isWhole ? [column] : column.split('.');
  return names.map((name) => `"${name.replaceAll('"', '""')}"`).join('.');
}

async function orderedRowIds(plan: ScanPlan, keys: readonly OrderKey[]): Promise<BigUint64Array> {
  const columns: Data[][] = plan.columns.map(() => []);
  for await (const batch of scanStream(plan)) {
    for (const [at, data] of columnsOf(batch).entries()) columns[at]?.push(data);
  }
  if ((columns[0]?.length ?? 0) === 0) return new BigUint64Array(0);
  const joined = new Map(
    plan.columns.map(({ name }, at) => [name, concatData(columns[at] as Data[])]),
  );
  const rowIds = (joined.get(ROW_ID) as Data).values as unknown as BigUint64Array;
  const compares = keys.map((key) => comparison(joined.get(key.column) as Data, key));
  const order = Uint32Array.from(rowIds.keys()).sort((left, right) => {
    for (const compare of compares) {
      const result = compare(left, right);
      if (result !== 0) return result;
    }
    return left - right;
  });
  return BigUint64Array.from(order, (row) => rowIds[row] as bigint);
}

/** @throws InvalidInput for types without an order */
function checkOrder(type: DataType, column: string): void {
  const decoded = DataType.isDictionary(type) ? type.dictionary : type;
  const ordered =
    DataType.isInt(decoded) ||
    DataType.isFloat(decoded) ||
    DataType.isDecimal(decoded) ||
    DataType.isBool(decoded) ||
    DataType.isUtf8(decoded) ||
    DataType.isLargeUtf8(decoded) ||
    DataType.isBinary(decoded) ||
    DataType.isLargeBinary(decoded) ||
    DataType.isFixedSizeBinary(decoded) ||
    DataType.isDate(decoded) ||
    DataType.isTime(decoded) ||
    DataType.isTimestamp(decoded) ||
    DataType.isDuration(decoded);
  if (ordered) return;
  throw new DirspaceError(
    'InvalidInput',
    `Rows cannot be ordered by ${column}: values of ${describeType(type)} have no order here.`,
    { details: { column } },
  );
}

type Compare = (left: number, right: number) => number;

/** NaN comes after all other numbers, as in Arrow's total order. */
function comparison(data: Data, key: OrderKey): Compare {
  const values = sortable(data);
  const sign = key.ascending ? 1 : -1;
  const nulls = key.nullsFirst ? -1 : 1;
  return (left, right) => {
    const a = values[left];
    const b = values[right];
    if (a === null || b === null) return a === b ? 0 : a === null ? nulls : -nulls;
    if (typeof a === 'string') return sign * compareText(a, b as string);
    if (typeof a === 'object') return sign * Buffer.compare(a, b as Uint8Array);
    if (Number.isNaN(a)) return Number.isNaN(b) ? 0 : sign;
    if (Number.isNaN(b)) return -sign;
    return (a as number) < (b as number) ? -sign : (a as number) > (b as number) ? sign : 0;
  };
}

type Sortable = number | bigint | string | boolean | Uint8Array | null;

/** Values that compare as the column orders. */
function sortable(data: Data): ArrayLike<Sortable> {
  const type = data.type as DataType;
  const plain = data.nullCount === 0 && data.values !== undefined && data.offset === 0;
  if (plain && (DataType.isInt(type) || (DataType.isFloat(type) && type.precision > 0))) {
    return data.values as unknown as ArrayLike<Sortable>;
  }
  if (DataType.isTimestamp(type) && data.nullCount === 0) {
    return data.values as unknown as ArrayLike<Sortable>;
  }
  const values = new Vector([data]);
  if (!DataType.isDecimal(type)) return [...(values as Iterable<Sortable>)];
  return Array.from(values as Iterable<Uint32Array | null>, (words) => words && wholeOf(words));
}

/** The number of all digits, without the scale that a column has once. */
function wholeOf(words: Uint32Array): bigint {
  const whole = words.reduceRight((sum, word) => (sum << 32n) | BigInt(word), 0n);
  return BigInt.asIntN(words.length * 32, whole);
}
