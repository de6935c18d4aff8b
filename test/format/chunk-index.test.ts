/** The index of a chunk file: every entry found through it, and every wrong one noticed. */
import { crc32 } from 'node:zlib';
import { describe, expect, test } from 'vitest';
import { isDirspaceError } from '../../src/errors.ts';
import {
  checkChunk,
  type EncodedBlock,
  encodeChunkInSteps,
} from '../../src/format/catalog/chunk.ts';
import {
  decodeChunkBlock,
  decodeChunkIndex,
  extentOf,
} from '../../src/format/catalog/chunk-index.ts';
import type { FragmentEntry } from '../../src/format/catalog/fragment-entry.ts';
import { drained } from '../../src/steps.ts';
import { encodeChunk } from '../helpers/chunks.ts';

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
  ...more,
});
const deletion = { file: '22222222', rows: 3, bytes: 50, checksum: 5 };

function failure(run: () => unknown): string {
  try {
    run();
  } catch (error) {
    if (!isDirspaceError(error)) throw error;
    return `${error.code}: ${error.message}`;
  }
  return 'nothing';
}

describe('the index of a chunk', () => {
  /** Of several blocks, whose texts have letters of more than one byte. */
  const entries = () =>
    Array.from({ length: 40 }, (_, at) =>
      fragment(2 * at, {
        statistics: [[0, 'ä€'.repeat(200 + at), 2], null],
        ...(at % 7 === 0 ? { deletion } : {}),
      }),
    );
  const made = () => {
    const { bytes, entry } = encodeChunk('66666666-7777', entries());
    const { offset, bytes: length } = entry.index ?? { offset: 0, bytes: 0 };
    return { bytes, entry, index: bytes.subarray(offset, offset + length) };
  };

  test('leads to the entries of each block, which cover the chunk', () => {
    const { bytes, entry, index } = made();
    const blocks = decodeChunkIndex(index, entry, FILE);
    expect(blocks.length).toBeGreaterThan(2);
    const found = blocks.map((block) =>
      decodeChunkBlock(bytes.subarray(block.offset, block.offset + block.bytes), block, FILE),
    );
    expect(found.flat()).toEqual(entries());
    for (const [at, block] of blocks.entries()) {
      const { fragments, rows, deletedRows, firstId, lastId } = block;
      expect({ fragments, rows, deletedRows, firstId, lastId }).toEqual(extentOf(found[at] ?? []));
    }
    checkChunk(bytes, entry, entries(), FILE);
  });

  test('is made of blocks of another chunk where their entries stay', () => {
    const { bytes, entry, index } = made();
    const blocks = decodeChunkIndex(index, entry, FILE);
    const changed = entries();
    const inSecond = blocks[0]?.fragments ?? 0;
    changed[inSecond] = { ...(changed[inSecond] as FragmentEntry), rows: 11 };
    for (const stays of [[0], [0, 2], [...blocks.keys()].filter((at) => at !== 1)]) {
      const encoded = new Map<number, EncodedBlock>();
      const kept = new Set(stays);
      let first = 0;
      for (const [at, block] of blocks.entries()) {
        const text = bytes.subarray(block.offset, block.offset + block.bytes);
        if (kept.has(at)) encoded.set(first, { block, bytes: text });
        first += block.fragments;
      }
      const again = drained(encodeChunkInSteps('66666666-7777', changed, encoded));
      const { offset = 0, bytes: length = 0 } = again.entry.index ?? {};
      const found = decodeChunkIndex(
        again.bytes.subarray(offset, offset + length),
        again.entry,
        FILE,
      );
      expect(
        found.flatMap((block) =>
          decodeChunkBlock(
            again.bytes.subarray(block.offset, block.offset + block.bytes),
            block,
            FILE,
          ),
        ),
      ).toEqual(changed);
      checkChunk(again.bytes, again.entry, changed, FILE);
    }
  });

  test('is not used with another checksum, place or counts', () => {
    const { entry, index } = made();
    const its = entry.index;
    if (its === undefined) throw new Error('no index');
    const changes: [Partial<typeof its>, string][] = [
      [{ checksum: 1 }, 'does not match its checksum'],
      [{ bytes: its.bytes + 1 }, 'does not match its checksum'],
      [{ offset: its.offset + 1 }, 'do not cover its entries'],
      [{ rows: its.rows + 1 }, 'other counts'],
      [{ deletedRows: 0 }, 'other counts'],
    ];
    for (const [change, what] of changes) {
      const wrong = { ...entry, index: { ...its, ...change } };
      expect(failure(() => decodeChunkIndex(index, wrong, FILE))).toContain(what);
    }
    for (const change of [{ fragments: 39 }, { firstId: 1 }, { lastId: 77 }]) {
      const wrong = { ...entry, ...change };
      expect(failure(() => decodeChunkIndex(index, wrong, FILE))).toMatch(/other counts|has ids/);
    }
    const without = { ...entry, index: undefined };
    expect(failure(() => decodeChunkIndex(index, without, FILE))).toContain('checksum');
  });

  test('with a bit flipped is refused, also where its checksum fits', () => {
    const { bytes, entry, index } = made();
    const its = entry.index;
    if (its === undefined) throw new Error('no index');
    const blocks = decodeChunkIndex(index, entry, FILE);
    for (let at = 0; at < index.length; at++) {
      const wrong = Uint8Array.from(index);
      wrong[at] = (wrong[at] as number) ^ (1 << (at % 7));
      expect(failure(() => decodeChunkIndex(wrong, entry, FILE))).toContain('checksum');
      const forged = { ...entry, index: { ...its, checksum: crc32(wrong) } };
      const whole = Uint8Array.from(bytes);
      whole.set(wrong, its.offset);
      // An id within the chunk's range, or a checksum: noticed where the block is read.
      const found = failure(() => {
        for (const block of decodeChunkIndex(wrong, forged, FILE)) {
          decodeChunkBlock(whole.subarray(block.offset, block.offset + block.bytes), block, FILE);
        }
      });
      expect(found).toContain('Corrupt');
      expect(failure(() => checkChunk(whole, forged, entries(), FILE))).toContain('Corrupt');
    }
    expect(blocks).toEqual(decodeChunkIndex(index, entry, FILE));
  });

  test('a block with a byte changed, cut off, or of other fragments is refused', () => {
    const { bytes, entry, index } = made();
    const [first, second] = decodeChunkIndex(index, entry, FILE);
    if (first === undefined || second === undefined) throw new Error('one block');
    const text = Uint8Array.from(bytes.subarray(first.offset, first.offset + first.bytes));
    const decode = (part: Uint8Array, block = first) =>
      failure(() => decodeChunkBlock(part, block, FILE));
    expect(decode(text.subarray(1))).toContain('do not match their checksum');
    expect(decode(text, second)).toContain('do not match their checksum');
    expect(decode(text, { ...first, rows: first.rows + 1 })).toContain('not those of its index');
    expect(decode(text, { ...first, lastId: 9_999 })).toContain('not those of its index');
    text[5] = 0;
    expect(decode(text)).toContain('do not match their checksum');
    expect(decode(text, { ...first, checksum: crc32(text) })).toContain('not JSON');
    const other = entries();
    other[3] = { ...(other[3] as FragmentEntry), rows: 11 };
    expect(failure(() => checkChunk(bytes, entry, other, FILE))).toContain('something else');
    expect(failure(() => checkChunk(bytes, { ...entry, firstId: 1 }, entries(), FILE))).toContain(
      'other ids',
    );
    // Chunks of older releases have none.
    const { index: _, ...plain } = entry;
    expect(failure(() => checkChunk(bytes, plain, entries(), FILE))).toBe('nothing');
  });
});
