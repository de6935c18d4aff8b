/**
 * The bench runs: every row of every suite on few rows, for ours alone, as its peers are not installed
 * here. What is measured are facts about the rows, never times.
 */
import { execFile } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { beforeAll, describe, expect, test } from 'vitest';
import { temporaryFolder } from '../helpers/temporary.ts';

const root = join(import.meta.dirname, '..', '..');
const bench = (path: string): string => join(root, 'bench', path);

interface Figure {
  readonly median: number;
  readonly min: number;
  readonly cpu: number | null;
}
interface Row {
  readonly suite: string;
  readonly workload: string;
  readonly goal: string | null;
  readonly ok: boolean | null;
  readonly sides: Readonly<Record<string, Figure>>;
}

describe('on few rows', () => {
  let rows: Row[];

  beforeAll(async () => {
    const json = join(temporaryFolder(), 'rows.json');
    const few = ['--peers', 'none', '--scale', '0.001', '--samples', '1', '--json', json];
    await promisify(execFile)(process.execPath, [bench('run.mjs'), ...few]);
    ({ rows } = JSON.parse(readFileSync(json, 'utf8')));
  }, 300_000);

  test('each suite has rows, whose names are their own', () => {
    const source = readFileSync(bench('run.mjs'), 'utf8');
    const suites = [...source.matchAll(/^ {2}(\w+): async \(\) => \(await import/gm)].map(
      ([, name]) => name,
    );
    expect(suites.length).toBeGreaterThan(10);
    expect([...new Set(rows.map(({ suite }) => suite))]).toEqual(suites);
    const names = rows.map(({ workload }) => workload);
    expect(names).toEqual([...new Set(names)]);
  });

  test('each row has a median and a minimum, and processor time where time is what it measures', () => {
    for (const { workload, sides } of rows) {
      const { median, min, cpu } = sides.ours ?? {};
      expect(median, workload).toBeGreaterThan(0);
      expect(min, workload).toBeLessThanOrEqual(median ?? 0);
      if (cpu !== null) expect(cpu, workload).toBeGreaterThanOrEqual(0);
    }
  });

  test('a goal that asks for a peer is open without it', () => {
    const against = rows.filter(({ goal }) => /^[\d.]+x lancedb$/.test(goal ?? ''));
    expect(against.length).toBeGreaterThan(40);
    expect(against.filter(({ ok }) => ok === true)).toEqual([]);
  });
});

describe('growth', () => {
  interface Point {
    readonly count: number;
    readonly median: number;
  }
  const OPERATIONS = 'append open describe scan take listVersions list openOne'.split(' ');

  test('measures each operation at each count and draws what it wrote', async () => {
    const out = temporaryFolder();
    const few = ['--growth', '--peers', 'none', '--scale', '0.001', '--samples', '1', '--out', out];
    await promisify(execFile)(process.execPath, [bench('run.mjs'), ...few]);
    const { sides } = JSON.parse(readFileSync(join(out, 'growth.json'), 'utf8'));
    expect(Object.keys(sides.ours).toSorted()).toEqual(OPERATIONS.toSorted());
    for (const points of Object.values<Point[]>(sides.ours)) {
      expect(points.map(({ count }) => count)).toEqual([1, 3, 10]);
      for (const { median } of points) expect(median).toBeGreaterThan(0);
    }
    const { drawGrowth } = await import(bench('growth.mjs'));
    expect(readFileSync(join(out, 'growth.svg'), 'utf8')).toBe(drawGrowth(sides));
  }, 120_000);

  test('draws decades as equal distances, on light and dark backgrounds', async () => {
    const { drawGrowth } = await import(bench('growth.mjs'));
    const equal = [1, 10, 100].map((count) => ({ count, median: count }));
    const series = Object.fromEntries(OPERATIONS.map((name) => [name, equal]));
    const svg: string = drawGrowth({ ours: series, lancedb: series });
    const lines = [...svg.matchAll(/<polyline class="(\w+)" points="([^"]+)"/g)];
    expect(lines.map(([, side]) => side)).toEqual(OPERATIONS.flatMap(() => ['ours', 'lancedb']));
    const [, , first = ''] = lines[0] ?? [];
    const points = first.split(' ').map((point) => point.split(',').map(Number));
    const [x = [], y = []] = [0, 1].map((axis) => points.map((point) => point[axis] ?? Number.NaN));
    const steps = (at: readonly number[]) => at.slice(1).map((value, n) => value - (at[n] ?? 0));
    expect(new Set(steps(x)).size + new Set(steps(y)).size).toBe(2);
    expect([steps(x)[0]! > 0, steps(y)[0]! < 0]).toEqual([true, true]);
    expect(svg).toContain('prefers-color-scheme: dark');
    for (const text of ['dirspace', 'LanceDB', 'versions', 'fragments', 'tables', '10 ms']) {
      expect(svg).toContain(`>${text}</text>`);
    }
    expect(svg).not.toMatch(/NaN|undefined|Infinity/);
  });
});

describe('the command line of the bench', () => {
  const suites = ['catalog', 'tables'];

  test('--help shows each option and each suite, and measures nothing', async () => {
    const { stdout, stderr } = await promisify(execFile)(process.execPath, [
      bench('run.mjs'),
      '--help',
    ]);
    const source = readFileSync(bench('run.mjs'), 'utf8');
    const names = [...source.matchAll(/(?<!\/)\boptions\.(\w+)/g)].map(([, name]) => name);
    for (const name of new Set(names)) {
      expect(stdout).toMatch(name === 'suites' ? /--suite / : new RegExp(`--${name} `));
    }
    const [, listed = ''] = /^Suites: (.*)\.$/m.exec(stdout) ?? [];
    const written = [...source.matchAll(/^ {2}(\w+): async \(\) => \(await import/gm)];
    expect(listed.split(', ')).toEqual(written.map(([, name]) => name));
    expect(stderr).toBe('');
  });

  test('what cannot be used ends with one message and the exit code 2', async () => {
    const run = promisify(execFile)(process.execPath, [bench('run.mjs'), '--suites', 'tables']);
    const error = await run.then(
      () => undefined,
      (error: { code: number; stderr: string }) => error,
    );
    expect(error?.code).toBe(2);
    expect(error?.stderr).toContain("Unknown option '--suites'");
    expect(error?.stderr).toContain('--suite, --only');
    expect(error?.stderr).not.toContain('    at ');
  });

  test('says what was given and what there is', async () => {
    const { optionsOf } = await import(bench('harness/options.mjs'));
    const read = (...words: string[]) => optionsOf(words, suites);
    expect(read('--suite', 'tables', '--scale', '0.5', '--samples', '2')).toMatchObject({
      suites: ['tables'],
      scale: 0.5,
      samples: 2,
    });
    expect(read()).toMatchObject({ suites, scale: 1, samples: undefined });
    expect(read('--growth', '--out', 'there')).toMatchObject({ growth: true, out: 'there' });
    expect(() => read('--suite', 'tables,toString')).toThrow(
      '--suite "toString": there is catalog, tables',
    );
    expect(() => read('--peers', 'none,sqlite')).toThrow(
      '--peers "sqlite": there is none, lancedb',
    );
    for (const scale of ['0', '-1', 'all']) {
      expect(() => read(`--scale=${scale}`)).toThrow(`--scale "${scale}": give a number above 0`);
    }
    for (const samples of ['0', '1.5', 'few']) {
      expect(() => read('--samples', samples)).toThrow(`--samples "${samples}": give a whole`);
    }
    expect(() => read('tables')).toThrow("Unexpected argument 'tables'");
    expect(() => read('--growth', '--json', 'rows.json')).toThrow('--json does not go with it');
    expect(() => read('--out', 'there')).toThrow('--out is where --growth writes');
  });
});

test('a goal compares the faster connection of LanceDB, the median or the processor time', async () => {
  const { reached } = await import(bench('harness/goals.mjs'));
  const figure = (median: number, cpu = median): Figure => ({ median, min: median, cpu });
  const sides = { ours: figure(10, 30), lancedb: figure(40), 'lancedb-ns': figure(19) };
  expect(reached(sides, { times: 2 })).toBe(false);
  expect(reached(sides, { times: 1.9 })).toBe(true);
  expect(reached(sides, { times: 1, against: 'duckdb' })).toBe(null);
  expect(reached(sides, { atMost: 10 })).toBe(true);
  expect(reached(sides, { atMost: 10, of: 'cpu' })).toBe(false);
});

test('sides that answer different numbers are refused, and so is a peer that cannot do a row', async () => {
  const { measure } = await import(bench('harness/measure.mjs'));
  const sides = (peer: () => number) => ({ ours: () => 7, lancedb: peer });
  const differs = measure({ name: 'count', samples: 1, sides: sides(() => 8) });
  await expect(differs).rejects.toThrow('count, sample 0: ours answers 7 and lancedb 8');
  const refuse = (): never => {
    throw new Error('not supported');
  };
  const figures = await measure({ name: 'count', samples: 1, sides: sides(refuse) });
  expect(figures.lancedb).toEqual({ refused: 'not supported' });
  const failing = measure({ name: 'count', samples: 1, sides: { ours: refuse } });
  await expect(failing).rejects.toThrow('not supported');
});

test('every value that a query answered is looked at', async () => {
  const { touch } = await import(bench('harness/touch.mjs'));
  const looked: number[] = [];
  const values = new Proxy(new Float64Array(64), {
    get: (target, key) => {
      if (typeof key === 'string' && /^\d+$/.test(key)) looked.push(Number(key));
      return Reflect.get(target, key, target);
    },
    getPrototypeOf: () => Float64Array.prototype,
  });
  const data = { values, children: [] };
  // A proxy is no view of memory, so the list says that it is one.
  const isView = ArrayBuffer.isView;
  ArrayBuffer.isView = ((value: unknown) => value === values || isView(value)) as typeof isView;
  try {
    expect(touch({ batches: [{ data }], numRows: 64 })).toBe(64);
  } finally {
    ArrayBuffer.isView = isView;
  }
  expect(looked).toEqual([0, 8, 16, 24, 32, 40, 48, 56]);
});

test('the peak of a child does not contain that of its parent', async () => {
  const { runChild } = await import(bench('harness/child.mjs'));
  const ballast = Buffer.alloc(400 * 2 ** 20, 1);
  const { megabytes } = runChild({ side: 'ours', call: 'nothing' });
  expect(ballast[0]).toBe(1);
  expect(megabytes).toBeGreaterThan(20);
  expect(megabytes).toBeLessThan(200);
});

test('nothing else in the repository contains the predicates of first queries', async () => {
  const { PREDICATES } = await import(bench('workloads/predicates.mjs'));
  expect(new Set(PREDICATES).size).toBe(20);
  const texts = ['src', 'test', 'scripts', 'examples', 'docs', 'bench'].flatMap((folder) =>
    readdirSync(join(root, folder), { recursive: true, withFileTypes: true })
      .filter(({ name, parentPath }) => {
        const source = /\.(ts|mjs|js|md|json|txt)$/.test(name) && name !== 'predicates.mjs';
        return source && !parentPath.includes('node_modules');
      })
      .map(({ name, parentPath }) => readFileSync(join(parentPath, name), 'utf8')),
  );
  const found = PREDICATES.filter((sql: string) => texts.some((text) => text.includes(sql)));
  expect(found).toEqual([]);
});
