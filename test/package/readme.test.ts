/** What README.md and the pages of docs/ say is so: their examples run, their tables and links are true. */
import { execFile, execFileSync } from 'node:child_process';
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  writeFileSync,
} from 'node:fs';
import { join, posix } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { beforeAll, describe, expect, test } from 'vitest';
import { tableFromArrays, tableToIPC } from '../../src/arrow/apache.ts';
import { COMMANDS } from '../../src/cli/commands.ts';
import { EXIT } from '../../src/cli/terminal/exit-codes.ts';
import { conformanceSuite } from '../../src/conformance/index.ts';
import { openDirectoryNamespace } from '../../src/directory/index.ts';
import { ERROR_KINDS, type ErrorKind, isDirspaceError } from '../../src/errors.ts';
import { connect } from '../../src/sdk/connect.ts';
import { loadConfig } from '../../src/server/config.ts';
import { resolveLimits } from '../../src/server/settings/limits.ts';
import { startServer } from '../../src/server.ts';
import { callCli } from '../helpers/cli.ts';
import { compiledModule } from '../helpers/compiled.ts';
import {
  allPages,
  anchorsOf,
  codeOf,
  importCompiled,
  linksOf,
  type Page,
  readPage,
  tableRows,
  userPages,
} from '../helpers/documents.ts';
import { lanceVersions, writeDataset } from '../helpers/lance-datasets.ts';
import { memoryFs } from '../helpers/memory-fs.ts';
import { temporaryFolder } from '../helpers/temporary.ts';

const project = join(import.meta.dirname, '..', '..');
const pages = userPages();
const page = (path: string): Page => pages.find((one) => one.path === path) ?? readPage(path);
const textOfAll = pages.map(({ text }) => text).join('\n');

// Compiling takes minutes on a busy machine, and is no part of what is looked at.
beforeAll(() => void compiledModule('index.js'), 300_000);

describe('README.md', () => {
  test('is short', () => {
    expect(Buffer.byteLength(page('README.md').text)).toBeLessThan(6000);
  });

  test('has the two commands', () => {
    const lines = codeOf(page('README.md'), 'sh').trimEnd().split('\n');
    const commands = lines.map((line) => line.replace(/ +#.*/, ''));
    expect(commands).toEqual(['npm ci && npm run demo', 'npm ci && npm test']);
  });
});

test('no page takes more than ten minutes to read', () => {
  const long = pages.filter(({ text }) => text.split(/\s+/).length > 2_000);
  expect(long.map(({ path }) => path)).toEqual([]);
});

test('links lead to pages and headings that there are', () => {
  const broken: string[] = [];
  for (const from of allPages()) {
    for (const link of linksOf(from)) {
      const [file = '', anchor] = link.split('#');
      const to = file === '' ? from.path : posix.join(posix.dirname(from.path), file);
      if (!existsSync(join(project, to))) broken.push(`${from.path}: ${link}`);
      else if (anchor !== undefined && !anchorsOf(readPage(to)).includes(anchor))
        broken.push(`${from.path}: ${link}`);
    }
  }
  expect(broken).toEqual([]);
});

test('every page can be reached from README.md', () => {
  const linked = linksOf(page('README.md')).map((link) => link.split('#')[0]);
  const beside = allPages().map(({ path }) => path);
  expect(beside.filter((path) => path !== 'README.md' && !linked.includes(path))).toEqual([]);
});

test('files that the pages name are there', () => {
  const named = [...textOfAll.matchAll(/`((?:examples|fixtures|test|scripts)\/[\w./-]+)`/g)];
  const missing = named
    .map(([, path = '']) => path)
    .filter((path) => !existsSync(join(project, path)));
  expect(missing).toEqual([]);
});

test('ARCHITECTURE.md lists the rooms that there are, and files that there are', () => {
  const architecture = readPage('ARCHITECTURE.md');
  const listed = tableRows(architecture, 2).flatMap(
    ([room = '']) => /^`(\w+)\/`$/.exec(room)?.[1] ?? [],
  );
  const folders = readdirSync(join(project, 'src'), { withFileTypes: true });
  const rooms = folders.filter((entry) => entry.isDirectory()).map(({ name }) => name);
  expect(listed.toSorted()).toEqual(rooms.toSorted());
  // A name alone, such as `app-fetch.ts`, is one of some room.
  const own = ['src', 'test', 'scripts'].flatMap((folder) =>
    readdirSync(join(project, folder), { recursive: true, encoding: 'utf8' }).map((file) =>
      posix.join(folder, file),
    ),
  );
  const named = [...architecture.text.matchAll(/`([\w/-]+(?:\.\w+)*\.(?:ts|mjs))`/g)];
  const gone = named.filter(([, name]) => !own.some((file) => `/${file}`.endsWith(`/${name}`)));
  expect(gone.map(([, name]) => name)).toEqual([]);
});

test('the API reference has every entry of the package', () => {
  const read = (path: string): Record<string, unknown> =>
    JSON.parse(readFileSync(join(project, path), 'utf8'));
  const entries = Object.keys(read('package.json').exports as object)
    .filter((entry) => entry !== './package.json' && entry !== './embedding/openai')
    .map((entry) => `../../src/${entry === '.' ? 'index' : entry.slice(2)}.ts`);
  expect(read('scripts/api-docs/typedoc.json').entryPoints).toEqual(entries);
});

test('every block of code is of a language that is run or checked', () => {
  // `mjs` are examples of test runners: test/conformance/report.test.ts and test/package/recipes.test.ts
  // run them. test/interop/python/test_files.py runs `python` of files; what docs/fixture.md has of other
  // languages is run by `npm run interop:recipes`.
  const known = ['js', 'sh', 'json', 'text', 'mjs', 'python', 'java', 'rust'];
  for (const { path, blocks } of allPages()) {
    const others = blocks.filter(({ language }) => !known.includes(language));
    expect({ path, others }).toEqual({ path, others: [] });
  }
  const pagesWith = (wanted: string): string[] =>
    pages
      .filter(({ blocks }) => blocks.some(({ language }) => language === wanted))
      .map(({ path }) => path);
  expect(pagesWith('mjs')).toEqual([FIXTURES, 'docs/testing-against-dirspace.md']);
  expect(pagesWith('python')).toEqual(['docs/files.md', FIXTURES]);
  expect([...pagesWith('java'), ...pagesWith('rust')]).toEqual([FIXTURES, FIXTURES]);
});

describe('the examples print what their comments say', () => {
  const examples = pages.filter((one) => codeOf(one, 'js') !== '').map(({ path }) => path);
  /** What the examples of each page print, or how they fail. All run in one process, in turn. */
  const printed = new Map<string, string[]>();

  beforeAll(async () => {
    // Beside the compiled package, so that they find what that finds.
    const place = (name: string): string =>
      fileURLToPath(new URL(`${name.replaceAll(/\W/g, '-')}.mjs`, compiledModule('index.js')));
    for (const path of examples) {
      writeFileSync(place(path), importCompiled(codeOf(page(path), 'js')));
    }
    const runs = examples.map((path) => [path, place(path), temporaryFolder()]);
    writeFileSync(
      place('run-examples'),
      `import { pathToFileURL } from 'node:url';
       for (const [path, file, folder] of ${JSON.stringify(runs)}) {
         console.log('=== ' + path);
         process.chdir(folder);
         await import(pathToFileURL(file).href).catch((error) => console.log(error));
       }`,
    );
    const env = { ...process.env, NO_COLOR: '1' };
    const { stdout } = await promisify(execFile)(process.execPath, [place('run-examples')], {
      env,
    });
    for (const part of stdout.split(/^=== /m).slice(1)) {
      const [path = '', ...lines] = part.trimEnd().split('\n');
      printed.set(path, lines);
    }
  }, 300_000);

  test('on most pages', () => expect(examples.length).toBeGreaterThan(8));

  test.each(examples)('%s', (path) => {
    const example = codeOf(page(path), 'js');
    const said = [...example.matchAll(/console\.log\(.*\/\/ (.*)$/gm)].map((match) => match[1]);
    expect(said).toHaveLength(example.split('console.log(').length - 1);
    expect(printed.get(path)).toEqual(said);
  });
});

test('the table of errors is the table of errors', () => {
  const [, ...rows] = tableRows(page('docs/errors.md'), 5);
  const listed = rows.map(([code, number, status, retryable]) => [
    code?.replaceAll('`', ''),
    { number: Number(number), status: Number(status), retryable: retryable === 'yes' },
  ]);
  const kinds: Record<string, ErrorKind> = ERROR_KINDS;
  expect(Object.fromEntries(listed)).toEqual(kinds);
});

/** The commands of a page, each as its words; `settings` are the variables that it exports. */
function commandsOf(path: string): { lines: string[][]; settings: Record<string, string> } {
  const text = codeOf(page(path), 'sh');
  const settings = text.matchAll(/^export (\w+)=(\S+)/gm);
  return {
    settings: Object.fromEntries(Array.from(settings, ([, name, value]) => [name, value])),
    lines: Array.from(text.matchAll(/^dirspace ([^#\n]*)/gm), ([, line = '']) =>
      Array.from(line.matchAll(/"([^"]*)"|(\S+)/g), ([, quoted, word = '']) => quoted ?? word),
    ),
  };
}

describe('the command line', () => {
  const reference = 'docs/command-line.md';

  test('has the exit codes', () => {
    const codes = tableRows(page(reference), 2).filter(([first]) => /^[0-9]+$/.test(first ?? ''));
    expect(codes.map(([code]) => Number(code))).toEqual(Object.values(EXIT));
  });

  const shown = pages.filter(({ path }) => commandsOf(path).lines.length > 0);
  test.each(shown.map(({ path }) => path))('does what %s shows', async (path) => {
    const folder = temporaryFolder();
    const file = (name: string): string => join(folder, name);
    const rows = { id: [1, 2], name: ['Ada', 'Grace'], age: [36, 85] };
    writeFileSync(file('users.arrow'), tableToIPC(tableFromArrays(rows), 'file'));
    writeFileSync(
      file('users.csv'),
      `id,name,age\n${rows.id.map((id, at) => `${id},${rows.name[at]},${rows.age[at]}\n`).join('')}`,
    );
    writeFileSync(file('big.csv'), 'id,name\n1,a\n2\n');
    writeFileSync(file('seed.json'), seedShown());
    writeFileSync(file('more.ndjson'), '{"id": 3, "name": "Alan", "age": 41}\n');
    renameSync(writeDataset(lanceVersions[0]?.dataset ?? '', folder), file('user.lance'));
    mkdirSync(file('logs/may'), { recursive: true });
    for (const log of ['logs/april.ndjson', 'logs/may/1.ndjson']) {
      writeFileSync(file(log), '{"line": "started"}\n');
    }
    const { lines, settings } = commandsOf(path);
    await using server = await startServer({
      namespace: await openDirectoryNamespace({ root: '/served', fs: memoryFs() }),
      limits: { drainDelayMs: 0 },
    });
    const env = { DIRSPACE_URI: file('catalog'), ...settings };
    const before = process.cwd();
    process.chdir(folder);
    const said: string[] = [];
    try {
      for (const words of lines) {
        const serves = words[0] === 'serve' || words[0] === 'ui';
        const args = words.map((word) => word.replace('http://127.0.0.1:2333', server.url));
        // A server is stopped once it listens, at a port that is surely free.
        if (serves) args.push('--port', '0');
        const {
          code: exit,
          out,
          error,
        } = await callCli(args, {
          env,
          ...(serves ? { during: async () => {} } : {}),
        });
        expect({ words, exit, error: exit === EXIT.ok ? '' : error }).toEqual({
          words,
          exit: EXIT.ok,
          error: '',
        });
        said.push(`${words[0]}: ${out}`);
      }
    } finally {
      process.chdir(before);
    }
    if (path !== reference) return;
    expect(said).toContain('ls: prod/\nprod/search/\nprod/search/user\n');
    expect(said).toContain('query: name\nGrace\nAlan\n');
    expect(said.join()).toContain('user  2');
  });

  test('has a table of the commands there are, and no others', () => {
    const rows = tableRows(page(reference), 2).filter(([first]) => first?.startsWith('`dirspace '));
    const usage = COMMANDS.map(({ name, summary, arguments: given }) => [
      `\`${['dirspace', name, ...given.map(([argument]) => argument)].join(' ')}\``,
      summary,
    ]);
    expect(rows).toEqual(usage);
  });

  test('has examples of every command', () => {
    const lines = codeOf(page(reference), 'sh');
    for (const { name } of COMMANDS)
      expect(lines).toMatch(new RegExp(`^dirspace .*\\b${name}\\b`, 'm'));
  });
});

test('lines for a shell are commands that are tried, or of npm', () => {
  const words = pages.flatMap((one) =>
    codeOf(one, 'sh')
      .split('\n')
      .map((line) => line.split(' ')[0]),
  );
  const known = ['', 'dirspace', 'export', 'npm'];
  expect(words.filter((word) => !known.includes(word ?? ''))).toEqual([]);
});

/** The page whose JSON is a seed of fixtures. */
const FIXTURES = 'docs/fixture.md';
const seedShown = (): string => codeOf(page(FIXTURES), 'json');

describe('the configuration of a server', () => {
  const others = pages.filter(({ path }) => path !== FIXTURES);
  const blocks = others.flatMap(({ path, blocks }) =>
    blocks
      .filter(({ language }) => language === 'json')
      .map(({ text }, index) => ({ name: `${path} ${index + 1}`, text })),
  );
  const load = (text: string): ReturnType<typeof loadConfig> => {
    const file = join(temporaryFolder(), 'server.json');
    writeFileSync(file, text);
    return loadConfig(file, { SEARCH_KEY: 'secret' });
  };

  test.each(blocks)('$name is one', async ({ text }) => void (await load(text)));

  test('has the members that its page explains', async () => {
    const { auth, limits, host } = await load(codeOf(page('docs/serving-and-auth.md'), 'json'));
    expect({ auth, host }).toMatchObject({
      host: '0.0.0.0',
      auth: {
        apiKeys: [{ key: 'secret', grants: [{ namespace: [] }, { permission: 'write' }] }],
        jwt: { audience: 'dirspace' },
      },
    });
    expect(limits?.maxInFlight).toBe(64);
  });
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
  const [, listed = ''] = /engine has none of these: ([^.]*)\./.exec(textOfAll) ?? [];
  expect(missing).toEqual(Array.from(listed.matchAll(/`(\w+)`/g), (match) => match[1]));
  await db.close();
});

test('the demo runs as it is', () => {
  const demo = readFileSync(join(import.meta.dirname, '..', '..', 'examples', 'demo.mjs'), 'utf8');
  const folder = temporaryFolder();
  const fixtures = new URL('../../fixtures/', import.meta.url).href;
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

test('the table of limits has each limit of the server with its default', () => {
  const rows = page('docs/serving-and-auth.md').text.matchAll(/^\| `(\w+)` \| ([\d.]+) \|/gm);
  const said = Array.from(rows, ([, name = '', value]) => [name, Number(value)]);
  expect(Object.fromEntries(said)).toEqual(resolveLimits());
});

test("what is said of Lance's own server is what the interoperation test expects", async () => {
  const suite = conformanceSuite('http://127.0.0.1:9');
  const titles = suite.cases.map(({ title }) => title);
  await suite.close();
  const path = join(project, 'test', 'interop', 'python', 'test_conformance.py');
  const python = readFileSync(path, 'utf8');
  const sets = ['FAILED', 'NOT_IMPLEMENTED', 'DIFFERS', 'NOT_DECIDABLE'];
  const [failed, missing, differ, open] = sets.map((name) => {
    const [, set = ''] = new RegExp(`^${name} = \\{$(.*?)^\\}$`, 'ms').exec(python) ?? [];
    const listed = Array.from(set.matchAll(/^ {4}"(.*)",$/gm), ([, title]) => title as string);
    expect(listed.filter((title) => !titles.includes(title))).toEqual([]);
    return listed.length;
  }) as [number, number, number, number];
  const passed = titles.length - failed - missing - differ - open;
  expect(page('docs/testing-against-dirspace.md').text).toContain(
    `of ${titles.length} cases ${passed} passed, ${failed} failed, ${missing} not implemented, ${differ} differ, ${open} not decidable.`,
  );
});
