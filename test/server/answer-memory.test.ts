/** What answers hold on their way counts for `limits.serverMemory`. */
import { beforeAll, describe, expect, test, vi } from 'vitest';
import { connect } from '../../src/index.ts';
import { readMetrics } from '../helpers/prometheus.ts';
import { rawAnswer } from '../helpers/raw-http.ts';
import { ask, type Pair, restPair } from '../helpers/rest-pair.ts';
import { temporaryFolder } from '../helpers/temporary.ts';

const MIB = 1024 * 1024;
const ROWS = 60_000;

/** The catalog of a table of three batches of about 6 MiB, which is read only. */
let root: string;

beforeAll(async () => {
  root = temporaryFolder();
  const db = await connect(root, { durability: 'relaxed' });
  const rows = (from: number) =>
    Array.from({ length: ROWS }, (_, at) => ({ id: from + at, text: `${from + at} `.repeat(16) }));
  const table = await db.createTable('t', rows(0));
  await table.add(rows(ROWS));
  await table.add(rows(2 * ROWS));
  await db.close();
});

async function taken(pair: Pair): Promise<number> {
  const { text } = await ask(pair, 'GET', '/metrics');
  const samples = readMetrics(text).get('dirspace_server_memory_taken_bytes')?.samples;
  return samples?.[0]?.value ?? Number.NaN;
}

const query = (pair: Pair, members: object = {}): Promise<Response> =>
  pair.fetch(`${pair.base}/v1/table/t/query`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ k: 10 * ROWS, vector: {}, ...members }),
  });

const PLAIN = {};
const SORTED = { order_by: [{ column_name: 'id' }] };
const FILTERED = { filter: 'id >= 0' };
const COMPUTED = { columns: { column_aliases: { long: 'repeat(text, 2)' } } };

test.each([
  ['rows', PLAIN, 16],
  // Those of an order are read as a whole, and copied to their places.
  ['rows in an order', SORTED, 32],
  ['rows of a filter', FILTERED, 16],
  // A batch and what is computed of it are there at once.
  ['computed values', COMPUTED, 32],
])(
  '%s that are not read yet hold memory, others wait for theirs, and all is given back',
  async (_, members, mebibytes) => {
    const serverMemory = mebibytes * MIB;
    const pair = await restPair({ root, limits: { serverMemory, queueTimeoutMs: 30 } });
    const first = await query(pair, members);
    expect(first.status).toBe(200);
    const reader = (first.body as ReadableStream<Uint8Array>).getReader();
    await reader.read();
    const held = await taken(pair);
    expect(held).toBeGreaterThan(MIB);
    expect(held).toBeLessThanOrEqual(serverMemory + MIB);
    // The memory that is left is taken by others until one has to wait.
    const others = Array.from({ length: 6 }, () => query(pair));
    const answers = await Promise.all(others);
    const refused = answers.filter(({ status }) => status === 503);
    expect(refused.length).toBeGreaterThan(0);
    for (const answer of refused) {
      expect(answer.headers.get('retry-after')).not.toBeNull();
      expect(await answer.text()).toContain('serverMemory');
    }
    await reader.cancel();
    for (const answer of answers) if (answer.status === 200) await answer.body?.cancel();
    await expect.poll(() => taken(pair)).toBe(0);
    const whole = await query(pair, members);
    expect((await whole.arrayBuffer()).byteLength).toBeGreaterThan(12 * MIB);
    expect(await taken(pair)).toBe(0);
  },
);

test('work goes on a batch at a time where there is memory for no more', async () => {
  const pair = await restPair({ root, limits: { serverMemory: MIB, queueTimeoutMs: 10_000 } });
  const count = await ask(pair, 'POST', '/v1/table/t/count_rows', { predicate: "text like '%7%'" });
  expect(count.status).toBe(200);
  const lengths = await Promise.all(
    [FILTERED, PLAIN, FILTERED, PLAIN].map(async (members) => {
      const answer = await query(pair, members);
      return [answer.status, (await answer.arrayBuffer()).byteLength > 12 * MIB];
    }),
  );
  expect(lengths).toEqual(Array.from({ length: 4 }, () => [200, true]));
  expect(await taken(pair)).toBe(0);
});

describe('rows that nobody begins to read are let go', () => {
  const link = (format: string): string =>
    `/ui/rows/${format}?ask=${encodeURIComponent('{"id":["t"]}')}`;
  const FORMATS = ['csv', 'json', 'ndjson', 'parquet', 'arrow', 'arrow-stream'];

  test.each(FORMATS)('as %s', async (format) => {
    const pair = await restPair({ root, ui: true });
    for (const method of ['GET', 'HEAD']) {
      const answer = await pair.fetch(pair.base + link(format), { method });
      expect(answer.status).toBe(200);
      expect(await taken(pair)).toBeGreaterThan(MIB);
      await answer.body?.cancel();
      await vi.waitFor(async () => expect(await taken(pair)).toBe(0), 20_000);
    }
  });

  test.each(['csv', 'arrow'])('as %s, where a GET has a body that is not read', async (format) => {
    const pair = await restPair({ root, ui: true }, { wire: 'socket' });
    const head = `GET ${link(format)} HTTP/1.1\r\nhost: localhost\r\ncontent-length: 5\r\n\r\n`;
    expect(await rawAnswer(pair.base, `${head}hello`)).toBe('');
    await vi.waitFor(async () => expect(await taken(pair)).toBe(0), 20_000);
  });
});
