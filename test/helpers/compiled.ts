/**
 * The sources as plain JavaScript, for tests that start processes of their own.
 *
 * Compiled below node_modules so that the packages they import are found from there.
 */
import { execFileSync } from 'node:child_process';
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterAll } from 'vitest';

const project = join(import.meta.dirname, '..', '..');
let folder: string | undefined;

afterAll(() => {
  if (folder !== undefined) rmSync(folder, { recursive: true, force: true });
});

/** The URL of a compiled module, e.g. `store/file-store.js`. */
export function compiledModule(path: string): string {
  if (folder === undefined) {
    folder = mkdtempSync(join(project, 'node_modules', '.dirspace-test-'));
    const compiler = join(project, 'node_modules', 'typescript', 'bin', 'tsc');
    const config = join(project, 'tsconfig.build.json');
    try {
      const options = ['-p', config, '--outDir', folder, '--declaration', 'false'];
      execFileSync(process.execPath, [compiler, ...options], { stdio: 'pipe' });
    } catch (error) {
      // Type errors elsewhere do not stop the output; types are checked by a run of their own.
      if (!existsSync(join(folder, path))) throw error;
    }
  }
  return pathToFileURL(join(folder, path)).href;
}
