/**
 * Mutates the parts file by file, each with the tests of its part alone, and fails when fewer
 * than 90 % of a part's mutants are noticed. `node test/mutation/run.mjs [part or file ...]`
 */
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { EQUIVALENT } from './equivalent.mjs';
import { PARTS } from './parts.mjs';

const REQUIRED = 90;
const ROOT = fileURLToPath(new URL('../../', import.meta.url));
const STRYKER = fileURLToPath(
  new URL('node_modules/@stryker-mutator/core/bin/stryker.js', import.meta.url),
);
const NOTICED = ['Killed', 'Timeout'];
/** What cannot run at all says nothing of the tests. */
const INVALID = ['CompileError', 'RuntimeError', 'Ignored'];

const wanted = process.argv.slice(2);
const scratch = mkdtempSync(join(tmpdir(), 'dirspace-mutation-'));
let failed = false;
try {
  for (const [part, { sources }] of Object.entries(PARTS)) {
    const chosen = sources.filter(
      (source) => wanted.length === 0 || wanted.includes(part) || wanted.includes(source),
    );
    if (chosen.length === 0) continue;
    const total = { mutants: 0, noticed: 0 };
    for (const source of chosen) {
      const { mutants, noticed } = mutate(part, source);
      total.mutants += mutants;
      total.noticed += noticed;
    }
    const score = (100 * total.noticed) / total.mutants;
    console.log(`${part}: ${total.noticed} of ${total.mutants} mutants, ${score.toFixed(1)} %\n`);
    if (score < REQUIRED) failed = true;
  }
} finally {
  rmSync(scratch, { recursive: true, force: true });
}
if (failed) {
  console.error(`A part is below ${REQUIRED} %: its tests do not notice enough.`);
  process.exitCode = 1;
}

function mutate(part, source) {
  const report = join(scratch, 'report.json');
  const started = Date.now();
  const { status, stdout } = spawnSync(
    process.execPath,
    [STRYKER, 'run', 'test/mutation/stryker.config.mjs'],
    {
      cwd: ROOT,
      stdio: ['ignore', 'pipe', 'inherit'],
      encoding: 'utf8',
      env: { ...process.env, PART: part, SOURCE: source, REPORT: report },
    },
  );
  if (status !== 0) throw new Error(`The mutation of ${source} could not be run.\n${stdout}`);
  const [{ source: text, mutants }] = Object.values(JSON.parse(readFileSync(report, 'utf8')).files);
  const valid = mutants.filter((mutant) => !INVALID.includes(mutant.status));
  const unnoticed = valid.filter((mutant) => !NOTICED.includes(mutant.status));
  const seconds = Math.round((Date.now() - started) / 1000);
  const noticed = valid.length - unnoticed.length;
  const score = ((100 * noticed) / valid.length).toFixed(1);
  const hung = valid.filter((mutant) => mutant.status === 'Timeout').length;
  console.log(
    `${source}: ${noticed} of ${valid.length} mutants, ${score} %, ${hung} by hanging, ${seconds} s`,
  );
  const lines = text.split('\n');
  for (const { location, mutatorName, replacement, status: outcome } of unnoticed) {
    const line = lines[location.start.line - 1].trim();
    const becomes = (replacement ?? '').replace(/\s+/g, ' ');
    const known = EQUIVALENT[source]?.find((each) => line.includes(each.in) && each.to === becomes);
    const why = known === undefined ? outcome : `equivalent: ${known.because}`;
    console.log(
      `  ${location.start.line}: ${line} => ${becomes.slice(0, 80)} (${mutatorName}; ${why})`,
    );
  }
  return { mutants: valid.length, noticed };
}
