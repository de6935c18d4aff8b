/** Calls of the command line that are nearly right: what is accepted, and what is answered with a hint. */
import { chmodSync, existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { COMMANDS } from '../../src/cli/commands.ts';
import { EXIT } from '../../src/cli/terminal/exit-codes.ts';
import { otherOption } from '../../src/cli/terminal/other-options.ts';
import { connect } from '../../src/sdk/connect.ts';
import { startServer } from '../../src/server/server.ts';
import { type CliResult, callCli, hasTerminal, onTerminal } from '../helpers/cli.ts';
import { compiledModule } from '../helpers/compiled.ts';
import { temporaryFolder } from '../helpers/temporary.ts';

let root: string;
let server: Awaited<ReturnType<typeof startServer>>;

beforeAll(async () => {
  compiledModule('cli/main.js');
  root = join(temporaryFolder(), 'catalog');
  const db = await connect(root, { durability: 'relaxed' });
  await db.createNamespace(['prod']);
  await db.createNamespace(['prod', 'deep']);
  await db.createTable('user', [{ id: 1, name: 'Ada', where: { city: 'x' } }], ['prod']);
  await db.createTable('order', [{ id: 1 }], ['prod', 'deep']);
  const notes = await db.createTable('notes', [
    { id: 1, name: 'b', 'a,b': 5, 'x desc': 1 },
    { id: 2, name: 'a', 'a,b': 5, 'x desc': 3 },
    { id: 3, name: 'b', 'a,b': 5, 'x desc': 2 },
  ]);
  await (await notes.tags()).create('v1', 1);
  await (await notes.branches()).create('dev');
  await db.createTable('gone', [{ id: 1 }], ['prod']);
  await db.dropTable('gone', ['prod']);
  await db.createNamespace(['old']);
  await db.createTable('user', [{ id: 1 }], ['old']);
  await db.dropNamespace(['old'], { behavior: 'cascade' });
  await db.close();
  server = await startServer({ root, port: 0, readOnly: true });
}, 300_000);
afterAll(() => server.close());

const run = (...args: string[]): Promise<CliResult> => callCli([...args, '--root', root]);

describe('a hint', () => {
  const cases: [string[], number, string][] = [
    [['query', 'notes', '--where', 'id > 1'], EXIT.usage, 'dirspace query <id> "age > 40".'],
    [['delete', 'notes', '--filter=id > 1'], EXIT.usage, 'dirspace delete <id> "age > 40".'],
    [['query', 'notes', '--limit', '2'], EXIT.usage, '(Did you mean --rows?)'],
    [['log', 'notes', '--rows', '2'], EXIT.usage, '(Did you mean --limit?)'],
    [['query', 'notes', '--columns', 'id'], EXIT.usage, '(Did you mean --select?)'],
    [['query', 'notes', '--order-by', 'id'], EXIT.usage, '(Did you mean --sort?)'],
    [['head', 'notes', '--tag', 'v1'], EXIT.usage, '(Did you mean --at?)'],
    [['head', 'notes', '--version', '1'], EXIT.usage, '(Did you mean --at?)'],
    [['clone', 'notes', 'other', '--version', '1'], EXIT.usage, '(Did you mean --at?)'],
    [['import', 'x', 'y', '--append'], EXIT.usage, '(Did you mean --mode append?)'],
    [['drop', 'prod', '--recursive'], EXIT.usage, '(Did you mean --cascade?)'],
    [['ls', '--catalog', 'x'], EXIT.usage, '(Did you mean --root?)'],
    [['ls', '--url', 'x'], EXIT.usage, '(Did you mean --uri?)'],
    [['ls', '--key', 'x'], EXIT.usage, '$DIRSPACE_API_KEY'],
    [['query', 'notes', '-o', 'x'], EXIT.usage, '> FILE'],
    [['import', 'x', 'y', '--sep', ';'], EXIT.usage, '(Did you mean --delimiter?)'],
    [['import', 'x', 'y', '--nulls', 'NA'], EXIT.usage, '(Did you mean --null?)'],
    [['tag', 'add', 'notes', 'v2'], EXIT.usage, 'Did you mean "create"?'],
    [['tag', 'constructor', 'notes'], EXIT.usage, 'There is no action "constructor"'],
    [['tag', 'notes', 'v2'], EXIT.usage, 'as in dirspace tag ls notes.'],
    [['trash', 'undrop', 'prod/gone'], EXIT.usage, 'Did you mean "restore"?'],
    [['diff', 'notes'], EXIT.usage, 'For example: dirspace diff'],
    [['query', 'notes', '--sellect', 'x'], EXIT.usage, '(Did you mean --select?)'],
    [['query', 'notes', '--sort', 'idd:desc'], EXIT.usage, 'no column "idd"; the table has id,'],
    [['query', 'notes', '--sort', 'id:down'], EXIT.usage, '"down" is no direction; give id:asc'],
    [['query', 'notes', '--sort', '-idd'], EXIT.usage, 'Did you mean "id"?'],
    [['query', 'notes', '--sort', 'id,'], EXIT.usage, 'a name is missing beside a comma'],
    [['query', 'notes', '-s', 'id,nam'], EXIT.usage, 'Did you mean "name"?'],
    [['query', 'id > 1', 'notes'], EXIT.usage, 'first: dirspace query notes "id > 1".'],
    [['tag', 'creat', 'notes', 'v3'], EXIT.usage, 'Did you mean "create"?'],
    [['tag', 'notes', 'ls'], EXIT.usage, 'The action comes first: dirspace tag ls notes.'],
    [['branch', 'creat', 'notes', 'x'], EXIT.usage, 'Did you mean "create"?'],
    [['trash', 'emty'], EXIT.usage, 'Did you mean "empty"?'],
    [['import', 'x', 'y', '--mode', 'apend'], EXIT.usage, 'Did you mean "append"?'],
    [['head', 'notes', '--at', 'v11'], EXIT.notFound, 'Did you mean v1?'],
    [['describe', 'notes', '--at', 'v11'], EXIT.notFound, 'Did you mean v1?'],
    [['head', 'notes', '--branch', 'deb'], EXIT.notFound, 'Did you mean dev?'],
    [['head', 'notes', '--at', 'dev'], EXIT.notFound, 'dev is a branch: --branch dev.'],
    [['head', 'notes', '--branch', 'v1'], EXIT.notFound, 'v1 is a tag: --at v1.'],
    [['restore', 'notes', 'v11'], EXIT.notFound, 'Did you mean v1?'],
    [['tag', 'delete', 'notes', 'v11'], EXIT.notFound, 'Did you mean v1?'],
    [['branch', 'delete', 'notes', 'deb'], EXIT.notFound, 'Did you mean dev?'],
    [['head', 'notes', '--at', '9007199254740993'], EXIT.usage, 'is no version; it is too large'],
    [['head', 'user'], EXIT.notFound, 'Did you mean prod/user?'],
    [['head', 'order'], EXIT.notFound, 'Did you mean prod/deep/order?'],
    [['head', 'prod.user'], EXIT.notFound, 'Did you mean prod/user? Names of an id are joined'],
    [['ls', 'prod.deep'], EXIT.notFound, 'Did you mean prod/deep? Names of an id are joined'],
    [['head', 'prod\\user'], EXIT.usage, 'Names of an id are joined by "/": prod/user.'],
    [['head', 'prod::user'], EXIT.usage, 'Names of an id are joined by "/": prod/user.'],
    [['head', 'my table'], EXIT.usage, 'has " " at offset 2'],
    [['undrop', 'prod/gon'], EXIT.notFound, 'Did you mean prod/gone?'],
    [['trash', 'restore', 'prod/gon'], EXIT.notFound, 'Did you mean prod/gone?'],
    [['undrop', 'prod'], EXIT.alreadyExists, 'prod is a namespace, which is not dropped'],
    [['undrop', 'prod'], EXIT.alreadyExists, 'in the trash of it are prod/gone.'],
    [['undrop', 'old'], EXIT.notFound, 'in the trash of it are old/user.'],
    [['undrop', 'old/user'], EXIT.notFound, 'create-namespace -p old` makes room'],
    [['undrop', 'notes'], EXIT.notFound, 'There is a table notes, which is not dropped.'],
    [['create-namespace', 'prod'], EXIT.alreadyExists, 'Give --parents to take it as it is.'],
    [['tag', 'create', 'notes', 'v 3'], EXIT.usage, 'not allowed for a tag'],
    [['branch', 'create', 'notes', 'v 3'], EXIT.usage, 'not allowed for a tag'],
    [['head', 'notes', '--at', 'v 3'], EXIT.usage, 'not allowed for a tag'],
    [['log', 'notes', '--branch', 'v 3'], EXIT.usage, 'not allowed for a tag'],
    [['files', 'notes', '--at', 'v 3'], EXIT.usage, 'not allowed for a tag'],
    [['restore', 'notes', 'v 3'], EXIT.usage, 'not allowed for a tag'],
    [['describe', 'x'.repeat(300)], EXIT.usage, 'Choose a shorter name.'],
    [['rename', 'notes', 'x'.repeat(300)], EXIT.usage, 'Choose a shorter name.'],
    [['import', 'x'], EXIT.usage, 'Usage: dirspace import <file> <id>'],
    [['head', 'a', 'b'], EXIT.usage, 'Usage: dirspace head <id>'],
  ];
  test.each(cases)('is told of %j', async (args, code, part) => {
    const { error, ...result } = await run(...args);
    expect(error).toContain(part);
    expect(result).toEqual({ code, out: '' });
  });

  test('comes from a server too', async () => {
    for (const [args, part] of [
      [['head', 'notes', '--at', 'v11'], 'Did you mean v1?'],
      [['head', 'user'], 'Did you mean prod/user?'],
      [['head', 'prod.user'], 'Did you mean prod/user?'],
    ] as const) {
      expect((await callCli([...args, '--uri', server.url])).error).toContain(part);
    }
  });

  test('is not given where the words fit nothing', async () => {
    for (const args of [
      ['head', 'notes', '--at', 'entirely'],
      ['head', 'zzzzzz'],
      ['undrop', 'zzzzzz'],
      ['head', 'a.b.c'],
    ]) {
      const { error } = await run(...args);
      expect(error).not.toMatch(/Did you mean| is a /);
    }
    expect((await run('head', 'a//b')).error).not.toContain('joined');
    expect((await run('query', 'id > 1', 'id = 2')).error).not.toContain('comes first');
  });

  test('is not needed for options of dirspace itself, which no command has', () => {
    for (const { name, options = [] } of COMMANDS) {
      const taken = options.flatMap(({ flags }) =>
        flags.match(/^-V|--(version|root|uri|json|help)\b/),
      );
      expect({ name, taken: taken.filter((flag) => flag !== null) }).toEqual({ name, taken: [] });
    }
  });

  test('of an option names one that the command has', () => {
    for (const command of COMMANDS) {
      const own = command.options?.flatMap(({ flags }) => flags.match(/--?[\w-]+/g) ?? []) ?? [];
      for (const flag of own) {
        const meant = /mean (--\S+)\?/.exec(otherOption(flag, command) ?? '')?.[1];
        // What a command has is never answered with another thing.
        if (meant !== undefined) expect([...own, '--root', '--uri', '--json']).toContain(meant);
      }
    }
  });
});

describe('what is meant is plain', () => {
  const rows = async (...args: string[]): Promise<Record<string, unknown>[]> => {
    const { out, error } = await run('query', 'notes', '--json', ...args);
    expect(error).toBe('');
    return JSON.parse(out);
  };
  const ids = async (...args: string[]): Promise<unknown[]> =>
    (await rows('-s', 'id', ...args)).map(({ id }) => id);

  test('-s takes a list of columns, and a column whose name has a comma', async () => {
    const names = async (...args: string[]) => Object.keys((await rows(...args))[0] ?? {});
    expect(await names('-s', 'id,name')).toEqual(['id', 'name']);
    expect(await names('-s', 'name, id')).toEqual(['name', 'id']);
    expect(await names('-s', 'id', '-s', 'name')).toEqual(['id', 'name']);
    expect(await names('-s', 'a,b')).toEqual(['a,b']);
    expect(await names('-s', 'a,b', '-s', 'id,name')).toEqual(['a,b', 'id', 'name']);
    expect((await run('query', 'notes', '-s', 'name,id')).out.split('\n')[0]).toBe('name  id');
  });

  test.each([
    [['id:desc'], [3, 2, 1]],
    [['id desc'], [3, 2, 1]],
    [['id DESC'], [3, 2, 1]],
    [['ID:desc'], [3, 2, 1]],
    [['-id'], [3, 2, 1]],
    [['+id'], [1, 2, 3]],
    [['id asc'], [1, 2, 3]],
    [['name,id:desc'], [2, 3, 1]],
    [['name desc, id'], [1, 3, 2]],
    [
      ['name', 'id:desc'],
      [2, 3, 1],
    ],
    // A column may be called so.
    [['x desc'], [1, 3, 2]],
    [['x desc:desc'], [2, 3, 1]],
    [['-x desc'], [2, 3, 1]],
    [
      ['a,b', '-id'],
      [3, 2, 1],
    ],
    [['_rowid:desc'], [3, 2, 1]],
  ])('--sort %j', async (sort, expected) => {
    expect(await ids(...sort.flatMap((text) => ['--sort', text]))).toEqual(expected);
  });

  test('--sort goes into structs', async () => {
    const { code, error } = await run('query', 'prod/user', '--sort', 'where.city desc');
    expect({ code, error }).toEqual({ code: EXIT.ok, error: '' });
  });
});

test('a word that is too long to read is told by its beginning', async () => {
  for (const more of [[], ['--json']]) {
    const { code, error } = await run('ls', '--sort', 'x'.repeat(50_000), ...more);
    expect({ code, length: error.length < 600 }).toEqual({ code: EXIT.usage, length: true });
    expect(error).toMatch(/x{100}\.\.\. \(50,0\d\d characters\)/);
  }
});

test('a file that comes after its table is told as such', async () => {
  const file = join(temporaryFolder(), 'rows.ndjson');
  writeFileSync(file, '{"a": null}\n');
  const swapped = await run('import', 'notes', file);
  expect(swapped).toMatchObject({
    code: EXIT.usage,
    error: expect.stringContaining(`The file comes first: dirspace import ${file} notes.`),
  });
  expect((await run('import', file, 'nulls', '--types', 'a:in64')).error).toBe(
    'dirspace: --types, column "a": "in64" is no type; expected a name such as "int64" or "utf8". Did you mean "int64"?\n',
  );
  writeFileSync(file, '{"a": 1}\n');
  const later = await run('import', file, 'nulls', '--types', 'b:int64');
  expect(later.error).toContain('--schema takes columns that come later.');
});

describe('a root that is no catalog', () => {
  test.each([
    [['ls']],
    [['verify']],
    [['repair', '--apply']],
    [['drop', 't']],
    [['trash', 'empty']],
    [['undrop', 't']],
  ])('is refused by %j, and nothing is made in it', async (args) => {
    const folder = temporaryFolder();
    mkdirSync(join(folder, 'sub'));
    writeFileSync(join(folder, 'sub', 'x'), '');
    const { code, out, error } = await callCli([...args, '--root', folder]);
    expect({ code, out }).toEqual({ code: EXIT.notFound, out: '' });
    expect(error).toContain('There is no catalog at');
    expect(existsSync(join(folder, '.dirspace'))).toBe(false);
  });

  test('a catalog that lost its private folder is one still', async () => {
    const folder = temporaryFolder();
    mkdirSync(join(folder, 'data'));
    expect((await callCli(['ls', '--root', folder])).code).toBe(EXIT.ok);
    const other = temporaryFolder();
    mkdirSync(join(other, 'n'));
    writeFileSync(join(other, 'n', '.namespace.json'), '');
    expect((await callCli(['verify', '--root', other])).error).not.toContain('no catalog');
  });

  test('a file and an address that is none are mistakes of the call', async () => {
    const file = join(temporaryFolder(), 'f');
    writeFileSync(file, '');
    for (const args of [
      ['ls', '--root', file],
      ['create-namespace', 'n', '--root', file],
    ]) {
      const { code, error } = await callCli(args);
      expect({ code, error }).toEqual({
        code: EXIT.usage,
        error: expect.stringContaining('is no folder; --root is the folder of a catalog'),
      });
    }
    expect((await callCli(['ls', '--uri', 'http://'])).code).toBe(EXIT.usage);
  });
});

test.skipIf(!hasTerminal)('trash empty asks on a terminal, unless --yes is given', async () => {
  const own = join(temporaryFolder(), 'catalog');
  const db = await connect(own, { durability: 'relaxed' });
  const dropOne = async (): Promise<void> => {
    await db.createTable('t', [{ a: 1 }]);
    await db.dropTable('t');
  };
  const args = ['trash', 'empty', '--root', own];
  const left = async () => (await db.listTrash()).length;
  expect(onTerminal(args, { errorsToo: true }).out).toEqual(['Removed 0 entries for good.']);
  await dropOne();
  for (const typed of ['n\n', '\n', '\u0004']) {
    const { code, out } = onTerminal(args, { typed, errorsToo: true });
    expect(code).toBe(EXIT.failure);
    expect(out.join('\n')).toContain('Remove one entry of the trash for good? [y/N]');
    expect(out.join('\n')).toContain('Nothing was removed: the answer was not yes.');
    expect(await left()).toBe(1);
  }
  expect(onTerminal([...args, '--dry-run'], { errorsToo: true }).code).toBe(EXIT.ok);
  expect(await left()).toBe(1);
  expect(onTerminal(args, { typed: 'y\n', errorsToo: true }).code).toBe(EXIT.ok);
  expect(await left()).toBe(0);
  await dropOne();
  expect(onTerminal([...args, '--yes'], { errorsToo: true }).out).toEqual([
    'Removed one entry for good.',
  ]);
  expect(await left()).toBe(0);
  await db.close();
});

test.skipIf(process.platform === 'win32')(
  'a root that may not be read is told as such',
  async () => {
    const secret = join(temporaryFolder(), 'secret');
    mkdirSync(secret);
    chmodSync(join(secret, '..'), 0o755);
    chmodSync(secret, 0);
    const isSuperuser = process.getuid?.() === 0;
    let told: CliResult;
    try {
      // The superuser may read everything.
      if (isSuperuser) process.seteuid?.(65_534);
      told = await callCli(['ls', '--root', secret]);
    } finally {
      if (isSuperuser) process.seteuid?.(0);
      chmodSync(secret, 0o755);
    }
    const error = `dirspace: The folder ${JSON.stringify(secret)} cannot be read: permission is denied. (PermissionDenied)\n`;
    expect(told).toEqual({ code: EXIT.auth, out: '', error });
  },
);
