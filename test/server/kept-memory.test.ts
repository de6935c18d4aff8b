/** What a server keeps in memory between requests: `cacheBytes` and `bufferBytes`. */
import { expect, test } from 'vitest';
import { connect } from '../../src/index.ts';
import { configOf } from '../../src/server/config.ts';
import { createServer, type ServerOptions } from '../../src/server.ts';
import { callCli } from '../helpers/cli.ts';
import { readMetrics } from '../helpers/prometheus.ts';
import { ask, type Pair, restPair } from '../helpers/rest-pair.ts';
import { temporaryFolder } from '../helpers/temporary.ts';

const ROWS = Array.from({ length: 20_000 }, (_, at) => ({ id: at, text: `row ${at}` }));

/** A folder with a catalog of one table for each name. */
async function databases(...names: string[]): Promise<string> {
  const folder = temporaryFolder();
  for (const name of names) {
    const db = await connect(`${folder}/${name}`, { durability: 'relaxed' });
    await db.createTable('t', ROWS);
    await db.close();
  }
  return folder;
}

async function hits(pair: Pair, cache: string): Promise<number> {
  const { text } = await ask(pair, 'GET', '/metrics');
  const samples = readMetrics(text).get('dirspace_cache_hits_total')?.samples ?? [];
  return samples.find(({ labels }) => labels.cache === cache)?.value ?? Number.NaN;
}

/** Counts the rows for which a column has to be read. */
async function read(pair: Pair, database: string): Promise<void> {
  const body = { predicate: "text = 'row 7'" };
  const headers = { 'x-service-database': database };
  const { status, text } = await ask(pair, 'POST', '/v1/table/t/count_rows', body, headers);
  expect([status, text]).toEqual([200, '1']);
}

test('without memory for them neither rows nor metadata are kept', async () => {
  const databasesRoot = await databases('a');
  const kept = await restPair({ databasesRoot });
  const none = await restPair({ databasesRoot, cacheBytes: 0, bufferBytes: 0 });
  for (const pair of [kept, none]) for (let at = 0; at < 4; at++) await read(pair, 'a');
  const found = await Promise.all(
    ['buffers', 'metadata'].map(async (cache) => [
      await hits(kept, cache),
      await hits(none, cache),
    ]),
  );
  for (const [most, least] of found) {
    expect(most).toBeGreaterThan(0);
    expect(least).toBe(0);
  }
});

test('all roots of a server share what it keeps', async () => {
  const databasesRoot = await databases('a', 'b');
  const both = await restPair({ databasesRoot });
  for (const name of ['a', 'a', 'a', 'b', 'b', 'b']) await read(both, name);
  const before = await hits(both, 'buffers');
  await read(both, 'a');
  expect(await hits(both, 'buffers')).toBeGreaterThan(before);

  // Room for the column of one table.
  const one = await restPair({ databasesRoot, bufferBytes: 300_000 });
  for (const name of ['a', 'a', 'a', 'b', 'b', 'b']) await read(one, name);
  const known = await hits(one, 'buffers');
  expect(known).toBeGreaterThan(0);
  await read(one, 'a');
  expect(await hits(one, 'buffers')).toBe(known);
});

test('what is no number of bytes is refused, and so are bytes for catalogs that are open already', async () => {
  const root = temporaryFolder();
  const refused = async (options: object): Promise<string> =>
    await createServer(options as ServerOptions).then(
      () => 'taken',
      (error: Error) => error.message,
    );
  expect(await refused({ root, cacheBytes: -1 })).toContain('cacheBytes is -1');
  expect(await refused({ root, bufferBytes: Number.NaN })).toContain('bufferBytes is NaN');
  expect(await refused({ root, vectorBytes: -1 })).toContain('vectorBytes is -1');
  expect(await refused({ root, bufferBytes: '1' })).toContain('bufferBytes is of type string');
  const db = await connect(root);
  expect(await refused({ namespace: db.namespace, bufferBytes: 1 })).toContain('given open');
  expect(await refused({ namespace: db.namespace, vectorBytes: 1 })).toContain('given open');
  await db.close();
  expect(configOf({ root, bufferBytes: 7 }, '.', {}).bufferBytes).toBe(7);
});

test('the command line takes them, and says what is wrong with them', async () => {
  const called = await callCli(['serve', '--root', temporaryFolder(), '--buffer-bytes', 'many']);
  expect(called.code).toBe(2);
  expect(called.error).toContain('--buffer-bytes is "many"');
});
