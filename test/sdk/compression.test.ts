/** The compression of a table: what it does to fragments and manifests, and how it is changed. */
import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test, vi } from 'vitest';
import { type Connection, connect, type Table } from '../../src/index.ts';
import { ByteCache } from '../../src/table/work/cache.ts';
import { seeded } from '../helpers/seeded.ts';
import { temporaryFolder } from '../helpers/temporary.ts';

const WORDS = ['request', 'answered', 'refused', '/v1/orders', '/v1/users', 'eu-west'];

function rowsFrom(first: number, count: number): { id: number; text: string; noise: number }[] {
  const random = seeded(first + 1);
  const word = (): string => WORDS[Math.floor(random() * WORDS.length)] as string;
  return Array.from({ length: count }, (_, row) => ({
    id: first + row,
    text: `${word()} ${word()} ${word()} ${word()} ${Math.floor(random() * 100)}`,
    noise: random() * random(),
  }));
}

const ROWS = rowsFrom(0, 6_000);

async function made(options: object): Promise<{ db: Connection; table: Table; folder: string }> {
  const root = temporaryFolder();
  const db = await connect(root);
  const table = await db.createTable('logs', ROWS, [], options);
  return { db, table, folder: join(root, 'data', 'logs.table') };
}

interface Listed {
  readonly features: string[];
  readonly fragments: {
    file: string;
    bytes: number;
    footer_bytes: number;
    compressed?: boolean;
  }[];
}

function newest(folder: string): Listed {
  const versions = readdirSync(folder).find((name) => name.startsWith('versions-')) as string;
  const names = readdirSync(join(folder, versions)).filter((name) => /^\d+\.json$/.test(name));
  const text = readFileSync(join(folder, versions, names.sort().at(-1) as string), 'utf8');
  return JSON.parse(text) as Listed;
}

const sizes = (folder: string): number[] =>
  newest(folder).fragments.map(({ file }) => statSync(join(folder, 'data', `${file}.arrow`)).size);

const sum = (numbers: number[]): number => numbers.reduce((total, each) => total + each, 0);

async function same(table: Table, rows: readonly object[]): Promise<void> {
  const read = await table.query().select(['id', 'text', 'noise']).toArray();
  expect(read).toHaveLength(rows.length);
  expect(read).toEqual(rows);
}

test('zstd makes a table smaller, none and auto of numbers do not', async () => {
  const none = await made({ compression: 'none' });
  const zstd = await made({ compression: 'zstd' });
  const auto = await made({});
  expect(sum(sizes(zstd.folder))).toBeLessThan(sum(sizes(none.folder)) * 0.6);
  expect(sum(sizes(auto.folder))).toBeLessThan(sum(sizes(none.folder)));
  expect(sum(sizes(auto.folder))).toBeGreaterThan(sum(sizes(zstd.folder)));
  expect(newest(none.folder).features).not.toContain('zstd');
  expect(newest(zstd.folder).features).toContain('zstd');
  expect(newest(auto.folder).features).toContain('zstd');
  for (const { table, db } of [none, zstd, auto]) {
    await same(table, ROWS);
    db.close();
  }
});

test('it is remembered by whoever writes the table later, and shown among the properties', async () => {
  const { db, folder } = await made({ compression: 'zstd' });
  db.close();
  const again = await connect(join(folder, '../..'));
  const table = await again.openTable('logs');
  expect((await again.describeTable('logs')).properties).toMatchObject({ compression: 'zstd' });
  const more = rowsFrom(10_000, 3_000);
  await table.add(more);
  await table.update({
    where: 'id < 3000',
    values: { text: 'the same text for all of these rows' },
  });
  expect(newest(folder).fragments.map(({ compressed }) => compressed)).toEqual([true, true, true]);
  expect(await table.countRows("text = 'the same text for all of these rows'")).toBe(3_000);
  again.close();
});

test('optimize changes it and writes what is there anew, once', async () => {
  const { db, table, folder } = await made({ compression: 'none' });
  const before = sum(sizes(folder));
  const dry = await table.optimize({ compression: 'zstd', dryRun: true });
  expect(dry.compaction.fragmentsRemoved).toBe(1);
  expect((await db.describeTable('logs')).properties).toMatchObject({ compression: 'none' });
  await table.optimize({ compression: 'zstd' });
  expect((await db.describeTable('logs')).properties).toMatchObject({ compression: 'zstd' });
  expect(sum(sizes(folder))).toBeLessThan(before * 0.6);
  expect(newest(folder).features).toContain('zstd');
  await same(table, ROWS);
  const version = await table.version();
  const again = await table.optimize({ compression: 'zstd' });
  expect(again.compaction.fragmentsRemoved).toBe(0);
  expect(await table.version()).toBe(version);
  // Older releases can read the table again.
  await table.optimize({ compression: 'none' });
  expect(newest(folder).features).not.toContain('zstd');
  expect(sum(sizes(folder))).toBe(before);
  await same(table, ROWS);
  db.close();
});

test('without compaction it counts for new fragments alone, and for the others when they are joined', async () => {
  const { db, table, folder } = await made({ compression: 'none' });
  await table.optimize({ compression: 'zstd', compaction: false });
  await table.add(rowsFrom(10_000, 3_000));
  expect(newest(folder).fragments.map(({ compressed }) => compressed)).toEqual([undefined, true]);
  await table.optimize();
  expect(newest(folder).fragments.map(({ compressed }) => compressed)).toEqual([true]);
  db.close();
});

test('auto after zstd writes anew what it would not have compressed', async () => {
  const { db, table, folder } = await made({ compression: 'zstd' });
  const auto = await made({});
  await table.optimize({ compression: 'auto' });
  expect(sizes(folder)).toEqual(sizes(auto.folder));
  await same(table, ROWS);
  db.close();
  auto.db.close();
});

test('other properties stay as they are when it is changed', async () => {
  const db = await connect(temporaryFolder());
  const table = await db.createTable('logs', ROWS.slice(0, 9), [], {
    compression: 'none',
    properties: { owner: 'search' },
  });
  await table.optimize({ compression: 'zstd' });
  expect((await db.describeTable('logs')).properties).toEqual({
    compression: 'zstd',
    owner: 'search',
  });
  db.close();
});

test('columns and small fragments weigh in caches what they take decoded', async () => {
  const weights = new Map<string, number>();
  const set = ByteCache.prototype.set;
  const noted = vi.spyOn(ByteCache.prototype, 'set').mockImplementation(function (
    this: ByteCache,
    key,
    value,
    bytes,
  ) {
    weights.set(key, bytes);
    set.call(this, key, value, bytes);
  });
  try {
    const { db, table, folder } = await made({ compression: 'zstd' });
    const few = await db.createTable('few', ROWS.slice(0, 200), [], { compression: 'zstd' });
    // A column is kept from its second read on.
    for (const each of [table, few]) {
      for (let read = 0; read < 3; read += 1) await each.query().select(['text']).toArray();
    }
    const fileOf = (of: string): string => newest(of).fragments[0]?.file as string;
    const textBytes = (rows: typeof ROWS): number =>
      sum(rows.map(({ text }) => text.length)) + (rows.length + 1) * 4;
    const column = weights.get(`${fileOf(folder)} 0 1`) ?? 0;
    expect(column).toBeGreaterThan(textBytes(ROWS));
    expect(column).toBeLessThan(textBytes(ROWS) + 1_000);
    const [small] = newest(join(folder, '../few.table')).fragments;
    const stored = (small?.bytes ?? 0) + 4 * (small?.footer_bytes ?? 0) + 3 * 256;
    const decoded = (weights.get(small?.file ?? '') ?? 0) - stored;
    expect(decoded).toBeGreaterThan(textBytes(ROWS.slice(0, 200)));
    db.close();
  } finally {
    noted.mockRestore();
  }
});

test('rows that do not compress are not written anew again and again', async () => {
  const root = temporaryFolder();
  const db = await connect(root);
  const random = seeded(4);
  const noise = Array.from({ length: 2_000 }, () => ({ x: random() * random() }));
  const table = await db.createTable('noise', noise, [], { compression: 'zstd' });
  expect((await table.optimize()).compaction.fragmentsRemoved).toBe(1);
  expect((await table.optimize()).compaction.fragmentsRemoved).toBe(0);
  expect(newest(join(root, 'data', 'noise.table')).features).not.toContain('zstd');
  db.close();
});

test('an overwrite with properties says it anew, one without leaves it', async () => {
  const { db, folder } = await made({ compression: 'zstd' });
  await db.createTable('logs', ROWS, [], { mode: 'overwrite' });
  expect(newest(folder).features).toContain('zstd');
  await db.createTable('logs', ROWS, [], { mode: 'overwrite', compression: 'none' });
  expect(newest(folder).features).not.toContain('zstd');
  const table = await db.openTable('logs');
  expect((await db.describeTable('logs')).properties).toEqual({ compression: 'none' });
  await table.add(rowsFrom(10_000, 3_000));
  expect(newest(folder).features).not.toContain('zstd');
  db.close();
});

test('a declared table keeps what it was declared with', async () => {
  const root = temporaryFolder();
  const db = await connect(root);
  await db.declareTable('logs', [], { properties: { compression: 'zstd' } });
  await db.createTable('logs', ROWS);
  expect(newest(join(root, 'data', 'logs.table')).features).toContain('zstd');
  db.close();
});

test('another word is refused, and two that differ', async () => {
  const db = await connect(temporaryFolder());
  const refused = { code: 'InvalidInput' };
  const create = (options: object) => db.createTable('t', [{ a: 1 }], [], options);
  await expect(create({ compression: 'lz4' })).rejects.toMatchObject(refused);
  await expect(create({ properties: { compression: 'lz4' } })).rejects.toMatchObject(refused);
  await expect(
    create({ compression: 'zstd', properties: { compression: 'none' } }),
  ).rejects.toMatchObject(refused);
  await expect(
    db.declareTable('d', [], { properties: { compression: 'gzip' } }),
  ).rejects.toMatchObject(refused);
  const table = await create({});
  await expect(table.optimize({ compression: 'best' as 'zstd' })).rejects.toMatchObject(refused);
  db.close();
});
