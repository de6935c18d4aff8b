/** Batches of very many columns hold more bytes, so that footers do not grow with columns times batches. */
import { expect, test } from 'vitest';
import { openDirectoryNamespace } from '../../../src/directory/directory-namespace.ts';
import { toRecordBatchStream } from '../../../src/sdk/convert/data.ts';
import { memoryFs } from '../../helpers/memory-fs.ts';

/** Rows of the largest batch that a table of doubles is stored in, where 8,192 bytes are the limit. */
async function rowsOfBatches(columns: number): Promise<number> {
  const catalog = await openDirectoryNamespace({
    root: '/c',
    fs: memoryFs(),
    durability: 'relaxed',
    limits: { batchBytes: 8_192 },
  });
  const id = ['t'];
  const names = Array.from({ length: columns }, (_, at) => `c${at}`);
  const rows = Array.from({ length: 32 }, (_, row) =>
    Object.fromEntries(names.map((name, at) => [name, row + at / 4])),
  );
  await catalog.createTable({ id }, await toRecordBatchStream(rows));
  const found: number[] = [];
  for await (const batch of await catalog.queryTable({ id, k: 100 })) found.push(batch.numRows);
  expect(found.reduce((sum, count) => sum + count, 0)).toBe(32);
  return Math.max(...found);
}

test.each([
  // 1,024 bytes a row: the limit is what it says.
  [128, 8],
  // Twice and four times the limit.
  [512, 4],
  [1_024, 4],
  [1_536, 2],
])('%i columns are stored in batches of %i rows', async (columns, rows) => {
  expect(await rowsOfBatches(columns)).toBe(rows);
});
