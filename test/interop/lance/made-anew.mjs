/**
 * As made_anew.py, with LanceDB's Node client: `made-anew.mjs URI PACKAGES COMMAND...`, where COMMAND starts stale-own.mjs.
 */
import { spawn } from 'node:child_process';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { createInterface } from 'node:readline';

const [uri, packages, command, ...args] = process.argv.slice(2);
const load = createRequire(join(packages, 'package.json'));
const { connectNamespace } = load('@lancedb/lancedb');
const { Field, Float64 } = load('apache-arrow');
const db = await connectNamespace('rest', { uri });
const own = spawn(command, args, { stdio: ['pipe', 'pipe', 'inherit'] });
const answers = createInterface({ input: own.stdout })[Symbol.asyncIterator]();

async function ask(table, does, given = {}) {
  own.stdin.write(`${JSON.stringify({ table, does, ...given })}\n`);
  const { value } = await answers.next();
  const answer = JSON.parse(value);
  if (answer.error !== undefined) throw new Error(`${table}: ${does}: ${answer.error}`);
  return answer;
}

const numbers = (first, count) => Array.from({ length: count }, (_, at) => first + at);
const rows = (first, count) => numbers(first, count).map((id) => ({ id, v: id * 10 }));
const theirs = (first, count) =>
  rows(first, count).map(({ id, v }) => ({ id: BigInt(id), v: BigInt(v) }));

const CHANGES = {
  add: (stale) => stale.add(theirs(900, 3)),
  delete: (stale) => stale.delete('id = 1'),
  'delete a whole fragment': (stale) => stale.delete('id < 10'),
  'delete every row': (stale) => stale.delete('true'),
  update: (stale) => stale.update({ where: 'id = 2', valuesSql: { v: '1' } }),
  merge: (stale) =>
    stale.mergeInsert('id').whenMatchedUpdateAll().whenNotMatchedInsertAll().execute(theirs(2, 3)),
  'add a column': (stale) => stale.addColumns([{ name: 'w', valueSql: 'v + 1' }]),
  'add a column of nulls': (stale) => stale.addColumns([new Field('w', new Float64(), true)]),
  rename: (stale) => stale.alterColumns([{ path: 'v', rename: 'w' }]),
  'drop a column': (stale) => stale.dropColumns(['v']),
  overwrite: (stale) => stale.add(theirs(900, 3), { mode: 'overwrite' }),
  restore: async (stale) => {
    await stale.checkout(1);
    await stale.restore();
  },
};

const failures = [];
let refused = 0;
for (const [at, [what, change]] of Object.entries(CHANGES).entries()) {
  for (const behind of [0, 2]) {
    const table = `anewjs${at}x${behind}`;
    await ask(table, 'make', { rows: rows(0, 10) });
    await ask(table, 'add', { rows: rows(10, 10) });
    const stale = await db.openTable(table);
    await stale.countRows();
    await ask(table, 'dropTable');
    await ask(table, 'make', { rows: rows(100, 10) });
    for (const step of numbers(0, 1 + behind))
      await ask(table, 'add', { rows: rows(200 + 10 * step, 10) });
    const before = await ask(table, 'read');
    const fresh = await db.openTable(table);
    const where = `${what}, ${behind} versions behind`;
    try {
      await change(stale);
      failures.push(`${where}: taken`);
    } catch {
      refused++;
    }
    const after = await ask(table, 'read');
    if (JSON.stringify(after) !== JSON.stringify(before))
      failures.push(`${where}: version ${before.version} became ${after.version}`);
    await fresh.add(theirs(500, 1)).catch((error) => failures.push(`${where}: then ${error}`));
    await ask(table, 'dropTable');
  }
}
own.stdin.end();
for (const failure of failures) console.log(`FAILED ${failure}`);
console.log(
  `LanceDB, tables made anew: ${refused} changes of clients that held the dropped one refused, ${failures.length} failures`,
);
process.exit(failures.length > 0 ? 1 : 0);
