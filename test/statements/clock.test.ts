/** now(), current_date and their like: one time throughout a statement, by the clock of the catalog. */
import { expect, test } from 'vitest';
import { systemEnv } from '../../src/env.ts';
import { statementCatalog } from './catalog.ts';

const NOW = Date.parse('2024-02-29T23:59:59.125Z');

test('are of the clock of the catalog', async () => {
  let ticks = 0;
  // The clock goes on with every look at it.
  const env = { ...systemEnv, now: () => NOW + ticks++ * 1e-3 };
  const { db, rows } = await statementCatalog({ env });
  const texts = ['now()', 'CURRENT_TIMESTAMP', 'today()', 'current_date', 'localtimestamp'];
  const [row] = await rows(
    `SELECT ${texts.map((text, at) => `CAST(${text} AS text) AS v${at}`).join(', ')}`,
  );
  expect(Object.values(row ?? {})).toEqual([
    '2024-02-29T23:59:59.125Z',
    '2024-02-29T23:59:59.125Z',
    '2024-02-29',
    '2024-02-29',
    '2024-02-29T23:59:59.125',
  ]);
  expect(
    await rows(
      "SELECT count(*) AS n FROM prod.people WHERE now() = (SELECT now()) AND date '2024-02-27' >= current_date - 2 AND localtimestamp - INTERVAL '1 day' < today()",
    ),
  ).toEqual([{ n: 5 }]);
  expect(await db.sql('SELECT now() AS t').explainPlan()).toContain('2024-02-29T23:59:59.125Z');
});

test('are refused where a text is kept, or has no clock', async () => {
  const { db, rows } = await statementCatalog();
  const people = await db.openTable('people', ['prod']);
  await expect(people.countRows('now() > now()')).rejects.toThrow('The function now is not known');
  await expect(people.countRows('current_date IS NULL')).rejects.toThrow('has no clock');
  await expect(rows('SELECT current_user')).rejects.toThrow('current_user is not supported');
  await expect(rows('SELECT now(1)')).rejects.toThrow('The function now is not known');
});
