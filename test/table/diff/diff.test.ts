/** Two versions compared, against a naive comparison of all their rows, over random histories. */
import { expect, test } from 'vitest';
import { openDirectoryNamespace } from '../../../src/directory/directory-namespace.ts';
import { Connection, connect, type Table, type TableDiff } from '../../../src/index.ts';
import { memoryFs } from '../../helpers/catalogs.ts';
import { LONG } from '../../helpers/long.ts';
import { seeded } from '../../helpers/seeded.ts';

type Row = Readonly<Record<string, unknown>>;

const text = (row: Row, names: readonly string[]): string =>
  JSON.stringify(
    names.map((name) => row[name] ?? null),
    (_, value) => (typeof value === 'bigint' ? String(value) : value),
  );

interface Counts {
  added: number;
  removed: number;
  changed: number;
  columns: Record<string, number>;
}

/**
 * Rows with the same values are the same; of the others those of one key are one row. Which of them
 * are paired is not said where a key is there more than once.
 */
function naive(
  before: readonly Row[],
  after: readonly Row[],
  names: readonly string[],
  keys: readonly string[],
): Counts {
  const counts: Counts = { added: 0, removed: 0, changed: 0, columns: {} };
  const left = new Map<string, Row[]>();
  for (const row of before)
    left.set(text(row, names), [...(left.get(text(row, names)) ?? []), row]);
  const fresh = after.filter((row) => left.get(text(row, names))?.shift() === undefined);
  // In the order of the version, not of the groups.
  const rest = new Set([...left.values()].flat());
  const byKey = new Map<string, Row[]>();
  for (const row of before.filter((one) => rest.has(one))) {
    byKey.set(text(row, keys), [...(byKey.get(text(row, keys)) ?? []), row]);
  }
  counts.removed = rest.size;
  for (const row of fresh) {
    const other = byKey.get(text(row, keys))?.shift();
    if (other === undefined) {
      counts.added += 1;
      continue;
    }
    counts.removed -= 1;
    counts.changed += 1;
    for (const name of names) {
      if (text(row, [name]) !== text(other, [name])) {
        counts.columns[name] = (counts.columns[name] ?? 0) + 1;
      }
    }
  }
  return counts;
}

const hasTwins = (rows: readonly Row[]): boolean =>
  new Set(rows.map(({ id }) => id)).size < rows.length;

const countsOf = ({ rows }: TableDiff): Counts => ({
  added: rows.added,
  removed: rows.removed,
  changed: rows.changed,
  columns: Object.fromEntries(rows.changedColumns.map(({ name, rows: count }) => [name, count])),
});

const rowsAt = async (table: Table, version: number): Promise<Row[]> => {
  await table.checkout(version);
  const rows = await table.query().toArray();
  await table.checkoutLatest();
  return rows;
};

/** One random change. */
async function change(
  table: Table,
  random: () => number,
  next: () => number,
  isKeyed: boolean,
): Promise<void> {
  const some = (most: number): number => Math.floor(random() * most);
  const row = () => ({
    id: isKeyed ? next() : random() < 0.1 ? null : next() - some(3),
    name: ['a', 'b', null][some(3)],
    n: some(4),
    list: [some(2)],
  });
  switch (some(9)) {
    case 0:
    case 1:
      await table.add(Array.from({ length: 1 + some(12) }, row) as never);
      return;
    case 2:
      await table.delete(`id % 5 = ${some(5)} AND n = ${some(4)}`);
      return;
    case 3:
      await table.update({ where: `n = ${some(4)}`, values: { name: 'u' } });
      return;
    case 4:
      await table.update({ where: `id % 3 = ${some(3)}`, valuesSql: { n: 'n + 1' } });
      return;
    case 5: {
      const rows = [{ id: 1_000 + next(), name: 'm', n: 9, list: [] }];
      await table
        .mergeInsert('id')
        .whenMatchedUpdateAll()
        .whenNotMatchedInsertAll()
        .execute(rows as never);
      return;
    }
    case 6:
      await table.optimize({ cleanupOlderThan: false });
      return;
    case 7:
      await table.restore(1 + some(await table.version()));
      return;
    default:
      await table.add([row(), row()] as never, { mode: 'overwrite' });
  }
}

test.each(Array.from({ length: LONG ? 60 : 8 }, (_, seed) => seed))('history %i', async (seed) => {
  const db = await connect('/c', { fs: memoryFs() });
  const random = seeded(seed);
  let number = 0;
  const next = (): number => number++;
  const isKeyed = seed % 2 === 0;
  const first = [0, 1, 2, isKeyed ? 3 : 2].map((id) => ({ id, name: 'a', n: 0, list: [id] }));
  const table = await db.createTable('t', first);
  number = 4;
  for (let step = 0; step < 10; step++) await change(table, random, next, isKeyed);
  const newest = await table.version();
  const names = ['id', 'name', 'n', 'list'];
  for (let pair = 0; pair < 6; pair++) {
    const [from, to] = [1, 1].map((least) => least + Math.floor(random() * newest)) as [
      number,
      number,
    ];
    const [before, after] = [await rowsAt(table, from), await rowsAt(table, to)];
    const diff = await table.diff(from, to, { on: 'id' });
    const expected = naive(before, after, names, ['id']);
    const counts = countsOf(diff);
    if (hasTwins(before) || hasTwins(after)) expected.columns = counts.columns;
    expect([from, to, counts]).toEqual([from, to, expected]);
    expect(diff.rows.unchanged).toBe(after.length - diff.rows.added - diff.rows.changed);
    const whole = await table.diff(from, to, { on: [] });
    expect(countsOf(whole)).toEqual(naive(before, after, names, names));
    const cheap = await table.diff(from, to);
    expect(cheap.rows.by).toBe('place');
    expect(cheap.rows.unchanged + cheap.rows.changed + cheap.rows.added).toBe(after.length);
    expect(cheap.rows.unchanged + cheap.rows.changed + cheap.rows.removed).toBe(before.length);
    expect(cheap.rows.unchanged).toBeLessThanOrEqual(diff.rows.unchanged);
  }
  await db.close();
});

test('examples show the rows', async () => {
  const db = await connect('/c', { fs: memoryFs() });
  const table = await db.createTable(
    't',
    [1, 2, 3].map((id) => ({ id, name: `n${id}` })),
  );
  await table.delete('id = 1');
  await table.update({ where: 'id = 2', values: { name: 'new' } });
  await table.add([
    { id: 4, name: 'n4' },
    { id: 5, name: 'n5' },
  ]);
  await (await table.tags()).create('now', 4);
  const diff = await table.diff(1, 'now', { on: 'id', limit: 1 });
  expect(diff.rows).toEqual({
    by: 'key',
    added: 2,
    removed: 1,
    changed: 1,
    unchanged: 1,
    changedColumns: [{ name: 'name', rows: 1 }],
    notCompared: [],
    examples: {
      added: [{ id: 4, name: 'n4' }],
      removed: [{ id: 1, name: 'n1' }],
      changed: [
        { before: { id: 2, name: 'n2' }, after: { id: 2, name: 'new' }, columns: ['name'] },
      ],
    },
  });
  expect(diff).toMatchObject({
    from: { version: 1, rowCount: 3 },
    to: { version: 4, rowCount: 4 },
  });
  await db.close();
});

test('columns are told by what became of them', async () => {
  const db = await connect('/c', { fs: memoryFs() });
  const table = await db.createTable('t', [{ id: 1, a: 'x', gone: 1, wide: 1, s: { p: 1 } }]);
  await table.alterColumns([{ path: 'a', rename: 'b' }]);
  await table.dropColumns(['gone']);
  await table.addColumns([{ name: 'gone', valueSql: 'id' }]);
  await table.alterColumns([{ path: 's.p', rename: 'q' }]);
  await table.updateFieldMetadata([{ path: 'wide', metadata: { unit: 'm' } }]);
  await table.updateSchemaMetadata({ note: 'n' });
  const diff = await table.diff(1, undefined, { on: 'id' });
  const column = (name: string, dataType = 'float64') => ({ name, dataType, nullable: true });
  expect(diff.schema).toEqual({
    added: [column('gone')],
    dropped: [column('gone')],
    changed: [
      { from: column('a', 'utf8'), to: column('b', 'utf8'), metadataChanged: false },
      { from: column('wide'), to: column('wide'), metadataChanged: true },
      { from: column('s.p'), to: column('s.q'), metadataChanged: false },
    ],
  });
  expect(diff.metadata).toEqual({ added: { note: 'n' }, removed: {}, changed: {} });
  expect(diff.rows).toMatchObject({ added: 0, removed: 0, changed: 0, unchanged: 1 });
  const back = await table.diff(await table.version(), 1, { on: ['id', 'a'] });
  expect(back.schema.changed[0]).toMatchObject({ from: { name: 'b' }, to: { name: 'a' } });
  await expect(table.diff(1, undefined, { on: 'a' })).rejects.toMatchObject({
    code: 'InvalidInput',
  });
  await expect(table.diff(1, undefined, { on: 'gone' })).rejects.toThrow('is another column');
  await expect(table.diff(1, undefined, { on: 'idd' })).rejects.toMatchObject({
    code: 'TableColumnNotFound',
    message: expect.stringContaining('Did you mean "id"?'),
  });
  await db.close();
});

test('values of a wider type are compared in both directions', async () => {
  const db = await connect('/c', { fs: memoryFs() });
  const schema = { id: 'int32', n: 'int32' };
  const table = await db.createTable(
    't',
    [
      { id: 1, n: 1 },
      { id: 2, n: 2 },
    ],
    {
      schema: {
        fields: Object.entries(schema).map(([name, type]) => ({ name, type, nullable: true })),
      },
    } as never,
  );
  await table.alterColumns([{ path: 'n', dataType: 'int64' }]);
  await table.update({ where: 'id = 2', values: { n: 3 } });
  for (const [from, to] of [
    [1, 3],
    [3, 1],
  ] as const) {
    const { rows } = await table.diff(from, to, { on: 'id' });
    expect(rows).toMatchObject({ changed: 1, unchanged: 1, notCompared: [] });
  }
  await db.close();
});

test('branches that went apart have columns of their own under one id', async () => {
  const db = await connect('/c', { fs: memoryFs() });
  const table = await db.createTable('t', [{ id: 1 }, { id: 2 }]);
  const branch = await (await table.branches()).create('b');
  await table.addColumns([{ name: 'of_main', valueSql: 'id' }]);
  await branch.addColumns([{ name: 'of_branch', valueSql: 'id' }]);
  await branch.alterColumns([{ path: 'id', rename: 'number' }]);
  await branch.delete('number = 2');
  const diff = await table.diff({ branch: 'b' }, undefined, { on: 'id' });
  expect(diff).toMatchObject({
    from: { branch: 'b', version: 4 },
    to: { branch: 'main', version: 2 },
    schema: {
      added: [{ name: 'of_main' }],
      dropped: [{ name: 'of_branch' }],
      changed: [{ from: { name: 'number' }, to: { name: 'id' } }],
    },
    rows: { added: 1, removed: 0, changed: 0, unchanged: 1 },
  });
  await db.close();
});

test('of a fragment that both have, rows that only one of them has deleted', async () => {
  const db = await connect('/c', { fs: memoryFs() });
  const rows = Array.from({ length: 20 }, (_, id) => ({ id }));
  const table = await db.createTable('t', rows);
  await table.delete('id = 1');
  await table.delete('id = 2');
  const on = { on: 'id' };
  expect(await table.diff(2, 3, on)).toMatchObject({
    fragments: { changed: 1 },
    rows: { added: 0, removed: 1, changed: 0, examples: { removed: [{ id: 2 }] } },
  });
  expect((await table.diff(3, 2, on)).rows).toMatchObject({ added: 1, removed: 0 });
  expect((await table.diff(3, 1, on)).rows).toMatchObject({ added: 2, removed: 0 });
  await table.delete('id IN (0, 19)');
  const ends = await table.diff(3, 4, on);
  expect(ends.rows.examples?.removed).toEqual([{ id: 0 }, { id: 19 }]);
  await db.close();
});

test('columns that were written anew beside a fragment are compared', async () => {
  const fs = memoryFs();
  const catalog = await openDirectoryNamespace({ root: '/c', fs, limits: { overlayBytes: 0 } });
  const db = new Connection(catalog);
  const rows = Array.from({ length: 5_000 }, (_, id) => ({ id, n: 0, text: `a text ${id}` }));
  const table = await db.createTable('t', rows);
  await table.update({ where: 'id % 2 = 0', values: { n: 1 } });
  await table.delete('id = 4 OR id = 5');
  expect(await table.diff(1, 3, { on: 'id', limit: 0 })).toMatchObject({
    fragments: { kept: 0, changed: 1, added: 0, removed: 0 },
    rows: { added: 0, removed: 2, changed: 2_499, unchanged: 2_499 },
  });
  expect((await table.diff(1, 3)).rows).toMatchObject({ by: 'place', changed: 4_998, removed: 2 });
  await db.close();
});

test('what both versions share is not read', async () => {
  const fs = memoryFs();
  const db = await connect('/c', { fs });
  const table = await db.createTable('t', [{ id: 1 }]);
  const shared = fs.readdirSync('/c/data/t.table/data') as string[];
  await table.add([{ id: 2 }]);
  await db.close();
  for (const file of shared) fs.writeFileSync(`/c/data/t.table/data/${file}`, 'damaged');
  const again = await connect('/c', { fs });
  const diff = await (await again.openTable('t')).diff(1, 2, { on: 'id' });
  expect(diff.rows).toMatchObject({ added: 1, removed: 0, changed: 0, unchanged: 1 });
  expect(diff.fragments).toEqual({ kept: 1, changed: 0, added: 1, removed: 0 });
  await again.close();
});

test('beyond the memory of a request it is refused', async () => {
  const db = await connect('/c', { fs: memoryFs(), requestMemory: 4_096 });
  const table = await db.createTable(
    't',
    Array.from({ length: 500 }, (_, id) => ({ id })),
  );
  await table.add([{ id: -1 }], { mode: 'overwrite' });
  await expect(table.diff(1, 2, { on: 'id' })).rejects.toThrow('requestMemory');
  await expect(table.diff(1, 2)).resolves.toMatchObject({ rows: { added: 1, removed: 500 } });
  await db.close();
});
