/** T1: every call of the file system fails in every way, in every kind of operation. */
import { CRASH_OPERATIONS } from '../helpers/crash-operations.ts';
import { type CrashCase, crashCase, surviveFault } from '../helpers/crash-runs.ts';
import type { Fault } from '../helpers/faulty-fs.ts';
import { randomOf } from './processes.ts';
import type { ProofContext, ProofRow } from './row.ts';

const ERRORS = ['EIO', 'ENOSPC', 'EMFILE', 'EACCES', 'EROFS', 'ENOENT'];

/** How a call can fail. A short write is none: it is continued. */
const FAULTS: readonly Omit<Fault, 'at'>[] = [
  ...ERRORS.flatMap((kind) =>
    [false, true].flatMap((persistent) =>
      [false, true].map((after) => ({ kind, persistent, after })),
    ),
  ),
  { kind: 'short' },
];

/** Every call has its turn; with how many of the faults, of 25. */
const FAULTS_A_CALL = { ci: 1, short: 3, nightly: FAULTS.length };
/** Milliseconds that an operation with a fault may take, with everything that is checked after. */
const LONGEST = 30_000;

export const faults: ProofRow = {
  row: 'T1 fault at every call',
  async run(context) {
    const random = randomOf(context.seed);
    let [cases, operations, longest] = [0, 0, 0];
    for (const managed of [false, true]) {
      for (const [name, operation] of Object.entries(CRASH_OPERATIONS)) {
        // Other operations do not commit versions, or do it as append does.
        if (managed && !operation.managed) continue;
        const each = await crashCase(name, operation, managed);
        cases += await everyCall(each, context, random);
        operations++;
        longest = Math.max(longest, each.calls);
      }
    }
    return { cases, note: `${operations} operations of up to ${longest} calls` };
  },
};

async function everyCall(
  each: CrashCase,
  { size, violated }: ProofContext,
  random: () => number,
): Promise<number> {
  let cases = 0;
  const count = FAULTS_A_CALL[size];
  for (let at = 1; at <= each.calls; at++) {
    const first = Math.floor(random() * FAULTS.length);
    for (let nth = 0; nth < count; nth++) {
      const fault = FAULTS[(first + nth * 7) % FAULTS.length] as Omit<Fault, 'at'>;
      cases++;
      try {
        await bounded(surviveFault(each, { ...fault, at }));
      } catch (error) {
        const mode = each.managed ? 'managed, ' : '';
        violated(
          `${mode}${each.name}, ${JSON.stringify({ ...fault, at })}: ${String((error as Error).stack)}`,
        );
      }
    }
  }
  return cases;
}

/** @throws when the work takes too long: an operation that hangs is wrong as well */
async function bounded<T>(work: Promise<T>): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(`no end after ${LONGEST} ms`)), LONGEST);
  });
  try {
    return await Promise.race([work, late]);
  } finally {
    clearTimeout(timer);
  }
}
