/**
 * `shred` computes what Parquet stores of one leaf of an Arrow column: which values it has, and the
 * levels that tell where values are null and how they form lists. Dictionary codes are replaced by
 * their values. A null where a field allows none throws InvalidInput.
 */
import {
  concatData,
  type Data,
  type DataType,
  type FixedSizeList,
  type Offsets,
  offsetAt,
  Type,
  type Vector,
} from '../../arrow/index.ts';
import { DirspaceError } from '../../errors.ts';
import { nullAt } from '../text/index.ts';
import type { WriteLeaf } from './write-schema.ts';

export interface Shredded {
  /** Values and nulls. */
  readonly count: number;
  /** Undefined where nothing can be null, and where there are no lists. */
  readonly definitions: Uint8Array | undefined;
  readonly repetitions: Uint8Array | undefined;
  /** The data that has the values, and their rows in it; all rows where it is undefined. */
  readonly data: Data | undefined;
  readonly rows: Int32Array | undefined;
}

/** Some places in the data of a node: the row of each, or -1 where a part above it is null or empty. */
interface Slots {
  readonly count: number;
  readonly rows: Int32Array;
  readonly definitions: Uint8Array;
  readonly repetitions: Uint8Array;
}

export function shred(leaf: WriteLeaf, column: Data): Shredded {
  const { steps, maxRepetition, maxDefinition } = leaf;
  const isFlat = steps.length === 1 && (column.type as DataType).typeId !== Type.Dictionary;
  if (isFlat && column.nullCount === 0 && (column.type as DataType).typeId !== Type.Null) {
    const { length } = column;
    const definitions = maxDefinition === 0 ? undefined : new Uint8Array(length).fill(1);
    return { count: length, definitions, repetitions: undefined, data: column, rows: undefined };
  }
  let data: Data | undefined = column;
  let slots = firstSlots(column.length);
  let depth = 0;
  for (const step of steps) {
    [data, slots] = throughDictionaries(data, slots);
    if (step.nullable) markNulls(data, slots);
    else refuseNulls(leaf, data, slots);
    if (step.kind === 'struct') data = data?.children[step.child];
    else if (step.kind === 'list') {
      slots = itemsOf(data, slots, ++depth);
      data = data?.children[0];
    }
  }
  const { count, definitions, repetitions } = slots;
  return {
    count,
    definitions: maxDefinition === 0 ? undefined : definitions.subarray(0, count),
    repetitions: maxRepetition === 0 ? undefined : repetitions.subarray(0, count),
    data,
    rows: there(slots),
  };
}

function firstSlots(count: number): Slots {
  const rows = new Int32Array(count);
  for (let row = 0; row < count; row++) rows[row] = row;
  return { count, rows, definitions: new Uint8Array(count), repetitions: new Uint8Array(count) };
}

const joined = new WeakMap<Vector, Data>();

/** The words that the codes stand for. */
function throughDictionaries(data: Data | undefined, slots: Slots): [Data | undefined, Slots] {
  let [at, found] = [data, slots];
  while (at !== undefined && (at.type as DataType).typeId === Type.Dictionary) {
    const isNull = nullAt(at);
    const codes = at.values as ArrayLike<number | bigint>;
    const vector = at.dictionary as Vector;
    const rows = found.rows.map((row) =>
      row < 0 || isNull(row) ? NOWHERE(row) : Number(codes[row]),
    );
    found = { ...found, rows };
    let words: Data | undefined = joined.get(vector);
    if (words === undefined && vector.data.length > 0) {
      words = concatData(vector.data as Data[]);
      joined.set(vector, words);
    }
    at = words;
  }
  return [at, found];
}

/** A code that is null is no word; what was nowhere stays so. */
const NOWHERE = (row: number): number => (row < 0 ? row : NULL_CODE);
const NULL_CODE = -2;

/** Counts the level of what is there, and forgets the rows of what is not. */
function markNulls(data: Data | undefined, { count, rows, definitions }: Slots): void {
  const isNull = data === undefined ? () => true : nullAt(data);
  for (let at = 0; at < count; at++) {
    const row = rows[at] as number;
    if (row >= 0 && !isNull(row)) definitions[at] = (definitions[at] as number) + 1;
    else rows[at] = -1;
  }
}

/** A reader would take the values behind a null for those before. @throws InvalidInput */
function refuseNulls({ path }: WriteLeaf, data: Data | undefined, { count, rows }: Slots): void {
  const isNull = data === undefined ? () => true : nullAt(data);
  for (let at = 0; at < count; at++) {
    const row = rows[at] as number;
    if (row === NULL_CODE || (row >= 0 && isNull(row))) {
      const column = path.join('.');
      const message = `The column ${JSON.stringify(column)} has a null where its field allows none, and cannot be written as Parquet.`;
      throw new DirspaceError('InvalidInput', message, { details: { column } });
    }
  }
}

/** The items of lists; a list without any has a place that says so. */
function itemsOf(data: Data | undefined, lists: Slots, depth: number): Slots {
  const type = data?.type as DataType | undefined;
  const size = type?.typeId === Type.FixedSizeList ? (type as FixedSizeList).listSize : undefined;
  const offsets = data?.valueOffsets as unknown as Offsets;
  const bounds = (row: number): [number, number] =>
    size === undefined
      ? [offsetAt(offsets, row), offsetAt(offsets, row + 1)]
      : [row * size, (row + 1) * size];
  let count = 0;
  for (let at = 0; at < lists.count; at++) {
    const row = lists.rows[at] as number;
    const [from, to] = row < 0 ? [0, 0] : bounds(row);
    count += Math.max(1, to - from);
  }
  const rows = new Int32Array(count);
  const definitions = new Uint8Array(count);
  const repetitions = new Uint8Array(count);
  let into = 0;
  for (let at = 0; at < lists.count; at++) {
    const row = lists.rows[at] as number;
    const [from, to] = row < 0 ? [0, 0] : bounds(row);
    const level = lists.definitions[at] as number;
    if (from === to) {
      rows[into] = -1;
      definitions[into] = level;
      repetitions[into++] = lists.repetitions[at] as number;
      continue;
    }
    for (let item = from; item < to; item++) {
      rows[into] = item;
      definitions[into] = level + 1;
      repetitions[into++] = item === from ? (lists.repetitions[at] as number) : depth;
    }
  }
  return { count, rows, definitions, repetitions };
}

/** The rows that have values, in their order. */
function there({ count, rows }: Slots): Int32Array {
  const found = new Int32Array(count);
  let into = 0;
  for (let at = 0; at < count; at++)
    if ((rows[at] as number) >= 0) found[into++] = rows[at] as number;
  return found.subarray(0, into);
}
