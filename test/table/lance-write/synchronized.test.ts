/**
 * Versions that clients of Lance wrote stay as they are when the table is synchronized with Lance, cleaned up,
 * compacted, renamed, and given another mode; and clients go on to write afterwards.
 */
import { expect, test } from 'vitest';
import { recordBatchStream, tableFromArrays } from '../../../src/arrow/apache.ts';
import { fieldMembers } from '../../../src/format/lance/lance-fields.ts';
import { connect } from '../../../src/sdk/connect.ts';
import { filesOf } from '../../helpers/catalog-files.ts';
import { memoryFs } from '../../helpers/catalogs.ts';
import { type ClientFragment, fragmentMembers, LanceClient } from '../../helpers/lance-client.ts';

type Fs = ReturnType<typeof memoryFs>;
type Db = Awaited<ReturnType<typeof connect>>;

/** What a client does that opens the table: deletes a row, appends two, adds a column, drops it and adds another. */
async function clientWrites(db: Db, fs: Fs, table: string, round: number): Promise<void> {
  const client = new LanceClient(filesOf(fs, '/c'), `data/${table}.table`);
  const { manifest } = client;
  const create = (
    request: Parameters<Db['namespace']['createTableVersion']>[0],
  ): Promise<unknown> => db.namespace.createTableVersion({ ...request, id: [table] });
  const data = (
    names: readonly string[],
    fields: readonly number[],
    rows: number,
    from: number,
  ) => {
    const columns = names.map((name, column) => {
      const values = Array.from({ length: rows }, (_, row) => from + row + column / 4);
      return [name, name === 'id' ? Int32Array.from(values) : Float64Array.from(values)] as const;
    });
    const made = tableFromArrays(Object.fromEntries(columns));
    return client.dataFile(recordBatchStream(made.schema, made.batches), fields);
  };
  const all =
    (group: typeof manifest.fragments) =>
    (into: Parameters<ReturnType<typeof fragmentMembers>>[0]) => {
      for (const each of group) into.message(1, fragmentMembers(each));
    };
  const addColumn = async (name: string): Promise<void> => {
    const inFiles = manifest.fragments.flatMap(({ files }) =>
      files.flatMap(({ fields }) => fields),
    );
    const id = Math.max(...manifest.fields.map((field) => field.id), ...inFiles) + 1;
    const like = { parent: -1, nullable: true, metadata: new Map(), dictionary: false };
    manifest.fields.push({ ...like, id, name, logicalType: 'double', primaryKey: false });
    for (const each of manifest.fragments)
      each.files.push(await data([name], [id], each.physicalRows, 1000 * round));
    const lists = all(manifest.fragments);
    await create(
      client.stage([
        105,
        (into) => {
          lists(into);
          for (const each of manifest.fields) into.message(2, fieldMembers(each));
        },
      ]),
    );
  };
  const whole = manifest.fragments.find((each) => each.deletion === undefined) as ClientFragment;
  await create(client.delete(new Map([[whole.id, [1]]])));
  const added: ClientFragment = {
    id: ++manifest.maxFragmentId,
    files: [
      await data(
        manifest.fields.map(({ name }) => name),
        manifest.fields.map(({ id }) => id),
        2,
        100 * round,
      ),
    ],
    deletion: undefined,
    physicalRows: 2,
  };
  manifest.fragments.push(added);
  await create(client.stage([100, all([added])]));
  await addColumn(`gone${round}`);
  manifest.fields.pop();
  await create(
    client.stage([
      109,
      (into) => {
        for (const each of manifest.fields) into.message(1, fieldMembers(each));
      },
    ]),
  );
  await addColumn(`kept${round}`);
}

/** What a reader finds in every version. */
async function everyVersion(db: Db, table: string): Promise<Record<number, unknown>> {
  const opened = await db.openTable(table);
  const found: Record<number, unknown> = {};
  for (const { version } of (await db.namespace.listTableVersions({ id: [table] })).versions) {
    await opened.checkout(version);
    found[version] = (await opened.query().toArray()).map((row) => ({ ...row }));
  }
  return found;
}

/** The manifests by which Lance opens the table, byte by byte. */
function manifests(fs: Fs, table: string): Record<string, string> {
  const folder = `/c/data/${table}.table/_versions`;
  const names = (fs.readdirSync(folder) as string[]).filter((name) =>
    /^\d{20}\.manifest$/.test(name),
  );
  return Object.fromEntries(
    names
      .sort()
      .map((name) => [name, (fs.readFileSync(`${folder}/${name}`) as Buffer).toString('hex')]),
  );
}

test('versions of clients outlive all that is done to their table, and clients go on', async () => {
  const fs = memoryFs();
  let db = await connect('/c', { fs, lance: 'write' });
  const ids = { id: Int32Array.from({ length: 9 }, (_, at) => at) };
  await db.createTable('t', tableFromArrays({ ...ids, x: Float64Array.from(ids.id) }) as never);
  let round = 1;
  let name = 't';
  const stays = async (change: () => Promise<unknown>, sameManifests = true): Promise<void> => {
    const [rows, bytes] = [await everyVersion(db, name), manifests(fs, name)];
    await change();
    expect(await everyVersion(db, name)).toMatchObject(rows);
    if (sameManifests) expect(manifests(fs, name)).toMatchObject(bytes);
    expect((await db.namespace.verify?.({}))?.problems).toEqual([]);
  };
  const sync = async (): Promise<void> => {
    const [found] = (await db.syncLance([name])).tables;
    expect(found).toMatchObject({ opens: true, written: 0, removed: 0, setAside: [] });
  };
  const goesOn = async (): Promise<void> => {
    await stays(sync);
    await stays(() => clientWrites(db, fs, name, round++));
    await stays(sync);
  };
  await goesOn();
  await stays(async () => {
    const request = { id: [name], cleanup_older_than_millis: 10 ** 12 };
    await db.namespace.optimizeTable?.(request);
  });
  await goesOn();
  await stays(async () => {
    await db.namespace.renameTable({ id: ['t'], new_table_name: 'r' });
    name = 'r';
  }, false);
  await goesOn();
  for (const mode of ['read', 'sync', 'off', 'write'] as const) {
    await stays(async () => {
      db = await connect('/c', { fs, lance: mode });
      await (await db.openTable(name)).delete(`id = ${round + 3}`);
    });
    await stays(async () => void (await db.syncLance([name])));
  }
  // The first version that clients may write again.
  await stays(async () => void (await (await db.openTable(name)).delete('id = 8')));
  await goesOn();
});
