/** Damaged fragments are Corrupt or read the same; hostile schemas neither hang nor crash. */
import { crc32 } from 'node:zlib';
import { beforeAll, describe, expect, test } from 'vitest';
import { Dictionary, Field, Int32, Int64, List, Schema, Utf8 } from '../../src/arrow/apache.ts';
import {
  columnRanges,
  decodeBatch,
  decodeDictionaries,
  decodeFragment,
  dictionaryIds,
  dictionaryRanges,
} from '../../src/format/fragment/fragment-decoder.ts';
import {
  encodeFragment,
  type FragmentSummary,
} from '../../src/format/fragment/fragment-encoder.ts';
import { decodeFooter } from '../../src/format/fragment/fragment-footer.ts';
import { everyType, exactValues, randomBatch } from '../helpers/arrow-samples.ts';
import { bitsOf, casesOf, placesOf } from '../helpers/long.ts';
import { expectSame } from '../helpers/same.ts';
import { seeded } from '../helpers/seeded.ts';

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
    for (const bit of bitsOf(bytes.length, 31)) {
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
    for (const bit of bitsOf(bytes.length, 31)) {
      try {
        expectSame(readRanged(flip(bytes, bit)), expected);
        unread += 1;
      } catch (error) {
        expect(error).toMatchObject({ code: 'Corrupt', message: expect.stringContaining('f') });
      }
    }
    expect(unread).toBeGreaterThan(0);
  });

  test('every truncation is noticed', () => {
    for (const length of placesOf(bytes.length, 3)) {
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
  interface Made {
    readonly bytes: Uint8Array;
    readonly summary: FragmentSummary;
  }

  type Kind = 'refused' | 'unreadable' | 'read';

  /** What a forged footer leads to. Throws where it is neither refused nor one to read with. */
  function outcome({ bytes, summary }: Made, tail: Uint8Array, decode: boolean): Kind {
    const footer = orCorrupt(() =>
      decodeFooter(tail, { ...summary, footerChecksum: crc32(tail) }, 'f'),
    );
    if (footer === undefined) return 'refused';
    expect(footer.rows).toBe(summary.rows);
    // What it lists stands in its bytes, which bounds the work of whoever follows the lists.
    expect(footer.batches.length + footer.schema.fields.length).toBeLessThan(tail.length);
    const columns = footer.schema.fields.map((_, at) => at);
    let outcome: Kind = 'read';
    for (const [at, batch] of footer.batches.entries()) {
      const ranges = columnRanges(footer, at, columns);
      const end = bytes.length - tail.length;
      const within = ranges.every(({ offset, length }) => offset >= 0 && offset + length <= end);
      expect(within).toBe(true);
      if (!decode) continue;
      const decoded = orCorrupt(() => {
        const cut = (range: { offset: number; length: number }): Uint8Array =>
          bytes.slice(range.offset, range.offset + range.length);
        const ids = dictionaryIds(footer, columns);
        const dictionaries = decodeDictionaries(
          footer,
          ids,
          dictionaryRanges(footer, ids).map(cut),
        );
        return decodeBatch(footer, at, columns, ranges.map(cut), dictionaries);
      });
      if (decoded === undefined) outcome = 'unreadable';
      else expect(decoded.numRows).toBe(batch.rows);
    }
    return outcome;
  }

  /** Undefined after an error, which must be of damage, or of a newer layout, and name the file. */
  function orCorrupt<Result>(work: () => Result): Result | undefined {
    try {
      return work();
    } catch (error) {
      expect(error).toMatchObject({
        code: expect.stringMatching(/^(Corrupt|UnsupportedFormat)$/),
        message: expect.stringContaining('f'),
      });
      return undefined;
    }
  }

  /** @param decode also the batches, where the footer is taken */
  function tally(made: Made, tails: Iterable<Uint8Array>, decode = true): Record<Kind, number> {
    const found: Record<Kind, number> = { refused: 0, unreadable: 0, read: 0 };
    for (const tail of tails) found[outcome(made, tail, decode)] += 1;
    return found;
  }

  const tailOf = ({ bytes, summary }: Made): Uint8Array =>
    bytes.slice(bytes.length - summary.footerBytes);

  function* flips(tail: Uint8Array): Generator<Uint8Array> {
    for (const bit of bitsOf(tail.length, 9)) yield flip(tail, bit);
  }

  function* stamps(tail: Uint8Array): Generator<Uint8Array> {
    for (const [first, word] of [0x7fffffff, 0xffffffff, 0x10000, 4].entries()) {
      for (const place of placesOf(Math.floor(tail.length / 4), 6, first)) {
        const copy = tail.slice();
        new DataView(copy.buffer).setUint32(4 * place, word, true);
        yield copy;
      }
    }
  }

  test('the footer as it is reads', () => {
    expect(tally({ bytes, summary }, [tailOf({ bytes, summary })])).toMatchObject({ read: 1 });
  });

  test('every flipped bit gives a typed error, or a footer that its bytes hold', () => {
    const made = { bytes, summary };
    const { refused, unreadable, read } = tally(made, flips(tailOf(made)));
    // What is read differs in names and metadata, which only the checksum guards.
    expect(refused + unreadable).toBeGreaterThan(read);
    expect(unreadable).toBeGreaterThan(casesOf(20, 100));
  });

  test('stamped words too, over the schema of every type', () => {
    const wide = everyType();
    const made = encodeFragment(wide, [randomBatch(wide, 3, seeded(2))]);
    const { refused, read } = tally(made, stamps(tailOf(made)), false);
    expect(refused).toBeGreaterThan(2 * read);
  });
});
