/** What a commit asks of the disk for Lance's sake alone. */
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { expect, test } from 'vitest';
import { Int32, Table, vectorFromArray } from '../../../src/arrow/apache.ts';
import type { LanceMode } from '../../../src/lance-mode.ts';
import { lanceVersionFile } from '../../../src/lance-paths.ts';
import { connect } from '../../../src/sdk/connect.ts';
import { type Disk, listed } from '../../helpers/listed-fs.ts';
import { temporaryFolder } from '../../helpers/temporary.ts';

const rows = new Table({ id: vectorFromArray([1], new Int32()) }) as never;

/** The calls of a commit, without what is named anew each time. */
async function callsOf(lance: LanceMode, branch?: string): Promise<string[]> {
  const disk: Disk = { calls: [], around: undefined };
  const db = await connect(temporaryFolder(), { lance, fs: listed(disk), durability: 'relaxed' });
  const main = await db.createTable('t', rows);
  const table = branch === undefined ? main : await (await main.branches()).create(branch);
  await table.add(rows);
  disk.calls.length = 0;
  await table.add(rows);
  await db.close();
  return disk.calls
    .map((call) =>
      call.replaceAll(/[0-9a-f]{8}-[0-9a-f-]{27}/g, 'ID').replace(/dirspace-\w+/, 'ROOT'),
    )
    .sort();
}

test('a table that nobody synchronized is asked for its fence and the manifest before, and for nothing else', async () => {
  const plain = await callsOf('off');
  expect(await callsOf('read')).toEqual(
    [...plain, 'lstat 18446744073709551613.manifest', 'lstat 18446744073709551615.manifest'].sort(),
  );
});

test('a commit of a branch looks for the fence of its table, and writes none', async () => {
  const plain = await callsOf('off', 'b');
  expect(await callsOf('read', 'b')).toEqual(
    [...plain, 'lstat 18446744073709551613.manifest', 'lstat 18446744073709551615.manifest'].sort(),
  );
});

test('a table that was synchronized once is followed by the commits of every process', async () => {
  const root = temporaryFolder();
  const db = await connect(root, { lance: 'read' });
  const table = await db.createTable('t', rows);
  await table.add(rows);
  const other = await connect(root);
  await other.syncLance();
  await table.add(rows);
  const versions = [1, 2, 3].map((version) => lanceVersionFile(`${root}/data/t.table`, version));
  expect(versions.map((file) => existsSync(file))).toEqual([true, true, true]);
  await other.close();
  await db.close();
});

/** What a commit of version 4 looks for in Lance's folders. */
async function looksOf(lance: 'sync' | 'write'): Promise<string[]> {
  const disk: Disk = { calls: [], around: undefined };
  const db = await connect(temporaryFolder(), { fs: listed(disk), lance });
  const table = await db.createTable('t', [{ id: 1 }]);
  await table.add([{ id: 2 }]);
  await table.add([{ id: 3 }]);
  disk.calls.length = 0;
  await table.add([{ id: 4 }]);
  const looks = disk.calls.filter((call) => /^lstat (?:\d+\.manifest|_versions)$/.test(call));
  await db.close();
  return looks.map((call) => call.replace(/184467440737095516(\d\d)/, 'newest-$1')).sort();
}

test.each(['sync', 'write'] as const)(
  'a commit in the mode %s does not look for the manifest that it is about to make',
  async (lance) => {
    const looks = await looksOf(lance);
    const [version, before] = ['00000000000000000004', '00000000000000000003'];
    expect(looks).toEqual(
      [
        // The version before is in its place: two names of one file.
        `lstat ${before}.manifest`,
        'lstat newest-12.manifest',
        // The table has no fence: it is in the catalog's list.
        'lstat newest-15.manifest',
        // What gets a second name is a file.
        `lstat ${version}.manifest`,
        // Nothing that another program wrote stands above.
        ...(lance === 'write' ? ['lstat newest-10.manifest'] : []),
      ].sort(),
    );
  },
);

test('what another process made of the version before is replaced where it differs', async () => {
  const disk: Disk = { calls: [], around: undefined };
  const root = temporaryFolder();
  const db = await connect(root, { fs: listed(disk), lance: 'sync' });
  const table = await db.createTable('t', [{ id: 1 }]);
  await table.add([{ id: 2 }]);
  const names = readdirSync(root, { recursive: true, encoding: 'utf8' });
  const kept = names.find((name) => name.endsWith(`/${'2'.padStart(20, '0')}.manifest`)) as string;
  const next = join(root, kept.replace(/2\.manifest$/, '3.manifest'));
  // The version is published, and the commit sees that the one before it has its manifest.
  disk.around = (call, run) => {
    if (call === `lstat ${basename(kept)}`) writeFileSync(next, 'of another process');
    return run();
  };
  await table.add([{ id: 3 }]);
  disk.around = undefined;
  expect(readFileSync(next, 'latin1')).toMatch(/LANC$/);
  const { problems, leftovers } = (await db.namespace.verify?.({})) ?? {};
  expect({ problems, leftovers }).toEqual({ problems: [], leftovers: [] });
  await db.close();
});
