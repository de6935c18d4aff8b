/** Metadata files that were cut, flipped or forged: what was written, or a typed error. */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { decodeChunk, encodeChunk } from '../src/format/chunk.ts';
import type { FragmentEntry } from '../src/format/fragment-entry.ts';
import { encodeChecksummed, parseChecksummed, parseJson } from '../src/format/json.ts';
import {
  decodeVersion,
  encodeManifest,
  encodeTombstone,
  type Manifest,
} from '../src/format/manifest.ts';
import {
  decodeBranch,
  decodeFormat,
  decodeNamespace,
  decodeTable,
  decodeTag,
  decodeTrash,
  encodeBranch,
  encodeFormat,
  encodeNamespace,
  encodeTable,
  encodeTag,
  encodeTrash,
} from '../src/format/records.ts';

const fragment = (id: number): FragmentEntry => ({
  id,
  file: `0000000${id % 10}-aaaa`,
  rows: 10,
  bytes: 1000,
  footerBytes: 100,
  footerChecksum: 77,
  fields: [0, 1],
  statistics: [[0, 1, 2], null],
  deletion: id === 2 ? { file: '22222222', rows: 3, bytes: 50, checksum: 5 } : undefined,
});

const odd = JSON.parse('{"__proto__":"p","constructor":"c","a":"b"}') as Record<string, string>;

const manifest: Manifest = {
  table: '11111111-2222',
  branch: 'main',
  version: 3,
  parent: { version: 2, branch: 'main', checksum: '0a0b0c0d' },
  timestamp: 1_700_000_000_000,
  transaction: '11111111-2222.33333333',
  batch: '44444444-5555',
  operation: { kind: 'append', summary: { added_rows: 10 } },
  schema: { fields: [{ name: 'id', nullable: false, type: { type: 'int32' } }], metadata: odd },
  fieldIds: [0, 1],
  nextFieldId: 2,
  nextFragmentId: 3,
  metadata: odd,
  annotations: { by: 'me' },
  totals: { rows: 40, deletedRows: 3, bytes: 4050, fragments: 4 },
  chunks: [encodeChunk('66666666-7777', [fragment(0), fragment(1)]).entry],
  fragments: [fragment(2), fragment(3)],
};
// A copy: slices of a Buffer share its memory.
const whole = new Uint8Array(encodeManifest(manifest).bytes);

const codeOf = (run: () => unknown): string => {
  try {
    run();
    return 'ok';
  } catch (error) {
    return (error as { code?: string }).code ?? `untyped: ${String(error)}`;
  }
};

test('a manifest comes back as it went in', () => {
  const found = decodeVersion(whole, 'm');
  expect(found).toMatchObject({ manifest, bytes: whole.length });
  expect('manifest' in found && Object.keys(found.manifest.metadata)).toEqual(Object.keys(odd));
  expect(decodeVersion(encodeTombstone({ deletedThrough: 9 }), 'm')).toEqual({
    tombstone: { deletedThrough: 9 },
  });
});

test('cut at every byte', () => {
  for (let length = 0; length < whole.length; length++) {
    expect(
      codeOf(() => decodeVersion(whole.slice(0, length), 'm')),
      String(length),
    ).toBe('Corrupt');
  }
});

test('every bit flipped', () => {
  for (let bit = 0; bit < whole.length * 8; bit++) {
    const bytes = whole.slice();
    bytes[bit >> 3] = (bytes[bit >> 3] ?? 0) ^ (1 << (bit & 7));
    const code = codeOf(() => decodeVersion(bytes, 'm'));
    if (code !== 'Corrupt') expect({ bit, code }).toEqual({ bit, code: 'Corrupt' });
  }
});

/** The document as if somebody had forged it: with a checksum that is right. */
const forged = (change: (document: Record<string, unknown>) => void): Uint8Array => {
  const document = JSON.parse(Buffer.from(whole).toString()) as Record<string, unknown>;
  delete document.checksum;
  change(document);
  return encodeChecksummed(document).bytes;
};

const JUNK: readonly unknown[] = [
  ...[null, true, -1, 1.5, -0, 2 ** 53, 1e300, '', 'x', '../../x', [], {}, [null], [[]], { a: 1 }],
];

test('forged members are named or harmless', () => {
  const paths: string[][] = [];
  const collect = (value: unknown, path: string[]): void => {
    if (path.length > 0) paths.push(path);
    if (typeof value !== 'object' || value === null) return;
    for (const [key, inner] of Object.entries(value)) collect(inner, [...path, key]);
  };
  collect(JSON.parse(Buffer.from(whole).toString()), []);
  for (const path of paths) {
    for (const junk of [...JUNK, undefined]) {
      const bytes = forged((document) => {
        let at = document;
        for (const key of path.slice(0, -1)) {
          if (typeof at[key] !== 'object' || at[key] === null) return;
          at = at[key] as Record<string, unknown>;
        }
        Object.defineProperty(at, path.at(-1) ?? '', {
          value: junk,
          enumerable: true,
          configurable: true,
          writable: true,
        });
      });
      const code = codeOf(() => decodeVersion(bytes, 'm'));
      expect(
        ['ok', 'Corrupt', 'UnsupportedFormat'],
        `${path.join('.')} = ${String(junk)}`,
      ).toContain(code);
    }
  }
  expect(({} as Record<string, unknown>).a).toBeUndefined();
  expect(Object.keys(Object.prototype)).toEqual([]);
});

test('a newer format or an unknown feature is refused by name', () => {
  const newer = forged((document) => {
    document.format = 2;
  });
  expect(() => decodeVersion(newer, 'm')).toThrow(/format 2/);
  const feature = forged((document) => {
    document.features = ['teleport'];
  });
  expect(() => decodeVersion(feature, 'm')).toThrow(/teleport/);
  expect(codeOf(() => decodeVersion(feature, 'm'))).toBe('UnsupportedFormat');
});

test('duplicate keys, bad UTF-8, depth and size', () => {
  const bytes = (text: string | Uint8Array): Uint8Array => Buffer.from(text as string);
  expect(codeOf(() => parseJson(bytes(Uint8Array.of(0x7b, 0xff, 0x7d)), 'f'))).toBe('Corrupt');
  expect(codeOf(() => parseJson(bytes('[1]'), 'f'))).toBe('Corrupt');
  expect(codeOf(() => parseJson(bytes('"x"'), 'f'))).toBe('Corrupt');
  expect(codeOf(() => parseJson(bytes('null'), 'f'))).toBe('Corrupt');
  expect(codeOf(() => parseJson(bytes(''), 'f'))).toBe('Corrupt');
  expect(parseJson(bytes('{"a":1,"a":2}'), 'f')).toEqual({ a: 2 });
  const deep = `{"a":${'['.repeat(200_000)}${']'.repeat(200_000)}}`;
  expect(['ok', 'Corrupt']).toContain(codeOf(() => parseJson(bytes(deep), 'f')));
  expect(codeOf(() => parseJson(new Uint8Array(65 * 1024 * 1024), 'f'))).toBe('Corrupt');
  expect(codeOf(() => parseChecksummed(bytes('{"checksum":"crc32:'), 'f'))).toBe('Corrupt');
});

const RECORDS = {
  namespace: [encodeNamespace({ id: 'n', properties: odd }), decodeNamespace],
  table: [encodeTable({ id: '11111111', createdAt: 5, properties: odd }), decodeTable],
  tag: [encodeTag({ table: '11111111', branch: 'main', version: 4 }), decodeTag],
  branch: [
    encodeBranch({
      id: '11111111',
      table: '22222222',
      parentBranch: 'main',
      parentVersion: 4,
      createdAt: 5,
    }),
    decodeBranch,
  ],
  trash: [encodeTrash({ kind: 'table', id: ['a', 'b'], droppedAt: 5 }), decodeTrash],
} as const;

for (const [name, [encoded, decode]] of Object.entries(RECORDS)) {
  const bytes = new Uint8Array(encoded);
  test(`the record of a ${name}: comes back, and damage is noticed`, () => {
    decode(bytes, 'r');
    for (let length = 0; length < bytes.length; length++) {
      expect(codeOf(() => decode(bytes.slice(0, length), 'r'))).toBe('Corrupt');
    }
    for (let bit = 0; bit < bytes.length * 8; bit++) {
      const changed = bytes.slice();
      changed[bit >> 3] = (changed[bit >> 3] ?? 0) ^ (1 << (bit & 7));
      expect(
        codeOf(() => decode(changed, 'r')),
        `bit ${bit}`,
      ).toBe('Corrupt');
    }
  });
}

test('format.json comes back, and random bytes are typed errors', () => {
  const record = { foldsCase: true, properties: { managed_versioning: 'true' } };
  expect(decodeFormat(encodeFormat(record), 'f')).toEqual(record);
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 200 }), (bytes) => {
      expect(codeOf(() => decodeFormat(bytes, 'f'))).toBe('Corrupt');
      expect(codeOf(() => decodeVersion(bytes, 'f'))).toBe('Corrupt');
    }),
    { numRuns: 500 },
  );
});

test('a chunk is the one its manifest speaks of, or Corrupt', () => {
  const { entry, ...encoded } = encodeChunk('66666666-7777', [fragment(4), fragment(9)]);
  const bytes = new Uint8Array(encoded.bytes);
  expect(entry).toMatchObject({ fragments: 2, firstId: 4, lastId: 9, size: bytes.length });
  expect(decodeChunk(bytes, entry, 'c')).toEqual([fragment(4), fragment(9)]);
  for (let length = 0; length < bytes.length; length++) {
    expect(codeOf(() => decodeChunk(bytes.slice(0, length), entry, 'c'))).toBe('Corrupt');
  }
  const other = encodeChunk('66666666-7777', [fragment(4), fragment(8)]);
  expect(codeOf(() => decodeChunk(other.bytes, entry, 'c'))).toBe('Corrupt');
});
