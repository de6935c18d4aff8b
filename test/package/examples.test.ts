/** The programs of examples/ run, do what their headers say, and are short enough to be read. */
import { execFile } from 'node:child_process';
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { beforeAll, expect, test } from 'vitest';
import { compiledModule } from '../helpers/compiled.ts';
import { importCompiled } from '../helpers/documents.ts';
import { temporaryFolder } from '../helpers/temporary.ts';

const examples = join(import.meta.dirname, '..', '..', 'examples');
const names = readdirSync(examples).filter((name) => name !== 'demo.mjs');
const sourceOf = (name: string): string => readFileSync(join(examples, name), 'utf8');

beforeAll(() => void compiledModule('index.js'), 300_000);

/** Runs an example as a program of its own; answers the lines it prints. */
async function run(name: string, ...args: string[]): Promise<string[]> {
  // Beside the compiled package, so that it finds what that finds.
  const folder = fileURLToPath(new URL('examples/', compiledModule('index.js')));
  mkdirSync(folder, { recursive: true });
  const file = join(folder, name);
  writeFileSync(file, importCompiled(sourceOf(name)));
  // Releases of Node differ in how they report tests where nobody says it.
  const { stdout } = await promisify(execFile)(process.execPath, [
    '--test-reporter=tap',
    file,
    ...args,
  ]);
  return stdout.trimEnd().split('\n');
}

test('each is 30 to 80 lines long and is run here', () => {
  const lengths = names.map((name) => sourceOf(name).split('\n').length - 1);
  expect(lengths.filter((lines) => lines < 30 || lines > 80)).toEqual([]);
  const tests = readFileSync(fileURLToPath(import.meta.url), 'utf8');
  expect(names.filter((name) => !tests.includes(`run('${name}'`))).toEqual([]);
  expect(names).toHaveLength(6);
});

test('a tool tells what changed since its last run', async () => {
  const folder = temporaryFolder();
  const file = (name: string): string => join(folder, name);
  writeFileSync(file('a.txt'), '12345');
  writeFileSync(file('b.txt'), '1');
  const first = await run('embedded-tool.mjs', folder);
  expect(first).toEqual(['new      a.txt (5 bytes)', 'new      b.txt (1 bytes)', 'run 1: 2 files']);
  writeFileSync(file('a.txt'), '1234567');
  writeFileSync(file('c.txt'), '');
  expect(await run('embedded-tool.mjs', folder)).toEqual([
    'changed  a.txt (5 to 7 bytes)',
    'new      c.txt (0 bytes)',
    'run 2: 3 files',
  ]);
});

test('a fixture in memory fails on command', async () => {
  const lines = await run('test-fixture.mjs');
  expect(lines).toEqual(expect.arrayContaining(['# pass 2', '# fail 0']));
});

test('keys read, write and are refused', async () => {
  expect(await run('serve-with-keys.mjs')).toEqual([
    'dashboard reads 1 rows',
    'dashboard is refused: PermissionDenied',
    'ingest reads 1 rows',
    'ingest adds one',
    'stranger is refused: Unauthenticated',
  ]);
});

test('a draft, a mistake and its undoing', async () => {
  expect(await run('time-travel.mjs')).toEqual([
    'draft against main:',
    '  ~ coffee 350 -> 380',
    '  + juice 390',
    'published as version 2',
    'rows after a mistake: 0',
    'rows after restoring: 4',
    'today against spring:',
    '  ~ coffee 350 -> 380',
    '  + juice 390',
    'history: create, merge, delete, restore',
  ]);
});

test('the paragraph that has the words is found', async () => {
  const file = join(temporaryFolder(), 'notes.md');
  const others = 'One two three four five six seven eight nine.\n\nToo short.\n\n';
  const wanted = 'Every evening the catalog gets a backup onto a disk in another room.';
  writeFileSync(file, others + wanted);
  const [count, ...found] = await run('vector-search.mjs', 'backup of a catalog', file);
  expect(count).toBe('3 paragraphs');
  expect(found).toHaveLength(2);
  expect(found[0]).toContain(`notes.md: ${wanted}`);
});

test('a large import is one version', async () => {
  const imported = await run('stream-import.mjs');
  expect(imported).toEqual(['50000 rows read, 50000 stored in version 1', '1 data files']);
  const folder = temporaryFolder();
  writeFileSync(join(folder, 'rows.ndjson'), '{"a": 1}\n\n{"a": 2}\n');
  const [line] = await run(
    'stream-import.mjs',
    join(folder, 'rows.ndjson'),
    join(folder, 'c'),
    't',
  );
  expect(line).toBe('2 rows read, 2 stored in version 1');
});
