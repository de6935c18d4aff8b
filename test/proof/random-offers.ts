/** Random tables in every form that a table is handed in: whole ones, and ones that do not fit. */
import {
  type Data,
  type DataType,
  Field,
  makeData,
  type RecordBatch,
  recordBatchStream,
  Schema,
  Struct,
  Table,
  Type,
  tableToIPC,
} from '../../src/arrow/apache.ts';
import type { DataInput } from '../../src/sdk/convert/data.ts';
import {
  batchOf,
  exactValues,
  leafTypes,
  nestedTypes,
  randomBatch,
  randomData,
} from '../helpers/arrow-samples.ts';

const NAMES = ['a', 'b', 'Zoë', 'x.y', '__proto__', 'constructor', ' ', '日本', 'a'.repeat(300)];
export const KINDS = [
  ...['batches', 'slices', 'concat', 'ipc stream', 'ipc file'],
  ...['rows', 'ragged', 'ragged struct', 'missing nested', 'nulls'],
] as const;
export type Kind = (typeof KINDS)[number];

export interface Offer {
  readonly data: DataInput;
  /** Column by column as `exactValues` gives them; undefined where it has no one right form. */
  readonly expected: unknown[][] | undefined;
  readonly rows: number;
  /** `never`: it is whole, so it must be taken; `always`: nobody may take it. */
  readonly refused: 'never' | 'maybe' | 'always';
}

export class OfferGenerator {
  readonly #random: () => number;

  constructor(random: () => number) {
    this.#random = random;
  }

  below(limit: number): number {
    return Math.floor(this.#random() * limit);
  }

  pick<T>(items: readonly T[]): T {
    return items[this.below(items.length)] as T;
  }

  type(depth = 3): DataType {
    if (depth === 0 || this.#random() < 0.65) return this.pick(Object.values(leafTypes))();
    const make = this.pick(Object.values(nestedTypes));
    return make(this.type(depth - 1), this.type(depth - 1));
  }

  schema(): Schema {
    const names = NAMES.slice().sort(() => this.#random() - 0.5);
    const fields = names.slice(0, 1 + this.below(4)).map((name) => {
      const type = this.type();
      return new Field(name, type, holdsNull(type) || this.#random() < 0.8);
    });
    return new Schema(fields, this.#random() < 0.1 ? new Map([['k', 'v']]) : undefined);
  }

  batches(schema: Schema, most = 3): RecordBatch[] {
    const nulls = this.pick([0, 0.3, 0.3, 1]);
    return Array.from({ length: 1 + this.below(most) }, () =>
      randomBatch(schema, this.pick([0, 1, 3, 8, 9, 17]), this.#random, nulls),
    );
  }

  offer(kind: Exclude<Kind, 'rows'>): Offer | undefined {
    switch (kind) {
      case 'batches': {
        const schema = this.schema();
        const batches = this.batches(schema);
        return whole(recordBatchStream(schema, batches), batches);
      }
      case 'slices': {
        const schema = this.schema();
        const batches = this.batches(schema).map((batch) => {
          const from = this.below(batch.numRows + 1);
          return batch.slice(from, from + this.below(batch.numRows - from + 1));
        });
        return whole(recordBatchStream(schema, batches), batches);
      }
      case 'concat': {
        const schema = this.schema();
        const tables = [
          new Table(schema, this.batches(schema)),
          new Table(schema, this.batches(schema)),
        ];
        const table = (tables[0] as Table).concat(tables[1] as Table);
        return whole(table as unknown as DataInput, table.batches);
      }
      case 'ipc stream':
      case 'ipc file': {
        const schema = this.schema();
        const table = new Table(schema, this.batches(schema));
        const bytes = written(table, kind === 'ipc file' ? 'file' : 'stream');
        return bytes && { ...whole(bytes, table.batches), refused: 'maybe' };
      }
      case 'ragged': {
        const schema = new Schema(['a', 'b'].map((name) => new Field(name, this.type(1), true)));
        const columns = schema.fields.map((field, at) =>
          randomData(field.type, 4 + at * (1 + this.below(5)), this.#random),
        );
        return built(schema, columns, this.pick([4, 9, 12]));
      }
      case 'ragged struct': {
        const make = nestedTypes.struct as (a: DataType, b: DataType) => DataType;
        const type = make(this.type(1), this.type(1)) as Struct;
        const children = type.children.map((field, at) =>
          randomData(field.type, at === 0 ? 8 : this.below(8), this.#random),
        );
        const data = makeData({ type, length: 8, nullCount: 0, children }) as unknown as Data;
        const schema = new Schema([new Field('s', type, true)]);
        return built(schema, [data], 8);
      }
      case 'missing nested': {
        const make = nestedTypes.struct as (a: DataType, b: DataType) => DataType;
        const type = make(this.type(1), this.type(1));
        const whole = new Schema([new Field('s', type, true)]);
        const less = new Schema([new Field('s', new Struct(type.children.slice(0, 1)), true)]);
        const batches = [whole, less].map((schema) => randomBatch(schema, 5, this.#random));
        return maybe(batches as unknown as DataInput, batches);
      }
      case 'nulls': {
        const type = this.pick(Object.values(leafTypes))();
        if (type.typeId === Type.Null) return undefined;
        const data = randomData(type, 40, this.#random, 0.9);
        if (data.nullCount === 0) return undefined;
        const schema = new Schema([new Field('a', type, false)]);
        const batch = batchOf(schema, [data]);
        return { ...maybe(recordBatchStream(schema, [batch]), [batch]), refused: 'always' };
      }
    }
  }
}

/** A union has no nulls of its own: those of its children are its nulls. */
const holdsNull = (type: DataType): boolean =>
  type.typeId === Type.Null ||
  (type.typeId === Type.Union && type.children.some((field: Field) => holdsNull(field.type)));

export const rowsOf = (batches: readonly RecordBatch[]): number =>
  batches.reduce((sum, { numRows }) => sum + numRows, 0);
const whole = (data: DataInput, batches: readonly RecordBatch[]): Offer => ({
  data,
  expected: exactValues(batches),
  rows: rowsOf(batches),
  refused: 'never',
});
const maybe = (data: DataInput, batches: readonly RecordBatch[]): Offer => ({
  data,
  expected: undefined,
  rows: rowsOf(batches),
  refused: 'maybe',
});

/** A batch of columns that do not fit it; undefined where apache-arrow does not make it. */
function built(schema: Schema, columns: readonly Data[], rows: number): Offer | undefined {
  let batch: RecordBatch;
  try {
    batch = batchOf(schema, columns, rows);
  } catch {
    return undefined;
  }
  return maybe(recordBatchStream(schema, [batch]), [batch]);
}

/** What apache-arrow's own writer makes of a table; undefined where it cannot. */
function written(table: Table, form: 'stream' | 'file'): Uint8Array | undefined {
  try {
    return tableToIPC(table, form);
  } catch {
    return undefined;
  }
}
