/**
 * The ten best rows of random full-text queries of six kinds, in a database of LanceDB's own and here, with the
 * same tokenizer: the same rows with scores within 1e-4. Rows whose scores are the same may change places.
 * `QUERIES=1000 node --test texts.test.mjs` asks as many queries of each kind; `SEED=7` others.
 */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as lancedb from '@lancedb/lancedb';
import * as own from '../../../dist/index.js';
import { connectLocal } from './harness.mjs';

const QUERIES = Number(process.env.QUERIES ?? 40);
const SEED = Number(process.env.SEED ?? 15);
const ROWS = 2_000;
const WITHIN = 1e-4;

let state = SEED >>> 0;
function random() {
  state = (state + 0x6d2b79f5) >>> 0;
  let t = Math.imul(state ^ (state >>> 15), 1 | state);
  t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
  return ((t ^ (t >>> 14)) >>> 0) / 4294967296;
}
const below = (most) => Math.floor(random() * most);
const pick = (list) => list[below(list.length)];

const SYLLABLES = ['ba', 'ki', 'ton', 're', 'mu', 'sal', 'or', 'en', 'vit', 'lo'];
const VOCABULARY = Array.from({ length: 400 }, () =>
  Array.from({ length: 2 + below(3) }, () => pick(SYLLABLES)).join(''),
).concat(['running', 'runs', 'bakery', 'bakeries', 'the', 'of', 'cafés', 'Zürich', 'naïve']);
/** Common words are far more common than rare ones. */
const word = () => VOCABULARY[Math.floor(random() ** 3 * VOCABULARY.length)];
const words = (least, more) => Array.from({ length: least + below(more) }, word).join(' ');

const rows = Array.from({ length: ROWS }, (_, id) => ({
  id,
  text: words(1, 30),
  title: random() < 0.1 ? '' : words(1, 6),
  plain: words(1, 12),
}));
/** A part of a text, which is there as a phrase. */
const phrase = () => {
  const parts = pick(rows).text.split(' ');
  const from = below(parts.length);
  return parts.slice(from, from + 2 + below(2)).join(' ');
};
const near = () => {
  const text = word();
  const at = below(text.length);
  return text.slice(0, at) + pick(['', 'x', text[at] + text[at]]) + text.slice(at + 1);
};

const SETTINGS = {
  withPosition: true,
  baseTokenizer: 'simple',
  language: 'English',
  maxTokenLength: 40,
  lowercase: true,
  stem: true,
  removeStopWords: true,
  asciiFolding: true,
};

/** Makes a query with the classes of a package. */
const KINDS = {
  'any of some words': () => {
    const text = words(1, 4);
    const boost = pick([1, 1, 2.5]);
    return ({ MatchQuery }) => new MatchQuery(text, 'text', { boost });
  },
  'all of some words': () => {
    const text = words(2, 2);
    return ({ MatchQuery, Operator }) => new MatchQuery(text, 'text', { operator: Operator.And });
  },
  'a phrase': () => {
    const text = phrase();
    return ({ PhraseQuery }) => new PhraseQuery(text, 'text');
  },
  'near words': () => {
    const text = near();
    const fuzziness = pick([1, 1, 2]);
    const prefixLength = pick([0, 1, 2]);
    return ({ MatchQuery }) =>
      new MatchQuery(text, 'plain', { fuzziness, prefixLength, maxExpansions: 1_000 });
  },
  'words in several columns': () => {
    const text = words(1, 3);
    const boosts = [1, pick([1, 0.5, 3])];
    return ({ MultiMatchQuery }) => new MultiMatchQuery(text, ['text', 'title'], { boosts });
  },
  'queries joined': () => {
    const [one, other, third] = [words(1, 2), words(1, 2), words(1, 1)];
    if (random() < 0.3) {
      return ({ BoostQuery, MatchQuery }) =>
        new BoostQuery(new MatchQuery(one, 'text'), new MatchQuery(other, 'text'), {
          negativeBoost: 0.3,
        });
    }
    const occurs = pick([
      ['Must', 'Should'],
      ['Should', 'Should'],
      ['Should', 'MustNot'],
      ['Must', 'Must', 'MustNot'],
    ]);
    return ({ BooleanQuery, MatchQuery, Occur }) =>
      new BooleanQuery(
        occurs.map((occur, at) => [
          Occur[occur],
          new MatchQuery([one, other, third][at], at === 1 && one.length % 2 ? 'title' : 'text'),
        ]),
      );
  },
};

const K = 10;
/** More than the best ten, so that rows of the same score as the last one are known. */
const MORE = 60;

async function best(table, query) {
  const found = await table
    .query()
    .fullTextSearch(query)
    .select(['id', '_score'])
    .limit(MORE)
    .toArray();
  return found.map((row) => [Number(row.id), Number(row._score)]);
}

/** What is wrong with the first ten; undefined where nothing is. */
function difference(ours, theirs) {
  const count = Math.min(K, theirs.length);
  if (Math.min(K, ours.length) !== count) return `${ours.length} rows, not ${theirs.length}`;
  for (let at = 0; at < count; at++) {
    const [id, score] = theirs[at];
    if (Math.abs(ours[at][1] - score) > WITHIN) return `row ${at} has ${ours[at][1]}, not ${score}`;
    const same = ours.find(([other]) => other === id);
    const isTie = ours.length === MORE && Math.abs(ours[MORE - 1][1] - score) <= WITHIN;
    if (same === undefined && !isTie) return `row ${id} of ${score} is missing`;
    if (same !== undefined && Math.abs(same[1] - score) > WITHIN)
      return `row ${id} has ${same[1]}, not ${score}`;
  }
  return undefined;
}

test('the best rows of random queries are LanceDBs', async () => {
  const theirs = await (await connectLocal()).createTable('t', rows);
  const db = await own.connect('memory://');
  const ours = await db.createTable('t', rows);
  for (const column of ['text', 'title', 'plain']) {
    // Fuzzy words are stemmed here, and are not there.
    const settings = { ...SETTINGS, stem: column !== 'plain' };
    await theirs.createIndex(column, { config: lancedb.Index.fts(settings) });
    await ours.createIndex(column, { config: own.Index.fts(settings) });
  }
  const different = [];
  let asked = 0;
  for (const [kind, make] of Object.entries(KINDS)) {
    let wrong = 0;
    for (let at = 0; at < QUERIES; at++) {
      const query = make();
      asked += 1;
      const found = difference(await best(ours, query(own)), await best(theirs, query(lancedb)));
      if (found === undefined) continue;
      wrong += 1;
      different.push(`${kind}: ${JSON.stringify(query(own).inner)}: ${found}`);
    }
    console.log(`${kind}: ${QUERIES - wrong} of ${QUERIES} the same`);
  }
  await db.close();
  assert.deepEqual(different.slice(0, 10), [], `${different.length} of ${asked} differ`);
});
