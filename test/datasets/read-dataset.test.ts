/** Datasets that pylance wrote and changed, read as pylance reads them; and those that are refused. */
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import type { RecordBatch } from '../../src/arrow/index.ts';
import { openLanceDataFile, openLanceDataset } from '../../src/datasets/index.ts';
import { isDirspaceError } from '../../src/errors.ts';
import { message, type ProtoMessage } from '../../src/format/lance/protobuf.ts';
import { openArrowBody } from '../../src/ipc/index.ts';
import { connect } from '../../src/sdk/connect.ts';
import { exactValues } from '../helpers/arrow-samples.ts';
import { lanceVersions, writeDataset } from '../helpers/lance-datasets.ts';
import { temporaryFolder } from '../helpers/temporary.ts';

const folder = temporaryFolder();
const homes = new Map(
  [...new Set(lanceVersions.map(({ dataset }) => dataset))].map((name) => [
    name,
    writeDataset(name, folder),
  ]),
);

async function all(stream: AsyncIterable<RecordBatch>): Promise<RecordBatch[]> {
  const batches: RecordBatch[] = [];
  for await (const batch of stream) batches.push(batch);
  return batches;
}

describe('rows as pylance reads them', () => {
  test.each(lanceVersions)('$dataset $choice', async ({ dataset, choice, version, rows }) => {
    const expected = await openArrowBody(rows);
    const found = await openLanceDataset(homes.get(dataset) as string, choice);
    expect(found.version).toBe(version);
    expect(found.schema.fields.map(String)).toEqual(expected.schema.fields.map(String));
    expect([...found.schema.metadata]).toEqual([...expected.schema.metadata]);
    const [ours, theirs] = [await all(found), await all(expected)];
    expect(exactValues(ours)).toEqual(
      theirs.length === 0 && ours.length === 0 ? [] : exactValues(theirs),
    );
    expect(ours.reduce((sum, batch) => sum + batch.numRows, 0)).toBe(found.rows);
  });
});

test('a single data file has the rows of its fragment', async () => {
  const { dataset, rows } = lanceVersions.find(
    ({ dataset, choice }) =>
      choice.version === undefined &&
      choice.tag === undefined &&
      existsSync(join(homes.get(dataset) as string, 'data')) &&
      readdirSync(join(homes.get(dataset) as string, 'data')).length === 1 &&
      readdirSync(join(homes.get(dataset) as string, '_versions')).length === 1,
  ) as (typeof lanceVersions)[number];
  const data = join(homes.get(dataset) as string, 'data');
  const path = join(data, readdirSync(data)[0] as string);
  const expected = await all(await openArrowBody(rows));
  let read = 0;
  const found = await openLanceDataFile(path, { onRead: (bytes) => (read += bytes) });
  expect(exactValues(await all(found))).toEqual(exactValues(expected));
  expect(read).toBeGreaterThan(0);
});

test('branches of a dataset that has been moved', async () => {
  const place = temporaryFolder();
  const db = await connect(join(place, 'c'), { lance: 'sync', durability: 'relaxed' });
  const table = await db.createTable('t', [{ id: 1 }, { id: 2 }, { id: 3 }]);
  const draft = await (await table.branches()).create('draft');
  await draft.add([{ id: 4 }]);
  await draft.delete('id = 2');
  await db.close();
  const moved = join(place, 'moved.lance');
  renameSync(join(place, 'c', 'data', 't.table'), moved);
  const rows = await all(await openLanceDataset(moved, { branch: 'draft' }));
  const ids = rows.flatMap((batch) => [...batch].map((row) => row.id));
  expect(ids).toEqual([1, 3, 4]);
});

test('a dataset and a data file are read again', async () => {
  const home = [...homes.values()].find((each) => existsSync(join(each, 'data'))) as string;
  const [name] = readdirSync(join(home, 'data'));
  for (const found of [
    await openLanceDataset(home),
    await openLanceDataFile(join(home, 'data', name as string)),
  ]) {
    const first = await all(found);
    expect(first.length).toBeGreaterThan(0);
    expect(exactValues(await all(found))).toEqual(exactValues(first));
  }
});

test('an aborted reading stops', async () => {
  const { dataset } = lanceVersions.find(({ rows }) => rows.length > 5000) as { dataset: string };
  const control = new AbortController();
  const found = await openLanceDataset(
    homes.get(dataset) as string,
    {},
    { signal: control.signal },
  );
  control.abort();
  await expect(all(found)).rejects.toThrow(/aborted/);
});

async function refused(work: Promise<unknown>, ...codes: string[]): Promise<string> {
  try {
    await work;
  } catch (error) {
    if (isDirspaceError(error, ...(codes as never[]))) return (error as Error).message;
    throw error;
  }
  throw new Error('It was read.');
}

/** A copy of a dataset that has deletions, its manifests changed. */
function copy(): string {
  const { dataset } = lanceVersions.find(({ dataset }) =>
    readdirSync(homes.get(dataset) as string).includes('_deletions'),
  ) as { dataset: string };
  return writeDataset(dataset, temporaryFolder());
}

const readAll = async (home: string): Promise<unknown> => all(await openLanceDataset(home));

/** A dataset of one manifest. */
function made(build: (manifest: ProtoMessage) => ProtoMessage): string {
  const home = temporaryFolder();
  const manifest = build(message().integer(3, 1)).finish();
  const bytes = Buffer.alloc(manifest.length + 20);
  bytes.writeUInt32LE(manifest.length, 0);
  bytes.set(manifest, 4);
  bytes.writeUInt16LE(2, bytes.length - 6);
  bytes.write('LANC', bytes.length - 4);
  mkdirSync(join(home, '_versions'));
  writeFileSync(join(home, '_versions', '1.manifest'), bytes);
  return home;
}

const field = (id = 0, type = 'int64'): ProtoMessage =>
  message().text(2, 'a').integer(3, id).integer(4, -1).text(5, type).integer(6, 1);
const file = (path: string, [major, minor]: readonly number[] = [2, 0]): ProtoMessage =>
  message()
    .text(1, path)
    .packed(2, [0])
    .packed(3, [0])
    .integer(4, major as number)
    .integer(5, minor as number);
const fragment = (one: ProtoMessage): ProtoMessage => message().message(2, one).integer(4, 1);

describe('refused', () => {
  test('versions, tags and branches that are not there', async () => {
    const home = copy();
    expect(await refused(openLanceDataset(home, { version: 99 }), 'TableVersionNotFound')).toMatch(
      /has no version 99\. It has 1/,
    );
    expect(await refused(openLanceDataset(home, { tag: 'x' }), 'TableTagNotFound')).toMatch(/"x"/);
    expect(await refused(openLanceDataset(home, { tag: '../x' }), 'TableTagNotFound')).toMatch(/x/);
    await refused(openLanceDataset(home, { branch: 'x' }), 'TableBranchNotFound');
    await refused(openLanceDataset(home, { branch: '..' }), 'InvalidInput');
    await refused(openLanceDataset(temporaryFolder()), 'InvalidInput');
  });

  test('tags without a version', async () => {
    const home = copy();
    mkdirSync(join(home, '_refs', 'tags'), { recursive: true });
    writeFileSync(join(home, '_refs', 'tags', 'x.json'), '{"version":"1"}');
    expect(await refused(openLanceDataset(home, { tag: 'x' }), 'Corrupt')).toMatch(
      /names no version/,
    );
  });

  test('a manifest under the name of another version', async () => {
    const home = made((to) => to.message(1, field()));
    renameSync(join(home, '_versions', '1.manifest'), join(home, '_versions', '7.manifest'));
    expect(await refused(readAll(home), 'Corrupt')).toMatch(/named version 7, and says 1/);
  });

  test('missing data and deletion files', async () => {
    const home = copy();
    rmSync(join(home, '_deletions'), { recursive: true });
    expect(await refused(readAll(home), 'Corrupt')).toMatch(/_deletions.* it is missing/);
    rmSync(join(home, 'data'), { recursive: true });
    expect(await refused(readAll(home), 'Corrupt')).toMatch(
      /data.*\.lance is damaged: it is missing/,
    );
  });

  test('files in place of the folders of a dataset', async () => {
    const place = temporaryFolder();
    writeFileSync(join(place, 'file'), 'x');
    expect(await refused(openLanceDataset(join(place, 'file')), 'InvalidInput')).toMatch(
      /is no Lance dataset/,
    );
    await refused(openLanceDataFile(join(place, 'file', 'a.lance')), 'Corrupt');
    const home = copy();
    rmSync(join(home, '_refs'), { recursive: true, force: true });
    writeFileSync(join(home, '_refs'), 'x');
    await refused(openLanceDataset(home, { tag: 'x' }), 'TableTagNotFound');
    for (const folder of ['_deletions', 'data']) {
      rmSync(join(home, folder), { recursive: true });
      writeFileSync(join(home, folder), 'x');
      expect(await refused(readAll(home), 'Corrupt')).toMatch(
        new RegExp(`${folder}.* it is missing`),
      );
    }
  });

  test('a data file that is a folder, or ends elsewhere', async () => {
    const home = copy();
    const data = join(home, 'data');
    for (const name of readdirSync(data)) {
      const bytes = readFileSync(join(data, name));
      writeFileSync(join(data, name), bytes.subarray(0, bytes.length - 1));
    }
    expect(await refused(readAll(home), 'Corrupt')).toMatch(/bytes, where \d+ are due/);
    for (const name of readdirSync(data)) {
      rmSync(join(data, name));
      mkdirSync(join(data, name));
    }
    expect(await refused(readAll(home), 'Corrupt')).toMatch(/no regular file/);
  });

  test.each(['../x.lance', '/etc/passwd', 'a/../../b', '', 'a//b', '.', 'a\\b'])(
    'a data file called %j',
    async (path) => {
      const home = made((to) => to.message(1, field()).message(2, fragment(file(path))));
      expect(await refused(readAll(home), 'Corrupt')).toMatch(/no path of a data file/);
    },
  );

  test.each([
    [[2, 1], 'version 2.1'],
    [[2, 2], 'version 2.2'],
    [[0, 0], 'the legacy version 0.1'],
  ])('data files of version %j, saying what to do', async (version, shown) => {
    const home = made((to) => to.message(1, field()).message(2, fragment(file('a', version))));
    const text = await refused(readAll(home), 'UnsupportedFormat');
    expect(text).toContain(`data files of ${shown}; 2.0 is read`);
    expect(text).toContain('data_storage_version="2.0"');
  });

  test('features that are not known', async () => {
    const flags = made((to) => to.message(1, field()).integer(9, 64));
    expect(await refused(readAll(flags), 'UnsupportedFormat')).toMatch(/feature flags 64/);
    const member = made((to) =>
      to.message(1, field()).message(2, fragment(file('a').integer(9, 1))),
    );
    expect(await refused(readAll(member), 'UnsupportedFormat')).toMatch(/member DataFile\.9/);
    const kind = made((to) =>
      to.message(1, field()).message(2, fragment(file('a')).message(3, message().integer(1, 2))),
    );
    expect(await refused(readAll(kind), 'UnsupportedFormat')).toMatch(/DeletionFile\.1 = 2/);
    const overlays = made((to) =>
      to.message(1, field()).message(2, fragment(file('a')).message(11, message())),
    );
    expect(await refused(readAll(overlays), 'UnsupportedFormat')).toMatch(/overlays/);
  });

  test('files at another place', async () => {
    const base = message().integer(1, 3).integer(3, 1).text(4, '/somewhere/else.lance');
    const away = fragment(file('a').integer(7, 3));
    const home = made((to) => to.message(1, field()).message(2, away).message(18, base));
    expect(await refused(readAll(home), 'Unsupported')).toMatch(/outside of its folder/);
    // A base that no file lies in matters to nobody.
    expect(await readAll(made((to) => to.message(1, field()).message(18, base)))).toEqual([]);
    const none = made((to) => to.message(1, field()).message(2, fragment(file('a').integer(7, 4))));
    expect(await refused(readAll(none), 'Corrupt')).toMatch(/has no base 4/);
  });

  test.each([
    ['the root', undefined, '/somewhere/else.lance', 'data'],
    ['a root by a relative path', undefined, 'else.lance', 'data'],
    ['another branch', 'x/y', 'else.lance/tree/x/y', 'tree/x/y/data'],
  ])('files of a branch that are in none of the folders of %s', async (_, name, path, data) => {
    const base = message().integer(1, 3).integer(3, 1).text(4, path);
    if (name !== undefined) base.text(2, name);
    const home = made((to) =>
      to
        .message(1, field())
        .message(2, fragment(file('a').integer(7, 3)))
        .message(18, base),
    );
    const branch = join(home, 'tree', 'b');
    mkdirSync(branch, { recursive: true });
    renameSync(join(home, '_versions'), join(branch, '_versions'));
    const read = async (): Promise<unknown> => all(await openLanceDataset(home, { branch: 'b' }));
    expect(await refused(read(), 'Unsupported')).toMatch(/outside of its folder/);
    mkdirSync(join(home, data), { recursive: true });
    writeFileSync(join(home, data, 'a'), 'no data file');
    expect(await refused(read(), 'Corrupt')).toContain(join(home, data, 'a'));
    // Of the dataset itself they are another's, wherever they lie.
    renameSync(join(branch, '_versions'), join(home, '_versions'));
    expect(await refused(readAll(home), 'Unsupported')).toMatch(/outside of its folder/);
  });

  test.each([
    ['no root of a dataset', 0, undefined, '/somewhere/data'],
    ['a folder that has another name', 1, 'x', '/somewhere/tree/y'],
    ['a folder above', 1, '..', '/somewhere/tree/..'],
  ])('files of a branch in %s', async (_, isRoot, name, path) => {
    const base = message().integer(1, 3).integer(3, isRoot).text(4, path);
    if (name !== undefined) base.text(2, name);
    const away = fragment(file('a').integer(7, 3));
    const home = made((to) => to.message(1, field()).message(2, away).message(18, base));
    mkdirSync(join(home, 'tree', 'b'), { recursive: true });
    renameSync(join(home, '_versions'), join(home, 'tree', 'b', '_versions'));
    const told = await refused(openLanceDataset(home, { branch: 'b' }), 'Unsupported');
    expect(told).toMatch(/outside of its folder/);
    expect(told).toContain('.checkout_version(("b", None)).scanner()');
  });

  test.each([
    [
      'fields that stand before their parents',
      (to: ProtoMessage) => to.message(1, message().integer(3, 1).integer(4, 9).text(5, 'int8')),
      'Corrupt',
      /before its parent/,
    ],
    [
      'two fields of one id',
      (to: ProtoMessage) => to.message(1, field()).message(1, field()),
      'Corrupt',
      /two fields have the id 0/,
    ],
    [
      'types that tables do not have',
      (to: ProtoMessage) => to.message(1, field(0, 'blob')),
      'Unsupported',
      /column "a" of type "blob"/,
    ],
    [
      'fields below a number',
      (to: ProtoMessage) =>
        to
          .message(1, field())
          .message(1, message().text(2, 'b').integer(3, 1).integer(4, 0).text(5, 'int8')),
      'Corrupt',
      /is int64 and has fields below it/,
    ],
    [
      'more deleted rows than rows',
      (to: ProtoMessage) =>
        to
          .message(1, field())
          .message(2, message().integer(4, 1).message(3, message().integer(4, 2))),
      'Corrupt',
      /1 rows, 2 deleted/,
    ],
  ])('%s', async (_, build, code, expected) => {
    expect(await refused(readAll(made(build)), code)).toMatch(expected);
  });

  test('a manifest of the wrong kind of file', async () => {
    const home = temporaryFolder();
    mkdirSync(join(home, '_versions', '1.manifest'), { recursive: true });
    expect(await refused(readAll(home), 'Corrupt')).toMatch(/no regular file/);
  });
});

test('fewer columns than fields are refused', async () => {
  const one = message().text(1, 'a').packed(2, [0, 1]).packed(3, [0]).integer(4, 2);
  const home = made((to) => to.message(1, field()).message(2, fragment(one)));
  expect(await refused(readAll(home), 'Corrupt')).toMatch(/2 fields in 1 columns/);
});

test('a field in two files of a fragment is refused, and deleted rows that are not as many', async () => {
  const { dataset } = lanceVersions.find(({ dataset }) => {
    const home = homes.get(dataset) as string;
    return existsSync(join(home, 'data')) && readdirSync(join(home, 'data')).length === 1;
  }) as { dataset: string };
  const data = join(homes.get(dataset) as string, 'data');
  const [name] = readdirSync(data) as [string];
  const home = made((to) =>
    to.message(1, field()).message(2, fragment(file(name)).message(2, file(name))),
  );
  mkdirSync(join(home, 'data'));
  writeFileSync(join(home, 'data', name), readFileSync(join(data, name)));
  expect(await refused(readAll(home), 'Corrupt')).toMatch(/field 0 lies in two files/);
  // A bitmap of one container, of row 0; two deleted rows are told.
  const deletion = message().integer(1, 1).integer(4, 2);
  const counted = made((to) =>
    to.message(1, field()).message(2, message().message(3, deletion).integer(4, 4)),
  );
  mkdirSync(join(counted, '_deletions'));
  const bitmap = Buffer.alloc(18);
  bitmap.writeUInt32LE(12346, 0);
  bitmap.writeUInt32LE(1, 4);
  bitmap.writeUInt32LE(16, 12);
  writeFileSync(join(counted, '_deletions', '0-0-0.bin'), bitmap);
  expect(await refused(readAll(counted), 'Corrupt')).toMatch(
    /it has 1 rows, and the manifest says 2/,
  );
});

test('a dataset reached through a link is read', async () => {
  const { dataset, choice, version } = lanceVersions[0] as (typeof lanceVersions)[number];
  const link = join(temporaryFolder(), 'link');
  symlinkSync(homes.get(dataset) as string, link, 'dir');
  expect((await openLanceDataset(link, choice)).version).toBe(version);
});

test('a column without a file is null, rows without a file too', async () => {
  const home = made((to) => to.message(1, field()).message(2, message().integer(4, 3)));
  expect(exactValues((await readAll(home)) as RecordBatch[])).toEqual([[null, null, null]]);
});
