/** A catalog with managed versioning publishes its own versions, and those of Lance's clients, as they were made. */
import { beforeEach, expect, test } from 'vitest';
import {
  type DirectoryNamespace,
  openDirectoryNamespace,
} from '../../../src/directory/directory-namespace.ts';
import type { CreateTableVersionRequest } from '../../../src/protocol/index.ts';
import { strictFileSystem } from '../../../src/store/disk/strict-fs.ts';
import { filesOf } from '../../helpers/catalog-files.ts';
import { memoryFs } from '../../helpers/catalogs.ts';
import { FaultyFs } from '../../helpers/faulty-fs.ts';
import { LanceClient } from '../../helpers/lance-client.ts';
import { people } from '../../helpers/people.ts';

const id = ['t'];
const CLIENT = 'c11e4700-0000-4000-8000-000000000001';
let faulty: FaultyFs;
let catalog: DirectoryNamespace;
let client: LanceClient;

const open = (): Promise<DirectoryNamespace> =>
  openDirectoryNamespace({
    root: '/c',
    fs: faulty.fs,
    managedVersioning: true,
    durability: 'full',
    lance: 'write',
  });

beforeEach(begin);
async function begin(): Promise<void> {
  const fs = memoryFs();
  faulty = new FaultyFs(strictFileSystem(fs));
  catalog = await open();
  await catalog.createTable({ id }, people(5));
  const { location = '' } = await catalog.describeTable({ id });
  client = new LanceClient(filesOf(fs, '/c'), location.slice('/c/'.length));
  client.uuid = () => CLIENT;
}

/** What Lance reads of the transaction of the newest version. */
const transaction = () => client.read(client.names().sort()[0] as string).transaction;

const update = (): Promise<CreateTableVersionRequest> =>
  client.update(people(2, 50), 2, new Map([[0, [1]]]));

test('the transaction of a client is the one that others read', async () => {
  await catalog.createTableVersion({ id, ...(await update()) });
  expect(transaction()).toMatchObject({ uuid: CLIENT, operation: { kind: 'update' } });
});

test('a delete tells its predicate, and who made it knows the version as it was published', async () => {
  await catalog.deleteFromTable({ id, predicate: 'id = 3' });
  expect(transaction()).toMatchObject({ operation: { kind: 'delete', predicate: 'id = 3' } });
  const { version } = await catalog.describeTableVersion({ id, version: 2 });
  const again = await open();
  expect(version).toEqual((await again.describeTableVersion({ id, version: 2 })).version);
});

test('whichever folder or file does not open, what Lance is to read is that version', async () => {
  for (let at = 1, fired = true; fired; at++) {
    await begin();
    const request = await update();
    faulty.arm({ at, kind: 'EIO', only: ['openSync'] });
    await catalog.createTableVersion({ id, ...request }).catch(() => undefined);
    fired = faulty.fired;
    faulty.arm();
    const { problems } = await catalog.verify({});
    expect(problems, `opening ${at}`).toEqual([]);
  }
});
