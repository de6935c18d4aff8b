/**
 * Every name that LanceDB's SDK exports is here, or docs/moving-from-lancedb.md says why not. The names are those of
 * test/interop/lancedb/names.json, which are read from the package itself where it is installed.
 */
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import {
  absentNames,
  allNames,
  exportedNames,
  namesFile,
  withoutMembers,
} from '../interop/lancedb/declarations.mjs';

const project = join(import.meta.dirname, '..', '..');
const folder = join(project, 'test/interop/lancedb');
const read = (path: string): string => readFileSync(path, 'utf8');

const names = JSON.parse(read(join(folder, 'names.json')));
const pending: string[] = JSON.parse(read(join(folder, 'pending.json')));
const absent = absentNames(read(join(project, 'docs/moving-from-lancedb.md')));

const installed = ['bench', 'test/interop/lancedb']
  .map((place) => join(project, place, 'node_modules/@lancedb/lancedb/dist/index.d.ts'))
  .filter((path) => existsSync(path));

test.each(installed)('the list of names is that of %s', (path) => {
  expect(exportedNames(path)).toEqual(names);
});

// `npm run types` compiles that file, which fails for a name that is not exported.
test('every name is checked by the compiler, or listed as absent', () => {
  const known = new Set(allNames(names));
  const leftOut = new Set([...absent, ...pending]);
  expect([...leftOut].filter((name) => !known.has(name))).toEqual([]);
  const checked = [...read(join(folder, 'names.ts')).matchAll(/^ {2}'?([\w.]+)'?:/gm)];
  expect(checked.map(([, name]) => name)).toEqual(
    allNames(names).filter((name) => !withoutMembers(leftOut, name)),
  );
  expect(checked.length).toBeGreaterThan(300);
});

test('the file that the compiler checks names types of this package', () => {
  const text = (source: string): string => source.replace(/\s+/g, ' ');
  expect(text(read(join(folder, 'names.ts')))).toBe(
    text(namesFile(names, new Set([...absent, ...pending]))),
  );
});
