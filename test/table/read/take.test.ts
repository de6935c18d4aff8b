/** Rows by number: in the order asked for, repeats kept, over fragments, batches and deletions. */
import { crc32 } from 'node:zlib';
import { expect, test } from 'vitest';
import { type RecordBatchStream, tableFromArrays } from '../../../src/arrow/apache.ts';
import { openDirectoryNamespace } from '../../../src/directory/directory-namespace.ts';
import { systemEnv } from '../../../src/env.ts';
import {
  checksumPages,
  damagedPage,
  PAGE_BYTES,
  pageChecksums,
} from '../../../src/format/fragment/checksums.ts';
import { toRecordBatchStream } from '../../../src/sdk/convert/data.ts';
import { memoryFs } from '../../helpers/catalogs.ts';
import { seeded } from '../../helpers/seeded.ts';

type Catalog = Awaited<ReturnType<typeof openDirectoryNamespace>>;

const id = ['t'];
const ROWS = 60;

/** Three fragments of four batches, with deletions in the first and the last. */
async function catalogOfRows() {
  const limits = { batchRows: 5, fragmentRows: 20 };
  const catalog = await openDirectoryNamespace({ root: '/c', fs: memoryFs(), limits });
  const rows = Array.from({ length: ROWS }, (_, n) => ({ n, text: `row ${n}` }));
  await catalog.createTable({ id }, await toRecordBatchStream(rows));
  await catalog.deleteFromTable({ id, predicate: 'n IN (0, 3, 4, 19, 44, 45, 46, 47, 48, 49)' });
  return catalog;
}

async function rowsOf(stream: RecordBatchStream | undefined, name: string): Promise<unknown[]> {
  const found: unknown[] = [];
  for await (const batch of stream ?? []) found.push(...(batch.getChild(name) ?? []));
  return found;
}

test('random requests are answered as they are from all rows at once', async () => {
  await using catalog = await catalogOfRows();
  const all = await catalog.queryTable({ id, k: ROWS, vector: {}, with_row_id: true });
  const known: { rowId: bigint; n: number; text: string }[] = [];
  for await (const batch of all) {
    for (let at = 0; at < batch.numRows; at++) {
      const value = (name: string): unknown => batch.getChild(name)?.get(at);
      known.push({
        rowId: value('_rowid') as bigint,
        n: Number(value('n')),
        text: String(value('text')),
      });
    }
  }
  expect(known.length).toBe(ROWS - 10);
  const byId = new Map(known.map((row) => [row.rowId, row]));
  const random = seeded(3);
  const below = (count: number): number => Math.floor(random() * count);
  for (const count of [0, 1, 2, 7, 40, 300]) {
    const offsets = Array.from({ length: count }, () => BigInt(below(ROWS)));
    const expected = offsets.flatMap((offset) => known[Number(offset)]?.text ?? []);
    expect(await rowsOf(await catalog.takeRows({ id, offsets }), 'text')).toEqual(expected);
    const row_ids = Array.from(
      { length: count },
      () => (BigInt(below(4)) << 32n) | BigInt(below(22)),
    );
    const found = row_ids.flatMap((rowId) => byId.get(rowId)?.text ?? []);
    expect(await rowsOf(await catalog.takeRows({ id, row_ids }), 'text')).toEqual(found);
  }
});

test('the page that does not match is named, whatever page the range begins with', () => {
  const bytes = Uint8Array.from({ length: 3 * PAGE_BYTES + 10 }, (_, at) => (at * 7) >> 2);
  const known = pageChecksums(checksumPages([bytes], bytes.length));
  expect(known.length).toBe(4);
  const rest = bytes.slice(2 * PAGE_BYTES);
  expect(damagedPage(bytes, 0, known)).toBe(-1);
  expect(damagedPage(rest, 2, known)).toBe(-1);
  expect(damagedPage(rest, 3, known)).toBe(3);
  rest[PAGE_BYTES + 3] = 1 ^ (rest[PAGE_BYTES + 3] as number);
  expect(damagedPage(rest, 2, known)).toBe(3);
  expect(damagedPage(new Uint8Array([...bytes, 1]), 0, known)).toBe(3);
  const few = bytes.subarray(0, 100);
  expect([...pageChecksums(checksumPages([few], 100))]).toEqual([crc32(few)]);
  expect(damagedPage(new Uint8Array(0), 0, pageChecksums(5))).toBe(0);
});

test('rows far apart are read once for all parts of the answer', async () => {
  const limits = { batchRows: 4_096, fragmentRows: 32_768 };
  const fs = memoryFs();
  let bytes = 0;
  const reading = {
    ...fs,
    readSync: (...given: Parameters<typeof fs.readSync>) => {
      const count = fs.readSync(...given);
      bytes += count;
      return count;
    },
  } as typeof fs;
  const catalog = await openDirectoryNamespace({ root: '/c', fs: reading, limits, bufferBytes: 0 });
  const rows = 60_000;
  const n = Int32Array.from({ length: rows }, (_, at) => at);
  await catalog.createTable({ id }, await toRecordBatchStream(tableFromArrays({ n }) as never));
  // Each part of 8,192 rows lies in all batches, and has more of a batch than is read one by one.
  const wanted = Array.from({ length: 80_000 }, (_, at) => (at * 7919) % rows);
  const offsets = wanted.map((at) => BigInt(at));
  bytes = 0;
  expect(await rowsOf(await catalog.takeRows({ id, offsets }), 'n')).toEqual(wanted);
  expect(bytes).toBeGreaterThan(4 * rows);
  expect(bytes).toBeLessThan(2 * 4 * rows);
});

test.each([
  ['taking by offsets', (at: Catalog, ids: bigint[]) => at.takeRows({ id, offsets: ids })],
  ['taking by ids', (at: Catalog, row_ids: bigint[]) => at.takeRows({ id, row_ids })],
  ['deleting by ids', (at: Catalog, row_ids: bigint[]) => at.deleteRows({ id, row_ids })],
])('%s goes through long lists in turns', async (_, work) => {
  let now = 0;
  const env = { ...systemEnv, now: () => (now += 10) };
  const catalog = await openDirectoryNamespace({ root: '/c', fs: memoryFs(), env });
  await catalog.createTable({ id }, await toRecordBatchStream([{ n: 0 }]));
  const roundsOf = async (count: number): Promise<number> => {
    // None of them is there, so that nothing is read or written for them.
    const ids = Array.from({ length: count }, (_, at) => BigInt(9 + at));
    let rounds = 0;
    let over = false;
    const go = (): void => {
      rounds += 1;
      if (!over) setImmediate(go);
    };
    setImmediate(go);
    await work(catalog, ids);
    over = true;
    return rounds;
  };
  const few = await roundsOf(9);
  expect(await roundsOf(40_960)).toBeGreaterThanOrEqual(few + 8);
});

test('ids in any order and more than once delete each row once', async () => {
  await using catalog = await catalogOfRows();
  const row_ids = [7n, 5n, 7n, 6n, (1n << 32n) | 3n, 5n, 900n, 21n << 32n];
  expect(await catalog.deleteRows({ id, row_ids })).toMatchObject({ num_deleted_rows: 4 });
  const left = await catalog.queryTable({ id, k: ROWS, vector: {} });
  const numbers = await rowsOf(left, 'n');
  expect(numbers.filter((n) => [5, 6, 7, 23].includes(Number(n)))).toEqual([]);
  expect(numbers.length).toBe(ROWS - 14);
});
