/** One file: programs that are bundled with the package run where no package can be found. */
import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { rolldown } from 'rolldown';
import { expect, test } from 'vitest';
import { compiledModule } from '../helpers/compiled.ts';
import { temporaryFolder } from '../helpers/temporary.ts';

const program = join(import.meta.dirname, '..', '..', 'scripts', 'bundles', 'program.mjs');
const compiled = (path: string): string => fileURLToPath(compiledModule(path));

test.each([
  ['esm', 'mjs'],
  ['cjs', 'cjs'],
] as const)(
  'in a bundle of one file, %s',
  async (format, ending) => {
    const file = join(temporaryFolder(), `bundle.${ending}`);
    const bundle = await rolldown({
      input: program,
      platform: 'node',
      tsconfig: false,
      logLevel: 'silent',
      resolve: {
        alias: { 'dirspace/server': compiled('server.js'), dirspace: compiled('index.js') },
      },
    });
    await bundle.write({ file, format, codeSplitting: false });
    await bundle.close();
    const said = execFileSync(process.execPath, [file], { encoding: 'utf8', timeout: 60_000 });
    expect(said).toBe('[96,98]\n51\n');
  },
  120_000,
);
