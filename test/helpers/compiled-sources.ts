/**
 * `compiledSources`: a plugin with which a run of the tests loads `src` as Node loads a program,
 * from JavaScript that it makes of all files at once. Vite's own loading transforms a module for
 * each worker and gives each a wrapper, a twentieth of the time of the tests. Source maps let errors
 * name the lines of `src`. Vite loads the sources for test files that load modules anew, while
 * files are watched, and where coverage is measured (a configuration of its own).
 */
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join, relative, resolve } from 'node:path';
import { transformSync } from 'rolldown/utils';
import type { Plugin } from 'vitest/config';

const PROJECT = resolve(import.meta.dirname, '../..');
const SOURCES = join(PROJECT, 'src');
const TYPED = /\.tsx?$/;

export function compiledSources(): Plugin {
  let watched = false;
  let folder: string | undefined;
  return {
    name: 'dirspace-compiled-sources',
    enforce: 'pre',
    config: () => ({ test: { server: { deps: { external: [/\/\.sources-/] } } } }),
    configureVitest({ vitest }) {
      watched = vitest.config.watch;
    },
    resolveId(source, importer) {
      if (watched || importer === undefined || !/^\.\.?\/.*\.tsx?$/.test(source)) return;
      const name = relative(SOURCES, resolve(dirname(importer), source));
      if (name.startsWith('..') || leftToVite(importer)) return;
      folder ??= compile();
      return join(folder, compiledName(name));
    },
    closeBundle() {
      if (folder !== undefined) rmSync(dirname(folder), { recursive: true, force: true });
    },
  };
}

const known = new Map<string, boolean>();

/** Whether a file has modules loaded anew, which Node never does, or is a source that such a file has. */
function leftToVite(importer: string): boolean {
  if (!relative(SOURCES, importer).startsWith('..')) return true;
  let found = known.get(importer);
  if (found === undefined) {
    found = readFileSync(importer, 'utf8').includes('vi.resetModules(');
    known.set(importer, found);
  }
  return found;
}

/**
 * Makes a folder of the project with the JavaScript of each file of `src`; imports of packages are
 * resolved from there as they are from `src`.
 */
function compile(): string {
  const folder = join(mkdtempSync(join(PROJECT, '.sources-')), 'src');
  for (const name of readdirSync(SOURCES, { recursive: true, encoding: 'utf8' })) {
    if (!TYPED.test(name) || name.endsWith('.d.ts')) continue;
    const path = join(SOURCES, name);
    const { code, map, errors } = transformSync(path, readFileSync(path, 'utf8'), {
      jsx: { runtime: 'automatic', importSource: 'preact' },
      typescript: { rewriteImportExtensions: 'rewrite' },
      sourcemap: true,
    });
    if (errors.length > 0) throw new Error(`${path} cannot be compiled: ${errors[0]?.message}`);
    const compiled = join(folder, compiledName(name));
    mkdirSync(dirname(compiled), { recursive: true });
    const coded = Buffer.from(JSON.stringify({ ...map, sources: [path] })).toString('base64');
    writeFileSync(
      compiled,
      `${code}\n//# sourceMappingURL=data:application/json;base64,${coded}\n`,
    );
  }
  return folder;
}

const compiledName = (name: string): string => name.replace(TYPED, '.js');
