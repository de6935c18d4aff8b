/**
 * Callers that spoil what they were given: after each answer every buffer, map and list of it that
 * can be reached is overwritten or transferred away, then all later answers are compared with rows
 * that never were in the engine.
 */
import { isDeepStrictEqual } from 'node:util';
import {
  type Data,
  Field,
  FixedSizeList,
  Float32,
  Float64,
  Int32,
  type RecordBatch,
  recordBatchStream,
  Schema,
} from '../../src/arrow/apache.ts';
import { openDirectoryNamespace } from '../../src/directory/directory-namespace.ts';
import { Connection, connectNamespace, type Table } from '../../src/index.ts';
import { batchRows } from '../../src/sdk/convert/rows.ts';
import { createServer } from '../../src/server.ts';

export type Row = Record<string, unknown>;

/** What the engine adds to the random columns: a key, a number to be changed, a vector. */
const OWN_FIELDS = [
  new Field('id', new Int32(), true),
  new Field('n', new Float64(), true),
  new Field('v', new FixedSizeList(4, new Field('item', new Float32(), true)), true),
];

/** All memory that can be reached from a column, that of no bytes too. */
export function buffersOf(data: Data, found: Set<ArrayBuffer> = new Set()): Set<ArrayBuffer> {
  const { values, valueOffsets, nullBitmap, typeIds, variadicBuffers } = data;
  for (const view of [values, valueOffsets, nullBitmap, typeIds, ...variadicBuffers]) {
    if (view !== undefined && view !== null) found.add((view as Uint8Array).buffer as ArrayBuffer);
  }
  for (const child of data.children) buffersOf(child as Data, found);
  for (const chunk of data.dictionary?.data ?? []) buffersOf(chunk as Data, found);
  return found;
}

export type Way = 'overwritten' | 'transferred';

export function spoilMemory(buffers: Iterable<ArrayBuffer>, way: Way): void {
  const all = [...buffers];
  if (way === 'transferred') structuredClone(null, { transfer: all });
  // Zeros: an engine that reads them as offsets gives wrong rows, and does so at once.
  else for (const buffer of all) new Uint8Array(buffer).fill(0);
}

export function spoilBatches(batches: readonly RecordBatch[], way: Way): void {
  const buffers = new Set<ArrayBuffer>();
  for (const batch of batches) buffersOf(batch.data, buffers);
  spoilMemory(buffers, way);
  for (const batch of batches) spoilSchema(batch.schema);
}

export function spoilSchema(schema: Schema): void {
  schema.metadata.set('spoilt', 'yes');
  const spoilFields = (fields: Field[]): void => {
    for (const field of fields) {
      field.metadata.set('spoilt', 'yes');
      spoilFields((field.type.children ?? []) as Field[]);
    }
    fields.length = 0;
  };
  spoilFields(schema.fields);
}

/** Everything of a value that can be changed is, and its memory of no bytes is transferred. */
export function spoilValue(value: unknown, gone: Set<ArrayBuffer> = new Set()): void {
  if (typeof value !== 'object' || value === null) return;
  if (ArrayBuffer.isView(value)) {
    const buffer = value.buffer as ArrayBuffer;
    if (buffer.byteLength > 0) new Uint8Array(buffer).fill(0);
    else if (!gone.has(buffer)) {
      // Values of one answer share it, and from Node 22 on it can be transferred once only.
      gone.add(buffer);
      structuredClone(null, { transfer: [buffer] });
    }
  } else if (value instanceof Date) {
    value.setTime(0);
  } else if (value instanceof Map) {
    for (const inner of value.values()) spoilValue(inner, gone);
    value.clear();
  } else {
    for (const key of Object.keys(value)) {
      spoilValue((value as Row)[key], gone);
      Reflect.deleteProperty(value, key);
    }
    if (Array.isArray(value)) value.length = 0;
  }
}

/** A copy that shares nothing. */
const copyOf = <T>(value: T): T => structuredClone(value);

const byId = (rows: readonly Row[]): Row[] => rows.toSorted((a, b) => Number(a.id) - Number(b.id));

/** One table, three ways into it, and the rows that it must have. */
export class SpoilingCallers {
  readonly #root: string;
  readonly #random: () => number;
  readonly #violated: (what: string) => void;
  readonly #close: (() => Promise<unknown>)[] = [];
  #schema = new Schema([]);
  #rows: Row[] = [];
  #samples: readonly Row[] = [];
  #nextId = 0;
  #added = 0;
  #handles: Table[] = [];
  /** Whether something was found: what comes after it would only follow from it. */
  #spoilt = false;
  /** Answers that were compared. */
  compared = 0;

  constructor(root: string, random: () => number, violated: (what: string) => void) {
    this.#root = root;
    this.#random = random;
    this.#violated = (what) => {
      this.#spoilt = true;
      violated(what);
    };
  }

  /** Makes the table of `samples` that repeat, and then `steps` random steps. */
  async run(schema: Schema, samples: readonly Row[], rows: number, steps: number): Promise<void> {
    this.#schema = new Schema(
      [...OWN_FIELDS, ...schema.fields.map(renamed)],
      new Map([['m', '1']]),
    );
    this.#samples = samples.length === 0 ? [{}] : samples;
    await this.#open();
    try {
      const [table] = this.#handles as [Table];
      await this.#give(rows, (data) => table.add(data));
      for (let step = 0; step < steps && !this.#spoilt; step++) {
        await this.#query(`step ${step}`);
        if (step % 3 === 2 && !this.#spoilt) await this.#change(`step ${step}`);
      }
      if (this.#spoilt) return;
      await this.#reopen();
      for (let step = 0; step < 3; step++) await this.#query(`reopened ${step}`);
    } finally {
      await this.#shut();
    }
  }

  async #open(): Promise<void> {
    const limits = { batchRows: 1_000 };
    const options = { root: this.#root, limits, durability: 'relaxed' } as const;
    const first = new Connection(await openDirectoryNamespace(options));
    const server = await createServer({ root: this.#root, limits: { maxEventLoopDelayMs: 0 } });
    const uri = 'http://server.test';
    const remote = await connectNamespace('rest', { uri }, { fetch: server.fetch });
    this.#close.push(
      () => remote.close(),
      () => server.close(),
      () => first.close(),
    );
    const create = { mode: 'exist_ok', schema: this.#schema } as const;
    const table = await first.createTable('t', [], create as never);
    this.#handles = [table, await first.openTable('t'), await remote.openTable('t')];
  }

  async #shut(): Promise<void> {
    for (const close of this.#close.splice(0)) await close();
  }

  async #reopen(): Promise<void> {
    await this.#shut();
    await this.#open();
  }

  #below(count: number): number {
    return Math.floor(this.#random() * count);
  }

  #pick<T>(items: readonly T[]): T {
    return items[this.#below(items.length)] as T;
  }

  #way(): Way {
    return this.#pick(['overwritten', 'transferred']);
  }

  /** Rows in the form they come back in. */
  #newRows(count: number): Row[] {
    return Array.from({ length: count }, (_, at) => {
      const sample = this.#samples[at % this.#samples.length] as Row;
      const id = this.#nextId++;
      const v = Float32Array.from({ length: 4 }, (_, place) => (id * 7 + place * 13) % 31);
      const named = Object.entries(sample).map(([name, value]) => [`c_${name}`, value]);
      const empty = this.#schema.fields.map(({ name }) => [name, null]);
      return { ...Object.fromEntries([...empty, ...named]), id, n: id / 2, v };
    });
  }

  /** Adds rows, spoils what was given, and expects them. */
  async #give(count: number, add: (data: Row[]) => Promise<unknown>): Promise<void> {
    const rows = this.#newRows(count);
    const given = copyOf(rows);
    await add(given);
    spoilValue(given);
    this.#rows.push(...rows);
  }

  #compare(found: readonly Row[], expected: readonly Row[], what: string): void {
    this.compared += 1;
    const columns = Object.keys(found[0] ?? {});
    const wanted = byId(expected).map((row) =>
      Object.fromEntries(columns.map((name) => [name, row[name]])),
    );
    // Rows and structs of queries have a toJSON(), which a copy does not.
    const got = structuredClone(byId(found));
    if (isDeepStrictEqual(got, wanted)) return;
    const at = got.findIndex((row, index) => !isDeepStrictEqual(row, wanted[index]));
    const name = columns.find((key) => !isDeepStrictEqual(got[at]?.[key], wanted[at]?.[key]));
    this.#violated(
      `${what}: ${got.length} rows of ${wanted.length}; row ${at}, column ${name}: ${show(got[at]?.[name ?? ''])} instead of ${show(wanted[at]?.[name ?? ''])}`,
    );
  }

  async #query(step: string): Promise<void> {
    const kind = this.#pick(KINDS);
    const handle = this.#below(this.#handles.length);
    const way = this.#way();
    const what = `${step}, ${kind} of handle ${handle}, ${way}`;
    try {
      await this.#asked(kind, this.#handles[handle] as Table, way, what);
    } catch (error) {
      this.#violated(`${what}: ${(error as Error).stack}`);
    }
  }

  async #asked(kind: Kind, table: Table, way: Way, what: string): Promise<void> {
    const rows = this.#rows;
    const half = this.#below(this.#nextId + 1);
    const names = this.#schema.fields.map(({ name }) => name);
    const some = ['id', ...names.filter((name) => name !== 'id' && this.#random() < 0.5)];
    const found = async (query: { toArrow(): ReturnType<Table['toArrow']> }, expected: Row[]) => {
      const { schema, batches } = await query.toArrow();
      this.#checkSchema(schema, what);
      this.#compare(batches.flatMap(batchRows), expected, what);
      spoilBatches(batches, way);
      spoilSchema(schema);
    };
    switch (kind) {
      case 'everything':
        return found(table, rows);
      case 'some columns':
        return found(table.query().select(some), rows);
      case 'a filter': {
        const chosen = rows.filter(({ id }) => (id as number) < half);
        return found(table.query().where(`id < ${half}`).select(some), chosen);
      }
      case 'batch by batch': {
        const all: Row[] = [];
        const cut = this.#random() < 0.5 ? {} : { maxBatchLength: 1 + this.#below(700) };
        for await (const batch of table.query().execute(cut)) {
          all.push(...batchRows(batch));
          // Dictionaries belong to the answer as a whole, so they are spoilt with its last batch.
          spoilMemory(ownBuffers(batch.data), way);
        }
        return this.#compare(all, rows, what);
      }
      case 'values': {
        const all = (await table.query().toArray()) as Row[];
        this.#compare(all, rows, what);
        return spoilValue(all);
      }
      case 'offsets': {
        const total = rows.length;
        if (total === 0) return;
        const offsets = [...new Set(Array.from({ length: 5 }, () => this.#below(total)))];
        const { batches } = await table.takeOffsets(offsets).toArrow();
        const all = batches.flatMap(batchRows);
        const ids = new Set(all.map(({ id }) => id));
        if (ids.size !== offsets.length) this.#violated(`${what}: ${ids.size} rows taken`);
        this.#compare(
          all,
          rows.filter(({ id }) => ids.has(id)),
          what,
        );
        return spoilBatches(batches, way);
      }
      case 'a limit': {
        const { batches } = await table.query().limit(10).offset(this.#below(20)).toArrow();
        const all = batches.flatMap(batchRows);
        const ids = new Set(all.map(({ id }) => id));
        this.#compare(
          all,
          rows.filter(({ id }) => ids.has(id)),
          what,
        );
        return spoilBatches(batches, way);
      }
      case 'expressions': {
        const columns = { id: 'id', same: 'coalesce(n, 0.0)', member: 'n', more: 'n + 1' };
        const expected = rows.map(({ id, n }) => {
          const value = n as number;
          return { id, same: value, member: value, more: value + 1 };
        });
        return found(table.query().select(columns), expected);
      }
      case 'a vector': {
        if (rows.length === 0) return;
        const { id, v } = this.#pick(rows) as { id: number; v: Float32Array };
        const vector = Float32Array.from(v);
        const { batches } = await table.vectorSearch(vector).limit(rows.length).toArrow();
        const all = batches.flatMap(batchRows);
        const distance = all.find((row) => row.id === id)?._distance;
        if (distance !== 0) this.#violated(`${what}: its own distance is ${distance}`);
        for (const row of all) Reflect.deleteProperty(row, '_distance');
        this.#compare(all, rows, what);
        vector.fill(Number.NaN);
        return spoilBatches(batches, way);
      }
      case 'an order': {
        const query = table.query().orderBy({ columnName: 'n', ascending: false }).select(some);
        return found(query, rows);
      }
      case 'the schema': {
        const schema = await table.schema();
        this.#checkSchema(schema, what);
        return spoilSchema(schema);
      }
    }
  }

  #checkSchema(schema: Schema, what: string): void {
    const all = [...schema.metadata.keys(), ...schema.fields.flatMap(metadataOf)];
    if (all.includes('spoilt')) this.#violated(`${what}: its schema has been changed`);
    if (schema.fields.length === 0) this.#violated(`${what}: its schema has lost its fields`);
  }

  async #change(step: string): Promise<void> {
    const kind = this.#pick(CHANGES);
    const what = `${step}, ${kind}`;
    // Never over REST: what a change reads is the same.
    const table = this.#handles[this.#below(2)] as Table;
    const half = this.#below(this.#nextId + 1);
    const before = (row: Row): boolean => (row.id as number) < half;
    try {
      switch (kind) {
        case 'update':
          await table.update({ where: `id < ${half}`, valuesSql: { n: 'n + 1' } });
          this.#rows = this.#rows.map((row) =>
            before(row) ? { ...row, n: (row.n as number) + 1 } : row,
          );
          return;
        case 'optimize':
          await table.optimize();
          return;
        case 'add a column': {
          const name = `added${this.#added++}`;
          await table.addColumns([{ name, valueSql: 'n * 2' }]);
          this.#rows = this.#rows.map((row) => ({ ...row, [name]: (row.n as number) * 2 }));
          this.#schema = new Schema([...this.#schema.fields, new Field(name, new Float64(), true)]);
          return;
        }
        case 'delete':
          await table.delete(`id % 10 = ${half % 10}`);
          this.#rows = this.#rows.filter(({ id }) => (id as number) % 10 !== half % 10);
          return;
        case 'merge': {
          const source = this.#rows
            .filter((_, at) => at % 5 === 0)
            .map(({ id }) => ({ id, n: -1 }));
          if (source.length === 0) return;
          const ids = new Set(source.map(({ id }) => id));
          await table.mergeInsert('id').whenMatchedUpdateAll().execute(source);
          this.#rows = this.#rows.map((row) => (ids.has(row.id) ? { ...row, n: -1 } : row));
          return;
        }
        case 'add':
          return await this.#give(1 + this.#below(40), (data) => table.add(data));
        case 'add batches': {
          const { schema, batches } = await table.query().limit(0).toArrow();
          const rows = this.#newRows(3);
          const stream = recordBatchStream(schema, batches);
          await table.add(stream as never);
          await table.add(copyOf(rows));
          spoilBatches(batches, this.#way());
          this.#rows.push(...rows);
          return;
        }
      }
    } catch (error) {
      this.#violated(`${what}: ${(error as Error).stack}`);
    }
  }
}

const KINDS = [
  'everything',
  'some columns',
  'a filter',
  'batch by batch',
  'values',
  'offsets',
  'a limit',
  'expressions',
  'a vector',
  'an order',
  'the schema',
] as const;
type Kind = (typeof KINDS)[number];

const CHANGES = [
  'update',
  'optimize',
  'add a column',
  'delete',
  'merge',
  'add',
  'add batches',
] as const;

const renamed = (field: Field): Field =>
  new Field(`c_${field.name}`, field.type, true, new Map([['of', 'caller']]));

function ownBuffers(data: Data): Set<ArrayBuffer> {
  const all = buffersOf(data);
  const shared = new Set<ArrayBuffer>();
  const visit = (column: Data): void => {
    for (const chunk of column.dictionary?.data ?? []) buffersOf(chunk as Data, shared);
    for (const child of column.children) visit(child as Data);
  };
  visit(data);
  return new Set([...all].filter((buffer) => !shared.has(buffer)));
}

const metadataOf = (field: Field): string[] => [
  ...field.metadata.keys(),
  ...((field.type.children ?? []) as Field[]).flatMap(metadataOf),
];

const show = (value: unknown): string =>
  JSON.stringify(value, (_, inner) => (typeof inner === 'bigint' ? `${inner}n` : inner))?.slice(
    0,
    120,
  ) ?? String(value);
