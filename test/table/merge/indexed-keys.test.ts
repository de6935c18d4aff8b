/** Merges of few rows find their keys by an index, with the outcome of scanning all keys. */
import { expect, test } from 'vitest';
import { Field, Int32, Int64, Schema, Utf8 } from '../../../src/arrow/apache.ts';
import { openDirectoryNamespace } from '../../../src/directory/directory-namespace.ts';
import { connect } from '../../../src/sdk/connect.ts';
import { toRecordBatchStream } from '../../../src/sdk/convert/data.ts';
import { Index } from '../../../src/sdk/table/index-config.ts';
import { memoryFs } from '../../helpers/catalogs.ts';
import { casesOf } from '../../helpers/long.ts';
import { seeded } from '../../helpers/seeded.ts';

const id = ['t'];

test('a merge of few rows reads their keys alone, unless it is told to use no index', async () => {
  const plain = memoryFs();
  let bytes = 0;
  const readSync = (...given: Parameters<typeof plain.readSync>): number => {
    const count = plain.readSync(...given);
    bytes += count;
    return count;
  };
  const read = ((fd: number, ...rest: unknown[]) => {
    const done = rest.pop() as (error: Error | null, count?: number) => void;
    (plain.read as unknown as (...all: unknown[]) => void)(fd, ...rest, (e: Error, n: number) => {
      bytes += n ?? 0;
      done(e, n);
    });
  }) as unknown as typeof plain.read;
  const fs = { ...plain, readSync, read } as typeof plain;
  const open = () => openDirectoryNamespace({ root: '/c', fs, durability: 'relaxed' });
  const rows = (from: number, count: number, x: string) =>
    toRecordBatchStream(
      Array.from({ length: count }, (_, at) => ({ k: (from + at) * 7919, x: `${x}${at}` })),
      { columnTypes: new Map([['k', new Int64()]]) },
    );
  const first = await open();
  await first.createTable({ id }, await rows(0, 100_000, 'a'));
  await first.createTableIndex({ id, column: 'k', index_type: 'BTREE' });
  const merged = async (from: number, use_index: boolean) => {
    const catalog = await open();
    bytes = 0;
    const clauses = { when_matched_update_all: true, when_not_matched_insert_all: true };
    const request = { id, on: 'k', use_index, ...clauses };
    const { num_updated_rows, num_inserted_rows } = await catalog.mergeInsertIntoTable(
      request,
      await rows(from, 4, 'b'),
    );
    return { counts: [num_updated_rows, num_inserted_rows], bytes };
  };
  const scanned = await merged(5_000, false);
  const found = await merged(99_998, true);
  expect([scanned.counts, found.counts]).toEqual([
    [4, 0],
    [2, 2],
  ]);
  // The keys of one batch, of 65,536 rows; of the index the batches that have the keys.
  expect(scanned.bytes).toBeGreaterThan(8 * 65_536);
  expect(found.bytes).toBeLessThan(scanned.bytes / 2);
});

test('tables are the same after merges with an index and without', async () => {
  const random = seeded(90_210);
  const below = (count: number): number => Math.floor(random() * count);
  const schema = new Schema([
    new Field('k', new Int32(), true),
    new Field('name', new Utf8(), true),
    new Field('x', new Int32(), true),
  ]);
  const row = (k: number, x: number) => ({
    k: k % 41 === 0 ? null : k,
    name: k % 37 === 0 ? null : `n${k % 4_500}`,
    x,
  });
  const start = Array.from({ length: 9_000 }, (_, at) => row((at * 31) % 9_000, at));
  const both = await Promise.all(
    ['/a', '/b'].map((root) => connect(root, { fs: memoryFs(), durability: 'relaxed' })),
  );
  const tables = await Promise.all(
    both.map((db) => db.createTable('t', start, undefined, { schema: schema as never })),
  );
  const [indexed] = tables;
  await indexed?.createIndex('k', { config: Index.btree() });
  await indexed?.createIndex('name', { config: Index.bitmap() });
  const contents = (table: (typeof tables)[number]) =>
    table.query().orderBy({ columnName: 'x' }).toArray();
  for (let round = 0; round < casesOf(12, 150); round++) {
    const on = [['k'], ['name'], ['k', 'name'], ['name', 'k']][below(4)] as string[];
    const known = new Set<string>();
    const source = Array.from({ length: below(9) }, (_, at) =>
      row(below(9_600), 100_000 + round * 10 + at),
    ).filter((one) => {
      const key = JSON.stringify(on.map((name) => one[name as 'k']));
      return !known.has(key) && known.add(key) !== undefined;
    });
    const choice = below(3);
    const results: unknown[] = [];
    for (const [at, table] of tables.entries()) {
      let merge = table.mergeInsert(on).useIndex(at === 0);
      if (choice !== 1) merge = merge.whenMatchedUpdateAll({ where: 'source.x <> target.x' });
      if (choice !== 0) merge = merge.whenNotMatchedInsertAll();
      const { version, transactionId, ...counts } = await merge.execute(
        source.length === 0 ? start.slice(0, 1) : source,
      );
      results.push(counts);
      if (round % 4 === 3) await table.delete(`x % 97 = ${round}`);
      if (round % 5 === 4) await table.optimize();
    }
    expect(results[0], `round ${round}`).toEqual(results[1]);
    expect(await contents(tables[0] as never)).toEqual(await contents(tables[1] as never));
  }
});
