/** What the README says is so. */
import { execFileSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, test } from 'vitest';
import { tableFromArrays, tableToIPC } from '../src/arrow/apache.ts';
import { COMMANDS } from '../src/cli/commands.ts';
import { EXIT } from '../src/cli/terminal/exit-codes.ts';
import { ERROR_KINDS, type ErrorKind, isDirspaceError } from '../src/errors.ts';
import { connect } from '../src/sdk/connect.ts';
import { loadConfig } from '../src/server/config.ts';
import { callCli } from './helpers/cli.ts';
import { compiledModule } from './helpers/compiled.ts';
import { temporaryFolder } from './helpers/temporary.ts';

const readme = readFileSync(join(import.meta.dirname, '..', 'README.md'), 'utf8');

// Compiling takes minutes on a busy machine, and is no part of what is looked at.
beforeAll(() => void compiledModule('index.js'), 300_000);

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
    const codes = tableRows(2).filter(([first]) => /^[0-9]+$/.test(first ?? ''));
    expect(codes.map(([code]) => Number(code))).toEqual(Object.values(EXIT));
  });

  test('does what its examples say, one after the other', async () => {
    const folder = temporaryFolder();
    const file = (name: string): string => join(folder, name);
    const rows = { id: [1, 2], name: ['Ada', 'Grace'], age: [36, 85] };
    writeFileSync(file('users.arrow'), tableToIPC(tableFromArrays(rows), 'file'));
    writeFileSync(file('more.ndjson'), '{"id": 3, "name": "Alan", "age": 41}\n');
    const env = { DIRSPACE_URI: file('catalog') };
    const lines = Array.from(code('sh').matchAll(/^dirspace ([^#\n]*)/gm), ([, line = '']) =>
      Array.from(line.matchAll(/"([^"]*)"|(\S+)/g), ([, quoted, word = '']) => quoted ?? word),
    );
    const said: string[] = [];
    for (const words of lines) {
      if (words[0] === 'serve' || words[0] === 'conformance') continue;
      const args = words.map((word) => (/\.(arrow|ndjson)$/.test(word) ? file(word) : word));
      const { code: exit, out, error } = await callCli(args, { env });
      expect({ words, exit, error: exit === EXIT.ok ? '' : error }).toEqual({
        words,
        exit: EXIT.ok,
        error: '',
      });
      said.push(`${words[0]}: ${out}`);
    }
    expect(said).toContain('ls: prod/\nprod/search/\nprod/search/user\n');
    expect(said).toContain('query: name\nGrace\nAlan\n');
    expect(said.join()).toContain('user  2');
  });

  test('has a table of the commands there are, and no others', () => {
    const rows = tableRows(2).filter(([first]) => first?.startsWith('`dirspace '));
    const usage = COMMANDS.map(({ name, summary, arguments: given }) => [
      `\`${['dirspace', name, ...given.map(([argument]) => argument)].join(' ')}\``,
      summary,
    ]);
    expect(rows).toEqual(usage);
  });

  test('has examples of every command', () => {
    const lines = code('sh');
    for (const { name } of COMMANDS)
      expect(lines).toMatch(new RegExp(`^dirspace .*\\b${name}\\b`, 'm'));
  });
});

test('the configuration of a server is one', async () => {
  const file = join(temporaryFolder(), 'server.json');
  writeFileSync(file, code('json'));
  const { auth, limits, host } = await loadConfig(file, { SEARCH_KEY: 'secret' });
  expect({ auth, host }).toMatchObject({
    host: '0.0.0.0',
    auth: {
      apiKeys: [{ key: 'secret', grants: [{ namespace: [] }, { permission: 'write' }] }],
      jwt: { audience: 'dirspace' },
    },
  });
  expect(limits?.maxInFlight).toBe(64);
});

test('what it says is missing is missing, and nothing else is', async () => {
  const db = await connect(join(temporaryFolder(), 'catalog'), { durability: 'relaxed' });
  const table = await db.createTable('t', [{ n: 1 }, { n: 2 }]);
  const calls: Record<string, () => Promise<unknown>> = {
    where: () => table.query().where('n > 1').toArray(),
    select: () => table.query().select({ double: 'n * 2' }).toArray(),
    countRows: () => table.countRows('n > 1'),
    takeRowIds: () => table.takeRowIds([1]).toArray(),
    takeOffsets: () => table.takeOffsets([1]).toArray(),
    delete: () => table.delete('n > 5'),
    update: () => table.update({ n: 'n + 1' }),
    mergeInsert: () =>
      table
        .mergeInsert('n')
        .whenMatchedUpdateAll()
        .execute([{ n: 1 }]),
    orderBy: () => table.query().orderBy({ columnName: 'n' }).toArray(),
    explainPlan: () => table.query().explainPlan(),
    addColumns: () => table.addColumns([{ name: 'm', valueSql: 'n + 1' }]),
    alterColumns: () => table.alterColumns([{ path: 'n', rename: 'o' }]),
    dropColumns: () => table.dropColumns(['n']),
    updateFieldMetadata: () => table.updateFieldMetadata([{ path: 'n', metadata: { a: 'b' } }]),
    vectorSearch: () => table.vectorSearch([1]).toArray(),
    fullTextSearch: () => table.query().fullTextSearch('x').toArray(),
    listIndices: () => table.listIndices(),
    indexStats: () => table.indexStats('n_idx'),
    dropIndex: () => table.dropIndex('n_idx'),
    createIndex: () => table.createIndex('m'),
  };
  const missing: string[] = [];
  for (const [name, call] of Object.entries(calls)) {
    try {
      await call();
    } catch (error) {
      if (isDirspaceError(error, 'Unsupported')) missing.push(name);
    }
  }
  const [, listed = ''] = /engine has none of these: ([^.]*)\./.exec(readme) ?? [];
  expect(missing).toEqual(Array.from(listed.matchAll(/`(\w+)`/g), (match) => match[1]));
  await db.close();
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
