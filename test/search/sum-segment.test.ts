/**
 * Sums of shares by blocks and windows give the documents of naive sums, those with a phrase too, and
 * read little for them.
 */
import { describe, expect, test } from 'vitest';
import { PositionReader, sealPositions } from '../../src/search/phrases.ts';
import { BadPostings, BlockReader, sealPostings } from '../../src/search/postings.ts';
import { termShare } from '../../src/search/scores.ts';
import type { PlannedPhrase } from '../../src/search/search-plan.ts';
import { impactsOf } from '../../src/search/segment-scores.ts';
import { type SlotBlocks, sumSegment } from '../../src/search/sum-segment.ts';
import { TopRows } from '../../src/search/top-rows.ts';
import { drained } from '../../src/steps.ts';
import { casesOf } from '../helpers/long.ts';
import { seeded } from '../helpers/seeded.ts';

const ROWS = 14_000;
const random = seeded(11);

/** A word in about so many of the documents, in some stretches more often than in others. */
function postingsOf(share: number): Map<number, number> {
  const found = new Map<number, number>();
  for (let document = 0; document < ROWS; document++) {
    const isDense = Math.floor(document / 700) % 3 === 0;
    if (random() < share * (isDense ? 2 : 0.5)) {
      found.set(document, random() < 0.9 ? 1 : 2 + Math.floor(random() * 6));
    }
  }
  if (found.size === 0) found.set(Math.floor(random() * ROWS), 1);
  return found;
}

function groupsOfBits(value: number, bytes: number[]): void {
  let left = value;
  for (; left >= 0x80; left = Math.floor(left / 0x80)) bytes.push((left % 0x80) | 0x80);
  bytes.push(left);
}

function bytesOf(postings: ReadonlyMap<number, number>): Uint8Array {
  const bytes: number[] = [];
  let before = -1;
  for (const [document, count] of postings) {
    groupsOfBits(2 * (document - before - 1) + (count > 1 ? 1 : 0), bytes);
    if (count > 1) groupsOfBits(count - 2, bytes);
    before = document;
  }
  return Uint8Array.from(bytes);
}

const lengths = Uint32Array.from({ length: ROWS }, () =>
  random() < 0.01 ? 1_000 + Math.floor(random() * 100) : 5 + Math.floor(random() * 30),
);
const BUILT = lengths.reduce((sum, length) => sum + length, 0) / ROWS;

const WORDS = [0.5, 0.45, 0.2, 0.03, 0.004, 0.0005, 0].map((share) => postingsOf(share));
// One that ends in the middle of a window.
WORDS.push(new Map([...postingsOf(0.6)].filter(([document]) => document < 6_000)));
/** Where each word stands in each document that has it. */
const POSITIONS = WORDS.map((word) => {
  const places = (count: number): number[] => {
    const found = Array.from({ length: count }, () => Math.floor(random() * 9));
    return [...new Set(found)].sort((one, other) => one - other);
  };
  return new Map([...word].map(([document, count]) => [document, places(count)]));
});
// A word is as often in a document as it has places there.
for (const [slot, word] of WORDS.entries()) {
  for (const [document, places] of POSITIONS[slot] ?? []) word.set(document, places.length);
}
const PLACED = WORDS.map((word, slot) => {
  const bytes = [...(POSITIONS[slot] ?? []).values()].flatMap((places) =>
    places.map((place, at) => place - (places[at - 1] ?? 0)),
  );
  return sealPositions(Uint8Array.from(bytes), bytesOf(word), word.size);
});
const SEALED = WORDS.map((word) => sealPostings(bytesOf(word), word.size, lengths, BUILT));
const blocksOf = (slot: number, sealed = SEALED[slot] as Uint8Array): SlotBlocks => {
  const documents = WORDS[slot]?.size as number;
  const positions = PositionReader.sealed(PLACED[slot] as Uint8Array, documents);
  const blocks = new BlockReader(sealed, documents, ROWS);
  return { slot, documents, positions, blocks, impacts: undefined };
};
const IMPACTS = WORDS.map((_, slot) => drained(impactsOf(blocksOf(slot).blocks, lengths, BUILT)));
/** The same with impacts, for some of them. */
const withImpacts = (slot: number): SlotBlocks => ({
  ...blocksOf(slot),
  impacts: random() < 0.7 ? IMPACTS[slot] : undefined,
});

interface Asked {
  readonly words: readonly number[];
  readonly all: boolean;
  readonly limit: number;
  readonly average: number;
  readonly wanted?: Uint8Array;
  readonly phrase?: Omit<PlannedPhrase, 'slot'>;
}

const weightOf = (slot: number): number => Math.log(1 + ROWS / (WORDS[slot]?.size as number));

function isPhrase({ terms, gaps, slop }: Omit<PlannedPhrase, 'slot'>, document: number): boolean {
  const goesOn = (word: number, from: number): boolean =>
    word === terms.length ||
    (POSITIONS[terms[word] as number]?.get(document) ?? []).some((place) => {
      const more = place - from - (gaps[word - 1] as number);
      return more >= 0 && more <= slop && goesOn(word + 1, place);
    });
  const first = POSITIONS[terms[0] as number]?.get(document) ?? [];
  return first.some((place) => goesOn(1, place));
}

function naive({ words, all, limit, average, wanted, phrase }: Asked): [number, number][] {
  const found: [number, number][] = [];
  for (let document = 0; document < ROWS; document++) {
    if (wanted?.[document] === 0) continue;
    let sum = 0;
    let matched = 0;
    for (const slot of words) {
      const count = WORDS[slot]?.get(document);
      if (count === undefined) continue;
      matched += 1;
      sum += weightOf(slot) * termShare(count, lengths[document] as number, average);
    }
    if (matched === 0 || (all && matched < words.length)) continue;
    if (phrase !== undefined && !isPhrase(phrase, document)) continue;
    found.push([document, Math.fround(sum)]);
  }
  return found.sort((one, other) => other[1] - one[1] || one[0] - other[0]).slice(0, limit);
}

function searched(asked: Asked, slots = asked.words.map((slot) => blocksOf(slot))) {
  const { words, all, limit, average, wanted } = asked;
  const phrase = asked.phrase && { ...asked.phrase, slot: 99 };
  const top = new TopRows(limit);
  const weights = new Map(words.map((slot) => [slot, weightOf(slot)]));
  const documents = { rows: ROWS, lengths: [lengths], wanted, rowOf: (row: number) => row };
  const steps = sumSegment(
    documents,
    slots,
    { column: 0, average, weights, all, phrase, tree: undefined },
    BUILT,
    top,
  );
  const count = [...steps].length;
  const { rows, scores } = drained(top.finish());
  return { found: [...rows].map((row, at) => [row, scores[at]]), steps: count };
}

describe.each([false, true])('documents of any words, or of all: %s', (all) => {
  test('are those of naive sums', () => {
    for (let run = 0; run < casesOf(24, 2_000); run++) {
      const words = [...WORDS.keys()].filter(() => random() < 0.45);
      const wanted = Uint8Array.from({ length: ROWS }, () => (random() < 0.3 ? 0 : 1));
      const asked: Asked = {
        words,
        all,
        limit: [1, 10, 300, ROWS][run % 4] as number,
        average: BUILT * ([1, 0.3, 4][run % 3] as number),
        ...(run % 2 === 0 ? { wanted } : {}),
      };
      const expected = naive(asked);
      expect([words, searched(asked).found]).toEqual([words, expected]);
      expect([words, searched(asked, words.map(withImpacts)).found]).toEqual([words, expected]);
    }
  });
});

test('documents of many rare words, which are searched in larger windows, are those of naive sums', () => {
  const words = [3, ...Array.from({ length: 18 }, (_, at) => 4 + (at % 3))];
  for (const limit of [1, 10, 300, ROWS]) {
    const asked: Asked = { words, all: false, limit, average: BUILT };
    const expected = naive(asked);
    expect(searched(asked).found).toEqual(expected);
    expect(searched(asked, words.map(withImpacts)).found).toEqual(expected);
  }
});

test('documents with a phrase are those of naive sums', () => {
  let found = 0;
  for (let run = 0; run < casesOf(24, 2_000); run++) {
    const pick = (): number => Math.floor(random() ** 2 * WORDS.length);
    const terms = Array.from({ length: 2 + (run % 2) }, pick);
    const gaps = terms.slice(1).map(() => 1 + Math.floor(random() * 2));
    const asked: Asked = {
      words: [...new Set(terms)],
      all: true,
      limit: [1, 10, 300, ROWS][run % 4] as number,
      average: BUILT,
      phrase: { terms, gaps, slop: run % 3 },
    };
    const rows = searched(asked).found;
    found += rows.length;
    const expected = naive(asked);
    expect([terms, rows]).toEqual([terms, expected]);
    const again = searched(asked, asked.words.map(withImpacts)).found;
    expect([terms, again]).toEqual([terms, expected]);
  }
  expect(found).toBeGreaterThan(500);
});

test('positions are read of documents that can be among the best alone', () => {
  const reads = (limit: number): number => {
    const slots = [blocksOf(0), blocksOf(1)];
    const { positions } = slots[0] as SlotBlocks;
    let count = 0;
    const read = positions?.read.bind(positions);
    if (positions !== undefined) {
      positions.read = (...place) => {
        count += 1;
        read?.(...place);
      };
    }
    const phrase = { terms: [0, 1], gaps: [1], slop: 0 };
    searched({ words: [0, 1], all: true, limit, average: BUILT, phrase }, slots);
    return count;
  };
  expect(reads(5)).toBeLessThan(reads(ROWS) / 2);
});

test('blocks that cannot hold one of the best are not read', () => {
  const read = (asked: Omit<Asked, 'average'>): number => {
    let count = 0;
    const slots = asked.words.map((slot) => blocksOf(slot));
    for (const { blocks } of slots) {
      const { read: own } = blocks;
      blocks.read = (block) => {
        if (block !== blocks.block) count += 1;
        own.call(blocks, block);
      };
    }
    searched({ ...asked, average: BUILT }, slots);
    return count;
  };
  const blocks = (...words: number[]): number =>
    words.reduce((sum, slot) => sum + Math.ceil((WORDS[slot]?.size as number) / 128), 0);
  // A common word beside a rare one is looked up where the rare one is.
  expect(read({ words: [0, 5], all: false, limit: 3 })).toBeLessThan(blocks(0) * 0.7);
  expect(read({ words: [0, 5], all: true, limit: 1_000 })).toBeLessThan(blocks(0) / 3);
  expect(read({ words: [0], all: false, limit: 1 })).toBeLessThan(blocks(0));
});

test('an impact is the share rounded up, and 0 where there is none', () => {
  for (const [slot, impacts] of IMPACTS.entries()) {
    const expected = Array.from(lengths, (length, document) => {
      const count = WORDS[slot]?.get(document);
      return count === undefined ? 0 : Math.ceil((termShare(count, length, BUILT) / 2.2) * 255);
    });
    expect([...impacts]).toEqual(expected);
  }
});

test('with impacts few blocks are decoded', () => {
  const asked = { words: [0, 1, 2], all: false, limit: 5, average: BUILT };
  let count = 0;
  const slots = asked.words.map((slot) => ({ ...blocksOf(slot), impacts: IMPACTS[slot] }));
  for (const { blocks } of slots) {
    const { read: own } = blocks;
    blocks.read = (block) => {
      if (block !== blocks.block) count += 1;
      own.call(blocks, block);
    };
  }
  expect(searched(asked, slots).found).toEqual(naive(asked));
  const all = asked.words.reduce((sum, slot) => sum + (WORDS[slot]?.size as number), 0) / 128;
  expect(count).toBeLessThan(all / 2);
});

test('a required word that no document has leaves none', () => {
  const asked = { words: [0, 1], all: true, limit: 5, average: BUILT };
  expect(searched(asked, [blocksOf(0)]).found).toEqual([]);
  expect(searched({ ...asked, words: [] }).found).toEqual([]);
});

test('damaged blocks are refused, and never give a document twice or hang', () => {
  const sealed = SEALED[0] as Uint8Array;
  for (let run = 0; run < casesOf(40, 2_000); run++) {
    const damaged = sealed.slice();
    damaged[Math.floor(random() * damaged.length)] = Math.floor(random() * 256);
    const asked = { words: [0, 3], all: run % 2 === 0, limit: ROWS, average: BUILT };
    try {
      const { found } = searched(asked, [blocksOf(0, damaged), blocksOf(3)]);
      const rows = found.map(([row]) => row);
      expect(new Set(rows).size).toBe(rows.length);
    } catch (error) {
      expect(error).toBeInstanceOf(BadPostings);
    }
  }
});

test('long searches are divided into steps', () => {
  const asked = { words: [0, 1, 2], all: false, limit: ROWS, average: BUILT };
  expect(searched(asked).steps).toBe(0);
  const words = Array.from({ length: 60 }, () => 0);
  const slots = words.map(() => blocksOf(0));
  expect(searched({ ...asked, words }, slots).steps).toBeGreaterThan(1);
});

test('rows beyond 2^32 keep their numbers', () => {
  const top = new TopRows(2);
  top.add(2 ** 32 + 5, 1);
  top.add(2 ** 33, 2);
  expect([...drained(top.finish()).rows]).toEqual([2 ** 33, 2 ** 32 + 5]);
});
