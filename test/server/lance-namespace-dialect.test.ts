/**
 * Clients that read and write the data of tables themselves, in a format of their own: what they
 * are told of tables that hold ours, and of those that are theirs to fill.
 */
import { request } from 'node:http';
import { json } from 'node:stream/consumers';
import { beforeAll, describe, expect, test } from 'vitest';
import { lanceNamespaceDialect } from '../../src/server/dialects/lance-namespace-dialect.ts';
import { type Pair, restPair, someRows } from '../helpers/rest-pair.ts';
import { temporaryFolder } from '../helpers/temporary.ts';

let pair: Pair;

beforeAll(async () => {
  pair = await restPair({ root: temporaryFolder() }, { wire: 'socket' });
  await pair.client.createTable({ id: ['full'] }, someRows());
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

describe('who speaks it', () => {
  const speaks = (url: string, named: Record<string, string> = {}): boolean =>
    lanceNamespaceDialect.recognizes({ method: 'POST', url, headers: { ...LANCE, ...named } });
  test('who sends a delimiter, accepts as they do, and has no name of his own', () => {
    expect(speaks('/v1/table/t/describe?delimiter=%24')).toBe(true);
    expect(speaks('/v1/table/t/version/list?limit=1&delimiter=%24')).toBe(true);
    expect(speaks('/v1/table/t/describe')).toBe(false);
    expect(speaks('/v1/table/t/describe?no_delimiter=%24')).toBe(false);
    expect(speaks('/v1/table/t/describe?delimiter=%24', { 'user-agent': 'curl/8' })).toBe(false);
    const plain = { accept: 'application/json' };
    expect(speaks('/v1/table/t/describe?delimiter=%24', plain)).toBe(false);
    const head = { method: 'POST', url: '/v1/table/t/describe?delimiter=%24', headers: {} };
    expect(lanceNamespaceDialect.recognizes(head)).toBe(false);
  });
});

describe('a table that holds rows of ours', () => {
  test('has version and schema, so that it is not taken for one to fill', async () => {
    const answer = await described('full', '?delimiter=%24');
    expect(answer).toMatchObject({ version: 1, schema: { fields: [{ name: 'id' }] } });
  });
  test('has a location that such clients do not open, nor write to', async () => {
    for (const query of ['?delimiter=%24', '?delimiter=%24&load_detailed_metadata=true']) {
      expect((await described('full', query)).location).toMatch(/^dirspace:\/\/\/.*full\.table$/);
    }
  });
  test('is as ever to others, and to who asks for no details', async () => {
    const plain = await described('full', '');
    const curl = { 'user-agent': 'curl/8' };
    expect(await described('full', '?delimiter=%24', curl)).toEqual(plain);
    expect(plain.location).toMatch(/^\/.*full\.table$/);
    expect(plain).not.toHaveProperty('version');
    const asked = await described('full', '?delimiter=%24&load_detailed_metadata=false');
    expect(asked).toEqual(plain);
  });
});

test('a declared table is a place to fill', async () => {
  const answer = await described('declared', '?delimiter=%24');
  expect(answer.location).toMatch(/^\/.*declared\.table$/);
  expect(answer).not.toHaveProperty('version');
  expect(answer).not.toHaveProperty('schema');
});
