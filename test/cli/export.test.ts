/** `dirspace export`: versions of tables as Lance datasets; and exports that are killed. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readdirSync, statSync, symlinkSync } from 'node:fs';
import { join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { beforeAll, describe, expect, test } from 'vitest';
import type { RecordBatch } from '../../src/arrow/apache.ts';
import { EXIT } from '../../src/cli/terminal/exit-codes.ts';
import { openLanceDataset } from '../../src/datasets/index.ts';
import { connect } from '../../src/sdk/connect.ts';
import { exactValues } from '../helpers/arrow-samples.ts';
import { callCli } from '../helpers/cli.ts';
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
    expect([place, code]).toEqual([place, EXIT.failure]);
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
