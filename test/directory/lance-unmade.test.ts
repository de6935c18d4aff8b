/** What a catalog that is only read answers clients of Lance, and batches of what they staged. */
import { beforeEach, expect, test } from 'vitest';
import { connect } from '../../src/sdk/connect.ts';
import { filesOf } from '../helpers/catalog-files.ts';
import { memoryFs } from '../helpers/catalogs.ts';
import { LanceClient } from '../helpers/lance-client.ts';
import { idsOf, people } from '../helpers/people.ts';

let fs: ReturnType<typeof memoryFs>;
const LANCE = { forLance: true };
const T = { id: ['t'] };

beforeEach(() => {
  fs = memoryFs();
});

test('only manifests for Lance that were made before', async () => {
  const db = await connect('/c', { fs });
  await db.namespace.createTable(T, people(2));
  await db.namespace.insertIntoTable(T, people(2, 2));
  await db.namespace.insertIntoTable(T, people(2, 4));
  const reader = await connect('/c', { fs, readOnly: true });
  const files = filesOf(fs, '/c').all();
  const unmade =
    /Lance cannot open version 3 here: this catalog is open read-only.*dirspace lance sync/;
  await expect(reader.namespace.describeTableVersion(T, LANCE)).rejects.toThrow(unmade);
  const newest = { ...T, descending: true };
  await expect(reader.namespace.listTableVersions(newest, LANCE)).rejects.toThrow(unmade);
  expect(filesOf(fs, '/c').all()).toEqual(files);
  const made = await db.namespace.describeTableVersion({ ...T, version: 3 }, LANCE);
  expect(await reader.namespace.describeTableVersion(T, LANCE)).toEqual(made);
  await db.namespace.describeTableVersion({ ...T, version: 1 }, LANCE);
  const { versions } = await reader.namespace.listTableVersions(newest, LANCE);
  expect(versions.map(({ version }) => version)).toEqual([3, 1]);
  await db.syncLance();
  const all = await reader.namespace.listTableVersions(newest, LANCE);
  expect(all.versions.map(({ version }) => version)).toEqual([3, 2, 1]);
  const own = await reader.namespace.listTableVersions(newest);
  expect(own.versions.map(({ version }) => version)).toEqual([3, 2, 1]);
});

test('those of a table that clients of Lance write, and no batch of what they staged', async () => {
  const db = await connect('/c', { fs, lance: 'write' });
  await db.namespace.createTable(T, people(2));
  await db.namespace.insertIntoTable(T, people(2, 2));
  const reader = await connect('/c', { fs, readOnly: true });
  const { version } = await reader.namespace.describeTableVersion(T, LANCE);
  expect(version.manifest_path).toMatch(/_versions\/\d{20}\.manifest$/);
  const client = new LanceClient(filesOf(fs, '/c'), 'data/t.table');
  const request = { ...T, ...(await client.append(people(2, 4), 2)) };
  const says = 'Version 3 was staged by a client of Lance, and batches take';
  const { namespace } = db;
  await expect(namespace.batchCreateTableVersions({ entries: [request] })).rejects.toThrow(says);
  const operations = [{ create_table_version: request }];
  await expect(namespace.batchCommitTables({ operations })).rejects.toThrow(says);
  expect(await idsOf(namespace, ['t'])).toEqual([0, 1, 2, 3]);
  await namespace.createTableVersion(request);
  expect(await idsOf(namespace, ['t'])).toEqual([0, 1, 2, 3, 4, 5]);
});
