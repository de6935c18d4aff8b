/**
 * Drives `connectNamespace('rest')` for test_rest_adapter.py: `node rest_client.mjs <url>` takes a
 * program as JSON on its input and prints what each step answers. Needs the built package.
 */
import { readFileSync } from 'node:fs';
import { text } from 'node:stream/consumers';

const DIST = process.env.DIRSPACE_DIST ?? '../../../dist/index.js';
const { connectNamespace, openNamespace } = await import(DIST);
const url = process.argv[2];
const namespace = await openNamespace('rest', { uri: url });

const plain = (value) => {
  if (typeof value === 'bigint') return Number(value);
  if (ArrayBuffer.isView(value)) return Array.from(value, plain);
  if (typeof value?.toArray === 'function') return Array.from(value.toArray(), plain);
  return value;
};
const plainRow = (row) =>
  Object.fromEntries(Object.entries(row).map(([name, value]) => [name, plain(value)]));

async function rowsOf(stream) {
  const rows = [];
  for await (const batch of stream) {
    for (const row of batch) rows.push(plainRow(row.toJSON()));
  }
  return rows;
}

async function step({ operation, request, data }) {
  const method = operation[0].toLowerCase() + operation.slice(1);
  const inputs = data === undefined ? [request] : [request, new Uint8Array(readFileSync(data))];
  try {
    const answer = await namespace[method](...inputs);
    if (answer?.schema === undefined || !(Symbol.asyncIterator in answer)) return { answer };
    return { answer: { rows: await rowsOf(answer) } };
  } catch (error) {
    return { code: error.code, message: error.message };
  }
}

/** The idiomatic face over the same server. */
async function sdk() {
  const db = await connectNamespace('rest', { uri: url });
  const people = [1, 2, 3, 4].map((id) => ({ id, name: `n${id}`, vector: [id, 1] }));
  const table = await db.createTable('people', people);
  const found = async (query) => (await query.toArray()).map(plainRow);
  const ids = async (query) => (await found(query)).map(({ id }) => id);
  const failure = (work) =>
    work.then(
      () => undefined,
      ({ code, message }) => `${code}: ${message}`,
    );
  const results = {
    names: (await table.schema()).fields.map(({ name }) => name),
    all: await found(table.query()),
    limited: await ids(table.query().limit(2)),
    none: await ids(table.query().limit(0)),
    offset: await ids(table.query().offset(3)),
    filtered: await found(table.query().where('id > 2').select(['id'])),
    aliases: await found(table.query().select({ twice: 'id * 2' }).limit(1)),
    output: (await table.query().select(['name']).outputSchema()).fields.map(String),
    nearest: await found(table.vectorSearch([3.25, 1]).limit(2).select(['id'])),
    cosine: await ids(table.vectorSearch([4, 1]).distanceType('cosine').limit(1)),
    offsets: await ids(table.takeOffsets([2, 0, 2])),
    rowIds: await ids(table.takeRowIds([1])),
    ordered: await failure(table.query().orderBy({ columnName: 'id' }).toArray()),
    several: await failure(
      table.query().nearestTo([1, 1]).addQueryVector([4, 1]).limit(1).toArray(),
    ),
    skipped: await failure(table.vectorSearch([1, 1]).limit(1).offset(1).toArray()),
    plan: typeof (await table.query().where('id > 2').explainPlan()),
    analysis: typeof (await table.query().analyzePlan()),
  };
  const draft = await (await table.branches()).create('draft');
  results.draft = [
    await failure(draft.delete('true')),
    await failure(draft.update({ values: { name: 'x' } })),
    await failure(draft.add([{ id: 9, name: 'n9', vector: [9, 1] }])),
    await failure(draft.query().toArray()),
  ];
  results.kept = await ids(table.query());
  await table.add([{ id: 5, name: 'n5', vector: [5, 1] }]);
  await table.update({ where: 'id = 1', values: { name: 'first' } });
  const merge = table.mergeInsert('id').whenMatchedUpdateAll().whenNotMatchedInsertAll();
  const merged = await merge.execute([
    { id: 5, name: 'five', vector: [5, 5] },
    { id: 6, name: 'six', vector: [6, 6] },
  ]);
  await table.delete('id = 2');
  const tags = await table.tags();
  await tags.create('end', await table.version());
  results.merged = [merged.numInsertedRows, merged.numUpdatedRows];
  results.count = [await table.countRows(), await table.countRows('id > 3')];
  results.versions = (await table.listVersions()).map(({ version }) => version);
  results.tagged = (await tags.list()).end.version;
  await table.checkout(1);
  results.first = [await table.version(), await ids(table.query())];
  await table.checkoutLatest();
  await table.addColumns([{ name: 'next', valueSql: 'id + 1' }]);
  results.last = await found(table.query());
  results.rows = (await table.stats()).numRows;
  results.optimize = await failure(table.optimize());
  await db.dropTable('people');
  results.left = await db.tableNames();
  return results;
}

const program = JSON.parse(await text(process.stdin));
const results = program === 'sdk' ? await sdk() : [];
if (Array.isArray(results)) for (const one of program) results.push(await step(one));
console.log(
  JSON.stringify(results, (_, value) => (typeof value === 'bigint' ? Number(value) : value)),
);
await namespace.close();
