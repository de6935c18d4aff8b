/** Full-text search by scanning, against a naive BM25 and against answers of LanceDB 0.39. */
import { join } from 'node:path';
import {
  Table as ArrowTable,
  Field,
  FixedSizeList,
  Int32,
  LargeUtf8,
  List,
  Struct,
  Utf8,
  vectorFromArray,
} from 'apache-arrow';
import { beforeAll, describe, expect, test } from 'vitest';
import {
  BooleanQuery,
  BoostQuery,
  type Connection,
  connect,
  type FtsQuery,
  type FullTextQuery,
  Index,
  MatchQuery,
  MultiMatchQuery,
  Occur,
  Operator,
  openNamespace,
  PhraseQuery,
  PrefixQuery,
  type Table,
  tokenize,
} from '../../../src/index.ts';
import { casesOf } from '../../helpers/long.ts';
import { type NaiveDocument, naiveScores } from '../../helpers/naive-texts.ts';
import { seeded } from '../../helpers/seeded.ts';
import { temporaryFolder } from '../../helpers/temporary.ts';

const folder = join(temporaryFolder(), 'catalog');
let db: Connection;
beforeAll(async () => {
  db = await connect(folder, { durability: 'relaxed' });
  return () => db.close();
});

interface Hit {
  readonly id: number;
  readonly _score: number;
}

const hitsOf = (table: Table, query: string | FullTextQuery, limit = 20): Promise<Hit[]> =>
  table.query().fullTextSearch(query).limit(limit).select(['id']).toArray<Hit>();

const idsOf = async (table: Table, query: string | FullTextQuery): Promise<number[]> =>
  (await hitsOf(table, query)).map(({ id }) => id);

const query = (inner: FtsQuery): FullTextQuery => ({ inner, queryType: () => 'match' });

describe('answers of LanceDB, and of prefixes', () => {
  let table: Table;
  beforeAll(async () => {
    const texts = ['apple banana', 'apple apple cherry', 'banana cherry date'];
    texts.push('apple banana cherry date elder', 'quick the brown fox', 'quick brown fox');
    const more = ['fox brown quick', null, '', 'date date date date date', 'axe bee cee axe bee'];
    const last = ['axe xen bee', 'axe xen yes bee', 'appel pi', 'of the'];
    table = await db.createTable(
      'golden',
      [...texts, ...more, ...last].map((text, id) => ({ id, text })),
    );
  });

  test.each<[string, string | FullTextQuery, number[]]>([
    ['a word', 'Apples', [1, 0, 3]],
    ['words in any order', 'banana apple', [0, 3, 1, 2]],
    ['a word that is not there', 'zebra', []],
    ['one that is, and one that is not', 'zebra apple', [1, 0, 3]],
    ['nothing', '', []],
    ['punctuation', '!?', []],
    ['a stop word', 'the', []],
    ['all words', new MatchQuery('apple banana', 'text', { operator: Operator.And }), [0, 3]],
    [
      'all words, one missing',
      new MatchQuery('apple zebra', 'text', { operator: Operator.And }),
      [],
    ],
    ['a phrase', new PhraseQuery('brown fox', 'text'), [4, 5]],
    ['a phrase over a stop word', new PhraseQuery('quick the brown', 'text'), [4]],
    ['a phrase with slop', new PhraseQuery('axe bee', 'text', { slop: 1 }), [10, 11]],
    ['a phrase with more slop', new PhraseQuery('axe bee', 'text', { slop: 2 }), [10, 11, 12]],
    ['a phrase of one word', new PhraseQuery('apple', 'text'), [1, 0, 3]],
    ['a phrase that repeats a word', new PhraseQuery('date date', 'text'), [9]],
    ['an empty phrase', new PhraseQuery('', 'text'), []],
    ['a text in quotes', '"brown fox"', [4, 5]],
    ['a text with a quote at one end', '"brown fox', [4, 5, 6]],
    ['near words', new MatchQuery('appel', 'text', { fuzziness: 2 }), [13, 1, 0, 3]],
    [
      'near words, first in order',
      new MatchQuery('appl', 'text', { fuzziness: 2, maxExpansions: 1 }),
      [13],
    ],
    ['no expansion', new MatchQuery('appel', 'text', { fuzziness: 2, maxExpansions: 0 }), []],
    ['a word as it is', query({ match: { terms: 'apel', column: 'text' } }), []],
    ['near words by length', new MatchQuery('apel', 'text', { fuzziness: null }), [13, 1, 0, 3]],
    ['near words of two letters', new MatchQuery('ax', 'text', { fuzziness: null }), []],
    [
      'near words with a prefix',
      new MatchQuery('appel', 'text', { fuzziness: 2, prefixLength: 4 }),
      [13],
    ],
    ['a word that goes on', new PrefixQuery('ch', 'text'), [1, 2, 3]],
    ['a whole word whose stem is shorter', new PrefixQuery('Apples', 'text'), [1, 0, 3]],
    ['what a stop word goes on as', new PrefixQuery('be', 'text'), [10, 11, 12]],
    ['a word before one that goes on', new PrefixQuery('pi da', 'text'), [13, 9, 2, 3]],
    [
      'all words, the last of which goes on',
      new PrefixQuery('banana da', 'text', { operator: Operator.And }),
      [2, 3],
    ],
    ['a stop word and one that goes on', new PrefixQuery('the brow', 'text'), [4, 5, 6]],
    ['a start of no word', new PrefixQuery('banana zeb', 'text', { operator: Operator.And }), []],
    ['the first terms of a start', new PrefixQuery('a', 'text', { maxExpansions: 1 }), [13]],
    ['no start', new PrefixQuery(' - ', 'text'), []],
    [
      'less of another',
      new BoostQuery(new MatchQuery('apple', 'text'), new MatchQuery('cherry', 'text')),
      [0, 1, 3],
    ],
    [
      'must and should',
      new BooleanQuery([
        [Occur.Must, new MatchQuery('apple', 'text')],
        [Occur.Should, new MatchQuery('banana', 'text')],
      ]),
      [0, 3, 1],
    ],
    [
      'must not',
      new BooleanQuery([
        [Occur.Should, new MatchQuery('apple', 'text')],
        [Occur.MustNot, new MatchQuery('banana', 'text')],
      ]),
      [1],
    ],
  ])('%s', async (_, asked, ids) => {
    expect(await idsOf(table, asked)).toEqual(ids);
  });

  test('a word that goes on is compared as it is written, not as its stem', async () => {
    const stems = await db.createTable('stems', [
      { id: 0, text: 'apple' },
      { id: 1, text: 'applied' },
    ]);
    expect(await idsOf(stems, new PrefixQuery('apples', 'text'))).toEqual([0]);
    expect(await idsOf(stems, new PrefixQuery('appl', 'text'))).toEqual([0, 1]);
  });

  test('scores, with words that are asked for twice', async () => {
    const small = await db.createTable('scores', [
      { id: 0, text: 'apple banana' },
      { id: 1, text: 'apple apple cherry' },
      { id: 2, text: null },
      { id: 3, text: '' },
      { id: 4, text: 'xen yes zap wow' },
    ]);
    const scores = async (asked: string | FullTextQuery): Promise<number[]> =>
      (await hitsOf(small, asked)).map(({ _score }) => _score);
    // Documents without a word count for nothing. The figures are LanceDB's.
    expect(await scores('apple')).toEqual([0.6462550163269043, 0.5442147254943848]);
    expect((await scores('xen'))[0]).toBeCloseTo(0.8631296753883362, 6);
    expect((await scores('xen xen'))[0]).toBeCloseTo(2 * 0.8631296753883362, 6);
    expect(await scores(new MatchQuery('apple', 'text', { boost: 0 }))).toEqual([0, 0]);
    expect((await scores(new MatchQuery('xen', 'text', { boost: 3 })))[0]).toBeCloseTo(2.589389, 5);
  });
});

const WORDS = [
  'ab',
  'abc',
  'abcd',
  'xbcd',
  'le',
  'lek',
  'lekt',
  'ok',
  'oka',
  'zürich',
  'été',
  'the',
];

/** What some words begin with, or are. */
const STARTS = ['a', 'ab', 'l', 'lek', 'o', 'zü', 'zürich', 'th', 'the', 'q'];

/** A random query over the words. */
function randomQuery(random: () => number, depth = 0): FtsQuery {
  const pick = <Value>(values: readonly Value[]): Value =>
    values[Math.floor(random() * values.length)] as Value;
  const text = (most: number): string =>
    Array.from({ length: 1 + Math.floor(random() * most) }, () => pick(WORDS)).join(' ');
  const column = (): object =>
    pick([{ column: 'text' }, { column: 'tags' }, { column: 'more.title' }, {}]);
  const match = (): NonNullable<FtsQuery['match']> => ({
    terms: text(3),
    fuzziness: 0,
    ...column(),
    ...pick([{}, { operator: 'And' }, { operator: 'or', boost: 1 + random() }]),
  });
  switch (depth > 1 ? pick([0, 1, 2, 6]) : pick([0, 1, 2, 3, 4, 5, 6])) {
    case 0:
      return { match: match() };
    case 1:
      return {
        match: {
          ...match(),
          ...pick([{ fuzziness: 1 }, { fuzziness: 2, prefix_length: 1 }]),
          max_expansions: pick([2, 50]),
        },
      };
    case 2:
      return { phrase: { terms: text(3), slop: pick([0, 0, 1, 3]), ...column() } };
    case 3:
      return { multi_match: { match_queries: [match(), match()] } };
    case 4:
      return {
        boost: {
          positive: randomQuery(random, depth + 1),
          negative: randomQuery(random, depth + 1),
          negative_boost: random(),
        },
      };
    case 6:
      return {
        prefix: {
          terms: [...pick([[], ['ab'], ['the', 'ok']]), pick(STARTS)].join(' '),
          ...column(),
          max_expansions: pick([0, 1, 2, 50]),
          ...pick([{}, { operator: 'And' }, { boost: 2 }]),
        },
      };
    default: {
      const some = (least: number): FtsQuery[] =>
        Array.from({ length: least + Math.floor(random() * 2) }, () =>
          randomQuery(random, depth + 1),
        );
      return { boolean: { must: some(0), should: some(1), must_not: some(0) } };
    }
  }
}

const words = async (texts: readonly (string | null)[]): Promise<[string, number][]> => {
  const all: [string, number][] = [];
  let position = 0;
  for (const text of texts) {
    if (text === null) continue;
    // Words around it keep their places although stop words are left out.
    const tokens = await tokenize(`qqq ${text} qqq`);
    const end = tokens.pop()?.position ?? 1;
    for (const token of tokens.slice(1)) all.push([token.text, position + token.position - 1]);
    position += end - 1;
  }
  return all;
};

test('random queries over random histories are answered as naively', async () => {
  const random = seeded(20);
  const pick = <Value>(values: readonly Value[]): Value =>
    values[Math.floor(random() * values.length)] as Value;
  const text = (): string =>
    Array.from({ length: Math.floor(random() * 8) }, () => pick(WORDS)).join(pick([' ', ', ']));
  const texts = (): (string | null)[] =>
    Array.from({ length: Math.floor(random() * 3) }, () => (random() < 0.2 ? null : text()));
  let next = 0;
  const rows = new Map<number, { text: string | null; tags: (string | null)[]; title: string }>();
  const some = (count: number): object[] =>
    Array.from({ length: count }, () => {
      const row = { text: random() < 0.1 ? null : text(), tags: texts(), title: text() };
      const id = next++;
      rows.set(id, row);
      return { id, text: row.text, tags: row.tags, more: { title: row.title } };
    });
  const item = new Field('item', new Utf8(), true);
  const schema = {
    fields: [
      new Field('id', new Int32()),
      new Field('text', new LargeUtf8(), true),
      new Field('tags', new List(item), true),
      new Field('more', new Struct([new Field('title', new Utf8(), true)]), true),
    ],
  };
  const table = await db.createTable('random', some(40), { schema: schema as never });
  const cache = new Map<string, [string, number][]>();
  for (const word of WORDS) cache.set(word, await words([word]));
  const plain = (terms: string): [string, number][] =>
    terms
      .split(' ')
      .flatMap((word, at): [string, number][] =>
        (cache.get(word) ?? []).map(([term]) => [term, at]),
      );
  for (let round = 0; round < 5; round++) {
    if (round > 0) await table.add(some(25));
    // Without an index, with some, with all of them; later rows are read beside them.
    if (round === 1) await table.createIndex('text', { config: Index.fts({ withPosition: true }) });
    if (round === 2) {
      for (const column of ['text', 'tags', 'more.title']) {
        await table.createIndex(column, { config: Index.fts({ withPosition: random() < 0.9 }) });
      }
    }
    if (round === 4) await table.optimize();
    const gone = [...rows.keys()].filter(() => random() < 0.15);
    await table.delete(`id IN (${[-1, ...gone].join(', ')})`);
    for (const id of gone) rows.delete(id);
    const documents: NaiveDocument[] = [];
    for (const [id, row] of rows) {
      documents.push({
        id,
        words: {
          text: await words([row.text]),
          tags: await words(row.tags),
          'more.title': await words([row.title]),
        },
      });
    }
    for (let at = 0; at < casesOf(25, 1_000); at++) {
      const inner = randomQuery(random);
      const least = Math.floor(random() * next);
      // Without columns those with an index are searched, or else the top-level ones.
      const all = [['text', 'tags'], ['text'], ['text', 'tags', 'more.title']];
      const scores = naiveScores(documents, inner, all[Math.min(round, 2)] as string[], plain);
      const expected = [...scores]
        .filter(([id]) => id >= least)
        .map(([id, score]) => [id, score] as const);
      expected.sort((a, b) => Math.fround(b[1]) - Math.fround(a[1]) || a[0] - b[0]);
      const found = await table
        .query()
        .fullTextSearch(query(inner))
        .where(`id >= ${least}`)
        .select(['id'])
        .offset(1)
        .limit(12)
        .toArray<Hit>();
      const shown = JSON.stringify(inner);
      const wanted = expected.slice(1, 13);
      expect([shown, found.length]).toEqual([shown, wanted.length]);
      for (const [place, [, score]] of wanted.entries()) {
        expect(Math.abs((found[place]?._score ?? 0) - score)).toBeLessThan(1e-5);
      }
      // Rows whose scores differ by rounding alone may change places.
      const firm = (hits: readonly (readonly [number, number])[]): number[] => {
        const last = wanted.at(-1)?.[1] ?? 0;
        const first = expected[0]?.[1] ?? 0;
        const differs = (score: number): boolean =>
          Math.abs(score - last) > 1e-4 && Math.abs(score - first) > 1e-4;
        return hits
          .filter(([, score]) => differs(score))
          .map(([id]) => id)
          .sort();
      };
      expect([shown, firm(found.map((hit) => [hit.id, hit._score]))]).toEqual([
        shown,
        firm(wanted),
      ]);
    }
  }
}, 60_000);

describe('a search', () => {
  let table: Table;
  beforeAll(async () => {
    const rows = Array.from({ length: 30 }, (_, id) => ({
      id,
      text: `word ${'filler '.repeat(id)}`,
      vector: [id, 0],
    }));
    table = await db.createTable('many', rows);
  });

  test('gives the 10 best unless a limit says otherwise, and ties in row order', async () => {
    expect(await table.search('word').toArray()).toHaveLength(10);
    expect(await table.query().limit(12).fullTextSearch('word').toArray()).toHaveLength(12);
    expect(await table.query().fullTextSearch('word').offset(25).toArray()).toHaveLength(5);
    expect(await table.query().fullTextSearch('word').limit(0).toArray()).toEqual([]);
    const same = await db.createTable(
      'ties',
      Array.from({ length: 40 }, (_, id) => ({ id, text: 'tie' })),
    );
    expect(await idsOf(same, 'tie')).toEqual(Array.from({ length: 20 }, (_, id) => id));
  });

  test('adds the score after the columns, and the row id after it', async () => {
    const asked = table.query().fullTextSearch('word').select(['id', '_score']).withRowId();
    expect((await asked.toArrow()).schema.fields.map(String)).toEqual([
      'id: Float64',
      '_score: Float32',
      '_rowid: Uint64',
    ]);
    const schema = await table.search('word').outputSchema();
    expect(schema.fields.map(({ name }) => name)).toEqual(['id', 'text', 'vector', '_score']);
  });

  test('filters before it ranks, or after it on request', async () => {
    const asked = {
      id: ['many'],
      k: 3,
      filter: 'id > 20',
      full_text_query: { string_query: { query: 'word' } },
    };
    const ids = async (prefilter: boolean): Promise<unknown[]> => {
      const catalog = await openNamespace('dir', { root: folder });
      const found: unknown[] = [];
      for await (const batch of await catalog.queryTable({ ...asked, prefilter })) {
        for (const row of batch) found.push(row.id);
      }
      await catalog.close();
      return found;
    };
    expect(await ids(true)).toEqual([21, 22, 23]);
    expect(await ids(false)).toEqual([]);
  });

  test('tells in its plan that it reads all texts', async () => {
    const plan = await table.search('word').where('id > 3').explainPlan(true);
    expect(plan).toContain('Full text: match "word" in text, by BM25');
    expect(plan).toContain('all rows are read, as there is no index');
    expect(plan).toContain('Columns read: id, text, vector');
    const nested = new BooleanQuery([
      [Occur.Must, new PhraseQuery('a b', 'text', { slop: 1 })],
      [Occur.MustNot, new MultiMatchQuery('c', ['text'], { boosts: [2], operator: Operator.And })],
      [
        Occur.Should,
        new BoostQuery(new MatchQuery('d', 'text', { fuzziness: 1 }), new PrefixQuery('e', 'text')),
      ],
    ]);
    expect(await table.search(nested).explainPlan()).toContain(
      'boolean (must phrase "a b" in text slop 1; should match "d" in text fuzziness 1 less 0.5 of prefix "e" in text; must not best of (match "c" in text all words boost 2))',
    );
    expect(await table.search('word').analyzePlan()).toContain('rows 10');
  });

  test('sees a version as it was', async () => {
    const copy = await db.createTable('versions', [{ id: 1, text: 'first' }]);
    await copy.add([{ id: 2, text: 'first second' }]);
    await copy.delete('id = 1');
    expect(await idsOf(copy, 'first')).toEqual([2]);
    await copy.checkout(1);
    expect(await idsOf(copy, 'first')).toEqual([1]);
  });

  test('reads lists of fixed size, and names in backticks and other cases', async () => {
    const list = new FixedSizeList(2, new Field('item', new Utf8(), true));
    const columns = {
      id: vectorFromArray([1, 2, 3], new Int32()),
      'a.b': vectorFromArray([['one two', null], null, ['two', 'three']], list),
    };
    const lists = await db.createTable('lists', new ArrowTable(columns));
    expect(await idsOf(lists, new MatchQuery('two', '`a.b`'))).toEqual([1, 3]);
    expect(await idsOf(lists, new PhraseQuery('two three', 'A.B'))).toEqual([3]);
  });

  test.each<[string | FullTextQuery, object, string, string]>([
    [new MatchQuery('x', 'txt'), {}, 'TableColumnNotFound', 'Did you mean "text"?'],
    [new MatchQuery('x', 'id'), {}, 'InvalidInput', 'Column id is float64'],
    ['x', { columns: ['vector'] }, 'InvalidInput', 'Texts are in text'],
    [new MatchQuery('x', 'text', { boost: -1 }), {}, 'InvalidInput', 'boost is -1'],
    [
      new BooleanQuery([[Occur.MustNot, new MatchQuery('x', 'text')]]),
      {},
      'InvalidInput',
      'neither must nor should',
    ],
    [new BooleanQuery([]), {}, 'InvalidInput', 'neither must nor should'],
    [query({}), {}, 'InvalidInput', 'has nothing'],
    [query({ terms: 'x' } as never), {}, 'InvalidInput', 'has terms; give exactly one of'],
    [
      query({ match: { terms: 'x' }, phrase: { terms: 'x' } }),
      {},
      'InvalidInput',
      'has match, phrase',
    ],
    [query({ match: { terms: 'x', operator: 'xor' } }), {}, 'InvalidInput', 'operator is "xor"'],
    [query({ match: { terms: 'x', fuzziness: 17 } }), {}, 'InvalidInput', 'fuzziness is 17'],
    [query({ match: { terms: 'x', max_expansions: 1025 } }), {}, 'InvalidInput', 'at most 1024'],
    [query({ prefix: { terms: 'x', max_expansions: 1025 } }), {}, 'InvalidInput', 'at most 1024'],
    [query({ multi_match: { match_queries: [] } }), {}, 'InvalidInput', 'no match_queries'],
    ['x'.repeat(2 ** 20 + 1), {}, 'InvalidInput', 'at most 1048576 characters'],
  ])('%j is refused', async (asked, options, code, message) => {
    const refused = expect.objectContaining({ code, message: expect.stringContaining(message) });
    await expect(table.query().fullTextSearch(asked, options).toArray()).rejects.toEqual(refused);
    await expect(table.query().fullTextSearch(asked, options).explainPlan()).rejects.toEqual(
      refused,
    );
  });

  test('refuses what nests too deep, has too many parts, or a vector too', async () => {
    let deep: FtsQuery = { match: { terms: 'x' } };
    for (let at = 0; at < 16; at++) deep = { boolean: { must: [deep], must_not: [], should: [] } };
    await expect(hitsOf(table, query(deep))).rejects.toThrow('at most 16 deep');
    const parts = Array.from({ length: 1024 }, () => ({ match: { terms: 'x' } }));
    const several = query({ multi_match: { match_queries: parts.map(({ match }) => match) } });
    await expect(hitsOf(table, several)).rejects.toThrow('at most 1024 parts');
    const wide = query({ boolean: { must: [], must_not: [], should: parts } });
    await expect(hitsOf(table, wide)).rejects.toThrow('at most 1024 parts');
    const vectors = await db.createTable('near', [{ id: 1, vector: [1, 2] }]);
    const misspelt = vectors.search([1, 2]).select({ d: 'distances * 2' });
    await expect(misspelt.toArray()).rejects.toThrow('No field named distances');
    const none = await db.createTable('none', [{ id: 1 }]);
    await expect(none.search('x').toArray()).rejects.toThrow('no column of texts');
    expect(() => table.query().fullTextSearch(5 as never)).toThrow('was given');
    const other = { columns: ['id'] };
    expect(() => table.query().fullTextSearch(new MatchQuery('x', 'text'), other)).toThrow(
      'not among the columns',
    );
    await expect(table.search('x', 'vector').toArray()).rejects.toThrow(
      'No embedding functions are defined',
    );
    expect(() => table.search([1], 'fts' as never)).toThrow('cannot be searched for as text');
    expect(() => new MultiMatchQuery('x', 'a' as never)).toThrow('takes a list of columns');
    expect(() => new BooleanQuery('x' as never)).toThrow('takes a list of pairs');
    expect(() => new BooleanQuery([5] as never)).toThrow('takes a list of pairs');
    expect(() => new MultiMatchQuery('x', ['a', 'b'], { boosts: [1] })).toThrow(
      '2 columns and 1 boosts',
    );
    expect(() => new MatchQuery('x', 'a', { operator: 'XOR' as never })).toThrow('Operator.And');
    expect(() => new BooleanQuery([['MAY' as never, new MatchQuery('x', 'a')]])).toThrow(
      'Occur.Must',
    );
  });

  test('of four thousand words, and of a text of a megabyte, yields and ends', async () => {
    const long = Array.from({ length: 120_000 }, (_, at) => `w${at % 9_000}`).join(' ');
    const big = await db.createTable('big', [
      { id: 1, text: long },
      { id: 2, text: 'w5' },
      { id: 3, text: 'none' },
    ]);
    const asked = Array.from({ length: 4_096 }, (_, at) => `w${at}`).join(' ');
    expect(await idsOf(big, asked)).toEqual([1, 2]);
    const controller = new AbortController();
    const running = big.search(asked).toArray({ signal: controller.signal });
    setImmediate(() => controller.abort(new Error('enough')));
    await expect(running).rejects.toThrow('enough');
  });
});

test('an n-gram that a query has twice counts once, and a word each time, as in LanceDB', async () => {
  const table = await db.createTable('grams', [
    { id: 1, text: 'fox dog bird' },
    { id: 2, text: 'fox fox fox' },
    { id: 3, text: 'dog' },
    { id: 4, text: 'foxfox dog' },
  ]);
  const scores = async (asked: string): Promise<string> => {
    const rows = await table.search(asked, 'fts').toArray<Hit>();
    return rows
      .map(({ id, _score }) => `${id}:${_score.toFixed(4)}`)
      .sort()
      .join(' ');
  };
  await table.createIndex('text', { config: Index.fts({ baseTokenizer: 'ngram' }) });
  expect(await scores('fox fox')).toBe('1:0.6069 2:4.0468 4:0.8085');
  expect(await scores('dog fox dog fox dog')).toBe('1:3.1143 2:2.5144 3:0.5493 4:2.4552');
  expect(await scores('foxfox')).toBe('1:0.3035 2:0.5282 4:2.7465');
  await table.createIndex('text', { config: Index.fts() });
  const [once, twice] = [await scores('fox'), await scores('fox fox')];
  expect(once).not.toBe(twice);
});
