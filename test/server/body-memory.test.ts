/** What bodies may hold of a server's memory: compressed Arrow data, and JSON, each and together. */
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { describe, expect, test, vi } from 'vitest';
import {
  type RecordBatchStream,
  recordBatchStream,
  tableFromArrays,
} from '../../src/arrow/apache.ts';
import { MessageBudget } from '../../src/ipc/foreign/foreign-budget.ts';
import { openArrowBody } from '../../src/ipc/foreign/foreign-ipc.ts';
import { Progress } from '../../src/progress.ts';
import { RequestMemory, ServerMemory } from '../../src/request-memory.ts';
import { Arrivals } from '../../src/server/http/arrivals.ts';
import { readJson } from '../../src/server/http/body.ts';
import type { RequestState } from '../../src/server/http/request-state.ts';
import type { Limits } from '../../src/server.ts';
import { rawConnection } from '../helpers/raw-http.ts';
import { ARROW, ask, type Pair, restPair, someRows, streamBytes } from '../helpers/rest-pair.ts';
import { stubNamespace } from '../helpers/stub-namespace.ts';
import { temporaryFolder } from '../helpers/temporary.ts';

const MIB = 2 ** 20;
const fixture = (name: string): Uint8Array =>
  readFileSync(join(import.meta.dirname, '..', '..', 'fixtures', 'ipc', name));
/** The schema, two batches of 32 MiB and the end of a stream of four batches that pyarrow wrote. */
const BOMB: Uint8Array = ((all) => Buffer.concat([all.subarray(0, 6_168), all.subarray(-8)]))(
  fixture('constant-zstd.arrows'),
);

const serve = (limits: Limits): Promise<Pair> => restPair({ root: temporaryFolder(), limits });
const create = (pair: Pair, name: string, body = BOMB): ReturnType<typeof ask> =>
  ask(pair, 'POST', `/v1/table/${name}/create`, body, ARROW);

describe('compressed rows', () => {
  test('count as much as they take, for every request', async () => {
    const small = await serve({ requestMemory: 16 * MIB });
    const refused = await create(small, 't');
    expect(refused).toMatchObject({ status: 400, json: { code: 13 } });
    expect(refused.json.error).toContain('requestMemory');
    expect((await ask(small, 'POST', '/v1/table/t/exists', {})).status).toBe(404);
    const { schema, batches } = tableFromArrays({ constant: BigInt64Array.of(1n) });
    const one = await streamBytes(recordBatchStream(schema, batches));
    expect((await create(small, 'u', one)).status).toBe(200);
    for (const path of [
      '/v1/table/u/insert',
      '/v1/table/u/merge_insert?on=constant&when_matched_update_all=true',
    ]) {
      const answer = await ask(small, 'POST', path, BOMB, ARROW);
      expect(answer.json.error, path).toContain('requestMemory');
    }
    // One batch at a time fits, and so does the whole.
    const large = await serve({ requestMemory: 48 * MIB });
    expect((await create(large, 't')).status).toBe(200);
    // A merge keeps all of them.
    const merge = '/v1/table/t/merge_insert?on=constant&when_matched_update_all=true';
    const merged = await ask(large, 'POST', merge, BOMB, ARROW);
    expect(merged.json.error).toContain('The rows of a merge would take');
  });

  test('and for the server', async () => {
    const pair = await serve({ serverMemory: 16 * MIB });
    const refused = await create(pair, 't');
    expect(refused).toMatchObject({ status: 503, json: { code: 17 } });
    expect(refused.json.error).toContain('serverMemory');
    expect(refused.headers.get('retry-after')).toBe('1');
    for (let times = 0; times < 3; times++) {
      expect(
        (await create(pair, `small${times}`, await streamBytes(someRows(100_000)))).status,
      ).toBe(200);
    }
  });

  test('of one body are limited in all by maxArrowBytes', async () => {
    const pair = await serve({ maxArrowBytes: 50 * MIB });
    const refused = await create(pair, 't');
    expect(refused.status).toBe(413);
    expect(refused.json.error).toContain(String(50 * MIB));
    expect(
      (await serve({ maxArrowBytes: 64 * MIB }).then((other) => create(other, 't'))).status,
    ).toBe(200);
  });
});

describe('what is held of Arrow data', () => {
  const chunked = async function* (bytes: Uint8Array, size = 1000): AsyncGenerator<Uint8Array> {
    for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size);
  };
  const whole = async (rows: RecordBatchStream, seen: () => void): Promise<number> => {
    let count = 0;
    for await (const batch of rows) {
      count += batch.numRows;
      seen();
    }
    return count;
  };

  test.each([
    ['types-zstd.arrows', 40],
    ['types-zstd.arrow', 40],
    ['types-plain.arrow', 40],
    ['dictionary-deltas.arrows', undefined],
    ['corpus/pyarrow-26/runs-zstd.arrows', undefined],
  ] as const)('is counted while it is held, and no longer: %s', async (name, rows) => {
    const server = new ServerMemory(64 * MIB);
    const memory = new RequestMemory(64 * MIB, server);
    let most = 0;
    const stream = await openArrowBody(chunked(fixture(name)), { memory });
    const count = await whole(stream, () => {
      most = Math.max(most, memory.taken);
      // Of the server's, the message before counts as well.
      expect(server.taken).toBeGreaterThanOrEqual(memory.taken);
    });
    if (rows !== undefined) expect(count).toBe(rows);
    expect(most).toBeGreaterThan(0);
    memory.giveBack(memory.taken);
    expect(server.taken).toBe(0);
    // With a byte less than the most it took, it is refused.
    const less = new RequestMemory(most - 1);
    const again = async (): Promise<number> =>
      whole(await openArrowBody(chunked(fixture(name)), { memory: less }), () => {});
    await expect(again()).rejects.toMatchObject({ details: { limit: 'requestMemory' } });
  });

  test('is given back when reading ends early or fails', async () => {
    const server = new ServerMemory(64 * MIB);
    const memory = new RequestMemory(64 * MIB, server);
    for await (const _ of await openArrowBody(chunked(BOMB), { memory })) break;
    expect(server.taken).toBe(0);
    const cut = await openArrowBody(chunked(BOMB.subarray(0, 4_600)), { memory });
    await expect(whole(cut, () => {})).rejects.toMatchObject({ code: 'InvalidInput' });
    expect(server.taken).toBe(0);
  });
});

test('what is expanded of a message is told before it is made, and not made where that is refused', () => {
  const told: number[] = [];
  const stream = { unbacked: 0, expanded: MIB };
  const budget = new MessageBudget(stream, 4, 0, MIB, (bytes) => {
    told.push(bytes);
    if (told.length > 1) throw new Error('no more');
  });
  budget.claimExpanded(100, 5, 'it');
  expect(() => budget.claimExpanded(200, 10, 'it')).toThrow('no more');
  expect(told).toEqual([100 + 4 * 5, 200 + 4 * 10]);
});

describe('JSON bodies', () => {
  test('count for the server until their requests have ended', async () => {
    let go = (): void => {};
    const waiting = new Promise<void>((resolve) => {
      go = resolve;
    });
    const describeTable = vi.fn(async () => {
      await waiting;
      return { location: 'x' };
    });
    const pair = await restPair({
      namespace: stubNamespace({ describeTable }),
      limits: { serverMemory: 10 * MIB },
    });
    const body = { context: { a: 'x'.repeat(2 * MIB) } };
    const send = (): ReturnType<typeof ask> => ask(pair, 'POST', '/v1/table/t/describe', body);
    const first = send();
    await vi.waitFor(() => expect(describeTable).toHaveBeenCalledTimes(1));
    const refused = await send();
    expect(refused).toMatchObject({ status: 503, json: { code: 17 } });
    expect(refused.json.error).toContain('The JSON body would take');
    // Small ones find room.
    const small = ask(pair, 'POST', '/v1/table/t/describe', {});
    await vi.waitFor(() => expect(describeTable).toHaveBeenCalledTimes(2));
    go();
    expect([(await first).status, (await small).status]).toEqual([200, 200]);
    expect((await send()).status).toBe(200);
  });
  test('are counted as they come, not as they are announced', async () => {
    const pair = await restPair(
      {
        namespace: stubNamespace({ describeTable: () => ({ location: 'x' }) }),
        limits: { serverMemory: 10 * MIB },
      },
      { wire: 'socket' },
    );
    const head = `POST /v1/table/t/describe HTTP/1.1\r\nhost: x\r\ncontent-type: application/json\r\ncontent-length: ${8 * MIB}\r\n\r\n{`;
    const slow = [1, 2, 3].map(() => rawConnection(pair.base, head));
    const body = { context: { a: 'x'.repeat(2 * MIB) } };
    expect((await ask(pair, 'POST', '/v1/table/t/describe', body)).status).toBe(200);
    for (const { socket } of slow) socket.destroy();
  });
});

test('pieces of a JSON body are not kept, however small they are', async () => {
  const body = new Readable({ read() {} });
  const request = { headers: { 'transfer-encoding': 'chunked' }, body };
  const state = { request, received: 0 } as unknown as RequestState;
  const arriving = {
    caller: 'anybody',
    arrivals: new Arrivals(1, 'maxArriving'),
    pace: { bodyIdleMs: 0, minBodyRate: 0 },
    progress: new Progress(60_000, () => new Error('late')),
  };
  const value = { text: 'x'.repeat(3_000) };
  const read = readJson(state, MIB, arriving);
  for (const byte of Buffer.from(JSON.stringify(value))) {
    const piece = Buffer.of(byte);
    const taken = once(body, 'data');
    body.push(piece);
    await taken;
    await undefined;
    // Who keeps the piece reads this in its place.
    piece.fill(0);
  }
  body.push(null);
  expect(await read).toEqual(value);
  arriving.progress.end();
});
