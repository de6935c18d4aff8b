/**
 * Implements the aggregates that keep all values of a group until its end: string_agg and array_agg
 * (`Collections`), in the order of the rows or of their ORDER BY, any_value as the first of that
 * order, and medians (`Medians`). Values stay in columns; when all rows have been read, their
 * places are sorted by group, in steps. An ORDER BY whose type has no order throws InvalidInput.
 */
import {
  bitmapBytes,
  columnsOf,
  type Data,
  type DataType,
  dataBytes,
  Field,
  gatherData,
  Int32,
  makeData,
  type RecordBatch,
  recordBatch,
  Schema,
  setBit,
} from '../../arrow/index.ts';
import { DirspaceError } from '../../errors.ts';
import {
  type Column,
  familyOf,
  gatherColumn,
  loadColumn,
  toVector,
  validityOf,
  withValidity,
} from '../../sql/index.ts';
import { RowSorter } from '../../table/index.ts';
import {
  type Accumulator,
  type Aggregate,
  type GroupRange,
  groupsWhere,
  numbersWhere,
} from './accumulator.ts';
import { columnsInOne, placesOf, type RowPlaces } from './row-places.ts';
import { doublesOf } from './sums.ts';

/** Bytes that the place of a row takes in the end, with its group. */
const PLACE_BYTES = 12;
/** Rows of a step. */
const STEP_ROWS = 1 << 16;
/** Bytes of all texts that are joined at once. */
const MOST_BYTES = 2 ** 31 - 1;

/** Rows by group: those of group g are from `starts[g]` on, up to `starts[g + 1]`. */
interface ByGroup {
  readonly starts: Uint32Array;
  readonly places: RowPlaces;
}

/** The rows that count, of all batches, with a number of their group each. */
class GroupedRows {
  readonly groups: Int32Array[] = [];
  rows = 0;
  #size = 0;

  /** @param groups of rows that all count */
  add(groups: Int32Array, size: number): void {
    this.groups.push(groups);
    this.rows += groups.length;
    this.#size = Math.max(this.#size, size);
  }

  *starts(): Generator<void, Uint32Array> {
    const starts = new Uint32Array(this.#size + 1);
    for (const groups of this.groups) {
      for (let row = 0; row < groups.length; row++) {
        (starts[(groups[row] as number) + 1] as number)++;
      }
      yield;
    }
    for (let group = 0; group < this.#size; group++) {
      (starts[group + 1] as number) += starts[group] as number;
    }
    return starts;
  }

  /** In the order in which the rows came. */
  *inOrder(): Generator<void, ByGroup> {
    const starts = yield* this.starts();
    const next = starts.slice();
    const places = { batch: new Uint32Array(this.rows), row: new Uint32Array(this.rows) };
    for (const [batch, groups] of this.groups.entries()) {
      for (let row = 0; row < groups.length; row++) {
        const to = (next[groups[row] as number] as number)++;
        places.batch[to] = batch;
        places.row[to] = row;
      }
      yield;
    }
    return { starts, places };
  }
}

/** The numbers of the rows that count, and their groups. */
function counted(groups: Int32Array): { rows: Uint32Array; groups: Int32Array } {
  const rows = new Uint32Array(groups.length);
  let count = 0;
  for (let row = 0; row < groups.length; row++) {
    if ((groups[row] as number) >= 0) rows[count++] = row;
  }
  if (count === groups.length) return { rows, groups: groups.slice() };
  return {
    rows: rows.subarray(0, count),
    groups: Int32Array.from(rows.subarray(0, count), (row) => groups[row] as number),
  };
}

export class Collections implements Accumulator {
  readonly #aggregate: Aggregate;
  readonly #rows = new GroupedRows();
  /** The values and the keys that they are put in order by. */
  readonly #batches: RecordBatch[] = [];
  #schema: Schema | undefined;
  #sorted: ByGroup | undefined;
  bytes = 0;

  constructor(aggregate: Aggregate) {
    this.#aggregate = aggregate;
  }

  add(given: Int32Array, size: number, columns: readonly Column[]): void {
    const { name, memory } = this.#aggregate;
    const values = columns[0] as Column;
    const { rows, groups } = counted(
      name === 'array_agg' ? given : groupsWhere(given, validityOf(values)),
    );
    if (rows.length === 0) return;
    const types = this.#schema?.fields.map(({ type }) => type) ?? columns.map(({ type }) => type);
    this.#schema ??= new Schema(types.map((type, at) => new Field(String(at), type, true)));
    const data = columns.map((column, at) => {
      const whole = toVector(column, types[at] as DataType, memory.batch()).data[0] as Data;
      return rows.length === given.length ? whole : gatherData(whole, rows);
    });
    this.#rows.add(groups, size);
    this.#batches.push(recordBatch(this.#schema, data, rows.length));
    this.bytes += rows.length * PLACE_BYTES;
    for (const column of data) this.bytes += dataBytes(column);
  }

  *result(range: GroupRange): Generator<void, Column | Data> {
    const { name, type, memory } = this.#aggregate;
    this.#sorted ??= yield* this.#inOrder();
    const { starts, places } = this.#sorted;
    const startOf = (group: number): number => starts[Math.min(group, starts.length - 1)] as number;
    const from = startOf(range.from);
    const rows = startOf(range.to) - from;
    const ends = Int32Array.from(
      { length: range.to - range.from },
      (_, at) => startOf(range.from + at + 1) - from,
    );
    const held = memory.hold(`The values of ${name}(..)`);
    try {
      held.set(rows === 0 ? 0 : Math.ceil((this.bytes * rows) / this.#rows.rows));
      const item = this.#schema?.fields[0] ?? new Field('0', itemType(type), true);
      const parts = this.#batches.map((batch) => columnsOf(batch)[0] as Data);
      const column = { type: item.type, parts };
      const [all] = yield* columnsInOne([column], parts.length, {
        batch: places.batch.subarray(from, from + rows),
        row: places.row.subarray(from, from + rows),
      });
      const values = all as Data;
      if (name === 'any_value') return firstsOf(values, ends, type);
      return name === 'string_agg'
        ? yield* joinedTexts(values, ends, this.#aggregate)
        : listsOf(values, ends, type);
    } finally {
      held.end();
    }
  }

  *#inOrder(): Generator<void, ByGroup> {
    const { order, memory } = this.#aggregate;
    // A key that is null in every row orders nothing.
    const keys = order.flatMap((direction, at) => {
      const type = this.#schema?.fields[at + 1]?.type;
      return type === undefined || familyOf(type) === 'null' ? [] : [{ direction, at: at + 1 }];
    });
    if (keys.length === 0) return yield* this.#rows.inOrder();
    const starts = yield* this.#rows.starts();
    const held = memory.hold('The keys that collected values are put in order by');
    try {
      const { rows } = this.#rows;
      const sorter = new RowSorter({
        directions: [{ ascending: true, nullsFirst: false }, ...keys.map((key) => key.direction)],
        limit: rows,
        most: rows,
        holding: (bytes) => held.set(bytes),
      });
      for (const [fragment, batch] of this.#batches.entries()) {
        const groups = this.#rows.groups[fragment] as Int32Array;
        const numbers = makeData({ type: new Int32(), length: groups.length, data: groups });
        const data = columnsOf(batch);
        yield* sorter.add({
          keys: [numbers, ...keys.map(({ at }) => data[at] as Data)],
          rows: batch.numRows,
          fragment,
          first: 0,
          selection: undefined,
        });
      }
      const sorted = yield* sorter.finish();
      return { starts, places: placesOf(sorted.rowIds(0, sorted.count)) };
    } finally {
      held.end();
    }
  }
}

const itemType = (type: DataType): DataType =>
  (type.children as readonly Field[] | null)?.[0]?.type ?? type;

/** A list for each group; null for those without rows. */
function listsOf(values: Data, ends: Int32Array, type: DataType): Data {
  const valid = new Uint8Array(bitmapBytes(ends.length));
  const offsets = new Int32Array(ends.length + 1);
  offsets.set(ends, 1);
  let nullCount = 0;
  for (let at = 0; at < ends.length; at++) {
    if (offsets[at] === offsets[at + 1]) nullCount++;
    else setBit(valid, at);
  }
  return makeData({
    ...{ type, length: ends.length, nullCount, nullBitmap: valid, valueOffsets: offsets },
    child: values,
  } as never);
}

/** The first value of each group, null for those without rows. */
function firstsOf(values: Data, ends: Int32Array, type: DataType): Column {
  const { length } = ends;
  if (values.length === 0) return { form: 'constant', type, length, value: null };
  const rows = new Uint32Array(length);
  const valid = new Uint8Array(length);
  for (let group = 0, from = 0; group < length; group++) {
    const end = ends[group] as number;
    if (end > from) {
      rows[group] = from;
      valid[group] = 1;
    }
    from = end;
  }
  return withValidity(gatherColumn(loadColumn(values), rows), valid);
}

/** A text for each group, null for those without rows. */
function* joinedTexts(
  values: Data,
  ends: Int32Array,
  { type, separator }: Aggregate,
): Generator<void, Column> {
  const column = loadColumn(values);
  if (column.form !== 'bytes') {
    return { form: 'constant', type, length: ends.length, value: null };
  }
  const between = Buffer.from(separator);
  const { data, starts, ends: textEnds } = column;
  let bytes = values.length * between.length;
  for (let row = 0; row < values.length; row++) {
    bytes += (textEnds[row] as number) - (starts[row] as number);
  }
  if (bytes > MOST_BYTES) {
    throw new DirspaceError(
      'InvalidInput',
      `string_agg(..) would join ${bytes} bytes of text, and ${MOST_BYTES} is the most; group by more keys, or filter the rows.`,
    );
  }
  const joined = new Uint8Array(bytes);
  const groups = ends.length;
  const out = { starts: new Int32Array(groups), ends: new Int32Array(groups) };
  const valid = new Uint8Array(groups);
  let to = 0;
  for (let group = 0, row = 0; group < groups; group++) {
    const end = ends[group] as number;
    out.starts[group] = to;
    valid[group] = end > row ? 1 : 0;
    for (const first = row; row < end; row++) {
      if (row > first) {
        joined.set(between, to);
        to += between.length;
      }
      const [start, until] = [starts[row] as number, textEnds[row] as number];
      copyBytes(data, start, until, joined, to);
      to += until - start;
      if (row % STEP_ROWS === 0) yield;
    }
    out.ends[group] = to;
  }
  return { form: 'bytes', type, length: groups, data: joined, ...out, dense: true, valid };
}

/** Short texts are copied faster byte by byte. */
function copyBytes(
  from: Uint8Array,
  start: number,
  end: number,
  into: Uint8Array,
  to: number,
): void {
  if (end - start > 48) into.set(from.subarray(start, end), to);
  else for (let at = start, place = to; at < end; at++) into[place++] = from[at] as number;
}

/** The value in the middle, or the mean of the two there. */
export class Medians implements Accumulator {
  readonly #type: DataType;
  readonly #rows = new GroupedRows();
  readonly #values: Float64Array[] = [];
  #sorted: { readonly starts: Uint32Array; readonly values: Float64Array } | undefined;
  bytes = 0;

  constructor({ type }: Aggregate) {
    this.#type = type;
  }

  add(given: Int32Array, size: number, [column]: readonly Column[]): void {
    const values = column as Column;
    const { rows, groups } = counted(groupsWhere(given, validityOf(values)));
    if (rows.length === 0) return;
    const numbers = doublesOf(values);
    this.#rows.add(groups, size);
    this.#values.push(Float64Array.from(rows, (row) => numbers[row] as number));
    this.bytes += rows.length * (PLACE_BYTES + 16);
  }

  *result(range: GroupRange): Generator<void, Column> {
    this.#sorted ??= yield* this.#byGroup();
    const { starts, values } = this.#sorted;
    const medians = new Float64Array(range.to);
    const counts = new Float64Array(range.to);
    for (let group = range.from; group < Math.min(range.to, starts.length - 1); group++) {
      const [from, to] = [starts[group] as number, starts[group + 1] as number];
      if (from === to) continue;
      const sorted = yield* inOrder(values.subarray(from, to));
      const middle = (sorted.length - 1) / 2;
      const [low, high] = [sorted[Math.floor(middle)], sorted[Math.ceil(middle)]] as const;
      medians[group] = low === high ? (low as number) : ((low as number) + (high as number)) / 2;
      counts[group] = 1;
      yield;
    }
    return numbersWhere(this.#type, medians, counts, range);
  }

  *#byGroup(): Generator<void, { starts: Uint32Array; values: Float64Array }> {
    const starts = yield* this.#rows.starts();
    const next = starts.slice();
    const values = new Float64Array(this.#rows.rows);
    for (const [batch, groups] of this.#rows.groups.entries()) {
      const numbers = this.#values[batch] as Float64Array;
      for (let row = 0; row < groups.length; row++) {
        values[(next[groups[row] as number] as number)++] = numbers[row] as number;
      }
      yield;
    }
    return { starts, values };
  }
}

/** Numbers in order, NaN last, sorted in runs that are then merged. It may use the array given. */
function* inOrder(values: Float64Array): Generator<void, Float64Array> {
  for (let from = 0; from < values.length; from += STEP_ROWS) {
    values.subarray(from, from + STEP_ROWS).sort();
    if (values.length > STEP_ROWS) yield;
  }
  let source = values;
  for (let run = STEP_ROWS; run < values.length; run *= 2) {
    const merged = new Float64Array(values.length);
    for (let from = 0; from < values.length; from += 2 * run) {
      yield* merge(source, merged, from, Math.min(values.length, from + run), from + 2 * run);
    }
    source = merged;
  }
  return source;
}

/** Merges the runs from `from` and from `middle` on. */
function* merge(
  source: Float64Array,
  into: Float64Array,
  from: number,
  middle: number,
  until: number,
): Generator<void, void> {
  const end = Math.min(source.length, until);
  let left = from;
  let right = middle;
  for (let to = from; to < end; to++) {
    const isLeft =
      right >= end ||
      (left < middle &&
        (Number.isNaN(source[right]) || (source[left] as number) <= (source[right] as number)));
    into[to] = (isLeft ? source[left++] : source[right++]) as number;
    if (to % STEP_ROWS === 0) yield;
  }
}
