/** The commands that look after a catalog, and the one that asks it. */
import { readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { EXIT } from '../src/cli/exit-codes.ts';
import { connect } from '../src/sdk/connect.ts';
import { callCli } from './helpers/cli.ts';
import { temporaryFolder } from './helpers/temporary.ts';

async function catalog(): Promise<string> {
  const root = temporaryFolder();
  const db = await connect(root, { durability: 'relaxed' });
  const table = await db.createTable('t', [{ n: 0, name: 'a' }]);
  for (let n = 1; n < 5; n++) await table.add([{ n, name: 'b' }]);
  await db.close();
  return root;
}

test('query shows the rows that fit, and the columns asked for', async () => {
  const root = await catalog();
  const run = (...args: string[]) => callCli(['--root', root, 'query', 't', ...args]);
  expect((await run('n > 2', '-s', 'n')).out).toBe('n\n3\n4\n');
  const { out } = await run("name = 'b'", '-n', '1', '--json');
  expect(JSON.parse(out)).toEqual([{ n: 1, name: 'b' }]);
  expect((await run('n >')).code).not.toBe(EXIT.ok);
});

test('optimize joins fragments, and says what it would do', async () => {
  const root = await catalog();
  const run = (...args: string[]) => callCli(['--root', root, 'optimize', 't', ...args]);
  const dry = await run('--dry-run', '--json');
  expect(JSON.parse(dry.out).compaction).toMatchObject({ fragmentsRemoved: 5, fragmentsAdded: 1 });
  expect(dry.error).toContain('Nothing was changed');
  expect((await run('--older-than', '0')).out).toContain('5 became 1');
  expect((await run('--target-rows', '0')).code).toBe(EXIT.usage);
  expect(JSON.parse((await run('--json')).out).compaction.fragmentsRemoved).toBe(0);
});

test('verify tells damage by its exit code, repair takes it out of the way', async () => {
  const root = await catalog();
  const run = (...args: string[]) => callCli(['--root', root, ...args]);
  expect(await run('verify')).toMatchObject({ code: EXIT.ok, error: '' });
  expect((await run('repair')).error).toContain('nothing to repair');
  const table = join(root, 'data', 't.table');
  const versions = readdirSync(table).find((name) => name.startsWith('versions-')) as string;
  const newest = join(table, versions, '00000000000000000005.json');
  writeFileSync(newest, '{');
  const found = await run('verify');
  expect(found.code).not.toBe(EXIT.ok);
  expect(found.error).toContain('00000000000000000005.json');
  expect((await run('repair')).error).toContain('--apply');
  expect((await run('verify')).code).not.toBe(EXIT.ok);
  const report = JSON.parse((await run('repair', '--apply', '--json')).out);
  expect(report).toMatchObject({ applied: true, left: [] });
  expect(await run('verify')).toMatchObject({ code: EXIT.ok });
  expect((await run('query', 't', '-s', 'n')).out).toBe('n\n0\n1\n2\n3\n');
});

test('repair says what it cannot mend', async () => {
  const root = await catalog();
  writeFileSync(join(root, 'data', 't.table', 'notes.txt'), 'mine');
  const { out, error } = await callCli(['--root', root, 'repair']);
  expect(out).toContain('notes.txt');
  expect(error).toContain('nothing to quarantine; repair cannot mend 1');
});
