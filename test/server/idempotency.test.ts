/** Idempotency keys across restarts: every change is made once and answered alike, or refused as another. */
import { describe, expect, test } from 'vitest';
import { openDirectoryNamespace } from '../../src/directory/directory-namespace.ts';
import { systemEnv } from '../../src/env.ts';
import { decodeKey, encodeKey } from '../../src/format/catalog/records.ts';
import { filesOf, memoryFs, type TestFs } from '../helpers/catalogs.ts';
import { FaultyFs } from '../helpers/faulty-fs.ts';
import { casesOf } from '../helpers/long.ts';
import { copyOf } from '../helpers/memory-fs.ts';
import {
  type Answered,
  ARROW,
  ask,
  restPair,
  someRows,
  streamBytes,
} from '../helpers/rest-pair.ts';

const ROOT = '/c';

/** A catalog on `fs`, and one request to a server of it, which ends before the answer is looked at. */
async function send(
  fs: TestFs,
  path: string,
  body: unknown,
  { key = 'k', now }: { readonly key?: string; readonly now?: number } = {},
): Promise<Answered> {
  const env = now === undefined ? systemEnv : { ...systemEnv, now: () => now };
  const namespace = await openDirectoryNamespace({ root: ROOT, fs, env, durability: 'relaxed' });
  const pair = await restPair({ namespace });
  const headers = { 'idempotency-key': key, ...(body instanceof Uint8Array ? ARROW : {}) };
  const answer = await ask(pair, 'POST', path, body, headers);
  await pair.close();
  await namespace.close();
  return answer;
}

/** What a caller sees of the catalog. */
async function seen(fs: TestFs): Promise<unknown> {
  const namespace = await openDirectoryNamespace({ root: ROOT, fs, durability: 'relaxed' });
  const { tables } = await namespace.listAllTables({});
  const each = await Promise.all(
    tables.map(async (name) => {
      const id = name.split('$');
      return [
        name,
        (await namespace.listTableVersions({ id })).versions.map(({ version }) => version),
        Object.keys((await namespace.listTableTags({ id })).tags),
        Object.keys((await namespace.listTableBranches({ id })).branches),
      ];
    }),
  );
  const spaces = (await namespace.listNamespaces({ id: [] })).namespaces;
  const about = await namespace.describeNamespace({ id: ['full'] }).catch(() => undefined);
  const trash = (await namespace.listTrash({})).entries.map(({ id }) => id.join('$'));
  const { problems } = await namespace.verify({});
  await namespace.close();
  expect(problems).toEqual([]);
  return { each, spaces, about, trash };
}

let made: Promise<TestFs> | undefined;
/** Each a copy of one that was made once. */
async function catalog(): Promise<TestFs> {
  made ??= makeCatalog();
  return copyOf(await made);
}

async function makeCatalog(): Promise<TestFs> {
  const fs = memoryFs();
  const env = { ...systemEnv, now: () => 1_700_000_000_000 };
  const namespace = await openDirectoryNamespace({ root: ROOT, fs, env, durability: 'relaxed' });
  await namespace.createNamespace({ id: ['full'] });
  await namespace.createNamespace({ id: ['empty'] });
  for (const id of [['t'], ['u'], ['gone'], ['full', 'v']]) {
    await namespace.createTable({ id }, someRows());
    await namespace.insertIntoTable({ id }, someRows());
  }
  await namespace.createTableTag({ id: ['t'], tag: 'old', version: 1 });
  await namespace.createTableBranch({ id: ['t'], name: 'side' });
  await namespace.dropTable({ id: ['gone'] });
  await namespace.close();
  return fs;
}

const bytes = await streamBytes();
const merge = '?on=id&when_matched_update_all=true';

/** A request, and another one that its key must not stand for. */
const CHANGES: readonly (readonly [path: string, body: unknown, other: unknown])[] = [
  ['/v1/table/new/create', bytes, await streamBytes(someRows(4))],
  ['/v1/table/t/create?mode=overwrite', bytes, await streamBytes(someRows(4))],
  ['/v1/table/t/create?mode=exist_ok', bytes, undefined],
  ['/v1/table/t/insert', bytes, await streamBytes(someRows(4))],
  [`/v1/table/t/merge_insert${merge}`, bytes, await streamBytes(someRows(4))],
  [`/v1/table/t/merge_insert?on=id`, bytes, await streamBytes(someRows(4))],
  ['/v1/table/t/update', { updates: [['id', 'id + 1']] }, { updates: [['id', 'id + 2']] }],
  [
    '/v1/table/t/update',
    { predicate: 'id > 99', updates: [['id', '1']] },
    { updates: [['id', '1']] },
  ],
  ['/v1/table/t/delete', { predicate: 'id = 1' }, { predicate: 'id = 2' }],
  ['/v1/table/t/delete', { predicate: 'id = 99' }, { predicate: 'id < 99' }],
  ['/v1/table/t/declare', undefined, undefined],
  ['/v1/table/new/declare', {}, { properties: { a: 'b' } }],
  ['/v1/table/t/drop', {}, undefined],
  ['/v1/dirspace/table/gone/undrop', {}, undefined],
  ['/v1/table/t/rename', { new_table_name: 'w' }, { new_table_name: 'x' }],
  ['/v1/table/t/restore', { version: 1 }, { version: 2 }],
  ['/v1/table/t/tags/create', { tag: 'new', version: 1 }, { tag: 'new', version: 2 }],
  ['/v1/table/t/tags/update', { tag: 'old', version: 2 }, { tag: 'old', version: 1 }],
  ['/v1/table/t/tags/delete', { tag: 'old' }, { tag: 'new' }],
  ['/v1/table/t/branches/create', { name: 'b' }, { name: 'c' }],
  ['/v1/table/t/branches/delete', { name: 'side' }, { name: 'b' }],
  ['/v1/table/t/add_columns', { new_columns: [{ name: 'x', expression: 'id' }] }, undefined],
  ['/v1/table/t/drop_columns', { columns: ['id'] }, { columns: ['x'] }],
  ['/v1/namespace/new/create', { properties: { a: 'b' } }, { properties: { a: 'c' } }],
  ['/v1/namespace/full/create', { mode: 'overwrite' }, { mode: 'exist_ok' }],
  ['/v1/namespace/empty/drop', {}, { behavior: 'cascade' }],
  ['/v1/namespace/full/drop', { behavior: 'cascade' }, {}],
];

describe('after a restart', () => {
  test.each(CHANGES)('%s %j', async (path, body, other) => {
    const fs = await catalog();
    const first = await send(fs, path, body);
    if (first.status >= 400) {
      // What was refused left nothing to answer with.
      expect(
        filesOf(fs, ROOT)
          .all()
          .some((file) => /keys.*json$/.test(file)),
      ).toBe(false);
      return;
    }
    const after = await seen(fs);
    const again = await send(fs, path, body);
    expect([again.status, again.json]).toEqual([first.status, first.json]);
    expect(await seen(fs)).toEqual(after);
    const others: [string, unknown][] = [
      ['/v1/namespace/else/create', {}],
      ['/v1/table/u/insert', bytes],
      ['/v1/table/u/drop', {}],
      ...(other === undefined ? [] : [[path, other] as [string, unknown]]),
    ];
    for (const [otherPath, otherBody] of others) {
      const refused = await send(fs, otherPath, otherBody);
      expect(refused, otherPath).toMatchObject({
        status: 422,
        json: { detail: expect.stringMatching(/was [0-9a-z]{12,27}, and .* is [0-9a-z]{12,27}\./) },
      });
    }
    expect(await seen(fs)).toEqual(after);
    // Under a key of its own it is a request like any other.
    expect((await send(fs, '/v1/namespace/else/create', {}, { key: 'k2' })).status).toBe(200);
  });
});

test('an answer is kept for a day at least, and not for two', async () => {
  const fs = await catalog();
  const hour = 3_600_000;
  const began = 20_000 * 24 * hour + 11.9 * hour;
  const drop = async (after: number): Promise<number> =>
    (await send(fs, '/v1/table/t/drop', {}, { now: began + after * hour })).status;
  expect([await drop(0), await drop(1), await drop(24)]).toEqual([200, 200, 200]);
  expect(await drop(48)).toBe(404);
  const folders = (): string[] => [
    ...new Set(
      filesOf(fs, ROOT)
        .all()
        .flatMap((file) => /keys\/(\d+)\/./.exec(file)?.[1] ?? []),
    ),
  ];
  // What begins a period removes the folders that are too old.
  expect(folders()).toEqual([]);
  await send(fs, '/v1/table/u/drop', {}, { key: 'k2', now: began + 72 * hour });
  expect(folders()).toEqual([String(Math.floor((began + 72 * hour) / (12 * hour)))]);
});

test('a damaged answer is an error that names its file, and verify finds it', async () => {
  const fs = await catalog();
  expect((await send(fs, '/v1/table/t/drop', {})).status).toBe(200);
  const files = filesOf(fs, ROOT);
  const file = files.all().find((name) => /keys.*json$/.test(name)) as string;
  const content = files.read(file);
  content[40] = (content[40] as number) ^ 1;
  files.write(file, content);
  const again = await send(fs, '/v1/table/t/drop', {});
  expect(again.status).toBe(500);
  const namespace = await openDirectoryNamespace({ root: ROOT, fs });
  expect((await namespace.verify({})).problems).toMatchObject([
    { kind: 'key', path: expect.stringContaining('.dirspace/keys/') },
  ]);
  await namespace.close();
});

const WRITES = ['writeSync', 'writev', 'mkdirSync', 'mkdir', 'linkSync', 'renameSync', 'openSync'];

/** What a repeat may be answered after a crash at any point of the first: as then, or as where it was done. */
describe('a crash at any step', () => {
  test.each([
    ['/v1/table/new/create', bytes, [200], 1],
    ['/v1/table/t/create?mode=overwrite', bytes, [200], 2],
    ['/v1/table/t/delete', { predicate: 'id = 99' }, [200], 1],
    ['/v1/table/t/tags/create', { tag: 'new', version: 1 }, [200, 409], 2],
    ['/v1/namespace/new/create', {}, [200, 409], 1],
    ['/v1/table/t/drop', {}, [200, 404], 2],
  ] as const)('%s', async (path, body, expected, first) => {
    const fs = await catalog();
    await send(fs, path, body);
    const done = await seen(fs);
    const untouched = await seen(await catalog());
    let steps = 0;
    // The usual run takes a share of the steps, and begins with the first or second one.
    for (let at = casesOf(first, 1); ; at += casesOf(5, 1)) {
      const inner = await catalog();
      const faulty = new FaultyFs(inner);
      faulty.arm({ at, kind: 'kill', only: WRITES });
      const answer = await send(faulty.fs as never, path, body).catch(() => undefined);
      const { fired } = faulty;
      faulty.arm();
      if (!fired) break;
      steps++;
      // No other request gets the key, once anything was changed under it.
      if (
        filesOf(inner, ROOT)
          .all()
          .some((file) => /keys.*json$/.test(file))
      ) {
        const before = await seen(inner);
        const other = await send(inner, '/v1/namespace/else/create', {});
        expect([other.status, await seen(inner)], `step ${at}`).toEqual([422, before]);
      } else expect(await seen(inner), `step ${at}`).toEqual(untouched);
      const again = await send(inner, path, body);
      expect(expected, `step ${at}: ${answer?.status} ${again.text}`).toContain(again.status);
      expect(await seen(inner)).toEqual(done);
    }
    expect(steps).toBeGreaterThan(2);
  });
});

test.each([
  ['/v1/dirspace/table/t/delete_rows', { row_ids: [1] }, { row_ids: [0] }],
  ['/v1/table/u/insert', bytes, undefined],
] as const)(
  'a request that was begun and not answered holds its key: %s',
  async (path, body, other) => {
    const fs = await catalog();
    const inner = await openDirectoryNamespace({ root: ROOT, fs });
    // The process ends after the change, before anything of it was kept.
    const files = filesOf(fs, ROOT);
    const before = files.all();
    const first = await send(fs, path, body);
    expect(first.status).toBe(200);
    const record = files
      .all()
      .find((name) => !before.includes(name) && /keys.*json$/.test(name)) as string;
    const { stamp, operation } = decodeKey(files.read(record), record);
    files.write(
      record,
      encodeKey({ stamp: stamp.slice(0, 12), operation, begun: true, answer: undefined }),
    );
    await inner.close();
    const after = await seen(fs);
    const others: [string, unknown][] = [
      ['/v1/namespace/else/create', {}],
      ['/v1/table/t/insert', bytes],
      ...(other === undefined ? [] : [[path, other] as [string, unknown]]),
    ];
    for (const [otherPath, otherBody] of others) {
      expect((await send(fs, otherPath, otherBody)).status, otherPath).toBe(422);
    }
    expect(await seen(fs)).toEqual(after);
    expect((await send(fs, path, body)).status).toBe(200);
  },
);

test('what answered more than is kept is refused when it is sent again, and changes nothing', async () => {
  const fs = await catalog();
  const create = '/v1/namespace/big/create';
  const properties = { a: 'x'.repeat(1_100_000) };
  expect((await send(fs, create, { properties })).status).toBe(200);
  const after = await seen(fs);
  const again = await send(fs, create, { properties });
  expect(again).toMatchObject({
    status: 422,
    json: {
      detail: expect.stringMatching(/was done, and its answer of 11\d{5} bytes is not kept/),
    },
  });
  const other = await send(fs, create, { properties: { a: 'y' } });
  expect(other.json).toMatchObject({ detail: expect.stringContaining('used for another request') });
  expect(await seen(fs)).toEqual(after);
  // As much as is kept is answered again.
  const less = { properties: { a: 'x'.repeat(1_000_000) } };
  const first = await send(fs, '/v1/namespace/less/create', less, { key: 'k2' });
  expect(await send(fs, '/v1/namespace/less/create', less, { key: 'k2' })).toMatchObject({
    status: 200,
    json: first.json as object,
  });
});

const HOUR = 3_600_000;
/** In the middle of a period of 12 hours, and at its very beginning. */
const MIDDLE = 20_000 * 24 * HOUR + 6 * HOUR;

test.each([
  ['by a second, into the period before', 20_000 * 24 * HOUR, -1000],
  ['by a day', MIDDLE, -24 * HOUR],
  ['by years', MIDDLE, -20_000 * HOUR],
])('an answer is found though the clock goes back %s', async (_, now, by) => {
  const fs = await catalog();
  expect((await send(fs, '/v1/table/t/drop', {}, { now })).status).toBe(200);
  const then = now + by;
  expect((await send(fs, '/v1/table/t/drop', {}, { now: then })).status).toBe(200);
  expect((await send(fs, '/v1/table/u/drop', {}, { now: then })).status).toBe(422);
});

test('an answer wins over a beginning that the clock dates later', async () => {
  const fs = await catalog();
  const body = { new_table_name: 'w' };
  expect((await send(fs, '/v1/table/t/rename', body, { now: MIDDLE })).status).toBe(200);
  const files = filesOf(fs, ROOT);
  const file = files.all().find((name) => /keys.*json$/.test(name)) as string;
  const { stamp, operation } = decodeKey(files.read(file), file);
  const period = String(Math.floor(MIDDLE / (12 * HOUR)));
  const later = file.replace(period, String(Number(period) + 1));
  const folder = later.slice(0, later.lastIndexOf('/'));
  (fs as { mkdirSync(path: string): void }).mkdirSync(`${ROOT}/${folder}`);
  files.write(
    later,
    encodeKey({ stamp: stamp.slice(0, 12), operation, begun: true, answer: undefined }),
  );
  expect((await send(fs, '/v1/table/t/rename', body, { now: MIDDLE })).status).toBe(200);
});

test('two servers of one root: a key is begun once, and the answer stays that was given first', async () => {
  const requests = [
    ['/v1/namespace/new/create', {}],
    ['/v1/namespace/full/create', { mode: 'exist_ok' }],
    ['/v1/table/t/drop', {}],
    ['/v1/table/u/drop', {}],
  ] as const;
  for (let round = 0; round < casesOf(3, 20); round++) {
    const fs = await catalog();
    const before = await seen(fs);
    const sent = await Promise.all(requests.map(([path, body]) => send(fs, path, body)));
    const [done, ...more] = sent.filter(({ status }) => status < 400);
    // Of different requests under one key one is done, the others are told so.
    expect(more).toEqual([]);
    expect(sent.map(({ status }) => status).sort()).toEqual([200, 422, 422, 422]);
    const at = sent.indexOf(done as Answered);
    const [path, body] = requests[at] as (typeof requests)[number];
    expect((await send(fs, path, body)).json).toEqual(done?.json);
    if (path.endsWith('drop')) expect(await seen(fs)).not.toEqual(before);
  }
});

test('two servers of one root: of one request twice at once a success is kept', async () => {
  for (let round = 0; round < casesOf(3, 20); round++) {
    const fs = await catalog();
    const twice = [1, 2].map(() => send(fs, '/v1/namespace/new/create', {}));
    const statuses = (await Promise.all(twice)).map(({ status }) => status);
    expect(Math.min(...statuses)).toBe(200);
    expect([200, 409]).toContain(Math.max(...statuses));
    expect((await send(fs, '/v1/namespace/new/create', {})).status).toBe(200);
    expect((await send(fs, '/v1/namespace/else/create', {})).status).toBe(422);
  }
});

test('a refused request leaves its key to another', async () => {
  const fs = await catalog();
  expect((await send(fs, '/v1/table/none/drop', {})).status).toBe(404);
  expect((await send(fs, '/v1/table/t/drop', {})).status).toBe(200);
});

test('an answer that this release kept is read by later ones', () => {
  const text =
    '{"checksum":"crc32:d3e683b7","format":1,"stamp":"0123456789ab1a2b3c4dzz","operation":"CreateTable","answer":{"version":1,"properties":{"a":"b"}}}\n';
  expect(decodeKey(Buffer.from(text), 'x.json')).toEqual({
    stamp: '0123456789ab1a2b3c4dzz',
    operation: 'CreateTable',
    answer: { version: 1, properties: { a: 'b' } },
  });
});

test('a record of an answer that is not kept is read by later ones, and refused where it is damaged', () => {
  const record = { stamp: '0123456789ab', operation: 'CreateNamespace', begun: true } as const;
  const bytes = encodeKey({ ...record, unkept: 1_100_123, answer: undefined });
  expect(
    Buffer.from(bytes)
      .toString()
      .replace(/crc32:\w+/, ''),
  ).toBe(
    '{"checksum":"","format":1,"stamp":"0123456789ab","operation":"CreateNamespace","begun":true,"unkept":1100123}\n',
  );
  expect(decodeKey(bytes, 'x.json')).toEqual({ ...record, unkept: 1_100_123, answer: undefined });
  for (const unkept of [0, -1, Number.NaN, 'x', true]) {
    const damaged = encodeKey({ ...record, unkept: unkept as never, answer: undefined });
    expect(() => decodeKey(damaged, 'x.json')).toThrow('unkept is no number of bytes');
  }
  const { begun: _, ...without } = record;
  const alone = encodeKey({ ...without, unkept: 7, answer: undefined });
  expect(() => decodeKey(alone, 'x.json')).toThrow('stands without begun');
});

test('credentials of the storage are not kept', async () => {
  const fs = memoryFs();
  const credentialVendor = async () => ({ key: 'secret' });
  const declared = async (): Promise<unknown[]> => {
    const namespace = await openDirectoryNamespace({ root: ROOT, fs, credentialVendor });
    const headers = { 'idempotency-key': 'k' };
    const body = { vend_credentials: true };
    const pair = await restPair({ namespace });
    const { json } = await ask(pair, 'POST', '/v1/table/t/declare', body, headers);
    const operations = ['u', 'v'].map((id) => ({ declare_table: { id: [id], ...body } }));
    const batch = { 'idempotency-key': 'batch' };
    const all = await ask(pair, 'POST', '/v1/table/batch-commit', { operations }, batch);
    await pair.close();
    await namespace.close();
    return [json, ...all.json.results.map((one: Record<string, unknown>) => one.declare_table)];
  };
  const first = (await declared()) as { storage_options: unknown; location: string }[];
  const vended = first.map(({ storage_options }) => storage_options);
  expect(vended).toEqual(Array(3).fill({ key: 'secret' }));
  const without = first.map(({ storage_options: _, ...rest }) => rest);
  expect(await declared()).toEqual(without);
  const files = filesOf(fs, ROOT);
  const kept = files.all().filter((name) => /keys.*json$/.test(name));
  expect(kept).toHaveLength(2);
  for (const name of kept) {
    expect(Buffer.from(files.read(name)).toString()).not.toContain('secret');
  }
});
