/** What the README says is so. */
import { execFileSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { COMMANDS } from '../src/cli/commands.ts';
import { EXIT } from '../src/cli/exit-codes.ts';
import { ERROR_KINDS, type ErrorKind } from '../src/errors.ts';
import { compiledModule } from './helpers/compiled.ts';
import { temporaryFolder } from './helpers/temporary.ts';

const readme = readFileSync(join(import.meta.dirname, '..', 'README.md'), 'utf8');

/** All blocks of one language, joined. */
function code(language: string): string {
  const blocks = readme.matchAll(new RegExp(`^\`\`\`${language}\n([\\s\\S]*?)^\`\`\`$`, 'gm'));
  return Array.from(blocks, (match) => match[1]).join('\n');
}

const tableRows = (width: number): string[][] =>
  readme
    .split('\n')
    .filter((line) => line.startsWith('|'))
    .map((line) =>
      line
        .split('|')
        .slice(1, -1)
        .map((text) => text.trim()),
    )
    .filter((row) => row.length === width && !/^-+$/.test(row[0] ?? ''))
    .slice(1);

test('the example prints what its comments say', () => {
  const example = code('js');
  const folder = temporaryFolder();
  const file = join(folder, 'example.mjs');
  writeFileSync(file, example.replace("'dirspace'", JSON.stringify(compiledModule('index.js'))));
  const env = { ...process.env, NO_COLOR: '1' };
  const out = execFileSync(process.execPath, [file], { cwd: folder, encoding: 'utf8', env });
  const said = [...example.matchAll(/console\.log\(.*\); \/\/ (.*)$/gm)].map((match) => match[1]);
  expect(said.length).toBeGreaterThan(4);
  expect(out.trimEnd().split('\n')).toEqual(said);
});

test('the table of errors is the table of errors', () => {
  const listed = tableRows(5).map(([code, number, status, retryable]) => [
    code?.replaceAll('`', ''),
    { number: Number(number), status: Number(status), retryable: retryable === 'yes' },
  ]);
  const kinds: Record<string, ErrorKind> = ERROR_KINDS;
  expect(Object.fromEntries(listed)).toEqual(kinds);
});

describe('the command line', () => {
  test('has the exit codes', () => {
    expect(tableRows(2).map(([code]) => Number(code))).toEqual(Object.values(EXIT));
  });

  test('has examples of every command', () => {
    const lines = code('sh');
    for (const { name } of COMMANDS)
      expect(lines).toMatch(new RegExp(`^dirspace .*\\b${name}\\b`, 'm'));
  });
});

test('the demo runs as it is', () => {
  const demo = readFileSync(join(import.meta.dirname, '..', 'examples', 'demo.mjs'), 'utf8');
  const folder = temporaryFolder();
  const fixtures = new URL('../fixtures/', import.meta.url).href;
  const file = join(folder, 'demo.mjs');
  writeFileSync(
    file,
    demo
      .replace("'../dist/index.js'", JSON.stringify(compiledModule('index.js')))
      .replace('`../fixtures/', `\`${fixtures}`),
  );
  const out = execFileSync(process.execPath, [file], { encoding: 'utf8' });
  expect(out).toContain('weather/raw/readings: 1008 rows');
  expect(out).toContain('└── 00000000000000000001.json');
  expect(out).toContain('Done in');
});
