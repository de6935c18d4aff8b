/**
 * `expandedRows` gives each row once for every item of a list (unnest), or for every value of a
 * series (generate_series and range), with the item and its number as further columns. A series is
 * made as it is read, in batches of bounded size. One of more than 10,000,000 values, or with a step
 * of 0, throws InvalidInput.
 */
import {
  type Data,
  type Field,
  gatherBatch,
  type RecordBatch,
  recordBatch,
  Schema,
} from '../../arrow/index.ts';
import {
  type Column,
  columnOf,
  moveInstant,
  reader,
  refuse,
  toVector,
  type Value,
} from '../../sql/index.ts';
import type { IntervalValue } from '../../values/index.ts';
import type { ExpandStep } from '../steps/index.ts';
import {
  BATCH_ROWS,
  columnReader,
  dataNamed,
  oneStep,
  type Relation,
  run,
  type Work,
} from './relation.ts';

const MOST_OF_SERIES = 10_000_000;
/** A batch ends once its texts and lists have about so many bytes. */
const BATCH_BYTES = 8 << 20;
/** Of a value that is no text, in a list or in a row. */
const VALUE_BYTES = 16;

export function expandedRows(input: Relation, plan: ExpandStep, work: Work): Relation {
  const { schema, args } = plan;
  const read = columnReader(args, input.schema, work);
  return {
    schema,
    async *batches(): AsyncGenerator<RecordBatch> {
      for await (const batch of input.batches()) {
        const itemsOf = itemReader(plan, await read(batch));
        const made = new ExpandedBatch(batch, plan);
        for (let row = 0; row < batch.numRows; row++) {
          let number = 0;
          for (const item of itemsOf(row)) {
            number++;
            if (!made.add(row, item, number)) continue;
            yield made.taken(work);
            await run(work, oneStep());
          }
          if (number === 0 && plan.keepsRows && made.add(row, null, null)) yield made.taken(work);
        }
        if (made.length > 0) yield made.taken(work);
        await run(work, oneStep());
      }
    },
  };
}

/** Rows that were expanded, and not yet handed on. */
class ExpandedBatch {
  readonly #plan: ExpandStep;
  /** The columns of the input that are handed on. */
  readonly #input: RecordBatch;
  readonly #offsets: (ArrayLike<number | bigint> | undefined)[];
  #rows: number[] = [];
  #items: Value[] = [];
  #numbers: Value[] = [];
  #bytes = 0;

  constructor(batch: RecordBatch, plan: ExpandStep) {
    this.#plan = plan;
    const fields = plan.schema.fields.filter(
      ({ name }) => name !== plan.item && name !== plan.number,
    );
    const columns = fields.map(({ name }) => dataNamed(batch, name));
    this.#input = recordBatch(new Schema(fields), columns, batch.numRows);
    this.#offsets = columns.map(({ valueOffsets }) => valueOffsets);
  }

  get length(): number {
    return this.#rows.length;
  }

  /** Returns whether there are enough rows for a batch. */
  add(row: number, item: Value, number: number | null): boolean {
    this.#rows.push(row);
    this.#items.push(item);
    if (this.#plan.number !== undefined) {
      this.#numbers.push(number === null ? null : BigInt(number));
    }
    this.#bytes += bytesOf(item);
    for (const offsets of this.#offsets) {
      if (offsets === undefined || offsets.length <= row + 1) continue;
      this.#bytes += Number(offsets[row + 1]) - Number(offsets[row]);
    }
    return this.#rows.length >= BATCH_ROWS || this.#bytes >= BATCH_BYTES;
  }

  taken(work: Work): RecordBatch {
    const { schema, item, number } = this.#plan;
    const kept = gatherBatch(this.#input, Uint32Array.from(this.#rows));
    const memory = work.memory.batch();
    const columns = schema.fields.map((field: Field): Data => {
      const values = field.name === item ? this.#items : this.#numbers;
      if (field.name !== item && field.name !== number) return dataNamed(kept, field.name);
      return toVector(columnOf(field.type, values), field.type, memory).data[0] as Data;
    });
    const batch = recordBatch(schema, columns, this.#rows.length);
    this.#rows = [];
    this.#items = [];
    this.#numbers = [];
    this.#bytes = 0;
    return batch;
  }
}

function bytesOf(value: Value): number {
  if (typeof value === 'string' || value instanceof Uint8Array) return value.length;
  if (Array.isArray(value)) return value.reduce((sum: number, item) => sum + bytesOf(item), 0);
  return VALUE_BYTES;
}

type Items = (row: number) => Iterable<Value>;

function itemReader({ of, at, isWithEnd }: ExpandStep, columns: readonly Column[]): Items {
  if (of === 'list') return listItems(columns[0] as Column);
  const [start, stop, step] = columns.map(reader);
  return (row) => {
    const bounds = [start?.(row) ?? null, stop?.(row) ?? null, step?.(row) ?? null];
    if (bounds.includes(null)) return [];
    const [from, to, by] = bounds;
    if (of === 'numbers') return numbers(from as bigint, to as bigint, by as bigint);
    return times(from as bigint, to as bigint, by as IntervalValue);
  };

  function* numbers(from: bigint, to: bigint, by: bigint): Generator<bigint> {
    if (by === 0n) refuse(at, 'The step of a series is 0, so that it would never end');
    const last = isWithEnd ? to : by > 0n ? to - 1n : to + 1n;
    const count = (last - from) / by + 1n;
    if ((by > 0n ? from > last : from < last) || count <= 0n) return;
    if (count > MOST_OF_SERIES) refuseLong(count, at);
    for (let value = from, left = Number(count); left > 0; left--, value += by) yield value;
  }

  function* times(from: bigint, to: bigint, by: IntervalValue): Generator<bigint> {
    const type = columns[0]?.type as Column['type'];
    const first = moveInstant(from, by, type);
    if (first === from) refuse(at, 'The step of a series is 0, so that it would never end');
    const isUp = first > from;
    let count = 0;
    for (let value = from; isUp ? value <= to : value >= to; ) {
      if (value === to && !isWithEnd) return;
      if (++count > MOST_OF_SERIES) refuseLong(undefined, at);
      yield value;
      const next = moveInstant(value, by, type);
      // Parts of an interval may go both ways.
      if (isUp ? next <= value : next >= value) return;
      value = next;
    }
  }
}

function refuseLong(count: bigint | undefined, at: number | undefined): never {
  const found = count === undefined ? '' : `, and this one would have ${count}`;
  return refuse(at, `A series has ${MOST_OF_SERIES} values at most${found}`);
}

function listItems(column: Column): Items {
  if (column.form !== 'list') {
    const read = reader(column);
    return (row) => (read(row) as readonly Value[] | null) ?? [];
  }
  const { starts, ends, valid, child } = column;
  const read = reader(child);
  return function* (row): Generator<Value> {
    if (valid !== null && valid[row] === 0) return;
    const end = ends[row] as number;
    for (let at = starts[row] as number; at < end; at++) yield read(at) ?? null;
  };
}
