/** Inserts in parts: many requests, one version or none, and nothing left of what was ended. */
import { readdirSync } from 'node:fs';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import {
  type RecordBatchStream,
  recordBatchStream,
  tableFromArrays,
} from '../../src/arrow/apache.ts';
import { openDirectoryNamespace } from '../../src/directory/index.ts';
import { systemEnv } from '../../src/env.ts';
import { encodeIpcStream } from '../../src/ipc/encode/ipc-stream.ts';
import type { Limits } from '../../src/server/settings/limits.ts';
import { Uploads } from '../../src/server/uploads.ts';
import { type Answered, ARROW, ask, type Pair, restPair } from '../helpers/rest-pair.ts';
import { temporaryFolder } from '../helpers/temporary.ts';

const rowsOf = (columns: Record<string, unknown>): RecordBatchStream => {
  const table = tableFromArrays(columns as Record<string, readonly number[]>);
  return recordBatchStream(table.schema, table.batches);
};

async function bytesOf(rows: RecordBatchStream): Promise<Uint8Array> {
  const pieces: Uint8Array[] = [];
  for await (const piece of await encodeIpcStream(rows)) pieces.push(piece);
  return Buffer.concat(pieces);
}

const ids = (from: number, count = 3) =>
  bytesOf(rowsOf({ id: Int32Array.from({ length: count }, (_, at) => from + at) }));

interface Made {
  readonly pair: Pair;
  readonly root: string;
  readonly folder: string;
  readonly send: (
    step: string,
    query: Record<string, string>,
    body?: Uint8Array | ReadableStream<Uint8Array>,
    headers?: Record<string, string>,
  ) => Promise<Answered>;
  readonly begin: (headers?: Record<string, string>) => Promise<string>;
  readonly found: () => Promise<{ version: number; ids: number[] }>;
  readonly files: () => string[];
}

async function served(limits: Limits = {}, auth?: object): Promise<Made> {
  const root = temporaryFolder();
  const catalog = await openDirectoryNamespace({ root });
  await catalog.createTable({ id: ['t'] }, rowsOf({ id: Int32Array.of(0) }));
  const pair = await restPair({ root, limits, ...(auth === undefined ? {} : { auth }) } as never, {
    wire: 'socket',
  });
  const send: Made['send'] = async (step, query, body, headers = {}) => {
    const search = new URLSearchParams(query).toString();
    const at = `${pair.base}/v1/dirspace/table/t/multipart_write/${step}?${search}`;
    const response = await fetch(at, {
      method: 'POST',
      headers: { ...(body === undefined ? {} : ARROW), ...headers },
      ...(body === undefined ? {} : { body: body as never, duplex: 'half' }),
    } as RequestInit);
    const text = await response.text();
    return { status: response.status, headers: response.headers, text, json: JSON.parse(text) };
  };
  const folder = `${root}/data/t.table`;
  return {
    pair,
    root,
    folder,
    send,
    begin: async (headers) => (await send('create', {}, undefined, headers)).json.upload_id,
    found: async () => {
      const own = await openDirectoryNamespace({ root });
      const { version } = await own.describeTable({ id: ['t'], load_detailed_metadata: true });
      const values: number[] = [];
      for await (const batch of await own.queryTable({ id: ['t'], k: 1_000_000 } as never)) {
        for (const value of batch.getChild('id') ?? []) values.push(value as number);
      }
      await own.close();
      return { version: version as number, ids: values.sort((a, b) => a - b) };
    },
    files: () =>
      (readdirSync(folder, { recursive: true }) as string[]).filter((name) =>
        name.endsWith('.arrow'),
      ),
  };
}

const until = async (holds: () => boolean | Promise<boolean>): Promise<void> => {
  while (!(await holds())) await new Promise((resolve) => setImmediate(resolve));
};

describe('an insert in parts', () => {
  test('is one version, which nobody sees before', async () => {
    const { send, begin, found, files } = await served();
    const upload_id = await begin();
    const parts = [10, 20, 30].map(async (from) =>
      send('part', { upload_id, upload_part_id: `p${from}` }, await ids(from)),
    );
    for (const { status, json } of await Promise.all(parts)) {
      expect([status, json.num_inserted_rows]).toEqual([200, 3]);
    }
    expect(await found()).toEqual({ version: 1, ids: [0] });
    const { status, json } = await send('complete', { upload_id });
    expect([status, json.version, json.num_inserted_rows]).toEqual([200, 2, 9]);
    expect(await found()).toEqual({
      version: 2,
      ids: [0, 10, 11, 12, 20, 21, 22, 30, 31, 32],
    });
    expect(files().length).toBe(2);
    // Who lost the answer gets it again, and nothing is done twice.
    const again = await send('complete', { upload_id });
    expect(again.json).toEqual(json);
    expect((await found()).version).toBe(2);
    const late = await send('part', { upload_id, upload_part_id: 'late' }, await ids(1));
    expect(late.json.error).toContain('is complete');
    const aborted = await send('abort', { upload_id });
    expect([aborted.status, aborted.json.error]).toEqual([
      400,
      expect.stringContaining('its rows are in version 2'),
    ]);
  });

  test('replaces all rows once, where its parts say overwrite', async () => {
    const { send, begin, found } = await served();
    const upload_id = await begin();
    for (const from of [5, 7]) {
      const query = { upload_id, upload_part_id: `${from}`, mode: 'overwrite' };
      expect((await send('part', query, await ids(from, 2))).status).toBe(200);
    }
    const other = await send('part', { upload_id, upload_part_id: 'x' }, await ids(1));
    expect([other.status, other.json.error]).toEqual([
      400,
      expect.stringContaining('mode overwrite'),
    ]);
    expect((await send('complete', { upload_id })).json.version).toBe(2);
    expect(await found()).toEqual({ version: 2, ids: [5, 6, 7, 8] });
  });

  test('takes a part that is sent again once', async () => {
    const { send, begin, found } = await served();
    const upload_id = await begin();
    const query = { upload_id, upload_part_id: 'one' };
    expect((await send('part', query, await ids(1))).json.num_inserted_rows).toBe(3);
    expect((await send('part', query, await ids(1))).json.num_inserted_rows).toBe(0);
    // Ids are kept until the end, so that they are short.
    const long = await send('part', { ...query, upload_part_id: 'x'.repeat(256) }, await ids(1));
    expect([long.status, long.json.detail]).toEqual([400, expect.stringContaining('at most 255')]);
    await send('complete', { upload_id });
    expect((await found()).ids).toEqual([0, 1, 2, 3]);
  });

  test('of texts in dictionaries, which differ from part to part', async () => {
    const root = temporaryFolder();
    const catalog = await openDirectoryNamespace({ root });
    const words = (values: string[]) => rowsOf({ word: values });
    await catalog.createTable({ id: ['t'] }, words(['a']));
    const pair = await restPair({ root });
    const path = '/v1/dirspace/table/t/multipart_write';
    const { upload_id } = (await ask(pair, 'POST', `${path}/create`)).json;
    for (const [at, values] of [
      ['b', 'c'],
      ['d', 'b', 'a'],
    ].entries()) {
      const query = `upload_id=${upload_id}&upload_part_id=${at}`;
      const part = await ask(
        pair,
        'POST',
        `${path}/part?${query}`,
        await bytesOf(words(values)),
        ARROW,
      );
      expect(part.status, part.text).toBe(200);
    }
    expect((await ask(pair, 'POST', `${path}/complete?upload_id=${upload_id}`)).status).toBe(200);
    const found: unknown[] = [];
    for await (const batch of await catalog.queryTable({ id: ['t'], k: 100 } as never)) {
      found.push(...(batch.getChild('word') ?? []));
    }
    expect(found).toEqual(['a', 'b', 'c', 'd', 'b', 'a']);
  });

  test('that is aborted leaves nothing', async () => {
    const { send, begin, found, files } = await served();
    const before = files();
    const upload_id = await begin();
    await send('part', { upload_id, upload_part_id: 'a' }, await ids(1, 200_000));
    expect((await send('abort', { upload_id })).status).toBe(200);
    expect(files()).toEqual(before);
    expect((await found()).version).toBe(1);
    for (const step of ['complete', 'abort']) {
      expect((await send(step, { upload_id })).json.error).toContain('There is no insert in parts');
    }
  });

  test('is remembered with the last thousand that ended, also where none stands still too long', async () => {
    const limits = { maxUploads: 2, callerShare: 1, uploadIdleMs: 0, maxArrowBytes: 0 };
    const uploads = new Uploads(limits, systemEnv);
    const scope = { caller: 'a', table: 't', branch: undefined };
    const open = uploads.begin(scope);
    const { schema } = tableFromArrays({ id: Int32Array.of(1) });
    const ended: string[] = [];
    for (let at = 0; at < 1_002; at++) {
      ended.push(uploads.begin(scope));
      const upload = uploads.find(ended[at] as string, scope);
      await upload.take({
        id: 'p',
        mode: 'append',
        open: async () => recordBatchStream(schema, []),
        moved: () => {},
        insert: async (rows) => {
          for await (const _ of rows);
          return { version: 1 } as never;
        },
      });
      await upload.complete();
    }
    expect(() => uploads.find(ended[0] as string, scope)).toThrow('There is no insert in parts');
    for (const id of [open, ended[2], ended.at(-1)]) uploads.find(id as string, scope);
  });

  test('that stands still is ended, and says so for a while', async () => {
    const idle = 3_600_123;
    const over: (() => void)[] = [];
    const real = setTimeout;
    const timers = vi.spyOn(globalThis, 'setTimeout');
    onTestFinished(() => timers.mockRestore());
    timers.mockImplementation(((run: () => void, ms: number, ...more: []) => {
      if (ms === idle) over.push(run);
      return real(run, ms, ...more);
    }) as never);
    const { send, begin, files } = await served({ uploadIdleMs: idle });
    const before = files();
    const upload_id = await begin();
    const part = await send('part', { upload_id, upload_part_id: 'a' }, await ids(1, 200_000));
    expect(part.status).toBe(200);
    over.at(-1)?.();
    await until(() => files().length === before.length);
    const { status, json } = await send('complete', { upload_id });
    expect(status).toBe(400);
    expect(json.error).toContain('stood still');
    over.at(-1)?.();
    expect((await send('complete', { upload_id })).json.error).toContain('There is no insert');
  });

  test('ends with a part that breaks off after rows were taken', async () => {
    const { send, begin, files, found } = await served();
    const before = files();
    const upload_id = await begin();
    const whole = await bytesOf(
      recordBatchStream(
        tableFromArrays({ id: Int32Array.of(1) }).schema,
        [0, 1, 2].flatMap((at) => tableFromArrays({ id: new Int32Array(50_000).fill(at) }).batches),
      ),
    );
    const broken = await send(
      'part',
      { upload_id, upload_part_id: 'a' },
      whole.subarray(0, whole.length - 100_000),
    );
    expect(broken.status).toBe(400);
    const { status, json } = await send('complete', { upload_id });
    expect([status, json.error]).toEqual([400, broken.json.error]);
    await until(() => files().length === before.length);
    expect((await found()).version).toBe(1);
  });

  test('goes on after a part of which nothing was taken', async () => {
    const { send, begin, found } = await served();
    const upload_id = await begin();
    const bad = [
      await bytesOf(rowsOf({ id: Int32Array.of(1), more: Int32Array.of(1) })),
      new Uint8Array(100).fill(7),
    ];
    await send('part', { upload_id, upload_part_id: 'a' }, await ids(1));
    for (const body of bad) {
      expect((await send('part', { upload_id, upload_part_id: 'b' }, body)).status).toBe(400);
    }
    expect((await send('part', { upload_id, upload_part_id: 'b' }, await ids(8))).status).toBe(200);
    expect((await send('complete', { upload_id })).json.version).toBe(2);
    expect((await found()).ids).toEqual([0, 1, 2, 3, 8, 9, 10]);
  });

  test('takes nothing of a part that breaks off at once, not even its mode', async () => {
    const { send, begin, found } = await served();
    const upload_id = await begin();
    const body = await bytesOf(rowsOf({ other: Int32Array.of(1) }));
    const query = { upload_id, upload_part_id: 'a', mode: 'overwrite' };
    expect((await send('part', query, body.subarray(0, body.length - 100))).status).toBe(400);
    expect((await send('complete', { upload_id })).json.error).toContain('has no parts yet');
    expect((await send('part', { upload_id, upload_part_id: 'a' }, await ids(7))).status).toBe(200);
    await send('complete', { upload_id });
    expect(await found()).toEqual({ version: 2, ids: [0, 7, 8, 9] });
  });

  test('whose columns are not those of the table is refused with its first part', async () => {
    const { send, begin, files } = await served();
    const before = files();
    const upload_id = await begin();
    const body = await bytesOf(rowsOf({ nothing: Int32Array.of(1) }));
    const { status, json } = await send('part', { upload_id, upload_part_id: 'a' }, body);
    expect([status, json.error]).toEqual([400, expect.stringContaining('nothing')]);
    expect((await send('complete', { upload_id })).json.error).toBe(json.error);
    expect(files()).toEqual(before);
  });

  test('is not completed without parts, nor while one is on its way', async () => {
    const { send, begin, found } = await served();
    const upload_id = await begin();
    expect((await send('complete', { upload_id })).json.error).toContain('has no parts yet');
    const bytes = await ids(1, 100_000);
    let goOn = (): void => {};
    const waiting = new Promise<void>((resolve) => {
      goOn = resolve;
    });
    const slow = new ReadableStream<Uint8Array>({
      async start(controller) {
        controller.enqueue(bytes.subarray(0, 2_000));
        await waiting;
        controller.enqueue(bytes.subarray(2_000));
        controller.close();
      },
    });
    const part = send('part', { upload_id, upload_part_id: 'a' }, slow);
    await until(async () => {
      const { json } = await send('complete', { upload_id });
      return json.error.includes('still on its way');
    });
    const twice = await send('part', { upload_id, upload_part_id: 'a' }, await ids(1));
    expect(twice.json.error).toContain('still on its way');
    goOn();
    expect((await part).status).toBe(200);
    expect((await send('complete', { upload_id })).status).toBe(200);
    expect((await found()).ids.length).toBe(100_001);
  });
});

describe('who may', () => {
  const key = (name: string, permission: 'read' | 'write') => ({
    key: `${name}-key`,
    name,
    grants: [{ namespace: [], permission }],
  });
  const auth = { apiKeys: [key('one', 'write'), key('two', 'write'), key('three', 'read')] };
  const as = (name: string) => ({ 'x-api-key': `${name}-key` });

  test('an upload is of the one who began it', async () => {
    const { send, begin } = await served({}, auth);
    const upload_id = await begin(as('one'));
    const query = { upload_id, upload_part_id: 'a' };
    for (const [step, body] of [
      ['part', await ids(1)],
      ['complete', undefined],
      ['abort', undefined],
    ] as const) {
      const other = await send(step, step === 'part' ? query : { upload_id }, body, as('two'));
      expect([other.status, other.json.error]).toEqual([
        400,
        expect.stringContaining('There is no insert in parts'),
      ]);
    }
    expect((await send('part', query, await ids(1), as('one'))).status).toBe(200);
    expect((await send('complete', { upload_id }, undefined, as('one'))).status).toBe(200);
  });

  test('each step needs the right to insert', async () => {
    const { send } = await served({}, auth);
    const query = { upload_id: 'x', upload_part_id: 'a' };
    for (const step of ['create', 'part', 'complete', 'abort']) {
      const body = step === 'part' ? await ids(1) : undefined;
      const sent = step === 'create' ? {} : step === 'part' ? query : { upload_id: 'x' };
      expect((await send(step, sent, body, as('three'))).status).toBe(403);
      expect((await send(step, sent, body)).status).toBe(401);
    }
  });

  test('one caller has a share of all', async () => {
    const { send, begin } = await served({ maxUploads: 4, callerShare: 0.5 }, auth);
    const [first] = [await begin(as('one')), await begin(as('one'))];
    const third = await send('create', {}, undefined, as('one'));
    expect([third.status, third.json.error]).toEqual([503, expect.stringContaining('maxUploads')]);
    expect(await begin(as('two'))).toEqual(expect.any(String));
    await send('abort', { upload_id: first as string }, undefined, as('one'));
    expect(await begin(as('one'))).toEqual(expect.any(String));
  });
});

test('all parts together are limited as one body is', async () => {
  const { send, begin } = await served({ maxArrowBytes: 3_000 });
  const upload_id = await begin();
  const body = await ids(1, 400);
  // What broke off and left nothing does not count.
  const half = body.subarray(0, body.length - 500);
  expect((await send('part', { upload_id, upload_part_id: 'a' }, half)).status).toBe(400);
  expect((await send('part', { upload_id, upload_part_id: 'a' }, body)).status).toBe(200);
  const { status, json } = await send('part', { upload_id, upload_part_id: 'b' }, body);
  expect([status, json.error]).toEqual([413, expect.stringContaining('maxArrowBytes')]);
});

test('a table that is not there, and what a step does not take, are refused', async () => {
  const { pair, send } = await served();
  const path = '/v1/dirspace/table/none/multipart_write/create';
  expect((await ask(pair, 'POST', path)).status).toBe(404);
  for (const [step, query, what] of [
    ['create', { upload_id: 'x' }, 'upload_id'],
    ['create', { mode: 'overwrite' }, 'mode'],
    ['complete', {}, 'upload_id'],
    ['complete', { upload_id: 'x', upload_part_id: 'y' }, 'upload_part_id'],
    ['abort', { upload_id: 'x', anything: '1' }, 'anything'],
  ] as const) {
    const { status, json } = await send(step, query);
    expect([status, json.error]).toEqual([400, expect.stringContaining(what)]);
  }
  const part = await send('part', { upload_id: 'x' }, await ids(1));
  expect([part.status, part.json.error]).toEqual([
    400,
    expect.stringContaining('no insert in parts'),
  ]);
});

test('an insert in parts is of one table and one branch', async () => {
  const { pair, root, begin } = await served();
  const catalog = await openDirectoryNamespace({ root });
  await catalog.createTable({ id: ['u'] }, rowsOf({ id: Int32Array.of(0) }));
  await catalog.createTableBranch({ id: ['t'], name: 'side' } as never);
  await catalog.close();
  const upload_id = await begin();
  for (const [table, branch] of [
    ['u', ''],
    ['t', '&branch=side'],
  ]) {
    const query = `upload_id=${upload_id}&upload_part_id=a${branch}`;
    const path = `/v1/dirspace/table/${table}/multipart_write/part?${query}`;
    const { status, text } = await ask(pair, 'POST', path, await ids(1), ARROW);
    expect([status, text]).toEqual([400, expect.stringContaining('There is no insert in parts')]);
  }
  const query = `upload_id=${upload_id}&upload_part_id=a&branch=main`;
  const path = `/v1/dirspace/table/t/multipart_write/part?${query}`;
  expect((await ask(pair, 'POST', path, await ids(1), ARROW)).status).toBe(200);
});

test('a server that stops removes what was not completed', async () => {
  const { pair, send, begin, files } = await served();
  const before = files();
  const upload_id = await begin();
  await send('part', { upload_id, upload_part_id: 'a' }, await ids(1, 200_000));
  await pair.close();
  expect(files()).toEqual(before);
});

test('LanceDB finds the steps at its own addresses', async () => {
  const { pair, found } = await served();
  const headers = { 'user-agent': 'LanceDB-Node-Client/0.39.0' };
  const table = '/v1/table/t';
  const begun = await ask(pair, 'POST', `${table}/multipart_write/create`, undefined, headers);
  const { upload_id } = begun.json;
  expect(begun.headers.get('phalanx-version')).toBe('0.5.0');
  const part = `${table}/insert/?upload_id=${upload_id}&upload_part_id=a`;
  expect((await ask(pair, 'POST', part, await ids(4), { ...headers, ...ARROW })).status).toBe(200);
  const done = `${table}/multipart_write/complete?upload_id=${upload_id}`;
  expect((await ask(pair, 'POST', done, undefined, headers)).json.version).toBe(2);
  expect((await found()).ids).toEqual([0, 4, 5, 6]);
});
