/** The trash: what is brought back from it, what is removed for good, and what stays. */
import { beforeEach, describe, expect, test } from 'vitest';
import { fence } from '../../src/directory/catalog/lance-tables.ts';
import { sweepStaging } from '../../src/directory/catalog/staging.ts';
import {
  emptyTrash,
  listTrash,
  purgeTrash,
  sweepInBackground,
  sweepTrash,
  undropTable,
} from '../../src/directory/catalog/trash.ts';
import { newTrashFolder, prepareTrash } from '../../src/directory/catalog/trash-entries.ts';
import { createNamespace, dropNamespace } from '../../src/directory/operations/namespaces.ts';
import { dropTable } from '../../src/directory/operations/tables.ts';
import { verifyCatalog } from '../../src/directory/upkeep/verify.ts';
import { DirspaceError } from '../../src/errors.ts';
import {
  decodeTrash,
  encodeFormat,
  encodeNamespace,
  encodeTable,
  encodeTrash,
  type TrashRecord,
} from '../../src/format/catalog/records.ts';
import { encodeChecksummed } from '../../src/json.ts';
import { reservedFolder } from '../../src/paths.ts';
import { parseRetention } from '../../src/retention.ts';
import { processTag, thisProcess } from '../../src/store/process-identity.ts';
import { filesOf } from '../helpers/catalog-files.ts';
import { outcomeOf, ROOT, type TestEngine, testEngine } from '../helpers/engines.ts';

const TRASH = '.dirspace/trash';

let one: TestEngine;
beforeEach(async () => {
  one = testEngine();
  await one.catalog.prepareRoot();
  one.fs.mkdirSync(`${ROOT}/data`);
});

const write = (file: string, bytes: Uint8Array | string): void => {
  one.fs.mkdirSync(`${ROOT}/${file}`.replace(/\/[^/]*$/, ''), { recursive: true });
  one.fs.writeFileSync(`${ROOT}/${file}`, bytes);
};
/** Without the marks of drops, which stay behind and say nothing but a number. */
const tree = (): string[] =>
  filesOf(one.fs, ROOT)
    .all()
    .filter((path) => !path.endsWith('/') && !path.startsWith('.dirspace/drops/'));
const exists = (path: string): boolean => one.fs.existsSync(`${ROOT}/${path}`);
const namespace = (folder: string): void =>
  write(`${folder}/.namespace.json`, encodeNamespace({ id: 'n', properties: {} }));
/** A table whose creation time tells it apart. */
const table = (folder: string, createdAt = 1): void =>
  write(`${folder}/.table.json`, encodeTable({ id: '11111111-2222', createdAt, properties: {} }));
const record = (name: string, dropped: Partial<TrashRecord>): void =>
  write(
    `${TRASH}/${name}.json`,
    encodeTrash({ kind: 'table', id: ['t'], droppedAt: 5, ...dropped }),
  );
const createdAt = (folder: string): unknown =>
  JSON.parse(one.fs.readFileSync(`${ROOT}/${folder}/.table.json`, 'utf8') as string).created_at;

/** What is in the trash, records aside. */
const left = (): string[] =>
  (one.fs.readdirSync(`${ROOT}/${TRASH}`) as string[]).filter((name) => !name.endsWith('.json'));

const undrop = (...id: string[]) => undropTable(one.catalog, { id });

describe('what is dropped', () => {
  test('gets a folder of its own, and a record beside it', async () => {
    expect(await newTrashFolder(one.catalog)).not.toBe(await newTrashFolder(one.catalog));
    const folder = await prepareTrash(one.catalog, 'table', ['a', 't']);
    expect(folder).toMatch(/^\.dirspace\/trash\/000000000003-[0-9a-f-]{36}$/);
    expect(tree()).toEqual([`${folder}.json`]);
    const bytes = one.fs.readFileSync(`${ROOT}/${folder}.json`) as Uint8Array;
    expect(decodeTrash(bytes, 'r')).toEqual({
      kind: 'table',
      id: ['a', 't'],
      droppedAt: one.clock.time,
    });
  });

  test('gets a number above all that are there, whatever the clock says and whoever drops', async () => {
    const two = testEngine({ fs: one.fs, firstId: 1000 });
    const numbers: number[] = [];
    for (const [at, step] of [0, 1e9, -1e12, 0, 0].entries()) {
      const { catalog, clock } = at % 2 === 0 ? one : two;
      clock.time += step;
      const folder = await prepareTrash(catalog, 'table', ['t']);
      numbers.push(Number(folder.slice(TRASH.length + 1).split('-')[0]));
    }
    record('0000dddd-of-an-older-release', {});
    expect(numbers).toEqual([1, 2, 3, 4, 5]);
    expect(await newTrashFolder(one.catalog)).toContain('/000000000006-');
  });

  test('has the number of the moment it went, also where it was made anew since the drop began', async () => {
    const two = testEngine({ fs: one.fs, firstId: 1000 });
    const made = (createdAt: number, id: string): void =>
      write('data/t.table/.table.json', encodeTable({ id, createdAt, properties: {} }));
    made(1, '11111111-0001');
    one.calls.moveFolder = async (run, from, to) => {
      one.calls.moveFolder = undefined;
      await dropTable(two.catalog, { id: ['t'] });
      made(2, '11111111-0002');
      return run(from, to);
    };
    await dropTable(one.catalog, { id: ['t'] });
    for (const expected of [2, 1]) {
      await undrop('t');
      expect(createdAt('data/t.table')).toBe(expected);
      one.fs.rmSync(`${ROOT}/data/t.table`, { recursive: true });
    }
    expect(left()).toEqual([]);
  });

  test('of namespaces likewise', async () => {
    const two = testEngine({ fs: one.fs, firstId: 1000 });
    const id = ['n'];
    const made = async ({ catalog }: TestEngine, createdAt: number): Promise<void> => {
      await createNamespace(catalog, { id });
      table('n/t.table', createdAt);
    };
    await made(two, 1);
    one.calls.moveFolder = async (run, from, to) => {
      one.calls.moveFolder = undefined;
      await dropNamespace(two.catalog, { id, behavior: 'Cascade' });
      await made(two, 2);
      return run(from, to);
    };
    await dropNamespace(one.catalog, { id, behavior: 'Cascade' });
    await createNamespace(one.catalog, { id });
    await undrop('n', 't');
    expect(createdAt('n/t.table')).toBe(2);
  });

  test('keeps its first number where it was brought back meanwhile', async () => {
    const two = testEngine({ fs: one.fs, firstId: 1000 });
    write(
      'data/t.table/.table.json',
      encodeTable({ id: '11111111-0001', createdAt: 1, properties: {} }),
    );
    one.calls.moveFolder = async (run, from, to) => {
      const isDrop = from === 'data/t.table';
      if (isDrop)
        write(
          'data/t.table/.table.json',
          encodeTable({ id: '11111111-0002', createdAt: 2, properties: {} }),
        );
      else await undropTable(two.catalog, { id: ['t'] });
      return run(from, to);
    };
    await dropTable(one.catalog, { id: ['t'] });
    one.calls.moveFolder = undefined;
    expect(createdAt('data/t.table')).toBe(2);
    expect(tree()).toEqual(['data/t.table/.table.json']);
  });

  test.each(['damaged', undefined])(
    'of a namespace whose record is %s goes to the trash',
    async (content) => {
      const id = ['n'];
      await createNamespace(one.catalog, { id });
      one.calls.moveFolder = async (run, from, to) => {
        one.calls.moveFolder = undefined;
        if (content === undefined) one.fs.unlinkSync(`${ROOT}/n/.namespace.json`);
        else write('n/.namespace.json', content);
        return run(from, to);
      };
      await dropNamespace(one.catalog, { id, behavior: 'Cascade' });
      expect(left()).toHaveLength(1);
      expect(exists('n')).toBe(false);
    },
  );

  test('of a table that was damaged meanwhile goes to the trash', async () => {
    table('data/t.table');
    one.calls.moveFolder = async (run, from, to) => {
      one.calls.moveFolder = undefined;
      write('data/t.table/.table.json', 'damaged');
      return run(from, to);
    };
    await dropTable(one.catalog, { id: ['t'] });
    expect(left()).toHaveLength(1);
  });

  test('is moved also where no marks can be made', async () => {
    write('.dirspace/drops', 'a file');
    for (const expected of [1, 2]) {
      table('data/t.table');
      await dropTable(one.catalog, { id: ['t'] });
      expect(left().at(-1)).toContain(`00000000000${expected}-`);
    }
  });

  test('lists the trash once: the next drops of any process go by the last marks', async () => {
    const two = testEngine({ fs: one.fs, firstId: 1000 });
    const lists: string[] = [];
    for (const { calls } of [one, two]) {
      calls.list = (run, folder) => {
        lists.push(folder);
        return run(folder);
      };
    }
    record('000000000041-00000000', {});
    const numbers: number[] = [];
    for (let at = 0; at < 60; at++) {
      const folder = await newTrashFolder(at % 3 === 0 ? one.catalog : two.catalog);
      numbers.push(Number(folder.slice(TRASH.length + 1).split('-')[0]));
    }
    expect(numbers).toEqual(Array.from({ length: 60 }, (_, at) => 42 + at));
    expect(lists.filter((folder) => folder === TRASH)).toHaveLength(2);
    const marks = one.fs.readdirSync(`${ROOT}/.dirspace/drops`) as string[];
    expect(marks.map((name) => Number(name.split('-')[0])).sort((a, b) => a - b)).toEqual(
      Array.from({ length: 17 }, (_, at) => 85 + at),
    );
    // Somebody removes the marks: the trash tells.
    one.fs.rmSync(`${ROOT}/.dirspace/drops`, { recursive: true });
    record('000000000101-00000000', {});
    expect(await newTrashFolder(one.catalog)).toContain('/000000000102-');
  });

  test.each([
    ['9999999999999', 1],
    ['000000000007', 1],
    ['000000000007-0000-not-hex', 1],
    ['000000000007-00000000', 8],
  ])('beside a stray %s gets number %i', async (stray, number) => {
    one.fs.mkdirSync(`${ROOT}/${TRASH}/${stray}`);
    const folder = await newTrashFolder(one.catalog);
    expect(folder).toContain(`/${String(number).padStart(12, '0')}-`);
  });

  test('is removed with its record, in any state of both', async () => {
    table(`${TRASH}/one/inner.table`);
    record('one', {});
    record('two', {});
    table(`${TRASH}/three`);
    for (const name of ['one', 'two', 'three', 'none']) {
      await emptyTrash(one.catalog, `${TRASH}/${name}`);
    }
    expect(exists(`${TRASH}/one`)).toBe(false);
    expect(tree()).toEqual([]);
  });
});

describe('bringing back', () => {
  test('the table dropped last under that id', async () => {
    for (const [name, droppedAt] of [
      ['a', 6],
      ['b', 9],
      ['c', 7],
    ] as const) {
      table(`${TRASH}/${name}`, droppedAt);
      record(name, { droppedAt });
    }
    expect(await undrop('t')).toEqual({ id: ['t'], location: `${ROOT}/data/t.table` });
    expect(createdAt('data/t.table')).toBe(9);
    expect(exists(`${TRASH}/b.json`)).toBe(false);
    expect([exists(`${TRASH}/a.json`), exists(`${TRASH}/c.json`)]).toEqual([true, true]);
  });

  test('one of a namespace that was dropped with it; the others stay in the trash', async () => {
    namespace('prod');
    namespace('prod/search');
    namespace(`${TRASH}/x`);
    table(`${TRASH}/x/search/u.table`, 7);
    table(`${TRASH}/x/search/v.table`, 8);
    record('x', { kind: 'namespace', id: ['prod'] });
    expect(await undrop('prod', 'search', 'u')).toMatchObject({
      location: `${ROOT}/prod/search/u.table`,
    });
    expect(createdAt('prod/search/u.table')).toBe(7);
    expect(exists(`${TRASH}/x.json`)).toBe(true);
    expect(exists(`${TRASH}/x/search/v.table/.table.json`)).toBe(true);
  });

  test('only a table of that very id', async () => {
    namespace('prod');
    const notFound = {
      code: 'TableNotFound',
      message:
        'No dropped table prod$t is in the trash. It was never dropped, was brought back, or was purged.',
      details: { id: ['prod', 't'] },
    };
    const others: Partial<TrashRecord>[] = [
      { id: ['t'] },
      { id: ['prod'] },
      { id: ['prod', 'u'] },
      { id: ['test', 't'] },
      { id: ['prod', 't', 'u'] },
      { kind: 'namespace', id: ['prod', 't'] },
      { kind: 'namespace', id: ['prod', 't', 'u'] },
      { kind: 'namespace', id: ['test'] },
      // As a namespace, but without such a table in it.
      { kind: 'namespace', id: ['prod'] },
    ];
    for (const [at, dropped] of others.entries()) {
      table(`${TRASH}/${at}`);
      record(`${at}`, dropped);
    }
    expect(await outcomeOf(undrop('prod', 't'))).toMatchObject(notFound);
    table(`${TRASH}/last`, 9);
    record('last', { id: ['prod', 't'], droppedAt: 1 });
    await undrop('prod', 't');
    expect(createdAt('prod/t.table')).toBe(9);
    expect(await outcomeOf(undrop('prod', 't'))).toMatchObject(notFound);
  });

  test('nothing from an empty trash, or from none', async () => {
    expect(await outcomeOf(undrop('t'))).toMatchObject({ code: 'TableNotFound' });
    one.calls.list = (run, folder) => (folder === TRASH ? undefined : run(folder));
    expect(await outcomeOf(undrop('t'))).toMatchObject({ code: 'TableNotFound' });
  });

  test('past records that are damaged or missing, and folders that hold no table', async () => {
    table(`${TRASH}/damaged`, 1);
    write(`${TRASH}/damaged.json`, 'x');
    table(`${TRASH}/bare`, 2);
    record('hollow', { droppedAt: 99 });
    one.fs.mkdirSync(`${ROOT}/${TRASH}/hollow`);
    table(`${TRASH}/good`, 3);
    record('good', {});
    await undrop('t');
    expect(createdAt('data/t.table')).toBe(3);
  });

  test('not past a table whose record is damaged: the error says which to bring back instead', async () => {
    const entries = ['000000000001-a', '000000000002-b', '000000000003-c'];
    for (const [at, name] of entries.entries()) {
      table(`${TRASH}/${name}`, at + 1);
      record(name, {});
    }
    for (const name of entries.slice(1)) write(`${TRASH}/${name}/.table.json`, 'x');
    const newest = await undrop('t').catch((error: unknown) => error);
    expect(newest).toMatchObject({ code: 'Corrupt', details: { id: ['t'] } });
    expect((newest as Error).message).toMatch(/entry 0+3-c .* by its trash_id, 0+1-a\.$/);
    const named = (name?: string) =>
      undropTable(one.catalog, { id: ['t'], ...(name && { trash_id: name }) });
    await expect(named(entries[1])).rejects.toThrow(/entry 0+2-b .*damaged/);
    await named(entries[0]);
    expect(createdAt('data/t.table')).toBe(1);
    one.fs.rmSync(`${ROOT}/data/t.table`, { recursive: true });
    const none = await undrop('t').catch((error: unknown) => error);
    expect(none).toMatchObject({ code: 'Corrupt' });
    expect((none as Error).message).not.toContain('trash_id');
  });

  test('nothing where the disk fails: no older table is named in its place', async () => {
    const entries = ['000000000001-a', '000000000002-b'];
    for (const [at, name] of entries.entries()) {
      table(`${TRASH}/${name}`, at + 1);
      record(name, {});
    }
    one.calls.get = (run, file) => {
      if (file.endsWith('b/.table.json')) throw new DirspaceError('Internal', 'the disk failed');
      return run(file);
    };
    expect(await outcomeOf(undrop('t'))).toMatchObject({
      code: 'Internal',
      message: 'the disk failed',
    });
  });

  test('nothing where records are damaged, which the error names', async () => {
    table(`${TRASH}/damaged`, 1);
    write(`${TRASH}/damaged.json`, 'x');
    await expect(undrop('t')).rejects.toMatchObject({
      code: 'TableNotFound',
      message: expect.stringContaining('What damaged in the trash holds is not known'),
    });
  });

  test('not past a record that a newer release wrote', async () => {
    table(`${TRASH}/newer`);
    write(`${TRASH}/newer.json`, encodeChecksummed({ format: 2 }).bytes);
    expect(await outcomeOf(undrop('t'))).toMatchObject({ code: 'UnsupportedFormat' });
  });

  test('another one where somebody was faster with the first', async () => {
    for (const [name, droppedAt] of [
      ['a', 6],
      ['b', 9],
    ] as const) {
      table(`${TRASH}/${name}`, droppedAt);
      record(name, { droppedAt });
    }
    one.calls.moveFolder = (run, from, to) => {
      one.calls.moveFolder = undefined;
      one.fs.rmSync(`${ROOT}/${from}`, { recursive: true });
      return run(from, to);
    };
    await undrop('t');
    expect(createdAt('data/t.table')).toBe(6);
  });

  test('nowhere that a table or a namespace is', async () => {
    table(`${TRASH}/a`, 6);
    record('a', {});
    table('data/t.table', 7);
    expect(await outcomeOf(undrop('t'))).toMatchObject({
      code: 'TableAlreadyExists',
      message: 'A table t exists now. Rename or drop it before bringing back the dropped one.',
      details: { id: ['t'] },
    });
    expect(createdAt('data/t.table')).toBe(7);
    one.fs.rmSync(`${ROOT}/data/t.table`, { recursive: true });
    namespace('t');
    expect(await outcomeOf(undrop('t'))).toMatchObject({ code: 'TableAlreadyExists' });
    expect([exists('data/t.table'), exists(`${TRASH}/a/.table.json`)]).toEqual([false, true]);
  });

  test('a namespace of that name that came meanwhile wins', async () => {
    table(`${TRASH}/a`, 6);
    record('a', {});
    one.calls.moveFolder = (run, from, to) => {
      one.calls.moveFolder = undefined;
      namespace('t');
      return run(from, to);
    };
    expect(await outcomeOf(undrop('t'))).toMatchObject({ code: 'TableAlreadyExists' });
    expect(tree()).toEqual([`${TRASH}/a.json`, `${TRASH}/a/.table.json`, 't/.namespace.json']);
  });

  test.each([
    [[], 'InvalidInput'],
    [['missing', 't'], 'NamespaceNotFound'],
  ])('%j is refused', async (id, code) => {
    table(`${TRASH}/a`);
    record('a', { id: ['missing', 't'] });
    expect(await outcomeOf(undropTable(one.catalog, { id }))).toMatchObject({ code });
  });

  test('not in a catalog that is read-only', async () => {
    const catalog = { ...one.catalog, readOnly: true };
    expect(await outcomeOf(undropTable(catalog, { id: ['t'] }))).toMatchObject({
      code: 'ReadOnly',
    });
    const purge = (dry_run: boolean) => purgeTrash(catalog, { older_than_millis: 0, dry_run });
    expect(await outcomeOf(purge(false))).toMatchObject({ code: 'ReadOnly' });
    expect(await purge(true)).toEqual({ removed: 0, dry_run: true });
  });
});

describe('of several under one id', () => {
  /** Three drops by processes whose clocks disagree; creation times tell them apart. */
  async function dropped(): Promise<string[]> {
    const names: string[] = [];
    for (const [at, time] of [3e12, 1e12, 2e12].entries()) {
      table('data/t.table', at + 1);
      const process = testEngine({ fs: one.fs, firstId: 1000 * at + 1000 });
      process.clock.time = time;
      await dropTable(process.catalog, { id: ['t'] });
      const { entries } = await listTrash(one.catalog, {});
      names.unshift(entries[0]?.trash_id as string);
    }
    return names;
  }

  test('the one dropped last comes back, not the one of the fastest clock', async () => {
    await dropped();
    // Of an older release, which wrote no numbers: before all that have one.
    table(`${TRASH}/0000aaaa`, 99);
    record('0000aaaa', { droppedAt: 9e12 });
    const order: unknown[] = [];
    for (let time = 0; time < 4; time++) {
      await undrop('t');
      order.push(createdAt('data/t.table'));
      one.fs.rmSync(`${ROOT}/data/t.table`, { recursive: true });
    }
    expect(order).toEqual([3, 2, 1, 99]);
  });

  test('each is listed, newest first, and brought back by its name', async () => {
    const names = await dropped();
    const { entries } = await listTrash(one.catalog, {});
    expect(entries.map(({ trash_id }) => trash_id)).toEqual(names);
    expect(entries[0]).toEqual({ trash_id: names[0], kind: 'table', id: ['t'], dropped_at: 2e12 });
    await undropTable(one.catalog, { id: ['t'], trash_id: names[2] as string });
    expect(createdAt('data/t.table')).toBe(1);
    one.fs.rmSync(`${ROOT}/data/t.table`, { recursive: true });
    for (const [id, trash_id] of [
      [['t'], names[2]],
      [['t'], '../../data'],
      [['u'], names[0]],
    ] as const) {
      const refused = undropTable(one.catalog, { id, trash_id: trash_id as string });
      expect(await outcomeOf(refused)).toMatchObject({ code: 'TableNotFound' });
    }
  });

  test('a namespace is listed with its tables, and by where it was', async () => {
    namespace('prod');
    namespace(`${TRASH}/000000000001-00000000`);
    namespace(`${TRASH}/000000000001-00000000/search`);
    table(`${TRASH}/000000000001-00000000/search/u.table`, 7);
    table(`${TRASH}/000000000001-00000000/a.table`, 7);
    record('000000000001-00000000', { kind: 'namespace', id: ['prod'] });
    table(`${TRASH}/000000000002-00000000`);
    record('000000000002-00000000', { id: ['prod', 't'] });
    table(`${TRASH}/000000000003-00000000`);
    write(`${TRASH}/000000000003-00000000.json`, 'damaged');
    record('000000000004-00000000', {});
    const names = async (id: string[]) =>
      (await listTrash(one.catalog, { id })).entries.map(({ trash_id }) =>
        Number(trash_id.slice(0, 12)),
      );
    expect(await names([])).toEqual([3, 2, 1]);
    expect(await names(['prod'])).toEqual([2, 1]);
    expect(await names(['prod', 't'])).toEqual([2]);
    expect(await names(['other'])).toEqual([]);
    const { entries } = await listTrash(one.catalog, {});
    expect(entries[0]).toEqual({ trash_id: '000000000003-00000000', kind: 'unknown', id: [] });
    expect(entries[2]?.tables).toEqual([
      ['prod', 'a'],
      ['prod', 'search', 'u'],
    ]);
  });
});

/** As if it had been dropped so many milliseconds ago. */
function aged(file: string, ms: number): void {
  const then = new Date(Date.now() - ms);
  one.fs.utimesSync(`${ROOT}/${file}`, then, then);
}
const HOUR = 3_600_000;
const DAY = 24 * HOUR;

describe('a list of the trash', () => {
  const listed = async () => (await listTrash(one.catalog, {})).entries.map(({ tables }) => tables);

  test('names the tables of a dropped namespace at any depth, sorted, and nothing that is none', async () => {
    const dropped = `${TRASH}/000000000001-a`;
    record('000000000001-a', { kind: 'namespace', id: ['n'] });
    namespace(dropped);
    table(`${dropped}/z.table`);
    namespace(`${dropped}/inner`);
    table(`${dropped}/inner/b.table`);
    table(`${dropped}/inner/a.table`);
    write(`${dropped}/odd.table/file`, 'a folder without a record');
    write(`${dropped}/foreign/t.table/.table.json`, 'in a folder without a marker');
    write(`${dropped}/%zz.table/.table.json`, 'no name of the catalog');
    write(`${dropped}/file.table`, 'no folder');
    expect(await listed()).toEqual([
      [
        ['n', 'inner', 'a'],
        ['n', 'inner', 'b'],
        ['n', 'z'],
      ],
    ]);
  });

  test('names a thousand tables of a namespace at most', async () => {
    const dropped = `${TRASH}/000000000001-a`;
    record('000000000001-a', { kind: 'namespace', id: ['n'] });
    namespace(dropped);
    for (let at = 0; at < 1001; at++) table(`${dropped}/t${at}.table`);
    expect((await listed())[0]).toHaveLength(1000);
  });

  test('names no tables of a namespace that is emptied meanwhile', async () => {
    const dropped = `${TRASH}/000000000001-a`;
    record('000000000001-a', { kind: 'namespace', id: ['n'] });
    table(`${dropped}/t.table`);
    one.calls.list = (run, folder) => {
      if (folder === dropped) one.fs.rmSync(`${ROOT}/${dropped}`, { recursive: true });
      return run(folder);
    };
    expect(await listed()).toEqual([[]]);
  });
});

describe('tables that were deregistered', () => {
  const DETACHED = '.dirspace/detached';
  const recorded = (name: string, age: number): void => {
    const file = `${DETACHED}/${name}.table.json`;
    write(file, encodeTrash({ kind: 'table', id: [name], droppedAt: 5 }));
    aged(file, age);
  };

  test('are listed where their record is damaged, and purged with records left of others', async () => {
    recorded('0000000a', 2 * HOUR);
    recorded('0000000b', 0.75 * HOUR);
    recorded('0000000c', 2 * HOUR);
    write(`${DETACHED}/0000000c.table/.table.json`, 'damaged');
    const before = tree();
    expect(await listTrash(one.catalog, { detached: true })).toEqual({
      entries: [
        {
          trash_id: '0000000c.table',
          kind: 'detached',
          id: ['0000000c'],
          location: `${ROOT}/${DETACHED}/0000000c.table`,
          dropped_at: 5,
        },
      ],
    });
    const purge = (dry_run: boolean, catalog = one.catalog) =>
      purgeTrash(catalog, { older_than_millis: HOUR / 2, detached: true, dry_run });
    one.clock.time = Date.now();
    const reader = { ...one.catalog, readOnly: true };
    expect(await outcomeOf(purge(false, reader))).toMatchObject({ code: 'ReadOnly' });
    expect(await purge(true, reader)).toEqual({ removed: 1, dry_run: true });
    expect(await purge(true)).toEqual({ removed: 1, dry_run: true });
    expect(tree()).toEqual(before);
    expect(await purge(false)).toEqual({ removed: 1, dry_run: false });
    expect(tree()).toEqual([`${DETACHED}/0000000b.table.json`]);
  });

  test('are not listed where the disk fails', async () => {
    recorded('0000000c', 0);
    table(`${DETACHED}/0000000c.table`);
    one.calls.get = (run, file) => {
      if (file.endsWith('/.table.json')) throw new DirspaceError('Internal', 'the disk failed');
      return run(file);
    };
    expect(await outcomeOf(listTrash(one.catalog, { detached: true }))).toMatchObject({
      code: 'Internal',
    });
  });
});

describe('what closes the place of a table that was removed', () => {
  const placeOf = (at: number): string => reservedFolder(String(at).padStart(8, '0'));
  const isThere = (): number[] =>
    Array.from({ length: 6 }, (_, at) => at).filter((at) => exists(placeOf(at)));

  test('goes after a month; what else is there stays', async () => {
    for (const at of [0, 1]) await fence(one.catalog, placeOf(at), 'dropped');
    await fence(one.catalog, placeOf(2), 'rows');
    write(placeOf(3), 'of somebody else');
    for (const at of [0, 2, 3]) aged(placeOf(at), 31 * DAY);
    aged(placeOf(1), 29 * DAY);
    write(`${placeOf(4)}/data/a.lance`, 'rows');
    await fence(one.catalog, placeOf(5), 'dropped');
    await sweepTrash(one.catalog);
    expect(isThere()).toEqual([1, 2, 3, 4, 5]);
  });

  test('stays where it is gone at the look', async () => {
    await fence(one.catalog, placeOf(0), 'dropped');
    aged(placeOf(0), 31 * DAY);
    one.calls.head = (run, file) => (file === placeOf(0) ? undefined : run(file));
    await sweepTrash(one.catalog);
    expect(isThere()).toEqual([0]);
  });

  test('counts among the thousand of one run', async () => {
    for (let at = 0; at < 1001; at++) {
      await fence(one.catalog, placeOf(at), 'dropped');
      aged(placeOf(at), 31 * DAY);
    }
    const folder = `${ROOT}/.dirspace/lance`;
    await sweepTrash(one.catalog, async () => {});
    expect(one.fs.readdirSync(folder)).toHaveLength(1);
    await sweepTrash(one.catalog, async () => {});
    expect(one.fs.readdirSync(folder)).toEqual([]);
  });

  test('is found behind a thousand that stay', async () => {
    for (let at = 0; at < 1002; at++)
      await fence(one.catalog, placeOf(at), at < 1001 ? 'rows' : 'dropped');
    aged(placeOf(1001), 31 * DAY);
    await sweepFrom(0, 0.9999);
    expect(exists(placeOf(1001))).toBe(false);
    expect(one.fs.readdirSync(`${ROOT}/.dirspace/lance`)).toHaveLength(1001);
  });
});

/** Sweeps that begin at these shares of what there is. */
async function sweepFrom(...shares: readonly number[]): Promise<void> {
  for (const share of shares) {
    one.clock.random = () => share;
    await sweepTrash(one.catalog, async () => {});
  }
}

describe('paths by which clients of Lance opened tables', () => {
  const FOLDER = `${ROOT}/.dirspace/opened`;
  const link = (name: string, age: number): void => {
    one.fs.mkdirSync(FOLDER, { recursive: true });
    one.fs.symlinkSync('../../data/gone.table', `${FOLDER}/${name}`);
    const then = (Date.now() - age) / 1000;
    one.fs.lutimesSync(`${FOLDER}/${name}`, then, then);
  };

  test('are found behind a thousand that stay', async () => {
    for (let at = 1000; at < 2001; at++) link(`n${at}`, 29 * DAY);
    link('z', 31 * DAY);
    await sweepFrom(0, 0.9999);
    expect(one.fs.readdirSync(FOLDER)).toHaveLength(1001);
    expect(one.fs.readdirSync(FOLDER)).not.toContain('z');
  });

  test('go a month after their table; younger ones and what is no link stay', async () => {
    link('old', 31 * DAY);
    link('young', 29 * DAY);
    one.fs.writeFileSync(`${FOLDER}/file`, '');
    await sweepTrash(one.catalog);
    expect(one.fs.readdirSync(FOLDER)).toEqual(['file', 'young']);
  });

  test('count among the thousand of one run', async () => {
    for (let at = 0; at < 1001; at++) link(`${at}`, 31 * DAY);
    await sweepTrash(one.catalog, async () => {});
    expect(one.fs.readdirSync(FOLDER)).toHaveLength(1);
    await sweepTrash(one.catalog, async () => {});
    expect(one.fs.readdirSync(FOLDER)).toEqual([]);
  });
});

describe('retention', () => {
  const entry = (name: string, age: number, dropped: Partial<TrashRecord> = {}): void => {
    table(`${TRASH}/${name}`);
    aged(`${TRASH}/${name}/.table.json`, age);
    record(name, dropped);
    aged(`${TRASH}/${name}.json`, age);
  };
  test('removes what is older, by the file system and not by who dropped it', async () => {
    entry('0000000a', 8 * DAY, { droppedAt: 9e12 });
    entry('0000000b', 6 * DAY, { droppedAt: 1 });
    entry('0000000c', 8 * DAY);
    write(`${TRASH}/0000000c.json`, 'damaged');
    aged(`${TRASH}/0000000c.json`, 8 * DAY);
    await sweepTrash(one.catalog);
    expect(left()).toEqual(['0000000b']);
    expect(tree().filter((path) => /staging|clock-/.test(path))).toEqual([]);
  });

  test('records without a folder and folders without a record go too, once no drop can be at work', async () => {
    record('0000000a', {});
    aged(`${TRASH}/0000000a.json`, 2 * HOUR);
    record('0000000b', {});
    table(`${TRASH}/0000000c`);
    aged(`${TRASH}/0000000c/.table.json`, 2 * HOUR);
    one.fs.mkdirSync(`${ROOT}/${TRASH}/0000000d`);
    write(`${TRASH}/notes.txt`, 'mine');
    await sweepTrash({ ...one.catalog, trashRetention: HOUR });
    expect(tree()).toEqual([`${TRASH}/0000000b.json`, `${TRASH}/notes.txt`]);
  });

  test('of 0 keeps nothing that is dropped, of Infinity everything', async () => {
    table('data/t.table');
    await dropTable({ ...one.catalog, trashRetention: 0 }, { id: ['t'] });
    expect(tree()).toEqual([]);
    entry('0000000a', 1000 * DAY);
    await sweepTrash({ ...one.catalog, trashRetention: Number.POSITIVE_INFINITY });
    expect(left()).toEqual(['0000000a']);
  });

  test('removes a thousand entries in one run, and the others in the next', async () => {
    for (let at = 0; at < 1001; at++) {
      write(`${TRASH}/${at}/file`, 'x');
      record(`${at}`, {});
      aged(`${TRASH}/${at}.json`, 8 * DAY);
    }
    await sweepTrash(one.catalog, async () => {});
    expect(left()).toHaveLength(1);
    await sweepTrash(one.catalog, async () => {});
    expect(left()).toEqual([]);
  });

  test('ends where the disk fails, without failing its caller; the next one goes on', async () => {
    entry('0000000a', 9 * DAY);
    entry('0000000b', 9 * DAY);
    let tried = 0;
    one.calls.moveFolder = () => {
      tried += 1;
      return Promise.reject(new DirspaceError('Internal', 'the disk failed'));
    };
    await sweepTrash(one.catalog);
    expect([tried, left()]).toEqual([1, ['0000000a', '0000000b']]);
    one.calls.moveFolder = undefined;
    await sweepTrash(one.catalog);
    expect(left()).toEqual([]);
  });

  test('does not touch what a newer release recorded', async () => {
    entry('0000000a', 9 * DAY);
    write(`${TRASH}/0000000a.json`, encodeChecksummed({ format: 2 }).bytes);
    aged(`${TRASH}/0000000a.json`, 9 * DAY);
    await sweepTrash(one.catalog);
    expect(left()).toEqual(['0000000a']);
  });

  test('is kept in the background: one run after a while, ended by the signal', async () => {
    for (const name of ['0000000a', '0000000b', '0000000c']) entry(name, 8 * DAY);
    const closing = new AbortController();
    let sleeps = 0;
    one.clock.onSleep = () => {
      // The first is the wait before the run; then one before each entry.
      if (++sleeps === 3) closing.abort();
    };
    await sweepInBackground(one.catalog, closing.signal);
    expect(left()).toHaveLength(2);
    expect(one.clock.sleeps[0]).toBe(1000);
    one.clock.onSleep = undefined;
    await sweepInBackground(one.catalog, AbortSignal.abort());
    expect(left()).toHaveLength(2);
    await sweepInBackground(one.catalog, new AbortController().signal);
    expect(left()).toEqual([]);
  });

  test('who brings a table back while it is removed gets all of it or nothing', async () => {
    for (let call = 0; call < 6; call++) {
      entry('0000000a', 8 * DAY);
      write(`${TRASH}/0000000a/data/11111111.arrow`, 'rows');
      const two = testEngine({ fs: one.fs, firstId: 1000 });
      let calls = 0;
      let other: unknown;
      const meanwhile = async (): Promise<void> => {
        if (calls++ === call) other = await outcomeOf(undropTable(two.catalog, { id: ['t'] }));
      };
      for (const name of ['moveFolder', 'delete', 'deleteFolder'] as const) {
        one.calls[name] = (async (run: (...args: unknown[]) => unknown, ...args: unknown[]) => {
          await meanwhile();
          const done = await run(...args);
          await meanwhile();
          return done;
        }) as never;
      }
      await sweepTrash(one.catalog);
      for (const name of ['moveFolder', 'delete', 'deleteFolder'] as const)
        one.calls[name] = undefined;
      const files = tree().filter((path) => path.startsWith('data/'));
      const whole = ['data/t.table/.table.json', 'data/t.table/data/11111111.arrow'];
      expect([whole, []], `call ${call}`).toContainEqual(files);
      if (other !== undefined) {
        expect(other).toMatchObject(files.length > 0 ? { value: {} } : { code: 'TableNotFound' });
      }
      one.fs.rmSync(`${ROOT}/data/t.table`, { recursive: true, force: true });
      one.fs.rmSync(`${ROOT}/${TRASH}`, { recursive: true, force: true });
      one.fs.mkdirSync(`${ROOT}/${TRASH}`);
    }
  });

  test.each([
    [0, 0],
    ['0', 0],
    [1500, 1500],
    ['7d', 7 * DAY],
    ['12h', 12 * HOUR],
    ['1.5h', 1.5 * HOUR],
    ['90s', 90_000],
    ['5ms', 5],
    [Number.POSITIVE_INFINITY, Number.POSITIVE_INFINITY],
  ])('of %j is %d milliseconds', (given, millis) => {
    expect(parseRetention(given)).toBe(millis);
  });

  test.each([-1, Number.NaN, '7', '7 days', '-7d', '', 'd', null, {}])(
    'of %j is refused',
    (given) => {
      expect(() => parseRetention(given as string)).toThrow(/trashRetention is .*such as "7d"/);
    },
  );
});

describe('what dead processes leave', () => {
  const dead = processTag({ ...thisProcess(), pid: 0x7ffffff0 });
  const elsewhere = processTag({ host: '00000000', pid: 1, start: 1 });
  const uuid = '00000000-0000-4000-8000-000000000000';

  test('in staging, and files that tell the time, is removed; what others may still use stays', async () => {
    for (const tag of [dead, elsewhere, processTag()]) {
      write(`.dirspace/staging/${tag}-${uuid.replaceAll('-', '')}/.table.json`, 'x');
      write(`.dirspace/clock-${tag}-${uuid}`, 'now');
    }
    write(`.dirspace/clock-${uuid}`, 'of an older release');
    write('.dirspace/clock-old', 'now');
    aged('.dirspace/clock-old', 2 * HOUR);
    await sweepStaging(one.catalog);
    const found = tree().filter((path) => /staging|clock/.test(path));
    expect(found.some((path) => path.includes(dead))).toBe(false);
    for (const tag of [elsewhere, processTag()]) {
      expect(found.filter((path) => path.includes(tag))).toHaveLength(2);
    }
    expect(found).toContain(`.dirspace/clock-${uuid}`);
    expect(found).not.toContain('.dirspace/clock-old');
    aged(`.dirspace/clock-${elsewhere}-${uuid}`, 2 * HOUR);
    await sweepStaging(one.catalog);
    expect(exists(`.dirspace/clock-${elsewhere}-${uuid}`)).toBe(false);
  });
});

describe('verify', () => {
  test('says whether it read the trash, and finds damage there once it is told to', async () => {
    one.fs.writeFileSync(
      `${ROOT}/.dirspace/format.json`,
      encodeFormat({ foldsCase: false, properties: {} }),
    );
    namespace(`${TRASH}/0000000a`);
    table(`${TRASH}/0000000a/u.table`);
    record('0000000a', { kind: 'namespace', id: ['n'] });
    table(`${TRASH}/0000000b`);
    record('0000000b', {});
    write(`${TRASH}/0000000a/u.table/.table.json`, 'damaged');
    const cheap = await verifyCatalog(one.catalog, {});
    expect([cheap.ok, cheap.trash_checked, cheap.counts.tables]).toEqual([true, false, 0]);
    const whole = await verifyCatalog(one.catalog, { trash: true });
    expect([whole.ok, whole.trash_checked, whole.counts.tables]).toEqual([false, true, 1]);
    expect(whole.problems.map(({ path }) => path)).toEqual([
      `${TRASH}/0000000a/u.table/.table.json`,
    ]);
  });
});

describe('purging', () => {
  const purge = (older_than_millis: number, dry_run?: boolean) =>
    purgeTrash(one.catalog, {
      older_than_millis,
      ...(dry_run === undefined ? {} : { dry_run }),
    });

  test('what was dropped as long ago as asked, with records; the rest stays', async () => {
    for (const age of [0, 99, 101, 102]) {
      table(`${TRASH}/${age}`);
      record(`${age}`, {});
      aged(`${TRASH}/${age}.json`, age * HOUR);
    }
    write(`${TRASH}/lone.json`, 'x');
    const before = tree();
    expect(await purge(100 * HOUR, true)).toEqual({ removed: 2, dry_run: true });
    expect(tree()).toEqual(before);
    expect(await purge(100 * HOUR, false)).toEqual({ removed: 2, dry_run: false });
    expect(tree()).toEqual(before.filter((path) => !/\/10[12](\.json|\/)/.test(path)));
    expect(await purge(0)).toEqual({ removed: 2, dry_run: false });
    expect(await purge(0)).toEqual({ removed: 0, dry_run: false });
    // Perhaps a drop has written it and is about to move the folder.
    expect(tree()).toEqual([`${TRASH}/lone.json`]);
  });

  test('a record whose folder never came goes too, and is counted as nothing removed', async () => {
    record('lone', {});
    aged(`${TRASH}/lone.json`, 2 * HOUR);
    expect(await purge(HOUR)).toEqual({ removed: 0, dry_run: false });
    expect(tree()).toEqual([]);
  });

  test('a dry run of a catalog opened read-only writes nothing and tells the age by its own clock', async () => {
    table(`${TRASH}/old`);
    record('old', {});
    aged(`${TRASH}/old.json`, 100 * HOUR);
    one.calls.putHint = () => Promise.reject(new Error('nothing is written'));
    one.clock.time = Date.now();
    const request = { older_than_millis: HOUR, dry_run: true };
    expect(await purgeTrash({ ...one.catalog, readOnly: true }, request)).toEqual({
      removed: 1,
      dry_run: true,
    });
  });

  test('what this catalog dropped a moment ago is old enough for an age of 0', async () => {
    for (let time = 0; time < 3; time++) {
      const folder = await prepareTrash(one.catalog, 'table', ['t']);
      table(folder);
    }
    expect(await purge(0)).toEqual({ removed: 3, dry_run: false });
    expect(tree()).toEqual([]);
  });
});
