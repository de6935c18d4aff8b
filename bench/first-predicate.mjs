/**
 * What the first filter of a process costs, ours and LanceDB's, each in fresh processes that take
 * turns: `npm run build && node bench/first-predicate.mjs [PREDICATE] [--rows N] [--processes N]`.
 * The clock runs from the call to the last row; loading the library and opening the table are not in
 * it. Prints the median and the worst of both and the ratio of the medians.
 */
import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { random } from './workloads/random.mjs';

const LIBRARIES = { ours: '../dist/index.js', lancedb: '@lancedb/lancedb' };
const ARROWS = { ours: '../node_modules/apache-arrow/Arrow.node.mjs', lancedb: 'apache-arrow' };
const CALLS = {
  count: (table, predicate) => table.countRows(predicate),
  query: async (table, predicate) => {
    const query = table.query().where(predicate).select(['id', 'x']);
    return (await query.toArrow()).numRows;
  },
};

const { values: options, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    rows: { type: 'string', default: '1000000' },
    processes: { type: 'string', default: '7' },
    child: { type: 'string' },
    folder: { type: 'string' },
    call: { type: 'string' },
  },
});
const [predicate = 'x*2 > 0.99 AND id % 7 = 0'] = positionals;

async function fill(side, folder) {
  const { connect } = await import(LIBRARIES[side]);
  const { Float64, Int64, Table, makeData, makeVector } = await import(ARROWS[side]);
  const rows = Number(options.rows);
  const next = random(42);
  const id = BigInt64Array.from({ length: rows }, (_, row) => BigInt(row));
  const x = Float64Array.from({ length: rows }, () => next());
  const table = new Table({
    id: makeVector(makeData({ type: new Int64(), length: rows, data: id })),
    x: makeVector(makeData({ type: new Float64(), length: rows, data: x })),
  });
  const connection = await connect(folder);
  await connection.createTable('w', table);
}

/** One call in this process, which has done nothing before but open the table. */
async function child() {
  const { connect } = await import(LIBRARIES[options.child]);
  const table = await (await connect(options.folder)).openTable('w');
  const start = performance.now();
  const found = await CALLS[options.call](table, predicate);
  console.log(JSON.stringify({ found, ms: performance.now() - start }));
  process.exit();
}

async function compare() {
  const root = mkdtempSync(join(tmpdir(), 'dirspace-first-'));
  try {
    for (const side of Object.keys(LIBRARIES)) await fill(side, join(root, side));
    for (const call of Object.keys(CALLS)) {
      const times = { ours: [], lancedb: [] };
      const found = new Set();
      for (let n = 0; n < Number(options.processes); n++) {
        for (const side of Object.keys(LIBRARIES)) {
          const words = ['--child', side, '--folder', join(root, side), '--call', call, predicate];
          const out = execFileSync(process.execPath, [fileURLToPath(import.meta.url), ...words]);
          const answer = JSON.parse(out);
          found.add(answer.found);
          times[side].push(answer.ms);
        }
      }
      if (found.size > 1) throw new Error(`The answers differ: ${[...found].join(', ')} rows`);
      report(call, times, [...found][0]);
    }
  } finally {
    rmSync(root, { recursive: true, force: true });
  }
}

function report(call, times, rows) {
  const figures = Object.entries(times).map(([side, all]) => {
    const sorted = all.toSorted((a, b) => a - b);
    return { side, median: sorted[sorted.length >> 1], worst: sorted.at(-1) };
  });
  const said = figures.map(
    ({ side, median, worst }) => `${side} ${median.toFixed(1)} ms (worst ${worst.toFixed(1)})`,
  );
  const ratio = figures[0].median / figures[1].median;
  console.log(`first ${call}, ${rows} rows: ${said.join(', ')}, ratio ${ratio.toFixed(2)}`);
}

await (options.child === undefined ? compare() : child());
