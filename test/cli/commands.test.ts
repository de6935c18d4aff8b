/** The CLI on a real folder; what depends on the process runs in one of its own. */
import { readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { beforeAll, describe, expect, test } from 'vitest';
import { tableFromArrays, tableToIPC } from '../../src/arrow/apache.ts';
import { EXIT, exitCode } from '../../src/cli/terminal/exit-codes.ts';
import { parsePath } from '../../src/cli/terminal/ids.ts';
import { columns, toJson } from '../../src/cli/terminal/output.ts';
import { DirspaceError, ERROR_KINDS, type ErrorCode } from '../../src/errors.ts';
import { parseExactJson } from '../../src/interchange/json/exact-json.ts';
import { connect } from '../../src/sdk/connect.ts';
import { type CliResult, callCli, spawnCli } from '../helpers/cli.ts';
import { compiledModule } from '../helpers/compiled.ts';
import { temporaryFolder } from '../helpers/temporary.ts';

let root: string;
const files: Record<string, string> = {};

// Compiling takes minutes on a busy machine, and is no part of what is looked at.
beforeAll(() => void compiledModule('cli/main.js'), 300_000);

/** One catalog that the tests below read; those that change one make their own. */
beforeAll(async () => {
  const folder = temporaryFolder();
  const put = (name: string, content: string | Uint8Array): void => {
    files[name] = join(folder, name);
    writeFileSync(files[name], content);
  };
  const numbers = tableFromArrays({ n: Int32Array.of(1, 2, 3) });
  put('numbers.arrow', tableToIPC(numbers, 'file'));
  put('numbers.arrows', tableToIPC(numbers, 'stream'));
  put('people.json', '[{"name": "Ada", "age": 36}, {"name": "Grace", "age": 85}]');
  put('people.ndjson', '{"name": "Alan", "age": 41}\n\n{"name": "Edsger", "age": 72}\r\n');
  put('bad.ndjson', '{"name": "Alan"}\n{"name": \n');
  put('misfit.json', '[{"name": "Ada", "age": 36}, {"name": "Grace", "age": "old"}]');
  put('scalar.json', '7');
  root = join(folder, 'catalog');
  const db = await connect(root, { durability: 'relaxed' });
  await db.createNamespace(['prod'], { properties: { owner: 'search' } });
  await db.createNamespace(['prod', 'search']);
  const user = await db.createTable(
    'user',
    [{ name: 'Ada', age: 36, id: 2n ** 60n }],
    ['prod', 'search'],
  );
  await user.add([{ name: 'Grace', age: 85, id: 7n }]);
  await (await user.tags()).create('first', 1);
  await (await user.branches()).create('draft');
  await db.createTable('notes', [{ text: 'a\u001b[31mb' }]);
  await db.close();
});

const run = (...args: string[]): Promise<CliResult> => callCli([...args, '--root', root]);

async function json(...args: string[]): Promise<unknown> {
  const { code, out, error } = await run(...args, '--json');
  expect({ code, error }).toEqual({ code: 0, error: expect.any(String) });
  return JSON.parse(out);
}

describe('reading', () => {
  test('ls', async () => {
    expect(await run('ls')).toEqual({ code: 0, out: 'prod/\nnotes\n', error: '' });
    expect((await run('ls', 'prod')).out).toBe('search/\n');
    expect((await run('ls', 'prod/search')).out).toBe('user\n');
    expect((await run('ls', 'prod$search')).out).toBe('user\n');
    expect((await run('ls', '-r')).out).toBe('notes\nprod/\nprod/search/\nprod/search/user\n');
    expect((await run('ls', '-r', 'prod')).out).toBe('search/\nsearch/user\n');
    expect(await json('ls', '/')).toEqual({ path: [], namespaces: ['prod'], tables: ['notes'] });
  });

  test('describe', async () => {
    const { out } = await run('describe', 'prod/search/user');
    expect(out).toMatch(/^version +2$/m);
    expect(out).toMatch(/^name +utf8$/m);
    expect(await json('describe', 'prod/search/user', '--at', 'first')).toMatchObject({
      kind: 'table',
      id: ['prod', 'search', 'user'],
      version: 1,
      schema: { fields: [{ name: 'name' }, { name: 'age' }, { name: 'id' }] },
    });
    expect(await json('describe', 'prod')).toMatchObject({
      kind: 'namespace',
      properties: { owner: 'search' },
    });
    expect((await run('describe', '/')).out).toMatch(/^namespace +\/$/m);
    for (const id of ['prod', '/']) {
      const refused = await run('describe', id, '--branch', 'x');
      expect(refused).toMatchObject({ code: EXIT.usage, out: '' });
      expect(refused.error).toContain(`${id} is a namespace, which has no versions or branches.`);
    }
  });

  test('head', async () => {
    expect((await run('head', 'prod/search/user')).out).toBe(
      'name   age  id\nAda    36   1152921504606846976\nGrace  85   7\n',
    );
    expect(await json('head', 'prod/search/user', '-n', '1')).toEqual([
      { name: 'Ada', age: 36, id: '1152921504606846976' },
    ]);
    expect(await json('head', 'prod/search/user', '--at', '1')).toHaveLength(1);
    expect(await json('head', 'prod/search/user', '--branch', 'draft')).toHaveLength(2);
    expect(await json('head', 'prod/search/user', '-n', '0')).toEqual([]);
    expect((await run('head', 'notes')).out).toBe('text\na\\u001b[31mb\n');
  });

  test('log', async () => {
    const lines = (await run('log', 'prod/search/user')).out.trimEnd().split('\n');
    expect(lines).toHaveLength(3);
    expect(lines[1]).toMatch(/^2 .* append /);
    expect(lines[2]).toMatch(/^1 .* create +first /);
    expect(await json('log', 'prod/search/user', '-n', '1')).toMatchObject([
      { version: 2, tags: [] },
    ]);
    expect(await json('log', 'prod/search/user', '--branch', 'draft')).toBeInstanceOf(Array);
  });

  test('leaves a folder that is no catalog as it is', async () => {
    const empty = temporaryFolder();
    await callCli(['ls', '--root', empty]);
    expect(readdirSync(empty)).toEqual([]);
  });
});

describe('changing', () => {
  const fresh = () => {
    const folder = join(temporaryFolder(), 'catalog');
    return (...args: string[]) => callCli([...args, '--root', folder]);
  };

  test('a life of a table', async () => {
    const own = fresh();
    const make = await own(
      'create-namespace',
      '-p',
      'a/b',
      '--property',
      'x=1=2',
      '--property',
      'y=',
    );
    expect(make).toEqual({ code: 0, out: '', error: 'Created the namespace a/b.\n' });
    const facts = JSON.parse((await own('describe', 'a/b', '--json')).out);
    expect(facts.properties).toMatchObject({ x: '1=2', y: '' });
    expect((await own('create-namespace', 'a')).code).toBe(EXIT.alreadyExists);

    const people = files['people.json'] as string;
    const made = await own('import', people, 'a/b/people', '--json');
    expect(JSON.parse(made.out)).toEqual({
      ...{ id: ['a', 'b', 'people'], version: 1 },
      ...{ rows: 2, imported: 2 },
    });
    const again = await own('import', people, 'a/b/people');
    expect(again.code).toBe(EXIT.alreadyExists);
    expect(again.error).toContain('--mode append');
    const lines = files['people.ndjson'] as string;
    expect((await own('import', lines, 'a/b/people', '--mode', 'append')).error).toContain(
      'version 2, 2 rows added, 4 in all',
    );
    const misfit = await own(
      'import',
      files['misfit.json'] as string,
      'a/b/people',
      '--mode',
      'append',
    );
    expect(misfit.code).toBe(1);
    expect(misfit.error).toContain('Row 2 on line 1, column "age"');

    expect((await own('rename', 'a/b/people', 'users')).code).toBe(0);
    expect((await own('ls', '-r')).out).toBe('a/\na/b/\nusers\n');
    const back = await own('rename', 'users', 'a/users', '--json');
    expect(JSON.parse(back.out)).toEqual({ id: ['users'], new_id: ['a', 'users'] });

    const held = await own('drop', 'a');
    expect(held.code).toBe(EXIT.conflict);
    expect(held.error).toContain('namespace a still holds');
    expect(held.error).toContain('--cascade');
    expect(JSON.parse((await own('drop', 'a/users', '--json')).out)).toMatchObject({
      kind: 'table',
    });
    expect(JSON.parse((await own('drop', 'a', '--cascade', '--json')).out)).toEqual({
      kind: 'namespace',
      id: ['a'],
    });
    expect((await own('drop', 'a')).code).toBe(EXIT.notFound);
  });

  test.each(['numbers.arrow', 'numbers.arrows'])('importing %s', async (file) => {
    const own = fresh();
    const path = files[file] as string;
    expect((await own('import', path, 'deep/in/numbers')).error).toContain('--parents');
    expect((await own('import', path, 'deep/in/numbers', '-p')).code).toBe(0);
    expect((await own('head', 'deep/in/numbers')).out).toBe('n\n1\n2\n3\n');
  });

  test('importing what cannot be', async () => {
    const own = fresh();
    for (const [file, part] of [
      ['bad.ndjson', 'line 2'],
      ['scalar.json', 'neither a JSON array of objects nor an object'],
    ] as const) {
      const { code, error } = await own('import', files[file] as string, 't');
      expect({ file, code }).toEqual({ file, code: EXIT.usage });
      expect(error).toContain(part);
    }
    for (const file of ['missing.json', 'missing.lance', 'missing']) {
      const { code, error } = await own('import', file, 't');
      expect({ file, code }).toEqual({ file, code: EXIT.notFound });
      expect(error).toContain(`There is no file "${file}"`);
    }
    expect((await own('ls')).out).toBe('');
  });
});

describe('how it is called', () => {
  test('the root comes from the option, or the environment', async () => {
    expect((await callCli(['--root', root, 'ls', 'prod'])).out).toBe('search/\n');
    expect((await callCli(['ls', 'prod'], { env: { DIRSPACE_URI: root } })).out).toBe('search/\n');
    const other = { env: { DIRSPACE_URI: '/nowhere' } };
    expect((await callCli(['ls', 'prod', '--root', root], other)).out).toBe('search/\n');
  });

  test('serving takes the root from the same places', async () => {
    const places: [string[], Record<string, string>][] = [
      [['--root', root], { DIRSPACE_URI: '/nowhere' }],
      [['--root', pathToFileURL(root).href], {}],
      [[], { DIRSPACE_URI: root }],
      [[], { DIRSPACE_URI: '/nowhere', DIRSPACE_ROOT: root }],
    ];
    for (const [args, env] of places) {
      let listed = '';
      const { code } = await callCli(['serve', '--port', '0', '--json', ...args], {
        env,
        during: async (line) => {
          listed = (await callCli(['ls', 'prod', '--uri', JSON.parse(line).url])).out;
        },
      });
      expect({ args, code, listed }).toEqual({ args, code: 0, listed: 'search/\n' });
    }
    const server = { env: { DIRSPACE_URI: 'http://127.0.0.1:1' } };
    expect(await callCli(['serve', '--port', '0'], server)).toMatchObject({
      code: EXIT.usage,
      error: expect.stringContaining('Give --root'),
    });
  });

  test('an option that means nothing to a command is refused', async () => {
    const address = 'http://127.0.0.1:1';
    for (const args of [
      ['serve', '--port', '0', '--uri', address],
      ['conformance', address, '--root', root],
      ['conformance', address, '--uri', address],
    ]) {
      const { code, error } = await callCli(args);
      expect({ args, code }).toEqual({ args, code: EXIT.usage });
      expect(error).toContain('means nothing here');
    }
  });

  test.each([
    [['head', 'nothing'], EXIT.notFound, 'TableNotFound'],
    [['ls', 'nothing'], EXIT.notFound, 'NamespaceNotFound'],
    [['head', 'notes', '--at', '9'], EXIT.notFound, 'TableVersionNotFound'],
    [['head', 'notes', '--at', 'nothing'], EXIT.notFound, 'TableTagNotFound'],
    [['head', 'notes', '--branch', 'nothing'], EXIT.notFound, 'TableBranchNotFound'],
    [['head', 'notes', '--at', 'x', '--branch', 'y'], EXIT.usage, 'names its branch'],
    [['head', 'notes', '-n', '1.5'], EXIT.usage, 'whole number'],
    [['serve', '--port', '65536'], EXIT.usage, 'whole number up to 65535'],
    [['optimize', 'notes', '--older-than', '-1'], EXIT.usage, '--older-than is "-1"'],
    [['optimize', 'notes', '--older-than', '1000001'], EXIT.usage, 'number up to 1000000'],
    [['trash', 'empty', '--yes', '--older-than', '1000001'], EXIT.usage, 'number up to 1000000'],
    [['head', '/'], EXIT.usage, 'root'],
    [['head'], EXIT.usage, "missing required argument 'id'"],
    [['lss'], EXIT.usage, 'Did you mean ls?'],
    [['ls', '--frob'], EXIT.usage, "unknown option '--frob'"],
    [['ls', 'a b'], EXIT.usage, 'Component 1'],
    [['import', 'x.json', 't', '--mode', 'upsert'], EXIT.usage, 'create, append, overwrite'],
    [['create-namespace', 'x', '--property', 'novalue'], EXIT.usage, 'key=value'],
    [['create-namespace', '/'], EXIT.usage, 'always there'],
  ])('%j', async (args, code, part) => {
    const result = await run(...args);
    expect(result.error).toContain(part);
    expect(result.error).not.toMatch(/^\s+at /m);
    expect(result).toMatchObject({ code, out: '' });
  });

  test('help and version', async () => {
    const help = await callCli(['--help']);
    expect(help.code).toBe(0);
    for (const word of [
      'ls',
      'describe',
      'create-namespace',
      'import',
      'head',
      'log',
      'drop',
      'rename',
    ]) {
      expect(help.out).toContain(word);
    }
    expect((await callCli(['head', '--help'])).out).toContain('--at <version|tag>');
    expect((await callCli(['--version'])).out).toMatch(/^\d+\.\d+\.\d+\n$/);
    const nothing = await callCli([]);
    expect(nothing).toMatchObject({ code: 2, out: '' });
  });
});

describe('as a process', () => {
  test('data goes to one stream, the rest to the other, and the exit code tells', async () => {
    const done = await spawnCli(['ls', 'prod'], { cwd: root });
    expect(done).toEqual({ code: 0, out: 'search/\n', error: '' });
    const failed = await spawnCli(['head', 'nothing'], { env: { DIRSPACE_URI: root } });
    expect(failed).toMatchObject({ code: EXIT.notFound, out: '' });
    expect(failed.error).toMatch(/^dirspace: .*\(TableNotFound\)\n$/);
  });

  test('a reader that goes away is no failure', async () => {
    const args = ['describe', 'prod/search/user', '--root', root];
    expect(await spawnCli(args, { unread: true })).toEqual({ code: 0, out: '', error: '' });
  });
});

test('every error code has an exit code', () => {
  const codes = Object.keys(ERROR_KINDS) as ErrorCode[];
  const exits = codes.map((code) => [code, exitCode(new DirspaceError(code, ''))]);
  expect(Object.fromEntries(exits)).toMatchObject({
    TableNotFound: 3,
    TransactionNotFound: 3,
    NamespaceAlreadyExists: 4,
    TableTagAlreadyExists: 4,
    NamespaceNotEmpty: 5,
    ConcurrentModification: 5,
    PermissionDenied: 6,
    Unauthenticated: 6,
    ReadOnly: 6,
    Throttling: 7,
    ServiceUnavailable: 7,
    Corrupt: 1,
    InvalidInput: 1,
  });
  for (const [, exit] of exits) expect(exit).not.toBe(0);
  expect(exitCode(new Error('x'))).toBe(1);
});

test.each([
  ['', []],
  ['/', []],
  ['$', []],
  ['a', ['a']],
  ['a/b/c', ['a', 'b', 'c']],
  ['/a/b/', ['a', 'b']],
  ['a$b', ['a', 'b']],
  ['a.b-c_d', ['a.b-c_d']],
])('the id %j', (text, path) => {
  expect(parsePath(text)).toEqual(path);
});

test.each([['a//b'], ['a b'], ['a/%'], ['ä']])('the id %j is refused', (text) => {
  expect(() => parsePath(text)).toThrow('Component');
});

describe('JSON', () => {
  test('is written without loss', () => {
    const value = {
      big: 2n ** 60n,
      small: 5n,
      nan: NaN,
      bytes: Uint8Array.of(1, 2),
      vector: Float32Array.of(1, 2),
      map: new Map([['a', 1n]]),
      time: new Date(0),
      nothing: null,
    };
    expect(JSON.parse(toJson(value))).toEqual({
      big: '1152921504606846976',
      small: 5,
      nan: 'NaN',
      bytes: 'AQI=',
      vector: [1, 2],
      map: [['a', 1]],
      time: '1970-01-01T00:00:00.000Z',
      nothing: null,
    });
    expect(toJson(undefined)).toBe('null');
  });

  test.each([
    ['{"a": 12345678901234567890}', { a: 12345678901234567890n }],
    ['[-9223372036854775808, 1]', [-9223372036854775808n, 1]],
    ['{"a": "12345678901234567890"}', { a: '12345678901234567890' }],
    [
      '{"12345678901234567890": 12345678901234567890}',
      { '12345678901234567890': 12345678901234567890n },
    ],
    [
      '[1e300, 1234567890123456.5, 9007199254740991]',
      [1e300, 1234567890123456.5, 9007199254740991],
    ],
    ['["\\u0001x", 12345678901234567890]', ['\u0001x', 12345678901234567890n]],
    ['{"\\u0001k" : 12345678901234567890}', { '\u0001k': 12345678901234567890n }],
    [
      '["\\u0001\\u00017", "\\"12345678901234567890", 12345678901234567890]',
      ['\u0001\u00017', '"12345678901234567890', 12345678901234567890n],
    ],
  ])('%s is read without loss', (text, value) => {
    expect(parseExactJson(text)).toEqual(value);
  });

  test.each([['{"a": 12345678901234567890'], ['[01234567890123456789]'], ['']])(
    '%j is no JSON',
    (text) => {
      expect(() => parseExactJson(text)).toThrow(SyntaxError);
    },
  );
});

test('columns are as wide as what is in them', () => {
  const rows = [
    ['a', 1],
    ['ä\n', null],
  ];
  expect(columns(['x', 'long'], rows)).toBe('x    long\na    1\nä\\n');
});
