/** Vector indexes of tables: what they find beside deletions, filters and rows that they do not cover. */
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { expect, test, vi } from 'vitest';
import {
  Field,
  FixedSizeList,
  Float16,
  Float32,
  Float64,
  Int32,
  Schema,
  Uint8,
} from '../../../src/arrow/apache.ts';
import { openDirectoryNamespace } from '../../../src/directory/directory-namespace.ts';
import { systemEnv } from '../../../src/env.ts';
import { IvfBuilder } from '../../../src/indexes/ivf/builder.ts';
import { connect } from '../../../src/sdk/connect.ts';
import { Connection } from '../../../src/sdk/connection.ts';
import type { VectorQuery } from '../../../src/sdk/query/query.ts';
import { Index } from '../../../src/sdk/table/index-config.ts';
import type { Table } from '../../../src/sdk/table/table.ts';
import { segmentRowsOf } from '../../../src/table/indexing/build-segment.ts';
import { compiledModule } from '../../helpers/compiled.ts';
import { casesOf } from '../../helpers/long.ts';
import { memoryFs, type TestFs } from '../../helpers/memory-fs.ts';
import { seeded } from '../../helpers/seeded.ts';
import { temporaryFolder } from '../../helpers/temporary.ts';

const DIMENSION = 8;
const LIMITS = { batchRows: 64, fragmentRows: 256, indexedRows: 0, indexedShare: 1 };

const schemaOf = (element = new Float32() as Float32 | Float16 | Float64 | Uint8): Schema =>
  new Schema([
    new Field('id', new Int32(), false),
    new Field('vector', new FixedSizeList(DIMENSION, new Field('item', element, true)), true),
  ]);

interface Row {
  readonly id: number;
  readonly vector: number[] | null;
}
interface Hit {
  readonly id: number;
  readonly _distance: number;
}

function rowsOf(from: number, count: number, random = seeded(from + 1)): Row[] {
  return Array.from({ length: count }, (_, at) => {
    const centre = Math.floor(random() * 10) * 8;
    const vector = Array.from({ length: DIMENSION }, () => Math.floor(centre + random() * 20));
    return { id: from + at, vector: (from + at) % 50 === 49 ? null : vector };
  });
}

async function opened(fs: TestFs = memoryFs(), limits: object = {}): Promise<Connection> {
  const catalog = await openDirectoryNamespace({
    root: '/c',
    fs,
    durability: 'relaxed',
    limits: { ...LIMITS, ...limits },
  });
  return new Connection(catalog, { env: systemEnv });
}

async function made(count = 600, element?: Float16 | Float64 | Uint8): Promise<Table> {
  const db = await opened();
  return db.createTable('t', rowsOf(0, count), { schema: schemaOf(element) });
}

const QUERIES = [3, 77, 141, 260].map((seed) => {
  const random = seeded(seed);
  return Array.from({ length: DIMENSION }, () => Math.floor(random() * 90));
});

const planOf = async (query: VectorQuery): Promise<string> =>
  /Index: (.*)/.exec(await query.explainPlan())?.[1] ?? '';

/**
 * How much of what an exact search finds the index finds too; every row that it finds is at the
 * distance that the exact search measures.
 */
async function recall(
  table: Table,
  shape: (query: VectorQuery) => VectorQuery = (query) => query,
  limit = 10,
): Promise<number> {
  let found = 0;
  let wanted = 0;
  for (const vector of QUERIES) {
    const asked = (): VectorQuery =>
      shape(table.vectorSearch(vector) as VectorQuery).select(['id']) as VectorQuery;
    const exact = await asked().bypassVectorIndex().limit(100_000).toArray<Hit>();
    const far = new Map(exact.map(({ id, _distance }) => [id, _distance]));
    const hits = await asked().limit(limit).toArray<Hit>();
    expect(hits.length).toBe(Math.min(limit, exact.length));
    for (const { id, _distance } of hits) expect(_distance).toBe(far.get(id));
    const best = exact.slice(0, limit).map(({ _distance }) => _distance);
    expect([...hits].sort((a, b) => a._distance - b._distance)).toEqual(hits);
    found += hits.filter(({ _distance }) => _distance <= (best.at(-1) ?? 0)).length;
    wanted += best.length;
  }
  return found / wanted;
}

test('finds the nearest beside deletions, filters and rows that it does not cover', async () => {
  const table = await made();
  await table.createIndex('vector', { config: Index.ivfSq({ numPartitions: 6 }) });
  const search = (): VectorQuery =>
    table.vectorSearch(QUERIES[0] as number[]).limit(10) as VectorQuery;
  expect(await planOf(search())).toBe(
    'vector_idx finds 16 of 600 rows for each vector, in as many partitions as it takes',
  );
  expect(await recall(table)).toBeGreaterThanOrEqual(0.95);
  await table.delete('id % 7 = 1');
  expect(await recall(table)).toBeGreaterThanOrEqual(0.95);
  await table.add(rowsOf(600, 70));
  expect(await planOf(search())).toMatch(/ of 514 rows .*, and 70 others are measured$/);
  expect(await recall(table)).toBeGreaterThanOrEqual(0.95);
  expect(
    await recall(table, (query) => query.where('id % 2 = 0') as VectorQuery),
  ).toBeGreaterThanOrEqual(0.95);
  expect(await recall(table, (query) => query.where('id < 12 OR id > 660') as VectorQuery)).toBe(1);
  expect(await recall(table, (query) => query.where('id < 0') as VectorQuery)).toBeNaN();
  const version = await table.version();
  await table.optimize();
  expect(await planOf(search())).toMatch(/ of 584 rows .*as it takes$/);
  expect(await recall(table)).toBeGreaterThanOrEqual(0.95);
  await table.update({ where: 'id < 30', valuesSql: { id: 'id + 5000' } });
  expect(await recall(table)).toBeGreaterThanOrEqual(0.95);
  await table.checkout(version);
  expect(await recall(table)).toBeGreaterThanOrEqual(0.95);
});

test('rows that were deleted since take no place of those that are kept', async () => {
  const table = await made();
  await table.createIndex('vector', { config: Index.ivfSq({ numPartitions: 6 }) });
  const [vector = []] = QUERIES;
  const ids = async (): Promise<number[]> =>
    (await table.vectorSearch(vector).select(['id']).limit(14).toArray<Hit>()).map(({ id }) => id);
  const near = await ids();
  await table.delete(`id IN (${near.join()})`);
  const left = await ids();
  expect(left).toHaveLength(14);
  expect(left.filter((id) => near.includes(id))).toEqual([]);
});

test('a segment covers as many rows as its builder may hold in memory', () => {
  const limits = { segmentRows: 1e9 };
  const rows = (size: number): number => {
    const type = new FixedSizeList(size, new Field('item', new Float32(), true));
    const place = { leaf: { field: new Field('v', type, true) } };
    return segmentRowsOf({ limits } as never, { type: 'IVF_SQ' }, place as never);
  };
  expect(rows(128)).toBeGreaterThan(1_000_000);
  expect(rows(128)).toBeLessThan(2_000_000);
  expect(rows(8_192)).toBeLessThan(40_000);
  expect(segmentRowsOf({ limits } as never, { type: 'FTS' }, {} as never)).toBe(1e9);
});

test('a postfilter counts among the nearest, a range bounds distances, and vectors may be several', async () => {
  const table = await made();
  await table.createIndex('vector', { config: Index.ivfFlat() });
  const [vector = [], other = []] = QUERIES;
  const asked = (): VectorQuery => table.vectorSearch(vector).select(['id']) as VectorQuery;
  const ids = async (query: VectorQuery): Promise<number[]> =>
    (await query.toArray<Hit>()).map(({ id }) => id);
  const near = await ids(asked().limit(10) as VectorQuery);
  const after = (asked().where('id % 2 = 0') as VectorQuery).postfilter().limit(10);
  expect(await ids(after as VectorQuery)).toEqual(near.filter((id) => id % 2 === 0));
  const exact = await asked().bypassVectorIndex().limit(60).toArray<Hit>();
  const [low, high] = [exact[20]?._distance ?? 0, exact[40]?._distance ?? 0];
  const within = await asked().distanceRange(low, high).limit(15).toArray<Hit>();
  expect(within).toHaveLength(15);
  for (const { _distance } of within) expect(_distance >= low && _distance < high).toBe(true);
  const both = (asked() as VectorQuery).addQueryVector(other).limit(5);
  const rows = await both.toArray<Hit & { query_index: number }>();
  expect(rows.map(({ query_index: number }) => number)).toEqual([0, 0, 0, 0, 0, 1, 1, 1, 1, 1]);
  expect(rows.slice(0, 5).map(({ id }) => id)).toEqual(near.slice(0, 5));
});

test('without WebAssembly vectors are measured, as without an index', async () => {
  const root = temporaryFolder();
  const db = await connect(root, { durability: 'relaxed' });
  const rows = Array.from({ length: 5000 }, (_, id) => ({ id, vector: [id, id % 7, 1] }));
  const table = await db.createTable('t', rows);
  await table.createIndex('vector', { config: Index.ivfSq() });
  await db.close();
  const source = `import { connect } from ${JSON.stringify(compiledModule('index.js'))};
    const table = await (await connect(${JSON.stringify(root)})).openTable('t');
    const search = () => table.vectorSearch([77, 0, 1]).limit(2);
    const ids = (await search().toArray()).map(({ id }) => id);
    console.log(JSON.stringify([ids, await search().explainPlan()]));`;
  const run = promisify(execFile);
  for (const [flags, said] of [
    [[], /Index: vector_idx finds/],
    // Node 24 has no option that leaves it out.
    [
      ['--import', 'data:text/javascript,delete globalThis.WebAssembly'],
      /Index: none used, this runtime has no WebAssembly SIMD/,
    ],
  ] as const) {
    const given = [...flags, '--input-type=module', '-e', source];
    const { stdout } = await run(process.execPath, given);
    const [ids, plan] = JSON.parse(stdout) as [number[], string];
    expect(ids).toEqual([77, 78]);
    expect(plan).toMatch(said);
  }
});

test('a range with few rows in it loses none of them', async () => {
  const db = await opened();
  const random = seeded(5);
  const rows = Array.from({ length: 600 }, (_, id) => ({
    id,
    vector: Array.from({ length: DIMENSION }, () => random()),
  }));
  const table = await db.createTable('t', rows, { schema: schemaOf() });
  await table.createIndex('vector', { config: Index.ivfSq({ numPartitions: 6 }) });
  for (let id = 0; id < 600; id += 40) {
    const search = (): VectorQuery =>
      table.vectorSearch(rows[id]?.vector as number[]).limit(5) as VectorQuery;
    const nearest = await search().bypassVectorIndex().toArray<Hit>();
    for (const [at, { _distance }] of nearest.entries()) {
      const within = search().distanceRange(0, _distance + 1e-7);
      expect(await planOf(within)).toContain('vector_idx finds');
      const found = await within.toArray<Hit>();
      expect(found.map((hit) => hit.id)).toEqual(nearest.slice(0, at + 1).map((hit) => hit.id));
    }
    const lower = search().distanceRange(nearest[1]?._distance, undefined);
    expect(await planOf(lower)).toBe('none used, distances have a lower bound');
    const beyond = await lower.limit(4).toArray<Hit>();
    expect(beyond.map((hit) => hit.id)).toEqual(nearest.slice(1).map((hit) => hit.id));
  }
});

test('a plan says which index is used, and why none is', async () => {
  const table = await made();
  const search = (): VectorQuery =>
    table.vectorSearch(QUERIES[0] as number[]).limit(10) as VectorQuery;
  expect(await planOf(search())).toBe('');
  await table.createIndex('vector', { config: Index.ivfSq({ distanceType: 'cosine' }) });
  expect(await search().explainPlan()).toContain('Nearest: vector by cosine to 1 vector');
  expect(await planOf(search().distanceType('l2'))).toBe('none used, vector_idx is for cosine');
  expect(await planOf(search().distanceType('cosine'))).toMatch(/^vector_idx finds/);
  await table.createIndex('vector', { config: Index.ivfSq({ distanceType: 'dot' }), name: 'dots' });
  expect(await planOf(search().distanceType('cosine'))).toMatch(/^vector_idx finds/);
  expect(await planOf(search())).toMatch(/^dots finds/);
  await table.dropIndex('dots');
  expect(await planOf(search().bypassVectorIndex())).toBe(
    'none used, the query leaves vector_idx out',
  );
  expect(await planOf(search().limit(601) as VectorQuery)).toBe(
    'none used, 601 of 600 rows are asked for',
  );
  expect(await planOf(search().nprobes(3))).toMatch(/, in 3 partitions of each segment$/);
  expect(await planOf(search().minimumNprobes(2).maximumNprobes(5).nprobes(9))).toMatch(
    /in at least 2 and at most 5 partitions/,
  );
  expect(await planOf(search().refineFactor(4))).toMatch(/^vector_idx finds 40 of/);
  await expect(search().minimumNprobes(5).maximumNprobes(2).toArray()).rejects.toThrow(
    'minimum_nprobes is 5',
  );
  await table.add(rowsOf(600, 5));
  const left = search().fastSearch() as VectorQuery;
  expect(await planOf(left)).toMatch(/, and 5 others are left out$/);
  expect(
    await planOf(
      table.vectorSearch(Array.from({ length: DIMENSION }, () => 1e20)).limit(1) as VectorQuery,
    ),
  ).toContain('numbers beyond');
  await table.update({ where: 'true', values: { id: 1 } });
  expect(await planOf(search())).toBe('none used, vector_idx covers no row of this version');
});

test('small tables are measured, as many rows as indexes need are not', async () => {
  const db = await opened(memoryFs(), { indexedRows: 601, indexedShare: 0.02 });
  const table = await db.createTable('t', rowsOf(0, 600), { schema: schemaOf() });
  await table.createIndex('vector');
  const search = (k: number): VectorQuery =>
    table.vectorSearch(QUERIES[0] as number[]).limit(k) as VectorQuery;
  expect(await planOf(search(1))).toBe('none used, 600 rows are measured as fast');
  await table.add(rowsOf(600, 1));
  expect(await planOf(search(12))).toMatch(/^vector_idx finds/);
  expect(await planOf(search(13))).toBe('none used, 13 of 601 rows are asked for');
  // Rows that are not covered are left out, also where the covered ones are measured.
  const fast = (k: number): VectorQuery => search(k).fastSearch() as VectorQuery;
  const far = (k: number): VectorQuery => fast(k).distanceRange(0.001, undefined);
  const found = async (query: VectorQuery): Promise<number> => (await query.toArray()).length;
  expect([await found(fast(601)), await found(far(601)), await found(search(601))]).toEqual([
    588, 588, 589,
  ]);
  expect(await planOf(fast(601))).toBe(
    'none used, 601 of 601 rows are asked for; 1 that vector_idx does not cover are left out',
  );
  expect(await found(fast(601).distanceType('cosine'))).toBe(589);
  expect(await found(fast(601).bypassVectorIndex())).toBe(589);
  await table.delete('id = 600');
  await table.add(rowsOf(600, 1));
  await table.delete('id = 0');
  expect(await planOf(fast(1))).toMatch(/^none used, 600 rows .*; 1 that vector_idx does not/);
  expect(await found(fast(600))).toBe(587);
});

test('fewer partitions find less, as asked', async () => {
  const table = await made();
  await table.createIndex('vector', {
    config: Index.ivfPq({ numPartitions: 12, numSubVectors: 4 }),
  });
  const of = (probes: number): Promise<Hit[]> =>
    table
      .vectorSearch(QUERIES[1] as number[])
      .nprobes(probes)
      .limit(500)
      .toArray<Hit>();
  const [one, all] = [await of(1), await of(12)];
  expect(one.length).toBeLessThan(200);
  expect(all.length).toBe(500);
  const { indexType, indexDetails } = (await table.listIndices())[0] ?? {};
  expect(indexType).toBe('IvfSq');
  expect(indexDetails).toMatchObject({
    distance_type: 'l2',
    num_partitions: 12,
    requested: { index_type: 'IVF_PQ', num_sub_vectors: 4 },
  });
  await table.createIndex('vector', { config: Index.ivfRq({ numPartitions: 12, numBits: 2 }) });
  expect(await of(12)).toEqual(all);
  expect((await table.listIndices())[0]).toMatchObject({
    indexType: 'IvfSq',
    indexDetails: { requested: { index_type: 'IVF_RQ', num_bits: 2 } },
  });
});

test.each([new Float16(), new Float64(), new Uint8()])('takes vectors of %s', async (element) => {
  const table = await made(600, element);
  await table.createIndex('vector', { config: Index.hnswSq({ m: 4 }) });
  for (const type of ['l2', 'dot'] as const) {
    if (type === 'dot')
      await table.createIndex('vector', { config: Index.ivfFlat({ distanceType: type }) });
    expect(await recall(table, (query) => query.distanceType(type))).toBeGreaterThanOrEqual(0.9);
  }
});

test('rows that are null, not numbers, or too large to be estimated', async () => {
  const db = await opened();
  const rows = rowsOf(0, 300).map(({ id, vector }) => ({ id, vector: vector ?? [] }));
  const odd: Record<number, number[]> = {
    5: Array.from({ length: DIMENSION }, () => Number.NaN),
    6: Array.from({ length: DIMENSION }, (_, at) => (at === 0 ? 1e30 : 0)),
  };
  const given = rows.map(({ id, vector }) => ({
    id,
    vector: odd[id] ?? (vector.length === 0 ? null : vector),
  }));
  const table = await db.createTable('t', given, { schema: schemaOf() });
  await table.createIndex('vector');
  expect(await recall(table)).toBeGreaterThanOrEqual(0.95);
  const dot = table.vectorSearch(QUERIES[0] as number[]).distanceType('dot');
  await table.createIndex('vector', {
    config: Index.ivfSq({ distanceType: 'dot' }),
    name: 'by_dot',
  });
  expect(await planOf(dot.limit(1) as VectorQuery)).toMatch(/^by_dot/);
  expect((await dot.select(['id']).limit(1).toArray<Hit>())[0]?.id).toBe(6);
  const others = dot.where('id <> 6') as VectorQuery;
  expect((await others.select(['id']).limit(1).toArray<Hit>())[0]?.id).not.toBe(6);
  await table.delete('id = 6');
  expect((await dot.select(['id']).limit(1).toArray<Hit>())[0]?.id).not.toBe(6);
});

test('an empty table, one of nulls alone, and columns that cannot have one', async () => {
  const db = await opened();
  const empty = await db.createEmptyTable('empty', schemaOf());
  await empty.createIndex('vector');
  expect((await empty.indexStats('vector_idx'))?.numIndexedRows).toBe(0);
  await empty.add(rowsOf(0, 40));
  await empty.optimize();
  expect(await recall(empty, (query) => query, 3)).toBeGreaterThanOrEqual(0.9);
  const nulls = await db.createTable('nulls', [{ id: 1, vector: null }], { schema: schemaOf() });
  await nulls.createIndex('vector');
  expect(
    await nulls
      .vectorSearch(QUERIES[0] as number[])
      .limit(1)
      .toArray(),
  ).toEqual([]);
  await expect(nulls.createIndex('id', { config: Index.ivfSq() })).rejects.toThrow(
    'it takes fixed_size_list of float16, float32, float64 or uint8, and this is int32',
  );
  const long = new Schema([
    new Field('v', new FixedSizeList(8_200, new Field('item', new Float32(), true)), true),
    new Field('s', schemaOf().fields[1]?.type as never, true),
  ]);
  const wide = await db.createEmptyTable('wide', long);
  await expect(wide.createIndex('v')).rejects.toThrow('at most 8192 elements');
});

test.each([0, 600_000])(
  'memory for sketches of %i bytes changes no answer',
  async (vectorBytes) => {
    const fs = memoryFs();
    const table = await (await opened(fs)).createTable('t', rowsOf(0, 600), { schema: schemaOf() });
    await table.createIndex('vector', { config: Index.ivfSq({ numPartitions: 7 }) });
    const answers = async (from: Table): Promise<Hit[][]> => {
      const all: Hit[][] = [];
      for (let round = 0; round < 3; round += 1)
        for (const vector of QUERIES)
          all.push(await from.vectorSearch(vector).select(['id']).limit(10).toArray<Hit>());
      return all;
    };
    const catalog = await openDirectoryNamespace({ root: '/c', fs, limits: LIMITS, vectorBytes });
    const small = await new Connection(catalog, { env: systemEnv }).openTable('t');
    expect(await answers(small)).toEqual(await answers(table));
  },
);

test('options that it does not have are refused by name', async () => {
  const table = await made(20);
  const refusals: [Index, string][] = [
    [Index.ivfSq({ numPartitions: 40_000 }), 'num_partitions is 40000'],
    [Index.ivfSq({ distanceType: 'mean' as never }), 'use one of l2, cosine, dot'],
    [Index.ivfFlat({ distanceType: 'hamming' }), 'hamming'],
  ];
  for (const [config, named] of refusals) {
    await expect(table.createIndex('vector', { config })).rejects.toThrow(named);
  }
});

test.each(Array.from({ length: casesOf(1, 60) }, (_, seed) => seed))(
  'history %i: whatever a table goes through, an index finds what is near',
  async (seed) => {
    const random = seeded(100 + seed);
    const whole = (below: number): number => Math.floor(random() * below);
    const db = await opened(memoryFs(), { segmentRows: 300 });
    const table = await db.createTable('t', rowsOf(0, 150), { schema: schemaOf() });
    let next = 150;
    const add = async (): Promise<void> => {
      const count = 1 + whole(120);
      await table.add(rowsOf(next, count));
      next += count;
    };
    const STEPS: readonly (() => Promise<unknown>)[] = [
      add,
      add,
      () => table.createIndex('vector', { config: Index.ivfSq({ numPartitions: 1 + whole(9) }) }),
      () => table.delete(`id % ${2 + whole(9)} = 1 AND id > ${whole(next)}`),
      () => {
        next += 10_000;
        return table.update({ where: `id % 11 = ${whole(11)}`, valuesSql: { id: 'id + 10000' } });
      },
      () => table.optimize(),
      async () => table.dropIndex('vector_idx').catch(() => {}),
      async () => {
        const to = 1 + whole(await table.version());
        await table.checkout(to);
        await table.restore();
      },
    ];
    let sum = 0;
    let count = 0;
    for (let step = 0; step < 14; step += 1) {
      await STEPS[whole(STEPS.length)]?.();
      if ((await table.countRows()) < 20) await add();
      const isFiltered = whole(2) === 0;
      const shape = (query: VectorQuery): VectorQuery =>
        (isFiltered ? query.where('id % 3 <> 0') : query) as VectorQuery;
      sum += await recall(table, shape, 5);
      count += 1;
    }
    expect(sum / count).toBeGreaterThanOrEqual(0.95);
  },
);

test('a build that the system gives no memory says what it needs, and leaves nothing', async () => {
  const fs = memoryFs();
  const db = await connect('/c', { fs });
  const rows = Array.from({ length: 300 }, (_, at) => ({ vector: [at, 1, 2, 3] }));
  const table = await db.createTable('t', rows);
  const { train } = IvfBuilder.prototype;
  const spied = vi.spyOn(IvfBuilder.prototype, 'train').mockImplementation(() => {
    throw new RangeError('Array buffer allocation failed');
  });
  const config = Index.ivfSq({ numPartitions: 4 });
  await expect(table.createIndex('vector', { config })).rejects.toMatchObject({
    code: 'ResourceExhausted',
    message: expect.stringMatching(
      /300 vectors of 4 elements in 4 partitions takes about 1 MiB.*allocation failed\. Give/,
    ),
  });
  expect(await table.listIndices()).toEqual([]);
  spied.mockRestore();
  expect(IvfBuilder.prototype.train).toBe(train);
  await table.createIndex('vector', { config });
  await db.close();
});
