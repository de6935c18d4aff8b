/**
 * The strict wrapper over memfs against the real disk: the same calls, outcome by outcome.
 *
 * What memfs alone answers differently is counted too, so that the wrapper is known to be needed.
 */
import nodeFs from 'node:fs';
import fc from 'fast-check';
import { createFsFromVolume, Volume } from 'memfs';
import { describe, expect, test } from 'vitest';
import type { FileSystem } from '../../src/store/disk/file-system.ts';
import { strictFileSystem } from '../../src/store/disk/strict-fs.ts';
import {
  FILE_SYSTEM_CASES,
  isAskedOfNone,
  outcomeOf,
  prepareTree,
  randomSteps,
  tooLong,
  treeOf,
} from '../helpers/fs-script.ts';
import { casesOf } from '../helpers/long.ts';
import { seeded } from '../helpers/seeded.ts';
import { temporaryFolder } from '../helpers/temporary.ts';

function bothRoots(): { disk: [FileSystem, string]; memory: [FileSystem, string] } {
  const volume = strictFileSystem(createFsFromVolume(new Volume()));
  volume.mkdirSync('/r/oot', { recursive: true });
  return { disk: [nodeFs, temporaryFolder()], memory: [volume, '/r/oot'] };
}

describe('the strict wrapper answers as the disk does', () => {
  test.each(
    FILE_SYSTEM_CASES.map(
      (steps) => [steps.map((step) => step.join(' ').slice(0, 40)).join('; '), steps] as const,
    ),
  )('%s', (_title, steps) => {
    const { disk, memory } = bothRoots();
    prepareTree(...disk);
    prepareTree(...memory);
    const onDisk = steps.map((step) => outcomeOf(...disk, step));
    const inMemory = steps.map((step) => outcomeOf(...memory, step));
    expect(inMemory).toEqual(onDisk);
    expect(treeOf(...memory)).toEqual(treeOf(...disk));
  });

  test('random sequences', () => {
    fc.assert(
      fc.property(fc.integer(), (seed) => {
        const { disk, memory } = bothRoots();
        prepareTree(...disk);
        prepareTree(...memory);
        for (const step of randomSteps(seeded(seed))) {
          if (isAskedOfNone(...disk, step)) continue;
          expect([step, outcomeOf(...memory, step)]).toEqual([step, outcomeOf(...disk, step)]);
        }
        expect(treeOf(...memory)).toEqual(treeOf(...disk));
      }),
      { numRuns: casesOf(100, 300) },
    );
  });

  test('memfs alone does not', () => {
    const volume = createFsFromVolume(new Volume());
    volume.mkdirSync('/r', { recursive: true });
    prepareTree(volume, '/r');
    expect(outcomeOf(volume, '/r', ['rename', 'full', 'other'])).toBe('ok');
    expect(outcomeOf(volume, '/r', ['create', tooLong])).toBe(tooLong.length);
  });

  test('wrapping is idempotent and leaves node:fs alone', () => {
    const volume = createFsFromVolume(new Volume());
    const strict = strictFileSystem(volume);
    expect(strictFileSystem(volume)).toBe(strict);
    expect(strictFileSystem(strict)).toBe(strict);
    expect(strictFileSystem(nodeFs)).toBe(nodeFs);
  });
});
