/** Staged manifests that are well formed and ask for what no writer of Lance does: they are refused soon, and by name. */
import { beforeEach, expect, test } from 'vitest';
import { fieldMembers } from '../../../src/format/lance/lance-fields.ts';
import type { ParsedDataFile, ParsedField } from '../../../src/format/lance/parsed-fragment.ts';
import type { CreateTableVersionRequest } from '../../../src/protocol/index.ts';
import { connect } from '../../../src/sdk/connect.ts';
import { filesOf } from '../../helpers/catalog-files.ts';
import { memoryFs } from '../../helpers/catalogs.ts';
import {
  type ClientFragment,
  fragmentMembers,
  LanceClient,
  type Operation,
} from '../../helpers/lance-client.ts';
import { idsOf, people } from '../../helpers/people.ts';

const ID = { id: ['t'] };
let db: Awaited<ReturnType<typeof connect>>;
let client: LanceClient;

beforeEach(async () => {
  const fs = memoryFs();
  db = await connect('/c', { fs, lance: 'write' });
  await db.namespace.createTable(ID, people(5));
  client = new LanceClient(filesOf(fs, '/c'), 'data/t.table');
});

async function refused(request: CreateTableVersionRequest): Promise<string> {
  const failed = await db.namespace.createTableVersion({ ...ID, ...request }).then(
    () => undefined,
    (error: unknown) => error as Error & { code: string },
  );
  expect(failed?.code).toBe('InvalidInput');
  expect(await idsOf(db.namespace, ['t'])).toEqual([0, 1, 2, 3, 4]);
  expect(await (await db.openTable('t')).version()).toBe(1);
  return failed?.message ?? '';
}

/** New fragments whose files are not there. */
function fragments(count: number): ClientFragment[] {
  const { manifest } = client;
  const added = Array.from({ length: count }, () => {
    const id = ++manifest.maxFragmentId;
    const path = `${'01'.repeat(12)}${id.toString(16).padStart(26, '0')}.lance`;
    const file = {
      path,
      fields: [0, 1],
      columns: [0, 1],
      majorVersion: 2,
      minorVersion: 0,
      fileSize: 500,
      base: undefined,
    };
    return { id, files: [file], deletion: undefined, physicalRows: 3 };
  });
  manifest.fragments.push(...added);
  return added;
}

const field = (name: string, id: number): ParsedField => ({
  id,
  name,
  logicalType: 'int32',
  parent: -1,
  nullable: true,
  metadata: new Map(),
  dictionary: false,
  primaryKey: false,
});

const merge = (): Operation => [
  105,
  (into) => {
    for (const each of client.manifest.fragments) into.message(1, fragmentMembers(each));
    for (const each of client.manifest.fields) into.message(2, fieldMembers(each));
  },
];

const rewrite = (groups: readonly (readonly ClientFragment[])[]): Operation => [
  104,
  (into) => {
    for (const each of groups)
      into.message(3, (group) => {
        for (const fragment of each) group.message(2, fragmentMembers(fragment));
      });
  },
];

test('a compaction of very many groups', async () => {
  const added = fragments(16_000);
  // Each is looked for once, not among all: that would take minutes.
  const request = client.stage(rewrite(added.toReversed().map((each) => [each])));
  expect(await refused(request)).toContain(`there is no file "${added[0]?.files[0]?.path}"`);
}, 20_000);

test('a compaction that lists its file before the size is known', async () => {
  const [added] = fragments(1) as [ClientFragment];
  const [file] = added.files as [ParsedDataFile];
  const listed = (fileSize: number): Operation =>
    rewrite([[{ ...added, files: [{ ...file, fileSize }] }]]);
  // It is taken as far as to look for the file.
  expect(await refused(client.stage(listed(0)))).toContain(`there is no file "${file.path}"`);
  client.manifest.version -= 1;
  expect(await refused(client.stage(listed(file.fileSize + 1)))).toContain('are others');
});

test('a compaction whose new fragments are in another order, twice there, or not there', async () => {
  const [one, two, three] = fragments(3) as [ClientFragment, ClientFragment, ClientFragment];
  const { fragments: all, maxFragmentId } = client.manifest;
  const stranger = { ...three, files: [{ ...three.files[0], path: one.files[0]?.path }] };
  for (const groups of [
    [[two, one, three]],
    [[one], [two], [two]],
    [[one, two, stranger as ClientFragment]],
    [[one, two, { ...three, files: [] }]],
    [[one, two, { ...three, physicalRows: 4 }]],
  ]) {
    Object.assign(client.manifest, { version: 1, fragments: all, maxFragmentId });
    expect(await refused(client.stage(rewrite(groups)))).toContain(
      'its new fragments are others, or in another order',
    );
  }
});

test('a field whose id uses up those of all later ones', async () => {
  client.manifest.fields.push(field('more', 2 ** 31 - 1));
  expect(await refused(client.stage(merge()))).toContain(
    'the field "more" has the id 2147483647, far above 1',
  );
});

test('a column whose nulls no batch could hold', async () => {
  client.manifest.fields.push({
    ...field('wide', 2),
    logicalType: 'fixed_size_list:float:4200000',
  });
  const message = await refused(client.stage(merge()));
  expect(message).toMatch(/A column "wide" of type .* takes 210000\d\d bytes in each row/);
});

test('many fragments of many columns', async () => {
  const { fields } = client.manifest;
  for (let at = 2; at < 5000; at++) fields.push(field(`f${at}`, at));
  fragments(4001);
  expect(await refused(client.stage([100, () => {}]))).toContain(
    'it has 4002 fragments of 5000 columns, and at most 20000008 columns of fragments',
  );
});

test('metadata of schema, table and fields that every later version would hold', async () => {
  const { schemaMetadata, tableMetadata, fields } = client.manifest;
  const ofField = new Map<string, string>();
  Object.assign(fields[1] as object, { metadata: ofField });
  for (const metadata of [schemaMetadata, tableMetadata, ofField])
    metadata.set('a', 'v'.repeat(3 * 1024 * 1024));
  expect(await refused(client.stage([110, () => {}]))).toMatch(/metadata .* has 94372\d\d char/);
});
