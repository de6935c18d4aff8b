/** Folders of tables outside the root, below a prefix with `dropFiles`: removed once, exactly, or not at all. */
import { describe, expect, test } from 'vitest';
import { checkAllowedLocations } from '../../src/allowed-locations.ts';
import { sweepTrash } from '../../src/directory/catalog/trash.ts';
import {
  DirectoryNamespace,
  openDirectoryNamespace,
} from '../../src/directory/directory-namespace.ts';
import { openCatalog } from '../../src/directory/open-catalog.ts';
import { decodeTrash, encodeTrash } from '../../src/format/index.ts';
import { FaultyFs } from '../helpers/faulty-fs.ts';
import { InterruptedCatalog } from '../helpers/interrupted.ts';
import { writeDataset } from '../helpers/lance-writer.ts';
import { memoryFs, type TestFs } from '../helpers/memory-fs.ts';
import { outcomeOf } from '../helpers/outcome.ts';

const LAKE = { prefix: 'file:///data/lake/', dropFiles: true };
const PLACE = 'file:///data/lake/sales/t.lance';
const FOLDER = '/data/lake/sales/t.lance';
const t = ['n', 't'];
const everything = { older_than_millis: 0 };

const open = (fs: TestFs, more: object = {}): Promise<DirectoryNamespace> =>
  openDirectoryNamespace({
    root: '/c',
    fs,
    durability: 'relaxed',
    locations: [LAKE],
    ...more,
  });

/** Paths below the lake. */
const lake = (fs: TestFs): string[] =>
  fs.existsSync('/data/lake')
    ? (fs.readdirSync('/data/lake', { recursive: true }) as string[]).map(String).sort()
    : [];

async function made(more: object = {}) {
  const fs = memoryFs();
  writeDataset(fs, FOLDER);
  const catalog = await open(fs, more);
  await catalog.createNamespace({ id: ['n'] });
  await catalog.registerTable({ id: t, location: PLACE });
  return { fs, catalog };
}

const trashed = async (catalog: DirectoryNamespace) =>
  (await catalog.listTrash({})).entries.map(({ id }) => id);

test('stay in the trash, and go with it: the folder of the table, and nothing else', async () => {
  const { fs, catalog } = await made();
  for (const beside of ['t.lance2', 't.lanc', 't', 't.lance.bak']) {
    writeDataset(fs, `/data/lake/sales/${beside}`);
  }
  const before = lake(fs);
  await catalog.dropTable({ id: t });
  expect(lake(fs)).toEqual(before);
  await catalog.undropTable({ id: t });
  await catalog.dropTable({ id: t });
  expect(await catalog.purgeTrash({ ...everything, dry_run: true })).toMatchObject({ removed: 1 });
  expect(lake(fs)).toEqual(before);
  expect(await catalog.purgeTrash(everything)).toMatchObject({ removed: 1 });
  expect(lake(fs)).toEqual(before.filter((path) => !/^sales\/t\.lance(\/|$)/.test(path)));
  expect(await trashed(catalog)).toEqual([]);
  expect(await catalog.verify({ trash: true })).toMatchObject({ problems: [], leftovers: [] });
});

test('are gone for good once the trash is empty: the folder that they were in is flushed last', async () => {
  const { fs, catalog } = await made({ durability: 'full' });
  await catalog.dropTable({ id: t });
  const log: string[] = [];
  const opened = new Map<number, string>();
  const { openSync, fsync, rmdirSync } = fs;
  fs.openSync = ((...given: Parameters<typeof openSync>) => {
    const fd = openSync.apply(fs, given);
    opened.set(fd, String(given[0]));
    return fd;
  }) as typeof openSync;
  fs.fsync = ((...given: Parameters<typeof fsync>) => {
    log.push(`flush ${opened.get(given[0])}`);
    return fsync.apply(fs, given);
  }) as typeof fsync;
  fs.rmdirSync = ((...given: Parameters<typeof rmdirSync>) => {
    log.push(`remove ${given[0]}`);
    return rmdirSync.apply(fs, given);
  }) as typeof rmdirSync;
  await catalog.purgeTrash(everything);
  const inLake = log.filter((line) => line.includes(' /data/lake'));
  expect(inLake.at(-1)).toBe('flush /data/lake/sales');
  expect(inLake.at(-2)).toMatch(/^remove /);
});

test('go at once where no trash is kept, and with a namespace', async () => {
  const { fs, catalog } = await made({ trashRetention: 0 });
  await catalog.dropTable({ id: t });
  expect(fs.existsSync(FOLDER)).toBe(false);
  writeDataset(fs, FOLDER);
  writeDataset(fs, '/data/lake/u');
  await catalog.registerTable({ id: t, location: PLACE });
  await catalog.registerTable({ id: ['n', 'u'], location: '/data/lake/u' });
  await catalog.dropNamespace({ id: ['n'], behavior: 'Cascade' });
  expect(lake(fs)).toEqual(['sales']);
});

test.each([
  ['without dropFiles', [{ prefix: LAKE.prefix }]],
  ['with dropFiles: false', [{ ...LAKE, dropFiles: false }]],
  ['below a longer prefix without it', [LAKE, { prefix: 'file:///data/lake/sales/' }]],
])('stay %s', async (_, locations) => {
  const { fs, catalog } = await made({ locations });
  const before = lake(fs);
  await catalog.dropTable({ id: t });
  await catalog.purgeTrash(everything);
  expect(lake(fs)).toEqual(before);
  expect(await trashed(catalog)).toEqual([]);
});

test('of deregistered tables stay, also when their entry is purged', async () => {
  const { fs, catalog } = await made();
  const before = lake(fs);
  await catalog.deregisterTable({ id: t });
  await catalog.purgeTrash({ ...everything, detached: true });
  expect(lake(fs)).toEqual(before);
});

test.each([
  ['at it', PLACE],
  ['in it', `${PLACE}/data`],
  ['around it', 'file:///data/lake/sales'],
  ['at it, by another spelling', 'file:///data/alias/sales/t.lance'],
  ['at it, where the disk may fold case', 'file:///data/lake/Sales/T.lance'],
])('stay while another table lies %s', async (_, location) => {
  const aliased = { locations: [LAKE, { prefix: 'file:///data/alias/' }] };
  const { fs, catalog } = await made(aliased);
  fs.symlinkSync('/data/lake', '/data/alias');
  const before = lake(fs);
  const u = ['n', 'u'];
  await catalog.registerTable({ id: u, location });
  const drop = async () => {
    await catalog.registerTable({ id: t, location: PLACE, mode: 'Overwrite' });
    await catalog.purgeTrash(everything);
    await catalog.dropTable({ id: t });
    await catalog.purgeTrash(everything);
    expect(await trashed(catalog)).not.toContainEqual(t);
  };
  await drop();
  expect(lake(fs)).toEqual(before);
  // In another entry of the trash, or without a name.
  await catalog.deregisterTable({ id: u });
  await drop();
  expect(lake(fs)).toEqual(before);
  await catalog.purgeTrash({ ...everything, detached: true });
  await drop();
  expect(fs.existsSync(FOLDER)).toBe(false);
});

test('of two entries of the trash the last one that goes takes the files', async () => {
  const { fs, catalog } = await made();
  await catalog.registerTable({ id: ['n', 'u'], location: PLACE });
  await catalog.dropTable({ id: t });
  await catalog.dropTable({ id: ['n', 'u'] });
  await catalog.purgeTrash(everything);
  expect(lake(fs)).toEqual(['sales']);
});

describe('are refused, and the entry stays and can be brought back', () => {
  const refused = async (fs: TestFs, catalog: DirectoryNamespace, word: string) => {
    const files = () => lake(fs).filter((path) => /\.(lance|manifest|arrow|txn|txt)$/.test(path));
    const before = files();
    await catalog.dropTable({ id: t });
    await expect(catalog.purgeTrash(everything)).rejects.toMatchObject({
      code: 'InvalidTableState',
      message: expect.stringContaining(word),
      details: { location: expect.stringContaining('file:///') },
    });
    expect(files()).toEqual(before);
    expect(await trashed(catalog)).toContainEqual(t);
    await catalog.undropTable({ id: t });
  };

  test('where the folder holds what is no dataset’s', async () => {
    const { fs, catalog } = await made();
    fs.writeFileSync(`${FOLDER}/notes.txt`, 'mine');
    writeDataset(fs, '/data/lake/other');
    await catalog.registerTable({ id: ['n', 'other'], location: '/data/lake/other' });
    await refused(fs, catalog, '"notes.txt"');
    // It keeps no other entry of the trash.
    await catalog.dropTable({ id: t });
    await catalog.dropTable({ id: ['n', 'other'] });
    expect(await outcomeOf(catalog.purgeTrash(everything))).toBe('InvalidTableState');
    expect(fs.existsSync('/data/lake/other')).toBe(false);
    expect(await trashed(catalog)).toEqual([t]);
    fs.unlinkSync(`${FOLDER}/notes.txt`);
    await catalog.purgeTrash(everything);
    expect(lake(fs)).toEqual(['sales']);
  });

  test('where the folder is no dataset', async () => {
    const { fs, catalog } = await made();
    fs.rmSync(`${FOLDER}/_versions`, { recursive: true });
    await refused(fs, catalog, 'no _versions');
  });

  test('where a link was put in the way', async () => {
    const { fs, catalog } = await made();
    fs.mkdirSync('/etc/sales', { recursive: true });
    writeDataset(fs, '/etc/sales/t.lance');
    fs.renameSync('/data/lake/sales', '/data/lake/moved');
    fs.symlinkSync('/etc/sales', '/data/lake/sales');
    await refused(fs, catalog, 'symbolic link');
    fs.unlinkSync('/data/lake/sales');
    fs.mkdirSync('/data/lake/sales');
    fs.symlinkSync('/etc/sales/t.lance', FOLDER);
    await refused(fs, catalog, 'symbolic link');
    expect(fs.existsSync('/etc/sales/t.lance/data')).toBe(true);
  });

  test('where the folder of the prefix is not there', async () => {
    const { fs, catalog } = await made();
    fs.renameSync('/data/lake', '/data/gone');
    await refused(fs, catalog, 'is not there');
    expect(fs.existsSync('/data/gone/sales/t.lance/data')).toBe(true);
  });

  test.each([
    ['root in it', '/data/lake/sales/t.lance/data/c', PLACE],
    ['it in the root', '/data/lake/sales', PLACE],
  ])('where the root is near: %s', async (_, root, location) => {
    const fs = memoryFs();
    writeDataset(fs, FOLDER);
    const catalog = await open(fs, { root });
    await catalog.createNamespace({ id: ['n'] });
    await catalog.registerTable({ id: t, location });
    await refused(fs, catalog, 'root of the catalog');
  });
});

test('links in the folder are removed, and not what they lead to', async () => {
  const { fs, catalog } = await made();
  fs.mkdirSync('/etc/deep', { recursive: true });
  fs.writeFileSync('/etc/deep/file', 'mine');
  fs.symlinkSync('/etc/deep', `${FOLDER}/data/link`);
  fs.symlinkSync('/etc/deep', `${FOLDER}/_indices`);
  await catalog.dropTable({ id: t });
  await catalog.purgeTrash(everything);
  expect(lake(fs)).toEqual(['sales']);
  expect(fs.existsSync('/etc/deep/file')).toBe(true);
});

test('of a table that was never written are an empty folder, which goes', async () => {
  const { fs, catalog } = await made();
  fs.mkdirSync('/data/lake/empty');
  await catalog.declareTable({ id: ['n', 'empty'], location: '/data/lake/empty' });
  await catalog.dropTable({ id: ['n', 'empty'] });
  await catalog.purgeTrash(everything);
  expect(fs.existsSync('/data/lake/empty')).toBe(false);
});

test('that are gone already are no reason to keep the entry', async () => {
  const { fs, catalog } = await made();
  fs.rmSync('/data/lake/sales', { recursive: true });
  await catalog.dropTable({ id: t });
  expect(await catalog.purgeTrash(everything)).toMatchObject({ removed: 1 });
  expect(await trashed(catalog)).toEqual([]);
});

test('a purge that is killed at any call leaves the table whole, or goes on where it was', async () => {
  for (let at = 1; ; at++) {
    const { fs } = await made();
    const faulty = new FaultyFs(fs as never);
    const catalog = await open(faulty.fs as never);
    await catalog.dropTable({ id: t });
    faulty.arm({ at, kind: 'kill', only: CHANGES });
    await catalog.purgeTrash(everything).catch(() => {});
    const wasKilled = faulty.fired;
    const after = await open(fs);
    const isBack = (await outcomeOf(after.undropTable({ id: t }))) === 'ok';
    // Never a table without all of its files.
    if (isBack) {
      expect(fs.existsSync(`${FOLDER}/_versions`), `at ${at}`).toBe(true);
      expect(lake(fs).filter((path) => path.includes('.dirspace'))).toEqual([]);
      await after.dropTable({ id: t });
    }
    await after.purgeTrash(everything);
    expect(lake(fs), `at ${at}`).toEqual(['sales']);
    expect((await after.verify({ trash: true })).problems, `at ${at}`).toEqual([]);
    if (!wasKilled) {
      expect(at).toBeGreaterThan(10);
      return;
    }
  }
});

const CHANGES = ['renameSync', 'unlinkSync', 'rmdirSync', 'linkSync', 'mkdirSync', 'openSync'];

test('an undrop at any moment of a purge gets the whole table, or nothing', async () => {
  const outcomes = new Set<string>();
  for (let at = 1; at < 60; at++) {
    const { fs } = await made();
    const options = { root: '/c', fs, durability: 'relaxed' as const, locations: [LAKE] };
    const purging = await InterruptedCatalog.open(options as never);
    const other = await open(fs);
    await other.dropTable({ id: t });
    let outcome = '';
    purging.interrupt(
      (_call, _path, count) => count === at,
      async () => {
        outcome = await outcomeOf(other.undropTable({ id: t }));
      },
    );
    await purging.namespace.purgeTrash(everything);
    if (!purging.interrupted) break;
    outcomes.add(outcome);
    expect(fs.existsSync(FOLDER), `at ${at}`).toBe(outcome === 'ok');
    expect(await outcomeOf(other.tableExists({ id: t }))).toBe(outcome);
  }
  expect([...outcomes].sort()).toEqual(['TableNotFound', 'ok']);
});

test('a table that gets the location while the old one is removed keeps what lies there', async () => {
  let broughtBack = 0;
  for (let at = 1; at < 80; at++) {
    const { fs } = await made();
    const options = { root: '/c', fs, durability: 'relaxed' as const, locations: [LAKE] };
    const purging = await InterruptedCatalog.open(options as never);
    const other = await open(fs);
    await other.dropTable({ id: t });
    const isThere = () => fs.existsSync(`${FOLDER}/_versions`);
    let wasThere = false;
    purging.interrupt(
      (_call, _path, count) => count === at,
      async () => {
        wasThere = isThere();
        await other.registerTable({ id: ['n', 'u'], location: PLACE });
      },
    );
    await purging.namespace.purgeTrash(everything);
    if (!purging.interrupted) break;
    if (wasThere) expect(isThere(), `at ${at}`).toBe(true);
    else if (isThere()) broughtBack++;
  }
  expect(broughtBack).toBeGreaterThan(0);
});

test('the record of an entry that is being removed is refused by older releases', () => {
  const record = { kind: 'table', id: ['n', 't'], droppedAt: 5, removing: true } as const;
  const text = new TextDecoder().decode(encodeTrash(record));
  expect(JSON.parse(text)).toMatchObject({ features: ['removing'], trash: { kind: 'table' } });
  expect(decodeTrash(encodeTrash(record), 'f')).toEqual(record);
  // As it was written first.
  expect(text).toBe(GOLDEN);
  const { removing: _, ...plain } = record;
  expect(decodeTrash(encodeTrash(plain), 'f')).toEqual(plain);
  expect(new TextDecoder().decode(encodeTrash(plain))).not.toContain('features');
});

const GOLDEN =
  '{"checksum":"crc32:fcaa3dda","format":1,"features":["removing"],"trash":{"kind":"table","id":["n","t"],"dropped_at":5}}\n';

test.each([
  [{ prefix: 's3://bucket/lake/', dropFiles: true }, 'dropFiles is for prefixes of file:'],
  [{ prefix: 'gs://bucket/lake/', dropFiles: true }, 'objects of gs'],
  [{ ...LAKE, dropFiles: 'yes' }, 'neither true nor false'],
])('the option is checked: %j', (rule, word) => {
  expect(() => checkAllowedLocations([rule])).toThrow(word);
  expect(() => checkAllowedLocations([{ prefix: 's3://b/', dropFiles: false }])).not.toThrow();
});

test('a sweep by age passes over what is refused, and goes on', async () => {
  const fs = memoryFs();
  writeDataset(fs, FOLDER);
  fs.writeFileSync(`${FOLDER}/notes.txt`, 'mine');
  writeDataset(fs, '/data/lake/u');
  const opened = await openCatalog({ root: '/c', fs, durability: 'relaxed', locations: [LAKE] });
  const catalog = new DirectoryNamespace(opened.catalog, opened.store);
  await catalog.createNamespace({ id: ['n'] });
  await catalog.registerTable({ id: t, location: PLACE });
  await catalog.registerTable({ id: ['n', 'u'], location: '/data/lake/u' });
  await catalog.dropTable({ id: t });
  await catalog.dropTable({ id: ['n', 'u'] });
  await sweepTrash({ ...opened.catalog, trashRetention: 0 });
  expect(fs.existsSync('/data/lake/u')).toBe(false);
  expect(fs.existsSync(FOLDER)).toBe(true);
  expect(await trashed(catalog)).toEqual([t]);
});
