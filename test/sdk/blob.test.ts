/** Arrow data in a Blob, and in a file that is imported: ranges are read, and never the whole. */
import { describe, expect, test } from 'vitest';
import { tableFromArrays, tableToIPC } from '../../src/arrow/apache.ts';
import { connect } from '../../src/index.ts';
import { type BlobLike, toRecordBatchStream } from '../../src/sdk/convert/data.ts';
import { memoryFs } from '../helpers/catalogs.ts';

const ROWS = 4_000;
const batches = Array.from({ length: 50 }, (_, at) =>
  tableFromArrays({ id: Int32Array.from({ length: ROWS }, (_, row) => at * ROWS + row) }),
);
const table = batches[0]?.concat(...batches.slice(1)) as ReturnType<typeof tableFromArrays>;
const file = tableToIPC(table, 'file');
const stream = tableToIPC(table, 'stream');

/** A Blob that notes the longest range that was read. */
function watched(bytes: Uint8Array): BlobLike & { longest: number } {
  const inner = new Blob([bytes as Uint8Array<ArrayBuffer>]);
  const blob = {
    longest: 0,
    size: inner.size,
    slice(start: number, end: number) {
      blob.longest = Math.max(blob.longest, end - start);
      return inner.slice(start, end);
    },
    arrayBuffer: () => inner.arrayBuffer(),
  };
  return blob;
}

async function ids(data: BlobLike): Promise<number[]> {
  const found: number[] = [];
  for await (const batch of await toRecordBatchStream(data)) {
    for (const { id } of batch) found.push(id);
  }
  return found;
}
const all = Array.from({ length: 50 * ROWS }, (_, at) => at);

test('a file is read a batch at a time', async () => {
  const blob = watched(file);
  expect(await ids(blob)).toEqual(all);
  expect(blob.longest).toBeLessThan(2 * 4 * ROWS);
});

test('a stream in a Blob is read too', async () => {
  expect(await ids(new Blob([stream as Uint8Array<ArrayBuffer>]))).toEqual(all);
});

test('tables are made of Blobs, and changed by them', async () => {
  const db = await connect('/c', { fs: memoryFs(), durability: 'relaxed' });
  const made = await db.createTable('t', new Blob([file as Uint8Array<ArrayBuffer>]));
  await made.add(new Blob([stream as Uint8Array<ArrayBuffer>]));
  expect(await made.countRows()).toBe(2 * all.length);
  await made
    .mergeInsert('id')
    .whenNotMatchedInsertAll()
    .execute(
      new Blob([tableToIPC(tableFromArrays({ id: Int32Array.of(-1, 0) }), 'file') as never]),
    );
  expect(await made.countRows()).toBe(2 * all.length + 1);
  await db.close();
});

describe('what is refused', () => {
  test('a Blob that has become shorter', async () => {
    const short: BlobLike = {
      size: file.length,
      slice: (start, end) => new Blob([file.slice(start, Math.min(end, 5_000))]),
      arrayBuffer: async () => file.slice().buffer as ArrayBuffer,
    };
    await expect(ids(short)).rejects.toMatchObject({ code: 'InvalidInput' });
  });

  test('an empty one, and one of text', async () => {
    for (const blob of [new Blob([]), new Blob(['id,name\n1,a\n'])])
      await expect(ids(blob)).rejects.toMatchObject({ code: 'InvalidInput' });
  });
});
