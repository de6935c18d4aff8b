/** `dirspace export`: rows as files of other programs, versions as Lance datasets; and exports that are killed. */
import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  existsSync,
  readdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { gunzipSync } from 'node:zlib';
import { beforeAll, describe, expect, test } from 'vitest';
import type { RecordBatch } from '../../src/arrow/apache.ts';
import { EXIT } from '../../src/cli/terminal/exit-codes.ts';
import { openLanceDataset } from '../../src/datasets/index.ts';
import { connect } from '../../src/sdk/connect.ts';
import { exactValues } from '../helpers/arrow-samples.ts';
import { callCli, spawnCli } from '../helpers/cli.ts';
import { compiledModule } from '../helpers/compiled.ts';
import { temporaryFolder } from '../helpers/temporary.ts';

beforeAll(() => void compiledModule('cli/main.js'), 300_000);

async function fresh() {
  const folder = temporaryFolder();
  const root = join(folder, 'catalog');
  const db = await connect(root, { durability: 'relaxed' });
  const at = (name: string): string => join(folder, name);
  const run = (...args: string[]) => callCli([...args, '--root', root]);
  return { folder, root, db, at, run };
}

async function valuesOf(home: string): Promise<unknown[][]> {
  const batches: RecordBatch[] = [];
  for await (const batch of await openLanceDataset(home)) batches.push(batch);
  return exactValues(batches);
}

test('the newest version, another one, a tag and a branch', async () => {
  const { db, at, run, folder } = await fresh();
  const table = await db.createTable('t', [
    { n: 1, text: 'a' },
    { n: 2, text: 'b' },
  ]);
  await table.add([{ n: 3, text: null }]);
  await table.delete('n = 2');
  await (await table.tags()).create('before', 2);
  const branch = await (await table.branches()).create('side');
  await branch.add([{ n: 9, text: 'side' }]);
  const newest = await run('export', 't', '--lance', at('newest.lance'));
  expect(newest).toMatchObject({ code: EXIT.ok, out: '' });
  expect(newest.error).toBe(
    `Exported version 3 of t to ${at('newest.lance')}: 2 rows in 1 file.\n`,
  );
  const n = async (name: string): Promise<unknown> => (await valuesOf(at(name)))[0];
  const rows = async (name: string): Promise<number> => ((await n(name)) as unknown[]).length;
  expect(await rows('newest.lance')).toBe(2);
  const old = await run('export', 't', '--lance', at('old.lance'), '--at', '1', '--json');
  expect(JSON.parse(old.out)).toMatchObject({ id: ['t'], version: 1, rows: 2, files: 1 });
  await run('export', 't', '--lance', at('tag.lance'), '--at', 'before');
  expect(await rows('tag.lance')).toBe(3);
  await run('export', 't', '--lance', at('side.lance'), '--branch', 'side');
  expect(await rows('side.lance')).toBe(3);
  expect(readdirSync(folder).sort()).toEqual([
    'catalog',
    'newest.lance',
    'old.lance',
    'side.lance',
    'tag.lance',
  ]);
  // What was exported is imported again.
  expect((await run('import', at('tag.lance'), 'back')).code).toBe(EXIT.ok);
  const query = async (name: string): Promise<unknown> =>
    JSON.parse(
      (await run('query', name, '--json', '--sort', 'n', ...(name === 't' ? ['--at', '2'] : [])))
        .out,
    );
  expect(await query('back')).toEqual(await query('t'));
});

test('what cannot be exported says so and leaves nothing', async () => {
  const { db, at, run, folder } = await fresh();
  await db.createTable('t', [{ n: 1 }]);
  expect(await run('export', 't')).toMatchObject({ code: EXIT.usage });
  expect((await run('export', 't')).error).toContain('--lance user.lance');
  expect((await run('export', 't', '--lance', at('catalog'))).error).toContain('is there already');
  const missing = await run('export', 'none', '--lance', at('x.lance'));
  expect(missing.error).toContain('none');
  const late = await run('export', 't', '--lance', at('x.lance'), '--at', '7');
  expect(late.code).not.toBe(EXIT.ok);
  expect(readdirSync(folder)).toEqual(['catalog']);
});

test('a folder in a catalog is refused, whatever it is called, and the catalog stays as it was', async () => {
  const { db, at, root, run, folder } = await fresh();
  await db.createNamespace(['p']);
  await db.createTable('a', [{ n: 1 }], ['p']);
  symlinkSync(join(root, 'p'), at('link'));
  symlinkSync(root, at('alias'));
  const other = join(folder, 'other');
  await (await connect(other)).createNamespace(['q']);
  const places = [
    join(root, 'x.lance'),
    join(root, 'p', 'x.lance'),
    join(root, 'p', 'a.table', 'data', 'x.lance'),
    join(root, '.dirspace', 'trash', 'x.lance'),
    relative(process.cwd(), join(root, 'p', 'x.lance')),
    join(at('link'), 'x.lance'),
    join(at('alias'), 'p', 'x.lance'),
    join(other, 'q', 'x.lance'),
  ];
  const before = readdirSync(folder, { recursive: true });
  for (const place of places) {
    const { code, error } = await run('export', 'p/a', '--lance', place);
    expect([place, code]).toEqual([place, EXIT.usage]);
    expect(error).toContain('Name a folder outside of it');
  }
  expect(readdirSync(folder, { recursive: true })).toEqual(before);
  expect((await run('verify')).code).toBe(EXIT.ok);
  expect((await run('export', 'p/a', '--lance', at('x.lance'))).code).toBe(EXIT.ok);
});

describe('an export that is killed', () => {
  const ROWS = 60_000;
  const files = (folder: string): string[] => (existsSync(folder) ? readdirSync(folder) : []);
  const partial = (folder: string): string | undefined =>
    files(folder).find((name) => name.includes('.partial-'));

  test.each<[string, (folder: string) => boolean]>([
    ['when it has a folder', (folder) => partial(folder) !== undefined],
    [
      'when it has written rows',
      (folder) => {
        const data = join(folder, partial(folder) ?? '', 'data');
        return files(data).some((name) => {
          const found = statSync(join(data, name), { throwIfNoEntry: false });
          return found !== undefined && found.size > 100_000;
        });
      },
    ],
    [
      'when it writes its manifest',
      (folder) => files(join(folder, partial(folder) ?? '', '_versions')).length > 0,
    ],
    ['when it is done', (folder) => files(folder).includes('x.lance')],
  ])('%s leaves no dataset, or a whole one', async (_, isTime) => {
    const { db, root, run } = await fresh();
    const rows = Array.from({ length: ROWS }, (_, n) => ({ n, text: `row number ${n}` }));
    await db.createTable('t', rows);
    const folder = temporaryFolder();
    const target = join(folder, 'x.lance');
    const main = fileURLToPath(compiledModule('cli/main.js'));
    const words = [main, 'export', 't', '--lance', target, '--root', root];
    const child = spawn(process.execPath, words, { stdio: 'ignore' });
    const closed = once(child, 'close');
    let isOver = false;
    void closed.then(() => {
      isOver = true;
    });
    while (!isOver && !isTime(folder)) await new Promise((resolve) => setImmediate(resolve));
    child.kill('SIGKILL');
    await closed;
    const left = files(folder).filter((name) => !name.includes('.partial-'));
    if (left.length > 0) {
      expect(left).toEqual(['x.lance']);
      expect((await valuesOf(target))[0]).toHaveLength(ROWS);
    } else {
      // The next one is not in the way of what is left.
      expect((await run('export', 't', '--lance', target)).code).toBe(EXIT.ok);
      expect((await openLanceDataset(target)).rows).toBe(ROWS);
      expect(files(folder)).toEqual(['x.lance']);
    }
  });
});

describe('files of other programs', () => {
  async function people() {
    const made = await fresh();
    await made.db.createTable('t', [
      { name: 'Ada', age: 36, note: null },
      { name: 'Grace, M.', age: 85, note: '' },
      { name: 'Kay', age: 20, note: 'x' },
    ]);
    return made;
  }

  test('by the ending, with what query takes', async () => {
    const { at, run, db } = await people();
    const told = await run('export', 't', '-o', at('t.csv'));
    expect(told).toMatchObject({ code: EXIT.ok, out: '' });
    expect(told.error).toBe(`Exported version 1 of t to ${at('t.csv')}: 3 rows, 49 bytes.\n`);
    expect(readFileSync(at('t.csv'), 'utf8')).toBe(
      'name,age,note\nAda,36,\n"Grace, M.",85,""\nKay,20,x\n',
    );
    const query = ['t', 'age > 20', '-s', 'age,name', '--sort', 'age:desc', '-n', '1'];
    const json = await run('export', ...query, '-o', at('t.ndjson'), '--json');
    expect(JSON.parse(json.out)).toEqual({
      ...{ id: ['t'], version: 1, file: at('t.ndjson'), format: 'ndjson', rows: 1, bytes: 30 },
    });
    expect(readFileSync(at('t.ndjson'), 'utf8')).toBe('{"age":85,"name":"Grace, M."}\n');
    await (await db.openTable('t')).delete('age < 80');
    await run('export', 't', '--at', '1', '-o', at('old.arrow'));
    await run('export', 't', '-o', at('new.tsv.gz'), '--header', 'no', '--null', '-');
    expect(gunzipSync(readFileSync(at('new.tsv.gz'))).toString()).toBe('Grace, M.\t85\t""\n');
    expect((await run('import', at('old.arrow'), 'old')).error).toContain('3 rows');
    await run('export', 'old', '-o', at('old.parquet'), '--compression', 'zstd');
    expect(readFileSync(at('old.parquet')).subarray(0, 4).toString()).toBe('PAR1');
    expect((await run('import', at('old.parquet'), 'again')).error).toContain('3 rows');
    expect((await run('query', 'again', '--json')).out).toBe(
      (await run('query', 'old', '--json')).out,
    );
  });

  test('to standard output', async () => {
    const { run } = await people();
    const csv = ['export', 't', '--format', 'csv', '-s', 'age', '--delimiter', 'tab'];
    for (const output of [[], ['-o', '-'], ['--output', '-']]) {
      expect(await run(...csv, ...output)).toEqual({
        ...{ code: EXIT.ok, out: 'age\n36\n85\n20\n', error: '' },
      });
    }
  });

  test('bytes that are no text come as they are, and a reader may leave', async () => {
    const { root, at } = await people();
    const main = fileURLToPath(compiledModule('cli/main.js'));
    const words = [main, 'export', 't', '--format', 'arrow', '--root', root];
    writeFileSync(at('t.arrow'), execFileSync(process.execPath, words));
    const db = await connect(root);
    expect((await db.importFile(at('t.arrow'), 'back')).rows).toBe(3);
    const left = await spawnCli(['export', 't', '--format', 'csv', '--root', root], {
      unread: true,
    });
    expect(left).toMatchObject({ code: EXIT.ok, error: '' });
  });

  test('what cannot be written says what to do', async () => {
    const { at, run, folder } = await people();
    const errors: [args: string[], message: string][] = [
      [[], 'Give --format, one of csv'],
      [['out.parquet'], '"out.parquet" stands where a condition does. Name the file with -o'],
      [['-o', at('t.txt')], 'tells none'],
      [['--format', 'xlsx'], 'give one of csv'],
      [['--format', 'json', '--header', 'no'], 'it is of CSV, not of json'],
      [['-o', at('t.csv'), '--compression', 'lz4'], 'give one of none, gzip, zstd'],
      [['-o', at('t.csv'), '--compression', 'snappy'], 'snappy is of Parquet, not of csv'],
      [['-o', at('t.parquet.gz')], 'The pages of a Parquet file are compressed'],
      [['-o', at('t.csv'), '--delimiter', 'ab'], 'one ASCII character'],
      [['-o', at('none/t.csv')], 'there is no folder'],
      [['-o', at('catalog/data/t.csv')], 'Name a file outside of it'],
      [['-o', at('catalog/.t.csv')], 'Name a file outside of it'],
      [['age >', '-o', at('t.csv')], 'age >'],
      [['-s', 'nme', '-o', at('t.csv')], 'nme'],
      [['--lance', at('t.lance'), '-o', at('t.csv')], 'holds a whole version'],
      [['--lance', at('t.lance'), '-s', 'age'], 'holds a whole version'],
      [['--lance', ''], 'Name the folder'],
    ];
    for (const [args, message] of errors) {
      const { code, error } = await run('export', 't', ...args);
      expect([args, code]).toEqual([args, EXIT.usage]);
      expect(error).toContain(message);
    }
    expect((await run('export', '-o', 'x.csv', '--where', 'age > 1', 't')).error).toContain(
      'The predicate is the second argument',
    );
    expect((await run('export', 'age > 1', 't', '-o', at('t.csv'))).code).toBe(EXIT.usage);
    expect(readdirSync(folder)).toEqual(['catalog']);
  });

  test('an export that is killed leaves no half file', async () => {
    const { db, root, run } = await fresh();
    const text = 'x'.repeat(200);
    await db.createTable(
      't',
      Array.from({ length: 100_000 }, (_, n) => ({ n, text })),
    );
    const folder = temporaryFolder();
    const target = join(folder, 't.csv');
    writeFileSync(target, 'old');
    const main = fileURLToPath(compiledModule('cli/main.js'));
    const child = spawn(process.execPath, [main, 'export', 't', '-o', target, '--root', root], {
      stdio: 'ignore',
    });
    const closed = once(child, 'close');
    const isHalf = (): boolean =>
      readdirSync(folder).some(
        (name) => name.includes('.partial-') && statSync(join(folder, name)).size > 1_000_000,
      );
    while (child.exitCode === null && !isHalf()) await new Promise((done) => setImmediate(done));
    child.kill('SIGKILL');
    await closed;
    expect(readdirSync(folder)).toHaveLength(2);
    expect(readFileSync(target, 'utf8')).toBe('old');
    expect((await run('export', 't', '-o', target)).code).toBe(EXIT.ok);
    expect(readdirSync(folder)).toEqual(['t.csv']);
    expect(readFileSync(target, 'utf8').split('\n')).toHaveLength(100_002);
  });
});
