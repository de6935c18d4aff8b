/**
 * T6: the power goes, on real file systems: images of them are mounted, a process works there, and
 * the file system is told to stop at once, with what it has not written. Then it is mounted again.
 */
import { spawnSync } from 'node:child_process';
import { mkdirSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as later } from 'node:timers/promises';
import { seeded } from '../helpers/seeded.ts';
import { type Counts, checked, type Lane, noCounts, noteOf } from './kill-check.ts';
import type { KillLine, KillTask } from './kill-child.ts';
import { emptyState } from './kill-model.ts';
import { Child, inFolder } from './processes.ts';
import type { ProofContext, ProofRow } from './row.ts';

/** Cuts of each kind of file system. */
const CUTS = { ci: 3, short: 10, nightly: 100 };
const KINDS = [
  { kind: 'ext4', format: ['mkfs.ext4', '-q', '-F'], bytes: 64 * 1024 * 1024 },
  { kind: 'xfs', format: ['mkfs.xfs', '-q', '-f'], bytes: 320 * 1024 * 1024 },
];
type Kind = (typeof KINDS)[number];
/** Cuts that share an image, each going on where the one before was. */
const CUTS_AN_IMAGE = 10;
const LANES = 3;
/** The cut comes up to so many milliseconds after one of the first so many operations began. */
const LATEST = 10;
const OPERATIONS = 40;
/** The call that stops a file system; its journal is written to the end with 1, cut off with 2. */
const SHUTDOWN = 0x8004587d;
const FLAGS = [1, 2];

const run = (command: string, ...args: readonly string[]): string | undefined => {
  const { status, stderr, error } = spawnSync(command, args, { encoding: 'utf8' });
  return status === 0 ? undefined : `${command}: ${error?.message ?? stderr.trim()}`;
};

/** @throws when it fails */
function must(command: string, ...args: readonly string[]): void {
  const failure = run(command, ...args);
  if (failure !== undefined) throw new Error(failure);
}

const stop = (place: string, flag: number): void =>
  must(
    'perl',
    '-e',
    'open(my $folder, "<", $ARGV[0]) or die $!; my $how = pack("L", $ARGV[2]); ioctl($folder, $ARGV[1], $how) or die $!',
    place,
    `${SHUTDOWN}`,
    `${flag}`,
  );

export const fileSystemImages: ProofRow = {
  row: 'T6 file-system images',
  run: (context) =>
    inFolder(async (folder) => {
      const counts = noCounts();
      const notes: string[] = [];
      let cases = 0;
      for (const kind of KINDS) {
        const missing = unusable(folder, kind);
        if (missing !== undefined) {
          notes.push(`no ${kind.kind}: ${missing}`);
          continue;
        }
        cases += await cuts(context, folder, kind, counts);
        notes.push(kind.kind);
      }
      if (cases === 0) return { cases, skipped: notes.join('; ') };
      return { cases, note: `${notes.join(', ')}; ${LANES} catalogs each; ${noteOf(counts)}` };
    }),
};

function image(folder: string, { format, bytes }: Kind, name: string): string {
  const path = join(folder, name);
  writeFileSync(path, '');
  truncateSync(path, bytes);
  must(format[0] as string, ...format.slice(1), path);
  return path;
}

/** Why file systems of this kind cannot be made, mounted and stopped here. */
function unusable(folder: string, kind: Kind): string | undefined {
  const place = join(folder, `try-${kind.kind}`);
  mkdirSync(place);
  try {
    must('mount', '-o', 'loop', image(folder, kind, `try-${kind.kind}.img`), place);
  } catch (error) {
    return (error as Error).message;
  }
  try {
    stop(place, 2);
    return undefined;
  } catch (error) {
    return (error as Error).message;
  } finally {
    run('umount', '-l', place);
  }
}

async function cuts(
  { seed, size, deadline, violated }: ProofContext,
  folder: string,
  kind: Kind,
  counts: Counts,
): Promise<number> {
  const random = seeded(seed);
  const place = join(folder, kind.kind);
  mkdirSync(place);
  let path = '';
  let lanes: (Lane | undefined)[] = [];
  let cut = 0;
  for (; cut < CUTS[size]; cut++) {
    if (size === 'nightly' && performance.now() > deadline) break;
    if (cut % CUTS_AN_IMAGE === 0) {
      lanes = [];
      path = image(folder, kind, `${kind.kind}-${cut}.img`);
    }
    must('mount', '-o', 'loop', path, place);
    try {
      const given = Array.from(
        { length: LANES },
        (_, lane) => lanes[lane] ?? { root: join(place, `${cut}-${lane}`), state: emptyState },
      );
      const lines = await workUntilCut(given, place, random);
      must('mount', '-o', 'loop', path, place);
      lanes = await Promise.all(
        given.map(async (lane, at) => {
          try {
            const own = lines.filter((line) => line.lane === at);
            return { ...lane, state: await checked(lane, 'full', own, counts) };
          } catch (error) {
            violated(`${kind.kind}, cut ${cut}, catalog ${at}: ${(error as Error).stack}`);
            return undefined;
          }
        }),
      );
    } finally {
      run('umount', '-l', place);
    }
  }
  return cut;
}

/** What the process said. It is gone, and so is the mounted file system. */
async function workUntilCut(
  lanes: readonly Lane[],
  place: string,
  random: () => number,
): Promise<readonly KillLine[]> {
  const child = new Child<KillLine>('kill-child');
  await child.line(({ ready }) => ready === true);
  const seeded = lanes.map((lane) => ({ ...lane, seed: Math.floor(random() * 2 ** 31) }));
  child.tell({ durability: 'full', lanes: seeded } satisfies KillTask);
  let operations = Math.floor(random() * OPERATIONS);
  await child.line(
    ({ error, begin }) => error !== undefined || (begin !== undefined && operations-- <= 0),
  );
  await later(random() * LATEST);
  const before = child.lines.length;
  stop(place, FLAGS[Math.floor(random() * FLAGS.length)] as number);
  await child.kill();
  must('umount', place);
  // Whatever fails from then on failed for want of power: it may be there or not.
  return child.lines.filter(({ error }, at) => error === undefined || at < before);
}
