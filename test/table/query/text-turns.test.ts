/**
 * Full-text queries of many words yield, whatever they are at. Under a clock that finds every turn over,
 * each step is a look at the clock, so looks tell how the work was divided.
 */
import { beforeAll, describe, expect, test } from 'vitest';
import { systemEnv } from '../../../src/env.ts';
import {
  BooleanQuery,
  type Connection,
  connect,
  type FullTextQuery,
  Index,
  MatchQuery,
  Occur,
  Operator,
  PhraseQuery,
  type Table,
} from '../../../src/index.ts';
import { memoryFs } from '../../helpers/memory-fs.ts';

let looks = 0;
let now = 0;
const tick = (): number => {
  looks += 1;
  now += 10;
  return now;
};

const numbered = (count: number, letter: string): string =>
  Array.from({ length: count }, (_, at) => `${letter}${at}`).join(' ');
const many = (text: string): string => `${text} `.repeat(4_096 / text.split(' ').length);

let db: Connection;
let scanned: Table;
let indexed: Table;
beforeAll(async () => {
  const fs = memoryFs();
  db = await connect('/root', { fs, env: { ...systemEnv, now: tick } });
  const rows = Array.from({ length: 800 }, (_, id) => ({
    id,
    text: `fox dog w${id} z${id % 40}`,
  }));
  rows.push({ id: -1, text: 'fox dog '.repeat(2_100) });
  scanned = await db.createTable('scanned', rows);
  indexed = await db.createTable('indexed', rows);
  await indexed.createIndex('text', { config: Index.fts({ withPosition: true }) });
  return () => db.close();
});

const QUERIES: readonly (readonly [string, FullTextQuery])[] = [
  ['any words', new MatchQuery(many(numbered(64, 'w')), 'text')],
  [
    'all words',
    new BooleanQuery([
      [Occur.Must, new MatchQuery(many('fox dog'), 'text', { operator: Operator.And })],
    ]),
  ],
  ['fuzzy words', new MatchQuery(`fix ${numbered(4_000, 'w')}`, 'text', { fuzziness: 2 })],
  ['a phrase', new PhraseQuery(many('fox dog').trimEnd(), 'text', { slop: 3 })],
];

describe.each(QUERIES)('%s, four thousand', (_, asked) => {
  test.each(['scanned', 'indexed'])(
    'of a table that is %s, are looked for in steps',
    async (name) => {
      const table = name === 'indexed' ? indexed : scanned;
      const plain = new MatchQuery('fox', 'text');
      await table.search(plain).toArray();
      looks = 0;
      await table.search(plain).toArray();
      const few = looks;
      looks = 0;
      expect((await table.search(asked).toArray()).length).toBeGreaterThan(0);
      const all = looks - few;
      expect(all).toBeGreaterThan(20);
      const controller = new AbortController();
      looks = 0;
      const running = table.search(asked).toArray({ signal: controller.signal });
      setImmediate(() => controller.abort(new Error('enough')));
      await expect(running).rejects.toThrow('enough');
      expect(looks).toBeLessThan(few + all / 2);
    },
  );
});

test('more words are refused, in all columns that they are looked for in', async () => {
  const refused = expect.objectContaining({
    code: 'InvalidInput',
    message: expect.stringContaining('at most 4096 words'),
  });
  await expect(scanned.search(numbered(4_097, 'w')).toArray()).rejects.toEqual(refused);
  const three = await db.createTable('three', [{ a: 'w1', b: 'w2', c: 'w3' }]);
  expect(await three.search(numbered(1_365, 'w')).toArray()).toHaveLength(1);
  await expect(three.search(numbered(1_366, 'w')).toArray()).rejects.toEqual(refused);
});
