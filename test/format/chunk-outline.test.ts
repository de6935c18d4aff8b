/** What Lance is told of the entries of a chunk, read from their text: as decoding them would say it. */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { isDirspaceError } from '../../src/errors.ts';
import { chunkOutlines, type FragmentOutline } from '../../src/format/catalog/chunk-outline.ts';
import type { FragmentEntry } from '../../src/format/catalog/fragment-entry.ts';
import { encodeChecksummed } from '../../src/json.ts';
import { drained } from '../../src/steps.ts';
import { decodeChunk, encodeChunk } from '../helpers/chunks.ts';

const FILE = 'c.json';

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
  lance: { fileSize: 900, fields: [0, 1] },
  ...more,
});

const outlined = ({ id, file, rows, lance }: FragmentEntry): FragmentOutline => ({
  id,
  file,
  rows,
  lance,
  overlays: undefined,
  deletion: undefined,
});

const outlinesOf = (entries: readonly FragmentEntry[]) => {
  const { bytes, entry } = encodeChunk('66666666-7777', entries);
  return drained(chunkOutlines(bytes, entry, FILE));
};

const number = fc.oneof({ arbitrary: fc.nat(), weight: 40 }, fc.maxSafeNat());
const ids = fc.array(fc.nat(5_000), { maxLength: 5 });
/** With the texts that the end of an entry is known by. */
const text = fc.oneof(
  fc.string({ unit: 'binary' }),
  fc.constantFrom('],"lance":{"bytes":', ']],"lance":{"bytes":1}},{"id":1', '"', '\\', ']}', '€'),
);
const value = fc.oneof(text, fc.double({ noNaN: true }), fc.boolean(), fc.constant(null));
const statistics = fc.array(fc.oneof(fc.constant(null), fc.array(value, { maxLength: 6 })), {
  maxLength: 5,
});
const plain = fc
  .record({
    rows: number,
    bytes: fc.nat(1_000_000),
    footerChecksum: fc.nat(2 ** 31 - 1),
    fields: ids,
    statistics,
    nested: fc.option(ids),
    compressed: fc.constantFrom(undefined, true, false),
  })
  .map(
    ({ nested, fields, bytes, compressed, ...rest }): Partial<FragmentEntry> => ({
      ...rest,
      fields,
      bytes: bytes + 100,
      lance: { fileSize: bytes, fields: nested ?? fields },
      ...(compressed === undefined ? {} : { compressed }),
    }),
  );

describe('the outlines of a chunk', () => {
  test('are what decoding its entries finds', () => {
    fc.assert(
      fc.property(fc.array(plain, { minLength: 1, maxLength: 20 }), (members) => {
        const entries = members.map((more, at) => fragment(3 * at, more));
        const { bytes, entry } = encodeChunk('66666666-7777', entries);
        const decoded = decodeChunk(bytes, entry, FILE).map(outlined);
        const hasLongNumber = entries.some(({ rows }) => rows > 999_999_999_999_999);
        expect(drained(chunkOutlines(bytes, entry, FILE))).toEqual(
          hasLongNumber ? undefined : decoded,
        );
      }),
    );
  });

  test('share the list of field ids', () => {
    const found = outlinesOf([fragment(0), fragment(1, { fields: [0, 1] }), fragment(2)]) ?? [];
    expect(found).toHaveLength(3);
    const lists = found.map(
      ({ lance }) => lance !== undefined && 'fields' in lance && lance.fields,
    );
    expect(new Set(lists).size).toBe(1);
  });

  const deletion = { file: '22222222', rows: 3, bytes: 50, checksum: 5 };
  const overlay = {
    file: '33333333',
    columns: 1,
    bytes: 1000,
    footerBytes: 100,
    footerChecksum: 1,
    lance: { fileSize: 900, fields: [1] },
  };
  const origin = [{ path: 'a.lance', fields: [0], columns: [0], fileSize: 9 }];
  test.each<[string, Partial<FragmentEntry>]>([
    ['a deletion', { deletion }],
    ['an overlay', { overlays: [overlay], fields: [0, 1, 2], statistics: [null, null, null] }],
    ['nothing for Lance', { lance: undefined }],
    ['a column that Lance cannot hold', { lance: { problem: 'x' } }],
    ['files of a writer of Lance', { lance: { fileSize: 900, fields: [0, 1], origin } }],
    ['a name that is no id of a file', { file: 'no id of a file' }],
    ['more bytes for Lance than it has', { lance: { fileSize: 901, fields: [0, 1] } }],
  ])('are none where one has %s: first, between others and last', (_, more) => {
    for (const at of [0, 1, 2]) {
      const entries = [0, 1, 2].map((id) => fragment(id, id === at ? more : {}));
      expect(outlinesOf(entries)).toBeUndefined();
    }
  });

  test('are none of a chunk in another form, or with another number of entries', () => {
    const { bytes, entry } = encodeChunk('66666666-7777', [fragment(0), fragment(1)]);
    expect(drained(chunkOutlines(bytes, { ...entry, fragments: 3 }, FILE))).toBeUndefined();
    const text = Buffer.from(bytes).toString();
    const list = text.slice(text.indexOf('['), text.indexOf('],"blocks"') + 1);
    const forms: Record<string, unknown>[] = [
      { fragments: JSON.parse(list) },
      { fragments: JSON.parse(list), other: 1 },
      { fragments: [...JSON.parse(list), {}] },
      { other: 1, fragments: JSON.parse(list) },
      { fragments: [] },
    ];
    const read = forms.map((form) => {
      const { bytes, checksum } = encodeChecksummed(form);
      const of = { file: 'x', checksum, size: bytes.length, firstId: 0, lastId: 1 };
      const whole = { ...entry, ...of, index: undefined };
      return drained(chunkOutlines(bytes, whole, FILE))?.length;
    });
    expect(read).toEqual([2, undefined, undefined, undefined, undefined]);
  });

  test('are refused where the bytes are others than those of the chunk', () => {
    const { bytes, entry } = encodeChunk('66666666-7777', [fragment(0), fragment(1)]);
    const text = Buffer.from(bytes).toString();
    const refused = (given: Uint8Array, of = entry): unknown => {
      try {
        return drained(chunkOutlines(given, of, FILE));
      } catch (error) {
        return isDirspaceError(error) ? error.code : error;
      }
    };
    for (let at = 0; at < bytes.length; at++) {
      const damaged = Uint8Array.from(bytes);
      damaged[at] = (damaged[at] as number) ^ 1;
      // The quote behind the checksum, which parsing finds missing.
      const found = at === text.indexOf('",') ? undefined : 'Corrupt';
      expect([at, refused(damaged)]).toEqual([at, found]);
    }
    expect(refused(bytes, { ...entry, checksum: '00000000' })).toBe('Corrupt');
    expect(refused(bytes, { ...entry, size: entry.size + 1 })).toBe('Corrupt');
  });
});
