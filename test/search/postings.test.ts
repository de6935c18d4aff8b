/** Postings as bytes: what is written is read again, and damaged bytes are refused. */
import { describe, expect, test } from 'vitest';
import { ByteStreams } from '../../src/search/byte-streams.ts';
import {
  PostingsBuilder,
  SearchPlan,
  TextCollector,
  Tokenizer,
  textQuery,
  textSettings,
} from '../../src/search/index.ts';
import { hasPhrase, PositionReader, sealPositions } from '../../src/search/phrases.ts';
import {
  BadPositions,
  BadPostings,
  BlockReader,
  readPostings,
  sealPostings,
} from '../../src/search/postings.ts';
import { termShare } from '../../src/search/scores.ts';
import { TopRows } from '../../src/search/top-rows.ts';
import { drained } from '../../src/steps.ts';
import { casesOf } from '../helpers/long.ts';
import { seeded } from '../helpers/seeded.ts';

const encoder = new TextEncoder();

test('streams keep their bytes, however they grow', () => {
  const random = seeded(1);
  const streams = new ByteStreams();
  const expected = new Map<number, number[]>();
  for (let at = 0; at < 60_000; at++) {
    const stream = Math.floor(random() ** 3 * 3_000);
    const byte = Math.floor(random() * 256);
    streams.append(stream, byte);
    expected.set(stream, [...(at < 100 ? (expected.get(stream) ?? []) : []), byte]);
    if (at >= 100) expected.delete(stream);
  }
  const long = new ByteStreams();
  const bytes = Array.from({ length: 3_000_000 }, (_, at) => (at * 7) % 251);
  for (const byte of bytes) long.append(5, byte);
  expect(Buffer.compare(long.bytesOf(5), Uint8Array.from(bytes))).toBe(0);
  expect(long.bytesOf(4)).toEqual(new Uint8Array(0));
  expect(long.bytesOf(5_000)).toEqual(new Uint8Array(0));
  const many = new ByteStreams();
  for (let round = 0; round < 40; round++) {
    for (let stream = 0; stream < 500; stream++) many.appendNumber(stream, stream * 300 + round);
  }
  const lengths = Array.from({ length: 500 }, (_, stream) => many.bytesOf(stream).length);
  expect(lengths[0]).toBe(40);
  expect(lengths[499]).toBe(120);
});

/** Numbers of 7-bit groups. */
function groupsOf(numbers: readonly number[]): Uint8Array {
  const bytes: number[] = [];
  for (const number of numbers) {
    let rest = number;
    for (; rest >= 0x80; rest = Math.floor(rest / 0x80)) bytes.push((rest % 0x80) | 0x80);
    bytes.push(rest);
  }
  return Uint8Array.from(bytes);
}

test('documents are looked up in blocks in order, without the rest being read', () => {
  const random = seeded(8);
  const pick = (values: readonly number[]): number =>
    values[Math.floor(random() * values.length)] as number;
  for (let round = 0; round < casesOf(30, 1_000); round++) {
    const isLong = round % 2 === 0;
    const gaps = isLong ? [1, 64, 65, 8_192, 8_193, 3_000_000] : [1, 2, 64, 65, 300];
    const documents: number[] = [];
    const counts: number[] = [];
    const code: number[] = [];
    let last = -1;
    for (let at = isLong ? 100 : 700; at > 0; at--) {
      const gap = pick(gaps);
      const count = pick([1, 1, 2, 3, 129, 130, 131, 20_000]);
      last += gap;
      documents.push(last);
      counts.push(count);
      code.push(2 * (gap - 1) + (count > 1 ? 1 : 0), ...(count > 1 ? [count - 2] : []));
    }
    const lengths = new Uint32Array(isLong ? 0 : last + 1).fill(30);
    const sealed = sealPostings(groupsOf(code), documents.length, lengths, 30);
    const reader = new BlockReader(sealed, documents.length, last + (isLong ? 100 : 1));
    if (isLong) expect(new BlockReader(sealed, 100, last + 100).countIn(0, last + 50)).toBe(0);
    const wanted = new Map(documents.map((document, at) => [document, counts[at] as number]));
    const asked = documents.flatMap((document) => [document - 1, document, document + 1]);
    let block = 0;
    for (const document of [...new Set(asked)].sort((a, b) => a - b)) {
      if (document < 0 || document > last || random() < 0.4) continue;
      while ((reader.last[block] as number) < document) block += 1;
      expect([document, reader.countIn(block, document)]).toEqual([
        document,
        wanted.get(document) ?? 0,
      ]);
    }
  }
});

const averageOf = (lengths: Uint32Array): number =>
  lengths.reduce((sum, length) => sum + length, 0) / lengths.filter((length) => length > 0).length;

/** Documents of random words. */
async function built(documents: number, withPositions: boolean) {
  const random = seeded(documents);
  const settings = textSettings({ stem: false, remove_stop_words: false });
  const builder = new PostingsBuilder(await Tokenizer.open(settings), withPositions);
  const texts = Array.from({ length: documents }, () =>
    Array.from({ length: Math.floor(random() * 12) }, () => `w${Math.floor(random() ** 4 * 60)}`),
  );
  for (const words of texts) {
    const bytes = encoder.encode(words.join(' '));
    builder.addShort(bytes, 0, bytes.length);
  }
  return { builder, texts };
}

test.each([0, 1, 127, 128, 129, 700])('the words of %i documents are read again', async (count) => {
  const { builder, texts } = await built(count, true);
  const order = drained(builder.order());
  const terms = Array.from(order, (term) => Buffer.from(builder.termOf(term)).toString());
  expect(terms).toEqual([...new Set(texts.flat())].sort());
  expect([...builder.lengths.subarray(0, count)]).toEqual(texts.map(({ length }) => length));
  for (const [at, word] of terms.entries()) {
    const term = order[at] as number;
    const found = readPostings(builder.postingsOf(term), builder.documentsOf(term), count);
    const having = [...texts.entries()].filter(([, words]) => words.includes(word));
    expect([...found.documents]).toEqual(having.map(([document]) => document));
    const blocks = new BlockReader(builder.postingsOf(term), found.documents.length, count);
    const average = averageOf(builder.lengths.subarray(0, count));
    const inBlocks: number[] = [];
    for (let block = 0; block < blocks.blocks; block++) {
      blocks.read(block);
      for (let at = 0; at < blocks.count; at++) {
        const document = blocks.documents[at] as number;
        inBlocks.push(document);
        const share = termShare(
          blocks.counts[at] as number,
          builder.lengths[document] as number,
          average,
        );
        expect(share).toBeLessThanOrEqual((blocks.highest[block] as number) + 1e-9);
        expect(document).toBeLessThanOrEqual(blocks.last[block] as number);
      }
    }
    expect(inBlocks).toEqual([...found.documents]);
    const sealed = builder.positionsOf(term);
    const bodies = having.length <= 128 ? 0 : 4 * Math.ceil(having.length / 128);
    const plain = PositionReader.plain(
      sealed.subarray(bodies),
      new BlockReader(builder.postingsOf(term), having.length, count),
    );
    const readers = [PositionReader.sealed(sealed, having.length), drained(plain)];
    let before = 0;
    for (const [place, [, words]] of having.entries()) {
      const own = [...words.entries()].filter(([, other]) => other === word).map(([to]) => to);
      expect(found.counts[place]).toBe(own.length);
      const block = Math.floor(place / 128);
      if (place % 128 === 0) before = 0;
      for (const reader of place % 3 === 2 ? [] : readers) {
        reader.read(block, before, own.length);
        expect([...reader.values.subarray(0, reader.count)]).toEqual(own);
      }
      before += own.length;
    }
    for (const reader of having.length > 128 ? readers : []) {
      // Back again, to a document and to a block.
      reader.read(1, 0, found.counts[128] as number);
      reader.read(0, found.counts[0] as number, found.counts[1] as number);
      const second = [...(having[1]?.[1] ?? []).entries()].filter(([, other]) => other === word);
      expect([...reader.values.subarray(0, reader.count)]).toEqual(second.map(([to]) => to));
    }
  }
});

describe('damaged postings', () => {
  test('are refused, or give documents that there are', async () => {
    const random = seeded(7);
    const { builder } = await built(400, true);
    const order = drained(builder.order());
    let refused = 0;
    for (let at = 0; at < casesOf(3_000, 100_000); at++) {
      const term = order[Math.floor(random() * order.length)] as number;
      const bytes = builder.postingsOf(term).slice();
      const place = Math.floor(random() * bytes.length);
      bytes[place] = Math.floor(random() * 256);
      const cut = random() < 0.3 ? bytes.subarray(0, place) : bytes;
      try {
        const { documents } = readPostings(cut, builder.documentsOf(term), 400);
        for (const [next, document] of documents.entries()) {
          expect(document).toBeLessThan(400);
          if (next > 0) expect(document).toBeGreaterThan(documents[next - 1] as number);
        }
      } catch (error) {
        expect(error).toBeInstanceOf(BadPostings);
        refused += 1;
      }
      try {
        const blocks = new BlockReader(cut, builder.documentsOf(term), 400);
        for (let block = 0; block < blocks.blocks; block++) blocks.read(block);
        expect(blocks.documents[blocks.count - 1]).toBeLessThan(400);
      } catch (error) {
        expect(error).toBeInstanceOf(BadPostings);
      }
    }
    expect(refused).toBeGreaterThan(100);
  });

  test.each<[string, number[], number, number]>([
    ['more documents than rows', [0, 0, 0], 3, 2],
    ['a document beyond the rows', [8], 1, 4],
    ['too few bytes', [0], 2, 9],
    ['bytes that are left', [0, 0], 1, 9],
    ['a number without an end', [0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80], 1, 9],
    ['a count that is cut off', [1], 1, 9],
  ])('with %s', (_, bytes, documents, rows) => {
    expect(() => readPostings(Uint8Array.from(bytes), documents, rows)).toThrow(BadPostings);
  });

  test('with a directory that cannot be', async () => {
    const { builder } = await built(400, false);
    const term = drained(builder.order())[0] as number;
    const documents = builder.documentsOf(term);
    expect(documents).toBeGreaterThan(128);
    for (const [at, value] of [
      [0, 400],
      [4, 0xffffffff],
      [10, 0],
      [14, 0],
    ] as const) {
      const sealed = builder.postingsOf(term).slice();
      new DataView(sealed.buffer).setUint32(at, value, true);
      expect(() => new BlockReader(sealed, documents, 400)).toThrow(BadPostings);
    }
  });

  test('positions that are cut off', () => {
    const of = (...bytes: number[]): PositionReader =>
      PositionReader.sealed(Uint8Array.from(bytes), 1);
    expect(() => of(1).read(0, 0, 2)).toThrow(BadPositions);
    expect(() => of(1).read(0, 2, 1)).toThrow(BadPositions);
    expect(() => of(0x81).read(0, 0, 1)).toThrow(BadPositions);
    const blocks = new BlockReader(Uint8Array.of(3, 20), 1, 9);
    expect(() => drained(PositionReader.plain(Uint8Array.of(1, 2), blocks))).toThrow(BadPositions);
  });

  test('positions whose directory is wrong', () => {
    const documents = 300;
    const each = new Uint8Array(documents);
    const sealed = sealPositions(each.fill(7), new Uint8Array(documents), documents);
    expect([...sealed.subarray(0, 12)]).toEqual([0, 0, 0, 0, 128, 0, 0, 0, 0, 1, 0, 0]);
    expect(() => PositionReader.sealed(sealed, documents)).not.toThrow();
    expect(() => PositionReader.sealed(sealed.subarray(0, 311), documents)).toThrow(BadPositions);
    for (const [at, value] of [
      [4, 300],
      [5, 200],
      [8, 100],
    ] as const) {
      const wrong = sealed.slice();
      new DataView(wrong.buffer).setUint32(at, value, true);
      expect(() => PositionReader.sealed(wrong, documents)).toThrow(BadPositions);
    }
  });
});

test('a phrase may reach a word by any of the places before it', () => {
  const found = (...args: Parameters<typeof hasPhrase>): boolean => drained(hasPhrase(...args));
  const list = (...values: number[]) => ({
    values: Uint32Array.from(values),
    count: values.length,
  });
  expect(found([list(1, 5), list(3)], [1], 1)).toBe(true);
  expect(found([list(1, 5), list(3)], [1], 0)).toBe(false);
  expect(found([list(1), list(2, 4), list(6)], [1, 1], 2)).toBe(true);
  expect(found([list(1), list(2, 4), list(8)], [1, 1], 2)).toBe(false);
  expect(found([list(3), list(1)], [1], 9)).toBe(false);
});

test('the best rows come in order of score, then of row, in whatever order they were added', () => {
  const random = seeded(3);
  for (const limit of [1, 2, 7, 50, 400]) {
    const rows = Array.from({ length: 300 }, (_, row) => ({
      row,
      score: Math.floor(random() * 9) / 3,
    }));
    const top = new TopRows(limit);
    for (const { row, score } of [...rows].sort(() => random() - 0.5)) top.add(row, score);
    const best = rows.sort((a, b) => b.score - a.score || a.row - b.row).slice(0, limit);
    const found = drained(top.finish());
    expect([...found.rows]).toEqual(best.map(({ row }) => row));
    expect([...found.scores]).toEqual(best.map(({ score }) => Math.fround(score)));
  }
});

test('phrases and scores of many words are found in steps', async () => {
  const values = Uint32Array.from({ length: 100_000 }, (_, at) => at);
  const lists = Array.from({ length: 4 }, () => ({ values, count: values.length }));
  expect([...hasPhrase(lists, [1, 1, 1], 0)]).toHaveLength(3);
  const { root } = textQuery({ string_query: { query: 'fox '.repeat(4_096) } });
  const settings = textSettings({});
  const columnOf = () => ({ name: 'text', settings });
  const plan = await SearchPlan.of(root, ['text'], columnOf, () => undefined);
  const collector = new TextCollector(plan);
  for (let row = 0; row < 40; row++) {
    collector.addShort(0, encoder.encode('fox'), 0, 3);
    expect(collector.end(row)).toBe(4_096);
  }
  const scoring = collector.score(plan.scorer(collector.statistics), new TopRows(5));
  expect([...scoring]).toHaveLength(2);
});
