/** Deleting rows by id and by predicate, over few and many fragments. */
import { expect, test } from 'vitest';
import { connect } from '../src/index.ts';
import { memoryFs } from './helpers/catalogs.ts';

const catalog = () => connect({ uri: '/c', fs: memoryFs() as never });

test('an id given twice, or in any order, names its row once', async () => {
  await using db = await catalog();
  const table = await db.createTable('t', [{ a: 1 }, { a: 2 }, { a: 3 }, { a: 4 }]);
  const rows = await table.query().withRowId().toArray();
  const ids = rows.map(({ _rowid }) => _rowid as bigint);
  const [first, second, , last] = ids as [bigint, bigint, bigint, bigint];
  const deleted = await table.deleteRows([last, second, second, last, 99n]);
  expect(deleted).toMatchObject({ numDeletedRows: 2 });
  expect((await table.query().toArray()).map(({ a }) => a)).toEqual([1, 3]);
  expect(await table.deleteRows([second, first])).toMatchObject({ numDeletedRows: 1 });
});

test('more fragments lose rows than files may be written at once', async () => {
  await using db = await catalog();
  const table = await db.createTable('t', [{ a: 0 }, { a: 1 }]);
  for (let made = 1; made < 50; made++) await table.add([{ a: 0 }, { a: 1 }]);
  await table.delete('a = 1');
  expect(await table.countRows()).toBe(50);
  expect((await db.namespace.verify?.({}))?.problems).toEqual([]);
});
