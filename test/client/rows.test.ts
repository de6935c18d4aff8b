/** Rows of a query over REST: what is asked for on the wire, and what the client makes of an answer. */
import { describe, expect, test } from 'vitest';
import {
  type RecordBatch,
  type RecordBatchStream,
  recordBatchStream,
  Schema,
} from '../../src/arrow/apache.ts';
import { RestNamespace } from '../../src/client/client.ts';
import { boundedRows } from '../../src/client/client-rows.ts';
import { connectNamespace, openNamespace } from '../../src/index.ts';
import { EVERY_ROW } from '../../src/protocol/wire-query.ts';
import { ask, restPair, someRows, streamBytes } from '../helpers/rest-pair.ts';
import { stubNamespace } from '../helpers/stub-namespace.ts';
import { temporaryFolder } from '../helpers/temporary.ts';

const T = { id: ['t'] };
const LIMIT_32 = 2147483647;

/** Rows in batches of a hundred. */
async function batchesOf(rows: number): Promise<{ schema: Schema; batches: RecordBatch[] }> {
  const stream = someRows(rows);
  const batches: RecordBatch[] = [];
  for await (const batch of stream) {
    for (let at = 0; at < rows; at += 100) batches.push(batch.slice(at, at + 100));
  }
  return { schema: stream.schema, batches };
}

/** A client of a server that answers every query with the same rows, and the bodies it is sent. */
async function serving(
  rows: number,
  headers: Record<string, string> = {},
): Promise<{ client: RestNamespace; bodies: Record<string, unknown>[]; cancelled: () => boolean }> {
  const { schema, batches } = await batchesOf(rows);
  const bytes = await streamBytes(recordBatchStream(schema, batches));
  const bodies: Record<string, unknown>[] = [];
  let cancelled = false;
  const client = new RestNamespace({
    uri: 'http://x',
    fetch: async (_, { body }) => {
      bodies.push(JSON.parse(String(body)));
      let at = 0;
      const stream = new ReadableStream<Uint8Array>({
        pull: (controller) => {
          if (at >= bytes.length) controller.close();
          else controller.enqueue(bytes.slice(at, at + 512));
          at += 512;
        },
        cancel: () => {
          cancelled = true;
        },
      });
      return new Response(stream, { headers });
    },
  });
  return { client, bodies, cancelled: () => cancelled };
}

async function idsOf(stream: RecordBatchStream): Promise<number[]> {
  const ids: number[] = [];
  for await (const batch of stream) ids.push(...(batch.getChild('id')?.toArray() ?? []));
  return ids;
}

describe('a query on the wire', () => {
  test('asks for no more rows than 32 bits can count, and always has a vector', async () => {
    const { client, bodies } = await serving(1);
    await idsOf(await client.queryTable({ ...T, k: Number.MAX_SAFE_INTEGER }));
    await idsOf(await client.queryTable({ ...T, k: 2 ** 31 }));
    await idsOf(await client.queryTable({ ...T, k: 7 }));
    await client.analyzeTableQueryPlan({ ...T, k: 2 ** 40 }).catch(() => {});
    await client.explainTableQueryPlan({ ...T, query: { k: 2 ** 40 } }).catch(() => {});
    const every = { k: LIMIT_32, vector: {} };
    expect(bodies).toEqual([every, every, { k: 7, vector: {} }, every, { query: every }]);
  });
  test('that asks for all that 32 bits can count is without a limit here', async () => {
    const heard: unknown[] = [];
    const hear = (request: unknown): never => {
      heard.push(request);
      throw new Error('heard');
    };
    const pair = await restPair({
      namespace: stubNamespace({
        queryTable: hear,
        analyzeTableQueryPlan: hear,
        explainTableQueryPlan: hear,
      }),
    });
    await ask(pair, 'POST', '/v1/table/t/query', { k: LIMIT_32, vector: {} });
    await ask(pair, 'POST', '/v1/table/t/query', { k: LIMIT_32 - 1 });
    await ask(pair, 'POST', '/v1/table/t/analyze_plan', { k: 2 ** 40 });
    await ask(pair, 'POST', '/v1/table/t/explain_plan', { query: { k: LIMIT_32 } });
    expect(heard).toMatchObject([
      { k: Number.MAX_SAFE_INTEGER },
      { k: LIMIT_32 - 1 },
      { k: Number.MAX_SAFE_INTEGER },
      { query: { k: Number.MAX_SAFE_INTEGER } },
    ]);
  });
});

describe('an answer', () => {
  test('with more rows than were asked for is cut, and let go', async () => {
    const { client, cancelled } = await serving(1000);
    expect(await idsOf(await client.queryTable({ ...T, k: 3 }))).toEqual([0, 1, 2]);
    expect(cancelled()).toBe(true);
  });
  test('that is cut is not read any further', async () => {
    let read = 0;
    const stream: RecordBatchStream = {
      schema: new Schema([]),
      async *[Symbol.asyncIterator]() {
        for (; read < 9; ) {
          read++;
          yield* (await batchesOf(100)).batches;
        }
      },
    };
    const rows: number[] = [];
    for await (const batch of boundedRows(stream, { k: 150 })) rows.push(batch.numRows);
    expect(rows).toEqual([100, 50]);
    expect(read).toBe(2);
  });
  test('to a question for none has none', async () => {
    const { client, cancelled } = await serving(1000);
    expect(await idsOf(await client.queryTable({ ...T, k: 0 }))).toEqual([]);
    expect(cancelled()).toBe(true);
  });
  test('with as many as were asked for is read to its end, so that its connection is kept', async () => {
    const { client, cancelled } = await serving(1000);
    expect(await idsOf(await client.queryTable({ ...T, k: 1000 }))).toHaveLength(1000);
    expect(cancelled()).toBe(false);
  });
  test('to several vectors may have so many for each', async () => {
    const { client } = await serving(10, { 'x-dirspace-applied': 'multi_vector' });
    const vector = { multi_vector: [[1], [2]] };
    expect(await idsOf(await client.queryTable({ ...T, k: 3, vector }))).toHaveLength(6);
  });
  test('whose schema alone is wanted is let go before its first row is read', async () => {
    const { client, cancelled } = await serving(10_000);
    const stream = await client.queryTable({ ...T, k: 10_000 });
    expect(stream.schema.fields.map(({ name }) => name)).toEqual(['id']);
    await stream[Symbol.asyncIterator]().return?.();
    expect(cancelled()).toBe(true);
  });
  test('that ends where 32 bits do may lack rows, which is said', async () => {
    const batch = { numRows: EVERY_ROW } as RecordBatch;
    const answer = (batches: RecordBatch[]): RecordBatchStream => ({
      schema: new Schema([]),
      async *[Symbol.asyncIterator]() {
        yield* batches;
      },
    });
    const read = async (batches: RecordBatch[]): Promise<number> => {
      let rows = 0;
      const all = { k: Number.MAX_SAFE_INTEGER };
      for await (const one of boundedRows(answer(batches), all)) rows += one.numRows;
      return rows;
    };
    await expect(read([batch])).rejects.toMatchObject({
      code: 'Internal',
      message: expect.stringContaining('there may be more'),
    });
    expect(await read([batch, { numRows: 1 } as RecordBatch])).toBe(EVERY_ROW + 1);
    expect(await read([{ numRows: 5 } as RecordBatch])).toBe(5);
  });
});

describe('an ordering, which is beyond the protocol', () => {
  const order_by = [{ column_name: 'id', ascending: false }];
  test('is refused where the server does not say that it heeded it', async () => {
    const { client, cancelled } = await serving(1000);
    const query = client.queryTable({ ...T, k: 3, order_by });
    await expect(query).rejects.toMatchObject({
      code: 'Unsupported',
      message: expect.stringContaining('order_by'),
    });
    expect(cancelled()).toBe(true);
  });
  test('is taken where it says so', async () => {
    const { client } = await serving(3, { 'x-dirspace-applied': 'other, order_by' });
    expect(await idsOf(await client.queryTable({ ...T, k: 3, order_by }))).toHaveLength(3);
  });
  test('is heeded by our server, which says so only then', async () => {
    const pair = await restPair({ root: temporaryFolder() });
    await pair.client.createTable(T, someRows(3));
    expect(await idsOf(await pair.client.queryTable({ ...T, k: 2, order_by }))).toEqual([2, 1]);
    for (const [body, said] of [
      [{ k: 2, order_by }, 'order_by'],
      [{ k: 2 }, null],
      [{ k: 2, order_by: [] }, null],
    ] as const) {
      const { headers } = await ask(pair, 'POST', '/v1/table/t/query', body);
      expect(headers.get('x-dirspace-applied')).toBe(said);
    }
  });
});

describe('a search that servers of others cut short', () => {
  const several = { multi_vector: [[1], [2]] };
  const single = { single_vector: [1] };
  test.each([
    ['multi_vector', { vector: several }, 'offset'],
    ['offset', { vector: single, offset: 1 }, 'multi_vector, order_by'],
    ['offset', { vector: { multi_vector: [[1]] }, offset: 1 }, 'multi_vector'],
    ['multi_vector', { vector: several, offset: 1 }, 'offset'],
    ['offset', { vector: several, offset: 1 }, 'multi_vector'],
  ])(
    'is refused where the server does not say that it heeded %s: %o',
    async (member, query, said) => {
      const { client, cancelled } = await serving(1000, { 'x-dirspace-applied': said });
      await expect(client.queryTable({ ...T, k: 3, ...query })).rejects.toMatchObject({
        code: 'Unsupported',
        message: expect.stringContaining(member),
        details: { operation: 'QueryTable', member },
      });
      expect(cancelled()).toBe(true);
    },
  );
  test.each([
    { vector: single },
    { vector: single, offset: 0 },
    { vector: { multi_vector: [[1]] } },
    { offset: 1 },
    { vector: {}, offset: 1 },
    { vector: { single_vector: [] }, offset: 1 },
    { vector: { multi_vector: [] }, offset: 1 },
  ])('is taken without a sign where no server does otherwise: %o', async (query) => {
    const { client } = await serving(3);
    expect(await idsOf(await client.queryTable({ ...T, k: 3, ...query }))).toHaveLength(3);
  });
  test('is done by our server, which says so', async () => {
    const pair = await restPair({ root: temporaryFolder() });
    const options = { fetch: pair.fetch as never };
    const db = await connectNamespace('rest', { uri: pair.base }, options);
    const rows = [1, 2, 3].map((id) => ({ id, vector: [id, 0] }));
    const table = await db.createTable('v', rows);
    const next = await table.vectorSearch([1, 0]).limit(1).offset(1).toArray();
    expect(next).toMatchObject([{ id: 2 }]);
    const both = table.query().nearestTo([1, 0]).addQueryVector([3, 0]).limit(1);
    expect(await both.toArray()).toMatchObject([
      { id: 1, query_index: 0 },
      { id: 3, query_index: 1 },
    ]);
    const vector = {
      multi_vector: [
        [1, 0],
        [3, 0],
      ],
    };
    const body = { k: 1, vector, offset: 1 };
    const { headers } = await ask(pair, 'POST', '/v1/table/v/query', body);
    expect(headers.get('x-dirspace-applied')).toBe('multi_vector, offset');
  });
});

test('an operation that Lance’s own server lacks is unsupported, not an internal error', async () => {
  const answer =
    (error: string): typeof fetch =>
    async () =>
      new Response(JSON.stringify({ error, code: 18 }), { status: 500 });
  const opened = (error: string): Promise<Awaited<ReturnType<typeof openNamespace>>> =>
    openNamespace('rest', { uri: 'http://x' }, { fetch: answer(error) as never });
  const rename = { ...T, new_table_name: 'u' };
  const lacking = await opened('Not supported: rename_table not implemented, lib.rs:1:1');
  await expect(lacking.renameTable(rename)).rejects.toMatchObject({ code: 'Unsupported' });
  const broken = await opened('It is not supported: no');
  await expect(broken.renameTable(rename)).rejects.toMatchObject({ code: 'Internal' });
});

test('the SDK reads all rows of a server of ours, however many are asked for', async () => {
  const pair = await restPair({ root: temporaryFolder() });
  await pair.client.createTable(T, someRows(5));
  const options = { fetch: pair.fetch as never };
  const db = await connectNamespace('rest', { uri: pair.base }, options);
  const table = await db.openTable('t');
  expect(await table.query().toArray()).toHaveLength(5);
  expect(
    await table
      .query()
      .limit(2 ** 40)
      .toArray(),
  ).toHaveLength(5);
  expect(await table.query().limit(0).toArray()).toEqual([]);
});
