/** The runner of the proofs: what it prints, writes and answers, on rows made for it. */
import { execFileSync, spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';

const project = join(import.meta.dirname, '..', '..');
/** Below node_modules, so that the compiled programs find the packages that they import. */
let folder = '';
let runner = '';

beforeAll(() => {
  folder = mkdtempSync(join(project, 'node_modules', '.dirspace-proof-'));
  const compiler = join(project, 'node_modules', 'typescript', 'bin', 'tsc');
  const config = join(project, 'tsconfig.proof.json');
  const args = [compiler, '-p', config, '--outDir', folder, '--sourceMap', 'false'];
  runner = join(folder, 'test', 'proof', 'run.js');
  // Types are checked by a run of their own, which takes five times as long as this.
  execFileSync(process.execPath, [...args, '--noCheck'], { stdio: 'pipe' });
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

interface Run {
  readonly status: number | null;
  readonly output: string;
  readonly rows: readonly Record<string, unknown>[];
}

/** Runs the runner on rows given as JavaScript: the body of `run`, by name. */
function proof(
  bodies: Readonly<Record<string, string>>,
  args: readonly string[] = [],
  corpus: readonly unknown[] = [],
): Run {
  const rows = join(folder, 'rows-for-test.mjs');
  const json = join(folder, 'rows.json');
  const listed = Object.entries(bodies).map(
    ([row, body]) => `{ row: ${JSON.stringify(row)}, seconds: 30, cases: 'SIGKILLs',
      load: async () => ({ row: ${JSON.stringify(row)}, run: async (context) => { ${body} } }) }`,
  );
  writeFileSync(
    rows,
    `export const ROWS = [${listed.join()}]; export const CORPUS = ${JSON.stringify(corpus)};`,
  );
  rmSync(json, { force: true });
  const given = [runner, '--rows', rows, '--json', json, ...args];
  const { status, stdout, stderr } = spawnSync(process.execPath, given, { encoding: 'utf8' });
  return {
    status,
    output: stdout + stderr,
    rows: (JSON.parse(readFileSync(json, 'utf8')) as { rows: Run['rows'] }).rows,
  };
}

const fine = 'return { cases: 7, note: "all seven" };';

test('rows without violations: a table, its sums, the JSON document, exit code 0', () => {
  const skips = 'return { cases: 0, skipped: "no strace" };';
  const { status, output, rows } = proof({ 'T1 one': fine, 'T2 two': skips }, ['--seed', '5']);
  expect([status, output]).toEqual([
    0,
    expect.stringMatching(/^ok +T1 one +7 +0 +[\d.]+ +5 +all/m),
  ]);
  expect(output).toMatch(/^- +T2 two +0 +0 +[\d.]+ +5 +not run: no strace$/m);
  expect(output).toMatch(
    /^1 rows in \d+ s, 0 violations, 7 SIGKILLs, 0 fuzzed inputs, 1 rows not run$/m,
  );
  expect(rows).toEqual([
    { row: 'T1 one', cases: 7, violations: 0, seconds: expect.any(Number), seed: 5 },
    {
      ...{ row: 'T2 two', cases: 0, violations: 0, seconds: expect.any(Number), seed: 5 },
      skipped: 'no strace',
    },
  ]);
});

test('a violation: exit code 1, and the command that replays it', () => {
  const wrong = 'context.violated("a row is lost", 77); return { cases: 3 };';
  const { status, output, rows } = proof({ 'T1 one': fine, 'T2 two': wrong }, ['--ci']);
  expect(status).toBe(1);
  expect(output).toMatch(/^FAIL T2 two +3 +1 /m);
  expect(output).toContain('T2 two: a row is lost');
  expect(output).toContain('replay: npm run proof -- --only "T2 two" --ci --seed 77');
  expect(rows.map(({ violations }) => violations)).toEqual([0, 1]);
});

test('the seed reaches the row, and --only chooses by whole words', () => {
  const told = 'context.violated(context.size + " with " + context.seed); return { cases: 1 };';
  const args = ['--only', 't1', '--seed', '1234'];
  const { output, rows } = proof({ 'T1 one': told, 'T12 one': fine }, args);
  expect(output).toContain('T1 one: short with 1234');
  expect(rows).toHaveLength(1);
});

test('rows that throw or end their process are violations, and the others run', () => {
  const { status, output, rows } = proof({
    'T1 throws': 'throw new Error("out of luck");',
    'T2 exits': 'process.exit(0);',
    'T3 works': fine,
  });
  expect(status).toBe(1);
  expect(rows.map(({ violations }) => violations)).toEqual([1, 1, 0]);
  expect(output).toContain('out of luck');
});

// How long the start of a process takes is not known: no row here has to end in time.
test('rows that hang are ended, and are violations', () => {
  const hanging = {
    'T1 hangs': 'for (;;) {}',
    'T2 waits': 'await new Promise(() => setInterval(() => {}, 1000));',
  };
  const { status, output, rows } = proof(hanging, ['--limit', '2']);
  expect(status).toBe(1);
  expect(rows.map(({ violations }) => violations)).toEqual([1, 1]);
  expect(output).toContain('T1 hangs: it was not done after 2 s');
});

test('rows beyond the budget are named, never left out', () => {
  const { status, output, rows } = proof({ 'T1 one': fine, 'T2 two': fine }, ['--minutes', '0.1']);
  expect(status).toBe(0);
  expect(output).toMatch(/^- +T1 one .*not run: 0.1 minutes are over/m);
  expect(output).toContain('2 rows not run');
  expect(rows).toHaveLength(2);
});

test('few cases are what a row of --ci has to fit in with', () => {
  const { output } = proof({ 'T1 one': fine }, ['--ci', '--minutes', '0.2']);
  expect(output).toMatch(/^ok +T1 one /m);
  expect(proof({ 'T1 one': fine }, ['--ci', '--minutes', '0.1']).output).toContain(
    '1 rows not run',
  );
});

test('rows that do not fit as a whole run with few cases', () => {
  const sized = "return { cases: 1, note: 'size ' + context.size };";
  const { status, output } = proof({ 'T1 one': sized }, ['--minutes', '0.4']);
  expect(status).toBe(0);
  expect(output).toContain('few cases, for 0.4 minutes; size ci');
});

test('known seeds are replayed first, and count', () => {
  const known = 'if (context.seed === 99) context.violated("again"); return { cases: 2 };';
  const corpus = [{ row: 'T1 one', seed: 99, found: 'a lost row' }];
  const { status, output, rows } = proof({ 'T1 one': known }, ['--seed', '1'], corpus);
  expect(status).toBe(1);
  expect(output).toContain('T1 one: again');
  expect(output).toContain('--ci --seed 99');
  expect(output).toContain('1 known seeds replayed');
  expect(rows[0]).toMatchObject({ cases: 4, violations: 1 });
});

test('of cases with seeds of their own, a known seed replays its one alone', () => {
  const seeds = JSON.stringify(join(folder, 'test', 'proof', 'seeds.js'));
  const cases = `const { eachSeed } = await import(${seeds});
    const run = async (seed) => (seed === 99 ? ['again'] : []);
    return { cases: await eachSeed(context, { ci: 3, short: 5 }, run) };`;
  const corpus = [{ row: 'T1 one', seed: 99, found: 'a lost row' }];
  const { output, rows } = proof({ 'T1 one': cases }, ['--seed', '1'], corpus);
  expect(rows).toMatchObject([{ cases: 1 + 5, violations: 1 }]);
  expect(output).toContain('again\n  replay: npm run proof -- --only "T1 one" --ci --seed 99\n');
});

test('a nightly run repeats a row with other seeds until its hours are over', () => {
  const round = 'context.violated("seed " + context.seed); return { cases: 1 };';
  const rounds = (
    hours: number,
  ): { seeds: readonly unknown[]; rows: ReturnType<typeof proof>['rows'] } => {
    const { output, rows } = proof({ 'T1 one': round }, ['--nightly', '--hours', `${hours}`]);
    const seeds = [...output.matchAll(/: seed (\d+)$/gm)].map(([, seed]) => seed);
    // A machine that is busy needs more than two seconds for its first round.
    return seeds.length > 1 || hours > 1 ? { seeds, rows } : rounds(hours * 8);
  };
  const { seeds, rows } = rounds(0.0005);
  expect(new Set(seeds).size).toBe(seeds.length);
  expect(seeds.length).toBeGreaterThan(1);
  expect(rows[0]?.cases).toBe(rows[0]?.violations);
});

test('a program that no row holds is an error', () => {
  const { status, output } = proof({ 'T1 one': fine }, ['--only', 'T9']);
  expect([status, output]).toEqual([1, expect.stringContaining('No row holds T9.')]);
});
