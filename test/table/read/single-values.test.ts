/** Single values, looked up again and again: when the columns that hold them are in memory. */
import { expect, test } from 'vitest';
import { openDirectoryNamespace } from '../../../src/directory/directory-namespace.ts';
import { toRecordBatchStream } from '../../../src/sdk/convert/data.ts';
import { memoryFs } from '../../helpers/catalogs.ts';

const id = ['t'];
const ROWS = 40_000;

/** Bytes that each of so many lookups reads, one row each, of a table that fits into the cache. */
async function bytesRead(column: string, lookups: number): Promise<number[]> {
  const fs = memoryFs();
  let bytes = 0;
  const readSync = (...given: Parameters<typeof fs.readSync>): number => {
    const count = fs.readSync(...given);
    bytes += count;
    return count;
  };
  const read = ((fd: number, ...rest: unknown[]) => {
    const done = rest.pop() as (error: Error | null, count?: number) => void;
    (fs.read as unknown as (...all: unknown[]) => void)(
      fd,
      ...rest,
      (error: Error | null, n: number) => {
        bytes += n ?? 0;
        done(error, n);
      },
    );
  }) as unknown as typeof fs.read;
  const reading = { ...fs, readSync, read } as typeof fs;
  const rows = Array.from({ length: ROWS }, (_, n) => ({
    n,
    tags: [`t${n % 500}`, `t${n % 7}`],
    text: `a row of the table that is always of the same words, number ${n % 10}`,
  }));
  const first = await openDirectoryNamespace({ root: '/c', fs });
  await first.createTable({ id }, await toRecordBatchStream(rows));
  const catalog = await openDirectoryNamespace({ root: '/c', fs: reading });
  const found: number[] = [];
  for (let at = 0; at < lookups; at++) {
    const row = (at * 7_919) % ROWS;
    bytes = 0;
    const columns = { column_names: [column] };
    const filter = `_rowoffset = ${row}`;
    const stream = await catalog.queryTable({ id, k: 1, vector: {}, filter, columns });
    for await (const batch of stream) {
      const value = batch.getChild(column)?.get(0);
      const own = rows[row]?.[column as 'n'] as unknown;
      expect(column === 'tags' ? [...value] : value).toEqual(own);
    }
    found.push(bytes);
  }
  return found;
}

test('a column of numbers is in memory after as many values as take as long as all of it', async () => {
  const found = await bytesRead('n', 8);
  for (const bytes of found.slice(0, 4)) expect(bytes).toBeGreaterThan(0);
  expect(found.slice(6)).toEqual([0, 0]);
});

test('lists, of which all are read for one, are in memory at once', async () => {
  const [first, ...others] = await bytesRead('tags', 3);
  expect(first).toBeGreaterThan(ROWS);
  expect(others).toEqual([0, 0]);
});
