/**
 * Keeps what a price list was: a tag for what was published, a branch for a draft, the difference of
 * two versions, and a mistake taken back. `node examples/time-travel.mjs`
 */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { connect } from 'dirspace';

const root = await mkdtemp(join(tmpdir(), 'dirspace-prices-'));
const db = await connect(root);
try {
  const prices = await db.createTable('price', [
    { item: 'tea', cents: 300 },
    { item: 'coffee', cents: 350 },
    { item: 'cake', cents: 420 },
  ]);
  await (await prices.tags()).create('spring', await prices.version());

  // A draft is a branch: changed and read as a table, and no reader of the main line sees it.
  const draft = await (await prices.branches()).create('draft');
  await draft.update({ where: "item = 'coffee'", valuesSql: { cents: 'cents + 30' } });
  await draft.add([{ item: 'juice', cents: 390 }]);
  console.log('draft against main:');
  await difference(await rowsOf(prices), await rowsOf(draft));

  // What was decided on the draft goes to the main line in one version.
  await prices
    .mergeInsert('item')
    .whenMatchedUpdateAll()
    .whenNotMatchedInsertAll()
    .execute(await draft.toArrow());
  console.log(`published as version ${await prices.version()}`);

  // A mistake is one more version, and so is taking it back.
  await prices.delete('cents > 0');
  console.log(`rows after a mistake: ${await prices.countRows()}`);
  await prices.checkout((await prices.version()) - 1);
  await prices.restore();
  console.log(`rows after restoring: ${await prices.countRows()}`);

  const spring = await db.openTable('price', [], { tag: 'spring' });
  console.log('today against spring:');
  await difference(await rowsOf(spring), await rowsOf(prices));
  const versions = await prices.listVersions();
  console.log(`history: ${versions.map(({ metadata }) => metadata.operation).join(', ')}`);
} finally {
  await db.close();
  await rm(root, { recursive: true, force: true });
}

async function rowsOf(table) {
  const rows = await table.query().orderBy({ columnName: 'item' }).toArray();
  return new Map(rows.map(({ item, cents }) => [item, cents]));
}

function difference(before, after) {
  for (const [item, cents] of after) {
    if (!before.has(item)) console.log(`  + ${item} ${cents}`);
    else if (before.get(item) !== cents) console.log(`  ~ ${item} ${before.get(item)} -> ${cents}`);
  }
}
