/** Arrow files that change while an import reads ranges of them. */
import { renameSync, statSync, truncateSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { tableFromArrays, tableToIPC } from '../../../src/arrow/apache.ts';
import { fileSource } from '../../../src/interchange/files/file-source.ts';
import { connect } from '../../../src/sdk/connect.ts';
import type { BlobLike } from '../../../src/sdk/index.ts';
import { temporaryFolder } from '../../helpers/temporary.ts';

const arrow = (rows: number): Uint8Array =>
  tableToIPC(tableFromArrays({ n: Int32Array.from({ length: rows }, (_, at) => at) }), 'file');

async function opened(bytes: Uint8Array = arrow(1000), signal = new AbortController().signal) {
  const path = join(temporaryFolder(), 'x.arrow');
  writeFileSync(path, bytes);
  const file = await fileSource(path, signal);
  const ranges = file.ranges as NonNullable<typeof file.ranges>;
  const read = async (from: number, to: number): Promise<ArrayBuffer> =>
    (await ranges.read(from, to)).slice().buffer;
  const data: BlobLike = {
    size: ranges.size,
    arrayBuffer: () => read(0, ranges.size),
    slice: (from, to) => ({ arrayBuffer: () => read(from, to) }),
  };
  return { path, file, data, bytes };
}

const range = async (data: BlobLike, from: number, to: number): Promise<Uint8Array> =>
  new Uint8Array(await data.slice(from, to).arrayBuffer());

describe('a range of a file', () => {
  test('has its bytes, and counts for progress', async () => {
    const { data, file, bytes } = await opened();
    expect(data.size).toBe(bytes.length);
    expect(file.size).toBe(bytes.length);
    expect(await range(data, 3, 9)).toEqual(bytes.slice(3, 9));
    expect(file.bytesRead()).toBe(6);
    expect(new Uint8Array(await data.arrayBuffer())).toEqual(bytes.slice());
    expect(file.bytesRead()).toBe(6 + bytes.length);
  });

  test.each<[string, (path: string, bytes: Uint8Array) => void]>([
    ['became shorter', (path) => truncateSync(path, 100)],
    ['became empty', (path) => truncateSync(path, 0)],
    ['became longer', (path, bytes) => writeFileSync(path, Buffer.concat([bytes, bytes]))],
    [
      'was replaced by another of the same size and time',
      (path, bytes) => {
        const { atime, mtime } = statSync(path);
        writeFileSync(
          `${path}.new`,
          bytes.map((byte) => byte ^ 1),
        );
        utimesSync(`${path}.new`, atime, mtime);
        renameSync(`${path}.new`, path);
      },
    ],
    [
      'was written over',
      (path, bytes) => {
        const { atime, mtime } = statSync(path);
        writeFileSync(
          path,
          bytes.map((byte) => byte ^ 1),
        );
        utimesSync(path, atime, new Date(mtime.getTime() + 1000));
      },
    ],
  ])('is refused where the file %s', async (_, change) => {
    const { path, data, bytes } = await opened();
    await range(data, 0, 8);
    change(path, bytes);
    await expect(range(data, 8, 16)).rejects.toMatchObject({
      code: 'InvalidInput',
      message: `${JSON.stringify(path)} was changed while it was read.`,
    });
  });

  test('is refused where the file is gone, and once the work is ended', async () => {
    const controller = new AbortController();
    const { path, data } = await opened(undefined, controller.signal);
    renameSync(path, `${path}.gone`);
    await expect(range(data, 0, 8)).rejects.toMatchObject({
      code: 'InvalidInput',
      message: `${JSON.stringify(path)} was removed while it was read.`,
    });
    renameSync(`${path}.gone`, path);
    controller.abort(new Error('enough'));
    await expect(range(data, 0, 8)).rejects.toThrow('enough');
  });
});

test.each([0, 1, 2, 3])(
  'a table is not made of a file that changes after %i reads',
  async (reads) => {
    const { path, data, bytes } = await opened();
    let read = 0;
    const changing: BlobLike = {
      size: data.size,
      arrayBuffer: () => data.arrayBuffer(),
      slice: (from, to) => {
        if (read++ === reads) writeFileSync(path, bytes.subarray(0, 100));
        return data.slice(from, to);
      },
    };
    const db = await connect(join(temporaryFolder(), 'c'));
    await expect(db.createTable('t', changing)).rejects.toThrow('was changed while it was read');
    expect(await db.tableNames()).toEqual([]);
    await db.close();
  },
);
