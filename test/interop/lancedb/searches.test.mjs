/** Indexes, full-text and hybrid searches through LanceDB's remote client. */
import assert from 'node:assert/strict';
import * as lancedb from '@lancedb/lancedb';
import * as arrow from 'apache-arrow';
import { compare, failure, objects, remoteOnly } from './harness.mjs';

const { Index, rerankers } = lancedb;

const WORDS = ['apple', 'pear', 'plum', 'fig', 'quince', 'grape'];
const ROWS = Array.from({ length: 60 }, (_, id) => ({
  id,
  kind: `k${id % 4}`,
  tags: [`t${id % 3}`, `u${id % 5}`],
  text: `${WORDS[id % 6]} ${WORDS[(id * 7 + 1) % 5]} ${id % 9 === 0 ? `ripe apple tree${' branch'.repeat(id / 9)}` : 'basket'}`,
  vector: [id % 7, (id * 3) % 11, id / 10],
}));
const made = (db) => db.createTable('t', ROWS);

/** What both databases tell of an index alike. */
const listed = async (table) =>
  (await table.listIndices())
    .map(({ name, indexType, columns }) => ({ name, indexType, columns }))
    .sort((a, b) => (a.name < b.name ? -1 : 1));

compare('indexes of values: created, listed, described, used and dropped', async (db) => {
  const table = await made(db);
  await table.createIndex('id', { config: Index.btree() });
  await table.createIndex('kind', { config: Index.bitmap(), name: 'kinds' });
  await table.createIndex('tags', { config: Index.labelList() });
  await table.waitForIndex(['id_idx', 'kinds', 'tags_idx'], 30);
  const found = [await listed(table)];
  for (const name of ['id_idx', 'kinds', 'tags_idx']) {
    const { numIndexedRows, numUnindexedRows, indexType } = await table.indexStats(name);
    found.push([numIndexedRows, numUnindexedRows, indexType]);
  }
  for (const filter of ['id = 17', 'id IN (3, 99, 5)', "kind = 'k2' AND id < 20"]) {
    found.push(objects(await table.query().where(filter).select(['id']).toArray()));
  }
  found.push(await table.countRows("array_has(tags, 't1')"));
  await table.add([{ ...ROWS[0], id: 100 }]);
  found.push((await table.indexStats('id_idx')).numUnindexedRows);
  found.push(await table.countRows('id = 100'));
  await table.dropIndex('kinds');
  found.push(await listed(table), (await table.indexStats('kinds')) ?? null);
  found.push(await failure(() => table.dropIndex('kinds')));
  return found;
});

compare('an index that is there, of another name, and in the place of one', async (db) => {
  const table = await made(db);
  await table.createIndex('id', { config: Index.btree(), waitTimeoutSeconds: 30 });
  await table.createIndex('id', { config: Index.btree(), replace: true });
  return [await listed(table), await failure(() => table.createIndex('none'))];
});

/** Ids and scores; those of equal scores by their ids. */
const scored = async (query, digits = 3) =>
  objects(await query.toArray())
    .map((row) => [row.id, row._score.toFixed(digits)])
    .sort((a, b) => Number(b[1]) - Number(a[1]) || a[0] - b[0]);

compare('full-text searches: words, phrases, filters, trees of queries', async (db) => {
  const table = await made(db);
  const config = Index.fts({ withPosition: true, stem: false, removeStopWords: false });
  await table.createIndex('text', { config, waitTimeoutSeconds: 30 });
  const { BooleanQuery, BoostQuery, MatchQuery, MultiMatchQuery, Occur, Operator, PhraseQuery } =
    lancedb;
  const asked = [
    'ripe',
    new MatchQuery('ripe apple', 'text', { operator: Operator.And }),
    new PhraseQuery('apple tree', 'text'),
    new BoostQuery(new MatchQuery('apple', 'text'), new MatchQuery('ripe', 'text'), {
      negativeBoost: 0.3,
    }),
    new MultiMatchQuery('quince', ['text']),
    new BooleanQuery([
      [Occur.Must, new MatchQuery('apple', 'text')],
      [Occur.Must, new MatchQuery('ripe', 'text')],
    ]),
  ];
  const found = [await listed(table)];
  for (const query of asked) {
    const search = table.query().fullTextSearch(query, { columns: ['text'] });
    found.push(await scored(search.select(['id', '_score']).limit(60)));
  }
  const filtered = table
    .query()
    .fullTextSearch('apple', { columns: ['text'] })
    .where('id < 12');
  found.push(await scored(filtered.select(['id', '_score']).limit(60)));
  found.push(await scored(table.search('quince', 'fts', 'text').limit(60)));
  return found;
});

compare('a hybrid search, fused by ranks', async (db) => {
  const table = await made(db);
  const config = Index.fts({ stem: false, removeStopWords: false });
  await table.createIndex('text', { config, waitTimeoutSeconds: 30 });
  const reranker = await rerankers.RRFReranker.create();
  // Texts are of different lengths, and so no two rows score the same.
  const found = await table
    .query()
    .nearestTo([1, 2, 3])
    .fullTextSearch('ripe', { columns: ['text'] })
    .rerank(reranker)
    .limit(3)
    .toArray();
  return objects(found).map((row) => [row.id, row._relevance_score.toFixed(4)]);
});

compare('rows of several vectors each, all query vectors taken together', async (db) => {
  const { Field, FixedSizeList, Float32, Int32, List, Schema } = arrow;
  const vector = new FixedSizeList(2, new Field('item', new Float32(), true));
  const schema = new Schema([
    new Field('id', new Int32(), true),
    new Field('parts', new List(new Field('item', vector, true)), true),
  ]);
  const rows = Array.from({ length: 20 }, (_, id) => ({
    id,
    parts: Array.from({ length: 1 + (id % 3) }, (_, part) => [id + 1, part * 2 + 1 / (id + 1)]),
  }));
  const table = await db.createTable('parts', rows, { schema });
  const found = [];
  for (const query of [
    [1, 0],
    [
      [1, 0],
      [0, 1],
    ],
  ]) {
    const search = table.search(query).distanceType('cosine').limit(6);
    found.push(objects(await search.toArray()).map((row) => [row.id, row._distance.toFixed(4)]));
  }
  return found;
});

remoteOnly('a clone of a table, which is named or told by its place', async (db, { root }) => {
  const table = await made(db);
  await table.delete('id >= 50');
  const clone = await db.cloneTable('clone', 't');
  const placed = await db.cloneTable('placed', `${root}/data/t.table`, { sourceVersion: 1 });
  await db.dropTable('t');
  assert.deepEqual([await clone.countRows(), await placed.countRows()], [50, 60]);
});
