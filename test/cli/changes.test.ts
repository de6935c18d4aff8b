/** The commands that change tables, and those that name their versions. */
import { readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, describe, expect, test } from 'vitest';
import { EXIT } from '../../src/cli/terminal/exit-codes.ts';
import { connect } from '../../src/sdk/connect.ts';
import { startServer } from '../../src/server/server.ts';
import { type CliResult, callCli } from '../helpers/cli.ts';
import { temporaryFolder } from '../helpers/temporary.ts';

let root: string;

beforeEach(async () => {
  root = join(temporaryFolder(), 'catalog');
  const db = await connect(root, { durability: 'relaxed' });
  await db.createNamespace(['prod']);
  const rows = [
    { name: 'Ada', age: 36 },
    { name: 'Grace', age: 85 },
    { name: 'Alan', age: 41 },
  ];
  const user = await db.createTable('user', rows.slice(0, 2), ['prod']);
  await user.add(rows.slice(2));
  await db.close();
});

const run = (...args: string[]): Promise<CliResult> => callCli([...args, '--root', root]);
const names = async (...more: string[]): Promise<string[]> =>
  (await run('query', 'prod/user', '-s', 'name', ...more)).out.trimEnd().split('\n').slice(1);

async function done(...args: string[]): Promise<string> {
  const { code, out, error } = await run(...args);
  expect({ args, code, out }).toEqual({ args, code: EXIT.ok, out: '' });
  return error;
}

async function json(...args: string[]): Promise<unknown> {
  const { code, out, error } = await run(...args, '--json');
  expect({ args, code, error: code === 0 ? '' : error }).toEqual({ args, code: 0, error: '' });
  return JSON.parse(out);
}

describe('rows', () => {
  test('delete takes away those that fit, and says how many', async () => {
    expect(await done('delete', 'prod/user', 'age > 40')).toBe(
      'Deleted 2 rows of prod/user: version 3.\n',
    );
    expect(await names()).toEqual(['Ada']);
    expect(await json('delete', 'prod/user', 'true')).toMatchObject({
      id: ['prod', 'user'],
      numDeletedRows: 1,
      version: 4,
    });
    expect(await run('delete', 'prod/user', 'nam = 1')).toMatchObject({ code: EXIT.usage });
    expect(await run('delete', 'prod/user')).toMatchObject({ code: EXIT.usage });
  });

  test('update sets columns of those that fit, or of all', async () => {
    const older = ['--set', 'age=age + 1', '--set', "name = name || '='"];
    expect(await done('update', 'prod/user', 'age > 40', ...older)).toBe(
      'Updated 2 rows of prod/user: version 3.\n',
    );
    expect(await json('query', 'prod/user', '--sort', 'age')).toEqual([
      { name: 'Ada', age: 36 },
      { name: 'Alan=', age: 42 },
      { name: 'Grace=', age: 86 },
    ]);
    expect(await done('update', 'prod/user', '--set', 'age=0')).toContain('Updated 3 rows');
    for (const [args, part] of [
      [[], 'Give --set'],
      [['--set', 'age'], 'it is column=sql'],
      [['--set', '=1'], 'it is column=sql'],
      [['--set', 'age= '], 'it is column=sql'],
      [['--set', 'age=1', '--set', 'age=2'], 'sets "age" twice'],
      [['--set', 'aeg=1'], 'Did you mean "age"?'],
      [['--set', 'name="x"'], "text is written 'x'"],
    ] as const) {
      const { code, error } = await run('update', 'prod/user', ...args);
      expect({ args, code, error }).toEqual({
        args,
        code: EXIT.usage,
        error: expect.stringContaining(part),
      });
    }
    expect(await json('log', 'prod/user')).toHaveLength(4);
  });

  test('add-columns adds values by SQL, or nulls', async () => {
    expect(await done('add-columns', 'prod/user', '--set', 'twice=age * 2')).toBe(
      'Added twice to prod/user: version 3.\n',
    );
    expect(
      await done('add-columns', 'prod/user', '--types', 'note:utf8,tags:list<utf8>'),
    ).toContain('Added note, tags');
    expect(await json('query', 'prod/user', "name = 'Ada'")).toEqual([
      { name: 'Ada', age: 36, twice: 72, note: null, tags: null },
    ]);
    for (const args of [[], ['--set', 'a=1', '--types', 'b:utf8'], ['--set', 'age=1']]) {
      expect(await run('add-columns', 'prod/user', ...args)).toMatchObject({ code: EXIT.usage });
    }
  });

  test('all of them change a branch where one is named', async () => {
    await done('branch', 'create', 'prod/user', 'draft');
    const onDraft = ['--branch', 'draft'];
    await done('delete', 'prod/user', 'age > 40', ...onDraft);
    await done('update', 'prod/user', '--set', 'age=1', ...onDraft);
    await done('add-columns', 'prod/user', '--set', 'b=age', ...onDraft);
    expect(await json('query', 'prod/user', ...onDraft)).toEqual([{ name: 'Ada', age: 1, b: 1 }]);
    expect(await names()).toEqual(['Ada', 'Grace', 'Alan']);
  });
});

describe('query --sort', () => {
  test('orders by columns, each from small to large or the other way', async () => {
    expect(await names('--sort', 'age')).toEqual(['Ada', 'Alan', 'Grace']);
    expect(await names('--sort', 'age:desc', '-n', '2')).toEqual(['Grace', 'Alan']);
    expect(await names('--sort', 'name:asc')).toEqual(['Ada', 'Alan', 'Grace']);
    await done('update', 'prod/user', "name <> 'Ada'", '--set', 'age=1');
    expect(await names('--sort', 'age', '--sort', 'name:desc')).toEqual(['Grace', 'Alan', 'Ada']);
    const { code, error } = await run('query', 'prod/user', '--sort', 'aeg');
    expect({ code, error }).toEqual({ code: EXIT.usage, error: expect.stringMatching(/age/) });
  });
});

test('indexes are built, listed and dropped', async () => {
  expect((await run('index', 'ls', 'prod/user')).error).toBe('The table has no indexes.\n');
  expect(await done('index', 'create', 'prod/user', 'age')).toBe(
    'The index age_idx covers 3 rows.\n',
  );
  // The name that is usual is of another column.
  await done('index', 'create', 'prod/user', 'age', '--name', 'name_idx');
  expect(await done('index', 'create', 'prod/user', 'name')).toContain('The index name_idx_2 ');
  for (const name of ['name_idx', 'name_idx_2']) await done('index', 'drop', 'prod/user', name);
  await done('index', 'create', 'prod/user', 'name', '--type', 'bitmap', '--name', 'names');
  expect(await json('index', 'ls', 'prod/user')).toMatchObject([
    { name: 'age_idx', indexType: 'BTree', numIndexedRows: 3 },
    { name: 'names', indexType: 'Bitmap', columns: ['name'] },
  ]);
  expect((await run('index', 'ls', 'prod/user')).out).toContain('age_idx  BTree   age     3     0');
  expect(await done('index', 'drop', 'prod/user', 'names')).toContain('Dropped the index names');
  for (const [words, code] of [
    [['drop', 'prod/user', 'names'], EXIT.notFound],
    [['create', 'prod/user', 'aeg'], EXIT.usage],
    [['create', 'prod/user', 'age', '--type', 'tree'], EXIT.usage],
    [['create', 'prod/user'], EXIT.usage],
    [['ls', 'prod/user', '--type', 'btree'], EXIT.usage],
    [['create', 'prod/user', 'age', '--distance', 'dot'], EXIT.usage],
    [['create', 'prod/user', 'age', '--type', 'ivf'], EXIT.usage],
    [['create', 'prod/user', 'age', '--type', 'ivf', '--distance', 'near'], EXIT.usage],
  ] as const) {
    expect((await run('index', ...words)).code, words.join(' ')).toBe(code);
  }
});

test('an index of vectors is built for a distance', async () => {
  const db = await connect(root, { durability: 'relaxed' });
  await db.createTable('near', [{ vector: [1, 2] }, { vector: [3, 4] }], ['prod']);
  await db.close();
  await done('index', 'create', 'prod/near', 'vector', '--type', 'ivf', '--distance', 'cosine');
  expect(await json('index', 'ls', 'prod/near')).toMatchObject([
    { name: 'vector_idx', indexType: 'IvfSq', indexDetails: { distance_type: 'cosine' } },
  ]);
});

describe('versions', () => {
  test('tags are created, moved, listed and deleted', async () => {
    expect((await run('tag', 'ls', 'prod/user')).error).toBe('The table has no tags.\n');
    expect(await done('tag', 'create', 'prod/user', 'v1', '--at', '1')).toBe(
      'The tag v1 is on version 1 of main.\n',
    );
    expect(await done('tag', 'create', 'prod/user', 'new')).toContain('version 2');
    expect(await done('tag', 'create', 'prod/user', 'same', '--at', 'v1')).toContain('version 1');
    expect(await names('--at', 'v1')).toEqual(['Ada', 'Grace']);
    expect((await run('tag', 'create', 'prod/user', 'v1')).code).toBe(EXIT.alreadyExists);
    await done('branch', 'create', 'prod/user', 'draft');
    await done('delete', 'prod/user', 'true', '--branch', 'draft');
    expect(await json('tag', 'move', 'prod/user', 'v1', '--branch', 'draft')).toEqual({
      tag: 'v1',
      version: 3,
      branch: 'draft',
    });
    expect((await run('tag', 'ls', 'prod/user')).out).toBe(
      'TAG   VERSION  BRANCH\nnew   2        main\nsame  1        main\nv1    3        draft\n',
    );
    expect(await names('--at', 'v1')).toEqual([]);
    expect(await done('tag', 'delete', 'prod/user', 'v1')).toContain('its version stays');
    expect(Object.keys((await json('tag', 'ls', 'prod/user')) as object)).toEqual(['new', 'same']);
    expect((await run('tag', 'delete', 'prod/user', 'v1')).code).toBe(EXIT.notFound);
    expect((await run('tag', 'create', 'prod/user', 'x', '--at', '9')).code).toBe(EXIT.notFound);
  });

  test('branches start where they are told, and are listed and deleted', async () => {
    expect((await run('branch', 'ls', 'prod/user')).error).toContain('no branches but main');
    await done('tag', 'create', 'prod/user', 'v1', '--at', '1');
    expect(await done('branch', 'create', 'prod/user', 'old', '--at', 'v1')).toBe(
      'The branch old starts at version 1 of main.\n',
    );
    await done('delete', 'prod/user', "name = 'Ada'", '--branch', 'old');
    expect(await json('branch', 'create', 'prod/user', 'two', '--branch', 'old')).toEqual({
      branch: 'two',
      from: 'old',
      version: 2,
    });
    expect(await names('--branch', 'two')).toEqual(['Grace']);
    expect((await run('branch', 'ls', 'prod/user')).out).toBe(
      'BRANCH  FROM  VERSION\nold     main  1\ntwo     old   2\n',
    );
    await done('branch', 'delete', 'prod/user', 'two');
    expect((await run('branch', 'delete', 'prod/user', 'two')).code).toBe(EXIT.notFound);
    expect((await run('branch', 'create', 'prod/user', 'old')).code).toBe(EXIT.alreadyExists);
  });

  test('restore makes an old version the newest, by number or tag', async () => {
    expect(await done('restore', 'prod/user', '1')).toBe(
      'Restored version 1 of prod/user as version 3.\n',
    );
    expect(await names()).toEqual(['Ada', 'Grace']);
    await done('tag', 'create', 'prod/user', 'all', '--at', '2');
    expect(await json('restore', 'prod/user', 'all')).toEqual({
      id: ['prod', 'user'],
      restored: 'all',
      version: 4,
    });
    expect(await names()).toEqual(['Ada', 'Grace', 'Alan']);
    await done('branch', 'create', 'prod/user', 'draft', '--at', '1');
    await done('delete', 'prod/user', 'true', '--branch', 'draft');
    await done('restore', 'prod/user', '1', '--branch', 'draft');
    expect(await names('--branch', 'draft')).toEqual(['Ada', 'Grace']);
    expect((await run('restore', 'prod/user', '99')).code).toBe(EXIT.notFound);
    expect((await run('restore', 'prod/user', 'nothing')).code).toBe(EXIT.notFound);
    expect((await run('restore', 'prod/user', '99999999999999999999')).code).toBe(EXIT.usage);
  });

  test.each([
    ['tag', 'rm', 'prod/user', 'x'],
    ['tag', 'create', 'prod/user'],
    ['tag', 'ls', 'prod/user', 'x'],
    ['tag', 'ls', 'prod/user', '--at', '1'],
    ['tag', 'delete', 'prod/user', 'x', '--branch', 'y'],
    ['branch', 'move', 'prod/user', 'x'],
    ['branch', 'create', 'prod/user'],
    ['branch', 'ls', 'prod/user', 'x'],
    ['branch', 'delete', 'prod/user', 'x', '--at', '1'],
    ['tag', 'create', 'prod/user', 'x', '--at', 'y', '--branch', 'z'],
  ])('%s %s %s %s %s is refused', async (...args) => {
    expect(await run(...args)).toMatchObject({ code: EXIT.usage, out: '' });
  });

  test('undrop brings a table back, the one that is named', async () => {
    await done('drop', 'prod/user');
    expect(await done('undrop', 'prod/user')).toBe('Brought back the table prod/user.\n');
    expect(await names()).toEqual(['Ada', 'Grace', 'Alan']);
    await done('drop', 'prod/user');
    const [entry] = (await json('trash', 'ls')) as { trashId: string }[];
    expect((await run('undrop', 'prod/user', '--entry', 'x')).code).not.toBe(EXIT.ok);
    await done('undrop', 'prod/user', '--entry', entry?.trashId ?? '');
    expect((await run('undrop', 'prod/user')).code).toBe(EXIT.notFound);
  });
});

describe('clone', () => {
  test('takes a version, a tag or a branch', async () => {
    await done('tag', 'create', 'prod/user', 'first', '--at', '1');
    await done('branch', 'create', 'prod/user', 'draft', '--at', '1');
    for (const [name, args, rows] of [
      ['newest', [], '3 rows'],
      ['old', ['--at', '1'], '2 rows'],
      ['tagged', ['--at', 'first'], '2 rows'],
      ['drafted', ['--branch', 'draft'], '2 rows'],
    ] as const) {
      expect(await done('clone', 'prod/user', `prod/${name}`, ...args)).toBe(
        `Made prod/${name} of prod/user, with ${rows}.\n`,
      );
    }
    const both = await run('clone', 'prod/user', 'x', '--at', 'first', '--branch', 'draft');
    expect(both).toMatchObject({ code: EXIT.usage });
  });
});

describe('ls -l', () => {
  beforeEach(async () => {
    const db = await connect(root, { durability: 'relaxed' });
    await db.createTable(
      'big',
      Array.from({ length: 2000 }, (_, n) => ({ n })),
    );
    await db.declareTable('declared');
    const broken = await db.createTable('broken', [{ n: 1 }]);
    await db.close();
    const versions = readdirSync(join(root, 'data', `${broken.name}.table`)).find((name) =>
      name.startsWith('versions-'),
    ) as string;
    const file = join(root, 'data', 'broken.table', versions, '00000000000000000001.json');
    writeFileSync(file, '{');
  });

  test('tells rows, bytes, version and time, and what cannot be read', async () => {
    const { out, code } = await run('ls', '-l', '-r');
    expect(code).toBe(EXIT.ok);
    const [head, ...rows] = out.trimEnd().split('\n');
    expect(head).toMatch(/^NAME +ROWS +BYTES +VERSION +CHANGED$/);
    const time = '\\d{4}-\\d\\d-\\d\\dT[\\d:.]+Z';
    for (const [at, pattern] of [
      `^big +2,000 +[\\d,]+ +1 +${time}$`,
      '^broken +Corrupt$',
      '^declared +InvalidTableState$',
      '^prod/$',
      `^prod/user +3 +[\\d,]+ +2 +${time}$`,
    ].entries()) {
      expect(rows[at]).toMatch(new RegExp(pattern));
    }
    expect(rows).toHaveLength(5);
    expect(await json('ls', 'prod', '--long')).toEqual({
      path: ['prod'],
      entries: [
        {
          id: ['prod', 'user'],
          kind: 'table',
          rows: 3,
          bytes: expect.any(Number),
          version: 2,
          changed: expect.any(String),
        },
      ],
    });
  });

  test.each([
    ['name', ['big', 'broken', 'declared', 'prod/', 'prod/user']],
    ['rows', ['big', 'prod/user', 'broken', 'declared', 'prod/']],
    ['bytes', ['big', 'prod/user', 'broken', 'declared', 'prod/']],
    ['version', ['prod/user', 'big', 'broken', 'declared', 'prod/']],
    ['changed', ['big', 'prod/user', 'broken', 'declared', 'prod/']],
  ])('--sort %s', async (key, expected) => {
    const { out } = await run('ls', '-r', '--sort', key);
    const shown = out.trimEnd().split('\n').slice(1);
    expect(shown.map((line) => line.split(' ')[0])).toEqual(expected);
  });

  test('--sort of something else is refused', async () => {
    expect((await run('ls', '--sort', 'size')).error).toContain('name, rows, bytes');
  });
});

test('the same over a server', async () => {
  const server = await startServer({ root, port: 0 });
  try {
    const remote = async (...args: string[]): Promise<CliResult> => {
      const result = await callCli([...args, '--uri', server.url]);
      expect({ args, ...result }).toMatchObject({ args, code: EXIT.ok });
      return result;
    };
    await remote('tag', 'create', 'prod/user', 'v1', '--at', '1');
    await remote('branch', 'create', 'prod/user', 'draft');
    await remote('update', 'prod/user', 'age > 40', '--set', 'age=1');
    await remote('delete', 'prod/user', "name = 'Ada'");
    await remote('add-columns', 'prod/user', '--set', 'b=age', '--branch', 'draft');
    expect((await remote('ls', '-l', 'prod')).out).toMatch(/^user +2 +[\d,]+ +4 /m);
    await remote('restore', 'prod/user', 'v1');
    await remote('drop', 'prod/user');
    await remote('undrop', 'prod/user');
    expect((await remote('query', 'prod/user', '--sort', 'age:desc')).out).toContain('Grace');
  } finally {
    await server.close();
  }
});
