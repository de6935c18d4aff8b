/**
 * Writes a table through LanceDB's Node client, operation by operation: `write-lancedb.mjs URI PACKAGES TABLE`, or
 * appends and deletes beside other writers: `... TABLE COMMITS`, which prints the ids that it acknowledges.
 */
import { createRequire } from 'node:module';
import { join } from 'node:path';

const [uri, packages, name, commits] = process.argv.slice(2);
const load = createRequire(join(packages, 'package.json'));
const { connectNamespace } = load('@lancedb/lancedb');
const { Field, Float64 } = load('apache-arrow');
const db = await connectNamespace('rest', { uri });
const table = await db.openTable(name);

const OPERATIONS = {
  delete: () => table.delete('id % 100 = 9'),
  'delete nothing': () => table.delete('id = -1'),
  'delete the most': () => table.delete('id >= 600'),
  update: () => table.update({ where: 'id < 3', values: { name: 'changed' } }),
  add: async () => table.add(await table.query().where('id < 5').toArrow()),
  merge: async () => {
    await table.delete('id < 5');
    const source = await table.query().where('id in (5, 6)').toArrow();
    return table.mergeInsert('id').whenMatchedUpdateAll().whenNotMatchedInsertAll().execute(source);
  },
  'add columns': () =>
    table.addColumns([
      { name: 'twice', valueSql: 'id * 2' },
      { name: 'upper', valueSql: 'upper(name)' },
    ]),
  'add a column of nulls': () => table.addColumns([new Field('extra', new Float64(), true)]),
  rename: () => table.alterColumns([{ path: 'name', rename: 'label' }]),
  nullable: () => table.alterColumns([{ path: 'id', nullable: true }]),
  'change a type': () => table.alterColumns([{ path: 'small', dataType: 'int32' }]),
  'drop columns': () => table.dropColumns(['x', 'pair']),
  optimize: async () => {
    await table.delete('id < 10');
    return table.optimize();
  },
  'optimize and prune': async () => {
    await table.delete('id < 12');
    return table.optimize({ cleanupOlderThan: new Date(Date.now() - 1) });
  },
  restore: async () => {
    const version = await table.version();
    await table.delete('id < 20');
    await table.checkout(version);
    return table.restore();
  },
  overwrite: async () =>
    table.add(await table.query().limit(5).select(['id', 'label']).toArrow(), {
      mode: 'overwrite',
    }),
  'add once more': async () => table.add(await table.query().limit(3).toArrow()),
};

if (commits === undefined) {
  for (const [operation, run] of Object.entries(OPERATIONS)) {
    const before = await table.version();
    await run();
    const after = await table.version();
    if (after <= before) throw new Error(`${operation} made no version`);
    console.log(`LanceDB: ${operation}, version ${after}, ${await table.countRows()} rows`);
  }
  const branch = await (await table.branches()).create('theirs');
  await branch.add(await table.query().limit(3).toArrow());
  await branch.delete('id < 7');
  await branch.optimize();
  const body = JSON.stringify({ branch: 'theirs' });
  const headers = { 'content-type': 'application/json' };
  const options = { method: 'POST', headers, body };
  const counted = await fetch(`${uri}/v1/table/${name}/count_rows`, options);
  const [theirs, ours] = [String(await branch.countRows()), await counted.text()];
  if (theirs !== ours) throw new Error(`the branch has ${theirs} rows, and the server's ${ours}`);
  console.log(`LanceDB: a branch, version ${await branch.version()}, ${theirs} rows`);
} else {
  let refused = 0;
  for (let at = 0; at < Number(commits); at++) {
    const id = 1_000_000 + at;
    for (;;) {
      try {
        if (at % 5 === 4) await table.delete(`id = ${id - 1}`);
        // By turns with and without a prune of all older versions.
        else if (at % 50 === 48)
          await table.optimize(at % 100 === 98 ? { cleanupOlderThan: new Date() } : {});
        else await table.add([{ id: BigInt(id), name: `name ${id}` }]);
        console.log(at % 5 === 4 ? `gone ${id - 1}` : at % 50 === 48 ? 'compacted' : `added ${id}`);
        break;
      } catch (error) {
        // Our own changes but appends are nothing that a client can build on without looking again.
        if (!/ncompatible|onflict|retry/i.test(String(error))) throw error;
        refused += 1;
        await table.checkoutLatest();
      }
    }
  }
  console.log(`refused ${refused}`);
}
process.exit(0);
