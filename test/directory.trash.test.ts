/** The trash: what is brought back from it, what is removed for good, and what stays. */
import { beforeEach, describe, expect, test } from 'vitest';
import {
  emptyTrash,
  newTrashFolder,
  prepareTrash,
  purgeTrash,
  recordTrash,
  undropTable,
} from '../src/directory/trash.ts';
import { encodeChecksummed } from '../src/format/json.ts';
import {
  decodeTrash,
  encodeNamespace,
  encodeTable,
  encodeTrash,
  type TrashRecord,
} from '../src/format/records.ts';
import { filesOf } from './helpers/catalog-files.ts';
import { outcomeOf, ROOT, type TestEngine, testEngine } from './helpers/engines.ts';

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
const tree = (): string[] =>
  filesOf(one.fs, ROOT)
    .all()
    .filter((path) => !path.endsWith('/'));
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

const undrop = (...id: string[]) => undropTable(one.catalog, { id });

describe('what is dropped', () => {
  test('gets a folder of its own, and a record beside it', async () => {
    expect(newTrashFolder(one.catalog)).not.toBe(newTrashFolder(one.catalog));
    const folder = await prepareTrash(one.catalog, 'table', ['a', 't']);
    expect(folder).toMatch(/^\.dirspace\/trash\/[0-9a-f-]{36}$/);
    expect(tree()).toEqual([`${folder}.json`]);
    const bytes = one.fs.readFileSync(`${ROOT}/${folder}.json`) as Uint8Array;
    expect(decodeTrash(bytes, 'r')).toEqual({
      kind: 'table',
      id: ['a', 't'],
      droppedAt: one.clock.time,
    });
  });

  test('of two within a millisecond the later one counts as later, also when time goes back', async () => {
    const times: number[] = [];
    for (const step of [0, 0, 0, 10, -50]) {
      one.clock.time += step;
      await recordTrash(one.catalog, `${TRASH}/r`, 'table', ['t']);
      const bytes = one.fs.readFileSync(`${ROOT}/${TRASH}/r.json`) as Uint8Array;
      times.push(decodeTrash(bytes, 'r').droppedAt);
      one.fs.unlinkSync(`${ROOT}/${TRASH}/r.json`);
    }
    const start = one.clock.time + 40;
    expect(times).toEqual([start, start + 1, start + 2, start + 10, start + 11]);
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

describe('purging', () => {
  const purge = (older_than_millis: number, dry_run?: boolean) =>
    purgeTrash(one.catalog, {
      older_than_millis,
      ...(dry_run === undefined ? {} : { dry_run }),
    });

  test('what was dropped as long ago as asked, with records; the rest stays', async () => {
    const now = one.clock.time;
    for (const age of [0, 99, 100, 101]) {
      table(`${TRASH}/${age}`);
      record(`${age}`, { droppedAt: now - age });
    }
    table(`${TRASH}/bare`);
    write(`${TRASH}/lone.json`, 'x');
    const before = tree();
    expect(await purge(100, true)).toEqual({ removed: 2, dry_run: true });
    expect(tree()).toEqual(before);
    expect(await purge(100, false)).toEqual({ removed: 2, dry_run: false });
    expect(tree()).toEqual(before.filter((path) => !/\/10[01](\.json|\/)/.test(path)));
    expect(await purge(0)).toEqual({ removed: 2, dry_run: false });
    expect(await purge(0)).toEqual({ removed: 0, dry_run: false });
    expect(tree()).toEqual([`${TRASH}/bare/.table.json`, `${TRASH}/lone.json`]);
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
