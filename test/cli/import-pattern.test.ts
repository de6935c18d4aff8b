/** Which files a pattern names, and that several files become one version or nothing. */
import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect, test } from 'vitest';
import { tableFromArrays, tableToIPC } from '../../src/arrow/apache.ts';
import { EXIT } from '../../src/cli/terminal/exit-codes.ts';
import { callCli } from '../helpers/cli.ts';
import { temporaryFolder } from '../helpers/temporary.ts';

function fresh() {
  const folder = temporaryFolder();
  const root = join(folder, 'catalog');
  const at = (name: string): string => join(folder, name);
  const file = (name: string, content: string | Uint8Array): string => {
    mkdirSync(dirname(at(name)), { recursive: true });
    writeFileSync(at(name), content);
    return at(name);
  };
  const run = (...args: string[]) => callCli([...args, '--root', root]);
  const names = async (id: string): Promise<unknown[]> => {
    const { out } = await run('head', id, '-n', '1000', '--json');
    return (JSON.parse(out) as { name: unknown }[]).map(({ name }) => name);
  };
  return { at, file, run, names };
}

const row = (name: string): string => `{"name": "${name}"}\n`;

test('the files of a pattern are read by name into one version', async () => {
  const { at, file, run, names } = fresh();
  for (const name of ['b', 'a10', 'a2', 'B']) file(`logs/${name}.ndjson`, row(name));
  file('logs/c.json', `[${row('c')}]`);
  file('logs/other.txt', 'no rows');
  const { code, error } = await run('import', at('logs/*.{ndjson,json}'), 'logs');
  expect(code).toBe(EXIT.ok);
  expect(error).toContain('Imported 5 files into logs: version 1, 5 rows.\n');
  expect(await names('logs')).toEqual(['B', 'a10', 'a2', 'b', 'c']);
  const again = await run('import', at('logs/a*.ndjson'), 'logs', '--mode', 'append', '--json');
  expect(JSON.parse(again.out)).toEqual({
    id: ['logs'],
    version: 2,
    rows: 7,
    imported: 2,
    files: [at('logs/a10.ndjson'), at('logs/a2.ndjson')],
  });
});

test('files of several folders are read by their whole names', async () => {
  const { at, file, run, names } = fresh();
  for (const name of ['z', 'b/1', 'a/2', 'a/c/1']) file(`logs/${name}.ndjson`, row(name));
  await run('import', at('logs/**/*.ndjson'), 't');
  expect(await names('t')).toEqual(['a/2', 'a/c/1', 'b/1', 'z']);
});

test('one file is told as before', async () => {
  const { at, file, run } = fresh();
  file('logs/a.ndjson', row('a'));
  const { error } = await run('import', at('logs/*.ndjson'), 'logs');
  expect(error).toContain('Imported into logs: version 1, 1 row.\n');
});

test.each(['a[1].ndjson', '{b}.ndjson', 'c*.ndjson', '!d.ndjson', '(e)?.ndjson'])(
  'a file that is really called %s is that file',
  async (name) => {
    const { file, run, names } = fresh();
    for (const other of ['a1', 'b', 'cc', 'd', 'e']) file(`${other}.ndjson`, row('other'));
    const { code } = await run('import', file(name, row(name)), 't');
    expect(code).toBe(EXIT.ok);
    expect(await names('t')).toEqual([name]);
  },
);

test('brackets match one of their characters and themselves, after a backslash themselves alone', async () => {
  const { at, file, run, names } = fresh();
  file('d[1]/a.ndjson', row('bracket'));
  file('d1/a.ndjson', row('class'));
  await run('import', at('d\\[1\\]/*.ndjson'), 'bracket');
  await run('import', at('d[1]/*.ndjson'), 'both');
  expect([await names('bracket'), await names('both')]).toEqual([
    ['bracket'],
    ['class', 'bracket'],
  ]);
});

test('a name that begins with a dot is matched by a dot alone', async () => {
  const { at, file, run, names } = fresh();
  file('logs/a.ndjson', row('a'));
  file('logs/.hidden.ndjson', row('hidden'));
  file('logs/.old/b.ndjson', row('old'));
  await run('import', at('logs/**/*.ndjson'), 'shown');
  await run('import', at('logs/.*.ndjson'), 'hidden');
  expect([await names('shown'), await names('hidden')]).toEqual([['a'], ['hidden']]);
});

test('links to files are read, links to folders are not followed', async () => {
  const { at, file, run, names } = fresh();
  file('logs/a.ndjson', row('a'));
  file('elsewhere/b.ndjson', row('b'));
  file('elsewhere/c.ndjson', row('c'));
  symlinkSync(at('elsewhere/b.ndjson'), at('logs/b.ndjson'));
  symlinkSync(at('elsewhere'), at('logs/folder'));
  symlinkSync(at('elsewhere'), at('logs/folder.ndjson'));
  symlinkSync('..', at('logs/circle'));
  await run('import', at('logs/**/*.ndjson'), 't');
  expect(await names('t')).toEqual(['a', 'b']);
  symlinkSync('nowhere', at('logs/z.ndjson'));
  const broken = await run('import', at('logs/*.ndjson'), 'u');
  expect(broken.code).toBe(EXIT.notFound);
  expect(broken.error).toContain(`There is no file ${JSON.stringify(at('logs/z.ndjson'))}`);
});

test('folders that a pattern matches are left out', async () => {
  const { at, file, run, names } = fresh();
  file('logs/a.ndjson', row('a'));
  file('logs/b.ndjson/inside.ndjson', row('inside'));
  await run('import', at('logs/*'), 't');
  expect(await names('t')).toEqual(['a']);
});

test('letters match in their own case', async () => {
  const { at, file, run, names } = fresh();
  file('logs/a.ndjson', row('a'));
  file('logs/B.NDJSON', row('B'));
  await run('import', at('logs/*.NDJSON'), 't');
  expect(await names('t')).toEqual(['B']);
});

test('a pattern that nothing matches makes no table', async () => {
  const { at, file, run } = fresh();
  file('logs/a.NDJSON', row('a'));
  for (const pattern of [at('logs/*.ndjson'), at('nowhere/*.ndjson')]) {
    const { code, error } = await run('import', pattern, 't');
    expect(code).toBe(EXIT.usage);
    expect(error).toContain(`No file matches ${JSON.stringify(pattern)}.`);
    expect(error).toContain('Capitals and small letters differ');
  }
  expect((await run('describe', 't')).code).toBe(EXIT.notFound);
});

test('a pattern below a file says why nothing can be listed', async () => {
  const { at, file, run } = fresh();
  file('a.txt', 'x');
  const { code, error } = await run('import', at('a.txt/*.ndjson'), 't');
  expect(code).toBe(EXIT.usage);
  expect(error).toContain('cannot be listed: ENOTDIR');
});

test('a mistake is told with the file, the row and the line that it is in', async () => {
  const { at, file, run } = fresh();
  file('logs/1.ndjson', row('a') + row('b'));
  file('logs/2.ndjson', `\n${row('c')}\n{"name": 7}\n`);
  file('logs/3.ndjson', row('d'));
  const { code, error } = await run('import', at('logs/*.ndjson'), 't');
  expect(code).toBe(EXIT.failure);
  expect(error).toContain(`${at('logs/2.ndjson')}: Row 2 on line 4, column "name"`);
  expect(error).toContain('Nothing was imported.');
  file('logs/2.ndjson', `${row('c')}{"name": \n`);
  const cut = await run('import', at('logs/*.ndjson'), 't');
  expect(cut.error).toContain(`${at('logs/2.ndjson')}, line 2 is no JSON`);
  expect((await run('describe', 't')).code).toBe(EXIT.notFound);
});

test('files of JSON may be without rows where others have some, or there is a schema', async () => {
  const { at, file, run, names } = fresh();
  file('logs/1.ndjson', '');
  file('logs/2.ndjson', row('a'));
  file('logs/3.jsonl', '');
  await run('import', at('logs/*'), 't');
  expect(await names('t')).toEqual(['a']);
  file('none/1.ndjson', '');
  const one = await run('import', at('none/*'), 'u');
  expect(one.error).toContain('is empty: it has no rows and no columns');
  file('none/2.ndjson', '');
  const none = await run('import', at('none/*'), 'u');
  expect(none.code).toBe(EXIT.usage);
  expect(none.error).toContain('The 2 files have no rows and no columns');
  file('logs/4.json', '[]');
  await run('import', at('logs/*'), 'v');
  expect(await names('v')).toEqual(['a']);
  const schema = file('schema.json', (await run('describe', 'v', '--json')).out);
  expect((await run('import', at('none/*'), 'u', '--schema', schema)).code).toBe(EXIT.ok);
  expect(await names('u')).toEqual([]);
});

const arrow = (columns: Record<string, Int32Array | Float64Array>): Uint8Array =>
  tableToIPC(tableFromArrays(columns), 'file');

test('Arrow files have the columns of the first, and mistakes name their file', async () => {
  const { at, file, run } = fresh();
  file('parts/1.arrow', arrow({ n: Int32Array.of(1, 2) }));
  file('parts/2.arrow', arrow({ n: Int32Array.of(3) }));
  const done = await run('import', at('parts/*.arrow'), 't', '--json');
  expect(JSON.parse(done.out)).toMatchObject({ version: 1, rows: 3 });
  const { out } = await run('head', 't', '--json');
  expect(JSON.parse(out)).toEqual([{ n: 1 }, { n: 2 }, { n: 3 }]);
  file('parts/3.arrow', arrow({ n: Float64Array.of(4, 4.5) }));
  for (const more of [['u'], ['t', '--mode', 'append'], ['u', '--types', 'n:int16']]) {
    const { code, error } = await run('import', at('parts/*.arrow'), ...more);
    expect(code).toBe(EXIT.failure);
    expect(error).toContain(`${at('parts/3.arrow')}: Row 2, column "n"`);
  }
  file('parts/2.arrow', 'not Arrow');
  expect((await run('import', at('parts/*.arrow'), 'u')).error).toContain(at('parts/2.arrow'));
});

test('the row of Arrow files that the table refuses is one of its file', async () => {
  const { at, file, run } = fresh();
  await run(
    'import',
    file('first.arrow', tableToIPC(tableFromArrays({ n: Int8Array.of(1) }), 'file')),
    't',
  );
  file('parts/1.arrow', arrow({ n: Int32Array.of(1, 2) }));
  file('parts/2.arrow', arrow({ n: Int32Array.of(3, 300) }));
  const { error } = await run('import', at('parts/*.arrow'), 't', '--mode', 'append');
  expect(error).toContain(`${at('parts/2.arrow')}: Row 2, column "n"`);
});

test('Arrow files and rows of JSON are not mixed', async () => {
  const { at, file, run } = fresh();
  file('logs/a.arrow', arrow({ n: Int32Array.of(1) }));
  file('logs/b.ndjson', row('b'));
  const { code, error } = await run('import', at('logs/*'), 't');
  expect(code).toBe(EXIT.usage);
  expect(error).toContain('import one kind at a time');
});

test('names that the shell made of a pattern are answered with a quoted one', async () => {
  const { at, file, run } = fresh();
  const { code, error } = await run('import', file('a.ndjson', row('a')), at('b.ndjson'), 't');
  expect(code).toBe(EXIT.usage);
  expect(error).toContain("dirspace import '*.ndjson' logs");
  expect((await run('describe', 'a', 'b')).error).not.toContain('import');
});
