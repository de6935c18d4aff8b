/**
 * Misspelt names over REST and in process: a change whose condition or mode is misspelt must not be
 * done without it. What clients send beyond the protocol is taken by name.
 */
import { beforeEach, describe, expect, test } from 'vitest';
import { openNamespace } from '../../src/index.ts';
import { EVERY_OPERATION, EVERY_OPERATION_NAMES } from '../../src/protocol/every-operation.ts';
import type { OperationRow } from '../../src/protocol/operation-row.ts';
import { ALIAS_ROUTES } from '../../src/protocol/operations.ts';
import type { Catalog } from '../../src/sdk/handles/implementations.ts';
import { ARROW, ask, type Pair, restPair, someRows, streamBytes } from '../helpers/rest-pair.ts';
import { temporaryFolder } from '../helpers/temporary.ts';

// biome-ignore lint/suspicious/noExplicitAny: what JavaScript lets a caller do and the types do not
type Loose = any;

let pair: Pair;
const T = { id: ['t'] };

beforeEach(async () => {
  pair = await restPair({ root: temporaryFolder() });
  await pair.client.createTable(T, someRows(3));
});

const version = async (): Promise<number | undefined> =>
  (await pair.client.describeTable({ ...T, load_detailed_metadata: true })).version;

describe('over REST', () => {
  test('an update with a filter in place of a predicate changes no row', async () => {
    const body = { filter: 'id = 1', updates: [['id', '7']] };
    const answer = await ask(pair, 'POST', '/v1/table/t/update', body);
    expect(answer).toMatchObject({ status: 400, json: { code: 13 } });
    expect(answer.json.error).toContain('"filter"; did you mean "predicate"?');
    expect(await version()).toBe(1);
  });
  test('an insert with ?mod=overwrite does not append', async () => {
    const sent = await streamBytes();
    const answer = await ask(pair, 'POST', '/v1/table/t/insert?mod=overwrite', sent, ARROW);
    expect(answer.status).toBe(400);
    expect(answer.json.error).toContain('"mod"; did you mean "mode"?');
    expect(await version()).toBe(1);
  });
  test('a describe with ?version=1 does not answer the newest', async () => {
    const answer = await ask(pair, 'POST', '/v1/table/t/describe?version=1', {});
    expect(answer.status).toBe(400);
    expect(answer.json.error).toContain('"version"; it is a member of the JSON body');
    expect((await ask(pair, 'POST', '/v1/table/t/describe', { version: 1 })).status).toBe(200);
  });
  test('no route takes a query parameter that it does not know', async () => {
    const routes = [
      ...EVERY_OPERATION_NAMES.map((name) => EVERY_OPERATION[name] as OperationRow),
      ...ALIAS_ROUTES.map((alias) => ({ ...EVERY_OPERATION[alias.operation], ...alias })),
    ];
    const sent = await streamBytes();
    for (const { method, path, body } of routes) {
      const address = `${path.replace(/\{\w+\}/g, 't')}?delimiter=%24&nonsense_7=1`;
      const arrow = body === 'arrow-stream';
      const content = arrow ? sent : method === 'GET' ? undefined : {};
      const answer = await ask(pair, method, address, content, arrow ? ARROW : {});
      expect([path, answer.status], answer.text).toEqual([path, 400]);
      expect(answer.json.error).toContain('no query parameter "nonsense_7"');
    }
  });
  test('names that every object has are unknown parameters', async () => {
    for (const name of ['constructor', '__proto__', 'toString']) {
      const answer = await ask(pair, 'POST', `/v1/table/t/describe?${name}=1`, {});
      expect(answer.status, name).toBe(400);
    }
  });
  test('an unknown member of a drop in a body it need not have is refused', async () => {
    const answer = await ask(pair, 'POST', '/v1/table/t/drop', { id: ['t'], dry_run: true });
    expect(answer.status).toBe(400);
    expect(await version()).toBe(1);
  });
  test('unknown members of a request that reads are passed over', async () => {
    const body = { some_newer_thing: 1, predicate: 'id > 0' };
    expect(await ask(pair, 'POST', '/v1/table/t/count_rows', body)).toMatchObject({
      status: 200,
      json: 2,
    });
  });
});

describe('the client', () => {
  test('refuses before anything is sent, for other servers may pass over it', async () => {
    let sent = 0;
    const count: typeof fetch = (...given) => {
      sent++;
      return pair.fetch(...given);
    };
    const client = await openNamespace('rest', { uri: pair.base }, { fetch: count as Loose });
    const request: Loose = { ...T, filter: 'id = 1', updates: [['id', '7']] };
    await expect(client.updateTable(request)).rejects.toMatchObject({ code: 'InvalidInput' });
    expect(sent).toBe(0);
  });
});

describe('in process', () => {
  let catalog: Catalog;
  beforeEach(async () => {
    catalog = await openNamespace('dir', { root: temporaryFolder() });
    await catalog.createTable(T, someRows(3));
  });
  const refused = { code: 'InvalidInput' };
  test('an update with a filter in place of a predicate changes no row', async () => {
    const request: Loose = { ...T, filter: 'id = 1', updates: [['id', '7']] };
    await expect(catalog.updateTable(request)).rejects.toMatchObject({
      ...refused,
      message: expect.stringContaining('"filter"; did you mean "predicate"?'),
    });
    expect((await catalog.countTableRows({ ...T, predicate: 'id = 7' })).count).toBe(0);
  });
  test('an insert with a misspelt mode does not append', async () => {
    const request: Loose = { ...T, mod: 'overwrite' };
    await expect(catalog.insertIntoTable(request, someRows(1))).rejects.toMatchObject(refused);
    expect((await catalog.countTableRows(T)).count).toBe(3);
  });
  test('a rehearsal that is misspelt removes nothing', async () => {
    const request: Loose = { older_than_millis: 0, dryRun: true };
    await expect(catalog.purgeTrash?.(request)).rejects.toMatchObject(refused);
  });
  test('unknown members of a read are passed over', async () => {
    const request: Loose = { ...T, some_newer_thing: 1 };
    expect((await catalog.countTableRows(request)).count).toBe(3);
  });
});

describe('what clients send beyond the protocol', () => {
  const remote = { 'user-agent': 'LanceDB-Node-Client/0.39.0', 'x-lancedb-database': 'db' };
  const send = (path: string, body: unknown): ReturnType<typeof ask> =>
    ask(pair, 'POST', path, body, remote);
  test('LanceDB: no bound of the probes as 0, and whether metrics of several nodes are added up', async () => {
    const query = { version: null, k: 2, prefilter: true, vector: [], nprobes: 20 };
    const probes = { minimum_nprobes: 20, maximum_nprobes: 0, ef: null, refine_factor: null };
    const answer = await send('/v1/table/t/query/', { ...query, ...probes });
    expect(answer.status).toBe(200);
    const path = '/v1/table/t/analyze_plan/?distributed_metrics=true';
    expect((await send(path, { ...query, ...probes })).status).toBe(200);
    const plain = await ask(pair, 'POST', path.replace('plan/', 'plan'), { k: 1 });
    expect(plain.status).toBe(400);
  });
  test('LanceDB: every option of its indexes', async () => {
    const options = [
      {
        index_type: 'IVF_PQ',
        metric_type: 'l2',
        num_partitions: 1,
        num_sub_vectors: 1,
        max_iterations: 50,
        sample_rate: 256,
        replace: true,
        name: 'n',
      },
      { index_type: 'IVF_HNSW_SQ', metric_type: 'l2', m: 20, ef_construction: 300 },
      {
        index_type: 'FTS',
        ascii_folding: true,
        base_tokenizer: 'simple',
        block_size: 128,
        custom_stop_words: null,
        index_operators: false,
        lance_tokenizer: null,
        language: 'English',
        lower_case: true,
        max_ngram_length: 3,
        max_token_length: 40,
        min_ngram_length: 2,
        prefix_only: false,
        preserve_original: false,
        remove_stop_words: true,
        split_identifiers: false,
        split_on_numerics: false,
        stem: true,
        with_position: true,
      },
    ];
    for (const option of options) {
      const answer = await send('/v1/table/t/create_index/', { column: 'id', ...option });
      // Words and vectors are not found in the column, which is one of numbers: all options were taken.
      expect(answer.status, answer.text).toBe(400);
      expect(answer.text).toMatch(/FTS: it is int32|IVF_SQ: it takes fixed_size_list/);
    }
  });
  test('the client for Java: an empty id and context where none was set', async () => {
    const bare = { context: {}, id: [] };
    const sends: [string, object][] = [
      ['/v1/namespace/n/create', { ...bare, properties: {} }],
      ['/v1/table/t/describe', { ...bare, with_table_uri: false }],
      ['/v1/table/t/update', { ...bare, predicate: 'id = 1', updates: [['id', '5']] }],
      ['/v1/table/t/restore', { ...bare, version: 1 }],
      ['/v1/table/t/tags/create', { ...bare, tag: 'a', version: 1 }],
      ['/v1/namespace/n/drop', bare],
    ];
    for (const [path, body] of sends) {
      const answer = await ask(pair, 'POST', path, body);
      expect([path, answer.status], answer.text).toEqual([path, 200]);
    }
  });
});
