/** Types of what is imported, and where in a file a mistake is. */
import { spawnSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from 'vitest';
import { tableFromArrays, tableToIPC } from '../../src/arrow/apache.ts';
import { describeType } from '../../src/arrow/index.ts';
import { parseTypes } from '../../src/cli/rows/column-types.ts';
import { EXIT } from '../../src/cli/terminal/exit-codes.ts';
import { callCli } from '../helpers/cli.ts';
import { compiledModule } from '../helpers/compiled.ts';
import { temporaryFolder } from '../helpers/temporary.ts';

function fresh() {
  const folder = temporaryFolder();
  const root = join(folder, 'catalog');
  const file = (name: string, content: string | Uint8Array): string => {
    writeFileSync(join(folder, name), content);
    return join(folder, name);
  };
  const run = (...args: string[]) => callCli([...args, '--root', root]);
  const typesOf = async (id: string): Promise<string[]> => {
    const { out } = await run('describe', id);
    return out.slice(out.indexOf('COLUMN')).trimEnd().split('\n').slice(1);
  };
  return { root, file, run, typesOf };
}

test('a column of nulls, and one of empty lists, has the type that --types gives, or is of text', async () => {
  const { root, file, run, typesOf } = fresh();
  const head = '{"id": 1, "gone": null, "tags": []}\n';
  const rows = file('x.ndjson', `${head}{"id": 2, "gone": null}\n`);
  expect((await run('import', rows, 'short')).code).toBe(EXIT.ok);
  expect(await typesOf('short')).toEqual(['id      int64', 'gone    utf8', 'tags    list<utf8>']);
  // From standard input more rows may come than are looked at before the first is written.
  const { status, stderr } = spawnSync(
    process.execPath,
    [
      fileURLToPath(compiledModule('cli/main.js')),
      ...['import', '-', 't', '--format', 'ndjson', '--root', root],
    ],
    { input: head.repeat(9_000), encoding: 'utf8' },
  );
  expect(status).toBe(EXIT.failure);
  expect(stderr).toContain('"gone" is not known: its rows hold only null or empty lists.');
  expect(stderr).toContain('Give --types or --schema.');
  const types = 'gone:timestamp:us:UTC, tags:list<utf8>';
  expect((await run('import', rows, 't', '--types', types)).code).toBe(EXIT.ok);
  expect(await typesOf('t')).toEqual([
    'id      int64',
    'gone    timestamp:us:UTC',
    'tags    list<utf8>',
  ]);
});

test('of nothing makes no table and adds no row, however the nothing is written', async () => {
  const { file, run, typesOf } = fresh();
  const contents = [
    ['none.ndjson', ''],
    ['none.json', ''],
    ['blank.ndjson', '\n \n'],
    ['blank.json', ' \n'],
    ['list.json', '[]'],
  ] as const;
  await run('import', file('one.ndjson', '{"n": 1}\n'), 't');
  const schema = file('s.json', (await run('describe', 't', '--json')).out);
  for (const [name, content] of contents) {
    const path = file(name, content);
    const words = `${JSON.stringify(path)} is empty: it has no rows and no columns. A table without rows can be made with --schema.`;
    for (const more of [['u'], ['u', '--types', 'n:int8']]) {
      const refused = { code: EXIT.usage, out: '', error: `dirspace: ${words}\n` };
      expect(await run('import', path, ...more)).toEqual(refused);
    }
    const added = await run('import', path, 't', '--mode', 'append');
    expect(added).toMatchObject({
      code: EXIT.ok,
      error: expect.stringMatching(/, 0 rows added, 1 in all\.\n$/),
    });
    const id = name.replace('.', '_');
    expect((await run('import', path, id, '--schema', schema)).code).toBe(EXIT.ok);
    expect((await typesOf(id)).map((line) => line.split(/ +/)[1])).toEqual(['int64']);
  }
  const arrow = await run('import', file('none.arrow', ''), 'u', '--schema', schema);
  expect(arrow).toMatchObject({ code: EXIT.usage });
  expect(arrow.error).toMatch(/is empty: it has no rows and no columns\.\n$/);
  expect((await run('ls')).out).not.toContain('u\n');
});

test('--types wins over what is inferred, and over the types of Arrow data, without loss', async () => {
  const { file, run, typesOf } = fresh();
  const rows = file('x.json', '[{"id": 1, "v": [1, 2]}]');
  const types = 'id:int64,v:fixed_size_list<float32>[2]';
  await run('import', rows, 't', '--types', types);
  expect(await typesOf('t')).toEqual(['id      int64', 'v       fixed_size_list<float32>[2]']);
  const arrow = file('x.arrow', tableToIPC(tableFromArrays({ n: Int32Array.of(1, 2) }), 'file'));
  expect((await run('import', arrow, 'a', '--types', 'n:int64')).code).toBe(EXIT.ok);
  expect((await typesOf('a'))[0]).toMatch(/^n +int64/);
  const large = file('y.arrow', tableToIPC(tableFromArrays({ n: Int32Array.of(1, 300) }), 'file'));
  const lossy = await run('import', large, 'b', '--types', 'n:int8');
  expect(lossy.code).toBe(EXIT.failure);
  expect(lossy.error).toContain('Row 2, column "n"');
});

test('--decimal reads numbers with a comma', async () => {
  const { file, run, typesOf } = fresh();
  const rows = file('x.csv', 'city;area\nBerlin;891,1\nUlm;1.118,7\n');
  expect((await run('import', rows, 't', '--decimal', ',')).code).toBe(EXIT.ok);
  expect(await typesOf('t')).toEqual(['city    utf8', 'area    float64']);
  expect((await run('sql', 'SELECT sum(area) AS a FROM t', '--json')).out).toContain('2009.8');
  const wrong = await run('import', rows, 'u', '--decimal', ';');
  expect([wrong.code, wrong.error]).toEqual([
    EXIT.usage,
    expect.stringContaining('--decimal is ";"; give "." or ","'),
  ]);
});

test('--schema takes what describe --json prints, or the schema in it', async () => {
  const { file, run, typesOf } = fresh();
  const rows = file('x.ndjson', '{"id": 1}\n');
  await run('import', rows, 'first', '--types', 'id:int16');
  const described = (await run('describe', 'first', '--json')).out;
  const whole = file('whole.json', described);
  const schema = file('schema.json', JSON.stringify(JSON.parse(described).schema));
  const nulls = file('nulls.json', '[{"id": null}]');
  for (const [id, from] of [
    ['a', whole],
    ['b', schema],
  ] as const) {
    expect((await run('import', nulls, id, '--schema', from)).code).toBe(EXIT.ok);
    expect(await typesOf(id)).toEqual(['id      int16']);
  }
});

test.each([
  [['--types', 'id'], 'a name and a colon is expected'],
  [['--types', 'id:'], 'a type is expected'],
  [['--types', 'id:int65'], 'column "id": '],
  [['--types', 'id:int64,id:int8'], 'names the column "id" twice'],
  [['--types', 'id:list<utf8'], '">" is expected'],
  [['--types', 'id:list<utf8>>'], 'a comma or the end is expected'],
  [['--types', 'id:fixed_size_list<float32>[x]'], 'a length and "]" is expected'],
  [['--types', `id:${'list<'.repeat(100)}`], 'no deeper type is expected'],
  [['--types', 'di:int64'], 'Did you mean "id"?'],
  [['--types', 'id:int64', '--schema', 'x'], 'both given'],
  [['--types', 'id:int64', '--mode', 'append'], 'the table has its types'],
  [['--schema', 'x', '--mode', 'append'], 'the table has its types'],
  [['--schema', '/nowhere.json'], '"/nowhere.json" cannot be read; it is a file of JSON'],
  [['--schema', '{"fields": '], 'cannot be read as JSON'],
  [['--types', 'id=int64'], 'it is name:type, so write id:int64'],
])('%j is refused', async (args, message) => {
  const { file, run } = fresh();
  const rows = file('x.ndjson', '{"id": 1}\n');
  const { code, error } = await run('import', rows, 't', ...args);
  expect(error).toContain(message);
  expect(code).not.toBe(EXIT.ok);
  expect((await run('ls')).out).toBe('');
});

test('a file that is no schema is refused', async () => {
  const { file, run } = fresh();
  const rows = file('x.ndjson', '{"id": 1}\n');
  for (const text of ['7', 'null', '[]', '{"fields": 7}', '{"fields": [{"name": "a"}]}', '{']) {
    const { code, error } = await run('import', rows, 't', '--schema', file('s.json', text));
    expect({ text, code, error: error.includes('--schema') }).toEqual({
      text,
      code: EXIT.usage,
      error: true,
    });
  }
});

test('rows and lines of messages count from 1, and it is said which', async () => {
  const { file, run } = fresh();
  const lines = file('x.ndjson', '{"age": 36}\n\n{"age": "old"}\n');
  const array = file('x.json', '[\n  {"age": 36},\n  {\n    "age": "old"\n  }\n]');
  expect((await run('import', lines, 't')).error).toContain(
    `${lines}: Row 2 on line 3, column "age": found string "old", expected int64. The type was inferred from the first values there; give --types or --schema to choose another. Rows and lines are counted from 1. Nothing was imported.`,
  );
  expect((await run('import', array, 't')).error).toContain('Row 2 on line 3, column "age"');
  const ages = [...Array(9000).fill('{"age": 1}'), '{"age": "x"}'].join('\n');
  const { error } = await run('import', file('long.ndjson', ages), 't', '--types', 'age:int8');
  expect(error).toContain('Row 9001 on line 9001, column "age"');
  expect(error).not.toContain('inferred');
  const nested = file('nested.ndjson', '{"v": [1], "n": 1}\n{"v": ["x"], "n": 1}\n');
  const given = (await run('import', nested, 't', '--types', 'v:list<int8>')).error;
  expect(given).toContain('column "v');
  expect(given).not.toContain('inferred');
  expect((await run('import', nested, 't', '--types', 'n:int8')).error).toContain('inferred');
  const within = ages.replaceAll('"x"', '1').split('\n').with(8499, '\n{"age": "x"}').join('\n');
  const middle = await run('import', file('mid.ndjson', within), 't', '--types', 'age:int8');
  expect(middle.error).toContain('Row 8500 on line 8501, column "age"');
});

test('an import that fails takes back the namespaces that it made, and no others', async () => {
  const { file, run } = fresh();
  await run('create-namespace', 'there');
  const wrong = file('x.ndjson', '{"a": 1}\n{"a": "b"}\n');
  expect((await run('import', wrong, 'there/new/deep/t', '-p')).code).toBe(EXIT.failure);
  expect((await run('ls', '-r')).out).toBe('there/\n');
});

test.each([
  ['a:int64', ['a int64']],
  ['a:list<list<int8>>', ['a list<list<int8>>']],
  ['a:struct<b:utf8, c:list<float16>>,d:bool', ['a struct<b: utf8, c: list<float16>>', 'd bool']],
  ['a b:decimal128:38:10', ['a b decimal128(38, 10)']],
  ['a:fixed_size_list<struct<b:utf8>>[3]', ['a fixed_size_list<struct<b: utf8>>[3]']],
  ['a:dictionary:int32:utf8', ['a dictionary<int32, utf8>']],
])('--types %s', (text, expected) => {
  const found = Array.from(parseTypes(text), ([name, type]) => `${name} ${describeType(type)}`);
  expect(found).toEqual(expected);
});

test('--lance says whether Lance opens the table too', async () => {
  const { file, run } = fresh();
  const rows = file('x.ndjson', '{"id": 1}\n');
  const lanceOf = async (id: string): Promise<string | undefined> =>
    /^opens in Lance +(.*)$/m.exec((await run('describe', id)).out)?.[1];
  for (const [id, ...args] of [['plain'], ['on', '--lance', 'read'], ['off', '--lance', 'off']]) {
    expect((await run('import', rows, id as string, ...args)).code).toBe(EXIT.ok);
  }
  expect([await lanceOf('plain'), await lanceOf('on'), await lanceOf('off')]).toEqual([
    'yes',
    'yes',
    undefined,
  ]);
  const unknown = await run('import', rows, 'x', '--lance', 'on');
  expect(unknown.error).toContain('--lance is "on"; give one of off, read');
  const appended = await run('import', rows, 'off', '--mode', 'append', '--lance', 'read');
  expect(appended).toMatchObject({ code: EXIT.usage });
  expect(appended.error).toContain('--lance means nothing here: the table is written as it was');
});

test('tells the rows that were added, and those that are there', async () => {
  const { run, file } = fresh();
  const rows = file('a.csv', 'id\n1\n2\n');
  expect(JSON.parse((await run('import', rows, 't', '--json')).out)).toMatchObject({ imported: 2 });
  const { error } = await run('import', rows, 't', '--mode', 'append');
  expect(error).toContain('Imported into t: version 2, 2 rows added, 4 in all.');
  const appended = await run('import', rows, 't', '--mode', 'append', '--json');
  expect(JSON.parse(appended.out)).toMatchObject({ rows: 6, imported: 2 });
});

describe('CSV', () => {
  test.each([
    ['--delimiter', 'ab', '--delimiter is "ab"; give one ASCII character.'],
    ['--encoding', 'nope', '--encoding is "nope"; give one of utf-8,'],
  ])('has a %s that is no %s', async (flag, word, part) => {
    const { run, file } = fresh();
    const failed = await run('import', file('a.csv', 'id\n1\n'), 't', flag, word);
    expect({ code: failed.code, is: failed.error.includes(part) }).toEqual({ code: 2, is: true });
  });

  test.each([
    ['--delimiter', ';'],
    ['--skip', '1'],
    ['--null', 'NA'],
    ['--ragged', 'pad'],
    ['--reject', 'rejected.csv'],
  ])('%s is not for other files, and is named as it was typed', async (flag, word) => {
    const { run, file } = fresh();
    const refused = await run('import', file('a.ndjson', '{"id":1}\n'), 't', flag, word);
    expect(refused).toMatchObject({ code: EXIT.usage, out: '' });
    expect(refused.error).toContain(`dirspace: ${flag} is of CSV, and `);
  });

  test('is imported with what is found out, and what the flags say', async () => {
    const { run, file } = fresh();
    expect((await run('import', file('a.csv', 'id,name\n1,x\n2,\n'), 't')).error).toContain(
      'Imported into t: version 1, 2 rows.',
    );
    const other = file('b.txt', 'skipped\n7|NA|1.5\n8||2\n');
    const flags = ['--format', 'csv', '--header', 'no', '--skip', '1', '--null', 'NA'];
    expect((await run('import', other, 'u', ...flags, '--delimiter', '|')).code).toBe(EXIT.ok);
    expect((await run('query', 'u', '--json')).out).toContain('"column1":null');
    const merged = await run(
      'import',
      file('c.csv', 'id,name\n2,y\n3,z\n'),
      't',
      '--mode',
      'merge',
      '--on',
      'id',
    );
    expect(merged.error).toContain('3 rows (1 updated, 1 inserted)');
  });

  test('rows that cannot be taken go to a new file, or say where they are', async () => {
    const { run, file } = fresh();
    const bad = file('bad.csv', 'id,name\n1,x\n2\n3,"y"\n');
    const refused = await run('import', bad, 't');
    expect(refused).toMatchObject({ code: EXIT.usage });
    expect(refused.error).toContain(
      `${bad}, line 3, column 2: the row has 1 field where 2 are expected.`,
    );
    const rejects = file('old.csv', '');
    expect((await run('import', bad, 't', '--reject', rejects)).error).toContain('name a new file');
    const fine = `${rejects}.new`;
    expect((await run('import', bad, 't', '--reject', fine)).error).toContain(
      `1 row went to ${fine}.`,
    );
    expect(readFileSync(fine, 'utf8')).toBe(
      `file,line,column,reason,text\n"${bad}",3,2,"the row has 1 field where 2 are expected","2"\n`,
    );
    expect((await run('import', bad, 't', '--on', 'id')).code).toBe(EXIT.usage);
    expect((await run('import', bad, 't', '--mode', 'merge')).error).toContain('--on id');
  });
});
