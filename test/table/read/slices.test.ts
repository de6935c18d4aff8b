/** Costly expressions are evaluated a slice at a time, with the same outcome, and can be ended there. */
import { beforeAll, describe, expect, test } from 'vitest';
import { DataType, Dictionary, Field, Int32, Schema, Utf8 } from '../../../src/arrow/apache.ts';
import { openDirectoryNamespace } from '../../../src/directory/directory-namespace.ts';
import { systemEnv } from '../../../src/env.ts';
import { connect } from '../../../src/index.ts';
import type { Table } from '../../../src/sdk/table/table.ts';
import { compilePredicate } from '../../../src/sql/expression.ts';
import { sliceRows } from '../../../src/table/read/slices.ts';
import { nextTurn } from '../../../src/table/work/turn.ts';
import { memoryFs } from '../../helpers/memory-fs.ts';
import { temporaryFolder } from '../../helpers/temporary.ts';

const ROWS = 5000;
const schema = new Schema([
  new Field('id', new Int32(), true),
  new Field('s', new Utf8(), true),
  new Field('d', new Dictionary(new Utf8(), new Int32()), true),
]);
const rows = Array.from({ length: ROWS }, (_, id) => ({
  id,
  s: id % 11 === 0 ? null : `t${id}`,
  d: id % 13 === 0 ? null : `d${id % 17}`,
}));
/** True for every row that has a text, and costly. */
const COSTLY = Array.from({ length: 120 }, (_, at) => `upper(s) <> 'A${at}'`).join(' AND ');
const VALUE = `${Array.from({ length: 60 }, () => 'upper(lower(s))').join(' || ')} || d`;
const expectedValue = ({ s, d }: { s: string | null; d: string | null }): string | null =>
  s === null || d === null ? null : `${s.toUpperCase().repeat(60)}${d}`;

/** A table with deleted rows in two fragments, whose clock finds every turn over. */
async function made(): Promise<{ table: Table; left: typeof rows }> {
  let now = 0;
  const env = { ...systemEnv, now: () => (now += 10) };
  const db = await connect('/root', { fs: memoryFs(), env });
  const table = await db.createTable('t', rows.slice(0, 3000), undefined, { schema });
  await table.add(rows.slice(3000));
  await table.delete('id % 5 = 1');
  return { table, left: rows.filter(({ id }) => id % 5 !== 1) };
}

const idsOf = (found: readonly { readonly id: number }[]): number[] => found.map(({ id }) => id);

test('the expressions of this test are evaluated in slices', async () => {
  const costly = await compilePredicate(COSTLY, schema);
  expect(sliceRows(costly)).toBeLessThan(ROWS / 7);
  expect(sliceRows(await compilePredicate('id > 3 AND id < 9', schema))).toBeGreaterThan(65_536);
  expect(sliceRows({ weight: 1e12 })).toBe(16);
  // Rows whose values are kept one by one take as long as many comparisons.
  const nest = `${'CASE WHEN id = 1 THEN 2 ELSE '.repeat(100)}3${' END'.repeat(100)} = 3`;
  expect(sliceRows(await compilePredicate(nest, schema))).toBeLessThan(400);
  const patterned = async (sql: string): Promise<number> =>
    sliceRows(await compilePredicate(`regexp_like(s, ${sql})`, schema));
  expect(await patterned("'[ab]{900}$'")).toBeLessThan(300);
  expect(await patterned('s')).toBeLessThan(2000);
  expect(await patterned("'a+b'")).toBeGreaterThan(5000);
});

describe('in slices', () => {
  test('filters, counts, and filters by row numbers', async () => {
    const { table, left } = await made();
    const texts = left.filter(({ s }) => s !== null);
    const found = await table.query().where(COSTLY).select(['id']).toArray();
    expect(idsOf(found as never)).toEqual(idsOf(texts));
    expect(await table.countRows(COSTLY)).toBe(texts.length);
    const some = `${COSTLY} AND _rowoffset % 7 = 3 AND _rowid % 2 = 0`;
    const expected = left.filter(
      ({ id, s }, offset) =>
        s !== null && offset % 7 === 3 && (id < 3000 ? id : id - 3000) % 2 === 0,
    );
    expect(idsOf((await table.query().where(some).toArray()) as never)).toEqual(idsOf(expected));
    expect(await table.countRows(some)).toBe(expected.length);
  });

  test('a count without deleted rows, which looks at columns alone', async () => {
    const db = await connect('/root', { fs: memoryFs() });
    const table = await db.createTable('t', rows, undefined, { schema });
    const expected = rows.filter(({ s, id }) => s !== null && id % 3 === 0).length;
    expect(await table.countRows(`${COSTLY} AND _rowid % 3 = 0`)).toBe(expected);
    expect(await table.countRows(COSTLY)).toBe(rows.filter(({ s }) => s !== null).length);
  });

  test('values, new values and new columns', async () => {
    const { table, left } = await made();
    const found = await table.query().select({ v: VALUE, r: '_rowoffset' }).toArray();
    expect(found.map(({ v }) => v)).toEqual(left.map(expectedValue));
    expect(found.map(({ r }) => Number(r))).toEqual(left.map((_, at) => at));
    await table.addColumns([{ name: 'v', valueSql: VALUE }]);
    const widened = await table.query().select(['v']).toArray();
    expect(widened.map(({ v }) => v)).toEqual(left.map(expectedValue));
    const where = 'id % 2 = 0';
    const { rowsUpdated } = await table.update({ where, valuesSql: { s: VALUE, d: VALUE } });
    const changed = left.filter(({ id }) => id % 2 === 0);
    expect(rowsUpdated).toBe(changed.length);
    const updated = await table.query().where(where).toArray();
    expect(updated.map(({ s }) => s)).toEqual(changed.map(expectedValue));
    expect(updated.map(({ d }) => d)).toEqual(changed.map(expectedValue));
    expect(DataType.isDictionary((await table.schema()).fields[2]?.type)).toBe(true);
  });
});

test('rows with patterns are begun with a few, and go on by the time these took', async () => {
  const step = { millis: 10 };
  let now = 0;
  const env = { ...systemEnv, now: () => (now += step.millis) };
  const db = await connect('/root', { fs: memoryFs(), env });
  const table = await db.createTable('t', rows, undefined, { schema });
  const matching = rows.filter(({ s }) => s !== null && /^t1+$/.test(s)).length;
  const counted = async (): Promise<number> => {
    const before = now;
    expect(await table.countRows("s ~ '^t1+$'")).toBe(matching);
    return (now - before) / step.millis;
  };
  const quick = await counted();
  step.millis = 30;
  const slow = await counted();
  // 64 slices and more of a row each, where the quick ones grow to thousands.
  expect(quick).toBeLessThan(100);
  expect(slow).toBeGreaterThan(2 * ROWS);
});

test('long lists are looked up alike in every slice', async () => {
  const { table, left } = await made();
  const ids = Array.from({ length: 700 }, (_, at) => at * 7);
  const texts = ids.map((id) => `'t${id}'`);
  const wanted = new Set(ids);
  const expected = left.filter(({ id, s }) => wanted.has(id) && s !== null).length;
  expect(await table.countRows(`${COSTLY} AND id IN (${ids.join()})`)).toBe(expected);
  expect(await table.countRows(`${COSTLY} AND s IN (${texts.join()})`)).toBe(expected);
});

test('what the slices of one batch make together is bounded by requestMemory', async () => {
  const db = await connect('/root', { fs: memoryFs(), requestMemory: 1 << 20 });
  const table = await db.createTable('t', rows, undefined, { schema });
  const selected = table
    .query()
    .select({ v: `repeat(${VALUE}, 3)` })
    .toArray();
  await expect(selected).rejects.toMatchObject({ details: { limit: 'requestMemory' } });
});

test('one of those that wait goes on in each round of the event loop', async () => {
  let round = 0;
  let over = false;
  const count = (): void => {
    round += 1;
    if (!over) setImmediate(count);
  };
  setImmediate(count);
  const rounds = await Promise.all(
    Array.from({ length: 5 }, async () => {
      await nextTurn();
      return round;
    }),
  );
  over = true;
  expect(new Set(rounds).size).toBe(5);
});

describe('a signal ends work within one turn', () => {
  const order_by = [{ column_name: 'id', ascending: false }];
  const multi_vector = Array.from({ length: 300 }, (_, at) => [at, 1]);
  let root: string;

  beforeAll(async () => {
    root = temporaryFolder();
    const db = await connect(root, { durability: 'relaxed' });
    await db.createTable('t', rows, undefined, { schema });
    const vectors = Array.from({ length: 20_000 }, (_, row) => ({ vector: [row, row % 7] }));
    await db.createTable('v', vectors);
  });

  test.each([
    ['a filter', 't', { filter: COSTLY }],
    ['a count', 't', {}],
    ['values', 't', { columns: { column_aliases: { v: VALUE } } }],
    ['an ordering', 't', { order_by }],
    ['many vectors', 'v', { vector: { multi_vector }, k: 1 }],
  ])('%s', async (what, name, request) => {
    let now = 0;
    const env = { ...systemEnv, now: () => (now += 10) };
    const namespace = await openDirectoryNamespace({ root, env });
    const reason = new Error('the caller left');
    const controller = new AbortController();
    const query = { id: [name], k: ROWS, vector: {}, ...request };
    const all = async (signal?: AbortSignal): Promise<number> => {
      let count = 0;
      const options = signal === undefined ? {} : { signal };
      if (what === 'a count') {
        const counted = { id: [name], predicate: COSTLY };
        return (await namespace.countTableRows(counted, options)).count;
      }
      for await (const { numRows } of await namespace.queryTable(query, options)) count += numRows;
      return count;
    };
    expect(await all()).toBeGreaterThan(0);
    let turns = 0;
    let left = 0;
    const leave = (): void => {
      turns += 1;
      if (turns === 3) {
        controller.abort(reason);
        left = now;
      } else setImmediate(leave);
    };
    setImmediate(leave);
    await expect(all(controller.signal)).rejects.toBe(reason);
    // Looks at the clock since: those of one turn for each batch that is worked on.
    expect(turns).toBe(3);
    expect((now - left) / 10).toBeLessThan(12);
  });
});
