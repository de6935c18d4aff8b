/** Damaged fragments are Corrupt or read the same; hostile schemas neither hang nor crash. */
import { crc32 } from 'node:zlib';
import { beforeAll, describe, expect, test } from 'vitest';
import { Dictionary, Field, Int32, Int64, List, Schema, Utf8 } from '../src/arrow.ts';
import {
  columnRanges,
  decodeBatch,
  decodeDictionaries,
  decodeFragment,
  dictionaryIds,
  dictionaryRanges,
} from '../src/format/fragment-decoder.ts';
import { encodeFragment, type FragmentSummary } from '../src/format/fragment-encoder.ts';
import { decodeFooter } from '../src/format/fragment-footer.ts';
import { everyType, exactValues, randomBatch } from './helpers/arrow-samples.ts';
import { seeded } from './helpers/seeded.ts';

const schema = new Schema(
  [
    new Field('id', new Int64(), true),
    new Field('text', new Utf8(), true),
    new Field('kind', new Dictionary(new Utf8(), new Int32()), true),
    new Field('list', new List(new Field('item', new Int32(), true)), true),
  ],
  new Map([['key', 'value']]),
);

let bytes: Uint8Array;
let summary: FragmentSummary;
let expected: unknown[][];

beforeAll(() => {
  const random = seeded(11);
  const batches = [randomBatch(schema, 10, random), randomBatch(schema, 5, random)];
  ({ bytes, summary } = encodeFragment(schema, batches));
  expected = exactValues(batches);
});

/** What the ranged path reads out of a file. */
function readRanged(file: Uint8Array, name = 'f'): unknown[][] {
  const at = (range: { offset: number; length: number }): Uint8Array =>
    file.slice(range.offset, range.offset + range.length);
  const tail = file.slice(Math.max(0, file.length - summary.footerBytes));
  const footer = decodeFooter(tail, summary, name);
  const columns = [0, 1, 2, 3];
  const ids = dictionaryIds(footer, columns);
  const dictionaries = decodeDictionaries(footer, ids, dictionaryRanges(footer, ids).map(at));
  return exactValues(
    footer.batches.map((_, batch) => {
      const chunks = columnRanges(footer, batch, columns).map(at);
      return decodeBatch(footer, batch, columns, chunks, dictionaries);
    }),
  );
}

const readWhole = (file: Uint8Array): unknown[][] =>
  exactValues(decodeFragment(file, summary, 'f').batches);

function flip(source: Uint8Array, bit: number): Uint8Array {
  const copy = source.slice();
  copy[bit >> 3] = (copy[bit >> 3] as number) ^ (1 << (bit & 7));
  return copy;
}

describe('with the checksum of the footer known', () => {
  test('the undamaged file reads the same both ways', () => {
    expect(readWhole(bytes)).toEqual(expected);
    expect(readRanged(bytes)).toEqual(expected);
  });

  test('every flipped bit of the whole file is noticed', () => {
    for (let bit = 0; bit < bytes.length * 8; bit += 1) {
      let error: unknown;
      try {
        readWhole(flip(bytes, bit));
      } catch (thrown) {
        error = thrown;
      }
      if ((error as { code?: string } | undefined)?.code !== 'Corrupt') {
        expect.fail(`bit ${bit} of byte ${bit >> 3}: ${String(error)}`);
      }
    }
  });

  test('every flipped bit is noticed by the ranged path, or lies in what it does not read', () => {
    let unread = 0;
    for (let bit = 0; bit < bytes.length * 8; bit += 3) {
      try {
        expect(readRanged(flip(bytes, bit))).toEqual(expected);
        unread += 1;
      } catch (error) {
        expect(error).toMatchObject({ code: 'Corrupt', message: expect.stringContaining('f') });
      }
    }
    expect(unread).toBeGreaterThan(0);
  });

  test('every truncation is noticed', () => {
    for (let length = 0; length < bytes.length; length += 1) {
      const cut = bytes.slice(0, length);
      expect(() => readWhole(cut)).toThrow(expect.objectContaining({ code: 'Corrupt' }));
      expect(() => readRanged(cut)).toThrow(expect.objectContaining({ code: 'Corrupt' }));
    }
  });

  test('another number of rows than the manifest says is noticed', () => {
    expect(() => decodeFragment(bytes, { ...summary, rows: 16 }, 'some-name')).toThrow(
      /some-name.*15 rows instead of 16/,
    );
  });
});

describe('with a footer forged to match its checksum', () => {
  const forged = (tail: Uint8Array): void => {
    let footer: ReturnType<typeof decodeFooter>;
    try {
      footer = decodeFooter(tail, { ...summary, footerChecksum: crc32(tail) }, 'f');
    } catch (error) {
      expect(error).toMatchObject({ code: 'Corrupt' });
      return;
    }
    // What it lists stands in its bytes, which bounds the work of whoever follows the lists.
    expect(footer.batches.length + footer.schema.fields.length).toBeLessThan(tail.length);
  };

  test('every flipped bit gives a typed error, or a footer that its bytes hold', () => {
    const tail = bytes.slice(bytes.length - summary.footerBytes);
    for (let bit = 0; bit < tail.length * 8; bit += 1) forged(flip(tail, bit));
  });

  test('stamped words too, over the schema of every type', () => {
    const wide = everyType();
    const made = encodeFragment(wide, [randomBatch(wide, 3, seeded(2))]);
    const tail = made.bytes.slice(made.bytes.length - made.summary.footerBytes);
    for (let at = 0; at + 4 <= tail.length; at += 4) {
      for (const word of [0x7fffffff, 0xffffffff, 0x10000, 4]) {
        const copy = tail.slice();
        new DataView(copy.buffer).setUint32(at, word, true);
        try {
          decodeFooter(copy, { ...made.summary, footerChecksum: crc32(copy) }, 'f');
        } catch (error) {
          expect(error).toMatchObject({ code: 'Corrupt' });
        }
      }
    }
  });
});
