/**
 * `readRanges` reads byte ranges of one file, into the caller's memory if that is given. A range
 * that begins where the one before it in the list ends is read together with it. `spaceFor`
 * computes how much memory the ranges need.
 */
import type { ByteRange } from '../../format/index.ts';
import type { Awaitable, ObjectReader } from '../../store/index.ts';
import { andThen } from '../work/index.ts';

/**
 * The bytes of each range, in `memory` if it is given, which has spaceFor the ranges. No read is
 * under way any more once this has ended, however it did.
 */
export function readRanges(
  object: ObjectReader,
  ranges: readonly ByteRange[],
  memory: Uint8Array | undefined,
): Awaitable<Uint8Array[]> {
  const [only, ...more] = ranges;
  if (only !== undefined && more.length === 0) {
    return andThen(object.read(only.offset, only.length, memory), (bytes) => [bytes]);
  }
  const runs = runsOf(ranges);
  let used = 0;
  const reads = runs.map(({ start, end }) => {
    const into = memory?.subarray(used);
    used += alignedTo8(end - start);
    try {
      return object.read(start, end - start, into);
    } catch (error) {
      return Promise.reject(error);
    }
  });
  const cut = (wholes: readonly Uint8Array[]): Uint8Array[] =>
    runs.flatMap((run, at) =>
      run.ranges.map(({ offset, length }) =>
        (wholes[at] as Uint8Array).subarray(offset - run.start, offset - run.start + length),
      ),
    );
  return reads.some((bytes) => bytes instanceof Promise)
    ? Promise.allSettled(reads).then(async () => cut(await Promise.all(reads)))
    : cut(reads as Uint8Array[]);
}

interface Run {
  readonly start: number;
  end: number;
  readonly ranges: ByteRange[];
}

function runsOf(ranges: readonly ByteRange[]): Run[] {
  const runs: Run[] = [];
  for (const range of ranges) {
    const last = runs.at(-1);
    if (last === undefined || last.end !== range.offset) {
      runs.push({ start: range.offset, end: range.offset + range.length, ranges: [range] });
    } else {
      last.end += range.length;
      last.ranges.push(range);
    }
  }
  return runs;
}

const alignedTo8 = (bytes: number): number => Math.ceil(bytes / 8) * 8;

export const spaceFor = (ranges: readonly ByteRange[]): number =>
  ranges.reduce((bytes, { length }) => bytes + alignedTo8(length), 0);
