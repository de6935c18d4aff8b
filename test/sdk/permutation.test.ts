/** Permutations of rows, and sources of batches, as LanceDB's SDK has them. */
import * as arrow18 from 'apache-arrow-18';
import { beforeEach, expect, test } from 'vitest';
import { connect } from '../../src/sdk/connect.ts';
import type { Connection } from '../../src/sdk/connection.ts';
import { makeArrowTable } from '../../src/sdk/convert/index.ts';
import { permutationBuilder } from '../../src/sdk/permutation.ts';
import { Scannable } from '../../src/sdk/scannable.ts';
import type { Table } from '../../src/sdk/table/index.ts';

let db: Connection;
let table: Table;
beforeEach(async () => {
  db = await connect('memory://');
  const rows = Array.from({ length: 12 }, (_, id) => ({ id, k: `k${id % 3}` }));
  table = await db.createTable('t', rows);
});

const builder = () => permutationBuilder(table);

async function shown(made: { execute(): Promise<Table> }): Promise<string> {
  const rows = await (await made.execute()).query().toArray();
  return rows.map(({ row_id, split_id }) => `${row_id}:${split_id}`).join(' ');
}

const sorted = (text: string): string[] =>
  text
    .split(' ')
    .map((one) => one.split(':')[0] as string)
    .sort();

test.each([
  [{ ratios: [0.5, 0.25] }, '0:0 1:0 2:0 3:0 4:0 5:0 6:1 7:1 8:1'],
  [{ ratios: [0.7, 0.3] }, '0:0 1:0 2:0 3:0 4:0 5:0 6:0 7:0 8:1 9:1 10:1 11:1'],
  [{ counts: [3, 4] }, '0:0 1:0 2:0 3:1 4:1 5:1 6:1'],
  [{ fixed: 5 }, '0:0 1:0 2:1 3:1 4:2 5:2 6:3 7:3 8:4 9:4'],
])('splits one after the other: %o', async (options, expected) => {
  expect(await shown(builder().splitSequential(options))).toBe(expected);
});

test('the table names the version and the splits', async () => {
  await table.add([{ id: 12, k: 'k' }]);
  const names = ['train', 'test'];
  const made = await builder().splitSequential({ fixed: 2, splitNames: names }).execute();
  const schema = await made.schema();
  expect(schema.fields.map(String)).toEqual(['row_id: Uint64', 'split_id: Uint64']);
  expect([...schema.metadata].sort()).toEqual([
    ['base_version', '2'],
    ['split_names', '["train","test"]'],
  ]);
  expect([made.name, await db.tableNames()]).toEqual(['permutation', ['t']]);
  const kept = await builder().filter('id >= 6').persist(db, 'kept').execute();
  expect([kept.name, await kept.countRows(), await db.tableNames()]).toEqual([
    'kept',
    7,
    ['kept', 't'],
  ]);
  const [first] = await kept.query().toArray();
  expect(await table.takeRowIds([first.row_id]).toArray()).toMatchObject([{ id: 6 }]);
});

test('an order at random is the same for the same seed, and clumps stay together', async () => {
  const all = sorted(await shown(builder()));
  const [one, again, other] = [
    await shown(builder().shuffle({ seed: 1 })),
    await shown(builder().shuffle({ seed: 1 })),
    await shown(builder().shuffle({ seed: 2 })),
  ];
  expect(one).toBe(again);
  expect(one).not.toBe(other);
  expect([sorted(one), sorted(other)]).toEqual([all, all]);
  const clumps = (await shown(builder().shuffle({ seed: 4, clumpSize: 3 })))
    .split(' ')
    .map((x) => Number.parseInt(x, 10));
  for (let at = 0; at < 12; at += 3) {
    const first = clumps[at] as number;
    expect(clumps.slice(at, at + 3)).toEqual([first, first + 1, first + 2]);
  }
  expect(clumps).not.toEqual([...clumps].sort((a, b) => a - b));
  const split = (
    await shown(
      builder()
        .splitRandom({ ratios: [0.75, 0.25], seed: 5 })
        .shuffle({ seed: 6 }),
    )
  ).split(' ');
  expect(split.map((x) => x.split(':')[1]).join('')).toBe('000000000111');
  expect(sorted(split.join(' '))).toEqual(all);
});

test('splits by values: equal ones are together, and a weight may be left out', async () => {
  const hash = { columns: ['k'], splitWeights: [1, 1] };
  const rows = (await shown(builder().splitHash(hash))).split(' ');
  const splitOf = new Map<number, string>();
  for (const row of rows) {
    const [id, split] = row.split(':') as [string, string];
    expect(splitOf.get(Number(id) % 3) ?? split).toBe(split);
    splitOf.set(Number(id) % 3, split);
  }
  expect(rows).toHaveLength(12);
  const ids = { columns: ['id'], splitWeights: [1], discardWeight: 1 };
  const kept = (await shown(builder().splitHash(ids))).split(' ');
  expect(kept.length).toBeGreaterThan(0);
  expect(kept.length).toBeLessThan(12);
  expect(await shown(builder().splitCalculated({ calculation: 'CAST(id AS BIGINT) % 2' }))).toBe(
    '0:0 1:1 2:0 3:1 4:0 5:1 6:0 7:1 8:0 9:1 10:0 11:1',
  );
});

test('splits that there cannot be are refused', async () => {
  for (const options of [
    {},
    { fixed: 2, counts: [1] },
    { ratios: [0.9, 0.5] },
    { ratios: [-1] },
    { fixed: 0 },
    { counts: [1.5] },
  ]) {
    expect(() => builder().splitSequential(options)).toThrow();
  }
  expect(() => builder().splitSequential({ fixed: 2, splitNames: ['a'] })).toThrow('2 splits');
  expect(() => builder().splitRandom({ fixed: 2, sed: 1 } as never)).toThrow('"sed"');
  expect(() => builder().splitHash({ columns: ['k'], splitWeights: [0] })).toThrow('weight');
  for (const options of [
    { columns: ['k'] },
    { splitWeights: [1] },
    { columns: ['k'], splitWeights: [] },
  ]) {
    expect(() => builder().splitHash(options as never)).toThrow('splitHash takes names of columns');
  }
  await expect(
    builder()
      .splitSequential({ counts: [30] })
      .execute(),
  ).rejects.toThrow('30 rows');
  await expect(builder().splitCalculated({ calculation: 'id - 2' }).execute()).rejects.toThrow(
    'gives -2',
  );
  await expect(builder().shuffle({ clumpSize: 0 }).execute()).rejects.toThrow('clumpSize');
});

test('batches are taken from a Scannable, of any copy of Arrow', async () => {
  const source = arrow18.tableFromArrays({ id: Float64Array.of(20, 21), k: ['a', 'b'] });
  const given = await Scannable.fromTable(source);
  expect([given.numRows, given.rescannable, given.schema.fields.map(String)]).toMatchObject([
    2,
    true,
    ['id: Float64', 'k: Dictionary<Int32, Utf8>'],
  ]);
  const made = makeArrowTable([{ id: 30, k: 'x' }]);
  await table.add(await Scannable.fromTable(made));
  let opened = 0;
  const factory = await Scannable.fromFactory(made.schema, () => {
    opened++;
    return made.batches[Symbol.iterator]();
  });
  await table.add(factory);
  await table.add(factory);
  expect([opened, await table.countRows()]).toEqual([2, 15]);
  const once = await Scannable.fromIterable(made.schema, made.batches, { numRows: 9 });
  expect([once.numRows, once.rescannable]).toEqual([9, false]);
  await table.add(once);
  await expect(table.add(once)).rejects.toThrow('scanned already');
  const reader = arrow18.RecordBatchReader.from(arrow18.tableToIPC(source, 'stream'));
  const read = await Scannable.fromRecordBatchReader(reader);
  const other = await db.createTable('other', read);
  expect((await other.query().toArray()).map(({ id, k }) => [id, k])).toEqual([
    [20, 'a'],
    [21, 'b'],
  ]);
  await expect(Scannable.fromTable(made, { numRows: 3 })).rejects.toThrow('1 rows');
  await expect(Scannable.fromTable(made, { rescannable: false })).rejects.toThrow('scanned again');
});

test('what is its own iterator cannot be said to be rescannable', async () => {
  const { schema, batches } = makeArrowTable([{ id: 30 }]);
  const rescannable = true;
  const again = { [Symbol.iterator]: () => batches.values() };
  for (const many of [batches, new Set(batches), again]) {
    const source = await Scannable.fromIterable(schema, many, { rescannable });
    const one = await db.createTable('many', source, { mode: 'overwrite' });
    await one.add(source);
    expect(await one.countRows()).toBe(2);
  }
  let read = 0;
  function* generated() {
    read++;
    yield* batches;
  }
  async function* awaited() {
    yield* generated();
  }
  const bare = { next: () => ({ done: true, value: undefined }) } as never;
  for (const once of [generated(), awaited(), batches.values(), bare]) {
    await expect(Scannable.fromIterable(schema, once, { rescannable })).rejects.toThrow('one-shot');
    expect((await Scannable.fromIterable(schema, once)).rescannable).toBe(false);
  }
  expect(read).toBe(0);
  const reader = arrow18.RecordBatchReader.from(
    arrow18.tableToIPC(arrow18.tableFromArrays({ id: Float64Array.of(1) })),
  );
  await expect(Scannable.fromRecordBatchReader(reader, { rescannable })).rejects.toThrow(
    'does not accept rescannable',
  );
});

test('rows and version belong together while others commit', async () => {
  let commits = 1;
  const query = table.query.bind(table);
  table.query = () => {
    const made = query();
    const toArray = made.toArray.bind(made) as () => Promise<never[]>;
    made.toArray = async () => {
      if (commits-- > 0) await table.add([{ id: 99, k: 'k' }]);
      return toArray();
    };
    return made;
  };
  const made = await builder().execute();
  expect([(await made.schema()).metadata.get('base_version'), await made.countRows()]).toEqual([
    '2',
    13,
  ]);
  commits = 5;
  await expect(builder().execute()).rejects.toMatchObject({ code: 'ConcurrentModification' });
});

test('the columns that splits go by may have the name of the row ids', async () => {
  const rows = Array.from({ length: 6 }, (_, id) => ({ row_id: 100 + id }));
  const named = await db.createTable('named', rows);
  const split = permutationBuilder(named).splitHash({ columns: ['row_id'], splitWeights: [1] });
  const ids = sorted(await shown(split));
  expect(ids).toEqual(['0', '1', '2', '3', '4', '5']);
});
