/** What a commit asks of the disk for Lance's sake alone. */
import { existsSync } from 'node:fs';
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
