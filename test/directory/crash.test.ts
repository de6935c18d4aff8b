/**
 * Every file system call of every kind of change is the last one, or fails: what is found afterwards
 * is the old state or the new one, nothing between, and the next write works.
 */
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { CRASH_OPERATIONS, type CrashOperation } from '../helpers/crash-operations.ts';
import { type CrashCase, crashCase, surviveFault, surviveKill } from '../helpers/crash-runs.ts';
import type { Fault } from '../helpers/faulty-fs.ts';
import { casesOf, LONG } from '../helpers/long.ts';

/** Some of the faults of the proof T1, which walks through all of them; `step` is that of a long run. */
const FAULTS = [
  { kind: 'EIO', step: 2 },
  { kind: 'ENOSPC', persistent: true, step: 5 },
  { kind: 'EIO', after: true, step: 3 },
];

/**
 * A usual run kills at a few of the calls that make, move or remove a name: what is between is the
 * content of files, which the tests of the store tear. A long run kills at all calls.
 */
const KILLS = casesOf(29, 1);
const OF_NAMES = LONG
  ? {}
  : { only: ['linkSync', 'renameSync', 'unlinkSync', 'mkdirSync', 'rmdirSync'] };
/** A usual run lets a call fail out of so many, in one way after another, each way at least once. */
const FAILURES = 400;

/** Stands still. memfs asks at every step, and a fake clock of vitest takes a tenth of this test. */
class StillDate extends Date {
  static readonly #now = Date.now();

  constructor(...given: readonly unknown[]) {
    super(...((given.length === 0 ? [StillDate.#now] : given) as [number]));
  }

  static override now(): number {
    return StillDate.#now;
  }
}

// Runs that come to the same leave equal disks, times and all, of which one is looked at.
beforeAll(() => vi.stubGlobal('Date', StillDate));
afterAll(() => vi.unstubAllGlobals());

/** Every `step`th call to the last one. */
async function walk(
  step: number,
  survive: (at: number) => Promise<boolean>,
  first = 1,
): Promise<void> {
  for (let at = first; ; at += step) {
    try {
      if (!(await survive(at))) return;
    } catch (error) {
      expect.fail(`call ${at}: ${String((error as Error).stack)}`);
    }
  }
}

for (const managed of [false, true]) {
  const mode = managed ? 'managed' : 'plain';
  for (const [index, [name, operation]] of Object.entries(CRASH_OPERATIONS).entries()) {
    // Other operations do not commit versions, or do it as append does.
    if (managed && !operation.managed) continue;

    let made: Promise<CrashCase> | undefined;
    const caseOf = async (): Promise<CrashCase> => {
      made ??= crashCase(name, operation, managed).then((each) => ({ ...each, seen: new Map() }));
      return made;
    };

    test(`${mode}: ${name}, killed after every call`, async () => {
      const each = await caseOf();
      // Operations share many of their first calls, so each begins with another one.
      const first = 1 + (index % KILLS);
      await walk(KILLS, (at) => surviveKill(each, at, OF_NAMES), first);
    }, 180_000);

    test(`${mode}: ${name}, every call fails once or for good`, async () => {
      const each = await caseOf();
      if (LONG) {
        for (const { step, ...fault } of FAULTS)
          await walk(step, (at) => surviveFault(each, { at, ...fault }));
        return;
      }
      const step = Math.min(FAILURES, Math.floor(each.calls / FAULTS.length));
      let nth = index;
      const survive = (at: number): Promise<boolean> => {
        const { kind, persistent, after } = FAULTS[nth++ % FAULTS.length] as Omit<Fault, 'at'>;
        // Past the last call nothing fails, which the kills come to as well.
        if (at > each.calls) return Promise.resolve(false);
        return surviveFault(each, {
          at,
          kind,
          ...(persistent && { persistent }),
          ...(after && { after }),
        });
      };
      await walk(step, survive, 1 + (index % step));
    }, 180_000);
  }
}

test.each(['remove old versions', 'append'])(
  'a disk that denies there is a file costs nothing and hangs nobody: %s',
  async (name) => {
    const found = await crashCase(name, CRASH_OPERATIONS[name] as CrashOperation);
    const each = { ...found, seen: new Map<string, string>() };
    await walk(casesOf(160, 1), (at) => surviveFault(each, { at, kind: 'ENOENT' }));
    await walk(
      casesOf(560, 3),
      (at) => surviveFault(each, { at, kind: 'ENOENT', persistent: true }),
      2,
    );
  },
  180_000,
);
