/**
 * Malformed requests from a seeded generator: each is answered with a valid error body in time, and
 * the server stays well. `REQUESTS=9000 SEED=7` runs more of them, or others.
 */
import nodeFs, { mkdirSync, readdirSync } from 'node:fs';
import { connect } from 'node:net';
import { isAbsolute } from 'node:path';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { requestModel } from '../../src/protocol/every-operation.ts';
import { MODELS } from '../../src/protocol/models/index.ts';
import { normalize } from '../../src/protocol/normalize.ts';
import { OPERATIONS } from '../../src/protocol/operations.ts';
import { type RunningServer, startServer } from '../../src/server.ts';
import { casesOf } from '../helpers/long.ts';
import { OPERATION_NAMES } from '../helpers/operation-names.ts';
import { ARROW, ask, someRows, streamBytes } from '../helpers/rest-pair.ts';
import { temporaryFolder } from '../helpers/temporary.ts';

const REQUESTS = Number(process.env.REQUESTS ?? casesOf(250, 2000));
const SEED = Number(process.env.SEED ?? 20_250_101);

let state = SEED;
function random(): number {
  state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
  return state / 2 ** 32;
}
const below = (limit: number): number => Math.floor(random() * limit);
const pick = <T>(items: readonly T[]): T => items[below(items.length)] as T;

interface Attempt {
  readonly method: string;
  readonly path: string;
  readonly body?: string | Uint8Array;
  readonly headers: Record<string, string>;
  /** It may turn out to be valid; the table it makes is then dropped. */
  readonly chance?: true;
}

const JUNK: readonly unknown[] = [
  null,
  true,
  -1,
  1.5,
  2 ** 60,
  '',
  'x',
  [],
  [[]],
  {},
  { a: 1 },
  ['$'],
  [null],
];
const TEXTS = [
  '{',
  '[',
  '{"id":',
  '"',
  'null null',
  '\u0000',
  '{"a":1}}',
  '[1,',
  'nul',
  '{"a":01}',
];
const IDS = [
  '',
  '$$',
  'a$',
  '$a',
  'a b',
  '%00',
  '%2e%2e%2f',
  '..%2f..%2fetc',
  'a%2Fb',
  'é',
  'x'.repeat(5000),
  '%ff',
];

/** A request that no server should do, from a rule of how it is wrong. */
function attempt(arrow: Uint8Array): Attempt {
  const json = { 'content-type': 'application/json' };
  const operation = pick(OPERATION_NAMES);
  const { method, path } = OPERATIONS[operation];
  const good = path.replaceAll(/\{\w+\}/g, 'there');
  switch (below(8)) {
    case 0:
      return { method: 'POST', path: pick(posts()), body: pick(TEXTS), headers: json };
    case 1:
      return {
        method: 'POST',
        path: pick(posts()),
        body: JSON.stringify(pick(['x', 7, [1], true])),
        headers: json,
      };
    case 2: {
      const name = pick(OPERATION_NAMES.filter((op) => OPERATIONS[op].body === 'json'));
      const { properties = {} } = MODELS[requestModel(name)] as {
        properties?: Record<string, unknown>;
      };
      for (let tries = 0; tries < 50; tries++) {
        const body = { [pick(Object.keys(properties))]: pick(JUNK) };
        if (!isValid(name, body)) {
          return {
            method: 'POST',
            path: OPERATIONS[name].path.replaceAll(/\{\w+\}/g, 'there'),
            body: JSON.stringify(body),
            headers: json,
          };
        }
      }
      return { method: 'GET', path: '/v1', headers: {} };
    }
    case 3: {
      const route = path.includes('{id}') ? path : '/v1/table/{id}/describe';
      const verb = path.includes('{id}') ? method : 'POST';
      return {
        method: verb,
        path: route.replace('{id}', () => pick(IDS)).replace('{index_name}', 'i'),
        headers: {},
      };
    }
    case 4:
      return {
        method: pick(['GET', 'PUT', 'DELETE', 'PATCH', 'OPTIONS']),
        path: `${good}/${pick(['x', 'y', '%zz', 'drop'])}`,
        headers: {},
      };
    case 5: {
      const bytes = new Uint8Array(arrow);
      if (random() < 0.5)
        return {
          method: 'POST',
          path: '/v1/table/new/create',
          body: bytes.subarray(0, 1 + below(bytes.length - 9)),
          headers: ARROW,
        };
      // Headers and lengths, not values: those may be anything.
      bytes[below(Math.min(120, bytes.length))] = below(256);
      return {
        method: 'POST',
        path: '/v1/table/new/create',
        body: bytes,
        headers: ARROW,
        chance: true,
      };
    }
    case 6:
      return {
        method: 'POST',
        path: '/v1/table/there/insert',
        body: arrow,
        headers: {
          'content-type': pick(['text/plain', 'application/json', 'x', 'application/octet-stream']),
        },
      };
    default:
      return {
        method: 'GET',
        path: `/v1/namespace/$/list?${pick(['limit=x', 'limit=-1', 'limit=0', 'limit=1&limit=2', 'page_token=!!', 'delimiter=', 'limit=9e99', 'delimiter=a&delimiter=b'])}`,
        headers: {},
      };
  }
}

const posts = (): string[] =>
  OPERATION_NAMES.filter((name) => OPERATIONS[name].body === 'json').map((name) =>
    OPERATIONS[name].path.replaceAll(/\{\w+\}/g, 'there'),
  );

function isValid(name: (typeof OPERATION_NAMES)[number], body: object): boolean {
  try {
    const { id } = body as { id?: unknown };
    normalize(requestModel(name), body);
    return id == null || (Array.isArray(id) && id.length === 0);
  } catch {
    return false;
  }
}

let server: RunningServer;
let root: string;
let outer: string;

beforeAll(async () => {
  outer = temporaryFolder();
  root = `${outer}/one/two/root`;
  mkdirSync(root, { recursive: true });
  recordPaths();
  server = await startServer({ root, limits: { maxEventLoopDelayMs: 0 } });
  const created = await ask(
    { fetch, base: server.url },
    'POST',
    '/v1/table/there/create',
    await streamBytes(),
    ARROW,
  );
  expect(created.status).toBe(200);
});

afterAll(async () => {
  vi.restoreAllMocks();
  await server.close();
});

const CALLS = [
  ...['openSync', 'mkdirSync', 'rmdirSync', 'renameSync', 'linkSync', 'unlinkSync', 'lstatSync'],
  ...['statSync', 'readdirSync', 'existsSync', 'realpathSync', 'mkdir', 'rmdir', 'stat', 'lstat'],
  'readdir',
] as const;

const touched = new Set<string>();
/** Calls of the file system so far. */
let asked = 0;
/** Of one request; the busiest of these makes 27. */
const MOST_CALLS = 100;

/** Every path that anything in this process gives to the file system. */
function recordPaths(): void {
  for (const name of CALLS) {
    const call = nodeFs[name] as (...given: unknown[]) => unknown;
    const recorded = (...given: unknown[]): unknown => {
      asked += 1;
      for (const path of given.slice(0, 2)) {
        if (typeof path === 'string' && isAbsolute(path)) touched.add(path);
      }
      return call.apply(nodeFs, given);
    };
    vi.spyOn(nodeFs, name).mockImplementation(Object.assign(recorded, call) as never);
  }
}

/** Catalogs of test files before this one, whose trash may still be swept. */
const isOfOthers = (path: string): boolean =>
  /\/dirspace-\w{6}(\/|$)/.test(path) && path !== outer && !path.startsWith(`${outer}/`);

/** Those that are neither of a catalog nor of the program itself. */
const strays = (): string[] =>
  [...touched].filter(
    (path) =>
      path !== root &&
      !path.startsWith(`${root}/`) &&
      !path.startsWith(process.cwd()) &&
      !isOfOthers(path),
  );

/** Bytes in use once nothing is left to collect. */
async function settledHeap(): Promise<number> {
  setFlagsFromString('--expose-gc');
  const collect = runInNewContext('gc') as () => void;
  for (let times = 0; times < 3; times++) {
    collect();
    await new Promise((resolve) => setImmediate(resolve));
  }
  const { heapUsed, external } = process.memoryUsage();
  return heapUsed + external;
}

const WARM_UP = 100;

function checkBody(answer: Awaited<ReturnType<typeof ask>>, what: string): void {
  expect(answer.status, what).toBeGreaterThanOrEqual(400);
  expect(answer.status, what).toBeLessThan(500);
  expect(answer.json, what).toMatchObject({
    type: expect.stringMatching(/^\/errors\//),
    title: expect.any(String),
    status: answer.status,
    detail: expect.any(String),
    instance: expect.any(String),
    error: expect.any(String),
    code: expect.any(Number),
  });
  expect(answer.text, what).not.toContain(root);
  expect(answer.text, what).not.toMatch(/\.ts:\d|node_modules|at async/);
}

test(`${REQUESTS} malformed requests (seed ${SEED})`, async () => {
  const arrow = await streamBytes(someRows(100));
  touched.clear();
  let before = 0;
  for (let at = 0; at < REQUESTS; at++) {
    if (at === WARM_UP) before = await settledHeap();
    const { method, path, body, headers, chance } = attempt(arrow);
    const shown =
      typeof body === 'string' ? body : body && Buffer.from(body.subarray(0, 160)).toString('hex');
    const what = `seed ${SEED}, request ${at}: ${method} ${path.slice(0, 200)} ${shown ?? ''}`;
    const earlier = asked;
    const answer = await ask({ fetch, base: server.url }, method, path, body, headers);
    expect(asked - earlier, what).toBeLessThan(MOST_CALLS);
    if (chance && answer.status === 200) {
      await ask({ fetch, base: server.url }, 'POST', '/v1/table/new/drop');
    } else checkBody(answer, what);
  }
  expect((await ask({ fetch, base: server.url }, 'GET', '/health')).json).toEqual({ status: 'ok' });
  const rows = await ask({ fetch, base: server.url }, 'POST', '/v1/table/there/count_rows', {});
  expect(rows.json).toBe(3);
  expect([readdirSync(outer), readdirSync(`${outer}/one/two`)]).toEqual([['one'], ['root']]);
  expect(touched.size).toBeGreaterThan(90);
  expect(strays()).toEqual([]);
  const listed = await ask({ fetch, base: server.url }, 'GET', '/v1/table');
  expect(listed.json).toEqual({ tables: ['there'] });
  const grown = (await settledHeap()) - before;
  if (process.env.REQUESTS !== undefined) console.log(`grown by ${grown} bytes`);
  expect(grown).toBeLessThan(Math.min(8e6, 2e6 + 3000 * REQUESTS));
}, 600_000);

test.each([
  ['no HTTP at all', 'hello\r\n\r\n'],
  ['a header without a colon', 'GET /health HTTP/1.1\r\nhost x\r\n\r\n'],
  [
    'two lengths',
    'POST /v1/table/t/describe HTTP/1.1\r\nhost: x\r\ncontent-length: 1\r\ncontent-length: 2\r\n\r\n{}',
  ],
  [
    'length beside chunks',
    'POST /v1/table/t/describe HTTP/1.1\r\nhost: x\r\ncontent-length: 1\r\ntransfer-encoding: chunked\r\n\r\n{}',
  ],
  ['no host', 'GET /health HTTP/1.1\r\nconnection: close\r\n\r\n'],
  ['a tunnel', 'CONNECT x:80 HTTP/1.1\r\nhost: x\r\n\r\n', 405],
  ['two hosts', 'GET /health HTTP/1.1\r\nhost: x\r\nHost: y\r\nconnection: close\r\n\r\n'],
  ['headers too large', `GET /health HTTP/1.1\r\nhost: x\r\nx: ${'y'.repeat(70_000)}\r\n\r\n`, 431],
])('bytes that are no request: %s', async (_, bytes, status = 400) => {
  const socket = connect(Number(new URL(server.url).port), '127.0.0.1');
  let text = '';
  socket.setEncoding('utf8').on('data', (piece: string) => {
    text += piece;
  });
  socket.on('error', () => {});
  socket.write(bytes);
  await new Promise((resolve) => socket.once('close', resolve));
  expect(text).toMatch(new RegExp(`^HTTP/1\\.1 ${status} `));
  expect(JSON.parse(text.slice(text.indexOf('\r\n\r\n') + 4))).toMatchObject({
    status,
    code: status === 405 ? 0 : 13,
  });
});

test('an expectation that is not known is refused with its status', async () => {
  const socket = connect(Number(new URL(server.url).port), '127.0.0.1');
  let text = '';
  socket.setEncoding('utf8').on('data', (piece: string) => {
    text += piece;
  });
  const head = 'GET /health HTTP/1.1\r\nhost: x\r\nexpect: wonders\r\nconnection: close';
  socket.write(`${head}\r\n\r\n`);
  await new Promise((resolve) => socket.once('close', resolve));
  expect(text).toMatch(/^HTTP\/1\.1 417 /);
});
