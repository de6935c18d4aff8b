/** Metadata files that were cut, flipped or forged: what was written, or a typed error. */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { decodeChunkInSteps, encodeChunkInSteps } from '../../src/format/catalog/chunk.ts';
import { entryFile, type FragmentEntry } from '../../src/format/catalog/fragment-entry.ts';
import { INDEXES_FEATURE } from '../../src/format/catalog/index-entry.ts';
import {
  decodeVersion,
  encodeManifest,
  encodeTombstone,
  type Manifest,
} from '../../src/format/catalog/manifest.ts';
import { decodeFormat, encodeFormat } from '../../src/format/catalog/records.ts';
import { encodeChecksummed, parseChecksummed, parseJson } from '../../src/json.ts';
import { decodeChunk, encodeChunk } from '../helpers/chunks.ts';
import { checksummedText, withFlippedBit } from '../helpers/damage.ts';
import { casesOf } from '../helpers/long.ts';
import {
  fragmentEntry as fragment,
  METADATA_SAMPLES,
  sampleManifest as manifest,
  oddProperties as odd,
} from '../helpers/metadata-samples.ts';

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

test('the indexes that a manifest lists come back with it, and older releases leave it alone', () => {
  const file = { file: '88888888-aaaa', rows: 10, bytes: 900, footerBytes: 90, footerChecksum: 5 };
  const runs = [{ fragment: 2, rows: 10, stamp: 77 }];
  const index = { id: '99999999-aaaa', name: 'id_idx', type: 'BTREE', fields: [0], parameters: {} };
  const indexes = [{ ...index, created: 1_700_000_000_000, segments: [{ runs, files: [file] }] }];
  const { bytes } = encodeManifest({ ...manifest, indexes });
  expect(decodeVersion(bytes, 'm')).toMatchObject({ manifest: { ...manifest, indexes } });
  expect(JSON.parse(Buffer.from(bytes).toString()).features).toContain(INDEXES_FEATURE);
  // A file of an index is read like a fragment, from a folder of its own.
  expect(entryFile('t.table', file)).toBe('t.table/data/88888888-aaaa.arrow');
  expect(entryFile('t.table', { ...file, isOfIndex: true })).toBe(
    't.table/indexes/88888888-aaaa.arrow',
  );
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
    const code = codeOf(() => decodeVersion(withFlippedBit(whole, bit), 'm'));
    if (code !== 'Corrupt') expect({ bit, code }).toEqual({ bit, code: 'Corrupt' });
  }
});

const withoutChecksum = (): Record<string, unknown> => {
  const document = JSON.parse(Buffer.from(whole).toString()) as Record<string, unknown>;
  delete document.checksum;
  return document;
};

/** The document as if somebody had forged it: with a checksum that is right. */
const forged = (change: (document: Record<string, unknown>) => void): Uint8Array => {
  const document = withoutChecksum();
  change(document);
  return encodeChecksummed(document).bytes;
};

const JUNK: readonly unknown[] = [
  ...[null, true, -1, 1.5, -0, 2 ** 53, 1e300, '', 'x', '../../x', [], {}, [null], [[]], { a: 1 }],
];

test('fields of a schema are left to whoever reads it, whatever they are', () => {
  const bytes = forged((document) => {
    document.schema = { fields: [null, {}] };
  });
  const found = decodeVersion(bytes, 'm');
  expect('manifest' in found && decodeVersion(encodeManifest(found.manifest).bytes, 'm')).toEqual({
    ...found,
    checksum: expect.any(String),
    bytes: expect.any(Number),
  });
});

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

describe('members for Lance', () => {
  const origin = [{ path: 'data/a.lance', fileSize: 90, fields: [0, 1, 2], columns: [0, -1, 1] }];
  const full: Manifest = {
    ...manifest,
    lance: true,
    lanceWrites: true,
    lanceIds: new Map([
      [0, 4],
      [1, 0],
    ]),
    lanceReserved: [[5, 7]],
    lanceTransaction: 'AAEC',
    totals: { ...manifest.totals, fragments: 6, lanceFragments: 3 },
    fragments: [
      { ...fragment(2), lance: { fileSize: 900, fields: [0, 1] } },
      { ...fragment(3), lance: { fileSize: 900, fields: [0, 1, 2] } },
      { ...fragment(4), lance: { problem: 'a dictionary', inValues: true } },
      {
        ...fragment(5),
        deletion: { file: '22222222', rows: 3, bytes: 50, checksum: 5, origin: '5-1-7.arrow' },
        lance: { fileSize: 900, fields: [0, 1], origin },
      },
    ],
  };
  const bytes = encodeManifest(full).bytes;
  const text = Buffer.from(bytes).toString();
  type Documents = Record<string, unknown> & { fragments: { lance: Record<string, unknown> }[] };
  const changed = (change: (document: Documents) => void): unknown => {
    const { checksum, ...document } = JSON.parse(text) as Documents & { checksum: string };
    change(document as Documents);
    return decodeVersion(encodeChecksummed(document).bytes, 'm');
  };

  test('come back as they went in, and are left out where there are none', () => {
    expect(decodeVersion(bytes, 'm')).toMatchObject({ manifest: full });
    const document = JSON.parse(text) as Documents;
    // Where the fields are the columns themselves.
    expect(document.fragments[0]?.lance).toEqual({ bytes: 900 });
    expect(Buffer.from(whole).toString()).not.toMatch(/"lance/);
    for (const lance of [false, undefined]) {
      const found = decodeVersion(encodeManifest({ ...manifest, lance }).bytes, 'm');
      expect('manifest' in found && found.manifest.lance).toBe(lance);
    }
    expect(changed((one) => Object.assign(one, { lance_writes: 1 }))).not.toHaveProperty(
      'manifest.lanceWrites',
    );
  });

  test.each<[string, object, RegExp]>([
    ['lance', { features: [], lance: true }, /lance is something else than false/],
    [
      'an id twice',
      {
        lance_ids: [
          [0, 4],
          [0, 5],
        ],
      },
      /lance_ids names a field twice/,
    ],
    [
      "an id of Lance's twice",
      {
        lance_ids: [
          [0, 4],
          [1, 4],
        ],
      },
      /lance_ids names a field twice/,
    ],
    ['ids that are no list', { lance_ids: {} }, /lance_ids/],
    ['an id without another', { lance_ids: [[0]] }, /lance_ids holds something else than pairs/],
    ['three of them', { lance_ids: [[0, 1, 2]] }, /lance_ids holds something else than pairs/],
    ['no pair', { lance_reserved: [7] }, /lance_reserved holds something else than pairs/],
    ['a first that is none', { lance_reserved: [['0', 1]] }, /lance_reserved holds something/],
    ['an end that is none', { lance_reserved: [[0, -1]] }, /lance_reserved holds something/],
    ['a transaction', { lance_transaction: 7 }, /lance_transaction/],
  ])('%s that is wrong is named', (_, members, message) => {
    expect(() => changed((document) => Object.assign(document, members))).toThrow(message);
  });

  test('more fragments for Lance than there are', () => {
    const totals = { ...full.totals, lanceFragments: 7 };
    const wrong = encodeManifest({ ...full, totals }).bytes;
    expect(() => decodeVersion(wrong, 'm')).toThrow(/Lance reads more fragments than there are/);
  });

  test('the features that fragments need are named as long as one does', () => {
    const deletion = { file: '22222222', rows: 3, bytes: 12, checksum: 5, offset: 512 };
    const features = { shared_deletions: 1 };
    const totals = { ...full.totals, features };
    const fragments = [{ ...(full.fragments[0] as FragmentEntry), deletion }];
    const shared = { ...manifest, totals: { ...totals, fragments: 3 }, fragments };
    const encoded = encodeManifest(shared).bytes;
    expect(decodeVersion(encoded, 'm')).toMatchObject({ manifest: shared });
    const { features: named } = JSON.parse(Buffer.from(encoded).toString()) as Documents;
    expect(named).toEqual(['shared_deletions']);
    const lance = { ...full, totals: { ...full.totals, features } };
    expect(Buffer.from(encodeManifest(lance).bytes).toString()).toContain(
      '"features":["lance","shared_deletions"]',
    );
    const many = forged((document) => {
      Object.assign(document.totals as object, { features: { shared_deletions: 5 } });
    });
    expect(() => decodeVersion(many, 'm')).toThrow(/more fragments need shared_deletions than/);
  });

  test('a count of a feature that no fragment can need', () => {
    const totals = { ...full.totals, features: { teleport: 1 } };
    const wrong = forged((document) =>
      Object.assign(document.totals as object, { features: totals.features }),
    );
    expect(() => decodeVersion(wrong, 'm')).toThrow(/its totals count the feature teleport/);
  });

  test.each<[string, object, RegExp]>([
    ['a size beyond the footer', { bytes: 901 }, /ends behind its footer/],
    ['fields', { fields: [-1] }, /fields of a fragment holds something else than field ids/],
    ['a problem', { problem: 7 }, /problem/],
    ['an origin that is no list', { origin: {} }, /origin/],
    ['a file of it', { origin: [7] }, /a file of origin/],
    [
      'columns of it',
      { origin: [{ path: 'a', bytes: 1, fields: [0], columns: [0.5] }] },
      /columns of a file of origin holds something else than whole numbers/,
    ],
    ['a path of it', { origin: [{ path: 7, bytes: 1, fields: [], columns: [] }] }, /path/],
  ])('of a fragment, %s that is wrong is named', (_, members, message) => {
    expect(() =>
      changed(({ fragments }) => Object.assign(fragments[0]?.lance as object, members)),
    ).toThrow(message);
  });
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

const RECORDS = METADATA_SAMPLES.filter(
  ({ kind, checksummed }) => kind !== 'manifest' && checksummed,
);

test.each(RECORDS)('a $kind: comes back, and damage is noticed', ({ bytes, decode, encode }) => {
  expect(decode(new Uint8Array(encode(decode(bytes))))).toEqual(decode(bytes));
  for (let length = 0; length < bytes.length; length++) {
    expect(codeOf(() => decode(bytes.slice(0, length)))).toBe('Corrupt');
  }
  for (let bit = 0; bit < bytes.length * 8; bit++) {
    expect(
      codeOf(() => decode(withFlippedBit(bytes, bit))),
      `bit ${bit}`,
    ).toBe('Corrupt');
  }
});

test('numbers that are no counts are named, also where they are ids', () => {
  for (const [member, value] of [
    ['field_ids', '[-0]'],
    ['field_ids', '[-1]'],
    ['version', '-0'],
    ['version', '1e400'],
  ] as const) {
    const text = JSON.stringify(withoutChecksum()).replace(
      new RegExp(`"${member}":(?:\\[[^\\]]*\\]|\\d+)`),
      `"${member}":${value}`,
    );
    expect(text).toContain(value);
    expect(() => decodeVersion(checksummedText(text), 'm')).toThrow(new RegExp(member));
  }
  const text = JSON.stringify(withoutChecksum()).replace('"fields":[0,1]', '"fields":[-0,-1]');
  expect(() => decodeVersion(checksummedText(text), 'm')).toThrow(/fields of a fragment/);
});

test('a decision that is none of the two is damage', () => {
  const decision = METADATA_SAMPLES.find(({ kind }) => kind === 'decision');
  const decode = (text: string): unknown => decision?.decode(checksummedText(text));
  expect(decode('{"format":1,"outcome":"aborted"}')).toBe('aborted');
  expect(() => decode('{"format":1,"outcome":"maybe"}')).toThrow(/its outcome is maybe/);
  expect(codeOf(() => decode('{"format":2,"outcome":"aborted"}'))).toBe('UnsupportedFormat');
});

test('format.json comes back, and random bytes are typed errors', () => {
  const record = { foldsCase: true, properties: { managed_versioning: 'true' } };
  expect(decodeFormat(encodeFormat(record), 'f')).toEqual(record);
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 200 }), (bytes) => {
      expect(codeOf(() => decodeFormat(bytes, 'f'))).toBe('Corrupt');
      expect(codeOf(() => decodeVersion(bytes, 'f'))).toBe('Corrupt');
    }),
    { numRuns: casesOf(200, 500) },
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
  expect(() => decodeChunk(bytes, { ...entry, fragments: 3 }, 'c')).toThrow(
    /lists 2 fragments, not 3/,
  );
  const other = encodeChunk('66666666-7777', [fragment(4), fragment(8)]);
  expect(codeOf(() => decodeChunk(other.bytes, entry, 'c'))).toBe('Corrupt');
});

test('many entries of a short chunk are looked at in steps too', () => {
  const entries = Array.from({ length: 200 }, (_, at) => fragment(at));
  const { entry, bytes } = encodeChunk('66666666-7777', entries);
  const steps = decodeChunkInSteps(bytes, entry, 'c');
  let taken = 0;
  for (let next = steps.next(); ; next = steps.next()) {
    if (next.done === true) {
      expect(next.value).toEqual(entries);
      break;
    }
    taken += 1;
  }
  expect(bytes.length).toBeLessThan(1 << 17);
  expect(taken).toBeGreaterThanOrEqual(3);
});

test('a long chunk is written and read in steps, and is the same, or Corrupt', () => {
  const wide = (id: number) => ({
    ...fragment(id),
    fields: Array.from({ length: 2_000 }, (_, at) => at),
    statistics: Array.from({ length: 2_000 }, (_, at) => [8, 0, at, `"\\},{${at}`]),
  });
  const entries = Array.from({ length: 60 }, (_, at) => wide(at));
  const counted = <Result>(steps: Generator<undefined, Result>): [number, Result] => {
    for (let count = 0; ; count++) {
      const { done, value } = steps.next();
      if (done === true) return [count, value];
    }
  };
  const [encodingSteps, { entry, ...encoded }] = counted(
    encodeChunkInSteps('66666666-7777', entries),
  );
  const bytes = new Uint8Array(encoded.bytes);
  expect(JSON.parse(Buffer.from(bytes).toString()).fragments).toHaveLength(60);
  expect(Buffer.compare(encodeChunk('66666666-7777', entries).bytes, bytes)).toBe(0);
  const [decodingSteps, decoded] = counted(decodeChunkInSteps(bytes, entry, 'c'));
  expect(decoded).toEqual(entries);
  // Of about as many bytes each, so that none is long.
  expect(encodingSteps).toBeGreaterThan(bytes.length / 2 ** 18);
  expect(decodingSteps).toBeGreaterThan(bytes.length / 2 ** 15);
  for (const at of [0, 30, 1_000, bytes.length - 100]) {
    const wrong = withFlippedBit(bytes, at * 8);
    expect(codeOf(() => decodeChunk(wrong, entry, 'c'))).toBe('Corrupt');
  }
  for (const text of [']}', '}', '"', '{"fragments":[', '{"fragments":7}', '[]']) {
    const padded = `${' '.repeat(1 << 18)}${text}`;
    const forged = checksummedText(padded);
    const checksum = Buffer.from(forged).toString('latin1', 19, 27);
    const claim = { ...entry, size: forged.length, checksum };
    expect(
      codeOf(() => decodeChunk(forged, claim, 'c')),
      text,
    ).toBe('Corrupt');
  }
});
