/** Vectors in fields of structs: searched as those of a column are, with an index as without. */
import { expect, test } from 'vitest';
import {
  Table as ArrowTable,
  Field,
  FixedSizeList,
  Float32,
  Int32,
  List,
  makeData,
  Schema,
  Struct,
  Vector,
} from '../../../src/arrow/apache.ts';
import { openDirectoryNamespace } from '../../../src/directory/directory-namespace.ts';
import {
  type Connection,
  connect,
  Index,
  type Table,
  type VectorQuery,
} from '../../../src/index.ts';
import { Connection as AnyConnection } from '../../../src/sdk/connection.ts';
import { memoryFs } from '../../helpers/memory-fs.ts';

const DIMENSION = 32;
const vectors = (name: string) =>
  new Field(name, new FixedSizeList(DIMENSION, new Field('item', new Float32(), true)), true);
const within = (name: string, ...fields: Field[]) => new Field(name, new Struct(fields), true);
const schema = new Schema([
  new Field('id', new Int32()),
  within('more', within('deep', new Field('n', new Int32(), true), vectors('v'), vectors('w'))),
  vectors('plain'),
  vectors('other'),
  within('parts', new Field('many', new List(vectors('item')), true)),
]);

const vectorOf = (at: number): number[] =>
  Array.from({ length: DIMENSION }, (_, i) => Math.sin(at * (i + 1)));

/** Every fifth vector is null: itself, or a struct that it is in. */
const rowsOf = (from: number, count: number): Record<string, unknown>[] =>
  Array.from({ length: count }, (_, at) => {
    const id = from + at;
    const v = id % 15 === 0 ? null : vectorOf(id);
    const deep = id % 15 === 5 ? null : { n: id % 3, v, w: vectorOf(id + 0.5) };
    const many = [vectorOf(id), vectorOf(id + 1)];
    return {
      id,
      more: id % 15 === 10 ? null : { deep },
      plain: id % 5 === 0 ? null : vectorOf(id),
      other: id % 15 === 5 || id % 15 === 10 ? null : vectorOf(id + 0.5),
      parts: id % 5 === 0 ? null : { many },
    };
  });

async function made(): Promise<{ db: Connection; table: Table }> {
  const namespace = await openDirectoryNamespace({
    root: '/c',
    fs: memoryFs(),
    durability: 'relaxed',
    limits: { indexedRows: 0, indexedShare: 1 },
  } as never);
  const db = new AnyConnection(namespace) as unknown as Connection;
  const table = await db.createTable('t', rowsOf(0, 1_100), { schema: schema as never });
  await table.add(rowsOf(1_100, 100));
  await table.delete('id % 7 = 3');
  return { db, table };
}

const hits = async (query: VectorQuery): Promise<unknown> =>
  (await query.select(['id']).limit(9).toArray()).map(({ id, _distance }) => [id, _distance]);

test('are found as those of a column, with filters, distances and sketches', async () => {
  const { db, table } = await made();
  const search = (column: string, at: number): VectorQuery =>
    table.vectorSearch(vectorOf(at + 0.01)).column(column);
  // The second search is by sketches, which the first two make.
  for (let round = 0; round < 3; round++) {
    for (const at of [7, 641, 1_130]) {
      const expected = await hits(search('plain', at));
      expect(await hits(search('more.deep.v', at))).toEqual(expected);
      expect(await hits(search('`more`.`deep`.`v`', at))).toEqual(expected);
      expect(await hits(search('`plain`', at))).toEqual(expected);
      expect(await hits(search('more.deep.w', at))).toEqual(await hits(search('other', at)));
      const filtered = await hits(search('plain', at).where('id % 3 = 1').distanceType('cosine'));
      const nested = search('more.deep.v', at).where('more.deep.n = 1').distanceType('cosine');
      expect(await hits(nested)).toEqual(filtered);
    }
  }
  // Vectors that are null lie as zeros.
  const zeros = Array.from({ length: DIMENSION }, () => 0);
  expect(await hits(table.vectorSearch(zeros).column('more.deep.v'))).toEqual(
    await hits(table.vectorSearch(zeros).column('plain')),
  );
  expect(await search('more.deep.v', 1).explainPlan()).toContain('Nearest: more.deep.v by l2');
  const [first] = await search('parts.many', 5.99).limit(1).toArray();
  expect(first.id).toBe(6);
  expect((await search('parts.many', 5).limit(2_000).toArray()).length).toBe(
    await table.countRows('parts IS NOT NULL'),
  );
  await expect(hits(search('more.deep.n', 1))).rejects.toMatchObject({
    code: 'TableColumnNotFound',
  });
  await expect(hits(search('more.none', 1))).rejects.toMatchObject({ code: 'TableColumnNotFound' });
  await db.close();
});

test('are found without a name where no column fits and one of them does', async () => {
  const db = await connect('/c', { fs: memoryFs(), durability: 'relaxed' });
  const two = { id: 1, more: { vector: [1, 2] } };
  const table = await db.createTable('t', [{ ...two, a_vector: [1, 2, 3], b_vector: [1, 2] }]);
  const search = (of: Table, vector: number[]) => of.vectorSearch(vector).toArray();
  expect(await search(table, [0, 0])).toMatchObject([{ _distance: 5 }]);
  await expect(search(table, [1])).rejects.toMatchObject({
    code: 'InvalidInput',
    message:
      'No vector column found to match with the query vector dimension: 1. Vectors and their elements: a_vector (3), b_vector (2), more.vector (2).',
  });
  const none = await db.createTable('none', [{ id: 1 }]);
  await expect(search(none, [1])).rejects.toThrow('Vectors and their elements: none.');
  const alike = await db.createTable('alike', [{ a_vector: [1], b_vector: [1] }]);
  await expect(search(alike, [1])).rejects.toThrow(
    'in several columns (a_vector (1), b_vector (1))',
  );
  const deep = { n: 1, vector: [1, 0] };
  const inner = await db.createTable('inner', [{ a: { b: 2, deep }, c_vector: [1, 2, 3] }]);
  expect(await search(inner, [0, 0])).toMatchObject([{ a: { deep: { n: 1 } }, _distance: 1 }]);
  expect(await search(inner, [1, 2, 3])).toMatchObject([{ _distance: 0 }]);
  const both = await db.createTable('both', [{ a: { deep, vector: [3, 4] }, c: { vector: [5] } }]);
  await expect(search(both, [0, 0])).rejects.toThrow(
    'in several columns (a.deep.vector (2), a.vector (2), c.vector (1)); name the one to search',
  );
  expect(await search(both, [5])).toMatchObject([{ _distance: 0 }]);
  await db.close();
});

test('have an index, which finds what measuring finds', async () => {
  const { db, table } = await made();
  await table.createIndex('more.deep.v', { config: Index.ivfSq({ numPartitions: 4 }) });
  expect(await table.listIndices()).toMatchObject([
    { name: 'more.deep.v_idx', indexType: 'IvfSq', columns: ['more.deep.v'] },
  ]);
  await table.add(rowsOf(3_000, 40));
  for (const at of [8, 1_011, 3_011]) {
    const search = (): VectorQuery =>
      table
        .vectorSearch(vectorOf(at + 0.01))
        .column('more.deep.v')
        .nprobes(4)
        .refineFactor(20);
    expect(await search().limit(9).explainPlan()).toContain('Index: more.deep.v_idx finds');
    expect(await hits(search())).toEqual(await hits(search().bypassVectorIndex()));
    expect(await hits(search().where('more.deep.n = 2'))).toEqual(
      await hits(search().where('more.deep.n = 2').bypassVectorIndex()),
    );
  }
  await table.optimize();
  expect(await table.indexStats('more.deep.v_idx')).toMatchObject({ numUnindexedRows: 0 });
  // Of a row with several vectors there is no index, in a struct as elsewhere.
  const several = table.createIndex('parts.many', { config: Index.ivfSq() });
  await expect(several).rejects.toMatchObject({ code: 'InvalidInput' });
  await table.dropColumns(['more']);
  expect(await table.listIndices()).toEqual([]);
  await db.close();
});

test('are not there where a struct is null, whatever lies below it', async () => {
  const values = [1, 0, 2, 0, 3, 0, 4, 0];
  const pair = new FixedSizeList(2, new Field('item', new Float32(), true));
  const item = makeData({ type: new Float32(), data: Float32Array.from(values) });
  const four = makeData({ type: pair, length: 4, nullCount: 0, child: item });
  const list = new List(new Field('item', pair, true));
  const valueOffsets = Int32Array.from([0, 1, 2, 3, 4]);
  const many = makeData({ type: list, length: 4, nullCount: 0, valueOffsets, child: four });
  const type = new Struct([new Field('v', pair, true), new Field('many', list, true)]);
  const nullBitmap = Uint8Array.from([0b1101]);
  const more = makeData({ type, length: 4, nullCount: 1, nullBitmap, children: [four, many] });
  const id = makeData({ type: new Int32(), data: Int32Array.from([0, 1, 2, 3]) });
  const table = new ArrowTable({ id: new Vector([id]), more: new Vector([more]) } as never);
  const db = await connect('/c', { fs: memoryFs(), durability: 'relaxed' });
  const made = await db.createTable('t', table as never);
  for (const column of ['more.v', 'more.many']) {
    const found = made.vectorSearch([2, 0]).column(column).select(['id']);
    expect((await found.toArray()).map((row) => row.id)).toEqual([0, 2, 3]);
  }
  await db.close();
});
