/** The programs that `npm run interop:lance` builds: they run, and hand the package what it takes. */
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, test } from 'vitest';
import { temporaryFolder } from '../helpers/temporary.ts';

const project = join(import.meta.dirname, '..', '..');
const entry = join(project, 'dist', 'index.js');
/** Where they find apache-arrow, as in their own folder. */
const built = join(project, '.build', 'interop-lance');

let programs: readonly string[] = [];
beforeAll(async () => {
  const { PROGRAMS, buildPrograms } = await import('../interop/lance/programs.mjs' as string);
  await buildPrograms(built);
  programs = PROGRAMS;
}, 60_000);

const run = (name: string, ...given: string[]): string =>
  execFileSync(process.execPath, [join(built, `${name}.mjs`), ...given], {
    encoding: 'utf8',
    timeout: 60_000,
  });

describe('programs of the interoperation with Lance', () => {
  test('have no copy of apache-arrow', () => {
    expect(programs.length).toBeGreaterThan(3);
    for (const name of programs) {
      const text = readFileSync(join(built, `${name}.mjs`), 'utf8');
      expect(text, name).toMatch(/from "apache-arrow/);
      expect(text, name).not.toMatch(/class RecordBatch\b/);
    }
  });

  test.each(['tables', 'path'])('%s makes tables', (name) => {
    const [root, out] = [join(temporaryFolder(), 'catalog'), temporaryFolder()];
    const said = run(name, entry, root, out, '3', '7');
    expect(said).not.toContain('Error');
    const expected = JSON.parse(readFileSync(join(out, 'expected.json'), 'utf8'));
    expect(expected.length).toBeGreaterThan(3);
  });
});
