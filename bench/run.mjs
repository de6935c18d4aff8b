/**
 * Runs the workloads against dirspace and against LanceDB on this machine, in one process, sample by
 * sample in turn, and prints medians and their ratio. For reads also what the first one of a
 * process takes, with nothing cached.
 *
 *   npm run bench [-- --suite catalog|tables|memory] [--json FILE] [--samples N]
 */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { catalogWorkloads } from './workloads/catalog.mjs';
import { memoryWorkloads } from './workloads/memory.mjs';
import { settle } from './workloads/settle.mjs';
import { tableWorkloads } from './workloads/tables.mjs';

const { values: options } = parseArgs({
  options: {
    suite: { type: 'string' },
    json: { type: 'string' },
    samples: { type: 'string' },
  },
});

const suites = { catalog: catalogWorkloads, tables: tableWorkloads, memory: memoryWorkloads };
const median = (values) => values.toSorted((a, b) => a - b)[values.length >> 1];

async function timed(work) {
  const start = performance.now();
  await work();
  return performance.now() - start;
}

/**
 * Ours and the peer's samples alternate, so that a slow moment of the machine hits both. Short calls
 * alternate in blocks, each in the state of a program that makes such calls one after the other.
 */
async function measure({ samples = 9, warmups = 0, block = 1, settled, ours, peer, firsts }) {
  const count = Number(options.samples ?? samples);
  const own = [];
  const other = [];
  for (let index = 0; index < warmups; index++) await ours(count + index);
  for (let index = 0; index < warmups; index++) await peer?.(count + index);
  for (let from = 0; from < count; from += block) {
    const to = Math.min(count, from + block);
    if (settled) settle();
    for (let index = from; index < to; index++) own.push(await timed(() => ours(index)));
    if (peer === undefined) continue;
    if (settled) settle();
    for (let index = from; index < to; index++) other.push(await timed(() => peer(index)));
  }
  return {
    ...firsts?.(),
    ours_ms: median(own),
    peer_ms: other.length > 0 ? median(other) : null,
  };
}

const rows = [];
const root = mkdtempSync(join(tmpdir(), 'dirspace-bench-'));
try {
  for (const [name, suite] of Object.entries(suites)) {
    if (options.suite !== undefined && options.suite !== name) continue;
    for await (const workload of suite({ folder: (name) => join(root, name) })) {
      const figures = workload.figures ?? (await measure(workload));
      const ratio = figures.peer_ms === null ? null : figures.peer_ms / figures.ours_ms;
      const slowStart = figures.first_ms > figures.peer_first_ms;
      const ok = ratio === null ? null : ratio >= workload.goal && !slowStart;
      const row = { workload: workload.name, ...figures, ratio, goal: workload.goal, ok };
      rows.push(row);
      print(row);
    }
  }
} finally {
  rmSync(root, { recursive: true, force: true });
}
if (options.json !== undefined)
  writeFileSync(options.json, `${JSON.stringify({ rows }, null, 2)}\n`);
const short = rows.filter((row) => row.ok === false);
console.log(
  short.length === 0
    ? '\nEvery row reaches its goal.'
    : `\nShort of their goals: ${short.map((row) => row.workload).join('; ')}`,
);

function print(row) {
  const ms = (value) => (value === null ? '-' : value.toFixed(value < 10 ? 3 : 1)).padStart(10);
  const ratio = row.ratio === null ? '-' : `${row.ratio.toFixed(2)}x`;
  const goal = row.goal === undefined ? '' : `goal ${row.goal}x`;
  const first =
    row.first_ms === undefined
      ? ''
      : `  first ${ms(row.first_ms)} against ${ms(row.peer_first_ms)}`;
  console.log(
    `${row.workload.padEnd(55)} ours ${ms(row.ours_ms)} ms  peer ${ms(row.peer_ms)}  ${ratio.padStart(9)}  ${goal.padEnd(9)} ${row.ok === false ? 'SHORT' : '     '}${first}`,
  );
}
