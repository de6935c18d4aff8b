/** Fragments that Lance cannot read and could if they were written anew: which of them `optimize` writes anew. */
import { expect, test } from 'vitest';
import {
  Field,
  Int32,
  IntervalYearMonth,
  Struct,
  Table,
  tableFromArrays,
  vectorFromArray,
} from '../../../src/arrow/apache.ts';
import type { LanceOpening } from '../../../src/protocol/index.ts';
import { connect } from '../../../src/sdk/connect.ts';
import { planCompaction } from '../../../src/table/write/compaction-plan.ts';
import { memoryFs } from '../../helpers/catalogs.ts';
import { entry } from '../../helpers/engines.ts';

type Db = Awaited<ReturnType<typeof connect>>;

const lanceOf = async (db: Db, table = 't'): Promise<LanceOpening | undefined> =>
  (await db.describeTable(table, [], { load_detailed_metadata: true })).lance;

const ids = (...values: number[]): never =>
  tableFromArrays({ id: Int32Array.from(values) }) as never;

test('a table of a catalog that was off opens once it was optimized, and stays as it is then', async () => {
  const fs = memoryFs();
  const before = await connect('/c', { fs, lance: 'off' });
  const table = await before.createTable('t', ids(1, 2, 3));
  await table.add(ids(4, 5));
  await table.delete('id = 2');
  await table.optimize();
  await before.createTable('kept', ids(1), { lance: 'off' });

  const db = await connect('/c', { fs, lance: 'read' });
  expect(await lanceOf(db)).toBeUndefined();
  const again = await db.openTable('t');
  await again.add(ids(6));
  expect(await lanceOf(db)).toEqual({
    opens: false,
    reason:
      'Fragments with 4 rows were written without Lance: optimize the table to write them anew.',
  });
  // One row less leaves a run of one fragment, which no other goal would touch.
  await again.delete('id = 6');
  const report = await again.optimize();
  expect(report.compaction).toMatchObject({ fragmentsRemoved: 1, fragmentsAdded: 1 });
  expect(await lanceOf(db)).toEqual({ opens: true });
  expect((await again.query().toArray()).map(({ id }) => id)).toEqual([1, 3, 4, 5]);
  const version = await again.version();
  await again.optimize();
  expect(await again.version()).toBe(version);

  const kept = await db.openTable('kept');
  await kept.optimize();
  expect(await kept.version()).toBe(1);
  expect((await db.namespace.verify?.({}))?.problems).toEqual([]);
});

test('null structs stay a problem until their rows are deleted, or their column is dropped', async () => {
  const db = await connect('/c', { fs: memoryFs() });
  const pair = new Struct([new Field('a', new Int32(), true)]);
  const rows = (): never =>
    new Table({
      id: vectorFromArray(
        Array.from({ length: 120 }, (_, at) => at),
        new Int32(),
      ),
      // Too many runs to be fragments of their own.
      s: vectorFromArray(
        Array.from({ length: 120 }, (_, at) => (at % 20 === 9 ? null : { a: 1 })),
        pair,
      ),
    }) as never;
  for (const [name, mend] of [
    ['deleted', (of: string) => db.openTable(of).then((t) => t.delete('s IS NULL'))],
    ['dropped', (of: string) => db.openTable(of).then((t) => t.dropColumns(['s']))],
  ] as const) {
    const table = await db.createTable(name, rows());
    await table.optimize();
    expect(await table.version()).toBe(1);
    expect(await lanceOf(db, name)).toMatchObject({ opens: false });
    await mend(name);
    expect(await lanceOf(db, name)).toMatchObject({ opens: false });
    await table.optimize();
    expect(await lanceOf(db, name)).toEqual({ opens: true });
    const version = await table.version();
    await table.optimize();
    expect(await table.version()).toBe(version);
  }
});

test('a column without a form in Lance keeps all from being written anew, until it is dropped', async () => {
  const fs = memoryFs();
  const off = await connect('/c', { fs, lance: 'off' });
  const rows = new Table({
    id: vectorFromArray([1, 2], new Int32()),
    i: vectorFromArray([null, null], new IntervalYearMonth()),
  });
  await off.createTable('t', rows as never);
  const db = await connect('/c', { fs, lance: 'read' });
  const table = await db.openTable('t');
  await table.optimize();
  expect(await table.version()).toBe(1);
  await table.dropColumns(['i']);
  expect(await lanceOf(db)).toMatchObject({ opens: false });
  await table.optimize();
  expect(await lanceOf(db)).toEqual({ opens: true });
});

test('new and widened columns write old fragments anew, and so does an update of their rows', async () => {
  const fs = memoryFs();
  const off = await connect('/c', { fs, lance: 'off' });
  for (const name of ['added', 'widened', 'updated']) await off.createTable(name, ids(1, 2));
  const db = await connect('/c', { fs, lance: 'read' });
  await (await db.openTable('added')).addColumns([{ name: 'twice', valueSql: 'id * 2' }]);
  await (await db.openTable('widened')).alterColumns([{ path: 'id', dataType: 'int64' }]);
  await (await db.openTable('updated')).update({ where: 'true', values: { id: 7 } });
  expect(await lanceOf(db, 'added')).toEqual({ opens: true });
  expect(await lanceOf(db, 'updated')).toEqual({ opens: true });
  expect(await lanceOf(db, 'widened')).toMatchObject({ opens: false });
  await (await db.openTable('widened')).optimize();
  expect(await lanceOf(db, 'widened')).toEqual({ opens: true });
});

test('what must be rewritten is planned however large it is, and what does not fit together is not joined', () => {
  const fragments = [entry(0), entry(1), entry(2)];
  const goals = { targetRows: 10, targetBytes: 1e6, maxDeletedShare: 0.1, tiered: false };
  expect(planCompaction(fragments, goals)).toEqual([]);
  const mustRewrite = ({ id }: { id: number }): boolean => id === 1;
  expect(planCompaction(fragments, { ...goals, mustRewrite })).toEqual([[fragments[1]]]);
});
