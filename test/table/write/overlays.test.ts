/**
 * Columns that are written beside their fragment: whatever was added, updated, deleted, compacted or
 * restored before, every reader finds the rows that a plain list of them has.
 */
import { expect, test, vi } from 'vitest';
import {
  type DirectoryNamespace,
  openDirectoryNamespace,
} from '../../../src/directory/directory-namespace.ts';
import { toRecordBatchStream } from '../../../src/sdk/convert/data.ts';
import { collectRows } from '../../../src/sdk/convert/rows.ts';
import { Scratch } from '../../../src/table/work/scratch.ts';
import { casesOf } from '../../helpers/long.ts';
import { memoryFs, type TestFs } from '../../helpers/memory-fs.ts';
import { people } from '../../helpers/people.ts';
import { seeded } from '../../helpers/seeded.ts';

const id = ['t'];
const limits = { overlayBytes: 0, batchRows: 8, fragmentRows: 32 };
const open = (fs: TestFs, fragmentRows = limits.fragmentRows): Promise<DirectoryNamespace> =>
  openDirectoryNamespace({
    root: '/c',
    fs,
    durability: 'relaxed',
    limits: { ...limits, fragmentRows },
  });

interface Row {
  readonly id: number;
  x: number | null;
  s: string | null;
  n: { a: number | null; b: string | null };
  [extra: string]: unknown;
}

const rowsFrom = (from: number, count: number): Row[] =>
  Array.from({ length: count }, (_, at) => ({
    id: from + at,
    x: (from + at) % 7 === 0 ? null : from + at,
    s: `s${from + at}`.repeat(1 + (at % 3)),
    n: { a: at, b: at % 5 === 0 ? null : `b${at}` },
  }));

type Entry = Readonly<Record<string, unknown>> & {
  readonly id: number;
  readonly fields: number[];
  readonly overlays?: readonly { readonly file: string; readonly columns: number }[];
};

/** The newest manifest as it lies on the disk. */
function manifestOf(fs: TestFs): { readonly features: string[]; readonly fragments: Entry[] } {
  const table = '/c/data/t.table';
  const names = fs.readdirSync(table) as string[];
  const folder = `${table}/${names.find((name) => name.startsWith('versions-'))}`;
  const files = (fs.readdirSync(folder) as string[]).filter((name) => /^\d+\.json$/.test(name));
  return JSON.parse(String(fs.readFileSync(`${folder}/${files.sort().at(-1)}`))) as never;
}

const overlaysOf = (fs: TestFs): number[] =>
  manifestOf(fs).fragments.map(({ overlays }) => overlays?.length ?? 0);

async function read(
  catalog: DirectoryNamespace,
  request: Record<string, unknown> = {},
): Promise<Row[]> {
  const stream = await catalog.queryTable({ id, k: 1e6, ...request });
  return (await collectRows(stream)) as never;
}

const create = async (catalog: DirectoryNamespace, count = 70): Promise<void> => {
  await catalog.createTable({ id }, await toRecordBatchStream(rowsFrom(0, count)));
};

test('a computed column lies beside its fragment, which stays as it is', async () => {
  const fs = memoryFs();
  const catalog = await open(fs);
  await create(catalog);
  const before = manifestOf(fs);
  await catalog.alterTableAddColumns({ id, new_columns: [{ name: 'y', expression: 'x * 2' }] });
  const after = manifestOf(fs);
  expect(after.features).toEqual(['lance', 'overlays']);
  expect(overlaysOf(fs)).toEqual([1, 1, 1]);
  const filesOf = ({ fragments }: typeof before) => fragments.map(({ file }) => file);
  expect(filesOf(after)).toEqual(filesOf(before));
  expect((await read(catalog)).map(({ y }) => y)).toEqual(
    rowsFrom(0, 70).map(({ x }) => (x === null ? null : x * 2)),
  );
  await catalog.optimizeTable({ id });
  expect(manifestOf(fs).features).toEqual(['lance']);
  expect((await catalog.verify({})).problems).toEqual([]);
});

test.each([
  [40, 0],
  [900, 1],
])(
  'of %d rows of 60 bytes %d gets an overlay where a column is added, none where one is updated',
  async (count, overlays) => {
    const fs = memoryFs();
    const catalog = await openDirectoryNamespace({ root: '/c', fs, durability: 'relaxed' });
    await create(catalog, count);
    expect(manifestOf(fs).fragments[0]?.bytes).toBeLessThan(1 << 18);
    await catalog.updateTable({ id, updates: [['x', 'x + 1']] });
    expect(overlaysOf(fs)).toEqual([0]);
    await catalog.alterTableAddColumns({ id, new_columns: [{ name: 'y', expression: 'x * 2' }] });
    expect(overlaysOf(fs)).toEqual([overlays]);
    expect((await read(catalog)).map(({ y }) => y)).toEqual(
      rowsFrom(0, count).map(({ x }) => (x === null ? null : (x + 1) * 2)),
    );
  },
);

test.each([0, 1 << 30])(
  'columns with values beside new ones of nulls, with overlays from %d bytes on',
  async (overlayBytes) => {
    const catalog = await openDirectoryNamespace({
      root: '/c',
      fs: memoryFs(),
      durability: 'relaxed',
      limits: { ...limits, overlayBytes },
    });
    await create(catalog, 20);
    await catalog.deleteFromTable({ id, predicate: 'id = 2' });
    const new_columns = [
      { name: 'none', expression: 'CAST(NULL AS BIGINT)' },
      { name: 'y', expression: 'x * 2' },
      { name: 'n.c', expression: 'id' },
      { name: 'empty', expression: 'CAST(NULL AS STRING)' },
    ];
    await catalog.alterTableAddColumns({ id, new_columns });
    expect(await read(catalog)).toEqual(
      rowsFrom(0, 20)
        .filter((row) => row.id !== 2)
        .map((row) => ({
          ...row,
          none: null,
          y: row.x === null ? null : row.x * 2,
          n: { ...row.n, c: row.id },
          empty: null,
        })),
    );
    expect((await catalog.verify({})).problems).toEqual([]);
  },
);

test('an update of many rows keeps their ids, one of few moves them', async () => {
  const fs = memoryFs();
  const catalog = await open(fs, 400);
  await create(catalog, 320);
  const ids = async () => (await read(catalog, { with_row_id: true })).map((row) => row._rowid);
  const first = await ids();
  await catalog.updateTable({ id, updates: [['x', 'id * 10']], predicate: 'id % 2 = 0' });
  expect(await ids()).toEqual(first);
  expect(overlaysOf(fs)).toEqual([1]);
  // A second one of the same column takes the place of the first.
  await catalog.updateTable({ id, updates: [['x', 'x + 1']] });
  expect(overlaysOf(fs)).toEqual([1]);
  await catalog.updateTable({ id, updates: [['s', "'few'"]], predicate: 'id = 33' });
  expect((await ids()).slice(0, -1)).toEqual(first.filter((_, at) => at !== 33));
  const rows = await read(catalog, { filter: 'id IN (32, 33)' });
  expect(rows.map(({ x, s }) => [x, s])).toEqual([
    [321, 's32s32s32'],
    [34, 'few'],
  ]);
});

test('a column of another type lies beside its fragment, and takes the place of the narrow one', async () => {
  const fs = memoryFs();
  const catalog = await open(fs);
  await create(catalog);
  const new_columns = [{ name: 'y', expression: 'CAST(id AS INT)' }];
  await catalog.alterTableAddColumns({ id, new_columns });
  const before = await read(catalog);
  const alterations = [{ path: 'y', rename: 'z', data_type: { type: 'int64' } }];
  await catalog.alterTableAlterColumns({ id, alterations });
  expect(
    manifestOf(fs).fragments.map(({ overlays }) => overlays?.map((one) => one.columns)),
  ).toEqual([[1], [1], [1]]);
  expect(await read(catalog)).toEqual(
    before.map(({ y, ...row }) => ({ ...row, z: BigInt(row.id) })),
  );
  const filter = 'z > 60';
  expect(await read(catalog, { filter })).toHaveLength(before.filter((row) => row.id > 60).length);
  expect((await catalog.verify({})).problems).toEqual([]);
});

test('memory that columns were read into is used again only after they are written', async () => {
  const give = Scratch.prototype.give;
  let given = 0;
  const poisoned = vi.spyOn(Scratch.prototype, 'give').mockImplementation(function (
    this: Scratch,
    buffer,
  ) {
    given += 1;
    buffer.fill(0xa5);
    give.call(this, buffer);
  });
  try {
    const catalog = await openDirectoryNamespace({
      root: '/c',
      fs: memoryFs(),
      durability: 'relaxed',
      limits: { overlayBytes: 0, batchRows: 2_000 },
    });
    // Fragments beyond 16 KiB, of which columns are read one by one.
    const rows = Array.from({ length: 6_000 }, (_, at) => ({ id: at, x: at / 2, s: `s${at % 9}` }));
    await catalog.createTable({ id }, await toRecordBatchStream(rows));
    const same = async (expected: readonly object[]): Promise<void> => {
      // Compared as text: one comparison, where objects take many.
      expect(JSON.stringify(await read(catalog))).toBe(JSON.stringify(expected));
    };
    const new_columns = [
      { name: 'y', expression: 'x * 2' },
      { name: 't', expression: 's' },
    ];
    await catalog.alterTableAddColumns({ id, new_columns });
    const wider = rows.map((row) => ({ ...row, y: row.x * 2, t: row.s }));
    await same(wider);
    await catalog.updateTable({ id, updates: [['x', 'x + 1']], predicate: 'id % 10 = 3' });
    const some = wider.map((row) => (row.id % 10 === 3 ? { ...row, x: row.x + 1 } : row));
    await same(some);
    await catalog.updateTable({
      id,
      updates: [
        ['x', 'y'],
        ['s', "concat(s, '!')"],
      ],
      predicate: 'id < 2000 OR id > 5000',
    });
    await same(
      some.map((row) =>
        row.id < 2_000 || row.id > 5_000 ? { ...row, x: row.y, s: `${row.s}!` } : row,
      ),
    );
    expect(given).toBeGreaterThan(10);
    expect((await catalog.verify({})).problems).toEqual([]);
  } finally {
    poisoned.mockRestore();
  }
});

test('few rows move, however small the column that is set', async () => {
  const fs = memoryFs();
  const catalog = await open(fs, 400);
  const rows = Array.from({ length: 320 }, (_, at) => ({ id: at, x: at, long: 'l'.repeat(200) }));
  await catalog.createTable({ id }, await toRecordBatchStream(rows));
  await catalog.updateTable({ id, updates: [['x', '-1']], predicate: 'id IN (33, 34)' });
  expect(overlaysOf(fs)).toEqual([0, 0]);
  await catalog.updateTable({ id, updates: [['x', '-2']], predicate: 'id % 10 = 0' });
  expect(overlaysOf(fs)).toEqual([1, 0]);
  const found = (await read(catalog)).filter(({ x }) => Number(x) < 0);
  expect(found).toHaveLength(34);
});

test('columns beside a fragment have its batches, whatever the limits are by then', async () => {
  const fs = memoryFs();
  await create(await open(fs));
  const later = await openDirectoryNamespace({
    root: '/c',
    fs,
    durability: 'relaxed',
    limits: { ...limits, batchRows: 20 },
  });
  await later.alterTableAddColumns({ id, new_columns: [{ name: 'y', expression: 'id + 1' }] });
  await later.updateTable({ id, updates: [['x', 'id']], predicate: 'id % 2 = 0' });
  expect(overlaysOf(fs)).toEqual([2, 2, 2]);
  const found = await read(await open(fs));
  expect(found.map(({ y }) => Number(y))).toEqual(found.map((row) => Number(row.id) + 1));
  expect(found).toHaveLength(70);
});

test('a fragment with many overlays is written anew', async () => {
  const fs = memoryFs();
  const catalog = await open(fs);
  await create(catalog, 20);
  const counts: (number | undefined)[] = [];
  for (let at = 0; at < 10; at++) {
    const new_columns = [{ name: `y${at}`, expression: `id + ${at}` }];
    await catalog.alterTableAddColumns({ id, new_columns });
    counts.push(overlaysOf(fs)[0]);
  }
  expect(counts).toEqual([1, 2, 3, 4, 5, 6, 7, 8, 0, 1]);
  const [row] = await read(catalog, { filter: 'id = 7' });
  expect(row).toMatchObject({ y0: 7, y7: 14, y9: 16 });
});

test('small fragments are written anew with their new columns', async () => {
  const fs = memoryFs();
  const catalog = await openDirectoryNamespace({ root: '/c', fs, durability: 'relaxed' });
  await create(catalog);
  await catalog.alterTableAddColumns({ id, new_columns: [{ name: 'y', expression: 'x * 2' }] });
  await catalog.updateTable({ id, updates: [['x', '1']] });
  expect(manifestOf(fs).features).toEqual(['lance']);
});

test('values that a column refuses change nothing, and leave no file', async () => {
  const fs = memoryFs();
  const catalog = await open(fs);
  await create(catalog);
  await catalog.deleteFromTable({ id, predicate: 'x IS NULL' });
  await catalog.alterTableAlterColumns({ id, alterations: [{ path: 'x', nullable: false }] });
  const files = () => (fs.readdirSync('/c/data/t.table/data') as string[]).length;
  const before = files();
  const bad = catalog.updateTable({
    id,
    updates: [['x', 'CASE WHEN id = 60 THEN NULL ELSE 1 END']],
  });
  await expect(bad).rejects.toMatchObject({ code: 'TableSchemaValidation' });
  expect(files()).toBe(before);
  // Deleted rows of the column hold nulls: they cannot be written again, so rows move.
  await catalog.updateTable({ id, updates: [['x', 'id']] });
  expect((await read(catalog)).every((row) => row.x === row.id)).toBe(true);
  expect((await catalog.verify({})).problems).toEqual([]);
});

test('damage of an overlay is found by readers of its columns, and by verify', async () => {
  const fs = memoryFs();
  const catalog = await open(fs);
  await create(catalog, 20);
  await catalog.alterTableAddColumns({ id, new_columns: [{ name: 'y', expression: 'x * 2' }] });
  const expected = JSON.stringify(await read(catalog));
  const path = `/c/data/t.table/data/${manifestOf(fs).fragments[0]?.overlays?.[0]?.file}.arrow`;
  const bytes = new Uint8Array(fs.readFileSync(path) as Buffer);
  const outcome = async (): Promise<[rows: string, problems: number]> => {
    const fresh = await open(fs);
    const found = await read(fresh).then(JSON.stringify, (error) => error.code as string);
    const { problems } = await fresh.verify({});
    await fresh.close();
    return [found, problems.length];
  };
  for (let at = 0; at < bytes.length; at += 37) {
    const changed = bytes.slice();
    changed[at] = (changed[at] as number) ^ (1 << (at % 8));
    fs.writeFileSync(path, changed);
    const [found, problems] = await outcome();
    expect(['Corrupt', expected]).toContain(found);
    expect(problems, `byte ${at}`).toBeGreaterThan(0);
  }
  fs.unlinkSync(path);
  expect(await outcome()).toEqual(['Corrupt', 1]);
  expect(await read(await open(fs), { columns: { column_names: ['s'] } }).catch(() => 'lost')).toBe(
    'lost',
  );
});

/** What a change does to plain rows. Rows that move come last. */
interface Model {
  rows: Row[];
  columns: string[];
}

const sorted = (rows: readonly Row[]): Row[] => [...rows].sort((a, b) => a.id - b.id);

async function change(
  catalog: DirectoryNamespace,
  model: Model,
  random: () => number,
  step: number,
): Promise<Model> {
  const below = (limit: number): number => Math.floor(random() * limit);
  const { rows } = model;
  const k = 1 + below(4);
  switch (below(10)) {
    case 0: {
      const added = rowsFrom(1000 * (step + 1), 2 + below(40));
      await catalog.insertIntoTable({ id }, await toRecordBatchStream(added));
      return { ...model, rows: [...rows, ...added] };
    }
    case 1:
      await catalog.deleteFromTable({ id, predicate: `id % 9 = ${k}` });
      return { ...model, rows: rows.filter((row) => row.id % 9 !== k) };
    case 2:
    case 3:
      await catalog.updateTable({ id, updates: [['x', 'id + 5']], predicate: `id % ${k} = 0` });
      return {
        ...model,
        rows: rows.map((row) => (row.id % k === 0 ? { ...row, x: row.id + 5 } : row)),
      };
    case 4: {
      const updates: [string, string][] = [
        ['n.a', 'x'],
        ['s', "concat(s, '!')"],
      ];
      await catalog.updateTable({ id, updates, predicate: `id % ${k} < 2` });
      const set = (row: Row): Row => ({
        ...row,
        n: { ...row.n, a: row.x },
        s: row.s === null ? '!' : `${row.s}!`,
      });
      return { ...model, rows: rows.map((row) => (row.id % k < 2 ? set(row) : row)) };
    }
    case 5:
    case 6: {
      const name = `y${step}`;
      const new_columns = [{ name, expression: 'CAST(x * 2 AS INT)' }];
      await catalog.alterTableAddColumns({ id, new_columns });
      const y = ({ x }: Row) => (x === null ? null : x * 2);
      return {
        columns: [...model.columns, name],
        rows: rows.map((row) => ({ ...row, [name]: y(row) })),
      };
    }
    case 7: {
      const [name] = model.columns;
      if (name === undefined) return model;
      await catalog.alterTableDropColumns({ id, columns: [name] });
      const dropped = rows.map(({ [name]: _, ...row }) => row as Row);
      return { columns: model.columns.slice(1), rows: dropped };
    }
    case 8: {
      const path = model.columns.at(-1);
      if (path !== undefined)
        await catalog.alterTableAlterColumns({
          id,
          alterations: [{ path, data_type: { type: 'int64' } }],
        });
      return model;
    }
    default:
      await catalog.optimizeTable({ id });
      return model;
  }
}

const plain = (rows: readonly Row[], columns: readonly string[]): unknown[] =>
  sorted(rows).map((row) => ({
    id: Number(row.id),
    x: row.x === null ? null : Number(row.x),
    s: row.s,
    n: { a: row.n.a === null ? null : Number(row.n.a), b: row.n.b },
    ...Object.fromEntries(
      columns.map((name) => [name, row[name] == null ? null : Number(row[name])]),
    ),
  }));

test.each(Array.from({ length: casesOf(4, 60) }, (_, seed) => seed))(
  'history %i: scans, filters, counts, orders and takes find the same rows',
  async (seed) => {
    const random = seeded(900 + seed);
    const fs = memoryFs();
    let catalog = await open(fs);
    await create(catalog);
    let model: Model = { rows: rowsFrom(0, 70), columns: [] };
    const versions = new Map<number, Model>();
    let most = 0;
    for (let step = 0; step < 9; step++) {
      model = await change(catalog, model, random, step);
      const { columns, rows } = model;
      most = Math.max(most, ...overlaysOf(fs));
      const { version } = (await catalog.describeTableVersion({ id })).version;
      versions.set(version, model);
      if (step % 3 === 2) catalog = await open(fs);
      const found = await read(catalog);
      expect(plain(found, columns)).toEqual(plain(rows, columns));
      const filter = 'x > 20 AND x < 60';
      const matching = rows.filter(({ x }) => x !== null && x > 20 && x < 60);
      expect(plain(await read(catalog, { filter }), columns)).toEqual(plain(matching, columns));
      const { count } = await catalog.countTableRows({ id, predicate: 'x = 25' });
      expect(count).toBe(rows.filter(({ x }) => x === 25).length);
      const top = await read(catalog, {
        k: 3,
        order_by: [{ column_name: 'x', ascending: false, nulls_first: false }],
      });
      const xs = rows.flatMap(({ x }) => x ?? []).sort((a, b) => b - a);
      expect(top.map(({ x }) => Number(x))).toEqual(xs.slice(0, 3));
      const offsets = [0, Math.floor(rows.length / 2)].map(BigInt);
      const taken = (await collectRows(
        await catalog.takeRows({ id, offsets }),
      )) as unknown as Row[];
      expect(plain(taken, columns)).toEqual(
        plain(
          offsets.map((at) => found[Number(at)] as Row),
          columns,
        ),
      );
    }
    expect((await catalog.verify({})).problems).toEqual([]);
    await catalog.optimizeTable({
      id,
      compact: false,
      cleanup_older_than_millis: 0,
      orphan_grace_millis: 0,
    });
    expect(plain(await read(await open(fs)), model.columns)).toEqual(
      plain(model.rows, model.columns),
    );
    expect((await catalog.verify({})).problems).toEqual([]);
    expect(most).toBeGreaterThan(0);
  },
);

test('beside each other, each change is whole and sees the other or does not', async () => {
  for (let seed = 0; seed < casesOf(4, 40); seed++) {
    const fs = memoryFs();
    const [one, two] = [await open(fs), await open(fs)];
    await create(one);
    const more = await toRecordBatchStream(rowsFrom(200, 20));
    const others: (() => Promise<unknown>)[] = [
      () => two.updateTable({ id, updates: [['x', '1000 + id']] }),
      () => two.deleteFromTable({ id, predicate: 'id % 3 = 0' }),
      () => two.insertIntoTable({ id }, more),
      () => two.optimizeTable({ id }),
      () => two.alterTableAddColumns({ id, new_columns: [{ name: 'z', expression: 'id' }] }),
    ];
    const other = others[seed % others.length] as () => Promise<unknown>;
    await Promise.all([
      one.alterTableAddColumns({ id, new_columns: [{ name: 'y', expression: 'x * 2' }] }),
      other(),
    ]);
    await Promise.all([
      one.updateTable({ id, updates: [['s', "'new'"]], predicate: 'id % 2 = 0' }),
      two.updateTable({ id, updates: [['s', "concat(s, '?')"]] }),
    ]);
    const rows = await read(await open(fs));
    const isNew = (row: Row) => row.x !== null && row.x >= 1000;
    const doubled = (row: Row) => row.y == null || Number(row.y) === 2 * Number(row.x);
    const first = rows.filter(isNew).every((row) => Number(row.y) === 2 * Number(row.x));
    // Either the column was computed from all old values, or from all new ones.
    if (first) expect(rows.every(doubled), `seed ${seed}`).toBe(true);
    else
      expect(
        rows.every(
          (row) =>
            !isNew(row) ||
            Number(row.y ?? 2 * (Number(row.x) - 1000)) === 2 * (Number(row.x) - 1000),
        ),
        `seed ${seed}`,
      ).toBe(true);
    const even = rows.filter((row) => row.id % 2 === 0).map(({ s }) => s);
    expect(['new', 'new?']).toContain(even[0]);
    expect(new Set(even).size, `seed ${seed}`).toBe(1);
    expect(rows.every((row) => row.id % 2 === 0 || row.s?.endsWith('?'))).toBe(true);
    expect((await one.verify({})).problems).toEqual([]);
  }
});

test('columns of codes in several files of a fragment are read as one', async () => {
  const catalog = await open(memoryFs());
  await catalog.createTable({ id }, people(20));
  await catalog.updateTable({ id, updates: [['name', "name || '!'"]] });
  const found = await read(catalog, { filter: 'id = 7' });
  expect(found).toEqual([{ id: 7, name: 'name 7!' }]);
});

test('a struct that becomes null in some rows is not written beside its fragment', async () => {
  const fs = memoryFs();
  const catalog = await open(fs);
  await create(catalog);
  const nulls = { id, updates: [['n', 'NULL']], predicate: 'id % 2 = 0' };
  await catalog.updateTable(nulls as never);
  expect(overlaysOf(fs)).not.toContain(1);
  await catalog.updateTable({ id, updates: [['n.a', '7']], predicate: 'id % 5 = 0' } as never);
  const { lance } = await catalog.describeTable({ id, load_detailed_metadata: true });
  expect(lance).toEqual({ opens: true });
  const rows = (await read(catalog)).sort((one, other) => one.id - other.id);
  for (const { id, n } of rows) {
    if (id % 2 === 0) expect(n).toBe(null);
    else expect(n.a).toBe(id % 5 === 0 ? 7 : id);
  }
});
