/** The bytes of one blob over HTTP: whole, by ranges, null, and what is asked for wrongly. */
import { beforeAll, describe, expect, test } from 'vitest';
import { Field, Int32, Schema, Struct, Utf8 } from '../../src/arrow/apache.ts';
import { openDirectoryNamespace } from '../../src/directory/index.ts';
import { blob, type Connection, connect } from '../../src/index.ts';
import { FORM_ROUTES, type FormAnswer } from '../../src/protocol/index.ts';
import { parseRange } from '../../src/server/http/range.ts';
import { memoryFs } from '../helpers/catalogs.ts';
import { ask, type Pair, restPair } from '../helpers/rest-pair.ts';

/** More than two pieces, and no run of it like another. */
const LONG = Buffer.from(
  Uint32Array.from({ length: 650_000 }, (_, at) => at * 2_654_435_761).buffer,
);
const BYTES = [Buffer.from('abcdef'), null, Buffer.alloc(0), LONG];
const schema = new Schema([
  new Field('id', new Int32(), true),
  blob('my video'),
  new Field('more', new Struct([new Field('note', new Utf8(), true), blob('deep')]), true),
]);

const fs = memoryFs();
let db: Connection;
let catalog: Awaited<ReturnType<typeof openDirectoryNamespace>>;
let pair: Pair;
let ids: bigint[];
beforeAll(async () => {
  db = await connect('/blobs', { fs });
  const rows = BYTES.map((bytes, id) => ({
    id,
    'my video': bytes,
    more: id === 1 ? null : { note: `n${id}`, deep: bytes },
  }));
  const table = await db.createTable('t', rows, { schema });
  const found = await table.query().select(['id']).withRowId().toArray<{ _rowid: bigint }>();
  ids = found.map(({ _rowid }) => _rowid);
  catalog = await openDirectoryNamespace({ root: '/blobs', fs });
  pair = await restPair({ namespace: catalog });
});

const LISTED: Readonly<Record<number, FormAnswer>> = FORM_ROUTES.ReadBlobBytes.answers;

interface Got {
  readonly status: number;
  readonly bytes: Buffer;
  readonly headers: Headers;
}

async function get(
  row: number,
  range?: string,
  { column = 'my video', query = '', headers = {} as Record<string, string>, of = pair } = {},
): Promise<Got> {
  const path = `/v1/dirspace/table/t/blob/${encodeURIComponent(column)}/${ids[row]}/bytes${query}`;
  const sent = { ...(range === undefined ? {} : { range }), ...headers };
  const answer = await of.fetch(of.base + path, { headers: sent });
  const bytes = Buffer.from(await answer.arrayBuffer());
  const { status, headers: told } = answer;
  // What the OpenAPI document says of it.
  const { headers: listed = {} } = LISTED[status] ?? {};
  expect(status in LISTED || status >= 400, String(status)).toBe(true);
  for (const name of Object.keys(listed)) expect(told.has(name), `${status}: ${name}`).toBe(true);
  return { status, bytes, headers: told };
}

describe('a blob', () => {
  test.each(['my video', 'more.deep'])('%s is answered whole without a range', async (column) => {
    for (const at of [0, 2, 3]) {
      const { status, bytes, headers } = await get(at, undefined, { column });
      expect(status).toBe(200);
      expect(bytes.equals(BYTES[at] as Buffer)).toBe(true);
      expect(headers.get('content-length')).toBe(String(bytes.length));
      expect(headers.get('accept-ranges')).toBe('bytes');
      expect(headers.get('x-lancedb-version')).toBe('1');
      expect(headers.get('x-content-type-options')).toBe('nosniff');
    }
  });

  test.each([
    ['bytes=0-0', 0, 1],
    ['bytes=1-3', 1, 4],
    ['bytes=2-', 2, LONG.length],
    ['bytes=1048575-1048576', 1_048_575, 1_048_577],
    ['bytes=7-2500000', 7, 2_500_001],
    ['bytes=-5', LONG.length - 5, LONG.length],
    ['bytes=-1500000', LONG.length - 1_500_000, LONG.length],
    ['bytes=-99999999', 0, LONG.length],
    ['bytes=2599999-99999999999', 2_599_999, LONG.length],
    ['BYTES= 4-4', 4, 5],
  ])('%s is a part of it', async (range, from, to) => {
    const { status, bytes, headers } = await get(3, range);
    expect(status).toBe(206);
    expect(headers.get('content-range')).toBe(`bytes ${from}-${to - 1}/${LONG.length}`);
    expect(headers.get('content-length')).toBe(String(to - from));
    expect(bytes.equals(LONG.subarray(from, to))).toBe(true);
  });

  test.each([
    [0, 'bytes=6-', 6],
    [0, 'bytes=6-9', 6],
    [0, 'bytes=-0', 6],
    [0, 'bytes=99999999999999999999-', 6],
    [2, 'bytes=0-0', 0],
    [2, 'bytes=-1', 0],
  ])('row %i has nothing of %s', async (row, range, size) => {
    const { status, bytes, headers } = await get(row, range);
    expect(status).toBe(416);
    expect(headers.get('content-range')).toBe(`bytes */${size}`);
    expect(headers.get('x-lancedb-version')).toBe('1');
    expect(bytes.length).toBe(0);
  });

  test.each(['bytes=3-1', 'bytes=-', 'bytes=0-1,3-4', 'items=0-1', 'bytes=a-b', ''])(
    '%s is no range, so that all of it is answered',
    async (range) => {
      const { status, bytes } = await get(0, range);
      expect([status, bytes.toString()]).toEqual([200, 'abcdef']);
    },
  );

  test('is answered whole to who would have a part only if it is the same', async () => {
    const { status } = await get(0, 'bytes=0-0', { headers: { 'if-range': '"x"' } });
    expect(status).toBe(200);
  });

  test('that is null has no content', async () => {
    for (const range of [undefined, 'bytes=0-0']) {
      for (const column of ['my video', 'more.deep']) {
        const { status, bytes, headers } = await get(1, range, { column });
        expect([status, bytes.length]).toEqual([204, 0]);
        expect(headers.get('x-lancedb-version')).toBe('1');
      }
    }
  });
});

test('parts of a long blob are read of the version that the first came from', async () => {
  const asked: unknown[] = [];
  const watched = new Proxy(catalog, {
    get(target, name) {
      if (name !== 'fetchBlobs') return Reflect.get(target, name).bind?.(target);
      return (request: object, options: object) => {
        asked.push(request);
        return target.fetchBlobs(request as never, options);
      };
    },
  });
  const of = await restPair({ namespace: watched as never });
  const { bytes } = await get(3, 'bytes=10-', { of });
  expect(bytes.equals(LONG.subarray(10))).toBe(true);
  const [first, ...more] = asked as Record<string, unknown>[];
  expect(first).toMatchObject({ offset: 10, length: 1 << 20 });
  expect(first?.version).toBeUndefined();
  expect(more.map(({ version, length }) => [version, length])).toEqual([
    [1, 1 << 20],
    [1, LONG.length - 10 - 2 ** 21],
  ]);
  for (const { incarnation } of more) expect(incarnation).toEqual(expect.any(String));
});

test.each(['inject', 'socket'] as const)(
  'HEAD reads no more than its beginning: %s',
  async (wire) => {
    let calls = 0;
    const watched = new Proxy(catalog, {
      get(target, name) {
        if (name === 'fetchBlobs') calls++;
        return Reflect.get(target, name).bind?.(target);
      },
    });
    const of = await restPair({ namespace: watched as never }, { wire });
    const path = `/v1/dirspace/table/t/blob/my%20video/${ids[3]}/bytes`;
    const answer = await of.fetch(of.base + path, { method: 'HEAD' });
    expect([answer.status, (await answer.arrayBuffer()).byteLength]).toEqual([200, 0]);
    expect(answer.headers.get('content-length')).toBe(String(LONG.length));
    // Whatever was under way is over once the server is closed.
    await of.close();
    expect(calls).toBe(1);
  },
);

test('a version, a branch and a delimiter are heeded, other parameters refused', async () => {
  const table = await db.openTable('t');
  await table.delete('id = 0');
  expect((await get(0)).status).toBe(400);
  expect((await get(0, undefined, { query: '?version=1&delimiter=.' })).bytes.toString()).toBe(
    'abcdef',
  );
  expect((await get(0, undefined, { query: '?version=1&branch=none' })).status).toBe(404);
  for (const query of ['?version=x', '?offset=1', '?version=1&version=1']) {
    expect((await get(0, undefined, { query })).status).toBe(400);
  }
});

test.each([
  ['blob/id/0/bytes', 'is not a blob column'],
  ['blob/nothing/0/bytes', 'There is no column'],
  ['blob/more.deep/17179869184/bytes', 'There is no row with the id 17179869184'],
  ['blob/more.deep/-1/bytes', 'row'],
  ['blob/more.deep/1e3/bytes', 'row_ids[0]'],
  ['blob/more.deep/18446744073709551616/bytes', 'row_ids[0]'],
])('%s is refused', async (path, message) => {
  const { status, text } = await ask(pair, 'GET', `/v1/dirspace/table/t/${path}`);
  expect(status).toBe(400);
  expect(text).toContain(message);
});

test('LanceDB finds it at its own addresses', async () => {
  const headers = { 'user-agent': 'LanceDB-Node-Client/0.39.0' };
  const one = await ask(pair, 'GET', `/v1/table/t/blob/my%20video/${ids[3]}/bytes`, undefined, {
    ...headers,
    range: 'bytes=0-0',
  });
  expect(one.status).toBe(206);
  const body = { version: null, column: 'my video', row_ids: [Number(ids[2])] };
  const all = await ask(pair, 'POST', '/v1/table/t/fetch_blobs/', body, headers);
  expect(all.status).toBe(200);
  expect(all.headers.get('content-type')).toContain('arrow');
});

test('who may not read the table may not read its blobs', async () => {
  const keys = [
    { key: 'other', name: 'other', grants: [{ namespace: ['a'], permission: 'admin' as const }] },
  ];
  const guarded = await restPair({ namespace: catalog, auth: { apiKeys: keys } });
  const headers = { 'x-api-key': 'other' };
  expect((await get(3, undefined, { of: guarded, headers })).status).toBe(403);
  expect((await get(3, undefined, { of: guarded })).status).toBe(401);
});

test('a range is read as RFC 9110 writes it', () => {
  const found = (range?: string) => parseRange(range === undefined ? {} : { range });
  expect(found()).toBeUndefined();
  expect(found('bytes=0-0')).toEqual({ from: 0, to: 1 });
  expect(found('bytes=5-')).toEqual({ from: 5 });
  expect(found('bytes=-5')).toEqual({ from: -5 });
  expect(found('bytes=5-4')).toBeUndefined();
});
