/**
 * A table with indexes of vectors, numbers and texts that LanceDB's client writes over REST and this package beside it,
 * by a random history: `write-indexes.mjs PACKAGE ROOT URI PACKAGES STEPS SEED`. After each step answers through
 * an index are those of a scan. Clones and branches are made on the way, branches are written by both, LanceDB
 * overwrites the table, and both clients prune as much as they can: at the end every version, branch and clone has
 * the rows that it had, and clones open in LanceDB.
 */
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { randomFrom } from './random.mjs';

const [entry, root, uri, packages, steps, seed] = process.argv.slice(2);
const { connect, Index } = await import(pathToFileURL(entry).href);
const load = createRequire(join(packages, 'package.json'));
const { connectNamespace } = load('@lancedb/lancedb');

const DIMENSION = 16;
const ROWS = 5000;
const random = randomFrom(seed);
const below = (limit) => Math.floor(random() * limit);
let nextId = 0;
const WORDS = ['amber', 'birch', 'cedar', 'delta', 'ember', 'fjord', 'grove', 'heath'];
const row = () => ({
  id: BigInt(nextId++),
  kind: below(200),
  text: `${WORDS[below(8)]} ${WORDS[below(8)]} ${WORDS[below(8)]}`,
  vector: Array.from({ length: DIMENSION }, () => random() * 2 - 1),
});
const rows = (count) => Array.from({ length: count }, row);

const { Schema, Field, Int64, Int32, Utf8, Float32, FixedSizeList } = await import('apache-arrow');
const schema = new Schema([
  new Field('id', new Int64(), false),
  new Field('kind', new Int32(), true),
  new Field('text', new Utf8(), true),
  new Field('vector', new FixedSizeList(DIMENSION, new Field('item', new Float32(), true)), true),
]);
const db = await connect(root, { lance: 'write' });
const own = await db.createTable('t', rows(ROWS), [], { schema });
async function makeIndexes(table) {
  await table.createIndex('vector', { config: Index.ivfSq({ numPartitions: 12 }) });
  await table.createIndex('kind', { config: Index.btree() });
  await table.createIndex('text', { config: Index.fts() });
}
await makeIndexes(own);
const lancedb = await connectNamespace('rest', { uri });
let theirs = await lancedb.openTable('t');

const cut = () => `id % 97 = ${below(97)}`;
const half = () => `kind = ${below(200)}`;
/** Of LanceDB's client. */
const THEIRS = {
  add: () => theirs.add(rows(1 + below(60))),
  delete: () => theirs.delete(cut()),
  'update a text': () =>
    theirs.update({ where: half(), values: { text: `${WORDS[below(8)]} new` } }),
  'update a number': () => theirs.update({ where: cut(), valuesSql: { kind: '(kind + 7) % 200' } }),
  merge: async () => {
    const from = BigInt(below(nextId));
    const changed = rows(30).map((each, at) =>
      at % 2 ? each : { ...each, id: from + BigInt(at) },
    );
    await theirs
      .mergeInsert('id')
      .whenMatchedUpdateAll()
      .whenNotMatchedInsertAll()
      .execute(changed);
  },
  optimize: () => theirs.optimize(),
  // It takes away files that the same handle goes on to read.
  prune: async () => {
    await theirs.optimize({ cleanupOlderThan: new Date(), deleteUnverified: true });
    theirs = await lancedb.openTable('t');
  },
  'add a column': async () => {
    const name = `extra${below(1000)}`;
    await theirs.addColumns([{ name, valueSql: 'kind * 2' }]);
    await theirs.dropColumns([name]);
  },
  restore: async () => {
    const version = await theirs.version();
    await theirs.delete(half());
    await theirs.add(rows(5));
    await theirs.checkout(version);
    await theirs.restore();
  },
  // No index of the rows before may answer for those that come in their place.
  overwrite: async () => {
    await theirs.add(rows(ROWS), { mode: 'overwrite' });
    await own.checkoutLatest();
    await compare(own, 'overwritten, before indexes');
    await makeIndexes(own);
    await theirs.checkoutLatest();
  },
  // The indexes of before come back with their rows.
  'overwrite and restore': async () => {
    const version = await theirs.version();
    await theirs.add(rows(50), { mode: 'overwrite' });
    await own.checkoutLatest();
    await compare(own, 'overwritten');
    await theirs.checkout(version);
    await theirs.restore();
  },
};
/** Of this package. */
const OURS = {
  'our add': () => own.add(rows(1 + below(60))),
  'our delete': () => own.delete(cut()),
  'our update': () => own.update({ where: half(), valuesSql: { kind: '(kind + 3) % 200' } }),
  'our optimize': () => own.optimize(),
  'our vectors': () =>
    own
      .mergeInsert('id')
      .whenMatchedUpdateAll()
      .execute(
        rows(20)
          .map((each) => ({ ...each, id: BigInt(below(ROWS)) }))
          .filter(once()),
      ),
};
function once() {
  const seen = new Set();
  return ({ id }) => !seen.has(id) && seen.add(id);
}

const idsIn = (found) => found.map(({ id }) => Number(id)).sort((a, b) => a - b);
const same = (one, other, what) => {
  if (JSON.stringify(one) !== JSON.stringify(other))
    throw new Error(
      `${what}: ${JSON.stringify(one).slice(0, 300)} is not ${JSON.stringify(other).slice(0, 300)}`,
    );
};
let [asked, found, used] = [0, 0, 0];

/** Answers with indexes against those over all rows of the table as they are read without any. */
async function compare(table, what) {
  const all = await table.query().select(['id', 'kind', 'text', 'vector']).toArray();
  same(all.length, await table.countRows(), `${what}: rows`);
  for (let at = 0; at < 3; at++) {
    const kind = below(200);
    const wanted = idsIn(all.filter((each) => each.kind === kind));
    same(
      idsIn(await table.query().where(`kind = ${kind}`).toArray()),
      wanted,
      `${what}: kind ${kind}`,
    );
  }
  const word = WORDS[below(8)];
  const texts = idsIn(all.filter(({ text }) => text.split(' ').includes(word)));
  const scored = await table.search(word, 'fts', ['text']).limit(100_000).toArray();
  same(idsIn(scored), texts, `${what}: ${word}`);
  // One that is there, so that the nearest is known, and one that need not be.
  for (const query of [[...all[below(all.length)].vector], row().vector]) {
    const search = () => table.vectorSearch(query).column('vector').limit(10);
    const exact = await search().bypassVectorIndex().toArray();
    const near = await search().nprobes(12).refineFactor(10).toArray();
    same(near.length, exact.length, `${what}: rows near`);
    const distances = new Map(all.map((each) => [Number(each.id), distance(each.vector, query)]));
    for (const each of near) {
      const known = distances.get(Number(each.id));
      if (known === undefined || Math.abs(known - each._distance) > 1e-4)
        throw new Error(`${what}: row ${each.id} at ${each._distance}, which is at ${known}`);
    }
    if (Math.abs(near[0]._distance - exact[0]._distance) > 1e-4)
      throw new Error(
        `${what}: the nearest is row ${exact[0].id}, and row ${near[0].id} was found`,
      );
    const ids = new Set(idsIn(exact));
    asked += ids.size;
    found += near.filter(({ id }) => ids.has(Number(id))).length;
  }
  const plan = await table.vectorSearch(row().vector).column('vector').limit(10).explainPlan();
  if (/vector_idx finds/.test(plan)) used++;
}
const distance = (one, other) => {
  let sum = 0;
  for (let at = 0; at < DIMENSION; at++)
    sum += (Math.fround(one[at]) - Math.fround(other[at])) ** 2;
  return sum;
};
const contentOf = async (table) =>
  JSON.stringify(
    (await table.query().select(['id', 'kind', 'text', 'vector']).toArray())
      .map((each) => [Number(each.id), each.kind, each.text, [...each.vector]])
      .sort(([one], [other]) => one - other),
  );

/** A branch that one of the two makes and both write, beside the table; its content. */
async function branched(name) {
  if (random() < 0.5) await (await theirs.branches()).create(name);
  else await (await own.branches()).create(name);
  const ours = await db.openTable('t', [], { branch: name });
  const other = await (await theirs.branches()).checkout(name);
  await compare(ours, `${name}, made`);
  await other.add(rows(40));
  await other.update({ where: half(), values: { text: `${WORDS[below(8)]} branched` } });
  await ours.checkoutLatest();
  await ours.delete(cut());
  await compare(ours, `${name}, written`);
  await other.checkoutLatest();
  await (random() < 0.5 ? other.optimize() : ours.optimize());
  await ours.checkoutLatest();
  await compare(ours, `${name}, optimized`);
  return contentOf(ours);
}

const clones = new Map();
const branches = new Map();
const kept = new Map();
const done = new Map();
for (let step = 0; step < Number(steps); step++) {
  const choices = Object.entries(random() < 0.7 ? THEIRS : OURS);
  const [name, change] = choices[below(choices.length)];
  for (let attempt = 0; ; attempt++) {
    try {
      await change();
      break;
    } catch (error) {
      // Our own changes are nothing that a client can build on without looking again.
      if (attempt === 3 || !/ncompatible|onflict|retry/i.test(String(error))) throw error;
    }
    await theirs.checkoutLatest();
  }
  done.set(name, (done.get(name) ?? 0) + 1);
  await own.checkoutLatest();
  const what = `step ${step}, ${name}`;
  await compare(own, what);
  if (step % 8 === 3) {
    const clone = `clone${step}`;
    const made = await db.cloneTable(clone, 't');
    clones.set(clone, await contentOf(made));
    await compare(made, `${what}, cloned`);
  }
  if (step % 10 === 6) branches.set(`branch${step}`, await branched(`branch${step}`));
  if (step % 6 === 0) {
    kept.set(await own.version(), await contentOf(own));
  }
}
theirs = await lancedb.openTable('t');
await theirs.checkoutLatest();
await theirs.delete('id = 1');
await theirs.optimize({ cleanupOlderThan: new Date(), deleteUnverified: true });
await own.checkoutLatest();
await compare(own, 'the end');
for (const [version, content] of kept) {
  await own.checkout(version);
  same(await contentOf(own), content, `version ${version}`);
  const opened = await lancedb.openTable('t');
  await opened.checkout(version);
  same(await contentOf(opened), content, `version ${version} in LanceDB`);
}
for (const [branch, content] of branches) {
  same(await contentOf(await db.openTable('t', [], { branch })), content, branch);
  const opened = await (await theirs.branches()).checkout(branch);
  same(await contentOf(opened), content, `${branch} in LanceDB`);
}
// Versions that only their numbers are known of go, and what the clones and the newest have stays.
await own.checkoutLatest();
await own.optimize({ cleanupOlderThan: new Date() });
await own.checkoutLatest();
await compare(own, 'after cleanup');
for (const [clone, content] of clones) {
  same(await contentOf(await db.openTable(clone)), content, clone);
  const opened = await lancedb.openTable(clone);
  same(await contentOf(opened), content, `${clone} in LanceDB`);
  await opened.add(rows(3));
  await opened.optimize({ cleanupOlderThan: new Date(), deleteUnverified: true });
  await compare(await db.openTable(clone), `${clone}, written by LanceDB`);
}
const { problems } = await db.namespace.verify({});
if (problems.length > 0) throw new Error(`verify: ${JSON.stringify(problems.slice(0, 3))}`);
if (used === 0) throw new Error('No search used the index of vectors.');
const told = [...done].map(([name, times]) => `${name} ${times}`).join(', ');
console.log(
  `indexes beside LanceDB: ${steps} changes (${told}), ${clones.size} clones, ${branches.size} branches, ${kept.size} old versions, index used in ${used} plans, ${found} of ${asked} of the nearest found`,
);
await db.close();
process.exit(0);
