/** What sorts and searches hold is counted, bounded, and given back. */
import { describe, expect, test } from 'vitest';
import { tableFromArrays } from '../../../src/arrow/apache.ts';
import { openDirectoryNamespace } from '../../../src/directory/directory-namespace.ts';
import { connect } from '../../../src/index.ts';
import { RequestMemory, ServerMemory } from '../../../src/request-memory.ts';
import { memoryFs } from '../../helpers/memory-fs.ts';
import { ask, restPair } from '../../helpers/rest-pair.ts';
import { temporaryFolder } from '../../helpers/temporary.ts';

const ROWS = 60_000;
const MIB = 1024 * 1024;
const x = Float64Array.from({ length: ROWS }, (_, row) => (row * 7919) % ROWS);
const rowsOf = () => tableFromArrays({ x });
const vectors = Array.from({ length: 2000 }, (_, row) => ({ vector: [row, row % 7] }));

test('memory taken counts for the request and for the server, and is given back once', () => {
  const server = new ServerMemory(100);
  const [one, other] = [new RequestMemory(80, server), new RequestMemory(80, server)];
  const held = one.hold('A sort');
  held.set(60);
  expect([one.taken, server.taken]).toEqual([60, 60]);
  expect(() => held.set(81)).toThrow(
    expect.objectContaining({
      code: 'InvalidInput',
      details: { limit: 'requestMemory', requestMemory: 80 },
    }),
  );
  expect(() => other.take(41, 'A merge')).toThrow(
    expect.objectContaining({
      code: 'ServiceUnavailable',
      message: expect.stringMatching(/^A merge .* serverMemory \(100 bytes\)/),
      details: { limit: 'serverMemory', serverMemory: 100 },
    }),
  );
  expect([one.taken, other.taken, server.taken]).toEqual([60, 0, 60]);
  other.take(40, 'A merge');
  held.set(10);
  expect(server.taken).toBe(50);
  held.end();
  held.end();
  expect([one.taken, server.taken]).toEqual([0, 40]);
  // No more is given back than was taken.
  other.giveBack(1000);
  expect(server.taken).toBe(0);
});

describe('beyond requestMemory', () => {
  const refused = {
    code: 'InvalidInput',
    message: expect.stringContaining('requestMemory'),
    details: { limit: 'requestMemory', requestMemory: MIB },
  };

  test('a sort of all rows is refused, and the first of them are not', async () => {
    const db = await connect('/root', { fs: memoryFs(), requestMemory: MIB });
    const table = await db.createTable('t', rowsOf());
    const sorted = table.query().orderBy({ columnName: 'x' });
    await expect(sorted.toArray()).rejects.toMatchObject(refused);
    expect((await sorted.limit(3).toArray()).map((row) => row.x)).toEqual([0, 1, 2]);
  });

  test('all rows near to many query vectors are refused, and the nearest are not', async () => {
    const db = await connect('/root', { fs: memoryFs(), requestMemory: MIB });
    const table = await db.createTable('t', vectors);
    const many = table.vectorSearch(Array.from({ length: 60 }, (_, at) => [at, 0]) as never);
    await expect(many.limit(2000).toArray()).rejects.toMatchObject(refused);
    expect(await many.limit(5).toArray()).toHaveLength(300);
  });
});

test('what requests held is given back when they end, fail, or are left', async () => {
  const serverMemory = new ServerMemory(8 * MIB);
  const root = temporaryFolder();
  const made = await connect(root, { durability: 'relaxed' });
  await made.createTable('t', rowsOf());
  await made.createTable('v', vectors);
  const namespace = await openDirectoryNamespace({ root, serverMemory, requestMemory: 4 * MIB });
  const order_by = [{ column_name: 'x' }];
  const sorted = await namespace.queryTable({ id: ['t'], order_by, k: ROWS, vector: {} });
  const batches = sorted[Symbol.asyncIterator]();
  await batches.next();
  expect(serverMemory.taken).toBeGreaterThan(ROWS * 16);
  await batches.return?.();
  expect(serverMemory.taken).toBe(0);
  const multi_vector = Array.from({ length: 30 }, (_, at) => [at, 1]);
  const near = await namespace.queryTable({ id: ['v'], vector: { multi_vector }, k: 2000 });
  for await (const { numRows } of near) {
    expect(numRows).toBeGreaterThan(0);
    expect(serverMemory.taken).toBeGreaterThan(30 * 2000 * 12);
  }
  expect(serverMemory.taken).toBe(0);
  const larger = multi_vector.flatMap((vector) => [vector, vector, vector]);
  const beyond = namespace.queryTable({ id: ['v'], vector: { multi_vector: larger }, k: 2000 });
  await expect(beyond).rejects.toMatchObject({ details: { limit: 'requestMemory' } });
  expect(serverMemory.taken).toBe(0);
});

test('long values computed of few stored bytes count while their batch passes', async () => {
  const serverMemory = new ServerMemory(8 * MIB);
  const root = temporaryFolder();
  const made = await connect(root, { durability: 'relaxed' });
  await made.createTable('few', [{ id: 1 }, { id: 2 }]);
  const namespace = await openDirectoryNamespace({ root, serverMemory });
  const long = { columns: { column_aliases: { long: `repeat('x', ${MIB})` } } };
  for (const k of [Number.MAX_SAFE_INTEGER, 2]) {
    const found = await namespace.queryTable({ id: ['few'], k, vector: {}, ...long } as never);
    for await (const { numRows } of found) {
      expect(numRows).toBe(2);
      expect(serverMemory.taken).toBeGreaterThan(2 * MIB);
    }
    expect(serverMemory.taken).toBe(0);
  }
});

test('a server answers 400 beyond requestMemory and 503 beyond serverMemory', async () => {
  const query = { k: ROWS, vector: {}, order_by: [{ column_name: 'x' }] };
  const root = temporaryFolder();
  await (await connect(root, { durability: 'relaxed' })).createTable('t', rowsOf());
  const own = await restPair({ root, limits: { requestMemory: MIB } });
  const refused = await ask(own, 'POST', '/v1/table/t/query', query);
  expect(refused.status).toBe(400);
  expect(refused.json.detail).toContain('requestMemory (1048576 bytes)');
  const shared = await restPair({ root, limits: { serverMemory: MIB, retryAfterSeconds: 7 } });
  const busy = await ask(shared, 'POST', '/v1/table/t/query', query);
  expect(busy.status).toBe(503);
  expect(busy.headers.get('retry-after')).toBe('7');
  expect(busy.json.detail).toContain('serverMemory (1048576 bytes)');
  const first = await ask(shared, 'POST', '/v1/table/t/query', { ...query, k: 10 });
  expect(first.status).toBe(200);
});
