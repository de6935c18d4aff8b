/** The short version of the proofs that need real processes; see test/proof/run.mjs. */
import { spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { compiledModule } from './helpers/compiled.ts';
import { temporaryFolder } from './helpers/temporary.ts';

interface ProofRow {
  readonly row: string;
  readonly cases: number;
  readonly violations: number;
}

/** Runs the proofs whose row holds `only`; what went wrong stands in the output. */
function proofs(only: string): Promise<{ readonly rows: ProofRow[]; readonly output: string }> {
  const json = join(temporaryFolder(), 'rows.json');
  const script = join(import.meta.dirname, 'proof', 'run.mjs');
  const options = ['--size', 'ci', '--only', only, '--json', json];
  const args = [script, ...options, '--modules', compiledModule('index.js')];
  return new Promise((resolve, reject) => {
    const running = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'pipe'] });
    let output = '';
    for (const stream of [running.stdout, running.stderr]) {
      stream.on('data', (chunk: Buffer) => {
        output += String(chunk);
      });
    }
    running.on('error', reject);
    running.on('close', () => {
      resolve({
        rows: (JSON.parse(readFileSync(json, 'utf8')) as { rows: ProofRow[] }).rows,
        output,
      });
    });
  });
}

test('appends of many processes all land once, with either durability', async () => {
  const { rows, output } = await proofs('writers');
  expect(
    rows.map(({ cases, violations }) => [cases, violations]),
    output,
  ).toEqual([
    [100, 0],
    [100, 0],
  ]);
}, 120_000);

test('a killed process loses nothing acknowledged and leaves nothing half made', async () => {
  const { rows, output } = await proofs('kill');
  expect(
    rows.map(({ cases, violations }) => [cases, violations]),
    output,
  ).toEqual([[42, 0]]);
  process.stdout.write(output);
}, 120_000);
