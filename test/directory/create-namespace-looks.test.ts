/** What the creation of a namespace asks of the disk. */
import { expect, test } from 'vitest';
import { connect } from '../../src/sdk/connect.ts';
import { type Disk, listed } from '../helpers/listed-fs.ts';
import { temporaryFolder } from '../helpers/temporary.ts';

test('no link is looked for on the way to what is not there, as an exception costs ten times a look', async () => {
  const disk: Disk = { calls: [], around: undefined };
  const db = await connect(temporaryFolder(), { fs: listed(disk), durability: 'relaxed' });
  await db.createNamespace(['a']);
  const failed: string[] = [];
  disk.around = (call, run) => {
    try {
      return run();
    } catch (error) {
      failed.push(call);
      throw error;
    }
  };
  await db.createNamespace(['b']);
  expect(failed).toEqual([]);
  await db.close();
});
