/**
 * Whatever a table goes through, with indexes made, dropped and brought up to date in between: a
 * reader that uses them wherever it can finds the rows that a reader without them finds.
 */
import { afterAll, expect, test } from 'vitest';
import {
  Bool,
  Field,
  Float64,
  Int32,
  Int64,
  List,
  Schema,
  Struct,
  TimestampMillisecond,
  Utf8,
} from '../../../src/arrow/apache.ts';
import {
  type DirectoryNamespace,
  openDirectoryNamespace,
} from '../../../src/directory/directory-namespace.ts';
import { isDirspaceError } from '../../../src/errors.ts';
import { toRecordBatchStream } from '../../../src/sdk/convert/data.ts';
import { collectRows } from '../../../src/sdk/convert/rows.ts';
import { casesOf } from '../../helpers/long.ts';
import { memoryFs } from '../../helpers/memory-fs.ts';
import { seeded } from '../../helpers/seeded.ts';

const id = ['t'];
const small = { batchRows: 8, fragmentRows: 32, segmentRows: 64, overlayBytes: 0 };
/** Uses an index wherever one answers. */
const eager = { ...small, indexedRows: 0, indexedShare: 8 };
const never = { ...small, indexedRows: Number.POSITIVE_INFINITY };

type Random = (below: number) => number;

const SCHEMA = new Schema([
  new Field('n', new Int64(), true),
  new Field('x', new Float64(), true),
  new Field('s', new Utf8(), true),
  new Field('when', new TimestampMillisecond(), true),
  new Field('flag', new Bool(), true),
  new Field('tags', new List(new Field('item', new Utf8(), true)), true),
  new Field('nest', new Struct([new Field('in', new Int32(), true)]), true),
]);

function rows(random: Random, count: number, columns: ReadonlySet<string>) {
  return toRecordBatchStream(
    Array.from({ length: count }, () => {
      const row: Record<string, unknown> = {
        n: random(12) === 0 ? null : BigInt(random(60) - 5),
        x: random(9) === 0 ? Number.NaN : random(9) === 0 ? null : (random(20) - 10) / 2,
        s:
          random(10) === 0
            ? null
            : ['', 'a', 'ab', 'abc', 'b\u{1F600}', 'b\uFFFF', 'ba'][random(7)],
        when: new Date(1_600_000_000_000 + random(30) * 3_600_000),
        flag: random(7) === 0 ? null : random(2) === 0,
        tags: random(9) === 0 ? null : Array.from({ length: random(4) }, () => `t${random(6)}`),
        nest: random(8) === 0 ? null : { in: random(8) === 0 ? null : random(15) },
      };
      return Object.fromEntries(Object.entries(row).filter(([name]) => columns.has(name)));
    }),
    { schema: new Schema(SCHEMA.fields.filter(({ name }) => columns.has(name))) },
  );
}

const TESTS: readonly ((random: Random) => string)[] = [
  (r) => `n = ${r(60) - 5}`,
  (r) => `n IN (${r(60)}, ${r(60)}, ${r(60)}, 1000)`,
  (r) => `n BETWEEN ${r(40)} AND ${r(60)}`,
  (r) => `n > ${r(60)}`,
  (r) => `n <= ${r(30) - 6}`,
  () => 'n IS NULL',
  (r) => `x = ${(r(20) - 10) / 2}`,
  (r) => `x >= ${(r(20) - 10) / 2}`,
  () => "x = CAST('NaN' AS DOUBLE)",
  () => 'x < 0',
  (r) => `s = '${['', 'a', 'ab', 'b\u{1F600}'][r(4)]}'`,
  (r) => `s LIKE '${['a', 'ab', 'b', 'b\u{1F600}'][r(4)]}%'`,
  () => "s LIKE 'a%c'",
  () => "s LIKE 'ab'",
  () => "s > 'b'",
  (r) => `"when" >= timestamp '2020-09-1${r(4)} 00:00:00'`,
  () => 'flag',
  () => 'NOT flag',
  () => 'flag IS TRUE',
  (r) => `nest."in" = ${r(15)}`,
  (r) => `nest."in" IN (1, ${r(15)})`,
  () => 'nest."in" IS NULL',
  (r) => `array_has(tags, 't${r(7)}')`,
  (r) => `array_has_any(tags, ['t${r(6)}', 't${r(6)}'])`,
  (r) => `array_has_all(tags, ['t${r(6)}', 't${r(6)}'])`,
  () => 'n % 3 = 1',
];

function condition(random: Random, depth = 0): string {
  const kind = depth > 1 ? 9 : random(6);
  if (kind > 2) return TESTS[random(TESTS.length)]?.(random) ?? 'TRUE';
  const parts = Array.from({ length: 2 + random(2) }, () => condition(random, depth + 1));
  return `(${parts.join(kind === 0 ? ' OR ' : ' AND ')})`;
}

/** An order of some rows. */
function ordered(random: Random): object {
  const key = () => ({
    column_name: ['n', 'x', 's', 'when', 'flag', 'nest.in'][random(6)],
    ascending: random(2) === 0,
    nulls_first: random(2) === 0,
  });
  const order_by = Array.from({ length: 1 + random(2) }, key);
  return { order_by, k: 1 + random(random(2) === 0 ? 6 : 60), offset: random(3) };
}

async function usedBy(catalog: DirectoryNamespace, request: object): Promise<boolean> {
  const { version, branch } = request as { readonly version?: number; readonly branch?: string };
  const query = { id, k: 10, ...request };
  const plan = await catalog.explainTableQueryPlan({ id, query, version, branch } as never);
  return /Index: (?!none)/.test(JSON.stringify(plan));
}

const isExpected = (error: unknown): boolean =>
  isDirspaceError(error, 'TableColumnNotFound', 'InvalidInput', 'TableIndexNotFound');

async function answer(catalog: DirectoryNamespace, request: object): Promise<unknown> {
  try {
    const stream = await catalog.queryTable({ id, k: 1e6, with_row_id: true, ...request });
    const found = await collectRows(stream);
    return JSON.stringify(found, (_, value) => (typeof value === 'bigint' ? `${value}n` : value));
  } catch (error) {
    if (isExpected(error)) return 'refused';
    throw error;
  }
}

/** Queries that used an index. */
let used = 0;
/** Those of them that have an order and no condition. */
let orders = 0;
afterAll(() => {
  expect(used).toBeGreaterThan(0);
  expect(orders).toBeGreaterThan(0);
});

test.each(Array.from({ length: casesOf(2, 200) }, (_, seed) => seed))(
  'history %i',
  async (seed) => {
    const unit = seeded(seed + 1);
    const random: Random = (below) => Math.floor(unit() * below);
    const fs = memoryFs();
    const open = (limits: object): Promise<DirectoryNamespace> =>
      openDirectoryNamespace({ root: '/c', fs, durability: 'relaxed', limits });
    const [indexed, plain] = [await open(eager), await open(never)];
    const columns = new Set(['n', 'x', 's', 'when', 'flag', 'tags', 'nest']);
    await indexed.createTable({ id }, await rows(random, 40, columns));
    let branches = 0;
    const index = async (column: string): Promise<unknown> => {
      const index_type = column === 'tags' ? 'LABEL_LIST' : random(3) === 0 ? 'BITMAP' : 'BTREE';
      return indexed.createTableScalarIndex({ id, column, index_type });
    };
    const STEPS: readonly (() => Promise<unknown>)[] = [
      () => index('n'),
      () => index('tags'),
      () => index('x'),
      () => index('s'),
      () => index(['when', 'flag', 'nest.in'][random(3)] as string),
      async () => {
        const { indexes } = await indexed.listTableIndices({ id });
        const one = indexes[random(indexes.length)];
        if (one !== undefined && random(3) === 0)
          await indexed.dropTableIndex({ id, index_name: one.index_name });
      },
      async () => indexed.insertIntoTable({ id }, await rows(random, 1 + random(30), columns)),
      () => indexed.deleteFromTable({ id, predicate: condition(random) }),
      () => indexed.updateTable({ id, predicate: condition(random), updates: [['n', 'n + 1']] }),
      () => indexed.updateTable({ id, updates: [['s', "s || 'c'"]] }),
      async () =>
        indexed.mergeInsertIntoTable(
          { id, on: 'n', when_not_matched_insert_all: true },
          await rows(random, 1, columns),
        ),
      () => indexed.optimizeTable({ id }),
      async () => {
        const { versions } = await indexed.listTableVersions({ id });
        await indexed.restoreTable({
          id,
          version: versions[random(versions.length)]?.version ?? 1,
        });
      },
      async () => {
        branches += 1;
        await indexed.createTableBranch({ id, name: `b${branches}` });
      },
      async () => {
        await indexed.alterTableAlterColumns({
          id,
          alterations: [{ path: 's', rename: 'renamed' }],
        });
        await indexed.alterTableAlterColumns({
          id,
          alterations: [{ path: 'renamed', rename: 's' }],
        });
      },
      async () => {
        if (random(3) > 0) return;
        await indexed.alterTableDropColumns({ id, columns: ['s'] });
        const added = [{ name: 's', expression: "'ab'" }];
        await indexed.alterTableAddColumns({ id, new_columns: added });
      },
      () =>
        indexed.alterTableAddColumns({
          id,
          new_columns: [{ name: `c${random(99)}`, expression: 'n' }],
        }),
    ];
    for (let step = 0; step < 14; step++) {
      try {
        await STEPS[random(STEPS.length)]?.();
      } catch (error) {
        if (!isExpected(error)) throw error;
      }
      const { versions } = await indexed.listTableVersions({ id });
      for (let asked = 0; asked < 5; asked++) {
        const request = {
          ...(random(3) > 0 ? { filter: condition(random) } : {}),
          ...(random(2) === 0 ? ordered(random) : {}),
          ...(random(5) === 0 ? { version: versions[random(versions.length)]?.version } : {}),
          ...(random(5) === 0 && branches > 0
            ? { branch: `b${branches}`, version: undefined }
            : {}),
        };
        const where = JSON.stringify({ seed, step, ...request });
        const expected = await answer(plain, request);
        expect(await answer(indexed, request), where).toBe(expected);
        if (expected === 'refused') continue;
        const usesIndex = await usedBy(indexed, request);
        if (usesIndex) used += 1;
        if (usesIndex && request.filter === undefined) orders += 1;
        if (request.filter === undefined) continue;
        const { filter: predicate, version, branch } = request as Record<string, unknown>;
        const at = { version, branch };
        const counted = { id, predicate, ...at } as never;
        expect(await indexed.countTableRows(counted), where).toEqual(
          await plain.countTableRows(counted),
        );
      }
    }
    const { problems, leftovers } = await indexed.verify({});
    expect(problems).toEqual([]);
    expect(leftovers).toEqual([]);
  },
);
