/** The sign of a zero, from values and from texts, as DuckDB and LanceDB keep it. */
import { expect, test } from 'vitest';
import { connect } from '../../src/index.ts';

test('an update by value keeps the sign of zero, alone and in vectors', async () => {
  const db = await connect('memory://');
  const table = await db.createTable('t', [{ id: 1, v: 1.5, vector: [1, 2] }]);
  await table.update({ values: { v: -0, vector: [-0, 3] } });
  const [row] = await table.query().toArray();
  expect(row.v).toBe(-0);
  expect([...row.vector]).toEqual([-0, 3]);
  await table.update({ values: { id: -0, v: 0 } });
  expect((await table.query().toArray())[0]).toMatchObject({ id: -0, v: 0 });
  await db.close();
});

test.each([
  ['-0', -0],
  ['-0.0', -0],
  ['-0e0', -0],
  [' -0 ', -0],
  ['-1e-400', -0],
  ['0', 0],
  ['+0.0', 0],
  ['-1', -1],
])('the text %j is the double %s', async (text, value) => {
  const db = await connect('memory://');
  const table = await db.createTable('t', [{ s: text }]);
  const cast = table.query().select({ d: 'CAST(s AS double)', f: 'CAST(s AS float)' });
  expect(await cast.toArray()).toEqual([{ d: value, f: value }]);
  await db.close();
});
