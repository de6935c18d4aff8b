/** T22: the strict file system in memory against the real disk: the same calls, outcome by outcome. */
import nodeFs from 'node:fs';
import { isDeepStrictEqual } from 'node:util';
import type { FileSystem } from '../../src/store/disk/file-system.ts';
import { strictFileSystem } from '../../src/store/disk/strict-fs.ts';
import {
  FILE_SYSTEM_CASES,
  isAskedOfNone,
  outcomeOf,
  prepareTree,
  randomSteps,
  type Step,
  treeOf,
} from '../helpers/fs-script.ts';
import { memoryFs } from '../helpers/memory-fs.ts';
import { seeded } from '../helpers/seeded.ts';
import { inFolder } from './processes.ts';
import { inRounds } from './rounds.ts';
import type { ProofContext, ProofRow } from './row.ts';

const SEQUENCES = { ci: 200, short: 2_000, nightly: 2_000 };

/** Asks both the same; what differs is told. The folder is used up. */
function compare(folder: string, steps: readonly Step[], told: (what: string) => void): number {
  const memory = strictFileSystem(memoryFs());
  memory.mkdirSync('/r/oot', { recursive: true });
  nodeFs.mkdirSync(folder);
  const sides: readonly (readonly [FileSystem, string])[] = [
    [nodeFs, folder],
    [memory, '/r/oot'],
  ];
  for (const [fs, root] of sides) prepareTree(fs, root);
  let asked = 0;
  for (const step of steps) {
    if (isAskedOfNone(nodeFs, folder, step)) continue;
    asked++;
    const [onDisk, inMemory] = sides.map(([fs, root]) => outcomeOf(fs, root, step));
    if (!isDeepStrictEqual(inMemory, onDisk)) {
      told(
        `${step.join(' ').slice(0, 100)}: ${String(onDisk)} on disk, ${String(inMemory)} in memory`,
      );
      break;
    }
  }
  const [onDisk, inMemory] = sides.map(([fs, root]) => treeOf(fs, root));
  if (!isDeepStrictEqual(inMemory, onDisk)) told('the trees differ at the end');
  nodeFs.rmSync(folder, { recursive: true });
  return asked;
}

async function run(context: ProofContext): Promise<{ cases: number; note: string }> {
  let asked = 0;
  let cases = 0;
  await inFolder(async (folder) => {
    for (const steps of FILE_SYSTEM_CASES) {
      const what = steps.map((step) => step.join(' ').slice(0, 40)).join('; ');
      asked += compare(`${folder}/${cases++}`, steps, (told) =>
        context.violated(`${what}: ${told}`),
      );
    }
    await inRounds(context, (seed) => {
      for (let at = 0; at < SEQUENCES[context.size]; at++) {
        const own = (seed + at) >>> 0;
        const steps = randomSteps(seeded(own));
        asked += compare(`${folder}/${cases++}`, steps, (told) => context.violated(told, own));
      }
      return 0;
    });
  });
  return { cases, note: `${FILE_SYSTEM_CASES.length} by name; ${asked} calls` };
}

export const strictFs: ProofRow = { row: 'T22 strict file system', run };
