/**
 * `expandedRows` gives each row once for every item of a list (unnest), or for every value of a
 * series (generate_series and range). The item is a further column, and its number another one if
 * the step asks for it. A row without items is left out, or comes once with nulls if the step says
 * `keepsRows`. A series is made as it is read (expanded-items.ts). Batches end at 65,536 rows or
 * once their texts and lists have about 8 MiB.
 */
import {
  type Data,
  gatherBatch,
  type RecordBatch,
  recordBatch,
  Schema,
} from '../../arrow/index.ts';
import { type Column, toVector } from '../../sql/index.ts';
import type { ExpandStep } from '../steps/index.ts';
import { type Items, itemsOf } from './expanded-items.ts';
import {
  BATCH_BYTES,
  BATCH_ROWS,
  columnReader,
  dataNamed,
  oneStep,
  type Relation,
  rowBytes,
  run,
  type Work,
} from './relation.ts';

/** Of the item and the number of a row. */
const ROW_BYTES = 16;

export function expandedRows(input: Relation, plan: ExpandStep, work: Work): Relation {
  const { schema, args } = plan;
  const read = columnReader(args, input.schema, work);
  return {
    schema,
    async *batches(): AsyncGenerator<RecordBatch> {
      for await (const batch of input.batches()) {
        const items = itemsOf(plan, await read(batch), work.memory.batch());
        const made = new ExpandedBatch(batch, plan, items);
        for (let row = 0; row < batch.numRows; row++) {
          items.begin(row);
          for (let more = made.add(row); more; more = made.add(row)) {
            yield made.taken(work);
            await run(work, oneStep());
          }
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
  readonly #items: Items;
  /** The columns of the input that are handed on. */
  readonly #input: RecordBatch;
  readonly #bytesOf: (row: number) => number;
  readonly #rows = new Uint32Array(BATCH_ROWS);
  /** Undefined where no column has the numbers of the items. */
  readonly #numbers: Float64Array | undefined;
  #length = 0;
  #bytes = 0;
  #row = -1;
  /** Items of the row that are there already. */
  #count = 0;

  constructor(batch: RecordBatch, plan: ExpandStep, items: Items) {
    this.#plan = plan;
    this.#items = items;
    const { item, number } = plan;
    const fields = plan.schema.fields.filter(({ name }) => name !== item && name !== number);
    const columns = fields.map(({ name }) => dataNamed(batch, name));
    this.#input = recordBatch(new Schema(fields), columns, batch.numRows);
    this.#bytesOf = rowBytes(this.#input);
    this.#numbers = number === undefined ? undefined : new Float64Array(BATCH_ROWS);
  }

  get length(): number {
    return this.#length;
  }

  /** Adds the items of a row that are left; true where the batch is full before. */
  add(row: number): boolean {
    if (row !== this.#row) [this.#row, this.#count] = [row, 0];
    const each = ROW_BYTES + this.#bytesOf(row);
    for (;;) {
      const room = BATCH_ROWS - this.#length;
      const bytes = BATCH_BYTES - this.#bytes;
      if (room === 0 || bytes <= 0) return true;
      const most = Math.min(room, Math.ceil(bytes / each));
      const taken = this.#items.take(this.#length, most, bytes);
      if (taken === 0) break;
      this.#bytes += this.#items.bytes + taken * each;
      this.#note(row, taken);
    }
    if (this.#count === 0 && this.#plan.keepsRows) {
      this.#items.none(this.#length);
      this.#bytes += each;
      this.#note(row, 1, Number.NaN);
    }
    return false;
  }

  /** @param first the number of the first of these items */
  #note(row: number, taken: number, first = this.#count + 1): void {
    const [from, to] = [this.#length, this.#length + taken];
    this.#rows.fill(row, from, to);
    const numbers = this.#numbers;
    if (numbers !== undefined) for (let at = from; at < to; at++) numbers[at] = first + at - from;
    this.#length = to;
    this.#count += taken;
  }

  taken(work: Work): RecordBatch {
    const length = this.#length;
    const { schema, item, number } = this.#plan;
    const kept = gatherBatch(this.#input, this.#rows.slice(0, length));
    const columns = schema.fields.map(({ name, type }): Data => {
      if (name === item) return this.#items.column(length);
      return name === number ? this.#numbered(type, length, work) : dataNamed(kept, name);
    });
    this.#length = 0;
    this.#bytes = 0;
    return recordBatch(schema, columns, length);
  }

  /** NaN stands for a row without items. */
  #numbered(type: Column['type'], length: number, work: Work): Data {
    const values = (this.#numbers as Float64Array).slice(0, length);
    const valid = Uint8Array.from(values, (value) => (Number.isNaN(value) ? 0 : 1));
    const column: Column = { form: 'number', type, length, values, valid };
    return toVector(column, type, work.memory.batch()).data[0] as Data;
  }
}
