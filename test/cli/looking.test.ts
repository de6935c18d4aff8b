/** What shows tables without their rows: column statistics, comparisons and the graph of versions. */
import { cpSync } from 'node:fs';
import { beforeAll, describe, expect, test } from 'vitest';
import { sparkline, statsText } from '../../src/cli/catalog/column-stats.ts';
import { type GraphBranch, versionGraph } from '../../src/cli/catalog/version-graph.ts';
import { displayWidth } from '../../src/display-width.ts';
import { connect } from '../../src/sdk/connect.ts';
import { type CliResult, callCli } from '../helpers/cli.ts';
import { temporaryFolder } from '../helpers/temporary.ts';

let root: string;

beforeAll(async () => {
  root = temporaryFolder();
  const db = await connect(root, { durability: 'relaxed' });
  await db.createNamespace(['prod']);
  const rows = Array.from({ length: 64 }, (_, id) => ({
    id,
    name: id % 8 === 0 ? null : `n${id % 4}`,
  }));
  const table = await db.createTable('t', rows, ['prod']);
  await table.add([{ id: 64, name: 'new' }]);
  const draft = await (await table.branches()).create('draft');
  await draft.update({ where: 'id = 1', values: { name: 'changed' } });
  await (await table.branches()).create('same');
  await table.delete('id = 2');
  await table.alterColumns([{ path: 'name', rename: 'label' }]);
  await (await table.tags()).create('first', 1);
  await db.close();
});

const run = (...args: string[]): Promise<CliResult> => callCli([...args, '--root', root]);
const json = async (...args: string[]) => JSON.parse((await run(...args, '--json')).out);

describe('describe --stats', () => {
  test('a column to a line, with bars on a terminal that has room', async () => {
    const { out } = await run('describe', 'prod/t', '--stats');
    expect(out).toMatch(/^COLUMN +NULLS +DISTINCT +MIN +MAX +MEAN +MOST FREQUENT$/m);
    expect(out).toMatch(/^label +8 +5 +n0 +new +n1 \(25%\)$/m);
    expect(out).toMatch(/^Exact, of 64 rows, in \d+ ms\.$/m);
    const wide = await callCli(['describe', 'prod/t', '--stats', '--root', root], { width: 100 });
    expect(wide.out).toMatch(/MOST FREQUENT +HISTOGRAM$/m);
    expect(wide.out).toMatch(/^id .* [▁▂▃▄▅▆▇█]{8,32}$/m);
    const lines = wide.out.split('\n');
    for (const line of lines.slice(-6)) expect(line.length).toBeLessThanOrEqual(100);
    const narrow = await callCli(['describe', 'prod/t', '--stats', '--root', root], { width: 40 });
    expect(narrow.out).not.toContain('HISTOGRAM');
    expect(wide.out).not.toContain('\u001b');
  });

  test('histograms begin in one place, however wide the letters before them', async () => {
    const histogram = { of: 'values', edges: [], counts: [3, 3] };
    const column = { nulls: 0, rows: 6, distinct: 2, boundsExact: true, min: 0, max: 1, top: [] };
    const named = (name: string) => ({ ...column, name, histogram });
    const profile = { columns: [named('ab'), named('表名')], rows: 6 };
    const text = statsText(profile as never, { output: true, columns: 120 } as never);
    const before = text
      .split('\n')
      .slice(1, 3)
      .map((line) => displayWidth(line.slice(0, line.indexOf('█'))));
    expect(before[0]).toBe(before[1]);
  });

  test('as JSON, of a version, and totals of a namespace', async () => {
    const { profile } = await json(
      'describe',
      'prod/t',
      '--stats',
      '--at',
      'first',
      '--budget',
      '60000',
    );
    expect(profile).toMatchObject({ version: 1, rows: 64, sampled: false });
    expect(profile.columns[1]).toMatchObject({ name: 'name', nulls: 8, distinct: 4 });
    expect((await run('describe', 'prod/t', '--budget', '5')).code).toBe(2);
    for (const space of ['/', 'prod'])
      expect((await run('describe', space, '--stats', '--budget', '5')).code).toBe(2);
    const { totals } = await json('describe', '/', '--stats');
    expect(totals).toMatchObject({ namespaces: 1, tables: 1, rows: 64, unreadable: 0 });
    expect((await run('describe', 'prod', '--stats')).out).toMatch(/^tables +1$/m);
  });

  test('bars', () => {
    const of = (counts: readonly number[], most = 32) =>
      sparkline({ histogram: { of: 'values', edges: [], counts } } as never, most);
    expect(of([0, 1, 4, 8, 1_000])).toBe(' ▁▁▁█');
    expect(of([1, 1, 2, 2, 8, 8], 3)).toBe('▁▂█');
    expect(of([])).toBe('');
  });
});

describe('diff', () => {
  test('by key, with examples', async () => {
    const { out } = await run('diff', 'prod/t', 'first..', '--on', 'id');
    expect(out).toContain('1 (64 rows) .. 4 (64 rows)\n');
    expect(out).toContain('~ column name utf8 -> label utf8\n');
    expect(out).toContain('rows: +1 -1 ~0, 63 unchanged\n');
    expect(out).toMatch(/^\+ +64 +new$/m);
    expect(out).toMatch(/^- +2 +n2$/m);
  });

  test.each<[versions: string, from: object, to: object]>([
    ['1..3', { version: 1 }, { version: 3 }],
    ['first..draft', { version: 1 }, { branch: 'draft', version: 3 }],
    ['draft:2..main', { branch: 'draft', version: 2 }, { branch: 'main', version: 4 }],
    ['draft..', { branch: 'draft', version: 3 }, { branch: 'main', version: 4 }],
  ])('%s', async (versions, from, to) => {
    expect(await json('diff', 'prod/t', versions)).toMatchObject({ from, to });
  });

  test('what changed is told, by column and by row', async () => {
    const { out } = await run('diff', 'prod/t', '2..draft', '--on', 'id', '-n', '5');
    expect(out).toContain('rows: +0 -0 ~1, 64 unchanged\n  name: 1 row\n');
    expect(out).toMatch(/^~ +1 +n1 -> changed$/m);
    expect(await json('diff', 'prod/t', '2..draft', '--on', '*')).toMatchObject({
      rows: { by: 'key', added: 1, removed: 1, changed: 0 },
    });
    expect((await run('diff', 'prod/t', '1..')).out).toContain('--on COLUMN compares their values');
  });

  test('wrong versions and keys', async () => {
    for (const versions of ['..', '..3', '1..2..3', 'nothing..', '99999999999999999999..']) {
      expect([versions, (await run('diff', 'prod/t', versions)).code]).toEqual([versions, 2]);
    }
    expect((await run('diff', 'prod/t', 'nothing..')).error).toContain('main, draft, same');
    expect((await run('diff', 'prod/t', '1')).out).toContain('1 (64 rows) .. 4 (64 rows)');
    expect((await run('diff', 'prod/t', '9..')).code).toBe(3);
    expect((await run('diff', 'prod/t', '1..2', '--on', 'x')).code).toBe(2);
    expect((await run('diff', 'prod/t', '1..2', '--on', 'id', '--on', '*')).code).toBe(2);
  });
});

describe('log --graph', () => {
  test('draws branches and names tags', async () => {
    const { out } = await run('log', 'prod/t', '--graph');
    const lines = out
      .trimEnd()
      .split('\n')
      .map((line) => line.replace(/ \d{4}-\S+Z/, ' TIME'));
    expect(lines.map((line) => line.replaceAll(/ +/g, ' '))).toEqual([
      'GRAPH VERSION TIME OPERATION NAMES',
      '* 4 TIME schema main',
      '* 3 TIME delete -1',
      '| * draft:3 TIME update ~1 draft',
      '|/',
      '* 2 TIME append +1 same',
      '* 1 TIME create +64 tag first',
    ]);
    const short = await run('log', 'prod/t', '--graph', '-n', '2');
    expect(short.out.trimEnd().split('\n')).toHaveLength(3);
    expect((await run('log', 'prod/t', '--graph', '-n', '0')).code).toBe(0);
    expect((await run('log', 'prod/t', '--graph', '--branch', 'draft')).code).toBe(2);
  });

  test('as JSON each version tells what it was made from', async () => {
    const rows = await json('log', 'prod/t', '--graph');
    expect(rows).toHaveLength(5);
    expect(rows[2]).toMatchObject({
      branch: 'draft',
      version: 3,
      parent: { branch: 'main', version: 2 },
      heads: ['draft'],
    });
    expect(rows[4]).toMatchObject({ version: 1, parent: null, tags: ['first'] });
  });
});

describe('the order of a graph', () => {
  const side = (
    name: string,
    times: readonly (readonly [version: number, time: number])[],
    parent?: GraphBranch['parent'],
  ): GraphBranch => ({
    name,
    ...(parent === undefined ? {} : { parent }),
    pages: (async function* () {
      for (const [version, timestamp] of times) yield [{ version, timestamp, metadata: {} }];
    })(),
  });

  async function drawn(branches: readonly GraphBranch[]): Promise<string[]> {
    const lines: string[] = [];
    for await (const { graph, commit } of versionGraph(branches)) {
      lines.push(commit === undefined ? graph : `${graph} ${commit.branch}:${commit.version}`);
    }
    return lines;
  }

  test('a version comes before what it was made from, whatever the clocks say', async () => {
    const lines = await drawn([
      side('main', [
        [3, 300],
        [2, 200],
        [1, 100],
      ]),
      side(
        'b',
        [
          [3, 1],
          [2, 0],
          [1, 100],
        ],
        { branch: 'main', version: 1 },
      ),
      side(
        'c',
        [
          [4, 900],
          [3, 1],
        ],
        { branch: 'b', version: 3 },
      ),
    ]);
    expect(lines).toEqual([
      '    * c:4',
      '*   | main:3',
      '*   | main:2',
      '|  /',
      '| * b:3',
      '| * b:2',
      '|/',
      '* main:1',
    ]);
  });

  test('lines over others, branches of empty branches, and versions that are gone', async () => {
    const lines = await drawn([
      side('main', [
        [5, 50],
        [4, 40],
        [2, 20],
      ]),
      side('empty', [[4, 40]], { branch: 'main', version: 4 }),
      side('b', [[6, 60]], { branch: 'empty', version: 4 }),
      side('c', [[5, 70]], { branch: 'main', version: 4 }),
      side('gone', [[9, 90]], { branch: 'dropped', version: 8 }),
      side('old', [[3, 10]], { branch: 'main', version: 1 }),
    ]);
    expect(lines).toEqual([
      '* gone:9',
      '|   * c:5',
      '|   | * b:6',
      '| * | | main:5',
      '| |_|/',
      '| |/',
      '| * main:4',
      '| * main:2',
      '|   * old:3',
    ]);
  });
});

describe('files', () => {
  test('a line for each file, and the whole as JSON', async () => {
    const { out } = await run('files', 'prod/t');
    expect(out).toMatch(/^FILE +ROWS +DELETED +FIRST ROW +BYTES +DELETION FILE +COLUMNS$/m);
    expect(out).toMatch(/\.arrow +64 +1 +0 +\d+ +\S+\.arrow +others: see --json$/m);
    expect(out).toMatch(/^64 rows of version \d+ in \d fragments\.$/m);
    const found = await json('files', 'prod/t', '--at', 'first', '--plain');
    expect(found).toMatchObject({ version: 1, rowCount: 64, fragments: [{ firstRow: 0 }] });
    expect(found.fragments[0].files[0].path.startsWith(root)).toBe(true);
  });

  test('fails where files hold deleted rows or other columns, until they are written anew', async () => {
    const deleted = await run('files', 'prod/t', '--no-deletions');
    expect(deleted).toMatchObject({ code: 5, out: '' });
    expect(deleted.error).toContain('hold 1 deleted rows');
    expect(deleted.error).toContain('dirspace optimize --plain');
    expect((await run('files', 'prod/t', '--branch', 'same', '--no-deletions')).code).toBe(0);
    const copy = temporaryFolder();
    cpSync(root, copy, { recursive: true });
    await callCli(['optimize', 'prod/t', '--plain', '--root', copy]);
    expect((await callCli(['files', 'prod/t', '--plain', '--root', copy])).code).toBe(0);
  });
});
