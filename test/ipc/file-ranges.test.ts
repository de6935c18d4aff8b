/** Arrow files read by ranges: what is wrong with one is told as it is of one in memory. */
import { expect, test } from 'vitest';
import { Table, tableFromArrays, tableToIPC } from '../../src/arrow/apache.ts';
import { isDirspaceError } from '../../src/errors.ts';
import { type FileBytes, openArrowBody, openArrowFile } from '../../src/ipc/index.ts';
import { damagedAtRandom, STAMPS, stamped } from '../helpers/damage.ts';
import { seeded } from '../helpers/seeded.ts';

const batch = (first: number) =>
  tableFromArrays({ n: Int32Array.of(first, 2, 3), word: ['a', 'b', 'a'] }).batches;
const [one] = batch(1);
const good = tableToIPC(new Table([one as never, one as never]), 'file');

const rangesOf = (bytes: Uint8Array, more: Partial<FileBytes> = {}): FileBytes => ({
  size: bytes.length,
  read: (from, to) => bytes.slice(from, to),
  piece: 64,
  ...more,
});

/** The rows, or the error of ours. */
async function outcome(open: () => ReturnType<typeof openArrowFile>): Promise<string> {
  try {
    const rows: unknown[] = [];
    for await (const { data } of await open()) {
      rows.push(data.children.map(({ values }) => [...(values as Uint8Array)]));
    }
    return JSON.stringify(rows);
  } catch (error) {
    if (isDirspaceError(error, 'InvalidInput', 'PayloadTooLarge')) return error.message;
    throw error;
  }
}

const bothWays = async (bytes: Uint8Array): Promise<[string, string]> => [
  await outcome(() => openArrowBody(bytes)),
  await outcome(() => openArrowFile(rangesOf(bytes))),
];

test('whole, cut anywhere, and damaged anywhere: the outcome is that of bytes in memory', async () => {
  const [whole, read] = await bothWays(good);
  expect(read).toBe(whole);
  expect(whole).toMatch(/^\[\[/);
  for (let end = 0; end < good.length; end += 5) {
    const [memory, ranges] = await bothWays(good.slice(0, end));
    expect(ranges, `cut at ${end}`).toBe(memory);
  }
  for (let at = good.length - 400; at + 4 <= good.length; at += 2) {
    for (const word of STAMPS) {
      const [memory, ranges] = await bothWays(stamped(good, at, word));
      expect(ranges, `${word} at ${at}`).toBe(memory);
    }
  }
  const random = seeded(31);
  for (let round = 0; round < 500; round++) {
    const [memory, ranges] = await bothWays(damagedAtRandom(good, random));
    expect(ranges, `round ${round}`).toBe(memory);
  }
});

const { length } = good;
const empty = new Uint8Array(0);
test.each<[string, Partial<FileBytes>]>([
  ['says more bytes than it has', { size: length + 1000 }],
  ['says more bytes than there are', { size: 1e15 }],
  ['says fewer bytes', { size: length - 8 }],
  ['says half a byte', { size: length + 0.5 }],
  ['says a negative size', { size: -1 }],
  ['says no size', { size: Number.NaN }],
  ['says no end', { size: Number.POSITIVE_INFINITY }],
  ['gives longer ranges', { read: (from, to) => good.slice(from, to + 100) }],
  ['gives all of it', { read: () => good.slice() }],
  ['gives shorter ranges', { read: (from, to) => good.slice(from, to - 1) }],
  ['gives nothing', { read: () => empty }],
  ['gives other bytes', { read: (from, to) => new Uint8Array(to - from).fill(7) }],
])('a file that %s is refused', async (_, lie) => {
  expect(await outcome(() => openArrowFile(rangesOf(good, lie)))).not.toMatch(/^\[/);
});

test('one that becomes shorter, or another one, while it is read is refused', async () => {
  const other = good.map((byte, at) => (at < length / 2 ? byte ^ 3 : byte));
  for (const later of [empty, good.slice(0, length / 2), other]) {
    for (let reads = 1; reads < 5; reads++) {
      let count = 0;
      const read = (from: number, to: number): Uint8Array =>
        (count++ < reads ? good : later).slice(from, to);
      const found = await outcome(() => openArrowFile(rangesOf(good, { read })));
      if (count > reads) expect(found, `after ${reads}`).not.toMatch(/^\[\[.*\]\]$/);
    }
  }
});
