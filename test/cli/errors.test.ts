/** What the command line says of mistakes, and of what it should ask before. */
import { existsSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { COMMANDS } from '../../src/cli/commands.ts';
import { runCli } from '../../src/cli/run.ts';
import type { Surroundings } from '../../src/cli/terminal/command.ts';
import { EXIT } from '../../src/cli/terminal/exit-codes.ts';
import { connect } from '../../src/sdk/connect.ts';
import { startServer } from '../../src/server/server.ts';
import { type CliResult, callCli, hasTerminal, onTerminal, spawnCli } from '../helpers/cli.ts';
import { compiledModule } from '../helpers/compiled.ts';
import { temporaryFolder } from '../helpers/temporary.ts';

let root: string;
let server: Awaited<ReturnType<typeof startServer>>;

async function makeCatalog(): Promise<string> {
  const folder = join(temporaryFolder(), 'catalog');
  const db = await connect(folder, { durability: 'relaxed' });
  await db.createNamespace(['prod']);
  await db.createNamespace(['prod', 'search']);
  await db.createTable('user', [{ name: 'Ada', age: 36 }], ['prod', 'search']);
  await db.createTable('notes', [{ text: 'a' }]);
  await db.close();
  return folder;
}

beforeAll(async () => {
  compiledModule('cli/main.js');
  root = await makeCatalog();
  server = await startServer({ root, port: 0, readOnly: true });
}, 300_000);
afterAll(() => server.close());

const places = (): [string, string[]][] => [
  ['a directory', ['--root', root]],
  ['a server', ['--uri', server.url]],
];

describe('a name that is nearly right', () => {
  const cases: [string[], number, string][] = [
    [['head', 'prod/search/usr'], EXIT.notFound, 'The table prod/search/usr was not found. '],
    [['head', 'prod/search/usr'], EXIT.notFound, 'Did you mean prod/search/user? (TableNotFound)'],
    [['head', 'prd/serch/user'], EXIT.notFound, 'Did you mean prod/search/user?'],
    [['head', 'prd$serch$user'], EXIT.notFound, 'Did you mean prod$search$user?'],
    [['head', 'prod$search$usr'], EXIT.notFound, 'The table prod$search$usr was not found. '],
    [['describe', 'nots'], EXIT.notFound, 'Did you mean notes?'],
    [['ls', 'prod/serch'], EXIT.notFound, 'Did you mean prod/search?'],
    [['head', 'prod'], EXIT.notFound, 'prod is a namespace; `dirspace ls prod` lists its tables.'],
    [
      ['head', 'prod/search'],
      EXIT.notFound,
      'prod/search is a namespace; `dirspace ls prod/search`',
    ],
    [['head', 'prod/serch'], EXIT.notFound, 'Did you mean prod/search?'],
    [['ls', 'prod/search/user'], EXIT.notFound, 'prod/search/user is a table; `dirspace describe'],
    [['query', 'prod/search/user', '-s', 'nam'], EXIT.usage, 'Did you mean "name"?'],
    [['query', 'prod/search/user', '-s', '*'], EXIT.usage, 'without -s all of them are there'],
    [['query', 'prod/search/user', 'nam = 3'], EXIT.usage, 'did you mean name?'],
    [['query', 'prod/search/user', 'name = "Ada"'], EXIT.usage, "text is written 'Ada'"],
    [['query', 'prod/search/user', 'upper(name) = "A b"'], EXIT.usage, "text is written 'A b'"],
    [['query', 'prod/search/user', 'select *'], EXIT.usage, 'not a statement: leave out SELECT'],
    [['query', 'notes', 'where text = 1'], EXIT.usage, 'not a statement: leave out WHERE'],
    [['query', 'prod/search/user', 'age >'], EXIT.usage, 'Cannot read the expression'],
    [['query', 'prod/search/user', 'age'], EXIT.usage, 'no condition'],
  ];
  test.each(cases)('%j', async (args, code, part) => {
    for (const [place, where] of places()) {
      const { error, ...result } = await callCli([...args, ...where]);
      expect({ place, error }).toEqual({ place, error: expect.stringContaining(part) });
      expect({ place, ...result }).toEqual({ place, code, out: '' });
    }
  });

  test('far off, or in the root, is told without a guess', async () => {
    for (const [, where] of places()) {
      const { error } = await callCli(['head', 'prod/search/entirely-different', ...where]);
      expect(error).toContain('The table prod/search/entirely-different was not found.');
      expect(error).not.toContain('Did you mean');
    }
  });

  test('a column called where may be used', async () => {
    const { error } = await callCli(['query', 'notes', 'where = 3', '--root', root]);
    expect(error).not.toContain('statement');
  });

  test('notes have ids as they were typed', async () => {
    const own = await makeCatalog();
    const run = (...args: string[]): Promise<CliResult> => callCli([...args, '--root', own]);
    expect((await run('rename', 'prod$search$user', 'prod$u')).error).toBe(
      'Renamed prod$search$user to prod$u.\n',
    );
    expect((await run('drop', 'prod/u')).error).toBe('Dropped the table prod/u.\n');
    expect((await run('create-namespace', 'prod')).error).toContain(
      'The namespace prod already exists',
    );
    expect((await run('create-namespace', 'prod/search')).error).toContain(
      'The namespace prod/search already exists',
    );
    const file = join(own, '..', 'x.json');
    writeFileSync(file, '[{"a": 1}]');
    expect((await run('import', file, 'new$t')).error).toContain(
      'The namespace new was not found.',
    );
    expect((await run('import', file, 'prod/serch/t')).error).toContain('Did you mean prod/search');
    expect(await run('import', file, 'prod$search')).toMatchObject({
      code: EXIT.usage,
      error: expect.stringContaining('name a table in it, such as prod$search$rows.'),
    });
    const inTable = await run('import', file, 'notes/t', '--parents');
    expect(inTable.error).toContain('notes is a table;');
    expect(inTable.error).not.toContain('--parents');
    const undropped = await run('undrop', 'prod/search/usr');
    expect(undropped.error).toContain('No dropped table prod/search/usr');
    expect(undropped.error).not.toContain('Did you mean');
  });

  test.each([
    ['mv', 'rename'],
    ['rm', 'drop'],
    ['lst', 'ls'],
    ['list', 'ls'],
    ['qurey', 'query'],
    ['compact', 'optimize'],
  ])('the command %s is answered with %s', async (typed, meant) => {
    for (const line of [
      [typed, 'x'],
      ['help', typed],
    ]) {
      const { code, error } = await callCli(line);
      expect({ code, error }).toEqual({
        code: EXIT.usage,
        error: `dirspace: unknown command '${typed}'\n(Did you mean ${meant}?)\nGive --help for help.\n`,
      });
    }
  });

  test('no other name is a command itself, or of two commands', () => {
    const names = COMMANDS.flatMap(({ name, otherNames = [] }) => [name, ...otherNames]);
    expect(names.length).toBe(new Set(names).size);
  });
});

describe('with --json', () => {
  test.each([
    [['head', 'prod/search/usr'], EXIT.notFound, 'TableNotFound'],
    [['query', 'notes', 'text ='], EXIT.usage, 'InvalidInput'],
    [['query', 'notes', '-s', 'txt'], EXIT.usage, 'TableColumnNotFound'],
    [['head'], EXIT.usage, 'Usage'],
    [['lss'], EXIT.usage, 'Usage'],
    [[], EXIT.usage, 'Usage'],
    [['ls', 'a b'], EXIT.usage, 'Usage'],
    [['ls', '--frob'], EXIT.usage, 'Usage'],
    [['head', 'notes', '--at', '9'], EXIT.notFound, 'TableVersionNotFound'],
  ])('the error of %j is one line of JSON', async (args, exit, code) => {
    const result = await callCli([...args, '--json', '--root', root]);
    expect(result).toMatchObject({ code: exit, out: '' });
    expect(result.error).toMatch(/^[^\n]+\n$/);
    expect(JSON.parse(result.error)).toEqual({
      error: { code, exit, message: expect.any(String), details: expect.any(Object) },
    });
  });

  test('in a process too; and what is beside it is no JSON', async () => {
    const failed = await spawnCli(['head', 'nothing', '--json', '--root', root]);
    expect(JSON.parse(failed.error).error).toMatchObject({ code: 'TableNotFound', exit: 3 });
    const plain = await spawnCli(['query', 'notes', '--root', root, '--', '--json']);
    // A line of progress may come first.
    expect(plain.error).toMatch(/^dirspace: /m);
  });

  test('verify prints its report, and then the error', async () => {
    const own = await makeCatalog();
    const folder = join(own, 'data', 'notes.table');
    const versions = readdirSync(folder).find((name) => name.startsWith('versions-')) as string;
    writeFileSync(join(folder, versions, '00000000000000000001.json'), '{');
    const { code, out, error } = await callCli(['verify', '--json', '--root', own]);
    expect(code).toBe(EXIT.failure);
    expect(JSON.parse(out)).toMatchObject({ ok: false, problems: [{ kind: 'manifest' }] });
    expect(JSON.parse(error).error).toMatchObject({ code: 'Corrupt', exit: 1 });
  });
});

describe('drop --cascade', () => {
  let own: string;
  beforeEach(async () => {
    own = await makeCatalog();
  });

  test.skipIf(!hasTerminal)('asks on a terminal, and does as it is told', async () => {
    const args = ['drop', 'prod', '--cascade', '--root', own];
    const names = async (): Promise<string> => (await callCli(['ls', '--root', own])).out;
    for (const typed of ['n\n', '\n', '\u0004', 'yellow\n']) {
      const { code, out } = onTerminal(args, { typed, errorsToo: true });
      expect({ typed, code }).toEqual({ typed, code: EXIT.failure });
      const said = out.join('\n');
      expect(said).toContain('Drop the namespace prod with 1 table and 1 namespace in it? [y/N]');
      expect(said).toContain('Nothing was dropped');
      expect(await names()).toBe('prod/\nnotes\n');
    }
    expect(onTerminal(args, { typed: 'y\n', errorsToo: true }).code).toBe(EXIT.ok);
    expect(await names()).toBe('notes\n');
  });

  test.skipIf(!hasTerminal)('with --yes, and of what is empty, it does not ask', async () => {
    const dropped = onTerminal(['drop', 'prod', '--cascade', '--yes', '--root', own], {
      errorsToo: true,
    });
    expect(dropped).toMatchObject({ code: EXIT.ok, out: ['Dropped the namespace prod.'] });
    await callCli(['create-namespace', 'empty', '--root', own]);
    const empty = onTerminal(['drop', 'empty', '--cascade', '--root', own], { errorsToo: true });
    expect(empty).toMatchObject({ code: EXIT.ok, out: ['Dropped the namespace empty.'] });
  });

  test('asks nobody where there is no terminal', async () => {
    const args = ['drop', 'prod', '--cascade', '--root', own];
    expect(await spawnCli(args)).toMatchObject({ code: EXIT.ok, out: '' });
  });

  test('Ctrl-C at the question drops nothing', async () => {
    let interrupt: (signal: 'SIGINT') => void = () => {};
    const interrupted = new Promise<'SIGINT'>((resolve) => {
      interrupt = resolve;
    });
    const around: Surroundings = {
      env: {},
      out: () => {},
      error: () => {},
      terminals: { input: true, output: true, error: true },
      interrupted: () => interrupted,
      ask: (_, signal) => {
        interrupt('SIGINT');
        return new Promise((_resolve, reject) => {
          signal.addEventListener('abort', () => reject(signal.reason));
        });
      },
    };
    expect(await runCli(['drop', 'prod', '--cascade', '--root', own], around)).toBe(130);
    expect((await callCli(['ls', '--root', own])).out).toBe('prod/\nnotes\n');
  });
});

describe('a folder that does not exist', () => {
  const commands: string[][] = [
    ...[['ls'], ['verify'], ['repair'], ['repair', '--apply'], ['trash', 'empty'], ['undrop', 't']],
    ...[
      ['optimize', 't'],
      ['drop', 't'],
      ['rename', 't', 'u'],
      ['delete', 't', 'a = 1'],
    ],
    ...[
      ['update', 't', '--set', 'a=1'],
      ['restore', 't', '1'],
      ['tag', 'create', 't', 'x'],
    ],
  ];
  test.each(commands.map((command) => [command.join(' '), command]))(
    '%s: no catalog is made',
    async (_, command) => {
      const missing = join(temporaryFolder(), 'misspelt');
      const { code, error } = await callCli([...command, '--root', missing]);
      expect([code, error.includes('There is no catalog at')], error).toEqual([
        EXIT.notFound,
        true,
      ]);
      expect(existsSync(missing)).toBe(false);
    },
  );

  test('is made by import and create-namespace', async () => {
    const missing = join(temporaryFolder(), 'new');
    expect(await callCli(['create-namespace', 'n', '--root', missing])).toMatchObject({
      code: EXIT.ok,
    });
    expect(existsSync(join(missing, 'n'))).toBe(true);
  });
});
