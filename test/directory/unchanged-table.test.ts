/** A table that was described before: what is asked of the disk, and that no change is missed. */
import nodeFs from 'node:fs';
import { afterEach, expect, test } from 'vitest';
import { decodeTable, encodeTable } from '../../src/format/catalog/records.ts';
import { connect } from '../../src/index.ts';
import { type Disk, listed } from '../helpers/listed-fs.ts';
import { temporaryFolder } from '../helpers/temporary.ts';

const id = ['ns', 't'];
const rows = (...values: number[]) => values.map((a) => ({ a }));

const closing: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0)) await close();
});

/** Makes the table's record one that was written long ago. */
function age(folder: string): void {
  nodeFs.utimesSync(`${folder}/.table.json`, 1_000_000_000, 1_000_000_000);
}

/** A table that `reader` has described often enough to know it. */
async function known() {
  const root = temporaryFolder();
  const folder = `${root}/ns/t.table`;
  const writer = await connect(root);
  await writer.createNamespace(['ns']);
  const table = await writer.createTable('t', rows(1, 2), ['ns']);
  age(folder);
  const disk: Disk = { calls: [], around: undefined };
  const reader = await connect(root, { fs: listed(disk) });
  closing.push(
    () => writer.close(),
    () => reader.close(),
  );
  const describe = () => reader.namespace.describeTable({ id, load_detailed_metadata: true });
  for (let time = 0; time < 3; time++) expect(await describe()).toMatchObject({ version: 1 });
  disk.calls.length = 0;
  return { root, folder, writer, table, reader, describe, disk };
}

const gone = { code: 'TableNotFound' };

test('four looks find that nothing has changed, one what Lance finds by path, and one that the table is there', async () => {
  const { reader, describe, disk } = await known();
  expect(await describe()).toMatchObject({ table: 't', version: 1, properties: {} });
  const [first, second] = ['lstat 00000000000000000001.json', 'lstat 00000000000000000002.json'];
  const fence = 'lstat 18446744073709551615.manifest';
  expect(disk.calls).toEqual(['lstat .table.json', second, first, second, fence]);
  disk.calls.length = 0;
  await reader.namespace.tableExists({ id });
  expect(disk.calls).toEqual(['lstat .table.json']);
});

test('a handle does not look for what Lance finds', async () => {
  const { reader, disk } = await known();
  const table = await reader.openTable('t', ['ns']);
  const [first, second] = ['lstat 00000000000000000001.json', 'lstat 00000000000000000002.json'];
  for (const call of [
    () => table.version(),
    () => table.schema({ signal: new AbortController().signal }),
  ]) {
    disk.calls.length = 0;
    await call();
    expect(disk.calls).toEqual(['lstat .table.json', second, first, second]);
  }
  disk.calls.length = 0;
  await reader.openTable('t', ['ns'], { version: 1 });
  expect(disk.calls.filter((call) => call.endsWith('.manifest'))).toEqual([]);
});

test('whoever asks for another incarnation is refused without a further look', async () => {
  const { reader, describe, disk } = await known();
  const { incarnation } = await describe();
  expect(await reader.namespace.countTableRows({ id })).toMatchObject({ count: 2 });
  const members = { id, load_detailed_metadata: true };
  disk.calls.length = 0;
  await reader.namespace.describeTable({ ...members, incarnation: incarnation as string });
  await reader.namespace.countTableRows({ id, incarnation: incarnation as string });
  expect(disk.calls).toHaveLength(8);
  disk.calls.length = 0;
  const stale = { id, incarnation: '00000000-0000' };
  const anew = { code: 'TableNotFound', details: { ...stale, found: incarnation } };
  await expect(reader.namespace.describeTable(stale)).rejects.toMatchObject(anew);
  await expect(reader.namespace.tableExists(stale)).rejects.toMatchObject(anew);
  expect(disk.calls).toEqual(['lstat .table.json', 'lstat .table.json']);
  await expect(reader.namespace.countTableRows(stale)).rejects.toMatchObject(anew);
});

test('what somebody else adds, overwrites or removes is told next', async () => {
  const { table, describe } = await known();
  await table.add(rows(3));
  expect(await describe()).toMatchObject({ version: 2, stats: { num_fragments: 2 } });
  expect(await describe()).toMatchObject({ version: 2 });
  await table.delete('a = 2');
  expect(await describe()).toMatchObject({ version: 3, stats: { num_deleted_rows: 1 } });
  await table.add(rows(9), { mode: 'overwrite' });
  expect(await describe()).toMatchObject({ version: 4, stats: { num_fragments: 1 } });
});

test('a table that was dropped is gone, and another one of its name is told of', async () => {
  const { writer, reader, folder, describe } = await known();
  await writer.dropTable('t', ['ns']);
  await expect(describe()).rejects.toMatchObject(gone);
  await expect(reader.namespace.tableExists({ id })).rejects.toMatchObject(gone);
  await writer.createTable('t', [{ b: 'x' }], ['ns']);
  age(folder);
  for (let time = 0; time < 3; time++) {
    expect(await describe()).toMatchObject({ version: 1, schema: { fields: [{ name: 'b' }] } });
    await reader.namespace.tableExists({ id });
  }
});

test('a table that was renamed or whose namespace was dropped is gone', async () => {
  const renamed = await known();
  await renamed.writer.renameTable('t', 'u', { namespacePath: ['ns'] });
  await expect(renamed.describe()).rejects.toMatchObject(gone);
  await expect(renamed.reader.namespace.tableExists({ id })).rejects.toMatchObject(gone);
  const dropped = await known();
  await dropped.writer.dropNamespace(['ns'], { behavior: 'cascade' });
  await expect(dropped.describe()).rejects.toMatchObject(gone);
  await expect(dropped.reader.namespace.tableExists({ id })).rejects.toMatchObject(gone);
});

test('properties that came with registering the very same table again are told', async () => {
  const { writer, describe } = await known();
  const { namespace } = writer;
  for (const stage of ['one', 'two', 'six']) {
    const { context } = await namespace.deregisterTable({ id });
    const location = context?.relative_location as string;
    await namespace.registerTable({ id, location, properties: { stage } });
    expect(await describe()).toMatchObject({ version: 1, properties: { stage } });
    expect(await describe()).toMatchObject({ version: 1, properties: { stage } });
  }
});

test('a link to a copy, planted in the place of the table, is refused', async () => {
  const { root, folder, reader, describe } = await known();
  const copy = `${root}/copy`;
  nodeFs.cpSync(folder, copy, { recursive: true, preserveTimestamps: true });
  nodeFs.rmSync(folder, { recursive: true });
  nodeFs.symlinkSync(copy, folder);
  const link = { message: expect.stringContaining('link') };
  await expect(describe()).rejects.toMatchObject(link);
  await expect(reader.namespace.tableExists({ id })).rejects.toMatchObject(link);
});

test('a record that is younger than a tick of the clock may be is read every time', async () => {
  const { folder, describe, disk } = await known();
  nodeFs.utimesSync(`${folder}/.table.json`, new Date(), new Date());
  for (let time = 0; time < 3; time++) {
    await describe();
    expect(disk.calls.splice(0)).toContain('open .table.json');
  }
  age(folder);
  await describe();
  disk.calls.length = 0;
  await describe();
  expect(disk.calls).not.toContain('open .table.json');
});

test.each(['lstat', 'open'])('a record that is replaced after %s is told next', async (last) => {
  const { folder, describe, disk } = await known();
  const file = `${folder}/.table.json`;
  const record = decodeTable(nodeFs.readFileSync(file), file);
  const replace = (stage: string): void => {
    nodeFs.writeFileSync(`${file}.new`, encodeTable({ ...record, properties: { stage } }));
    nodeFs.renameSync(`${file}.new`, file);
    age(folder);
  };
  replace('one');
  let looks = 0;
  disk.around = (call, run) => {
    const found = run();
    // The first look is for the record that was known.
    if (call === 'lstat .table.json' && looks++ === 0) return found;
    if (call !== `${last} .table.json`) return found;
    disk.around = undefined;
    replace('two');
    return found;
  };
  await describe();
  expect(disk.around).toBeUndefined();
  expect(await describe()).toMatchObject({ properties: { stage: 'two' } });
  expect(await describe()).toMatchObject({ properties: { stage: 'two' } });
});
