/** The commands that look after a catalog, and the one that asks it. */
import { existsSync, readdirSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { EXIT } from '../../src/cli/terminal/exit-codes.ts';
import { connect, connectNamespace } from '../../src/sdk/connect.ts';
import { configOf, loadConfig } from '../../src/server/config.ts';
import { startServer } from '../../src/server/server.ts';
import { callCli } from '../helpers/cli.ts';
import { temporaryFolder } from '../helpers/temporary.ts';

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

test('optimize joins fragments and keeps every version, where it is asked to', async () => {
  const root = await catalog();
  const run = (...args: string[]) => callCli(['--root', root, 'optimize', 't', ...args]);
  const versions = async (): Promise<number> =>
    JSON.parse((await callCli(['--root', root, 'log', 't', '--json'])).out).length;
  const before = await versions();
  const dry = await run('--keep-versions', '--dry-run');
  expect(dry).toMatchObject({ code: 0, error: expect.stringContaining('Nothing was changed') });
  const kept = await run('--keep-versions');
  expect(kept).toMatchObject({ code: 0, error: '' });
  expect(kept.out).toMatch(/^fragments +5 became 1\n$/);
  expect(await versions()).toBe(before + 1);
  const both = await run('--keep-versions', '--older-than', '0');
  expect([both.code, both.error]).toEqual([EXIT.usage, expect.stringContaining('give one')]);
});

test('who may write and not remove history joins fragments on a server, and is told how', async () => {
  const root = await catalog();
  const apiKeys = [{ name: 'w', key: 'a-key-that-writes', grants: ['write:$'] as const }];
  await using server = await startServer({ root, auth: { apiKeys } });
  const env = { DIRSPACE_API_KEY: 'a-key-that-writes' };
  const run = (...args: string[]) =>
    callCli(['--uri', server.url, 'optimize', 't', '--json', ...args], { env });
  const refused = await run();
  expect(refused.code).toBe(EXIT.auth);
  expect(JSON.parse(refused.error).error).toMatchObject({
    code: 'PermissionDenied',
    message: expect.stringContaining('Nothing was changed. Give --keep-versions to join'),
  });
  const kept = await run('--keep-versions');
  expect(kept).toMatchObject({ code: 0, error: '' });
  expect(JSON.parse(kept.out).compaction).toMatchObject({ fragmentsRemoved: 5, fragmentsAdded: 1 });
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

test('files beside the folders of a catalog are no damage, and rows are exported there', async () => {
  const root = await catalog();
  const run = (...args: string[]) => callCli(['--root', root, ...args]);
  const file = join(root, 'rows.csv');
  expect(await run('export', 't', '-o', file)).toMatchObject({ code: EXIT.ok });
  expect(readdirSync(root).sort()).toEqual(['.dirspace', 'data', 'rows.csv']);
  const { code, out } = await run('verify');
  expect(code).toBe(EXIT.ok);
  expect(out).toMatch(/^leftovers +0\nfiles of others +1; they lie beside/m);
  // They are touched by nothing.
  await run('repair', '--apply');
  await run('optimize', 't');
  expect(existsSync(file)).toBe(true);
  for (const inside of ['data/rows.csv', '.rows']) {
    writeFileSync(join(root, inside), 'x');
    const found = await run('verify');
    expect(found.error).toContain(`${inside}: It is nothing that the engine makes.`);
    rmSync(join(root, inside));
  }
});

test('verify names what Lance does not find by path, and lance sync makes up for it', async () => {
  const root = temporaryFolder();
  const db = await connect(root, { durability: 'relaxed', lance: 'sync' });
  await (await db.createTable('t', [{ n: 0 }])).add([{ n: 1 }]);
  await db.close();
  const run = (...args: string[]) => callCli(['--root', root, ...args]);
  expect((await run('verify')).out).not.toContain('unsynced');
  const versions = join(root, 'data', 't.table', '_versions');
  const newest = readdirSync(versions).sort()[0] as string;
  rmSync(join(versions, newest));
  const { code, out } = await run('verify');
  expect(code).toBe(EXIT.ok);
  expect(out).toMatch(/^leftovers +0\nunsynced +1; `dirspace lance sync` makes up for it$/m);
  await run('lance', 'sync');
  expect((await run('verify')).out).not.toContain('unsynced');
});

test('repair says what it cannot mend', async () => {
  const root = await catalog();
  writeFileSync(join(root, 'data', 't.table', 'notes.txt'), 'mine');
  const { out, error } = await callCli(['--root', root, 'repair']);
  expect(out).toContain('notes.txt');
  expect(error).toContain('nothing to quarantine; repair cannot mend 1');
});

test('trash lists what was dropped, brings back the one that is named, and is emptied', async () => {
  const root = await catalog();
  const run = (...args: string[]) => callCli(['--root', root, ...args]);
  expect((await run('trash', 'ls')).error).toContain('nothing in the trash');
  await run('drop', 't');
  const db = await connect(root, { durability: 'relaxed' });
  await db.createTable('t', [{ n: 7 }]);
  await db.close();
  await run('drop', 't');
  const listed = JSON.parse((await run('trash', 'ls', '--json')).out);
  expect(listed).toMatchObject([
    { kind: 'table', path: ['t'] },
    { kind: 'table', path: ['t'] },
  ]);
  expect((await run('trash', 'ls')).out).toContain(listed[0].trashId);
  expect((await run('verify')).out).toContain('not read; --trash reads it');
  expect((await run('verify', '--trash')).out).toMatch(/trash +read/);
  for (const [flag, told] of [
    ['--dry-run', '--dry-run means nothing here: it is for empty'],
    ['--yes', '--yes means nothing here'],
    ['--detached', '--detached means nothing here: it is for ls and empty'],
  ] as const) {
    const { code, error } = await run('trash', 'restore', 't', '--entry', listed[1].trashId, flag);
    expect([code, error]).toEqual([EXIT.usage, expect.stringContaining(told)]);
  }
  expect((await run('trash', 'ls', '--dry-run')).code).toBe(EXIT.usage);
  expect((await run('trash', 'restore', 't', '--entry', listed[1].trashId)).code).toBe(EXIT.ok);
  expect((await run('head', 't', '-n', '1', '--json')).out).toContain('"name"');
  expect((await run('trash', 'restore', 't')).code).toBe(EXIT.alreadyExists);
  expect((await run('trash', 'restore', 'u')).code).toBe(EXIT.notFound);
  const older = await run('trash', 'empty', '--older-than', '1', '--json');
  expect(JSON.parse(older.out)).toEqual({ removed: 0, dryRun: false });
  expect((await run('trash', 'empty', '--dry-run')).error).toContain('one entry would be removed');
  expect((await run('trash', 'empty')).error).toContain('Removed one entry');
  expect(readdirSync(join(root, '.dirspace', 'trash'))).toEqual([]);
  for (const wrong of [
    ['trash', 'rm'],
    ['trash', 'restore'],
    ['trash', 'empty', 't'],
    ['trash', 'ls', '--entry', 'x'],
    ['trash', 'ls', '--older-than', '1'],
    ['trash'],
  ]) {
    expect((await run(...wrong)).code, wrong.join(' ')).toBe(EXIT.usage);
  }
});

test('the retention of the trash is an option and a property, and misspelt it is refused', async () => {
  const root = await catalog();
  const trash = join(root, '.dirspace', 'trash');
  for (const open of [
    () => connect(root, { trashRetention: 0 }),
    () => connectNamespace('dir', { root, trash_retention: '0' }),
  ]) {
    const db = await open();
    await db.createTable('u', [{ n: 1 }]);
    await db.dropTable('u');
    expect(readdirSync(trash)).toEqual([]);
    await expect(db.undropTable('u')).rejects.toMatchObject({ code: 'TableNotFound' });
    await db.close();
  }
  const db = await connect(root, { trashRetention: '1h' });
  await db.dropTable('t');
  const old = new Date(Date.now() - 7_200_000);
  for (const name of readdirSync(trash)) utimesSync(join(trash, name), old, old);
  await db.createTable('u', [{ n: 1 }]);
  await (await db.openTable('u')).optimize();
  expect(readdirSync(trash)).toEqual([]);
  await db.close();
  for (const open of [
    () => connect(root, { trashRetention: '7 days' }),
    () => connect(root, { trashRetention: true as never }),
    () => connectNamespace('dir', { root, trash_retention: 'week' }),
    () => startServer({ root, trashRetention: -1 }),
  ]) {
    await expect(open()).rejects.toMatchObject({ code: 'InvalidInput' });
  }
  const served = await loadConfig(undefined, { DIRSPACE_ROOT: root });
  expect(served.trashRetention).toBeUndefined();
  expect(configOf({ root, trashRetention: '30d' }, '.', {}).trashRetention).toBe(30 * 86_400_000);
});
