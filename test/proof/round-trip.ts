/**
 * T17: tables of random schemas and data, in every form they are handed in: what is committed
 * reads back equal, here and by apache-arrow, and what cannot be is refused before the commit.
 */
import { isDeepStrictEqual } from 'node:util';
import fc from 'fast-check';
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
  tableFromIPC,
  tableToIPC,
} from '../../src/arrow.ts';
import { type Connection, connect } from '../../src/index.ts';
import type { DataInput } from '../../src/sdk/data.ts';
import {
  batchOf,
  exactValues,
  leafTypes,
  nestedTypes,
  randomBatch,
  randomData,
} from '../helpers/arrow-samples.ts';
import { memoryFs, type TestFs } from '../helpers/memory-fs.ts';
import { randomRows } from '../helpers/random-rows.ts';
import { seeded } from '../helpers/seeded.ts';
import { breathe, inRounds, refusal } from './rounds.ts';
import type { ProofContext, ProofRow } from './row.ts';

const CASES = { ci: 600, short: 10_500, nightly: 10_500 };
const RENEWED = 250;
const DATA = '/c/data/t.table/data';
const NAMES = ['a', 'b', 'Zoë', 'x.y', '__proto__', 'constructor', ' ', '日本', 'a'.repeat(300)];
const KINDS = [
  ...['batches', 'slices', 'concat', 'ipc stream', 'ipc file'],
  ...['rows', 'ragged', 'ragged struct', 'missing nested', 'nulls'],
] as const;
type Kind = (typeof KINDS)[number];

interface Offer {
  readonly data: DataInput;
  /** Column by column as `exactValues` gives them; undefined where it has no one right form. */
  readonly expected: unknown[][] | undefined;
  readonly rows: number;
  /** `never`: it is whole, so it must be taken; `always`: nobody may take it. */
  readonly refused: 'never' | 'maybe' | 'always';
}

class Generator {
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

const rowsOf = (batches: readonly RecordBatch[]): number =>
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

/** A catalog in memory, renewed before it grows large. */
class Place {
  fs: TestFs = memoryFs();
  #connection: Connection | undefined;
  #used = 0;
  #version = 0;
  #files = new Set<string>();

  get connection(): Connection {
    if (this.#connection === undefined) throw new Error('nothing was offered yet');
    return this.#connection;
  }

  /** The catalog that takes the next offer. */
  async next(): Promise<Connection> {
    if (this.#connection === undefined || this.#used++ >= RENEWED) {
      await this.#connection?.close();
      this.fs = memoryFs();
      this.#connection = await connect('/c', {
        fs: this.fs,
        durability: 'relaxed',
        bufferBytes: 0,
      });
      await this.#connection.createTable('t', [{ x: 0 }]);
      this.#version = 1;
      this.#used = 0;
      this.#files = new Set(this.#names());
    }
    return this.#connection;
  }

  /** Whether the newest version is the one it was when this was asked last, or follows it. */
  async changed(): Promise<number> {
    const now = await (await this.connection.openTable('t')).version();
    const change = now - this.#version;
    this.#version = now;
    return change;
  }

  /** Fragments written since this was asked last. */
  fragments(): Uint8Array[] {
    const added = this.#names().filter((name) => !this.#files.has(name));
    for (const name of added) this.#files.add(name);
    return added.map((name) => new Uint8Array(this.fs.readFileSync(`${DATA}/${name}`)));
  }

  #names(): string[] {
    return this.fs.readdirSync(DATA).map(String);
  }
}

class Judge {
  readonly counts = new Map<string, number>();
  readonly #place = new Place();
  readonly #violated: (what: string) => void;

  constructor(violated: (what: string) => void) {
    this.#violated = violated;
  }

  #count(what: string): void {
    this.counts.set(what, (this.counts.get(what) ?? 0) + 1);
  }

  async offered(offer: Offer, what: string, options: { schema?: Schema } = {}): Promise<void> {
    const connection = await this.#place.next();
    try {
      await connection.createTable('t', offer.data, { mode: 'overwrite', ...options });
    } catch (error) {
      const code = refusal(error);
      if (code === undefined) this.#violated(`${what}: threw ${(error as Error).stack}`);
      if (offer.refused === 'never') this.#violated(`${what}: refused, ${String(error)}`);
      if ((await this.#place.changed()) !== 0) this.#violated(`${what}: refused after the commit`);
      // Fragments of a refused commit are litter that cleanup removes.
      this.#place.fragments();
      this.#count('refused');
      return;
    }
    this.#count('equal');
    if (offer.refused === 'always') this.#violated(`${what}: taken`);
    if ((await this.#place.changed()) !== 1) this.#violated(`${what}: not one version`);
    await this.#compare(connection, offer, what);
  }

  async rows(schema: Schema, rows: readonly object[], what: string): Promise<void> {
    const offer: Offer = {
      data: rows as never,
      expected: undefined,
      rows: rows.length,
      refused: 'never',
    };
    await this.offered(offer, what, { schema });
    const table = await this.#place.connection.openTable('t');
    const found = await table.query().toArray();
    if (!isDeepStrictEqual(found, rows)) this.#violated(`${what}: other rows`);
  }

  async #compare(connection: Connection, offer: Offer, what: string): Promise<void> {
    const { batches } = await (await connection.openTable('t')).query().toArrow();
    if (rowsOf(batches) !== offer.rows) {
      this.#violated(`${what}: ${rowsOf(batches)} rows of ${offer.rows}`);
    }
    if (offer.rows === 0) return;
    const values = exactValues(batches);
    if (offer.expected !== undefined && !isDeepStrictEqual(values, offer.expected)) {
      this.#violated(`${what}: other values`);
    }
    for (const fragment of this.#place.fragments()) {
      let theirs: unknown[][];
      try {
        theirs = exactValues(tableFromIPC(fragment).batches);
      } catch (error) {
        this.#violated(`${what}: apache-arrow cannot read the fragment: ${String(error)}`);
        continue;
      }
      if (!isDeepStrictEqual(theirs, values)) {
        this.#violated(`${what}: apache-arrow reads other values`);
      }
    }
  }
}

async function run(context: ProofContext): Promise<{ cases: number; note: string }> {
  const judge = new Judge((what) => context.violated(what));
  const cases = await inRounds(context, async (seed) => {
    const generator = new Generator(seeded(seed));
    const many = CASES[context.size];
    const objects = fc.sample(randomRows, { seed: seed | 0, numRuns: Math.ceil(many / 8) });
    let made = 0;
    for (let at = 0; made < many; at++) {
      // The forms that must come back equal are most of them.
      const kind =
        at % 8 < 5
          ? (KINDS[at % 5] as Kind)
          : at % 8 === 5
            ? 'rows'
            : generator.pick(KINDS.slice(6));
      const what = `seed ${seed}, case ${at}, ${kind}`;
      if (kind === 'rows') {
        const next = objects.pop();
        if (next === undefined) continue;
        await judge.rows(next.schema, next.rows, what);
      } else {
        const offer = generator.offer(kind);
        if (offer === undefined) continue;
        await judge.offered(offer, what);
      }
      if (++made % 100 === 0) await breathe();
    }
    return made;
  });
  const counts = [...judge.counts].map(([what, count]) => `${count} ${what}`);
  return { cases, note: counts.join(', ') };
}

export const roundTrip: ProofRow = { row: 'T17 round trips', run };
