/** Every Arrow file and stream that pyarrow reads gives the same rows here, or is refused by name. */
import { describe, expect, it } from 'vitest';
import { type RecordBatch, tableFromArrays, tableToIPC } from '../../src/arrow/apache.ts';
import type { FileBytes } from '../../src/ipc/foreign/foreign-file.ts';
import { openArrowBody, openArrowFile } from '../../src/ipc/foreign/foreign-ipc.ts';
import { corpus, found, REFUSED_HERE, readable, wanted } from '../helpers/foreign-corpus.ts';
import { ipcFixture } from '../helpers/foreign-samples.ts';

async function collected(
  body: Uint8Array | AsyncIterable<Uint8Array> | FileBytes,
): Promise<{ schema: RecordBatch['schema']; batches: RecordBatch[] }> {
  const stream = await ('piece' in body ? openArrowFile(body) : openArrowBody(body));
  const batches: RecordBatch[] = [];
  for await (const batch of stream) batches.push(batch);
  return { schema: stream.schema, batches };
}

async function* chunked(bytes: Uint8Array, size: number): AsyncGenerator<Uint8Array> {
  for (let at = 0; at < bytes.length; at += size) yield bytes.slice(at, at + size);
}

/** A file of which copies of ranges are read, `piece` bytes at once where nothing else bounds it. */
const ranges = (bytes: Uint8Array, piece: number): FileBytes => ({
  size: bytes.length,
  read: async (from, to) => bytes.slice(from, to),
  piece,
});

const writers = [...new Set(corpus.map(({ name }) => name.split('/')[0] as string))];

describe.each(writers)('%s', (writer) => {
  const mine = readable.filter(({ name }) => name.startsWith(`${writer}/`));

  it('gives the rows, names and metadata that pyarrow reads', async () => {
    expect(mine.length).toBeGreaterThan(1);
    for (const { name, bytes, expected } of mine) {
      const { schema, batches } = await collected(bytes);
      expect(found(schema, batches, expected), name).toEqual(wanted(expected));
    }
  });

  it('gives the same in chunks, by ranges, and where bytes are not aligned', async () => {
    for (const { name, bytes, expected } of mine) {
      const moved = new Uint8Array(bytes.length + 3).subarray(3);
      moved.set(bytes);
      for (const body of [chunked(bytes, 100), ranges(bytes, 104), moved]) {
        const { schema, batches } = await collected(body);
        expect(found(schema, batches, expected), name).toEqual(wanted(expected));
      }
    }
  });
});

describe('what is refused', () => {
  it('files that pyarrow refuses too', async () => {
    let tried = 0;
    for (const { name, bytes, expected } of corpus) {
      if (!('refused' in expected)) continue;
      await expect(collected(bytes), name).rejects.toMatchObject({ code: 'InvalidInput' });
      await expect(collected(ranges(bytes, 104)), name).rejects.toMatchObject({
        code: 'InvalidInput',
      });
      tried += 1;
    }
    expect(tried).toBeGreaterThan(15);
  });

  it.each([...REFUSED_HERE])('%s, where rows may be lost or multiplied', async (name, message) => {
    const file = corpus.find((one) => one.name === name);
    expect(file?.expected).toHaveProperty('rows');
    await expect(collected(file?.bytes as Uint8Array)).rejects.toMatchObject({
      code: 'InvalidInput',
      message: expect.stringMatching(message),
    });
  });

  it('a dictionary that a file replaces: batches before it would change', async () => {
    const replaced = corpus.find(({ name }) => name === 'by-hand/dictionary-replaced.arrow');
    await expect(collected(replaced?.bytes as Uint8Array)).rejects.toThrow(
      /dictionary batch 1: it replaces dictionary 0/,
    );
  });

  it('files that are no Arrow IPC, by name', async () => {
    for (const [head, message] of [
      ['FEA1', /a file of Feather version 1, not Arrow IPC. Write it as version 2/],
      ['PAR1', /a Parquet file, not Arrow IPC/],
    ] as const) {
      const bytes = Buffer.from(`${head}${'\0'.repeat(50)}${head}`);
      await expect(collected(bytes)).rejects.toMatchObject({
        code: 'InvalidInput',
        message: expect.stringMatching(message),
      });
      await expect(collected(chunked(bytes, 1))).rejects.toThrow(message);
    }
  });

  it('anything but zeros after the end of a stream', async () => {
    const stream = ipcFixture('dictionary-deltas.arrows');
    for (const [length, at] of [
      [1, 0],
      [70_000, 69_999],
      [200_000, 65_536],
    ] as const) {
      const more = new Uint8Array(length);
      expect((await collected(Buffer.concat([stream, more]))).batches).toHaveLength(3);
      more[at] = 1;
      await expect(collected(Buffer.concat([stream, more]))).rejects.toThrow(
        /bytes follow the end/,
      );
    }
  });
});

describe('bytes between the blocks of a file', () => {
  const file = tableToIPC(tableFromArrays({ n: Int32Array.of(1, 2, 3) }), 'file');
  const footerBytes = new DataView(file.buffer, file.byteOffset).getInt32(file.length - 10, true);
  const footerAt = file.length - 10 - footerBytes;
  const withGap = (gap: Uint8Array): Uint8Array =>
    Buffer.concat([file.subarray(0, footerAt), gap, file.subarray(footerAt)]);
  const rows = async (bytes: Uint8Array): Promise<number> =>
    (await collected(bytes)).batches.reduce((sum, { numRows }) => sum + numRows, 0);

  it('may be anything that is no message', async () => {
    const noise = Uint8Array.from({ length: 10_000 }, (_, at) => (at * at * 31 + at) >> 3);
    for (const gap of [
      new Uint8Array(1),
      noise,
      new Uint8Array(5_000).fill(255),
      file.subarray(0, 8),
    ]) {
      expect(await rows(withGap(gap))).toBe(3);
    }
  });

  it('may not be a batch that the footer does not list, wherever it stands', async () => {
    const batch = corpus.find(({ name }) => name === 'arrow-rs/plain.arrows')?.bytes as Uint8Array;
    const old = ipcFixture('types-v4.arrows');
    for (const message of [batch, old]) {
      for (const before of [0, 8, 4_096, 2 ** 22 - 64]) {
        const at = -footerAt & 7;
        const gap = Buffer.concat([new Uint8Array(at + before), message]);
        await expect(rows(withGap(gap))).rejects.toThrow(/does not list the rows or dictionary/);
      }
    }
  });

  it('may not be one that begins where the look through them takes its turns', async () => {
    const stream = corpus.find(({ name }) => name === 'arrow-rs/plain.arrows')?.bytes as Uint8Array;
    const view = new DataView(stream.buffer, stream.byteOffset);
    const message = stream.subarray(8 + view.getInt32(4, true));
    for (const before of [16, 8]) {
      const gap = Buffer.concat([new Uint8Array((-footerAt & 7) + 2 ** 22 - before), message]);
      await expect(rows(withGap(gap))).rejects.toThrow(/does not list the rows or dictionary/);
    }
  });

  it('are looked through between turns of the event loop, at a cost in proportion', async () => {
    // Each 8 bytes begin as a message does whose flatbuffer is the rest of the gap.
    const gap = new Uint8Array(2 ** 25);
    const words = new Int32Array(gap.buffer);
    for (let at = 0; at < words.length; at += 2) {
      words[at] = -1;
      words[at + 1] = (words.length - at - 2) * 4;
    }
    let turns = 0;
    const count = (): void => {
      turns += 1;
      if (turns < 1_000) counting = setImmediate(count);
    };
    let counting = setImmediate(count);
    const start = process.cpuUsage();
    expect(await rows(withGap(gap))).toBe(3);
    clearImmediate(counting);
    expect(process.cpuUsage(start).user / 1_000).toBeLessThan(4_000);
    expect(turns).toBeGreaterThan(5);
  });
});
