/** Overwrites that list fragments of the version before again: indexes, required columns and reserved ids. */
import { beforeEach, expect, test } from 'vitest';
import { fieldMembers } from '../../../src/format/lance/lance-fields.ts';
import type { CreateTableVersionRequest } from '../../../src/protocol/index.ts';
import { connect } from '../../../src/sdk/connect.ts';
import { Index } from '../../../src/sdk/table/index-config.ts';
import { filesOf } from '../../helpers/catalog-files.ts';
import { memoryFs } from '../../helpers/catalogs.ts';
import { type ClientFragment, fragmentMembers, LanceClient } from '../../helpers/lance-client.ts';

let db: Awaited<ReturnType<typeof connect>>;
let client: LanceClient;

/** Three fragments, of the ids 0 to 2; the second has a row without a name. */
beforeEach(async () => {
  const fs = memoryFs();
  db = await connect('/c', { fs, lance: 'write' });
  const table = await db.createTable('t', [
    { id: 0, name: 'a' },
    { id: 1, name: 'b' },
  ]);
  await table.add([{ id: 2, name: null }]);
  await table.add([
    { id: 3, name: 'a' },
    { id: 4, name: 'c' },
  ]);
  client = new LanceClient(filesOf(fs, '/c'), 'data/t.table');
});

const create = (request: CreateTableVersionRequest): Promise<unknown> =>
  db.namespace.createTableVersion({ id: ['t'], ...request });
const table = () => db.openTable('t');
const idsWhere = async (where: string): Promise<unknown[]> =>
  (await (await table()).query().where(where).toArray()).map(({ id }) => id);
const fragment = (at: number): ClientFragment => client.manifest.fragments[at] as ClientFragment;

/** The fragments at these places, under new ids and in place of all. */
function listAgain(
  places: readonly number[],
  newId: () => number = () => ++client.manifest.maxFragmentId,
): CreateTableVersionRequest {
  const { manifest } = client;
  manifest.fragments = places.map((at) => ({ ...fragment(at), id: newId() }));
  return client.stage([
    102,
    (into) => {
      for (const each of manifest.fragments) into.message(1, fragmentMembers(each));
      for (const each of manifest.fields) into.message(2, fieldMembers(each));
    },
  ]);
}

test('such an overwrite drops indexes as any does, and one that is made again has its rows', async () => {
  const index = async (): Promise<void> =>
    void (await (await table()).createIndex('name', { config: Index.bitmap() }));
  await index();
  client.open();
  await create(listAgain([2, 0]));
  expect(await (await table()).listIndices()).toEqual([]);
  expect(await idsWhere("name = 'a'")).toEqual([3, 0]);
  await index();
  expect(await (await table()).indexStats('name_idx')).toMatchObject({
    numIndexedRows: 4,
    numUnindexedRows: 0,
  });
  client.open();
  await create(client.delete(new Map([[3, [0]]])));
  expect(await idsWhere("name = 'a'")).toEqual([0]);
  expect((await db.namespace.verify?.({}))?.problems).toEqual([]);
});

test('a column becomes required where the fragments with nulls in it are left out', async () => {
  client.open();
  const before = structuredClone(client.manifest);
  const require = (): void => {
    client.manifest.fields = client.manifest.fields.map((each) => ({
      ...each,
      nullable: each.name !== 'name' && each.nullable,
    }));
  };
  require();
  await expect(create(listAgain([0, 1]))).rejects.toThrow('is null in 1 rows');
  client.manifest = before;
  require();
  await create(listAgain([0, 2]));
  const schema = await (await table()).schema();
  expect(schema.fields.find(({ name }) => name === 'name')?.nullable).toBe(false);
  expect(await idsWhere('true')).toEqual([0, 1, 3, 4]);
});

test('a reserved id that a fragment was listed again by is not free any more', async () => {
  client.open();
  client.manifest.maxFragmentId += 2;
  await create(client.stage([107, (into) => into.integer(1, 2)]));
  const [first] = client.manifest.fragments as [ClientFragment];
  await create(listAgain([0], () => 3));
  expect(await idsWhere('true')).toEqual([0, 1]);
  // The other one is left.
  const { manifest } = client;
  const rows = { ...first, files: manifest.fragments[0]?.files ?? [] };
  manifest.fragments = [];
  await create(client.stage([101, (into) => into.integer(2, 3)]));
  manifest.fragments = [{ ...rows, id: 3 }];
  const again = client.stage([100, (into) => into.message(1, fragmentMembers(fragment(0)))]);
  await expect(create(again)).rejects.toThrow('fragment 3 is new, and its id is not from');
});
