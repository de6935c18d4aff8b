/**
 * One call in a process of its own. `runChild(job)` starts this file and answers
 * `{ms, cpu, answer, megabytes}`: time and processor time of the call alone, and the most memory that the
 * process ever had, or `{refused}` where a peer does not know the call. The job says which side, folder
 * and table, and the call.
 */
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { Duck } from './duck.mjs';
import { cpuTime, isMistake } from './measure.mjs';
import { touch } from './touch.mjs';

/** A shell between the two: a child's peak as the system tells it begins with that of its parent. */
const LAUNCH = '"$@"; exit $?';

export function runNode(words) {
  const all = [process.execPath, ...words];
  const options = { encoding: 'utf8', maxBuffer: 2 ** 26 };
  if (process.platform === 'win32') return execFileSync(all[0], all.slice(1), options);
  return execFileSync('sh', ['-c', LAUNCH, 'sh', ...all], options);
}

/** Milliseconds that a whole process and its threads have worked, as the shell tells it. */
export function processorTime(words) {
  const script = '"$@" >/dev/null; times';
  const all = ['-c', script, 'sh', process.execPath, ...words];
  const lines = execFileSync('sh', all, { encoding: 'utf8' }).trim().split('\n');
  const parts = [...lines[1].matchAll(/(\d+)m([\d.]+)s/g)];
  return parts.reduce((sum, [, m, s]) => sum + (Number(m) * 60 + Number(s)) * 1_000, 0);
}

export function runChild(job) {
  return JSON.parse(runNode([fileURLToPath(import.meta.url), JSON.stringify(job)]));
}

/** The most megabytes this process had in memory, whatever its parent had. */
export function peakMegabytes() {
  try {
    const [, kilobytes] = /VmHWM:\s+(\d+) kB/.exec(readFileSync('/proc/self/status', 'latin1'));
    return Number(kilobytes) / 1024;
  } catch {
    return process.resourceUsage().maxRSS / 1024;
  }
}

const CALLS = {
  count: (table, sql) => table.countRows(sql),
  where: async (table, sql) => touch(await table.query().where(sql).select(['id', 'x']).toArrow()),
  stream: async (table) => {
    let rows = 0;
    for await (const batch of table.query()) rows += batch.numRows;
    return rows;
  },
  nothing: () => 0,
};

const DUCK_CALLS = {
  count: (duck, sql, table) => duck.number(`SELECT count(*) FROM ${table} WHERE ${sql}`),
  where: (duck, sql, table) => duck.rows(`SELECT id, x FROM ${table} WHERE ${sql}`),
};

/** Opens what the job names, without asking it anything. */
async function opened({ side, folder, table, options }) {
  if (side === 'duckdb') {
    const duck = await Duck.open(await import('@duckdb/node-api'), folder, {
      access_mode: 'READ_ONLY',
    });
    return (call, sql) => DUCK_CALLS[call](duck, sql, table);
  }
  const library = await import(side === 'ours' ? '../../dist/index.js' : '@lancedb/lancedb');
  const connection =
    side === 'lancedb-ns'
      ? await library.connectNamespace('dir', { root: folder })
      : await library.connect(folder, options);
  const handle = await connection.openTable(table);
  return (call, sql) => CALLS[call](handle, sql);
}

async function main(job) {
  const run = job.call === 'nothing' ? CALLS.nothing : await opened(job);
  const cpu = cpuTime();
  const start = performance.now();
  try {
    const answer = await run(job.call, job.sql);
    const ms = performance.now() - start;
    return { ms, cpu: cpuTime() - cpu, answer, megabytes: peakMegabytes() };
  } catch (error) {
    if (job.side === 'ours' || isMistake(error)) throw error;
    return { refused: error.message };
  }
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const figures = await main(JSON.parse(process.argv[2]));
  process.stdout.write(JSON.stringify(figures), () => process.exit());
}
