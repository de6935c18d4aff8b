/**
 * The package as it is built, and a few modules beside it, for tests that start processes of their
 * own: made when a test first asks for it, once for a whole run.
 */
import { execFileSync } from 'node:child_process';
import { existsSync, mkdtempSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { inject } from 'vitest';

const project = join(import.meta.dirname, '..', '..');
/** Modules of src, besides the package's entries, that tests load in processes of their own. */
const MODULES = [
  ...['store/file-store', 'store/lock'],
  ...['directory/directory-namespace', 'arrow/apache'],
];

/** The URL of a compiled module, e.g. `store/file-store.js`. */
export function compiledModule(path: string): string {
  const run = inject('compiledFolder');
  const compiled = join(run, 'package');
  if (!existsSync(compiled)) {
    const made = mkdtempSync(join(run, 'made-'));
    const script = join(project, 'scripts', 'bundle.mjs');
    execFileSync(process.execPath, [script, made, ...MODULES], { stdio: 'pipe' });
    try {
      renameSync(made, compiled);
    } catch (error) {
      // The other worker was faster.
      if (!existsSync(compiled)) throw error;
      rmSync(made, { recursive: true });
    }
  }
  const file = join(compiled, path);
  if (!existsSync(file)) throw new Error(`${path} is no entry of the compiled package`);
  return pathToFileURL(file).href;
}
