/** How often a creation and an append look for links on the way to a folder. */
import nodeFs from 'node:fs';
import { expect, test } from 'vitest';
import { connect } from '../../src/sdk/connect.ts';
import { type Disk, listed } from '../helpers/listed-fs.ts';
import { temporaryFolder } from '../helpers/temporary.ts';

async function watched() {
  const root = temporaryFolder();
  const disk: Disk = { calls: [], around: undefined };
  const db = await connect(root, { fs: listed(disk), durability: 'relaxed' });
  await db.createNamespace(['a']);
  const ways = () => disk.calls.splice(0).filter((call) => call.startsWith('realpath')).length;
  return { root, db, ways };
}

test('the way to the folder of the rows is not looked at anew', async () => {
  const { db, ways } = await watched();
  const table = await db.createTable('t', [{ n: 1 }], ['a']);
  ways();
  await db.createTable('u', [{ n: 1 }], ['a']);
  // The namespace and the folder for staging, both again before the move; the folder of the new
  // table for its version and for Lance's fence; and the intents.
  expect(ways()).toBe(7);
  await table.add([{ n: 2 }]);
  ways();
  await table.add([{ n: 3 }]);
  // The folder of the table for the announcement and its end, and that of the versions.
  expect(ways()).toBe(3);
  expect(await table.countRows()).toBe(3);
  await db.close();
});

test('a link in the place of the folder of the rows is refused all the same', async () => {
  const { root, db } = await watched();
  const table = await db.createTable('t', [{ n: 1 }], ['a']);
  const data = `${root}/a/t.table/data`;
  const outside = temporaryFolder();
  nodeFs.renameSync(data, `${outside}/data`);
  nodeFs.symlinkSync(`${outside}/data`, data);
  const [before] = nodeFs.readdirSync(`${outside}/data`);
  await expect(table.add([{ n: 2 }])).rejects.toMatchObject({
    code: 'InvalidInput',
    message: expect.stringContaining('`a/t.table/data` is a symbolic link'),
  });
  expect(nodeFs.readdirSync(`${outside}/data`)).toEqual([before]);
  await db.close();
});
