/** Tokens are those of LanceDB 0.39, which lancedb-tokens.json holds for odd texts and options. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test, vi } from 'vitest';
import { tokenize } from '../../src/sdk/index.ts';
import { PostingsBuilder, settingsMembers, textSettings } from '../../src/search/index.ts';
import { openStemmer } from '../../src/search/languages.ts';
import { hashOf, TermTable } from '../../src/search/term-table.ts';
import { Tokenizer } from '../../src/search/tokenizer.ts';
import { drained } from '../../src/steps.ts';
import { casesOf } from '../helpers/long.ts';
import { seeded } from '../helpers/seeded.ts';

interface Golden {
  readonly text: string;
  readonly options: Parameters<typeof tokenize>[1];
  readonly tokens: [string, number][];
}

const goldens: Golden[] = JSON.parse(
  readFileSync(join(import.meta.dirname, 'lancedb-tokens.json'), 'utf8'),
);

test('tokens are those of LanceDB', async () => {
  for (const { text, options, tokens } of goldens) {
    const found = await tokenize(text, options);
    const shown = { text, options };
    expect({ ...shown, tokens: found.map((token) => [token.text, token.position]) }).toEqual({
      ...shown,
      tokens,
    });
  }
  expect(goldens.length).toBeGreaterThan(200);
});

test('words that are not given to the stemmer have the stems that it gives', async () => {
  // @ts-expect-error the package has no declarations
  const snowball = (await import('snowball-stemmers')).default;
  const random = seeded(1848);
  const letters = 'abcdefghijklmnopqrstuvwxyz0123456789';
  const letter = (): string => letters[Math.floor(random() * letters.length)] as string;
  const suffixes = ['', 'ing', 'ed', 'ational', 'sses', 'ies', 'y', 'eedly', 'bli', "'s", 'aa'];
  const words = Array.from({ length: casesOf(3_000, 100_000) }, (_, at) => {
    const word = Array.from({ length: at % 8 }, letter).join('');
    if (at % 3 === 0) return String(Math.floor(random() * 10 ** (at % 14)));
    return word + suffixes[at % suffixes.length] + (at % 2 === 0 ? letter() : '');
  });
  for (const language of ['English', 'Finnish', 'German', 'Turkish', 'Arabic', 'French'] as const) {
    const [ours, theirs] = [
      await openStemmer(language),
      snowball.newStemmer(language.toLowerCase()),
    ];
    for (const word of [...words, '', 'TOYa', 'yy7', '1100'])
      expect(ours(word), `${language} ${word}`).toBe(theirs.stem(word));
  }
});

const encoder = new TextEncoder();

/** All tokens of a text as text and position, by a tokenizer that was used before. */
function allTokens(tokenizer: Tokenizer, text: string, position = 0): string[] {
  const bytes = encoder.encode(`xx${text}xx`);
  const tokens: string[] = [];
  tokenizer.begin(bytes, 2, bytes.length - 2, position);
  for (let more = true; more; ) {
    more = tokenizer.next();
    expect(tokenizer.count).toBeLessThan(10_000);
    for (let at = 0; at < tokenizer.count; at++) {
      const term = tokenizer.terms.bytesOf(tokenizer.ids[at] as number);
      tokens.push(`${new TextDecoder().decode(term)}@${tokenizer.positions[at]}`);
    }
  }
  return tokens;
}

test('terms that FNV-1a takes for one have hashes of their own', () => {
  const after = (start: number, block: Uint8Array): number => {
    let hash = start;
    for (const byte of block) hash = Math.imul(hash ^ byte, 16_777_619);
    return hash;
  };
  const blockOf = (number: number, block: Uint8Array): Uint8Array => {
    const mixed = Math.imul(number, 0x9e3779b1) >>> 0;
    for (let at = 0; at < 7; at++) block[at] = 97 + (Math.floor(mixed / 26 ** at) % 26);
    return block;
  };
  // Two blocks that lead to the same hash, eight times in a row: 256 terms with one hash.
  let state = 0x811c9dc5 | 0;
  let terms: Uint8Array[] = [new Uint8Array(0)];
  for (let step = 0; step < 8; step++) {
    const known = new Map<number, number>();
    const block = new Uint8Array(7);
    for (let number = 0; ; number++) {
      const hash = after(state, blockOf(number, block));
      const twin = known.get(hash);
      known.set(hash, number);
      if (twin === undefined) continue;
      const ends = [twin, number].map((each) => blockOf(each, new Uint8Array(7)));
      terms = terms.flatMap((term) => ends.map((end) => Buffer.concat([term, end])));
      state = hash;
      break;
    }
  }
  expect(new Set(terms.map((term) => after(0x811c9dc5 | 0, term))).size).toBe(1);
  expect(new Set(terms.map((term) => hashOf(term, 0, term.length))).size).toBeGreaterThan(128);
});

test('bytes that are no UTF-8 are cut by icu in pieces as large as those of other texts', async () => {
  const bytes = new Uint8Array(1 << 17).fill(0x80);
  const tokenizer = await Tokenizer.open(textSettings({ base_tokenizer: 'icu' }));
  const decode = vi.spyOn(TextDecoder.prototype, 'decode');
  try {
    tokenizer.begin(bytes, 0, bytes.length);
    let found = 0;
    for (let more = true; more; found += tokenizer.count) more = tokenizer.next();
    expect(found).toBe(0);
    expect(decode.mock.calls.length).toBeLessThan(20);
  } finally {
    decode.mockRestore();
  }
});

test('icu cuts no character in two where a text without spaces is longer than a piece', async () => {
  const tokenizer = await Tokenizer.open(textSettings({ base_tokenizer: 'icu', stem: false }));
  for (const before of ['', 'a', 'ab', 'abc']) {
    const text = before + '\u{10450}'.repeat(5_000);
    const bytes = encoder.encode(text);
    const decode = vi.spyOn(TextDecoder.prototype, 'decode');
    try {
      tokenizer.begin(bytes, 0, bytes.length);
      while (tokenizer.next());
      const pieces = decode.mock.results.map(({ value }) => value as string);
      expect(pieces.join('')).toBe(text);
      expect(pieces.length).toBe(2);
    } finally {
      decode.mockRestore();
    }
  }
});

describe('a long text', () => {
  const plain = { stem: false, remove_stop_words: false, ascii_folding: false };
  test.each(['simple', 'whitespace', 'icu', 'icu/split', 'ngram'])(
    'is cut by %s in steps as in one',
    async (base_tokenizer) => {
      const members = { ...plain, base_tokenizer, min_ngram_length: 2 };
      const tokenizer = await Tokenizer.open(textSettings(members));
      const sentence = 'Some words, äöü 日本 and x.y, again. ';
      const once = allTokens(tokenizer, sentence).map((token) => token.split('@'));
      const times = 2_500;
      const found = allTokens(tokenizer, sentence.repeat(times));
      if (base_tokenizer === 'ngram') {
        expect(found.length).toBeGreaterThan(times * once.length - 1);
        return;
      }
      const ends = Number(once.at(-1)?.[1]) + 1;
      expect(found.length).toBe(times * once.length);
      const expected = Array.from({ length: times }, (_, at) =>
        once.map(([term, position]) => `${term}@${at * ends + Number(position)}`),
      ).flat();
      expect(found).toEqual(expected);
    },
  );

  test('without a break is passed over in steps, and counts as one position', async () => {
    const tokenizer = await Tokenizer.open(textSettings(plain));
    const text = `a ${'x'.repeat(1_000_000)}é${'y'.repeat(300_000)} b`;
    const bytes = encoder.encode(text);
    tokenizer.begin(bytes, 0, bytes.length);
    let steps = 0;
    while (tokenizer.next()) steps += 1;
    expect(steps).toBeGreaterThan(10);
    expect(allTokens(tokenizer, text)).toEqual(['a@0', 'b@2']);
    expect(allTokens(tokenizer, 'c')).toEqual(['c@0']);
  });

  test('breaks at bytes that are no UTF-8', async () => {
    const tokenizer = await Tokenizer.open(textSettings(plain));
    const bytes = Uint8Array.of(
      0x61,
      0xff,
      0x62,
      0xc3,
      0x63,
      0xe2,
      0x82,
      0x64,
      0xed,
      0xa0,
      0x80,
      0x65,
      0xc3,
    );
    tokenizer.begin(bytes, 0, bytes.length);
    tokenizer.next();
    const terms = Array.from(tokenizer.ids.subarray(0, tokenizer.count), (id) =>
      Buffer.from(tokenizer.terms.bytesOf(id)).toString(),
    );
    expect(terms).toEqual(['a', 'b', 'c', 'd', 'e']);
  });
});

test('terms keep their numbers, however many come', () => {
  const table = new TermTable();
  const words = Array.from({ length: 5_000 }, (_, at) => encoder.encode(`word ${at * 7919}`));
  const hash = (word: Uint8Array): number => word.length % 3;
  expect(words.map((word) => table.intern(word, 0, word.length, hash(word)))).toEqual(
    words.map((_, at) => at),
  );
  for (const [at, word] of words.entries()) {
    expect(table.intern(word, 0, word.length, hash(word))).toBe(at);
    expect(table.bytesOf(at)).toEqual(word);
  }
  expect(table.size).toBe(words.length);
});

describe('settings', () => {
  test('have the defaults of the protocol, and come back as members', () => {
    const settings = textSettings({ language: 'french', custom_stop_words: ['le'] });
    expect(settings).toMatchObject({ language: 'French', stem: true, maxTokenLength: 40 });
    expect(textSettings(settingsMembers(settings))).toEqual(settings);
    expect(textSettings({ stem: null, language: null })).toEqual(textSettings({}));
  });

  test.each([
    [{ base_tokenizer: 'jieba/default' }, 'Unsupported', '"icu" finds the words'],
    [{ base_tokenizer: 'lindera' }, 'Unsupported', 'needs a dictionary'],
    [{ base_tokenizer: 'simpel' }, 'InvalidInput', 'Did you mean "simple"?'],
    [{ language: 'Englisch' }, 'InvalidInput', 'Did you mean "English"?'],
    [{ language: 'Greek' }, 'Unsupported', 'set stem to false'],
    [{ max_token_length: 0 }, 'InvalidInput', 'from 1 to 32766'],
    [{ max_token_length: 1.5 }, 'InvalidInput', 'max_token_length is 1.5'],
    [{ max_ngram_length: 65 }, 'InvalidInput', 'from 1 to 64'],
    [{ min_ngram_length: 4 }, 'InvalidInput', 'min_ngram_length is 4 and max_ngram_length 3'],
    [{ custom_stop_words: Array(10_001).fill('a') }, 'InvalidInput', 'at most 10000'],
  ])('%j is refused', (members, code, message) => {
    expect(() => textSettings(members)).toThrow(
      expect.objectContaining({ code, message: expect.stringContaining(message) }),
    );
  });
});

describe('a text of many tokens', () => {
  test('is refused by tokenize, with the number', async () => {
    const options = { baseTokenizer: 'ngram', ngramMinLength: 1, ngramMaxLength: 64 };
    await expect(tokenize('a'.repeat(30_000), options)).rejects.toEqual(
      expect.objectContaining({
        code: 'InvalidInput',
        message: expect.stringContaining('more than 1048576 tokens'),
      }),
    );
    expect(await tokenize('a'.repeat(1_000), options)).toHaveLength(38_259);
  });

  test('is no short one where a byte begins several tokens', async () => {
    const members = { base_tokenizer: 'ngram', min_ngram_length: 1, max_ngram_length: 64 };
    const builder = new PostingsBuilder(await Tokenizer.open(textSettings(members)), false);
    expect([builder.isShort(1_023), builder.isShort(1_024)]).toEqual([true, false]);
    const words = new PostingsBuilder(await Tokenizer.open(textSettings({})), false);
    expect([words.isShort(65_535), words.isShort(65_536)]).toEqual([true, false]);
  });

  test('is refused by an index, with its row', async () => {
    const builder = new PostingsBuilder(await Tokenizer.open(textSettings({})), false, 3);
    const bytes = new TextEncoder().encode('fox fox fox dog');
    drained(builder.add({ bytes, ranges: [0, 11], count: 1 }));
    expect(() => builder.addShort(bytes, 0, 15)).toThrow(
      'Row 1 of those that are indexed together has more than 3 tokens',
    );
  });
});
