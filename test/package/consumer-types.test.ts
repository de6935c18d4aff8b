/** Programs of users compile against the built declarations; `npm run consumer-types` has more. */
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { expect, test } from 'vitest';

const project = join(import.meta.dirname, '..', '..');
const consumers = join(import.meta.dirname, '..', 'consumers');
const compiler = join(project, 'node_modules', 'typescript', 'bin', 'tsc');

const CHECKED = ['--ignoreConfig', '--strict', '--noEmit', '--target', 'es2022', '--types', 'node'];

test.each([
  ['node16', 'node16', ['module.mts', 'common.cts']],
  ['esnext', 'bundler', ['plain.ts']],
])('programs of %s modules', (module, resolution, programs) => {
  const files = programs.map((name) => join(consumers, name));
  const args = [...CHECKED, '--module', module, '--moduleResolution', resolution];
  const { stdout } = spawnSync(
    process.execPath,
    // Of apache-arrow 15 declarations alone are not all sound.
    [compiler, ...args, '--skipLibCheck', 'true', ...files],
    { cwd: project, encoding: 'utf8' },
  );
  expect(stdout).toBe('');
});
