/** Casts of numbers and times at the edges of what their types hold. */
import { expect, test } from 'vitest';
import { Decimal, Field, Float64, Schema, TimestampSecond } from '../../src/arrow/apache.ts';
import { connect } from '../../src/sdk/connect.ts';
import { memoryFs } from '../helpers/memory-fs.ts';

test('decimals of a negative scale are cast to text and to floats, losslessly too', async () => {
  const db = await connect('/c', { fs: memoryFs() });
  const schema = new Schema([
    new Field('d', new Decimal(-2, 5, 128), true),
    new Field('f', new Float64(), true),
  ]);
  const table = await db.createTable('t', [{ d: 12_300, f: 0 }], undefined, { schema });
  await table.update({ valuesSql: { f: 'd' } });
  const rows = await table.query().select({ f: 'f', text: 'CAST(d AS text)' }).toArray();
  expect(rows.map((row) => ({ ...row }))).toEqual([{ f: 12_300, text: '12300' }]);
});

test('a time beyond the days of a date is refused, and null where that is asked for', async () => {
  const db = await connect('/c', { fs: memoryFs() });
  const schema = new Schema([new Field('at', new TimestampSecond(), true)]);
  const table = await db.createTable('t', [{ at: 400_000_000_000_000n }], undefined, { schema });
  const tried = await table.query().select({ day: 'TRY_CAST(at AS date)' }).toArray();
  expect(tried.map(({ day }) => day)).toEqual([null]);
  await expect(table.query().select({ day: 'CAST(at AS date)' }).toArray()).rejects.toMatchObject({
    code: 'InvalidInput',
  });
});
