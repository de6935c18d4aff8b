/**
 * Lance manifests of four releases of pylance and of LanceDB for Node, read by us and compared with what
 * their writers say of them (`fixtures/lance-manifests`, made by test/interop/lance/make_manifests.*).
 */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { isDirspaceError } from '../../../src/errors.ts';
import {
  lanceManifest,
  type ParsedManifest,
  readLanceManifest,
} from '../../../src/format/lance/index.ts';
import { message, type ProtoMessage } from '../../../src/format/lance/protobuf.ts';
import { casesOf } from '../../helpers/long.ts';
import { seeded } from '../../helpers/seeded.ts';

const FOLDER = join(import.meta.dirname, '..', '..', '..', 'fixtures', 'lance-manifests');

interface Said {
  readonly manifest: string;
  readonly version: number;
  readonly columns: readonly string[];
  readonly indexes: readonly string[];
  /** Of LanceDB. */
  readonly rows?: number;
  /** Of pylance. */
  readonly fragments?: readonly {
    readonly id: number;
    readonly rows: number;
    readonly deleted: number;
    readonly files: readonly (readonly [string, readonly number[]])[];
  }[];
}

const writers = readdirSync(FOLDER).map((file) => {
  const text = readFileSync(join(FOLDER, file), 'utf8');
  const said = JSON.parse(text) as Record<string, Said>;
  const manifests = Object.entries(said).map(([name, one]) => ({
    name,
    said: one,
    bytes: new Uint8Array(Buffer.from(one.manifest, 'base64')),
  }));
  return { writer: file.slice(0, -5), manifests };
});

function manifestOf(writer: string, name: string): Uint8Array {
  const found = writers
    .find((one) => one.writer.startsWith(writer))
    ?.manifests.find((one) => one.name === name);
  return (found as { bytes: Uint8Array }).bytes;
}

describe.each(writers)('manifests of $writer', ({ writer, manifests }) => {
  test.each(manifests)('$name', ({ name, said, bytes }) => {
    const found = readLanceManifest(bytes, name);
    expect(found.version).toBe(said.version);
    expect([...found.unknown]).toEqual([]);
    const columns = found.fields.filter(({ parent }) => parent === -1);
    expect(columns.map((field) => field.name)).toEqual(said.columns);
    expect(found.indexes.map((index) => index.name)).toEqual(said.indexes);
    const fragments = found.fragments.map((fragment) => ({
      id: fragment.id,
      rows: fragment.physicalRows,
      deleted: fragment.deletion?.rows ?? 0,
      files: fragment.files.map(({ path, fields }) => [path, fields]),
    }));
    if (said.fragments !== undefined) expect(fragments).toEqual(said.fragments);
    const rows = fragments.reduce((sum, one) => sum + one.rows - one.deleted, 0);
    if (said.rows !== undefined) expect(rows).toBe(said.rows);
    for (const { files } of found.fragments) {
      for (const file of files) {
        expect(file.columns).toHaveLength(file.fields.length);
        expect([file.majorVersion, file.minorVersion]).toEqual([
          2,
          name.startsWith('newer') ? 1 : 0,
        ]);
      }
    }
    expect(found.dataFormat).toEqual({
      format: 'lance',
      version: name.startsWith('newer') ? '2.1' : '2.0',
    });
    expect(found.writer?.library).toBe('lance');
    expect(found.timestamp).toBeGreaterThan(Date.UTC(2024, 0));
    expect(found.transactionFile).toMatch(/^\d+-[0-9a-f-]{36}\.txn$/);
    // Earlier releases keep the transaction in its file only.
    const holdsTransaction = !/^pylance-0\./.test(writer) && found.branch === undefined;
    if (holdsTransaction) {
      expect(found.transaction?.operation).toBeDefined();
      expect(found.transactionFile).toContain(found.transaction?.uuid);
      expect(found.transaction?.readVersion).toBeLessThan(found.version);
    }
  });
});

const NEWEST = 'pylance-14';
const operation = (name: string): NonNullable<ParsedManifest['transaction']>['operation'] =>
  readLanceManifest(manifestOf(NEWEST, name), name).transaction?.operation;

describe('the operations of transactions', () => {
  test.each([
    ['append-1', 'overwrite'],
    ['append-2', 'append'],
    ['delete-3', 'delete'],
    ['update-2', 'update'],
    ['merge-2', 'update'],
    ['columns-2', 'merge'],
    ['columns-3', 'project'],
    ['columns-4', 'merge'],
    ['columns-5', 'project'],
    ['overwrite-2', 'overwrite'],
    ['compact-4', 'reserve_fragments'],
    ['compact-5', 'rewrite'],
    ['index-2', 'create_index'],
    ['restore-3', 'restore'],
    ['config-2', 'update_config'],
  ])('%s is by %s', (name, kind) => {
    expect(operation(name)?.kind).toBe(kind);
  });

  test('hold what was done', () => {
    expect(operation('append-2')).toMatchObject({ fragments: [{ physicalRows: 5 }] });
    expect(operation('delete-3')).toMatchObject({
      updatedFragments: [{ id: 0, deletion: { kind: 'arrow', rows: 1, readVersion: 2n } }],
      deletedFragmentIds: [],
      predicate: 'id = 3',
    });
    expect(operation('delete-4')).toMatchObject({ deletedFragmentIds: [1] });
    expect(operation('restore-3')).toMatchObject({ version: 1 });
    expect(operation('compact-4')).toMatchObject({ fragments: 1 });
    expect(operation('compact-5')).toMatchObject({
      groups: [{ oldFragments: [{ id: 0 }, { id: 1 }], newFragments: [{ physicalRows: 14 }] }],
    });
    expect(operation('columns-2')).toMatchObject({
      fields: [...readLanceManifest(manifestOf(NEWEST, 'columns-2'), '').fields].map(({ id }) => ({
        id,
      })),
    });
    expect(operation('update-2')).toMatchObject({
      removedFragmentIds: [],
      updatedFragments: [{ id: 0 }],
      newFragments: [{ physicalRows: 3 }],
      rewritesColumns: false,
    });
    const config = operation('config-2') as unknown as { config: { entries: Map<string, string> } };
    expect([...config.config.entries]).toEqual([['mine', '1']]);
  });
});

describe('other members', () => {
  const read = (name: string): ParsedManifest => readLanceManifest(manifestOf(NEWEST, name), name);

  test('the schema with its nested fields and metadata', () => {
    const { fields, schemaMetadata } = read('append-1');
    expect(
      fields.map(({ id, parent, name, logicalType }) => [id, parent, name, logicalType]),
    ).toEqual([
      [0, -1, 'id', 'int64'],
      [1, -1, 'name', 'string'],
      [2, -1, 'vec', 'fixed_size_list:float:2'],
      [3, -1, 'tags', 'list'],
      [4, 3, 'item', 'string'],
      [5, -1, 's', 'struct'],
      [6, 5, 'x', 'int32'],
      [7, 5, 'y', 'string'],
    ]);
    expect([...schemaMetadata].sort()).toEqual([
      ['origin', 'test'],
      ['ключ', 'значение'],
    ]);
  });

  test('flags, fragment ids and configuration', () => {
    expect(read('delete-3')).toMatchObject({ readerFlags: 1n, writerFlags: 1n, maxFragmentId: 1 });
    expect([...read('config-2').config]).toEqual([['mine', '1']]);
    expect([...read('config-3').schemaMetadata]).toEqual([['a', 'b']]);
    expect(read('columns-4').fragments[0]?.files).toHaveLength(3);
  });

  test('stable row ids', () => {
    const found = read('stable-3');
    expect(found.readerFlags & 2n).toBe(2n);
    expect(found.nextRowId).toBe(15n);
    for (const { rowIds } of found.fragments) {
      expect((rowIds as { inline: Uint8Array }).inline.length).toBeGreaterThan(0);
    }
  });

  test('branches and their bases', () => {
    const found = read('branch-dev');
    expect(found.branch).toBe('dev');
    expect(found.bases).toHaveLength(1);
    expect(found.fragments[0]?.files[0]?.base).toBe(found.bases[0]?.id);
  });

  test('indexes, and the section as it stands there', () => {
    const found = read('index-2');
    expect(found.indexes).toMatchObject([{ name: 'id_idx', fields: [0], datasetVersion: 1 }]);
    expect(found.indexes[0]?.uuid).toMatch(/^[0-9a-f]{32}$/);
    const section = Buffer.from(found.indexSection as Uint8Array);
    expect(section.includes(Buffer.from(found.indexes[0]?.message as Uint8Array))).toBe(true);
  });

  test('equal lists of columns share their memory', () => {
    const { fragments } = read('append-3');
    expect(fragments[0]?.files[0]?.fields).toBe(fragments[1]?.files[0]?.fields);
  });

  test('what we write', () => {
    const fragment = {
      id: 7,
      file: 'ab',
      rows: 9,
      bytes: 1,
      lance: { fileSize: 77, fields: [0, 3] },
      deletion: { file: '00000000-0000-0000-0000-000000000001', rows: 2 },
    };
    const bytes = lanceManifest({
      version: 5,
      timestamp: 1_700_000_000_123,
      fields: [],
      schemaMetadata: new Map([['a', 'b']]),
      tableMetadata: { c: 'd' },
      fragments: [[fragment as never]],
      nextFragmentId: 8,
      transaction: 'tx',
      writable: false,
    });
    expect(readLanceManifest(bytes, 'ours')).toMatchObject({
      version: 5,
      timestamp: 1_700_000_000_123,
      maxFragmentId: 7,
      readerFlags: 1n,
      writerFlags: (1n << 40n) + 1n,
      transaction: { readVersion: 4, uuid: 'tx', operation: { kind: 'append', fragments: [] } },
      fragments: [{ id: 7, physicalRows: 9, deletion: { rows: 2 }, files: [{ fileSize: 77 }] }],
    });
  });
});

/** A manifest file of these sections. */
function file(manifest: Uint8Array, before: Uint8Array = new Uint8Array(), minor = 2): Uint8Array {
  const bytes = new Uint8Array(before.length + 4 + manifest.length + 16);
  const view = new DataView(bytes.buffer);
  bytes.set(before);
  view.setUint32(before.length, manifest.length, true);
  bytes.set(manifest, before.length + 4);
  view.setBigUint64(bytes.length - 16, BigInt(before.length), true);
  view.setUint16(bytes.length - 6, minor, true);
  bytes.set([0x4c, 0x41, 0x4e, 0x43], bytes.length - 4);
  return bytes;
}

function refused(bytes: Uint8Array): Error {
  try {
    readLanceManifest(bytes, 'some.manifest');
  } catch (error) {
    if (isDirspaceError(error, 'Corrupt', 'UnsupportedFormat')) return error as Error;
    throw error;
  }
  throw new Error('It was read.');
}

const made = (build: (given: ProtoMessage) => ProtoMessage): Uint8Array =>
  file(build(message()).finish().slice());

describe('a damaged manifest is refused', () => {
  const nested = (depth: number): ProtoMessage =>
    depth === 0 ? message() : message().message(2, nested(depth - 1));
  test.each<[string, Uint8Array, RegExp]>([
    ['nothing', new Uint8Array(), /0 bytes are no Lance manifest/],
    ['another magic', file(new Uint8Array()).fill(0x4d, -4), /does not end with LANC/],
    ['a newer format', file(new Uint8Array(), undefined, 3), /has the format 0\.3/],
    ['a length beyond the file', made(() => message()).fill(9, 0, 1), /9 bytes, where 0 are left/],
    [
      'a length below the manifest',
      file(message().integer(3, 1).finish().slice()).fill(1, 0, 1),
      /said to be 1, and it is 2/,
    ],
    [
      'a member beyond the manifest',
      file(new Uint8Array([0x12, 5, 0])),
      /Manifest\.2: 5 bytes, where 1/,
    ],
    [
      'a length of 2^63',
      file(new Uint8Array([0x12, 255, 255, 255, 255, 255, 255, 255, 255, 127])),
      /Infinity bytes/,
    ],
    ['a number without an end', file(new Uint8Array([0x18, 0x80])), /ends with the message/],
    [
      'a number of 70 bits',
      file(new Uint8Array([0x18, ...Array(9).fill(0xff), 2])),
      /more than 64 bits/,
    ],
    ['a version of 2^60', made((to) => to.integer(3, 1n << 60n)), /larger than 2\^53/],
    ['a group', file(new Uint8Array([0x1b])), /wire type 3/],
    ['a member 0', file(new Uint8Array([0, 0])), /number 0/],
    [
      'a text as a version',
      made((to) => to.text(3, 'a')),
      /Manifest\.3: it has the wire type 2, where 0/,
    ],
    [
      'a number as a fragment',
      made((to) => to.integer(2, 1)),
      /Manifest\.2: it has the wire type 0/,
    ],
    ['two versions', made((to) => to.integer(3, 1).integer(3, 2)), /stands there twice/],
    ['two tags', made((to) => to.text(8, 'a').text(8, 'a')), /stands there twice/],
    ['a text that is not UTF-8', made((to) => to.bytes(8, new Uint8Array([0xff]))), /not UTF-8/],
    [
      'a field id of 40 bits',
      made((to) => to.message(1, message().integer(3, 2 ** 40))),
      /Field\.3: .* more than 32 bits/,
    ],
    ['a transaction outside', made((to) => to.integer(21, 1000)), /Transaction: it is outside/],
    [
      'a transaction behind the manifest',
      made((to) => to.integer(21, 0)),
      /Transaction: it is outside/,
    ],
    [
      'two places of the transaction',
      made((to) => to.integer(21, 0).integer(23, 4)),
      /two transactions/,
    ],
    ['indexes outside', made((to) => to.integer(6, 2 ** 50)), /IndexSection: it is outside/],
    [
      'a UUID of 3 bytes',
      file(
        message().integer(6, 0).finish().slice(),
        Buffer.from('\x09\0\0\0\x0a\x07\x0a\x05\x0a\x03abc', 'latin1'),
      ),
      /UUID of 3 bytes/,
    ],
    [
      'a field of 5 MiB',
      made((to) => to.message(1, message().bytes(2, new Uint8Array(5 << 20)))),
      /at most 4194304 are read/,
    ],
  ])('%s', (_, bytes, expected) => {
    const error = refused(bytes);
    expect(error.message).toMatch(expected);
    expect(error.message).toContain('some.manifest');
  });

  test('an error tells file, byte and member', () => {
    const error = refused(made((to) => to.integer(9, 1).integer(3, 1n << 60n)));
    expect((error as unknown as { details: unknown }).details).toMatchObject({
      file: 'some.manifest',
      offset: 6,
      member: 'Manifest.3',
    });
  });

  test('one of more than 64 MiB', () => {
    expect(refused(new Uint8Array((64 << 20) + 1)).message).toMatch(/at most 67108864 are read/);
  });

  test('millions of empty parts', () => {
    const parts = new Uint8Array(3_000_000);
    for (let at = 0; at < parts.length; at += 2) parts[at] = 0x12;
    expect(refused(file(parts)).message).toMatch(/more than 1000000 parts/);
  });

  test('nested messages that nobody reads are no depth', () => {
    const found = readLanceManifest(
      made((to) => to.message(2, message().message(12, nested(100)))),
      '',
    );
    expect([...found.unknown]).toEqual([['DataFragment.12', 1]]);
  });
});

test('unknown members are counted by name', () => {
  const bytes = made((to) =>
    to
      .integer(25, 1)
      .text(26, 'a')
      .text(26, 'b')
      .integer(4, 9)
      .message(1, message().integer(14, 1))
      .message(
        2,
        message().message(2, message().integer(8, 1)).message(3, message().integer(5, 1)),
      ),
  );
  expect([...readLanceManifest(bytes, '').unknown]).toEqual([
    ['Manifest.25', 1],
    ['Manifest.26', 2],
    ['Manifest.4', 1],
    ['Field.14', 1],
    ['DataFile.8', 1],
    ['DeletionFile.5', 1],
  ]);
});

test('a kind of deletion files that is not known is none that is', () => {
  const bytes = made((to) => to.message(2, message().message(3, message().integer(1, 2))));
  expect([...readLanceManifest(bytes, '').unknown]).toEqual([['DeletionFile.1 = 2', 1]]);
});

test('unknown members of all wire types are passed over', () => {
  const bytes = file(
    new Uint8Array([0xf9, 1, 1, 2, 3, 4, 5, 6, 7, 8, 0xfd, 1, 1, 2, 3, 4, 0x18, 3]),
  );
  const found = readLanceManifest(bytes, '');
  expect(found.version).toBe(3);
  expect([...found.unknown]).toEqual([['Manifest.31', 2]]);
});

/** Bytes changed at random: single bits, runs, lengths, cuts and copies. */
function mutated(bytes: Uint8Array, random: () => number): Uint8Array {
  const changed = bytes.slice();
  const place = (): number => Math.floor(random() * changed.length);
  for (let times = 1 + Math.floor(random() * 4); times > 0; times--) {
    const kind = random();
    const at = place();
    if (kind < 0.5) changed[at] = (changed[at] as number) ^ (1 << Math.floor(random() * 8));
    else if (kind < 0.7) changed[at] = [0, 1, 0x7f, 0x80, 0xff][Math.floor(random() * 5)] as number;
    else if (kind < 0.85) changed.copyWithin(at, place(), place());
    else changed.fill(0xff, at, at + Math.floor(random() * 12));
  }
  return random() < 0.1 ? changed.slice(0, place()) : changed;
}

test('damaged manifests and random bytes are read or refused, and nothing else', () => {
  const random = seeded(20);
  const corpus = writers.flatMap(({ manifests }) => manifests.map(({ bytes }) => bytes));
  let read = 0;
  const cases = casesOf(1_500, 100_000);
  for (let number = 0; number < cases; number++) {
    const isRandom = number % 10 === 0;
    const whole = corpus[number % corpus.length] as Uint8Array;
    const bytes = isRandom
      ? file(Uint8Array.from({ length: Math.floor(random() * 200) }, () => random() * 256))
      : mutated(whole, random);
    try {
      const found = readLanceManifest(bytes, 'some.manifest');
      expect(found.fragments.length).toBeLessThanOrEqual(bytes.length);
      read += 1;
    } catch (error) {
      if (!isDirspaceError(error, 'Corrupt', 'UnsupportedFormat')) throw error;
    }
  }
  expect(read).toBeGreaterThan(cases / 20);
  expect(read).toBeLessThan(cases);
});
