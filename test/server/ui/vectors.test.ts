/** Samples of vectors for the page, the neighbours of one, profiles of columns, and comparisons. */
import { beforeAll, describe, expect, test } from 'vitest';
import { connect } from '../../../src/sdk/connect.ts';
import { projected } from '../../../src/server/ui/vectors.ts';
import { drained } from '../../../src/steps.ts';
import { memoryFs } from '../../helpers/memory-fs.ts';
import { ask, type Pair, restPair } from '../../helpers/rest-pair.ts';

let pair: Pair;
const id = ['t'];

beforeAll(async () => {
  const db = await connect('/c', { fs: memoryFs() });
  const rows = Array.from({ length: 50 }, (_, x) => ({
    x,
    vector: x === 7 ? null : [x, 0, x % 2],
  }));
  await db.createTable('t', rows);
  pair = await restPair({ namespace: db.namespace, ui: true });
});

const asked = async (name: string, body: object) =>
  ask(pair, 'POST', `/ui/api/${name}`, { id, version: 1, ...body });

describe('a sample of vectors', () => {
  test('has the lengths and places of rows that have one', async () => {
    const { json } = await asked('vectors', { column: 'vector', rows: 50 });
    expect(json).toMatchObject({ dimensions: 3, rows: 50, sampled: 50 });
    expect(json.norms).toHaveLength(49);
    expect(json.ids).not.toContain('7');
    expect(json.norms[3]).toBeCloseTo(Math.sqrt(10), 4);
    // The first number varies most, so rows lie along x in their order, or against it.
    const sign = Math.sign(json.x[48] - json.x[0]);
    for (let at = 1; at < 49; at++) {
      expect(sign * (json.x[at] - json.x[at - 1])).toBeGreaterThan(0);
    }
  });

  test('of another column is refused', async () => {
    const { status, json } = await asked('vectors', { column: 'x', rows: 50 });
    expect(status).toBe(400);
    expect(json.detail).toContain('vectors are fixed-size lists of numbers');
  });

  test('is projected in steps', () => {
    const matrix = Float32Array.from({ length: 64 * 4 }, (_, at) => (at * 31) % 17);
    expect([...projected(matrix, 4)].length).toBeGreaterThan(16);
    const none = drained(projected(new Float32Array(0), 4));
    expect(none).toEqual({ norms: [], x: [], y: [] });
    const same = drained(projected(new Float32Array(8).fill(2), 4));
    expect(same.x).toEqual([0, 0]);
  });
});

describe('the neighbours of a row', () => {
  test('are the nearest first, itself among them', async () => {
    const { json } = await asked('neighbours', { column: 'vector', row_id: '20', k: 3 });
    const x = json.columns.findIndex(({ name }: { name: string }) => name === 'x');
    expect(json.rows.map((row: unknown[]) => row[x])).toEqual([20, 19, 21]);
  });

  test.each([
    [{ column: 'vector', row_id: '7' }, 'has no vector'],
    [{ column: 'vector', row_id: '999' }, ''],
    [{ column: 'vector', row_id: '-1' }, 'a row id as a text of digits'],
    [{ column: 'vector', row_id: '1', k: 101 }, 'from 0 to 100'],
  ])('%j is refused', async (body, message) => {
    const { status, json } = await asked('neighbours', body);
    expect(status).toBeGreaterThanOrEqual(400);
    expect(status).toBeLessThan(500);
    expect(json.detail).toContain(message);
  });
});

test('columns are told of as ProfileTable does', async () => {
  const { json } = await asked('ProfileTable', { columns: ['x'], budget_millis: 1_000 });
  expect(json.columns[0]).toMatchObject({ name: 'x', nulls: 0, distinct: 50 });
});

test('two versions are compared as DiffTable does', async () => {
  const body = { id, from: { version: 1 }, to: { version: 1 } };
  const { status, json } = await ask(pair, 'POST', '/ui/api/DiffTable', body);
  expect(status).toBe(200);
  expect(json).toMatchObject({
    from: { version: 1, row_count: 50 },
    schema: { added: [], dropped: [], changed: [] },
    rows: { by: 'place', added: 0, removed: 0, unchanged: 50 },
  });
});
