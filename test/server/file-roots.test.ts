/** Roots of a server that are given as `file:` URLs. */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { beforeEach, describe, expect, test } from 'vitest';
import { connect } from '../../src/sdk/connect.ts';
import { configOf, loadConfig } from '../../src/server/config.ts';
import type { DatabaseSource } from '../../src/server/databases.ts';
import { createServer } from '../../src/server.ts';
import { temporaryFolder } from '../helpers/temporary.ts';

let folder: string;
let url: string;

beforeEach(async () => {
  folder = join(temporaryFolder(), 'with space');
  url = pathToFileURL(folder).href;
  const db = await connect(`${url}/one`);
  await db.createTable('t', [{ id: 1 }]);
  await db.close();
});

async function tablesOf(source: DatabaseSource): Promise<unknown> {
  await using server = await createServer(source);
  const headers = { 'x-service-database': 'one' };
  const answer = await server.fetch('http://catalog.test/v1/table', { headers });
  return ((await answer.json()) as { tables?: unknown }).tables;
}

describe('a server serves the tables of', () => {
  test.each<[string, () => DatabaseSource]>([
    ['a root', () => ({ root: `${url}/one` })],
    ['a root in capitals', () => ({ root: `${url}/one`.replace('file:', 'FILE:') })],
    ['a database', () => ({ databases: { one: `${url}/one` } })],
    ['a folder of databases', () => ({ databasesRoot: url })],
  ])('%s', async (_, source) => {
    expect(await tablesOf(source())).toEqual(['t']);
    expect(existsSync('file:')).toBe(false);
  });

  test('a root that the configuration or the environment names', async () => {
    expect(configOf({ root: `${url}/one` }, '/base', {}).root).toBe(join(folder, 'one'));
    expect(configOf({ databasesRoot: url }, '/base', {}).databasesRoot).toBe(folder);
    const { databases } = configOf({ databases: { one: `${url}/one` } }, '/base', {});
    expect(databases).toEqual({ one: join(folder, 'one') });
    expect((await loadConfig(undefined, { DIRSPACE_ROOT: url })).root).toBe(folder);
    const many = await loadConfig(undefined, { DIRSPACE_DATABASES_ROOT: url });
    expect(many.databasesRoot).toBe(folder);
  });
});

test.each<[DatabaseSource]>([
  [{ root: 's3://bucket/catalog' }],
  [{ databasesRoot: 'https://catalog.test/x' }],
  [{ databases: { one: 'file://elsewhere.test/x' } }],
])('%j is refused before anything is served', async (source) => {
  await expect(createServer(source)).rejects.toMatchObject({ code: 'InvalidInput' });
});
