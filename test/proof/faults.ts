/** T1: every call of the file system fails in every way, in every kind of operation. */
import { CRASH_OPERATIONS, type CrashOperation } from '../helpers/crash-operations.ts';
import { type CrashCase, crashCase, surviveFault } from '../helpers/crash-runs.ts';
import type { Fault } from '../helpers/faulty-fs.ts';
import { seeded } from '../helpers/seeded.ts';
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

/** How many calls of an operation fail at most, spread over all; other seeds choose others. */
const CALLS = { ci: 3, short: 150, nightly: Number.POSITIVE_INFINITY };
/** With how many of the faults, of 25. */
const FAULTS_A_CALL = { ci: 1, short: 1, nightly: FAULTS.length };
/** Milliseconds that an operation with a fault may take, with everything that is checked after. */
const LONGEST = 30_000;

/** Seeds from here on name one case, and replay it alone. */
const ONE_CASE = 2 ** 31;
const MOST_CALLS = 1_000;
const NAMES = Object.keys(CRASH_OPERATIONS);

interface FaultCase {
  readonly name: string;
  readonly managed: boolean;
  readonly fault: number;
  readonly at: number;
}

export const seedOf = ({ name, managed, fault, at }: FaultCase): number =>
  ONE_CASE +
  ((NAMES.indexOf(name) * 2 + Number(managed)) * FAULTS.length + fault) * MOST_CALLS +
  at;

function caseOf(seed: number): FaultCase {
  const at = (seed - ONE_CASE) % MOST_CALLS;
  const place = Math.floor((seed - ONE_CASE) / MOST_CALLS);
  const operation = Math.floor(place / FAULTS.length);
  const name = NAMES[operation >> 1];
  if (name === undefined) throw new Error(`${seed} names no case`);
  return { name, managed: operation % 2 === 1, fault: place % FAULTS.length, at };
}

export const faults: ProofRow = {
  row: 'T1 fault at every call',
  async run(context) {
    if (context.seed >= ONE_CASE) {
      const one = caseOf(context.seed);
      const operation = CRASH_OPERATIONS[one.name] as CrashOperation;
      await survive(await crashCase(one.name, operation, one.managed), one, context);
      return { cases: 1, note: `${one.name}, call ${one.at}` };
    }
    const random = seeded(context.seed);
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
  context: ProofContext,
  random: () => number,
): Promise<number> {
  const { name, managed } = each;
  const count = FAULTS_A_CALL[context.size];
  const step = Math.max(1, each.calls / CALLS[context.size]);
  let cases = 0;
  for (let next = 1 + random() * step; next < each.calls + 1; next += step) {
    const at = Math.floor(next);
    const first = Math.floor(random() * FAULTS.length);
    for (let nth = 0; nth < count; nth++) {
      const fault = (first + nth * 7) % FAULTS.length;
      await survive(each, { name, managed, fault, at }, context);
      cases++;
    }
  }
  return cases;
}

async function survive(
  each: CrashCase,
  one: FaultCase,
  { violated }: Pick<ProofContext, 'violated'>,
): Promise<void> {
  const fault: Fault = { ...(FAULTS[one.fault] as Omit<Fault, 'at'>), at: one.at };
  try {
    await bounded(surviveFault(each, fault));
  } catch (error) {
    const mode = one.managed ? 'managed, ' : '';
    const what = `${mode}${one.name}, ${JSON.stringify(fault)}: ${(error as Error).stack}`;
    violated(what, seedOf(one));
  }
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
