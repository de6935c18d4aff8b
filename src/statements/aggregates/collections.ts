/**
 * `Collections` implements the aggregates that need all values of a group at its end: string_agg,
 * array_agg and quantile_disc. It also serves aggregates whose result depends on an ORDER BY within
 * the call, such as sums of floats: it gives another accumulator the rows in that order. It keeps
 * the columns of values, and sorts only the places of rows (batch and row), in steps. If string_agg
 * would make more than 2^31 - 1 bytes of text for the groups of one result batch, it throws
 * InvalidInput.
 */
import {
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
} from '../../arrow/index.ts';
import { DirspaceError } from '../../errors.ts';
import type { HeldMemory } from '../../request-memory.ts';
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
  type Direction,
  type GroupRange,
  groupsWhere,
  listsOf,
  type Quantile,
  resultOf,
} from './accumulator.ts';
import { type ByGroup, counted, GroupedRows, PLACE_BYTES } from './grouped-rows.ts';
import { columnsInOne, placesOf } from './row-places.ts';

/** Rows of a step. */
const STEP_ROWS = 1 << 16;
/** Bytes of all texts that are joined at once. */
const MOST_BYTES = 2 ** 31 - 1;

/** Aggregates to which a null is a value. */
const KEEPS_NULLS: ReadonlySet<string> = new Set(['array_agg', 'first', 'last']);

export class Collections implements Accumulator {
  readonly #aggregate: Aggregate;
  readonly #inner: (() => Accumulator) | undefined;
  readonly #rows = new GroupedRows();
  /** The values and the keys that they are put in order by. */
  readonly #batches: RecordBatch[] = [];
  #schema: Schema | undefined;
  #sorted: ByGroup | undefined;
  bytes = 0;

  /** @param inner creates what computes the result from rows in order; absent for lists and texts */
  constructor(aggregate: Aggregate, inner?: () => Accumulator) {
    this.#aggregate = aggregate;
    this.#inner = inner;
  }

  add(given: Int32Array, size: number, columns: readonly Column[]): void {
    const { name, memory } = this.#aggregate;
    const values = columns[0] as Column;
    const { rows, groups } = counted(
      KEEPS_NULLS.has(name) ? given : groupsWhere(given, validityOf(values)),
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
    const { name, type, memory, order } = this.#aggregate;
    this.#sorted ??= yield* this.#inOrder();
    if (name === 'quantile_disc') return yield* this.#atShares(range, this.#sorted);
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
      const fields = this.#schema?.fields ?? [new Field('0', itemType(type), true)];
      const columns = fields.slice(0, Math.max(1, fields.length - order.length));
      const all = yield* columnsInOne(
        columns.map((field, at) => ({ type: field.type, parts: this.#parts(at) })),
        this.#batches.length,
        {
          batch: places.batch.subarray(from, from + rows),
          row: places.row.subarray(from, from + rows),
        },
      );
      if (this.#inner !== undefined) return yield* valuesOfRows(this.#inner(), all, ends);
      const values = all[0] as Data;
      return name === 'string_agg'
        ? yield* joinedTexts(values, ends, this.#aggregate, held)
        : listsOf(values, ends, type);
    } finally {
      held.end();
    }
  }

  #parts(column: number): Data[] {
    return this.#batches.map((batch) => columnsOf(batch)[column] as Data);
  }

  /** The values whose share of those of their group up to them reaches those asked for. */
  *#atShares(
    { from, to }: GroupRange,
    { starts, places }: ByGroup,
  ): Generator<void, Column | Data> {
    const { type, quantile } = this.#aggregate;
    const { shares, isList } = quantile as Quantile;
    if (this.#batches.length === 0) {
      return { form: 'constant', type, length: to - from, value: null };
    }
    const valid = new Uint8Array(to - from);
    const ends = new Int32Array(to - from);
    const most = (to - from) * shares.length;
    const [batch, row] = [new Uint32Array(most), new Uint32Array(most)];
    let found = 0;
    for (let group = from; group < to; group++) {
      const last = Math.min(group + 1, starts.length - 1);
      const start = starts[Math.min(group, last)] as number;
      const count = (starts[last] as number) - start;
      // A group without values has an empty list, which is null, or a value that is not valid.
      for (const share of count > 0 ? shares : isList ? [] : ['0']) {
        const place = count > 0 ? start + rankAt(share, count) : 0;
        batch[found] = places.batch[place] as number;
        row[found++] = places.row[place] as number;
      }
      valid[group - from] = count > 0 ? 1 : 0;
      ends[group - from] = found;
    }
    const column = { type: this.#schema?.fields[0]?.type ?? type, parts: this.#parts(0) };
    const rows = { batch: batch.subarray(0, found), row: row.subarray(0, found) };
    const [all] = yield* columnsInOne([column], this.#batches.length, rows);
    if (isList) return listsOf(all as Data, ends, type);
    return withValidity(loadColumn(all as Data), valid);
  }

  /** The columns that rows are put in order by, and how. */
  #keys(): { direction: Direction; at: number }[] {
    const { name, order, quantile } = this.#aggregate;
    const fields = this.#schema?.fields ?? [];
    const first = fields.length - order.length;
    if (name === 'quantile_disc') {
      const direction = { ascending: quantile?.descending !== true, nullsFirst: false };
      return fields.length === 0 ? [] : [{ direction, at: 0 }];
    }
    // A key that is null in every row orders nothing.
    return order.flatMap((direction, at) => {
      const type = fields[first + at]?.type;
      return type === undefined || familyOf(type) === 'null' ? [] : [{ direction, at: first + at }];
    });
  }

  *#inOrder(): Generator<void, ByGroup> {
    const { memory } = this.#aggregate;
    const keys = this.#keys();
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

/** What an accumulator makes of the rows of each group, which come in order. */
function* valuesOfRows(
  state: Accumulator,
  values: readonly Data[],
  ends: Int32Array,
): Generator<void, Column | Data> {
  const columns = values.map(loadColumn);
  const rows = ends.at(-1) ?? 0;
  const size = ends.length;
  let group = 0;
  for (let from = 0; from < rows; from += STEP_ROWS) {
    const count = Math.min(STEP_ROWS, rows - from);
    const groups = new Int32Array(count);
    const own = new Uint32Array(count);
    for (let at = 0; at < count; at++) {
      while ((ends[group] as number) <= from + at) group++;
      groups[at] = group;
      own[at] = from + at;
    }
    const part = columns.map((column) => gatherColumn(column, own));
    if (state.reserve !== undefined) yield* state.reserve(count);
    state.add(groups, size, part);
    yield;
  }
  return yield* resultOf(state, { from: 0, to: size });
}

/**
 * The place of the value at a share of so many, from 0 on: the first that has the share of them at
 * or before it. A share that is written in digits counts exactly.
 */
function rankAt(share: string, count: number): number {
  const [, whole = '', digits = ''] = /^(\d*)\.?(\d*)$/.exec(share) ?? [];
  if (whole === '' && digits === '') return Math.max(1, Math.ceil(Number(share) * count)) - 1;
  const scale = 10n ** BigInt(digits.length);
  const rank = (BigInt(`${whole}${digits}`) * BigInt(count) + scale - 1n) / scale;
  return Math.max(1, Number(rank)) - 1;
}

/** A text for each group, null for those without rows. */
function* joinedTexts(
  values: Data,
  ends: Int32Array,
  { type, separator }: Aggregate,
  held: HeldMemory,
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
  held.set(held.bytes + bytes);
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
