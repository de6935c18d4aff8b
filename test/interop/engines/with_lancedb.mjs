/** LanceDB for Node on the catalog, in its namespace mode: `with_lancedb.mjs URI MODE`. */
import { strict as assert } from 'node:assert';
import { connectNamespace } from '@lancedb/lancedb';

const [uri] = process.argv.slice(2);
const rows = (...ids) => ids.map((id) => ({ id, name: `n${id}` }));

async function call(path, body = {}) {
  const response = await fetch(`${uri}/v1/${path}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(body),
  });
  return { status: response.status, answer: await response.json() };
}

async function step(name, run) {
  const begun = Date.now();
  try {
    const note = await run();
    const seconds = ((Date.now() - begun) / 1000).toFixed(1);
    console.log(`ok ${name} (${seconds} s)${note === undefined ? '' : `: ${note}`}`);
  } catch (error) {
    console.log(
      `not ok ${name}: ${String(error?.message ?? error)
        .replaceAll(/\s+/g, ' ')
        .slice(0, 400)}`,
    );
    console.error(error);
  }
}

const connect = () => connectNamespace('rest', { uri });

async function idsOf(name) {
  const table = await (await connect()).openTable(name, ['node']);
  const found = await table.query().select(['id']).toArray();
  return found.map(({ id }) => Number(id)).sort((a, b) => a - b);
}

await call('namespace/node/create');

await step('lancedb for Node: create, append, update, delete, merge', async () => {
  const db = await connect();
  const table = await db.createTable('t', rows(1, 2, 3), ['node']);
  await table.add(rows(4));
  await table.update({ where: 'id = 3', values: { name: 'x' } });
  await table.delete('id = 2');
  await table
    .mergeInsert('id')
    .whenMatchedUpdateAll()
    .whenNotMatchedInsertAll()
    .execute(rows(4, 5));
  assert.deepEqual(await idsOf('t'), [1, 3, 4, 5]);
  assert.equal(await table.countRows("name = 'x'"), 1);
});

await step('lancedb for Node: 4 writers of 4 appends', async () => {
  await (await connect()).createTable('many', rows(0), ['node']);
  const writers = [0, 1, 2, 3].map(async (at) => {
    const table = await (await connect()).openTable('many', ['node']);
    for (let turn = 0; turn < 4; turn++) await table.add(rows(1 + at * 4 + turn));
  });
  await Promise.all(writers);
  const found = await idsOf('many');
  assert.deepEqual(
    found,
    Array.from({ length: 17 }, (_, id) => id),
  );
  return '16 rows acknowledged and found';
});

await step('lancedb for Node: a rename during an append loop', async () => {
  const table = await (await connect()).createTable('r', rows(1), ['node']);
  const acknowledged = [];
  let refused = 0;
  for (let id = 1000; id < 1030 && refused < 4; id++) {
    if (id === 1010) await call('table/node$r/rename', { new_table_name: 'r2' });
    try {
      await table.add(rows(id));
      acknowledged.push(id);
    } catch {
      refused++;
    }
  }
  const found = new Set(await idsOf('r2'));
  assert.deepEqual(
    acknowledged.filter((id) => !found.has(id)),
    [],
  );
  return `${acknowledged.length} acknowledged, ${refused} refused`;
});

await step('lancedb for Node: drop', async () => {
  await (await connect()).dropTable('t', ['node']);
  assert.equal((await call('table/node$t/describe')).status, 404);
});
process.exit(0);
