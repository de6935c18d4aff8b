/**
 * Proofs of the engine through its public API, each with real processes on the real disk.
 *
 *   npm run build && node test/proof/run.mjs [--only WORDS] [--size ci|short|long] [--seed N]
 *                                            [--json FILE] [--modules URL]
 *
 * Prints a table and ends with 1 if anything was violated. A failure prints the command that
 * replays it.
 */
import { writeFileSync } from 'node:fs';
import { pathToFileURL } from 'node:url';
import { parseArgs } from 'node:util';
import { kills } from './kills.mjs';
import { scale } from './scale.mjs';
import { writers } from './writers.mjs';

const { values: options } = parseArgs({
  options: {
    only: { type: 'string' },
    size: { type: 'string', default: 'short' },
    seed: { type: 'string' },
    json: { type: 'string' },
    modules: { type: 'string' },
  },
});

const PROOFS = [...writers, ...kills, ...scale];
const seed = Number(options.seed ?? Math.floor(Math.random() * 2 ** 31));
const modules =
  options.modules ?? pathToFileURL(new URL('../../dist/index.js', import.meta.url).pathname).href;

const rows = [];
for (const { row, run } of PROOFS) {
  if (options.only !== undefined && !row.includes(options.only)) continue;
  const start = performance.now();
  const violations = [];
  const violated = (what) => {
    violations.push(what);
    if (violations.length <= 10) process.stderr.write(`${row}: ${what}\n`);
  };
  let outcome = { cases: 0, note: '' };
  try {
    outcome = await run({ modules, seed, size: options.size, violated });
  } catch (error) {
    violated(`the proof itself ended: ${error?.stack ?? error}`);
  }
  const seconds = Number(((performance.now() - start) / 1000).toFixed(1));
  rows.push({ row, cases: outcome.cases, violations: violations.length, seconds, seed });
  const verdict = violations.length === 0 ? 'ok  ' : 'FAIL';
  process.stdout.write(
    `${verdict} ${row.padEnd(34)} ${String(outcome.cases).padStart(7)} cases ${String(violations.length).padStart(4)} violations ${String(seconds).padStart(7)} s  seed ${seed}${outcome.note === '' ? '' : `  ${outcome.note}`}\n`,
  );
  if (violations.length > 0) {
    process.stderr.write(
      `replay: node test/proof/run.mjs --only ${JSON.stringify(row)} --size ${options.size} --seed ${seed}\n`,
    );
  }
}
if (options.json !== undefined)
  writeFileSync(options.json, `${JSON.stringify({ rows }, null, 2)}\n`);
process.exitCode = rows.some((row) => row.violations > 0) || rows.length === 0 ? 1 : 0;
