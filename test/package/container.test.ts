/** The container: its Dockerfile does what it says, also on a read-only root, and the compose file fits it. */
import { execFileSync } from 'node:child_process';
import { copyFileSync, mkdirSync, readFileSync, symlinkSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { compiledModule } from '../helpers/compiled.ts';
import { temporaryFolder } from '../helpers/temporary.ts';

const project = join(import.meta.dirname, '..', '..');
const read = (name: string): string => readFileSync(join(project, 'container', name), 'utf8');

test('the command of the image serves, and its health check tells', { timeout: 180_000 }, () => {
  const folder = temporaryFolder();
  const home = join(folder, 'node_modules', 'dirspace');
  mkdirSync(home, { recursive: true });
  copyFileSync(join(project, 'package.json'), join(home, 'package.json'));
  const dist = dirname(dirname(fileURLToPath(compiledModule('cli/main.js'))));
  symlinkSync(dist, join(home, 'dist'));
  // `npm run package-checks` runs the same script with the package installed from its archive.
  const script = join(project, 'scripts', 'container-check.mjs');
  const said = execFileSync(process.execPath, [script, folder], { encoding: 'utf8' });
  expect(said).toContain('do what they are to');
});

test('the image needs no tools of its own, and nobody in it is root', () => {
  const text = read('Dockerfile');
  expect(text).not.toMatch(/curl|wget|apt|apk|sudo/);
  expect(text.match(/^FROM node:\$\{NODE\}/gm)).toHaveLength(2);
  const [, last = ''] = text.split(/^FROM .*$/m).slice(1);
  // What comes after has the rights of that user.
  expect(last.indexOf('USER node')).toBeGreaterThan(last.indexOf('RUN '));
  expect(last.indexOf('CMD ["node"')).toBeGreaterThan(last.indexOf('USER node'));
  const { engines } = JSON.parse(readFileSync(join(project, 'package.json'), 'utf8'));
  const [, major = ''] = /^ARG NODE=(\d+)-slim$/m.exec(text) ?? [];
  expect(Number(major)).toBeGreaterThanOrEqual(Number.parseInt(engines.node.slice(2), 10));
  // Nothing of the project comes in but the archive.
  expect(read('Dockerfile.dockerignore')).toBe('*\n!dirspace-*.tgz\n');
});

test('the compose file runs it read-only, with a volume, and with a key', () => {
  const lines = read('compose.yaml')
    .split('\n')
    .map((line) => line.trim());
  for (const line of [
    'dockerfile: container/Dockerfile',
    '- "127.0.0.1:2333:2333"',
    '- catalog:/data',
    'read_only: true',
    'cap_drop: [ALL]',
    '- no-new-privileges:true',
  ]) {
    expect(lines).toContain(line);
  }
  expect(
    lines.some((line) => line.startsWith(['DIRSPACE_API_KEY: $', '{DIRSPACE_API_KEY:?'].join(''))),
  ).toBe(true);
});
