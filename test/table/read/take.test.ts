/** Rows by number: in the order asked for, repeats kept, over fragments, batches and deletions. */
import { crc32 } from 'node:zlib';
import { expect, test } from 'vitest';
import type { RecordBatchStream } from '../../../src/arrow/apache.ts';
import { openDirectoryNamespace } from '../../../src/directory/directory-namespace.ts';
import {
  checksumPages,
  damagedPage,
  PAGE_BYTES,
  pageChecksums,
} from '../../../src/format/fragment/checksums.ts';
import { toRecordBatchStream } from '../../../src/sdk/convert/data.ts';
import { memoryFs } from '../../helpers/catalogs.ts';
import { seeded } from '../../helpers/seeded.ts';

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
