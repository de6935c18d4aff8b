/** Random sequences of operations on the engine and on a naive model: every outcome agrees. */
import nodeFs from 'node:fs';
import { expect, test } from 'vitest';
import { openDirectoryNamespace } from '../../src/directory/directory-namespace.ts';
import type { FileSystem } from '../../src/store/disk/file-system.ts';
import { Steps } from '../helpers/catalog-steps.ts';
import { casesOf } from '../helpers/long.ts';
import { memoryFs } from '../helpers/memory-fs.ts';
import { outcomeOf } from '../helpers/outcome.ts';
import { seeded } from '../helpers/seeded.ts';
import { temporaryFolder } from '../helpers/temporary.ts';
import { visibleState } from '../helpers/visible-state.ts';

async function runSequence(
  seed: number,
  steps: number,
  place: { readonly root: string; readonly fs?: FileSystem; readonly managedVersioning?: boolean },
): Promise<void> {
  const random = seeded(seed);
  const sequence = new Steps(random);
  const options = { ...place, durability: 'relaxed' } as const;
  let catalog = await openDirectoryNamespace(options);
  // A second handle whose caches go stale all the time.
  const other = await openDirectoryNamespace(options);
  const told: string[] = [];
  const tell = (): string => `seed ${seed}: ${told.slice(-25).join('; ')}`;
  for (let count = 0; count < steps; count++) {
    const step = sequence.next();
    const expected = step.model();
    told.push(`${step.name} -> ${expected}`);
    if (random() < 0.1) {
      await catalog.close();
      catalog = await openDirectoryNamespace(options);
    }
    const by = random() < 0.25 ? other : catalog;
    let found: string;
    try {
      found = await outcomeOf(step.engine(by));
    } catch (error) {
      throw new Error(tell(), { cause: error });
    }
    if (found !== expected) expect({ run: tell(), outcome: found }).toEqual({ outcome: expected });
    if (random() < (expected === 'ok' ? 0.25 : 0.03) || count === steps - 1) {
      let state: unknown;
      try {
        state = await visibleState(random() < 0.3 ? other : catalog);
      } catch (error) {
        throw new Error(tell(), { cause: error });
      }
      expect(state, tell()).toEqual(sequence.model.state());
    }
  }
  expect((await catalog.verify({})).problems, tell()).toEqual([]);
  await catalog.close();
  await other.close();
}

/** Another one each day; DIRSPACE_SEED replays a run. */
const FIRST = Number(process.env.DIRSPACE_SEED ?? Math.floor(Date.now() / 86_400_000) * 10_000);

const SEQUENCES = casesOf(20, 1000);

test(`in memory, ${SEQUENCES} sequences`, async () => {
  for (let seed = FIRST; seed < FIRST + SEQUENCES; seed++) {
    await runSequence(seed, 30, { root: '/c', fs: memoryFs() });
  }
}, 180_000);

const OTHERS = casesOf(10, 30);

test(`in memory with managed versioning, ${OTHERS} sequences`, async () => {
  for (let seed = FIRST; seed < FIRST + OTHERS; seed++) {
    await runSequence(seed, 30, { root: '/c', fs: memoryFs(), managedVersioning: true });
  }
}, 60_000);

const ON_DISK = casesOf(4, 10);

test(`on the disk, ${ON_DISK} sequences`, async () => {
  for (let seed = FIRST; seed < FIRST + ON_DISK; seed++) {
    await runSequence(seed, 40, { root: temporaryFolder(), fs: nodeFs });
  }
}, 60_000);
