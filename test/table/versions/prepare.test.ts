/** Opening a table reads what every read of it begins with, and is not stopped by damage to it. */
import { expect, test } from 'vitest';
import { connect } from '../../../src/index.ts';
import { memoryFs } from '../../helpers/memory-fs.ts';

/** Larger than a file that is read whole. */
const ROWS = Array.from({ length: 3_000 }, (_, id) => ({ id, text: `row ${id}` }));

async function tableOnDisk() {
  const memory = memoryFs();
  const writer = await connect({ uri: '/c', fs: memory });
  await writer.createTable('t', ROWS);
  await writer.close();
  const files = memory.readdirSync('/c', { recursive: true, encoding: 'utf8' }) as string[];
  const fragment = `/c/${files.find((file) => file.endsWith('.arrow'))}`;
  return { memory, fragment, db: await connect({ uri: '/c', fs: memory }) };
}

test('the footer of a fragment has been read when its table is open', async () => {
  const { memory, fragment, db } = await tableOnDisk();
  const table = await db.openTable('t');
  const file = memory.openSync(fragment, 'r+');
  memory.writeSync(file, 'damaged', memory.statSync(fragment).size - 7);
  memory.closeSync(file);
  expect((await table.query().select(['text']).toArray()).length).toBe(ROWS.length);
  const other = await connect({ uri: '/c', fs: memory });
  const late = (await other.openTable('t')).query().toArray();
  await expect(late).rejects.toMatchObject({ code: 'Corrupt' });
});

test('a table whose fragment is damaged is opened; whoever reads it is told', async () => {
  const { memory, fragment, db } = await tableOnDisk();
  memory.truncateSync(fragment, 100);
  const table = await db.openTable('t');
  expect(await table.countRows()).toBe(ROWS.length);
  await expect(table.query().toArray()).rejects.toMatchObject({ code: 'Corrupt' });
});
