/**
 * Materialized views: after a refresh a view has the rows of its query over the version of the source
 * that it names, whatever was done to the source, by itself and by others, before and between.
 */
import { describe, expect, test } from 'vitest';
import {
  type DirectoryNamespace,
  openDirectoryNamespace,
} from '../../src/directory/directory-namespace.ts';
import { toRecordBatchStream } from '../../src/sdk/convert/data.ts';
import { collectRows } from '../../src/sdk/convert/rows.ts';
import { strictFileSystem } from '../../src/store/disk/strict-fs.ts';
import { FaultyFs } from '../helpers/faulty-fs.ts';
import { casesOf } from '../helpers/long.ts';
import { memoryFs, type TestFs } from '../helpers/memory-fs.ts';
import { seeded } from '../helpers/seeded.ts';
import { grow, treeOf } from '../helpers/trees.ts';

const source = ['t'];
const id = ['v'];
const limits = { batchRows: 8, fragmentRows: 32 };
const open = (fs: TestFs): Promise<DirectoryNamespace> =>
  openDirectoryNamespace({ root: '/c', fs, durability: 'relaxed', limits });

const rowsFrom = (from: number, count: number): Promise<never> =>
  toRecordBatchStream(
    Array.from({ length: count }, (_, at) => ({
      id: from + at,
      x: (from + at) % 7 === 0 ? null : from + at,
      s: `s${from + at}`,
    })),
  ) as never;

interface Definition {
  readonly select?: readonly (readonly [string, string])[];
  readonly filter?: string;
  readonly limit?: number;
}

const defined = ({ select, filter, limit }: Definition) => ({
  id,
  kind: 'query' as const,
  output_schema: '',
  source_query: JSON.stringify({
    source_table: 't',
    projections: select?.map(([output, expression]) => ({ output, expression })),
    filter,
    limit,
  }),
});

async function rowsOf(catalog: DirectoryNamespace, request: object): Promise<unknown[]> {
  return collectRows(await catalog.queryTable({ k: 1e6, vector: {}, ...request }));
}

/** What the view should have: its query over that version of the source. */
async function expected(
  catalog: DirectoryNamespace,
  { select, filter, limit = 1e6 }: Definition,
  version?: number,
): Promise<unknown[]> {
  const columns = select && { columns: { column_aliases: Object.fromEntries(select) } };
  return rowsOf(catalog, { id: source, filter, k: limit, version, ...columns });
}

const DEFINITIONS: readonly Definition[] = [
  {},
  {
    select: [
      ['id', 'id'],
      ['twice', 'x * 2'],
    ],
    filter: 'x IS NOT NULL AND id % 3 <> 1',
  },
  { select: [['text', "s || '!'"]], limit: 25 },
  { select: [['id', 'id']], filter: 'id > 1000000' },
];

describe.each(DEFINITIONS.map((one) => [JSON.stringify(one), one] as const))('%s', (_, view) => {
  test('random histories of the source', async () => {
    for (let seed = 1; seed <= casesOf(3, 150); seed++) {
      const next = seeded(seed * 100 + JSON.stringify(view).length);
      const among = (count: number): number => Math.floor(next() * count);
      const fs = memoryFs();
      let catalog = await open(fs);
      await catalog.createTable({ id: source }, await rowsFrom(0, 10 + among(60)));
      await catalog.createMaterializedView(defined(view));
      expect(await rowsOf(catalog, { id })).toEqual([]);
      let from = 1000;
      let rewrote = true;
      for (let step = 0; step < 14; step++) {
        const least = among(90);
        const action = among(10);
        if (action <= 3) {
          await catalog.insertIntoTable({ id: source }, await rowsFrom(from, 1 + among(40)));
          from += 100;
        } else if (action === 4) {
          await catalog.updateTable({
            id: source,
            predicate: `id = ${least}`,
            updates: [['x', '5']],
          });
          rewrote = true;
        } else if (action === 5) {
          await catalog.deleteFromTable({ id: source, predicate: `id = ${least}` });
          rewrote = true;
        } else if (action === 6) await catalog.optimizeTable({ id: source });
        else if (action === 7) {
          const { version = 1 } = await catalog.describeTable({
            id: source,
            load_detailed_metadata: true,
          });
          await catalog.restoreTable({ id: source, version: 1 + among(version) });
          rewrote = true;
        } else {
          const full = among(6) === 0;
          const done = await catalog.refreshMaterializedView({ id, full });
          const wanted = await expected(catalog, view, done.source_version);
          expect(await rowsOf(catalog, { id }), `seed ${seed}, step ${step}`).toEqual(wanted);
          if (!rewrote && !full) expect(done.mode).not.toBe('rebuild');
          rewrote = false;
        }
        if (among(12) === 0) {
          await catalog.close();
          catalog = await open(fs);
        }
      }
      await catalog.refreshMaterializedView({ id });
      expect(await rowsOf(catalog, { id })).toEqual(await expected(catalog, view));
      const { problems } = await catalog.verify({});
      expect(problems).toEqual([]);
    }
  });
});

const grown: Definition = {
  select: [
    ['id', 'id'],
    ['y', 'x + 1'],
  ],
  filter: 'id % 2 = 0',
};

async function setUp(view = grown, fs = memoryFs()): Promise<DirectoryNamespace> {
  const catalog = await open(fs);
  await catalog.createTable({ id: source }, await rowsFrom(0, 50));
  await catalog.createMaterializedView(defined(view));
  return catalog;
}

test('rows that were added are appended, and those there are keep their ids', async () => {
  const catalog = await setUp();
  expect(await catalog.refreshMaterializedView({ id })).toMatchObject({
    mode: 'rebuild',
    rows_written: 25,
    source_version: 1,
    version: 2,
  });
  const before = await rowsOf(catalog, { id, with_row_id: true });
  await catalog.insertIntoTable({ id: source }, await rowsFrom(50, 10));
  await catalog.optimizeTable({ id: source });
  await catalog.updateFieldMetadata({ id: source, updates: [{ path: 'x', metadata: { a: 'b' } }] });
  const grew = await catalog.refreshMaterializedView({ id });
  expect(grew).toMatchObject({ mode: 'incremental', rows_written: 5, version: 3 });
  const after = await rowsOf(catalog, { id, with_row_id: true });
  expect(after.slice(0, before.length)).toEqual(before);
  expect(await catalog.refreshMaterializedView({ id })).toMatchObject({
    mode: 'no_op',
    rows_written: 0,
    version: 3,
  });
  expect(await catalog.refreshMaterializedView({ id, full: true })).toMatchObject({
    mode: 'rebuild',
    rows_written: 30,
  });
  expect(await catalog.refreshMaterializedView({ id, src_version: 1 })).toMatchObject({
    mode: 'rebuild',
    rows_written: 25,
    source_version: 1,
  });
});

test('versions of the source that are gone, and changes of its columns', async () => {
  const catalog = await setUp();
  await catalog.refreshMaterializedView({ id });
  await catalog.insertIntoTable({ id: source }, await rowsFrom(50, 4));
  await catalog.insertIntoTable({ id: source }, await rowsFrom(54, 4));
  const ranges = [{ start_version: 2, end_version: 3 }];
  await catalog.batchDeleteTableVersions({ id: source, ranges });
  await catalog.refreshMaterializedView({ id });
  expect(await rowsOf(catalog, { id })).toEqual(await expected(catalog, grown));
  await catalog.alterTableDropColumns({ id: source, columns: ['s'] });
  expect((await catalog.refreshMaterializedView({ id })).mode).toBe('rebuild');
  await catalog.alterTableDropColumns({ id: source, columns: ['x'] });
  const broken = catalog.refreshMaterializedView({ id });
  await expect(broken).rejects.toMatchObject({ code: 'TableColumnNotFound' });
  expect((await rowsOf(catalog, { id })).length).toBe(29);
});

test('columns whose names are numbers keep their places', async () => {
  const catalog = await open(memoryFs());
  const select = [
    ['b', 'id'],
    ['2023', 'x'],
    ['7', 's'],
    ['__proto__', 'id + 1'],
  ] as const;
  await catalog.createTable({ id: source }, await rowsFrom(1, 5));
  await catalog.createMaterializedView(defined({ select }));
  await catalog.refreshMaterializedView({ id });
  const stream = await catalog.queryTable({ id, k: 10, vector: {} });
  expect(stream.schema.fields.map(({ name }) => name)).toEqual(select.map(([name]) => name));
  const [row] = (await collectRows(stream)) as object[];
  expect(Object.entries(row ?? {}).sort()).toEqual(
    [
      ['2023', 1],
      ['7', 's1'],
      ['__proto__', 2],
      ['b', 1],
    ].sort(),
  );
  await catalog.insertIntoTable({ id: source }, await rowsFrom(6, 5));
  expect(await catalog.refreshMaterializedView({ id })).toMatchObject({ mode: 'incremental' });
});

test('a refresh that cannot read what the source did fails, and computes nothing anew', async () => {
  const fs = memoryFs();
  const first = await setUp(grown, fs);
  await first.refreshMaterializedView({ id });
  await first.insertIntoTable({ id: source }, await rowsFrom(50, 10));
  await first.insertIntoTable({ id: source }, await rowsFrom(60, 10));
  let fails = false;
  const watched = {
    ...fs,
    openSync: (path: string, ...rest: unknown[]) => {
      if (fails && /\/t\.table\/.*2\.json$/.test(path))
        throw Object.assign(new Error('EIO'), { code: 'EIO' });
      return (fs.openSync as (...all: unknown[]) => number)(path, ...rest);
    },
  };
  const catalog = await open(watched as never);
  fails = true;
  const failed = catalog.refreshMaterializedView({ id });
  await expect(failed).rejects.toMatchObject({ code: 'Internal' });
  fails = false;
  expect(await catalog.refreshMaterializedView({ id })).toMatchObject({ mode: 'incremental' });
});

test('its rows and columns change by refreshes alone', async () => {
  const catalog = await setUp();
  await catalog.refreshMaterializedView({ id });
  const rows = () => toRecordBatchStream([{ id: 1, y: 2 }]);
  const changes: readonly (() => Promise<unknown>)[] = [
    async () => catalog.insertIntoTable({ id }, await rows()),
    async () => catalog.insertIntoTable({ id, mode: 'overwrite' }, await rows()),
    async () => catalog.createTable({ id, mode: 'Overwrite' }, await rows()),
    async () =>
      catalog.mergeInsertIntoTable(
        { id, on: 'id', when_not_matched_insert_all: true },
        await rows(),
      ),
    () => catalog.updateTable({ id, updates: [['y', '1']] }),
    () => catalog.deleteFromTable({ id, predicate: 'true' }),
    () => catalog.alterTableAddColumns({ id, new_columns: [{ name: 'z', expression: '1' }] }),
    () => catalog.alterTableDropColumns({ id, columns: ['y'] }),
  ];
  for (const change of changes) {
    await expect(change()).rejects.toMatchObject({ code: 'InvalidTableState' });
  }
  expect((await rowsOf(catalog, { id })).length).toBe(25);
  // What the changes had written is gone with them.
  expect((await catalog.verify({})).leftovers).toEqual([]);
  await catalog.updateFieldMetadata({ id, updates: [{ path: 'y', metadata: { unit: 'm' } }] });
  await catalog.optimizeTable({ id, compact: {} });
  await catalog.createTableTag({ id, tag: 'a', version: 2 });
  await catalog.insertIntoTable({ id: source }, await rowsFrom(60, 2));
  await catalog.refreshMaterializedView({ id });
  await catalog.restoreTable({ id, version: 2 });
  expect((await rowsOf(catalog, { id })).length).toBe(25);
  expect(await catalog.refreshMaterializedView({ id })).toMatchObject({ rows_written: 1 });
});

test('refreshes beside each other and beside writers double no row', async () => {
  const fs = memoryFs();
  const catalog = await setUp(grown, fs);
  const others = await Promise.all([open(fs), open(fs), open(fs)]);
  let from = 100;
  const work = others.map(async (other, at) => {
    for (let turn = 0; turn < 5; turn++) {
      from += 10;
      if (at === 0) await other.insertIntoTable({ id: source }, await rowsFrom(from, 4));
      else await other.refreshMaterializedView({ id });
    }
  });
  for (let turn = 0; turn < 3; turn++) await catalog.refreshMaterializedView({ id });
  await Promise.all(work);
  const { source_version } = await catalog.refreshMaterializedView({ id });
  expect(await rowsOf(catalog, { id })).toEqual(await expected(catalog, grown, source_version));
  expect(source_version).toBe(6);
});

test('a refresh that is killed at any call leaves the view as it was or as it is to be', async () => {
  const fs = memoryFs();
  const first = await setUp(grown, fs);
  await first.refreshMaterializedView({ id });
  await first.insertIntoTable({ id: source }, await rowsFrom(50, 10));
  const tree = await treeOf(fs as never, '/c');
  const before = await rowsOf(first, { id });
  const after = await expected(first, grown);
  for (let at = 1, isOver = false; !isOver; at += casesOf(4, 1)) {
    const healthy = strictFileSystem(grow(tree, '/c') as never);
    const faulty = new FaultyFs(healthy);
    const catalog = await open(faulty.fs as never);
    faulty.arm({ kind: 'kill', changing: true, at });
    await catalog.refreshMaterializedView({ id }).catch(() => {});
    isOver = !faulty.fired;
    const grownFs = healthy;
    const again = await open(grownFs as never);
    const found = await rowsOf(again, { id });
    expect([before.length, after.length]).toContain(found.length);
    await again.refreshMaterializedView({ id });
    expect(await rowsOf(again, { id })).toEqual(after);
  }
});

test('what becomes of the source', async () => {
  const catalog = await setUp();
  await catalog.refreshMaterializedView({ id });
  await catalog.renameTable({ id: source, new_table_name: 'moved' });
  const gone = catalog.refreshMaterializedView({ id });
  await expect(gone).rejects.toMatchObject({ code: 'TableNotFound' });
  await expect(gone).rejects.toThrow(/dropped or renamed/);
  expect((await rowsOf(catalog, { id })).length).toBe(25);
  await catalog.createTable({ id: source }, await rowsFrom(1000, 4));
  expect(await catalog.refreshMaterializedView({ id })).toMatchObject({
    mode: 'rebuild',
    rows_written: 2,
  });
  await catalog.renameTable({ id, new_table_name: 'w' });
  await catalog.insertIntoTable({ id: source }, await rowsFrom(1004, 4));
  expect(await catalog.refreshMaterializedView({ id: ['w'] })).toMatchObject({
    mode: 'incremental',
  });
  await catalog.dropTable({ id: ['w'] });
  await catalog.undropTable({ id: ['w'] });
  expect(await catalog.refreshMaterializedView({ id: ['w'] })).toMatchObject({ mode: 'no_op' });
});

test('a computed column of the source is a plain one of the view', async () => {
  const catalog = await open(memoryFs());
  await catalog.createTable({ id: source }, await rowsFrom(1, 5));
  const new_columns = [{ name: 'c', computed: 'id * 2' }];
  await catalog.alterTableAddColumns({ id: source, new_columns });
  await catalog.createMaterializedView(defined({}));
  await catalog.alterTableBackfillColumns({ id: source, column: 'c' });
  await catalog.refreshMaterializedView({ id });
  expect(await rowsOf(catalog, { id })).toEqual(await rowsOf(catalog, { id: source }));
  await expect(catalog.alterTableBackfillColumns({ id, column: 'c' })).rejects.toThrow(
    /not a computed column/,
  );
});

test.each([
  ['another kind', { kind: 'udtf' as const }, 'Unsupported'],
  ['to refresh by itself', { auto_refresh: true }, 'Unsupported'],
  ['no query', { source_query: 'SELECT 1' }, 'InvalidInput'],
  [
    'a query with more in it',
    { source_query: '{"source_table": "t", "order": 1}' },
    'InvalidInput',
  ],
  ['a source that is not there', { source_query: '{"source_table": "no"}' }, 'TableNotFound'],
  ['no columns', defined({ select: [] }), 'InvalidInput'],
  [
    'a column twice',
    defined({
      select: [
        ['a', 'id'],
        ['a', 'x'],
      ],
    }),
    'InvalidInput',
  ],
  ['ids of rows', defined({ select: [['a', '_rowid']] }), 'InvalidInput'],
  ['places of rows', defined({ filter: '_rowoffset < 3' }), 'InvalidInput'],
  ['a missing column', defined({ filter: 'nope = 1' }), 'TableColumnNotFound'],
  ['another schema', { output_schema: 'AAAA' }, 'InvalidInput'],
])('creating one with %s is refused', async (_, request, code) => {
  const catalog = await open(memoryFs());
  await catalog.createTable({ id: source }, await rowsFrom(1, 5));
  const create = catalog.createMaterializedView({ ...defined({}), ...request });
  await expect(create).rejects.toMatchObject({ code });
  expect((await catalog.listTables({ id: [] })).tables).toEqual(['t']);
});

test.each([
  ['a plain table', { id: source }, 'InvalidInput'],
  ['one that is not there', { id: ['no'] }, 'TableNotFound'],
  ['machines', { id, concurrency: 4 }, 'Unsupported'],
  ['a limit of its output', { id, output_limit: 4 }, 'InvalidInput'],
  ['a version that is not there', { id, src_version: 7 }, 'TableVersionNotFound'],
])('refreshing with %s is refused', async (_, request, code) => {
  const catalog = await setUp();
  await expect(catalog.refreshMaterializedView(request)).rejects.toMatchObject({ code });
});

test('a name is taken once, and rows come along where they are asked for', async () => {
  const catalog = await setUp();
  const again = catalog.createMaterializedView(defined({}));
  await expect(again).rejects.toMatchObject({ code: 'TableAlreadyExists' });
  const made = await catalog.createMaterializedView({
    ...defined({}),
    id: ['w'],
    with_no_data: false,
  });
  expect(made).toMatchObject({ version: 1, job_id: expect.any(String) });
  expect((await rowsOf(catalog, { id: ['w'] })).length).toBe(50);
});

test('a view whose rows cannot be computed is not there, and leaves nothing', async () => {
  const catalog = await setUp();
  const before = await catalog.verify({});
  const select = [['n', "CAST(concat(x, 'z') AS INT)"]] as const;
  const wanted = { ...defined({ select }), id: ['w'], with_no_data: false };
  await expect(catalog.createMaterializedView(wanted)).rejects.toMatchObject({
    code: 'InvalidInput',
  });
  const aborted = AbortSignal.abort(new Error('enough'));
  const left = catalog.createMaterializedView(
    { ...wanted, ...defined({}), id: ['w'] },
    { signal: aborted },
  );
  await expect(left).rejects.toThrow('enough');
  await expect(catalog.describeTable({ id: ['w'] })).rejects.toMatchObject({
    code: 'TableNotFound',
  });
  expect(await catalog.verify({})).toEqual(before);
  const made = await catalog.createMaterializedView({ ...wanted, ...defined({}), id: ['w'] });
  expect(made).toMatchObject({ version: 1 });
  const { version, schema } = await catalog.describeTable({
    id: ['w'],
    load_detailed_metadata: true,
  });
  expect([version, schema?.fields.length]).toEqual([2, 3]);
  expect((await catalog.verify({})).problems).toEqual([]);
  await catalog.insertIntoTable({ id: source }, await rowsFrom(50, 10));
  expect(await catalog.refreshMaterializedView({ id: ['w'] })).toMatchObject({
    mode: 'incremental',
  });
});
