/** Plans of queries: the steps they name are those that are done, and the figures are theirs. */
import { beforeAll, describe, expect, test } from 'vitest';
import { Field, FixedSizeList, Float32, Schema } from '../../../src/arrow/apache.ts';
import { connect } from '../../../src/sdk/connect.ts';
import type { Table } from '../../../src/sdk/table/table.ts';
import { memoryFs } from '../../helpers/catalogs.ts';

let table: Table;

beforeAll(async () => {
  const db = await connect('/c', { fs: memoryFs() });
  const rows = (from: number) =>
    Array.from({ length: 50 }, (_, at) => ({ id: from + at, vector: [from + at, 1] }));
  table = await db.createTable('t', rows(0));
  await table.add(rows(50));
});

const lines = (plan: string): string[] => plan.split('\n').map((line) => line.trim());
const figure = (plan: string, name: string): number =>
  Number(new RegExp(`${name} (\\d+)`).exec(plan)?.[1]);

describe('explainPlan', () => {
  test('a scan, with what its predicate prunes', async () => {
    const plan = await table.query().where('id >= 50').select(['id']).limit(3).explainPlan(true);
    expect(lines(plan)).toEqual([
      'Projection: id',
      'Limit: 3, offset 0',
      expect.stringMatching(/^Filter: .*id.*50/),
      'Scan: version 2 of branch main, 100 rows in 2 fragments, 1 pruned',
      'Columns read: id',
    ]);
  });

  test('an ordering', async () => {
    const plan = await table.query().orderBy({ columnName: 'id', ascending: false }).explainPlan();
    expect(lines(plan)).toContain('Order: id descending, nulls last');
  });

  test('a vector search, which filters before or after', async () => {
    const query = table.vectorSearch([1, 1]).distanceType('cosine').where('id >= 50').limit(2);
    expect(lines(await query.explainPlan(true))).toEqual([
      'Projection: id, vector',
      'Limit: 2, offset 0',
      'Nearest: vector by cosine to 1 vector',
      expect.stringMatching(/^Filter: /),
      'Scan: version 2 of branch main, 100 rows in 2 fragments, 1 pruned',
      'Columns read: id, vector',
    ]);
    const after = lines(await query.addQueryVector([2, 2]).postfilter().explainPlan());
    expect(after.slice(2, 5)).toEqual([
      expect.stringMatching(/^Filter: /),
      'Nearest: vector by cosine to 2 vectors',
      'Scan: version 2 of branch main, 100 rows in 2 fragments, 0 pruned',
    ]);
  });

  test('what the query would refuse, its plan refuses', async () => {
    await expect(table.vectorSearch([1, 1]).column('id').explainPlan()).rejects.toMatchObject({
      code: 'InvalidInput',
    });
    const unknown = table.query().orderBy({ columnName: 'idd' });
    await expect(unknown.explainPlan()).rejects.toMatchObject({ code: 'TableColumnNotFound' });
    const both = table.vectorSearch([1, 1]).orderBy({ columnName: 'vector' });
    await expect(both.explainPlan()).rejects.toMatchObject({ code: 'InvalidInput' });
    await expect(both.analyzePlan()).rejects.toMatchObject({ code: 'InvalidInput' });
  });
});

test('of several vector columns the one as long as the query vector is searched', async () => {
  const connection = await connect('/v', { fs: memoryFs() });
  const list = (size: number) => new FixedSizeList(size, new Field('item', new Float32(), true));
  const fields = [2, 3, 3].map((size, at) => new Field(`v${at}`, list(size), true));
  const rows = [{ v0: [1, 0], v1: [1, 0, 0], v2: [0, 0, 1] }];
  const several = await connection.createTable('v', rows, undefined, {
    schema: new Schema(fields),
  });
  const [found] = await several.vectorSearch([1, 2]).toArray();
  expect(found?._distance).toBe(4);
  expect(await several.vectorSearch([1, 2]).explainPlan()).toContain('Nearest: v0');
  const refused = expect.objectContaining({
    message: expect.stringContaining('v0 (2), v1 (3), v2 (3)'),
  });
  await expect(several.vectorSearch([1, 0, 0]).toArray()).rejects.toEqual(refused);
  await expect(several.vectorSearch([1]).toArray()).rejects.toEqual(refused);
});

describe('analyzePlan', () => {
  test('a vector search is run as one: its rows, with their distance', async () => {
    const plan = await table.vectorSearch([60, 1]).where('id >= 50').limit(4).analyzePlan();
    expect(plan).toContain('Metrics: rows 4; columns 3; fragments 2, pruned 1');
    expect(figure(plan, 'bytes read')).toBeGreaterThan(50 * 8);
  });

  test('an ordering reads the fragments that may have some of the first rows', async () => {
    const order = { columnName: 'id', ascending: false };
    const plan = await table.query().orderBy(order).limit(1).analyzePlan();
    expect(plan).toContain('Metrics: rows 1; columns 2; fragments 2, pruned 1');
    const all = await table.query().orderBy(order).analyzePlan();
    expect(all).toContain('Metrics: rows 100; columns 2; fragments 2, pruned 0');
    const scan = await table.query().limit(1).analyzePlan();
    expect(scan).toContain('Metrics: rows 1; columns 2; fragments 1, pruned 0');
  });
});
