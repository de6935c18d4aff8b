/** Searches of tables by sketches find what a search of every vector finds, and read little for it. */
import fc from 'fast-check';
import { beforeAll, describe, expect, test } from 'vitest';
import {
  Field,
  FixedSizeList,
  Float16,
  Float32,
  Int32,
  Schema,
} from '../../../src/arrow/apache.ts';
import { connect } from '../../../src/sdk/connect.ts';
import type { Connection } from '../../../src/sdk/index.ts';
import type { Table } from '../../../src/sdk/table/table.ts';
import { memoryFs } from '../../helpers/catalogs.ts';
import { casesOf } from '../../helpers/long.ts';
import { seeded } from '../../helpers/seeded.ts';

const DIMENSION = 36;
const ROWS = 1500;
const random = seeded(14);
const fs = memoryFs();
let sketched: Table;
let plain: Table;

const vector = (): number[] => Array.from({ length: DIMENSION }, () => random() * 2 - 1);

function schemaOf(element = new Float32()): Schema {
  const list = new FixedSizeList(DIMENSION, new Field('item', element as Float32, true));
  return new Schema([
    new Field('id', new Int32(), false),
    new Field('vector', list, true),
    new Field('part', new Int32(), false),
  ]);
}

/** Every 11th vector is null, every 50th row is like all others of its kind. */
const rowsFrom = (from: number) =>
  Array.from({ length: ROWS }, (_, at) => ({
    id: from + at,
    vector: at % 11 === 0 ? null : at % 50 === 1 ? new Array(DIMENSION).fill(0.25) : vector(),
    part: at % 100,
  }));

async function open(vectorBytes: number): Promise<Connection> {
  return await connect('/c', { fs, bufferBytes: 0, vectorBytes });
}

beforeAll(async () => {
  const db = await open(1e8);
  sketched = await db.createTable('t', rowsFrom(0), undefined, { schema: schemaOf() });
  await sketched.add(rowsFrom(ROWS));
  await sketched.add(rowsFrom(2 * ROWS));
  await sketched.delete('id % 7 = 3');
  await sketched.query().limit(1).toArray();
  plain = await (await open(0)).openTable('t');
  for (let n = 0; n < 2; n++) await sketched.vectorSearch(vector()).toArray();
});

interface Asked {
  readonly metric: 'l2' | 'cosine' | 'dot';
  readonly vectors: readonly number[][];
  readonly limit: number;
  readonly offset?: number;
  readonly where?: string | undefined;
  readonly postfilter?: boolean;
  readonly range?: readonly [number?, number?];
}

async function found(table: Table, asked: Asked): Promise<unknown[]> {
  const [first = [], ...more] = asked.vectors;
  let query = table.vectorSearch(first).distanceType(asked.metric).limit(asked.limit);
  for (const another of more) query = query.addQueryVector(another);
  if (asked.where !== undefined) query = query.where(asked.where);
  if (asked.postfilter === true) query = query.postfilter();
  if (asked.offset !== undefined) query = query.offset(asked.offset);
  if (asked.range !== undefined) query = query.distanceRange(...asked.range);
  return await query.select(['id']).toArray();
}

const WHERE = [
  undefined,
  'part = 3',
  'part < 50',
  'id > 1600 AND id < 3200',
  'id = 20',
  'part > 100',
];

test('results, distances and their order are the same', async () => {
  const asked = fc.record({
    metric: fc.constantFrom('l2' as const, 'cosine' as const, 'dot' as const),
    limit: fc.constantFrom(1, 10, 40, 300),
    offset: fc.constantFrom(undefined, 5),
    where: fc.constantFrom(...WHERE),
    postfilter: fc.boolean(),
    range: fc.constantFrom(undefined, undefined, [undefined, 9] as const, [1, 12] as const),
    count: fc.constantFrom(1, 1, 3),
    kind: fc.constantFrom('random', 'zeros', 'equal', 'huge'),
  });
  const one = (kind: string): number[] =>
    kind === 'random'
      ? vector()
      : new Array(DIMENSION).fill({ zeros: 0, equal: 0.25, huge: 1e30 }[kind] ?? 0);
  await fc.assert(
    fc.asyncProperty(asked, async ({ count, kind, offset, ...rest }) => {
      const vectors = Array.from({ length: count }, (_, at) => one(at === 0 ? kind : 'random'));
      const query = { ...rest, vectors, ...(offset === undefined ? {} : { offset }) } as Asked;
      expect(await found(sketched, query)).toEqual(await found(plain, query));
    }),
    { numRuns: casesOf(15, 200) },
  );
});

const bytesRead = async (table: Table): Promise<number> => {
  const plan = await table.vectorSearch(vector()).limit(2).select(['id']).analyzePlan();
  return Number(/bytes read (\d+)/.exec(plan)?.[1]);
};

test('only vectors that may be among the nearest are read', async () => {
  const db = await connect('/few', { fs: memoryFs(), bufferBytes: 0, vectorBytes: 1e8 });
  const rows = Array.from({ length: 6000 }, (_, id) => ({ id, vector: vector(), part: 0 }));
  const table = await db.createTable('t', rows, undefined, { schema: schemaOf() });
  const all = 6000 * DIMENSION * 4;
  for (let n = 0; n < 2; n++) expect(await bytesRead(table)).toBeGreaterThan(all);
  // A page of 8 KiB is the least that is read of a column: here one in a hundred.
  expect(await bytesRead(table)).toBeLessThan(all * 0.8);
});

test('rows at no distance, which a sketch cannot rule out, do not keep a search waiting', async () => {
  const db = await connect('/zeros', { fs: memoryFs(), bufferBytes: 0, vectorBytes: 1e8 });
  // Those of zeros have no angle, and are as many as a first guess takes.
  const rows = Array.from({ length: 1100 }, (_, id) => ({
    id,
    vector: id % 90 === 5 ? new Array(DIMENSION).fill(0) : vector(),
    part: 0,
  }));
  const table = await db.createTable('t', rows, undefined, { schema: schemaOf() });
  const asked = { metric: 'cosine', vectors: [vector()], limit: 10 } as const;
  const first = await found(table, asked);
  expect(first).toHaveLength(10);
  for (let n = 0; n < 3; n++) expect(await found(table, asked)).toEqual(first);
});

test('searches at once share what is there, and what one of them makes', async () => {
  const table = await (await open(1e8)).openTable('t');
  const vectors = Array.from({ length: 4 }, vector);
  for (let round = 0; round < 3; round++) {
    const asked = vectors.map((each): Asked => ({ metric: 'l2', vectors: [each], limit: 10 }));
    const all = await Promise.all(asked.map((each) => found(table, each)));
    expect(all).toEqual(await Promise.all(asked.map((each) => found(plain, each))));
  }
});

describe('a table that changes', () => {
  test('each version is searched as it is', async () => {
    const db = await connect('/changing', { fs: memoryFs() });
    const table = await db.createTable('t', rowsFrom(0), undefined, { schema: schemaOf() });
    const query = vector();
    const nearest = async (): Promise<unknown> =>
      (await table.vectorSearch(query).limit(1).toArray())[0]?.id;
    for (let n = 0; n < 3; n++) await nearest();
    const first = await nearest();
    await table.delete(`id = ${first}`);
    const second = await nearest();
    expect(second).not.toBe(first);
    await table.update({ where: 'id = 1222', values: { vector: query } });
    for (let n = 0; n < 3; n++) expect(await nearest()).toBe(1222);
    await table.optimize();
    for (let n = 0; n < 3; n++) expect(await nearest()).toBe(1222);
    await table.checkout(1);
    for (let n = 0; n < 3; n++) expect(await nearest()).toBe(first);
  });

  test('half floats, and then the same vectors as float32', async () => {
    const db = await connect('/halves', { fs: memoryFs() });
    const schema = schemaOf(new Float16() as unknown as Float32);
    const table = await db.createTable('t', rowsFrom(0), undefined, { schema });
    const exact = await db.createTable('exact', await table.toArrow());
    const query = vector();
    const asked = { metric: 'l2', vectors: [query], limit: 20 } as const;
    const first = await found(exact, asked);
    for (let n = 0; n < 4; n++) expect(await found(table, asked)).toEqual(first);
  });
});

test('damage to a vector that has to be read is found', async () => {
  const db = await open(1e8);
  const table = await db.createTable('damaged', rowsFrom(0), undefined, { schema: schemaOf() });
  for (let n = 0; n < 3; n++) await table.vectorSearch(vector()).toArray();
  const folder = '/c/data/damaged.table/data';
  for (const name of fs.readdirSync(folder) as string[]) {
    const bytes = fs.readFileSync(`${folder}/${name}`) as Buffer;
    // All pages of the vectors, none of the footer.
    for (let at = 30_000; at < 200_000; at += 4096) bytes[at] = (bytes[at] as number) ^ 1;
    fs.writeFileSync(`${folder}/${name}`, bytes);
  }
  await expect(table.vectorSearch(vector()).toArray()).rejects.toMatchObject({ code: 'Corrupt' });
});
