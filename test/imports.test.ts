import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join, relative, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from 'vitest';

/** From the bottom up: a file may import from its own layer and from those before it. */
const LAYERS = [
  [
    'errors.ts',
    'env.ts',
    'bytes.ts',
    'version.ts',
    'known-names.ts',
    'request-memory.ts',
    'steps.ts',
    'stepped.ts',
  ],
  ['values'],
  ['arrow.ts'],
  ['protocol'],
  ['format'],
  ['store'],
  ['vector'],
  ['expression'],
  ['table'],
  ['directory'],
  ['rest'],
  ['conformance'],
  ['sdk'],
  ['cli'],
  ['index.ts', 'server.ts', 'conformance.ts'],
];
/** Values are the concern of no file format and no library: they use the ground alone. */
const VALUES_MAY_USE = [...(LAYERS[0] as string[]), 'values'];
/** The store knows nothing but bytes by path. */
const STORE_MAY_USE = ['errors.ts', 'env.ts', 'bytes.ts', 'store'];

const root = fileURLToPath(new URL('../src/', import.meta.url));
const files = readdirSync(root, { recursive: true, encoding: 'utf8' }).filter((file) =>
  file.endsWith('.ts'),
);

const IMPORT =
  /(?:^|\n)\s*(?:import|export)\b[^;'"]*?from\s*['"]([^'"]+)['"]|import\(\s*['"]([^'"]+)['"]\s*\)|\nimport\s+['"]([^'"]+)['"]/g;

function importsOf(file: string): string[] {
  const text = readFileSync(join(root, file), 'utf8');
  return [...text.matchAll(IMPORT)].map((match) => match[1] ?? match[2] ?? match[3] ?? '');
}

const partOf = (file: string): string => file.split('/')[0] ?? '';
const layerOf = (part: string): number => LAYERS.findIndex((layer) => layer.includes(part));

describe('the import rule', () => {
  test('every part of the source has its layer', () => {
    expect([...new Set(files.map(partOf))].filter((part) => layerOf(part) < 0)).toEqual([]);
  });

  test('imports go downwards only', () => {
    const upward: string[] = [];
    for (const file of files) {
      for (const target of importsOf(file).filter((name) => name.startsWith('.'))) {
        const found = relative(root, resolve(root, dirname(file), target));
        const [from, to] = [partOf(file), partOf(found)];
        const among = { store: STORE_MAY_USE, values: VALUES_MAY_USE }[from];
        const allowed = among === undefined ? layerOf(to) <= layerOf(from) : among.includes(to);
        if (!allowed) upward.push(`${file} -> ${found}`);
      }
    }
    expect(upward).toEqual([]);
  });

  test('each outside package is imported by one file', () => {
    const importers = new Map<string, string[]>();
    for (const file of files) {
      for (const name of new Set(importsOf(file))) {
        if (name.startsWith('.') || name.startsWith('node:')) continue;
        const packageName = name.split('/', name.startsWith('@') ? 2 : 1).join('/');
        importers.set(packageName, [...(importers.get(packageName) ?? []), file]);
      }
    }
    const shared = [...importers].filter(([, by]) => by.length > 1);
    expect(shared).toEqual([]);
    expect(importers.size).toBeGreaterThan(5);
  });

  test('clock, ids and randomness come from env.ts', () => {
    const direct = /\bDate\.now\b|\bMath\.random\b|\brandomUUID\b|\bsetInterval\b|\bnew Date\(\)/;
    const users = files.filter(
      (file) => file !== 'env.ts' && direct.test(readFileSync(join(root, file), 'utf8')),
    );
    expect(users).toEqual([]);
  });

  test('only deadlines of requests have timers of their own', () => {
    const users = files.filter((file) =>
      /\bsetTimeout\b/.test(readFileSync(join(root, file), 'utf8')),
    );
    // Batches of rows wait for the memory of a server as requests wait for their places.
    const allowed = ['env.ts', 'request-memory.ts'];
    expect(users.filter((file) => !allowed.includes(file) && partOf(file) !== 'rest')).toEqual([]);
  });

  test('only the store touches the file system', () => {
    const users = files.filter((file) => importsOf(file).some((name) => /^node:fs/.test(name)));
    expect(users.filter((file) => !['store', 'cli', 'rest'].includes(partOf(file)))).toEqual([]);
  });
});
