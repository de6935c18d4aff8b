/** The recipes of docs/fixture.md: they are the files that are run, and those for Node run here. */
import { execFile } from 'node:child_process';
import {
  copyFileSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import { importCompiled, readPage } from '../helpers/documents.ts';
import { temporaryFolder } from '../helpers/temporary.ts';

const project = join(import.meta.dirname, '..', '..');
const recipes = join(project, 'test', 'interop', 'recipes');
const read = (name: string): string => readFileSync(join(recipes, name), 'utf8');
const { blocks } = readPage('docs/fixture.md');

test('each recipe of the page is a file that is run, and the other way round', () => {
  const shown = blocks
    .filter(({ language }) => ['mjs', 'python', 'java', 'rust', 'json'].includes(language))
    .map(({ text }) => text);
  const files = readdirSync(recipes).filter(
    (name) => /\.(?:mjs|py|java|rs)$/.test(name) || name === 'seed.json',
  );
  expect(files.length).toBe(7);
  expect(files.map(read).toSorted()).toEqual(shown.toSorted());
});

/** A folder with the seed and a recipe, which runs the compiled package. */
function folderWith(recipe: string, name: string): string {
  const folder = temporaryFolder();
  copyFileSync(join(recipes, 'seed.json'), join(folder, 'seed.json'));
  writeFileSync(join(folder, name), importCompiled(read(recipe)));
  return folder;
}

const env = { ...process.env, NO_COLOR: '1' };
const run = async (cwd: string, ...args: string[]): Promise<string> =>
  (await promisify(execFile)(process.execPath, args, { cwd, env })).stdout;

test('vitest runs its recipe', { timeout: 180_000 }, async () => {
  const folder = folderWith('user.vitest.mjs', 'user.test.mjs');
  mkdirSync(join(folder, 'node_modules'));
  const vitest = join(project, 'node_modules', 'vitest');
  symlinkSync(vitest, join(folder, 'node_modules', 'vitest'));
  const said = await run(folder, join(vitest, 'vitest.mjs'), 'run', '--root', folder);
  expect(said).toMatch(/Tests +2 passed/);
});

test('node:test runs its recipe', { timeout: 180_000 }, async () => {
  const folder = folderWith('user.node.mjs', 'user.test.mjs');
  const said = await run(folder, '--test-reporter=tap', 'user.test.mjs');
  expect(said).toMatch(/^# pass 2$/m);
  expect(said).toMatch(/^# fail 0$/m);
});
