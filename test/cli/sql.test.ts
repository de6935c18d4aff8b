/** `dirspace sql`: statements as arguments, from a file and at a prompt. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, test } from 'vitest';
import { EXIT } from '../../src/cli/terminal/exit-codes.ts';
import { connect } from '../../src/sdk/connect.ts';
import { callCli } from '../helpers/cli.ts';
import { temporaryFolder } from '../helpers/temporary.ts';

let root: string;
beforeAll(async () => {
  root = join(temporaryFolder(), 'catalog');
  const db = await connect(root, { durability: 'relaxed' });
  await db.createNamespace(['prod']);
  await db.createTable(
    'users',
    [
      { id: 1, city: 'Oslo' },
      { id: 2, city: 'Rome' },
      { id: 3, city: 'Oslo' },
    ],
    ['prod'],
  );
  await db.createTable('odd-name', [{ id: 1 }]);
  await db.close();
});

const sql = (args: readonly string[], options: object = {}): ReturnType<typeof callCli> =>
  callCli(['sql', ...args, '--root', root], options);

test('a statement is one argument', async () => {
  const counted = await sql([
    'SELECT city, count(*) AS n FROM prod.users GROUP BY city ORDER BY city',
  ]);
  expect(counted).toEqual({ code: 0, out: 'city  n\nOslo  2\nRome  1\n', error: '' });
  const json = await sql(['SELECT max(id) AS m FROM prod.users', '--json']);
  expect(JSON.parse(json.out)).toEqual([{ m: 3 }]);
  expect((await sql(['SELECT id FROM prod.users WHERE id > 9'])).out).toBe('id\n');
});

test('two versions of diff are one argument', async () => {
  const apart = await callCli(['diff', 'prod/users', '1', '2', '--root', root]);
  expect(apart.code).toBe(EXIT.usage);
  expect(apart.error).toContain('Two versions are one argument, as 3..5.');
});

test('names of tables are looked up in a namespace, and plans are told', async () => {
  const missing = await sql(['SELECT 1', '--in', 'nope']);
  expect([missing.code, missing.out]).toEqual([EXIT.notFound, '']);
  expect(missing.error).toContain('nope');
  expect((await sql(['SELECT count(*) AS n FROM users', '--in', 'prod'])).out).toBe('n\n3\n');
  const plan = await sql(['SELECT city FROM prod.users WHERE id > 1', '--explain']);
  expect(plan.out).toContain('Read prod.users: city, where id > 1');
});

test('mistakes are told by their place, with exit code 2', async () => {
  const wrong = await sql(['SELECT cty FROM prod.users']);
  expect(wrong.code).toBe(2);
  expect(wrong.error).toContain('did you mean city?');
  expect(wrong.error).toContain('       ^');
  expect((await sql(['SELECT', '1'])).error).toContain('put it into quotes');
  expect((await sql(['SELECT * FROM prod.nothing'])).code).toBe(3);
});

test('tables that are not there are called as SQL names them', async () => {
  const near = await sql(['SELECT * FROM prod.usrs']);
  expect(near.error).toContain('The table prod.usrs was not found.');
  expect(near.error).toContain('Did you mean prod.users?');
  // Words of SQL need no quotes after a period.
  expect((await sql(['SELECT * FROM prod.select'])).error).toContain('The table prod.select was');
  expect((await sql(['SELECT * FROM "odd-nam"'])).error).toContain('Did you mean "odd-name"?');
  const deep = await sql(['SELECT * FROM prod.none.users']);
  expect(deep.error).toContain('prod.none.users was not found, nor was the namespace prod.none.');
  const old = await sql(['SELECT * FROM prod.users FOR VERSION AS OF 99']);
  expect(old.error).toContain('Version 99 of the table prod.users was not found on branch main');
  const joined = await sql(['SELECT * FROM "prod$users"']);
  expect(joined.error).toContain('joins namespaces and tables by dots: prod.users.');
});

describe('a file', () => {
  const statement = 'SELECT city, count(*) AS n FROM prod.users GROUP BY city ORDER BY city';

  test('is written of the format of its name', async () => {
    const folder = temporaryFolder();
    const file = join(folder, 'cities.csv');
    const { code, out, error } = await sql([statement, '-o', file]);
    expect({ code, out }).toEqual({ code: 0, out: '' });
    expect(error).toContain(`Exported the answer to ${file}: 2 rows, 21 bytes.`);
    expect(readFileSync(file, 'utf8')).toBe('city,n\nOslo,2\nRome,1\n');
    const parquet = join(folder, 'cities.parquet');
    const told = await sql([statement, '-o', parquet, '--json', '--in', 'prod']);
    expect(told.code).toBe(3);
    const json = await sql([statement, '-o', parquet, '--json']);
    expect(JSON.parse(json.out)).toMatchObject({ file: parquet, format: 'parquet', rows: 2 });
    expect(readFileSync(parquet, 'latin1').slice(0, 4)).toBe('PAR1');
  });

  test('may be standard output', async () => {
    const { out } = await sql([statement, '--format', 'csv', '--header', 'no']);
    expect(out).toBe('Oslo,2\nRome,1\n');
  });

  test.each([
    [[statement, '-o', 'cities.txt'], 'The ending of "cities.txt" tells none.'],
    [[statement, '--delimiter', ';'], 'Give --format'],
    [[statement, '--format', 'json', '--explain'], '--explain reads no rows'],
    [['--format', 'json'], 'give it as an argument'],
    [['SELECT nope', '--format', 'json'], 'There is no column nope'],
  ])('%j is refused', async (args, message) => {
    const { code, out, error } = await sql(args, { input: '' });
    expect({ code, out }).toEqual({ code: 2, out: '' });
    expect(error).toContain(message);
  });
});

describe('standard input', () => {
  test('has statements up to their semicolons', async () => {
    const input =
      "SELECT 1 AS a;\n\nSELECT id\nFROM prod.users -- all\nWHERE city = 'Rome';\nSELECT 7 AS z";
    expect(await sql([], { input })).toEqual({ code: 0, out: 'a\n1\nid\n2\nz\n7\n', error: '' });
  });

  test('has several of them in a line, and semicolons that end nothing', async () => {
    const input = "SELECT ';' AS a; -- ; no\nSELECT 2 AS b;SELECT 3 AS c; /* ; */\n";
    expect(await sql([], { input })).toEqual({ code: 0, out: 'a\n;\nb\n2\nc\n3\n', error: '' });
  });

  test('has texts and comments of several lines, whose semicolons end nothing', async () => {
    const input = 'SELECT \'a;\nb\' AS a; /* ;\n; */ SELECT 2 AS "b;\nc";';
    const { code, out } = await sql(['--json'], { input });
    expect([code, out.match(/"(a;\\nb|b;\\nc)"/g)]).toEqual([0, ['"a;\\nb"', '"b;\\nc"']]);
  });

  test.each([
    ['in one line', 'a'.repeat(20_000_000)],
    ['in many lines', Array.from({ length: 20_000 }, () => 'a'.repeat(999)).join('\n')],
  ])('is told where it has a text of many megabytes %s', async (_, text) => {
    const { code, error } = await sql([], { input: `SELECT length('${text}') AS n;` });
    expect([code, error]).toEqual([2, expect.stringContaining('longer than 1048576 bytes')]);
  });

  test('ends where a statement fails', async () => {
    const failed = await sql([], { input: 'SELECT 1 AS a;\nSELECT nope;\nSELECT 2 AS b;' });
    expect({ code: failed.code, out: failed.out }).toEqual({ code: 2, out: 'a\n1\n' });
  });
});

describe('a prompt', () => {
  const typed = (input: string): ReturnType<typeof callCli> => sql([], { input, isTyped: true });

  test('goes on after a mistake, and ends at \\q', async () => {
    const { code, out, error } = await typed('SELECT nope;\nSELECT 2 AS b;\n\\q\nSELECT 3 AS c;');
    expect({ code, out }).toEqual({ code: 0, out: 'b\n2\n' });
    expect(error).toContain('There is no column nope');
  });

  test('ends at the words of other prompts, and at \\q in a statement', async () => {
    for (const word of ['exit', 'QUIT;', ' quit ', 'SELECT 1\n\\q']) {
      expect(await typed(`${word}\nSELECT 3 AS c;`)).toMatchObject({ code: 0, out: '' });
    }
    expect(await sql([], { input: 'exit;' })).toMatchObject({ code: 2 });
    expect((await typed("SELECT '\nexit\n' AS c;")).out).toContain('exit');
  });

  test('lists tables and columns', async () => {
    expect((await typed('\\d')).out).toBe('"odd-name"\nprod.users\n');
    expect((await typed('\\d prod.users')).out).toContain('city    utf8');
    expect((await typed('\\d "odd-name"')).out).toContain('id');
    expect((await typed('\\d prod.nothing\nSELECT 1 AS a;')).out).toBe('a\n1\n');
    expect((await typed('\\explain SELECT 1')).out).toContain('One row without a table');
    expect((await typed('\\what')).error).toContain('There is no command \\what');
    expect((await typed('\\?')).error).toContain('Statements end in a semicolon');
  });

  test('has no --json', async () => {
    expect((await sql(['--json'], { input: 'SELECT 1;', isTyped: true })).code).toBe(2);
  });
});
