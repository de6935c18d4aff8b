/** Fragments that are read whole: kept as one, named as their table is, and read in turns. */
import { describe, expect, test } from 'vitest';
import { tableFromArrays } from '../../../src/arrow/apache.ts';
import { connect, type Table } from '../../../src/index.ts';
import { strictFileSystem, trustFileSystem } from '../../../src/store/disk/strict-fs.ts';
import { TestClock } from '../../helpers/engines.ts';
import { memoryFs } from '../../helpers/memory-fs.ts';

/** A table of so many fragments, opened anew; each read of a file takes `slowness.ms`. */
async function tableOf(fragments: number) {
  const memory = memoryFs();
  const slowness = { ms: 0 };
  const clock = new TestClock();
  const writer = await connect({ uri: '/c', fs: memory, durability: 'relaxed' });
  const written = await writer.createTable('t', [{ id: 0, text: 'row 0' }]);
  for (let id = 1; id < fragments; id++) await written.add([{ id, text: `row ${id}` }]);
  await writer.close();
  const real = strictFileSystem(memory);
  const readSync: typeof real.readSync = (...args) => {
    clock.time += slowness.ms;
    return real.readSync(...args);
  };
  const fs = trustFileSystem(Object.assign(Object.create(real), { readSync }));
  const db = await connect({ uri: '/c', fs, env: clock });
  return { memory, db, slowness, table: await db.openTable('t') };
}

/** What happens first: another turn of the process, or the end of a scan. */
async function firstOf(table: Table): Promise<string> {
  const order: string[] = [];
  const turn = new Promise<void>((done) => {
    setImmediate(() => {
      order.push('turn');
      done();
    });
  });
  await table.query().toArrow();
  order.push('scan');
  await turn;
  return order[0] as string;
}

describe('a scan', () => {
  test('of a few fragments is done at once, of many it lets everything else go on', async () => {
    expect(await firstOf((await tableOf(20)).table)).toBe('scan');
    expect(await firstOf((await tableOf(300)).table)).toBe('turn');
  });

  test('of a few on a slow disk lets everything else go on', async () => {
    const { table, slowness } = await tableOf(20);
    slowness.ms = 8;
    expect(await firstOf(table)).toBe('turn');
  });

  test('of one large fragment that takes its time lets everything else go on', async () => {
    const memory = memoryFs();
    const writer = await connect({ uri: '/c', fs: memory, durability: 'relaxed' });
    const x = Float64Array.from({ length: 500_000 }, (_, row) => row);
    await writer.createTable('t', tableFromArrays({ x }));
    await writer.close();
    const clock = new TestClock();
    // Pieces are read as fast as can be told, so that nothing of it goes through the pool.
    clock.now = () => clock.time++;
    const db = await connect({ uri: '/c', fs: memory, env: clock });
    expect(await firstOf(await db.openTable('t'))).toBe('turn');
    await db.close();
  });

  test.each([
    ['the next fragment of a slow disk', 8, 1],
    ['the next turn of a quick one', 0, 256],
  ])('sees a link that is put in the place of the folder with %s', async (_, ms, most) => {
    const { memory, table, slowness } = await tableOf(300);
    const batches = table.query().execute()[Symbol.asyncIterator]();
    slowness.ms = ms;
    expect((await batches.next()).value?.numRows).toBe(1);
    const folder = '/c/data/t.table/data';
    memory.renameSync(folder, '/outside');
    memory.symlinkSync('/outside', folder);
    let read = 1;
    const rest = async () => {
      while (!(await batches.next()).done) read += 1;
    };
    await expect(rest()).rejects.toMatchObject({
      code: 'InvalidInput',
      message: expect.stringContaining('`data/t.table/data` is a symbolic link'),
    });
    expect(read).toBeLessThanOrEqual(most);
  });

  test('gives the rows before a damaged fragment, then says what is damaged', async () => {
    const { memory, table } = await tableOf(3);
    const folder = '/c/data/t.table/data';
    for (const name of memory.readdirSync(folder)) {
      const path = `${folder}/${String(name)}`;
      if (!memory.readFileSync(path).includes('row 2')) continue;
      const file = memory.openSync(path, 'r+');
      memory.writeSync(file, 'damaged', memory.statSync(path).size - 7);
      memory.closeSync(file);
    }
    const batches = table.query().execute()[Symbol.asyncIterator]();
    expect((await batches.next()).value?.getChild('text')?.get(0)).toBe('row 0');
    expect((await batches.next()).value?.getChild('text')?.get(0)).toBe('row 1');
    await expect(batches.next()).rejects.toMatchObject({ code: 'Corrupt' });
  });
});

test('what was read once is not read again, whichever columns are asked for', async () => {
  const { table } = await tableOf(3);
  const bytesRead = async (columns: string[]) => {
    const plan = await table.query().where('id >= 0').select(columns).analyzePlan();
    return Number(/bytes read (\d+)/.exec(plan)?.[1] ?? Number.NaN);
  };
  expect(await bytesRead(['id'])).toBeGreaterThan(0);
  expect(await bytesRead(['text'])).toBe(0);
  expect((await table.query().select(['text']).toArray()).map(({ text }) => text)).toEqual([
    'row 0',
    'row 1',
    'row 2',
  ]);
});

test('damage names the file where it is after its table was renamed', async () => {
  const { memory, db, table } = await tableOf(1);
  const [name] = memory.readdirSync('/c/data/t.table/data') as string[];
  const path = `/c/data/t.table/data/${name}`;
  const at = memory.readFileSync(path).indexOf('row 0');
  const file = memory.openSync(path, 'r+');
  memory.writeSync(file, 'raw 0', at);
  memory.closeSync(file);
  const fresh = await connect({ uri: '/c', fs: memory });
  const opened = await fresh.openTable('t');
  expect((await opened.query().select(['id']).toArray()).length).toBe(1);
  await fresh.renameTable('t', 'other');
  const renamed = await fresh.openTable('other');
  await expect(renamed.query().toArray()).rejects.toThrow(`data/other.table/data/${name}`);
  await table.close?.();
  await db.close();
});
