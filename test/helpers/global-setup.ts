/** What a run of the tests has once: the folder in which `compiledModule` makes the package. */
import { mkdtempSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import type { TestProject } from 'vitest/node';

declare module 'vitest' {
  interface ProvidedContext {
    /** Below node_modules so that the packages that the compiled one imports are found from there. */
    compiledFolder: string;
  }
}

export function setup(project: TestProject): () => void {
  const modules = join(import.meta.dirname, '..', '..', 'node_modules');
  const folder = mkdtempSync(join(modules, '.dirspace-test-'));
  project.provide('compiledFolder', folder);
  return () => rmSync(folder, { recursive: true, force: true });
}
