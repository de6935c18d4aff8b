/** Full-text indexes: made, used, told of, brought up to date, and refused where they are damaged. */
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, test } from 'vitest';
import {
  BooleanQuery,
  BoostQuery,
  type Connection,
  connect,
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
} from '../../../src/index.ts';
import { casesOf } from '../../helpers/long.ts';
import { seeded } from '../../helpers/seeded.ts';
import { temporaryFolder } from '../../helpers/temporary.ts';

const root = join(temporaryFolder(), 'catalog');
let db: Connection;
beforeAll(async () => {
  db = await connect(root, { durability: 'relaxed' });
  return () => db.close();
});

interface Hit {
  readonly id: number;
  readonly _score: number;
}

const rowsOf = (from: number, count: number): { id: number; text: string | null }[] =>
  Array.from({ length: count }, (_, at) => {
    const id = from + at;
    const text = `${id % 2 === 0 ? 'even' : 'odd'} ${'more '.repeat(id % 5)}w${id % 17} end`;
    return { id, text: id % 23 === 0 ? null : text };
  });

const QUERIES = [
  'even',
  'more end w3',
  'zebra',
  new MatchQuery('even w4', 'text', { operator: Operator.And }),
  new MatchQuery('evan', 'text', { fuzziness: 1 }),
  new PrefixQuery('mo w1', 'text', { maxExpansions: 3 }),
  new PhraseQuery('more w5', 'text'),
  new PhraseQuery('odd w5', 'text', { slop: 2 }),
];

const answers = async (table: Table): Promise<Hit[][]> => {
  const all: Hit[][] = [];
  for (const query of QUERIES) {
    const asked = table.query().fullTextSearch(query).select(['id']).limit(40);
    all.push(await asked.toArray<Hit>());
    all.push(await asked.where('id % 3 = 0').toArray<Hit>());
  }
  return all;
};

/** The answers, whose scores are the same but for rounding. */
async function expectSame(table: Table, expected: Hit[][]): Promise<void> {
  const found = await answers(table);
  const ids = (hits: Hit[][]): number[][] => hits.map((one) => one.map(({ id }) => id));
  const scores = (hits: Hit[][]): string[][] =>
    hits.map((one) => one.map(({ _score }) => _score.toFixed(5)));
  expect(ids(found)).toEqual(ids(expected));
  expect(scores(found)).toEqual(scores(expected));
}

const usedIn = async (table: Table, query: string | PhraseQuery = 'even'): Promise<string> =>
  /Texts: (.*)/.exec(await table.search(query).explainPlan())?.[1] ?? '';

test('gives the answers of a scan, whatever happened to the table since', async () => {
  const table = await db.createTable('history', rowsOf(0, 300));
  await table.add(rowsOf(300, 50));
  const plain = await db.createTable('plain', rowsOf(0, 350));
  const same = async (change?: (each: Table) => Promise<unknown>): Promise<void> => {
    if (change !== undefined) for (const each of [table, plain]) await change(each);
    await expectSame(table, await answers(plain));
  };
  expect(await usedIn(table)).toBe('all rows are read, as there is no index of text');
  await table.createIndex('text', { config: Index.fts({ withPosition: true }) });
  expect(await usedIn(table)).toBe('text_idx for 350 rows, and 0 are read');
  await same();
  await same((each) => each.delete('id % 7 = 1'));
  await same((each) => each.add(rowsOf(350, 60)));
  expect(await usedIn(table)).toBe('text_idx for 300 rows, and 60 are read');
  await same((each) => each.update({ values: { text: 'even more change' }, where: 'id < 20' }));
  const version = await table.version();
  await table.optimize();
  expect(await usedIn(table)).toBe('text_idx for 360 rows, and 0 are read');
  await same();
  await table.checkout(version);
  await same();
  await table.checkoutLatest();
  await same(async (each) => {
    await each.alterColumns([{ path: 'text', rename: 'words' }]);
    await each.alterColumns([{ path: 'words', rename: 'text' }]);
  });
  await table.dropIndex('text_idx');
  expect(await usedIn(table)).toContain('there is no index');
  await same();
});

test('of many rows reads only blocks that may hold one of the best, and finds them', async () => {
  const random = seeded(5);
  const many = Array.from({ length: 1_500 }, (_, id) => {
    const length = 1 + Math.floor(random() * 12);
    const words = Array.from({ length }, () => `w${Math.floor(random() ** 3 * 40)}`);
    return { id, text: words.join(' ') };
  });
  const table = await db.createTable('many', many);
  const plain = await db.createTable('many-plain', many);
  const queries = ['w0', 'w0 w38 w20', 'w2 w2 w9'];
  const compare = async (): Promise<void> => {
    for (const query of queries) {
      const all: Hit[][] = [];
      for (const each of [table, plain]) {
        for (const limit of [1, 10, 500]) {
          const asked = each.query().fullTextSearch(query).select(['id']).limit(limit);
          all.push(await asked.toArray<Hit>(), await asked.where('id % 5 = 2').toArray<Hit>());
        }
      }
      expect([query, all.slice(0, 6)]).toEqual([query, all.slice(6)]);
    }
  };
  await table.createIndex('text', { config: Index.fts() });
  await compare();
  for (const each of [table, plain]) {
    await each.add([{ id: -1, text: 'elsewhere '.repeat(30_000) }]);
  }
  expect(await usedIn(table, 'w0')).toBe('text_idx for 1500 rows, and 1 are read');
  await compare();
  for (const each of [table, plain]) await each.delete('id % 3 = 1');
  await compare();
});

test('of common words gives the same answers the second and the third time', async () => {
  const random = seeded(9);
  const word = () => `w${Math.floor(random() ** 2 * 12)}`;
  const texts = Array.from({ length: 17_000 }, (_, id) => {
    const length = 1 + Math.floor(random() * 7);
    return { id, text: Array.from({ length }, word).join(' '), more: `${word()} ${id % 9}` };
  });
  const table = await db.createTable('common', texts);
  const asked = [
    new MatchQuery('w0 w1 w2', 'text'),
    new MatchQuery('w3 w0 w9', 'text'),
    new MatchQuery('w0 w1 w4', 'text', { operator: Operator.And }),
    new PhraseQuery('w0 w2 w1', 'text'),
    new MultiMatchQuery('w0 w1', ['text', 'more']),
  ].flatMap((query) => {
    const search = () => table.query().fullTextSearch(query).select(['id']).limit(9);
    return [() => search(), () => search().where('id % 3 = 0')];
  });
  const answer = () => Promise.all(asked.map((search) => search().toArray<Hit>()));
  const expectAnswers = async (expected: Hit[][]) => {
    for (let turn = 0; turn < 3; turn++) expect(await answer()).toEqual(expected);
  };
  const scanned = await answer();
  await table.createIndex('more', { config: Index.fts() });
  await table.createIndex('text', { config: Index.fts({ withPosition: true }) });
  expect(await usedIn(table, 'w0 w1')).toBe('more_idx, text_idx for 17000 rows, and 0 are read');
  await expectAnswers(scanned);
  const indexed = await table.version();
  const change = async () => {
    await table.delete('id % 5 = 2');
    await table.add(rowsOf(20_000, 30).map((row) => ({ ...row, more: 'w0 w3' })));
  };
  await change();
  const found = await answer();
  await expectAnswers(found);
  await table.checkout(indexed);
  await expectAnswers(scanned);
  await table.checkoutLatest();
  for (const name of ['text_idx', 'more_idx']) await table.dropIndex(name);
  await expectAnswers(found);
});

test('of several parts gives the answers of a scan, at first and again', async () => {
  const random = seeded(17);
  const word = () => `w${Math.floor(random() ** 2 * 14)}`;
  const texts = Array.from({ length: 17_000 }, (_, id) => {
    const length = 1 + Math.floor(random() * 9);
    return { id, text: Array.from({ length }, word).join(' ') };
  });
  const words = (count: number): string => Array.from({ length: count }, word).join(' ');
  const leaf = (): FullTextQuery => {
    const which = random();
    if (which < 0.2) return new PhraseQuery(words(2), 'text', { slop: which < 0.1 ? 1 : 0 });
    if (which < 0.3) return new PrefixQuery('w1', 'text', { maxExpansions: 2 });
    const operator = which < 0.6 ? Operator.And : Operator.Or;
    const boost = which < 0.8 ? 1 : 3;
    return new MatchQuery(words(1 + Math.floor(random() * 2)), 'text', { operator, boost });
  };
  const tree = (depth: number): FullTextQuery => {
    const which = random();
    const part = (): FullTextQuery => (depth > 1 && random() < 0.4 ? tree(depth - 1) : leaf());
    if (which < 0.4) {
      return new BoostQuery(part(), part(), { negativeBoost: which < 0.1 ? 2 : 0.5 });
    }
    const kinds = [Occur.Must, Occur.Must, Occur.Should, Occur.MustNot];
    const more = kinds
      .filter(() => random() < 0.5)
      .map((kind): [Occur, FullTextQuery] => [kind, part()]);
    return new BooleanQuery([[which < 0.7 ? Occur.Must : Occur.Should, part()], ...more]);
  };
  const plain = await db.createTable('parts-plain', texts);
  const table = await db.createTable('parts', texts);
  await table.createIndex('text', { config: Index.fts({ withPosition: true }) });
  // A negative part that is below 0 adds to the score.
  const match = (word: string): FullTextQuery => new MatchQuery(word, 'text');
  const less = new BoostQuery(match('w0'), match('w1 w12'), { negativeBoost: 9 });
  const more = new BoostQuery(match('w9 w3'), less, { negativeBoost: 3 });
  const queries = [more, ...Array.from({ length: casesOf(30, 400) }, () => tree(2))];
  const compare = async (): Promise<void> => {
    for (const [at, query] of queries.entries()) {
      const asked = (of: Table): Promise<Hit[]> => {
        const search = of.query().fullTextSearch(query).select(['id']);
        const limited = search.limit([10, 2, 20_000][at % 3] as number);
        return (at % 4 === 1 ? limited.where('id % 3 = 0') : limited).toArray<Hit>();
      };
      const expected = await asked(plain);
      for (let turn = 0; turn < 2; turn++)
        expect([query, await asked(table)]).toEqual([query, expected]);
    }
  };
  await compare();
  for (const each of [plain, table]) await each.delete('id % 7 = 2');
  queries.splice(casesOf(10, 100));
  await compare();
});

test('finds rows that are best only since longer texts came', async () => {
  const texts = Array.from({ length: 512 }, (_, id): string =>
    id < 256 ? 'hit hit' : 'hit x y z',
  );
  texts[500] = `${'hit '.repeat(6)}${'x '.repeat(24)}`;
  const table = await db.createTable(
    'longer',
    texts.map((text, id) => ({ id, text })),
  );
  await table.createIndex('text', { config: Index.fts() });
  const best = async (): Promise<number | undefined> =>
    (await table.search('hit').limit(1).toArray<Hit>())[0]?.id;
  expect(await best()).toBe(0);
  await table.add([{ id: 1_000, text: 'elsewhere '.repeat(60_000) }]);
  expect(await best()).toBe(500);
});

describe('an index', () => {
  let table: Table;
  beforeAll(async () => {
    table = await db.createTable('told', rowsOf(0, 40));
  });

  test('tells how it makes words, in the names of LanceDB', async () => {
    await table.createIndex('text', {
      name: 'words',
      config: Index.fts({ language: 'German', maxTokenLength: 20, customStopWords: ['end'] }),
    });
    const [index] = await table.listIndices();
    expect(index).toMatchObject({ name: 'words', indexType: 'FTS', columns: ['text'] });
    expect(await table.indexStats('words')).toMatchObject({ numIndexedRows: 40, indexType: 'FTS' });
    expect((await table.search('end').toArray()).length).toBe(0);
    const details = (index as unknown as { indexDetails: Record<string, unknown> }).indexDetails;
    expect(details).toMatchObject({
      base_tokenizer: 'simple',
      language: 'German',
      max_token_length: 20,
      custom_stop_words: ['end'],
      with_position: false,
      min_ngram_length: 3,
    });
    expect(await usedIn(table, new PhraseQuery('even more', 'text'))).toContain(
      'a phrase needs positions, which the index words does not keep',
    );
    expect((await table.search(new PhraseQuery('odd more', 'text')).toArray()).length).toBe(10);
    await table.dropIndex('words');
  });

  test.each([
    ['ngram', 'eve', 20],
    ['whitespace', 'w3', 3],
    ['raw', 'even w0 end', 1],
    ['icu', 'w3', 3],
  ])('of %s tokens finds them', async (baseTokenizer, words, count) => {
    const plain = { stem: false, removeStopWords: false, asciiFolding: false };
    await table.createIndex('text', { config: Index.fts({ baseTokenizer, ...plain }) });
    const found = await table.search(words).limit(100).toArray();
    expect(found.length).toBeGreaterThanOrEqual(count - 1);
    expect(found.length).toBeLessThanOrEqual(count);
    expect(await usedIn(table, words)).toContain('text_idx for 40 rows');
  });

  test('of texts without a word is one too', async () => {
    const empty = await db.createTable('empty', [
      { id: 1, text: '!' },
      { id: 2, text: null },
    ]);
    await empty.createIndex('text', { config: Index.fts({ withPosition: true }) });
    expect(await empty.search('x').toArray()).toEqual([]);
    expect(await empty.search(new PhraseQuery('x y', 'text')).toArray()).toEqual([]);
    expect(await empty.search(new MatchQuery('x', 'text', { fuzziness: 2 })).toArray()).toEqual([]);
    await empty.add([{ id: 3, text: 'x' }]);
    expect(await empty.search('x').toArray()).toMatchObject([{ id: 3 }]);
  });

  test.each([
    ['id', {}, 'InvalidInput', 'cannot have an index of type FTS: it is float64'],
    ['text', { baseTokenizer: 'jieba/default' }, 'Unsupported', 'needs a dictionary'],
    ['text', { language: 'Klingon' }, 'InvalidInput', 'There is no language'],
    ['text', { blockSize: 256 }, 'Unsupported', 'no other block_size than 128'],
  ])('of %s with %j is refused', async (column, options, code, message) => {
    const config = Index.fts(options as object);
    await expect(table.createIndex(column, { config })).rejects.toEqual(
      expect.objectContaining({ code, message: expect.stringContaining(message) }),
    );
  });

  test('takes what a client of LanceDB sends, and refuses other options', async () => {
    const request = { id: ['told'], column: 'text', index_type: 'Inverted', name: 'sent' };
    const sent = { block_size: 128, lance_tokenizer: 'text', split_identifiers: false };
    const catalog = await openNamespace('dir', { root });
    await catalog.createTableIndex({ ...request, ...sent });
    await expect(catalog.createTableIndex({ ...request, index_operators: true })).rejects.toThrow(
      'no other index_operators than false',
    );
    await expect(catalog.createTableIndex({ ...request, num_bits: 8 })).rejects.toThrow(
      'has no option',
    );
    await catalog.close();
    await table.dropIndex('sent');
  });
});

test('a damaged file of an index is refused by name', async () => {
  const table = await db.createTable('damaged', rowsOf(0, 200));
  await table.createIndex('text', { config: Index.fts({ withPosition: true }) });
  const folder = join(root, 'data', 'damaged.table', 'indexes');
  const files = readdirSync(folder);
  expect(files).toHaveLength(3);
  for (const file of files) {
    const path = join(folder, file);
    const bytes = readFileSync(path);
    for (const at of [bytes.length >> 3, bytes.length >> 2, bytes.length >> 1]) {
      const other = Uint8Array.from(bytes);
      other[at] = (other[at] as number) ^ 0x40;
      writeFileSync(path, other);
      const fresh = await connect(root);
      const copy = await fresh.openTable('damaged');
      const asked = copy.search(new PhraseQuery('odd more w1', 'text', { slop: 9 }));
      await asked.toArray().then(
        // A byte of padding, or of a term that was not asked for.
        () => {},
        (error: Error) => expect(error.message).toContain(file.slice(0, 8)),
      );
      await fresh.close();
    }
    writeFileSync(path, bytes);
  }
});

test.each(['texts', 'placed-texts'])('an index of the golden %s is searched', async (name) => {
  const golden = await connect(join(import.meta.dirname, '../../../fixtures/v1', name), {
    readOnly: true,
  });
  const table = await golden.openTable('found');
  expect(await usedIn(table)).toBe('placed for 320 rows, and 10 are read');
  const count = async (query: string | FullTextQuery): Promise<number> =>
    (await table.search(query).limit(1_000).toArray()).length;
  const texts = (await table.query().toArray<{ text: string | null }>()).map(
    ({ text }) => text ?? '',
  );
  const having = (part: RegExp): number => texts.filter((text) => part.test(text)).length;
  expect(await count('run')).toBe(having(/running/));
  expect(await count('zurich')).toBe(having(/Zürich/));
  expect(await count('odd')).toBe(having(/odd/));
  expect(having(/odd/)).toBeGreaterThan(128);
  for (const words of ['odd end', 'odd odd', 'odd even']) {
    const phrase = new PhraseQuery(words, 'text');
    const found = having(new RegExp(words));
    expect(found).toBeGreaterThan(5);
    expect(await count(phrase)).toBe(found);
    const beside = new MatchQuery('nowhere', 'text');
    const both = new BooleanQuery([
      [Occur.Must, phrase],
      [Occur.Should, beside],
    ]);
    expect(await count(both)).toBe(found);
  }
  // No part of it was found to be damaged, so that rows would have been scanned instead.
  expect(await usedIn(table)).toBe('placed for 320 rows, and 10 are read');
  await golden.close();
});
