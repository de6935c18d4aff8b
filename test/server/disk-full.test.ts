/** A disk that fills up behind a server: the right answer, nothing lost, and work goes on after. */
import { describe, expect, test } from 'vitest';
import { openDirectoryNamespace } from '../../src/directory/directory-namespace.ts';
import { memoryFs } from '../helpers/catalogs.ts';
import { FaultyFs } from '../helpers/faulty-fs.ts';
import { casesOf } from '../helpers/long.ts';
import {
  type Answered,
  ARROW,
  ask,
  restPair,
  someRows,
  streamBytes,
} from '../helpers/rest-pair.ts';

/** What takes up room. */
const WRITES = ['writeSync', 'writev', 'mkdirSync', 'mkdir', 'linkSync'];

type Ask = (path: string, body?: unknown, headers?: Record<string, string>) => Promise<Answered>;

async function catalog() {
  const faulty = new FaultyFs(memoryFs());
  const namespace = await openDirectoryNamespace({ root: '/catalog', fs: faulty.fs });
  const pair = await restPair({ namespace }, { wire: 'socket', retries: 0 });
  await pair.client.createTable({ id: ['t'] }, someRows());
  const post: Ask = (path, body, headers) => ask(pair, 'POST', path, body, headers);
  return { faulty, client: pair.client, post };
}

const REQUESTS: readonly (readonly [name: string, send: (post: Ask) => Promise<Answered>])[] = [
  ['insert', async (post) => post('/v1/table/t/insert', await streamBytes(someRows(500)), ARROW)],
  ['delete', (post) => post('/v1/table/t/delete', { predicate: 'id = 1' })],
  ['update', (post) => post('/v1/table/t/update', { updates: [['id', 'id + 10']] })],
  ['create', async (post) => post('/v1/table/u/create', await streamBytes(), ARROW)],
  ['create_namespace', (post) => post('/v1/namespace/n/create', {})],
  ['tags/create', (post) => post('/v1/table/t/tags/create', { tag: 'x', version: 1 })],
  ['branches/create', (post) => post('/v1/table/t/branches/create', { name: 'b' })],
];

/** What a caller can see of the catalog. */
async function seen(client: Awaited<ReturnType<typeof catalog>>['client']): Promise<unknown> {
  const id = ['t'];
  const ids: number[] = [];
  for await (const batch of await client.queryTable({ id, k: Number.MAX_SAFE_INTEGER })) {
    ids.push(...(batch.getChild('id') ?? []));
  }
  return [
    ids,
    (await client.listAllTables({})).tables,
    (await client.listNamespaces({ id: [] })).namespaces,
    (await client.listTableVersions({ id })).versions.length,
    Object.keys((await client.listTableTags({ id })).tags),
    Object.keys((await client.listTableBranches({ id })).branches ?? {}),
  ];
}

/** The usual run takes the first write, and then one in three, beginning at another one for each request. */
const STEP = casesOf(5, 1);

describe.each(REQUESTS)('%s', (name, send) => {
  test('a full disk is a 503 that says so; the same request works once there is room', async () => {
    let refused = 0;
    const shift = REQUESTS.findIndex(([other]) => other === name) % STEP;
    for (let at = 1; ; at += at === 1 ? 1 + shift : STEP) {
      const { faulty, client, post } = await catalog();
      const before = await seen(client);
      faulty.arm({ at, kind: 'ENOSPC', persistent: true, only: WRITES });
      const answer = await send(post);
      const { fired } = faulty;
      faulty.arm();
      if (!fired) break;
      if (answer.status === 200) {
        // Done before the disk was full, or with nothing left to do but tidying.
        expect(await seen(client)).not.toEqual(before);
      } else {
        refused++;
        expect(answer.json, `call ${at}`).toMatchObject({
          type: '/errors/service-unavailable',
          status: 503,
          code: 17,
          context: { 'dirspace.kind': 'ResourceExhausted' },
        });
        expect(answer.status).toBe(503);
        expect(answer.json.error).toMatch(/no space is left/);
        expect(answer.text).not.toContain('/catalog');
        expect(Number(answer.headers.get('retry-after'))).toBeGreaterThan(0);
        expect(await seen(client), `call ${at}`).toEqual(before);
        expect((await send(post)).status, `call ${at}, sent again`).toBe(200);
        expect(await seen(client)).not.toEqual(before);
      }
      expect((await client.verify({})).problems).toEqual([]);
    }
    expect(refused).toBeGreaterThan(0);
  });
});

test('reading goes on while the disk is full, and the client tells the kind', async () => {
  const { faulty, client } = await catalog();
  faulty.arm({ at: 1, kind: 'ENOSPC', persistent: true, only: ['writev', 'writeSync'] });
  await expect(client.insertIntoTable({ id: ['t'] }, someRows())).rejects.toMatchObject({
    code: 'ResourceExhausted',
    status: 503,
    retryable: true,
  });
  expect((await client.countTableRows({ id: ['t'] })).count).toBe(3);
  faulty.arm();
  await client.insertIntoTable({ id: ['t'] }, someRows());
  expect((await client.countTableRows({ id: ['t'] })).count).toBe(6);
});
