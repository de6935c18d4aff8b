/** Version files, chunks and fragment entries: each member there and back, and each forged alone. */
import { describe, expect, test } from 'vitest';
import { isDirspaceError } from '../../src/errors.ts';
import {
  type ChunkEntry,
  checkChunk,
  decodeChunkEntry,
  encodeChunkEntry,
} from '../../src/format/catalog/chunk.ts';
import {
  decodeFragment,
  type FragmentEntry,
  fragmentText,
  isReadByLance,
  liveRows,
} from '../../src/format/catalog/fragment-entry.ts';
import {
  decodeVersion,
  encodeManifest,
  encodeTombstone,
  type Manifest,
  type OperationKind,
  refuseNewer,
} from '../../src/format/catalog/manifest.ts';
import { encodeChecksummed } from '../../src/json.ts';
import { decodeChunk, encodeChunk } from '../helpers/chunks.ts';

const FILE = 'v.json';

const fragment = (id: number, more: Partial<FragmentEntry> = {}): FragmentEntry => ({
  id,
  file: `00000000-${id.toString(16).padStart(4, '0')}`,
  rows: 10,
  bytes: 1000,
  footerBytes: 100,
  footerChecksum: 77,
  fields: [0, 1],
  statistics: [[0, 1, 2], null],
  deletion: undefined,
  ...more,
});
const deletion = { file: '22222222', rows: 3, bytes: 50, checksum: 5 };

const chunk: ChunkEntry = {
  file: '66666666-7777',
  checksum: '0a0b0c0d',
  size: 500,
  fragments: 2,
  firstId: 0,
  lastId: 1,
};

const manifest: Manifest = {
  table: '11111111-2222',
  branch: 'draft',
  version: 3,
  parent: { version: 2, branch: 'main', checksum: '0a0b0c0d' },
  timestamp: 1_700_000_000_000,
  transaction: '11111111-2222.33333333',
  batch: '44444444-5555',
  operation: { kind: 'append', summary: { added_rows: 10, removed_rows: 0 } },
  schema: {
    fields: [{ name: 'id', nullable: false, type: { type: 'int32' } }],
    metadata: { a: 'b' },
  },
  fieldIds: [0, 1],
  nextFieldId: 2,
  nextFragmentId: 4,
  metadata: { c: 'd' },
  properties: { since: 2, values: { e: 'f' } },
  annotations: { by: 'me' },
  totals: { rows: 40, deletedRows: 3, bytes: 4050, fragments: 4 },
  chunks: [chunk],
  fragments: [fragment(2, { deletion }), fragment(3)],
};

const decoded = (bytes: Uint8Array): Manifest => {
  const found = decodeVersion(bytes, FILE);
  if (!('manifest' in found)) throw new Error('a tombstone');
  return found.manifest;
};

/** The error of a forged document: its code and what it says. */
function failure(run: () => unknown): string {
  try {
    run();
  } catch (error) {
    if (!isDirspaceError(error)) throw error;
    return `${error.code}: ${error.message}`;
  }
  return 'nothing';
}
const damaged = (what: string): string =>
  `Corrupt: The file ${FILE} is damaged: ${what}. Run verify on the catalog to see what else is affected.`;

/** The document of a manifest with a checksum that is right, after somebody changed it. */
function forged(change: (document: Record<string, unknown>) => void): Uint8Array {
  const document = JSON.parse(Buffer.from(encodeManifest(manifest).bytes).toString());
  delete document.checksum;
  change(document);
  return encodeChecksummed(document).bytes;
}

describe('a manifest', () => {
  test('comes back with every member, and is this text', () => {
    const { bytes, checksum } = encodeManifest(manifest);
    expect(decodeVersion(bytes, FILE)).toEqual({ manifest, checksum, bytes: bytes.length });
    const { fieldIds, nextFieldId, nextFragmentId, ...same } = manifest;
    expect(JSON.parse(Buffer.from(bytes).toString())).toEqual({
      ...same,
      checksum: `crc32:${checksum}`,
      format: 1,
      features: [],
      field_ids: fieldIds,
      next_field_id: nextFieldId,
      next_fragment_id: nextFragmentId,
      totals: { rows: 40, deleted_rows: 3, bytes: 4050, fragments: 4 },
      chunks: [encodeChunkEntry(chunk)],
      fragments: [
        JSON.parse(fragmentText(fragment(2, { deletion }))),
        JSON.parse(fragmentText(fragment(3))),
      ],
    });
  });

  test('comes back without the members it may lack', () => {
    const least: Manifest = {
      ...manifest,
      parent: undefined,
      batch: undefined,
      properties: undefined,
      annotations: undefined,
      totals: { rows: 0, deletedRows: 0, bytes: 0, fragments: 0 },
      chunks: [],
      fragments: [],
    };
    const { bytes } = encodeManifest(least);
    expect(decoded(bytes)).toEqual(least);
    const text = Buffer.from(bytes).toString();
    expect(text).toMatch(/"parent":null.*"chunks":\[\],"fragments":\[\]}\n$/);
    expect(text).not.toMatch(/batch|properties|annotations/);
  });

  test.each<OperationKind>([
    'create',
    'append',
    'overwrite',
    'delete',
    'update',
    'merge',
    'restore',
    'compact',
    'schema',
    'metadata',
  ])('of the kind %s', (kind) => {
    const { bytes } = encodeManifest({ ...manifest, operation: { kind, summary: {} } });
    expect(decoded(bytes).operation).toEqual({ kind, summary: {} });
  });

  test('may delete all rows it counts', () => {
    const totals = { ...manifest.totals, deletedRows: 40 };
    expect(decoded(encodeManifest({ ...manifest, totals }).bytes).totals).toEqual(totals);
  });

  const whole = 'not a whole number';
  test.each<[string, unknown, string]>([
    ['table', 7, 'table is 7, not a string'],
    ['branch', null, 'branch is null, not a string'],
    ['version', '3', `version is "3", ${whole}`],
    ['parent', undefined, 'parent is not an object'],
    ['parent', [], 'parent is not an object'],
    ['parent', { branch: 'b', checksum: 'c' }, `version is missing, ${whole}`],
    ['parent', { version: 1, checksum: 'c' }, 'branch is missing, not a string'],
    ['parent', { version: 1, branch: 'b' }, 'checksum is missing, not a string'],
    ['timestamp', 1.5, `timestamp is 1.5, ${whole}`],
    ['transaction', undefined, 'transaction is missing, not a string'],
    ['batch', null, 'batch is null, not a string'],
    ['operation', undefined, 'operation is not an object'],
    ['operation', { kind: 'erase', summary: {} }, 'operation.kind is erase'],
    ['operation', { summary: {} }, 'kind is missing, not a string'],
    ['operation', { kind: '', summary: {} }, 'operation.kind is '],
    ['operation', { kind: 'append' }, 'summary is not an object'],
    ['operation', { kind: 'append', summary: { a: 1, b: '2' } }, `b is "2", ${whole}`],
    ['schema', [], 'schema is not an object'],
    ['schema', { metadata: {} }, 'fields is missing, not an array'],
    ['field_ids', {}, 'field_ids is {}, not an array'],
    ['next_field_id', -1, `next_field_id is -1, ${whole}`],
    ['next_fragment_id', undefined, `next_fragment_id is missing, ${whole}`],
    ['metadata', { a: 1 }, 'metadata.a is not a string'],
    ['properties', { since: 'x', values: {} }, `since is "x", ${whole}`],
    ['properties', { since: 1, values: [] }, 'values is not an object'],
    ['properties', null, 'properties is not an object'],
    ['annotations', { a: null }, 'annotations.a is not a string'],
    ['annotations', undefined, 'nothing'],
    ['totals', 7, 'totals is not an object'],
    ['chunks', {}, 'chunks is {}, not an array'],
    ['chunks', ['x'], 'a chunk is not an object'],
    ['fragments', 'x', 'fragments is "x", not an array'],
    ['fragments', [null], 'a fragment is not an object'],
    ['fragments', [], 'it lists 2 fragments and counts 4'],
    ['chunks', [], 'it lists 2 fragments and counts 4'],
    ['deleted_through', 'x', `deleted_through is "x", ${whole}`],
    ...['rows', 'deleted_rows', 'bytes', 'fragments'].map((name): [string, unknown, string] => [
      'totals',
      { rows: 40, deleted_rows: 3, bytes: 9, fragments: 4, [name]: 'x' },
      `${name} is "x", ${whole}`,
    ]),
    [
      'totals',
      { rows: 40, deleted_rows: 41, bytes: 9, fragments: 4 },
      'more rows are deleted than there are',
    ],
  ])('whose %s is %j: %s', (name, value, message) => {
    const bytes = forged((document) => {
      document[name] = value;
    });
    const expected = message === 'nothing' ? message : damaged(message);
    expect(failure(() => decodeVersion(bytes, FILE))).toBe(expected);
  });

  test.each([['1'], [1.5], [-1], [null], [2 ** 53], [[0]]])('with the field id %j', (id) => {
    const bytes = forged((document) => {
      document.field_ids = [0, id];
    });
    expect(failure(() => decodeVersion(bytes, FILE))).toBe(
      damaged('field_ids holds something else than field ids'),
    );
  });
});

describe('the view of a manifest', () => {
  const view = {
    source: ['prod', 't'],
    columns: [['y', 'x + 1']] as [string, string][],
    filter: 'x > 1',
    limit: 9,
    inputs: ['x'],
    of: { table: '11111111-2222', version: 3, rows: 7 },
  };

  test('comes back, and names its feature', () => {
    for (const one of [view, { source: ['t'], columns: [], inputs: [] }]) {
      const { bytes } = encodeManifest({ ...manifest, view: one });
      expect(decoded(bytes).view).toEqual(one);
      expect(JSON.parse(Buffer.from(bytes).toString()).features).toContain('view');
    }
    expect(decoded(encodeManifest(manifest).bytes).view).toBeUndefined();
  });

  test.each([
    ['source', [1]],
    ['source', 't'],
    ['columns', [['y']]],
    ['columns', [['y', 'x', 'z']]],
    ['columns', [['y', 1]]],
    ['columns', ['yx']],
    ['filter', 1],
    ['limit', 1.5],
    ['limit', -1],
    ['inputs', [null]],
    ['inputs', undefined],
    ['of', 'x'],
    ['of', { table: 't', version: 'x', rows: 1 }],
    ['of', { table: 't', version: 1 }],
    ['of', { table: 1, version: 1, rows: 1 }],
  ])('whose %s is %j is damaged', (name, value) => {
    const bytes = forged((document) => {
      document.view = { ...view, [name]: value };
    });
    expect(failure(() => decodeVersion(bytes, FILE))).toMatch(/^Corrupt: /);
  });
});

test('a computed column names its feature', () => {
  const field = { name: 'y', nullable: true, type: { type: 'int32' } };
  const featuresOf = (metadata: Record<string, string>): unknown => {
    const schema = { fields: [...manifest.schema.fields, { ...field, metadata }] };
    return JSON.parse(String(Buffer.from(encodeManifest({ ...manifest, schema }).bytes))).features;
  };
  expect(featuresOf({ computed_column: 'true' })).toContain('computed_columns');
  expect(featuresOf({ computed_column: 'false' })).not.toContain('computed_columns');
});

test('a tombstone comes back, and is this text', () => {
  const bytes = encodeTombstone({ deletedThrough: 9 });
  expect(decodeVersion(bytes, FILE)).toEqual({ tombstone: { deletedThrough: 9 } });
  expect(Buffer.from(bytes).toString()).toMatch(
    /^{"checksum":"crc32:[0-9a-f]{8}","format":1,"deleted_through":9}\n$/,
  );
});

describe('what a newer release wrote', () => {
  test.each<[object, string]>([
    [{ format: 1 }, 'nothing'],
    [{ format: 0, features: [] }, 'nothing'],
    [{ format: 2, features: ['a'] }, 'format 2'],
    [{ format: 1, features: ['teleport', 'tardis'] }, 'the feature teleport, tardis'],
    [{ format: 1, features: [7] }, 'the feature 7'],
  ])('%j is refused for %s', (document, what) => {
    expect(failure(() => refuseNewer({ ...document }, FILE))).toBe(
      what === 'nothing'
        ? what
        : `UnsupportedFormat: The file ${FILE} uses ${what}; this release reads format 1. Open it with a newer release of dirspace.`,
    );
  });

  test.each<[object, string]>([
    [{}, 'format is missing, not a whole number'],
    [{ format: '1' }, 'format is "1", not a whole number'],
    [{ format: 1, features: {} }, 'features is {}, not an array'],
    [{ format: 1, features: undefined }, 'features is missing, not an array'],
  ])('%j is damaged', (document, what) => {
    expect(failure(() => refuseNewer({ ...document }, FILE))).toBe(damaged(what));
  });

  test('manifests and tombstones alike', () => {
    for (const name of ['format', 'deleted_through']) {
      const bytes = forged((document) => {
        document.format = 2;
        document[name] = 2;
      });
      expect(failure(() => decodeVersion(bytes, FILE))).toMatch(/^UnsupportedFormat: .*format 2;/);
    }
  });
});

describe('a chunk', () => {
  const entries = () => [fragment(4), fragment(9, { deletion }), fragment(7)];
  const made = () => encodeChunk('66666666-7777', entries());

  test('comes back, and its entry says what is in it', () => {
    const { bytes, entry } = made();
    expect(entry).toEqual({
      file: '66666666-7777',
      checksum: Buffer.from(bytes).toString('latin1', 19, 27),
      size: bytes.length,
      fragments: 3,
      firstId: 4,
      lastId: 9,
      index: {
        rows: 30,
        deletedRows: deletion.rows,
        offset: Buffer.from(bytes).indexOf('"blocks":') + 9,
        bytes: expect.any(Number),
        checksum: expect.any(Number),
      },
    });
    expect(decodeChunk(bytes, entry, FILE)).toEqual(entries());
    checkChunk(bytes, entry, entries(), FILE);
    expect(encodeChunk('66666666-7777', []).entry).toMatchObject({
      fragments: 0,
      firstId: Number.MAX_SAFE_INTEGER,
      lastId: 0,
    });
  });

  test('is not another one, of another size, or with other counts', () => {
    const { bytes, entry } = made();
    const other = damaged('it is not the chunk that the manifest refers to');
    for (const wrong of [{ checksum: '00000000' }, { size: entry.size + 1 }]) {
      expect(failure(() => decodeChunk(bytes, { ...entry, ...wrong }, FILE))).toBe(other);
    }
    expect(failure(() => decodeChunk(bytes, { ...entry, fragments: 2 }, FILE))).toBe(
      damaged('it lists 3 fragments, not 2'),
    );
    const hollow = encodeChecksummed({ a: 1 });
    const its = { ...entry, checksum: hollow.checksum, size: hollow.bytes.length };
    expect(failure(() => decodeChunk(hollow.bytes, its, FILE))).toBe(
      damaged('fragments is missing, not an array'),
    );
  });

  test('its entry comes back, and each member is looked at', () => {
    expect(encodeChunkEntry(chunk)).toEqual({
      file: '66666666-7777',
      crc32: '0a0b0c0d',
      size: 500,
      fragments: 2,
      first_id: 0,
      last_id: 1,
    });
    expect(decodeChunkEntry(encodeChunkEntry(chunk), FILE)).toEqual(chunk);
    for (const name of Object.keys(encodeChunkEntry(chunk))) {
      const wrong = { ...encodeChunkEntry(chunk), [name]: null };
      expect(failure(() => decodeChunkEntry(wrong, FILE))).toContain(`${name} is null, not a`);
    }
    expect(
      failure(() => decodeChunkEntry({ ...encodeChunkEntry(chunk), file: '../x' }, FILE)),
    ).toBe(damaged('file is not a file id'));
  });

  test('its index comes back with its entry, and each member is looked at', () => {
    const { entry } = made();
    const document = encodeChunkEntry(entry);
    expect(decodeChunkEntry(document, FILE)).toEqual(entry);
    const index = document.index as Record<string, number>;
    for (const name of Object.keys(index)) {
      const wrong = { ...document, index: { ...index, [name]: null } };
      expect(failure(() => decodeChunkEntry(wrong, FILE))).toContain(`${name} is null, not a`);
    }
    const outside = { ...document, index: { ...index, offset: entry.size } };
    expect(failure(() => decodeChunkEntry(outside, FILE))).toContain('ends behind the chunk');
    const more = { ...document, index: { ...index, deleted_rows: 31 } };
    expect(failure(() => decodeChunkEntry(more, FILE))).toContain('more deleted rows than rows');
  });
});

describe('a fragment entry', () => {
  const document = (): Record<string, unknown> =>
    JSON.parse(fragmentText(fragment(5, { deletion })));

  test('comes back, with and without a deletion file', () => {
    expect(document()).toEqual({
      id: 5,
      file: '00000000-0005',
      rows: 10,
      bytes: 1000,
      footer_bytes: 100,
      footer_crc32: 77,
      fields: [0, 1],
      statistics: [[0, 1, 2], null],
      deletion: { file: '22222222', rows: 3, bytes: 50, crc32: 5 },
    });
    expect(decodeFragment(document(), FILE)).toEqual(fragment(5, { deletion }));
    const plain = JSON.parse(fragmentText(fragment(6)));
    expect('deletion' in plain).toBe(false);
    expect(decodeFragment(plain, FILE)).toEqual(fragment(6));
  });

  test('is made into text once', () => {
    const entry = fragment(5);
    const text = fragmentText(entry);
    // Entries never change; this one does, to show that it is not looked at again.
    (entry as { rows: number }).rows = 11;
    expect(fragmentText(entry)).toBe(text);
    expect(fragmentText({ ...entry })).not.toBe(text);
  });

  test('counts the rows that are left', () => {
    expect(liveRows(fragment(1))).toBe(10);
    expect(liveRows(fragment(1, { deletion }))).toBe(7);
  });

  test.each<[string, unknown, string]>([
    ['id', 'x', 'id is "x", not a whole number'],
    ['file', 'x', 'file is not a file id'],
    ['rows', null, 'rows is null, not a whole number'],
    ['bytes', 1.5, 'bytes is 1.5, not a whole number'],
    ['bytes', 99, 'the footer of fragment 00000000-0005 is longer than the fragment'],
    ['footer_bytes', -1, 'footer_bytes is -1, not a whole number'],
    ['footer_bytes', 1001, 'the footer of fragment 00000000-0005 is longer than the fragment'],
    ['footer_bytes', 1000, 'nothing'],
    ['footer_crc32', undefined, 'footer_crc32 is missing, not a whole number'],
    ['fields', {}, 'fields is {}, not an array'],
    ['fields', [0, '1'], 'fields of a fragment holds something else than field ids'],
    ['fields', [0, -1], 'fields of a fragment holds something else than field ids'],
    ['fields', [], 'nothing'],
    ['statistics', null, 'statistics is null, not an array'],
    ['deletion', null, 'deletion is not an object'],
    ['deletion', undefined, 'nothing'],
    ['rows', 3, 'deletion file 22222222 deletes every row of its fragment'],
    ['rows', 2, 'deletion file 22222222 deletes every row of its fragment'],
    ['rows', 4, 'nothing'],
    ['deletion', { ...deletion, crc32: 5, file: '../x' }, 'file is not a file id'],
    ['deletion', { ...deletion, crc32: 5, rows: 'x' }, 'rows is "x", not a whole number'],
    ['deletion', { ...deletion, crc32: 5, bytes: 'x' }, 'bytes is "x", not a whole number'],
    ['deletion', deletion, 'crc32 is missing, not a whole number'],
    ['deletion', { ...deletion, crc32: 5, offset: -1 }, 'offset is -1, not a whole number'],
    ['deletion', { ...deletion, crc32: 5, offset: '8' }, 'offset is "8", not a whole number'],
    ['deletion', { ...deletion, crc32: 5, offset: 8, bytes: 'x' }, 'nothing'],
  ])('whose %s is %j: %s', (name, value, message) => {
    const wrong = { ...document(), [name]: value };
    const expected = message === 'nothing' ? message : damaged(message);
    expect(failure(() => decodeFragment(wrong, FILE))).toBe(expected);
  });
});

describe('what is said of Lance', () => {
  const nested = { lance: { fileSize: 890, fields: [0, 1, 2] } };
  test.each<[string, Partial<FragmentEntry>, unknown, boolean]>([
    ['nothing', {}, undefined, false],
    [
      'a part with the columns alone',
      { lance: { fileSize: 900, fields: [0, 1] } },
      { bytes: 900 },
      true,
    ],
    ['a part with nested fields', nested, { bytes: 890, fields: [0, 1, 2] }, true],
    [
      'a part with other fields',
      { lance: { fileSize: 0, fields: [0, 2] } },
      { bytes: 0, fields: [0, 2] },
      true,
    ],
    [
      'a problem',
      { lance: { problem: 'column "a" holds null structs' } },
      { problem: 'column "a" holds null structs' },
      false,
    ],
  ])('of a fragment: %s', (_, more, stored, isRead) => {
    const entry = fragment(5, more);
    const document = JSON.parse(fragmentText(entry));
    expect(document.lance).toEqual(stored);
    expect(decodeFragment(document, FILE)).toEqual(entry);
    expect(isReadByLance(entry)).toBe(isRead);
  });
  test.each<[unknown, string]>([
    [[], 'lance is not an object'],
    [{}, 'bytes is missing, not a whole number'],
    [{ bytes: -1 }, 'bytes is -1, not a whole number'],
    [{ bytes: 901 }, 'the Lance part of fragment 00000000-0005 ends behind its footer'],
    [{ bytes: 5, fields: 'x' }, 'fields is "x", not an array'],
    [{ bytes: 5, fields: [-1] }, 'fields of a fragment holds something else than field ids'],
    [{ problem: 5 }, 'problem is 5, not a string'],
  ])('of a fragment, forged: %j', (lance, message) => {
    const document = { ...JSON.parse(fragmentText(fragment(5))), lance };
    expect(failure(() => decodeFragment(document, FILE))).toBe(damaged(message));
  });
  test.each([true, false, undefined])('of a version: %s', (lance) => {
    const { bytes } = encodeManifest({ ...manifest, lance });
    const { features, lance: stored } = JSON.parse(Buffer.from(bytes).toString());
    expect({ features, stored }).toEqual({
      features: lance === true ? ['lance'] : [],
      stored: lance === false ? false : undefined,
    });
    expect(decoded(bytes).lance).toBe(lance);
  });
  test('of a version, forged', () => {
    const wrong = forged((document) => {
      document.lance = true;
    });
    expect(failure(() => decoded(wrong))).toBe(damaged('lance is something else than false'));
    const without = forged((document) => {
      delete document.features;
    });
    expect(decoded(without).lance).toBeUndefined();
  });
  test('fragments that Lance reads are counted', () => {
    const totals = { ...manifest.totals, lanceFragments: 2 };
    expect(decoded(encodeManifest({ ...manifest, totals }).bytes).totals).toEqual(totals);
    const wrong = forged((document) => {
      (document.totals as Record<string, unknown>).lance_fragments = -1;
    });
    expect(failure(() => decoded(wrong))).toBe(
      damaged('lance_fragments is -1, not a whole number'),
    );
  });
});
