/**
 * Clients that read and write the data of tables themselves, in a format of their own: what they
 * are told of tables that hold ours, and of those that are theirs to fill.
 */
import { readFileSync } from 'node:fs';
import { request } from 'node:http';
import { json } from 'node:stream/consumers';
import { beforeAll, describe, expect, test } from 'vitest';
import {
  Field,
  Int32,
  type RecordBatchStream,
  recordBatchStream,
  Struct,
  Table,
  vectorFromArray,
} from '../../src/arrow/apache.ts';
import { readLanceManifest } from '../../src/format/index.ts';
import { createServer } from '../../src/server.ts';
import { ask, type Pair, restPair, someRows } from '../helpers/rest-pair.ts';
import { stubNamespace } from '../helpers/stub-namespace.ts';
import { temporaryFolder } from '../helpers/temporary.ts';

let pair: Pair;

beforeAll(async () => {
  pair = await restPair({ root: temporaryFolder() }, { wire: 'socket' });
  await pair.client.createTable({ id: ['full'], properties: { lance: 'off' } }, someRows());
  await pair.client.declareTable({ id: ['declared'] });
});

const LANCE = { accept: '*/*', 'accept-encoding': 'gzip' };

/** Sent without a name of the client, which `fetch` always has. */
// biome-ignore lint/suspicious/noExplicitAny: tests look into whatever came
async function described(table: string, query: string, named = {}): Promise<any> {
  const headers = { ...LANCE, ...named };
  const path = `/v1/table/${table}/describe${query}`;
  return new Promise((resolve, reject) => {
    const sent = request(pair.base + path, { method: 'POST', headers, agent: false });
    sent.on('response', (answer) => resolve(json(answer))).on('error', reject);
    sent.end();
  });
}

describe('a table that was written without Lance', () => {
  test('is described alike to every client, with its place and versions that are asked for here', async () => {
    const plain = await described('full', '');
    expect(plain.location).toMatch(/^\/.*full\.table$/);
    expect(plain.managed_versioning).toBe(true);
    for (const named of [{}, { 'user-agent': 'curl/8' }])
      expect(await described('full', '?delimiter=%24', named)).toEqual(plain);
  });
  test('has manifests that Lance refuses to read', () => refusesReaders('full'));
});

test('a declared table is a place to fill', async () => {
  const answer = await described('declared', '?delimiter=%24');
  expect(answer.location).toMatch(/^\/.*\/\.dirspace\/lance\/[0-9a-f-]+$/);
  expect(answer).not.toHaveProperty('version');
  expect(answer).not.toHaveProperty('schema');
});

describe('a table that is a Lance table too', () => {
  beforeAll(async () => {
    await pair.client.createTable({ id: ['lance'] }, someRows());
    await pair.client.createTable({ id: ['closed'] }, nullStructs());
  });
  test('has its true location, and versions that are asked for here', async () => {
    for (const query of ['', '?delimiter=%24', '?delimiter=%24&load_detailed_metadata=true']) {
      const { location, managed_versioning } = await described('lance', query);
      expect(location).toMatch(/^\/.*lance\.table$/);
      expect(managed_versioning).toBe(true);
    }
  });
  test('says why where Lance cannot read its rows, and refuses its readers', async () => {
    const answer = await described('closed', '?delimiter=%24&load_detailed_metadata=true');
    expect(answer.location).toMatch(/^\/.*closed\.table$/);
    expect(answer.managed_versioning).toBe(true);
    expect(answer.lance).toEqual({
      opens: false,
      reason: 'Column "s" holds null structs, which Lance 2.0 cannot read: so it is in 2 rows.',
    });
    await refusesReaders('closed');
  });
  test('has manifests that Lance reads, for who asks over REST', async () => {
    const asked = async (path: string, body = {}) =>
      (await ask(pair, 'POST', `/v1/table/${path}`, body)).json;
    const own = await pair.client.listTableVersions({ id: ['lance'] });
    expect(own.versions[0]?.manifest_path).toMatch(/\.json$/);
    const described = await pair.client.describeTable({ id: ['lance'] });
    expect(described.managed_versioning).toBe(false);
    const { versions } = await asked('lance/version/list');
    expect(versions).toHaveLength(1);
    const { manifest_path = '', manifest_size } = versions[0] ?? {};
    const bytes = readFileSync(manifest_path);
    expect(bytes.length).toBe(manifest_size);
    expect(bytes.subarray(-4).toString()).toBe('LANC');
    const { version } = await asked('lance/version/describe', { version: 1 });
    expect(version.manifest_path).toBe(manifest_path);
  });
});

/**
 * A client takes a path that ends otherwise for a staged manifest, and puts a copy into the table's folder
 * under a name of Lance's.
 */
async function refusesReaders(table: string): Promise<void> {
  const { json } = await ask(pair, 'POST', `/v1/table/${table}/version/list`, {});
  const [{ manifest_path, manifest_size }] = json.versions;
  expect(manifest_path).toMatch(/\.manifest$/);
  const bytes = readFileSync(manifest_path);
  expect(bytes.length).toBe(manifest_size);
  // No release of Lance knows this flag.
  expect(readLanceManifest(bytes, manifest_path).readerFlags).toBe(2n ** 40n);
}

function nullStructs(): RecordBatchStream {
  const s = vectorFromArray([{ a: 1 }, null], new Struct([new Field('a', new Int32(), true)]));
  const table = new Table({ s });
  return recordBatchStream(table.schema, table.batches);
}

test('what a call is told beside its request makes no signal for it', async () => {
  let options: object | undefined;
  const namespace = stubNamespace({
    describeTable: (_: unknown, given: object) => {
      options = given;
      return Promise.resolve({});
    },
  });
  const server = await createServer({ namespace });
  await server.fetch(new Request('http://127.0.0.1/v1/table/t/describe', { method: 'POST' }));
  expect(options).toMatchObject({ forLance: true });
  expect(Object.getOwnPropertyDescriptor(options, 'signal')?.get).toBeTypeOf('function');
});
