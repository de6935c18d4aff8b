/**
 * Ordered reads of whole tables against a naive program: random keys of every type with nulls and
 * ties, several keys, both directions, limits and offsets, filters, deleted rows, one fragment or many.
 */
import { Int32, makeData, Table, Vector, vectorFromArray } from 'apache-arrow';
import { afterAll, describe, expect, test } from 'vitest';
import { openDirectoryNamespace } from '../../../src/directory/index.ts';
import { Connection } from '../../../src/sdk/connection.ts';
import { casesOf } from '../../helpers/long.ts';
import { memoryFs } from '../../helpers/memory-fs.ts';
import { all, CASES, expected, type Key, keyOf, pick, random } from '../../helpers/sort-keys.ts';

const opened: { close(): Promise<unknown> }[] = [];
afterAll(async () => {
  for (const namespace of opened) await namespace.close();
});

async function connected(options: object): Promise<Connection> {
  const namespace = await openDirectoryNamespace({
    root: '/catalog',
    fs: memoryFs(),
    durability: 'relaxed',
    ...options,
  } as never);
  opened.push(namespace);
  return new Connection(namespace);
}

const numbers = (count: number, of: (row: number) => number): Vector =>
  new Vector([
    makeData({ type: new Int32(), data: Int32Array.from({ length: count }, (_, at) => of(at)) }),
  ]);

/** Columns `k0`, `k1`, ... of random kinds beside an id, a number to filter by and a text. */
function tableOf(rows: number): { keys: Key[]; parts: (from: number, to: number) => Table } {
  const keys = Array.from({ length: 3 }, () => keyOf(pick(CASES), rows, pick([0, 0.1, 0.5])));
  const columns: Record<string, Vector> = {
    id: numbers(rows, (row) => row),
    tens: numbers(rows, (row) => row % 10),
    text: vectorFromArray(
      all(rows).map((row) => (row % 11 === 0 ? null : `text of ${row}`.repeat(row % 5))),
    ),
  };
  for (const [at, { data }] of keys.entries()) columns[`k${at}`] = new Vector([data]);
  const whole = new Table(columns as never) as unknown as Table;
  return { keys, parts: (from, to) => whole.slice(from, to) };
}

const SHAPES: [string, object, number, number][] = [
  ['one fragment of one batch', {}, 300, 300],
  ['one fragment of many batches', { limits: { batchRows: 23 } }, 600, 600],
  ['many fragments', {}, 200, 9],
  ['large fragments beyond the cache', { limits: { batchRows: 500 }, bufferBytes: 0 }, 2000, 900],
];

describe.each(SHAPES)('%s', (_, options, rows, each) => {
  test('the rows of a naive program, in its order', async () => {
    for (let table = 0; table < casesOf(2, 10); table++) {
      const { keys, parts } = tableOf(rows);
      const connection = await connected(options);
      const made = await connection.createTable('t', parts(0, Math.min(each, rows)));
      for (let from = each; from < rows; from += each)
        await made.add(parts(from, Math.min(rows, from + each)));
      const deleted = pick([-1, 3]);
      if (deleted >= 0) await made.delete(`tens = ${deleted}`);
      const filtered = (row: number, limit: number): boolean =>
        row % 10 !== deleted && row % 10 < limit;
      for (let query = 0; query < casesOf(10, 30); query++) {
        const chosen = Array.from({ length: pick([1, 1, 2, 3]) }, (__, at) => at).map((at) => {
          const of = (at + query) % keys.length;
          return { of, ascending: random() < 0.5, nullsFirst: random() < 0.5 };
        });
        const below = pick([10, 10, 6]);
        const limit = pick([1, 5, 40, rows - 7, undefined]);
        const offset = pick([0, 0, 3, rows >> 1]);
        let asked = made
          .query()
          .orderBy(chosen.map(({ of, ...how }) => ({ columnName: `k${of}`, ...how })));
        if (below < 10) asked = asked.where(`tens < ${below}`);
        if (limit !== undefined) asked = asked.limit(limit);
        if (offset > 0) asked = asked.offset(offset);
        const found = await asked.select(['id', 'text']).toArrow();
        const order = expected(
          chosen.map(({ of, ...how }) => ({ ...(keys[of] as Key), ...how })),
          all(rows).filter((row) => filtered(row, below)),
          rows,
        );
        const ids = order.slice(offset, limit === undefined ? undefined : offset + limit);
        const what = JSON.stringify({
          chosen,
          below,
          limit,
          offset,
          deleted,
          types: keys.map(({ data }) => String(data.type)),
        });
        expect([...(found.getChild('id') ?? [])], what).toEqual(ids);
        const texts = [...(found.getChild('text') ?? [])];
        expect(texts, what).toEqual(
          ids.map((row) => (row % 11 === 0 ? null : `text of ${row}`.repeat(row % 5))),
        );
      }
    }
  });
});

describe('statistics leave out what cannot be among the first rows', () => {
  const read = async (plan: Promise<string>): Promise<string> =>
    /fragments \d+, pruned \d+; batches \d+, pruned \d+/.exec(await plan)?.[0] ?? '';

  test('of fragments, before they are opened', async () => {
    const connection = await connected({});
    const table = await connection.createTable('t', [{ at: 0, x: 1 }]);
    for (let part = 1; part < 6; part++) {
      await table.add(Array.from({ length: 10 }, (_, row) => ({ at: 10 * part + row, x: row })));
    }
    const latest = table.query().orderBy({ columnName: 'at', ascending: false }).limit(10);
    expect(await read(latest.analyzePlan())).toBe('fragments 6, pruned 5; batches 1, pruned 0');
    // Ten rows of the last fragment are not enough.
    const more = table.query().orderBy({ columnName: 'at', ascending: false }).limit(11);
    expect(await read(more.analyzePlan())).toBe('fragments 6, pruned 4; batches 2, pruned 0');
    // A filter may leave out any of them, and the first rows come first.
    const filtered = table.query().orderBy({ columnName: 'at' }).where('x < 100').limit(1);
    expect(await read(filtered.analyzePlan())).toBe('fragments 6, pruned 0; batches 6, pruned 0');
    await table.delete('at = 55');
    expect(await read(latest.analyzePlan())).toBe('fragments 6, pruned 4; batches 2, pruned 0');
    expect((await latest.toArray()).map(({ at }) => at)).toEqual([
      59, 58, 57, 56, 54, 53, 52, 51, 50, 49,
    ]);
  });

  test('of batches, also by the rows that were found with a filter', async () => {
    const connection = await connected({ limits: { batchRows: 5000 } });
    const x = (row: number): number => (row < 5000 ? row % 7 : 100 + row);
    const rows = new Table({ x: numbers(40_000, x), y: numbers(40_000, (row) => row) });
    const table = await connection.createTable('t', rows as never);
    const first = table.query().orderBy({ columnName: 'x' }).limit(3);
    expect(await read(first.analyzePlan())).toBe('fragments 1, pruned 0; batches 8, pruned 7');
    const last = table.query().orderBy({ columnName: 'y', ascending: false }).limit(5000);
    expect(await read(last.analyzePlan())).toBe('fragments 1, pruned 0; batches 8, pruned 7');
    const filtered = table.query().orderBy({ columnName: 'x' }).where('y > 10').limit(3);
    expect(await read(filtered.analyzePlan())).toMatch(/batches 8, pruned [1-7]/);
    expect((await filtered.toArray()).map(({ y }) => y)).toEqual([14, 21, 28]);
  });
});
