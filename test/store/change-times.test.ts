import fs from 'node:fs';
import { fs as memory } from 'memfs';
import { expect, it } from 'vitest';
import { ChangeTimes } from '../../src/store/disk/change-times.ts';
import type { FileStat } from '../../src/store/disk/file-system.ts';

const NOW = 1_790_000_000_500.25;
const EXT4 = 0xef53;

/** node:fs that says which kind of file system it is. */
const kindOf = (type: number) => ({
  default: fs,
  statfsSync: () => ({ type }),
  statSync: () => ({ dev: 7 }),
});

function settledAfter(given: object, ago: number, dev = 7): boolean {
  const times = new ChangeTimes(given as unknown as typeof fs, '/', { now: () => NOW });
  return times.isSettled({ dev } as FileStat, NOW - ago);
}

it.runIf(process.platform === 'linux')('takes 100 ms on local file systems of Linux', () => {
  for (const type of [EXT4, 0x58465342, 0x9123683e, 0x01021994, 0x794c7630]) {
    expect(settledAfter(kindOf(type), 101)).toBe(true);
    expect(settledAfter(kindOf(type), 99)).toBe(false);
  }
});

it('takes two seconds where changes may have the time of a slower clock', () => {
  const slow = [
    ['a network file system', kindOf(0x6969), 500.25 - 0.5, 7],
    ['a file system mounted below the root', kindOf(EXT4), 500.25 - 0.5, 8],
    ['a time in whole seconds', kindOf(EXT4), 500.25, 7],
    ['a file system that the caller gave', memory, 500.25 - 0.5, 7],
    ['one that does not say its kind', { default: fs }, 500.25 - 0.5, 7],
  ] as const;
  for (const [what, given, ago, dev] of slow) {
    expect(settledAfter(given, ago, dev), what).toBe(false);
    expect(settledAfter(given, ago + 2_000, dev), what).toBe(true);
  }
});
