/**
 * One writer: opens the table of its job, prints a line, and begins when its standard input ends. It
 * appends ten rows again and again, or adds and drops a column, so many times or so many seconds, and
 * prints how many commits it made. Conflicts that its library gives up on count as none and go on.
 */
import { cpuTime } from '../harness/measure.mjs';
import { smallTable } from './catalog.mjs';

const job = JSON.parse(process.argv[2]);
const own = job.side.startsWith('ours');
const library = await import(own ? '../../dist/index.js' : '@lancedb/lancedb');
const arrow = await import(own ? '../../node_modules/apache-arrow/Arrow.node.mjs' : 'apache-arrow');
const connection =
  job.side === 'lancedb-ns'
    ? await library.connectNamespace('dir', { root: job.root })
    : await library.connect(job.root, own ? { durability: job.durability } : undefined);
const table = await connection.openTable('t');
const rows = smallTable(arrow);
let added = false;

const work = {
  append: () => table.add(rows),
  schema: async () => {
    if (added) await table.dropColumns(['more']);
    else await table.addColumns([{ name: 'more', valueSql: 'id * 2' }]);
    added = !added;
  },
}[job.does];

console.log('{}');
for await (const _ of process.stdin);
const cpu = cpuTime();
const until = performance.now() + (job.seconds ?? Number.POSITIVE_INFINITY) * 1_000;
let done = 0;
let failed = 0;
let error;
while (done < (job.commits ?? Number.POSITIVE_INFINITY) && performance.now() < until) {
  try {
    await work();
    done++;
  } catch (problem) {
    failed++;
    if (failed > 10_000 || job.commits !== undefined) {
      error = problem.message;
      break;
    }
  }
}
process.stdout.write(`${JSON.stringify({ done, failed, error, cpu: cpuTime() - cpu })}\n`, () =>
  process.exit(),
);
