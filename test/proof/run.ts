/**
 * Proofs of the engine through its public API, one program for each row of the test plan.
 *
 *   npm run proof -- [--only WORDS]... [--ci | --nightly --hours N] [--seed N] [--minutes N]
 *                    [--json FILE] [--limit SECONDS] [--jobs N] [--rows MODULE] [--list]
 *
 * Prints a table and ends with 1 if anything was violated. Every violation comes with the command
 * that replays it. `--minutes` is a budget: rows that do not fit into it run
 * with few cases, and those that no longer fit at all are named as not run.
 */
import { writeFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { parseArgs } from 'node:util';
import { seeded } from '../helpers/seeded.ts';
import type { CorpusEntry } from './corpus.ts';
import type { Size } from './row.ts';
import type { ListedRow } from './rows.ts';
import { runRow } from './run-row.ts';
import { heading, jsonOf, lastLine, type RowResult, tableLine } from './table.ts';

const { values: options } = parseArgs({
  options: {
    only: { type: 'string', multiple: true },
    ci: { type: 'boolean', default: false },
    nightly: { type: 'boolean', default: false },
    hours: { type: 'string', default: '8' },
    seed: { type: 'string' },
    json: { type: 'string' },
    minutes: { type: 'string' },
    limit: { type: 'string' },
    jobs: { type: 'string', default: '2' },
    rows: { type: 'string' },
    list: { type: 'boolean', default: false },
  },
});

const number = (name: 'hours' | 'seed' | 'minutes' | 'limit' | 'jobs'): number => {
  const value = Number(options[name]);
  if (!(value >= 0)) throw new Error(`--${name} takes a number, not ${options[name]}`);
  return value;
};

const size: Size = options.nightly ? 'nightly' : options.ci ? 'ci' : 'short';
const seed = options.seed === undefined ? Math.floor(Math.random() * 2 ** 31) : number('seed');
const minutes = options.minutes === undefined ? Number.POSITIVE_INFINITY : number('minutes');
const jobs = Math.max(1, number('jobs'));
/** Seconds that one run of a row may take beyond its share of a nightly run. */
const limit =
  options.limit === undefined ? { ci: 180, short: 900, nightly: 900 }[size] : number('limit');
const module = (path: string): string => new URL(path, import.meta.url).href;
const rowsModule = options.rows ? pathToFileURL(resolve(options.rows)).href : module('rows.js');
const corpusModule = options.rows === undefined ? module('corpus.js') : rowsModule;
const { ROWS } = (await import(rowsModule)) as { ROWS: readonly ListedRow[] };
const { CORPUS } = (await import(corpusModule)) as { CORPUS: readonly CorpusEntry[] };

/** Whole words, so that T1 is not T10. */
const holds = (row: string, words: string): boolean =>
  ` ${row.toLowerCase()} `.includes(` ${words.toLowerCase()} `);
const chosen = ROWS.filter(
  ({ row }) => options.only === undefined || options.only.some((words) => holds(row, words)),
);
const results: RowResult[] = [];
const start = performance.now();
const secondsSince = (moment: number): number => (performance.now() - moment) / 1000;
const print = (text: string): void => void process.stdout.write(`${text}\n`);

/** A row of a nightly run goes on, with other seeds, until its share of the hours is over. */
function shareOf(listed: ListedRow): number {
  const lanes = chosen.filter(({ alone }) => alone).length;
  const beside = chosen.length - lanes;
  const units = lanes + beside / Math.min(jobs, Math.max(1, beside));
  return size === 'nightly' ? (number('hours') * 3600) / Math.max(1, units) : listed.seconds;
}

/** Whatever a round finds, printed at once with the command that replays it. */
const told = (row: string, round: Size) => {
  let shown = 0;
  return ({ what, seed }: { readonly what: string; readonly seed: number }): void => {
    if (++shown > 10) return;
    const flag = round === 'short' ? '' : ` --${round}`;
    print(
      `${row}: ${what}\n  replay: npm run proof -- --only ${JSON.stringify(row)}${flag} --seed ${seed}`,
    );
  };
};

/** Of a row's time with few cases in that of the short run. */
const FEW = 0.25;
const waiting = new Set(chosen);

/** What fits into the seconds left, with room for a few cases of every row to come. */
function sizeWithin(left: number, listed: ListedRow): Size | undefined {
  const needed = shareOf(listed);
  if (size === 'ci') return needed * FEW <= left ? 'ci' : undefined;
  const later = [...waiting].reduce(
    (sum, row) => sum + row.seconds * (row.alone ? 1 : 1 / jobs),
    0,
  );
  if (needed + (Number.isFinite(left) ? later * FEW : 0) <= left) return size;
  return size === 'short' && needed * FEW <= left ? 'ci' : undefined;
}

async function run(listed: ListedRow): Promise<void> {
  const { row } = listed;
  const share = shareOf(listed);
  const begin = performance.now();
  waiting.delete(listed);
  const round = sizeWithin(minutes * 60 - secondsSince(start), listed);
  if (round === undefined) {
    const skipped = `${options.minutes} minutes are over, or nearly`;
    results.push({ row, cases: 0, violations: 0, seconds: 0, seed, skipped });
    return print(tableLine(results.at(-1) as RowResult));
  }
  const known = CORPUS.filter((entry) => entry.row === row);
  let [cases, violations] = [0, 0];
  for (const entry of known) {
    const { seed } = entry;
    const task = { rows: rowsModule, row, seed, size: 'ci', known: true, budget: 0 } as const;
    const replayed = await runRow(task, limit * 1000, told(row, 'ci'));
    cases += replayed.outcome.cases;
    violations += replayed.violations;
  }
  const notes: string[] = known.length === 0 ? [] : [`${known.length} known seeds replayed`];
  if (round !== size) notes.push(`few cases, for ${options.minutes} minutes`);
  let skipped: string | undefined;
  const seeds = seeded(seed);
  for (let [turn, next] = [1, seed]; ; turn++, next = Math.floor(seeds() * 2 ** 31)) {
    const left = Math.max(0, share - secondsSince(begin));
    const budget = (size === 'nightly' ? left : Math.min(limit, listed.seconds)) * 1000;
    const task = { rows: rowsModule, row, seed: next, size: round, known: false, budget };
    const most = (size === 'nightly' ? left + limit : limit) * 1000;
    const done = await runRow(task, most, told(row, round));
    cases += done.outcome.cases;
    violations += done.violations;
    skipped = done.outcome.skipped;
    const more = size === 'nightly' && skipped === undefined && secondsSince(begin) < share;
    if (more) continue;
    if (done.outcome.note !== undefined) notes.push(done.outcome.note);
    if (turn > 1) notes.push(`${turn} rounds`);
    break;
  }
  const note = notes.length === 0 ? {} : { note: notes.join('; ') };
  const reason = skipped === undefined ? {} : { skipped };
  results.push({ row, cases, violations, seconds: secondsSince(begin), seed, ...reason, ...note });
  print(tableLine(results.at(-1) as RowResult));
}

if (options.list) {
  for (const { row } of chosen) print(row);
} else {
  print(heading());
  const beside = chosen.filter(({ alone }) => !alone);
  const lane = async (): Promise<void> => {
    for (let row = beside.shift(); row !== undefined; row = beside.shift()) await run(row);
  };
  await Promise.all(Array.from({ length: jobs }, lane));
  for (const row of chosen) if (row.alone) await run(row);
  const order = (result: RowResult): number => ROWS.findIndex(({ row }) => row === result.row);
  results.sort((a, b) => order(a) - order(b));
  print(lastLine(results, ROWS, secondsSince(start)));
  if (options.json !== undefined) writeFileSync(options.json, jsonOf(results));
  if (chosen.length === 0) print(`No row holds ${options.only?.join(' or ')}.`);
  process.exitCode =
    results.some(({ violations }) => violations > 0) || chosen.length === 0 ? 1 : 0;
}
