/**
 * Full-text search of 1,000,000 documents of 8 to 32 words, whose frequencies fall as those of a language do: how long
 * an index takes to build, and the ten best rows of queries of every kind. Tokenizers are set alike on every side.
 */
import * as own from '../../dist/index.js';
import { arrowTable, texts } from '../harness/data.mjs';
import { Stores } from '../harness/stores.mjs';
import { random } from './random.mjs';

const ROWS = 1_000_000;
const BATCHES = 10;
const TERMS = 49_000;
const SETTINGS = { withPosition: true, stem: false, removeStopWords: false, language: 'English' };

const CONSONANTS = 'bcdfghklmnprstvz';
const VOWELS = 'aeiou';

/** A word of its own for each number. */
function wordOf(number) {
  let word = '';
  for (let rest = number + 80; rest > 0; rest = Math.floor(rest / 80)) {
    word += CONSONANTS[rest % 16] + VOWELS[Math.floor((rest % 80) / 16)];
  }
  return word;
}

/** Draws words so that the n-th is drawn about 1 / n as often as the first. */
function zipf(next) {
  const sums = new Float64Array(TERMS);
  let total = 0;
  for (let term = 0; term < TERMS; term++) {
    total += (term + 1) ** -1.05;
    sums[term] = total;
  }
  const words = Array.from({ length: TERMS }, (_, term) => wordOf(term));
  return () => {
    const wanted = next() * total;
    let [low, high] = [0, TERMS - 1];
    while (low < high) {
      const middle = (low + high) >>> 1;
      if (sums[middle] < wanted) low = middle + 1;
      else high = middle;
    }
    return words[low];
  };
}

/** Words by their rank, joined. */
const ranks = (...numbers) => numbers.map(wordOf).join(' ');
/** The word of a rank with its last letter changed. */
const misspelt = (number) => `${wordOf(number).slice(0, -1)}y`;

/** The name, milliseconds at most, and the query by the classes of a side. */
const QUERIES = [
  ['a rare word', 3, ({ MatchQuery }) => new MatchQuery(ranks(20_000), 'text')],
  ['the most common word', 3, ({ MatchQuery }) => new MatchQuery(ranks(0), 'text')],
  ['any of three words', 3, ({ MatchQuery }) => new MatchQuery(ranks(3, 200, 9_000), 'text')],
  [
    'any of six common words',
    6,
    ({ MatchQuery }) => new MatchQuery(ranks(0, 1, 2, 3, 4, 5), 'text'),
  ],
  [
    'both of two words',
    3,
    ({ MatchQuery, Operator }) => new MatchQuery(ranks(2, 300), 'text', { operator: Operator.And }),
  ],
  [
    'words near to one, an edit away',
    5,
    ({ MatchQuery }) => new MatchQuery(misspelt(2_000), 'text', { fuzziness: 1 }),
  ],
  ['a phrase of two words', 3, ({ PhraseQuery }) => new PhraseQuery(ranks(10, 11), 'text')],
];

export async function* documentWorkloads(ctx) {
  const stores = await Stores.open(ctx, 'documents');
  const rows = ctx.size(ROWS, 10_000);
  const next = random(11);
  const word = zipf(next);
  const text = () => Array.from({ length: 8 + Math.floor(next() * 25) }, word).join(' ');
  for (let batch = 0; batch < BATCHES; batch++) {
    const size = rows / BATCHES;
    const ids = BigInt64Array.from({ length: size }, (_, row) => BigInt(batch * size + row));
    const column = texts(size, text);
    const make = (arrow) =>
      arrowTable(arrow, size, {
        id: [new arrow.Int64(), { data: ids }],
        text: [new arrow.Utf8(), { valueOffsets: column.offsets, data: column.bytes }],
      });
    await (batch === 0 ? stores.create('d', make) : stores.add('d', make));
  }
  // Through a namespace LanceDB's client makes and uses no such index.
  const { 'lancedb-ns': _, ...tables } = await stores.tables('d');
  const packageOf = (side) => (side === 'ours' ? own : ctx.peers.lancedb);
  const build = {};
  for (const [side, table] of Object.entries(tables)) {
    const config = () => packageOf(side).Index.fts(SETTINGS);
    build[side] = () => table.createIndex('text', { config: config() });
  }
  const built = {
    name: 'build FTS with positions',
    samples: 1,
    warmups: 0,
    goals: [{ atMost: 12_000, of: 'cpu' }, { times: 1 }],
    sides: build,
  };
  if (ctx.wants(built.name)) yield built;
  else for (const run of Object.values(build)) await run();
  for (const [name, atMost, make] of QUERIES) {
    const sides = {};
    for (const [side, table] of Object.entries(tables)) {
      const query = make(packageOf(side));
      sides[side] = async () => {
        const search = table.query().fullTextSearch(query).select(['id', '_score']).limit(10);
        return (await search.toArrow()).numRows;
      };
    }
    yield {
      name: `the ten best documents of ${name}`,
      goals: [{ atMost }, { times: 1 }],
      samples: 40,
      warmups: 20,
      block: 5,
      sides,
    };
  }
  stores.close();
}
