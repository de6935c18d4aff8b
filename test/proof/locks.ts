/**
 * Locks taken over, robbed, blocked, killed, from the past and from the future. Two may hold one at
 * the same time; what they write is right nevertheless, and nobody's process ends over it.
 */
import { createHash } from 'node:crypto';
import { mkdirSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import {
  type DirectoryNamespace,
  openDirectoryNamespace,
} from '../../src/directory/directory-namespace.ts';
import { idsOf, people } from '../helpers/people.ts';
import { Child, inFolder } from './processes.ts';
import type { ProofContext, ProofRow } from './row.ts';

export interface LockTask {
  readonly root: string;
  readonly key: string;
  /** The id of the row that it appends. */
  readonly row: number;
  readonly waitMs: number;
  /** Stops the whole process for as long. */
  readonly blockMs?: number;
  /** Stays inside for as long. */
  readonly holdMs?: number;
  /** Milliseconds that its clock is ahead. */
  readonly skew?: number;
  readonly frozen?: boolean;
}

interface Line {
  readonly ready?: true;
  readonly inside?: number;
  readonly done?: number;
  readonly held?: boolean;
  readonly stillHeld?: boolean;
  readonly from?: number;
  readonly to?: number;
}

const CHILDREN = 8;
const TRIALS = { ci: 2, short: 20, nightly: 500 } as const;
/** Longer than a holder may be silent. */
const STALE = 60_000;
const HOUR = 3_600_000;
/** Longer than a holder goes without a look at its lock. */
const HEARTBEAT = 11_000;

class Bench {
  readonly root: string;
  readonly children: readonly Child<Line>[];
  readonly rows: number[] = [0];
  readonly violated: ProofContext['violated'];

  constructor(root: string, violated: ProofContext['violated']) {
    this.root = root;
    this.children = Array.from({ length: CHILDREN }, () => new Child<Line>('lock-child'));
    this.violated = violated;
  }

  begin(child: Child<Line>, key: string, task: Partial<LockTask> = {}): number {
    const row = this.rows.length;
    this.rows.push(row);
    child.tell({ root: this.root, key, row, waitMs: 100, ...task } satisfies LockTask);
    return row;
  }

  child(index: number): Child<Line> {
    return this.children[index] as Child<Line>;
  }

  async inside(child: Child<Line>, row: number): Promise<Line | undefined> {
    const line = await child.line(({ inside }) => inside === row);
    if (line === undefined) this.violated(`the process with row ${row} ended before its work`);
    return line;
  }

  async done(child: Child<Line>, row: number): Promise<Line | undefined> {
    const line = await child.line(({ done }) => done === row);
    if (line === undefined) this.violated(`the process with row ${row} ended during its work`);
    return line;
  }

  lock(key: string): string {
    const name = createHash('sha256').update(key).digest('hex').slice(0, 32);
    return `${this.root}/.dirspace/locks/${name}`;
  }

  /** As if its holder had been silent for `ms`; negative: as if it came from the future. */
  age(key: string, ms: number): void {
    const moment = new Date(Date.now() - ms);
    utimesSync(this.lock(key), moment, moment);
  }
}

type Case = (bench: Bench, key: string) => Promise<void>;

const [HOLDER, THIEF, THIRD] = [0, 1, 2];

/** Somebody holds the lock for a heartbeat while `meddle` goes on. */
async function whileHeld(
  bench: Bench,
  key: string,
  task: Partial<LockTask>,
  meddle: (holder: Child<Line>) => Promise<void>,
): Promise<void> {
  const holder = bench.child(HOLDER);
  const row = bench.begin(holder, key, task);
  await bench.inside(holder, row);
  await meddle(holder);
  await bench.done(holder, row);
}

async function take(bench: Bench, key: string, index: number, task: Partial<LockTask> = {}) {
  const child = bench.child(index);
  const row = bench.begin(child, key, task);
  return bench.done(child, row);
}

const CASES: Readonly<Record<string, Case>> = {
  'an event loop that stands still while its lock is taken over': (bench, key) =>
    whileHeld(bench, key, { blockMs: 1_500 }, async () => {
      bench.age(key, STALE);
      await take(bench, key, THIEF, { waitMs: 5_000 });
    }),
  'a lock that is taken over and missed at the next heartbeat': (bench, key) =>
    whileHeld(bench, key, { holdMs: HEARTBEAT }, async () => {
      bench.age(key, STALE);
      await take(bench, key, THIEF, { waitMs: 5_000 });
      await take(bench, key, THIRD);
    }),
  'a holder that is killed': async (bench, key) => {
    const victim = new Child<Line>('lock-child');
    const row = bench.begin(victim, key, { holdMs: HOUR });
    await bench.inside(victim, row);
    await bench.child(THIRD).line(({ ready }) => ready === true);
    // Its row may be there or not: it is asked for below.
    await victim.kill();
    bench.rows[row] = -row;
    const line = await take(bench, key, THIEF, { waitMs: 60 });
    if (line?.held !== true)
      bench.violated('the lock of a killed process is not taken over at once');
    await take(bench, key, THIRD, { waitMs: 5_000 });
  },
  'clocks 15 seconds apart': (bench, key) =>
    whileHeld(bench, key, { holdMs: 500 }, async () => {
      await take(bench, key, THIEF, { skew: 15_000 });
      await take(bench, key, THIRD, { skew: -15_000 });
    }),
  'clocks an hour apart': (bench, key) =>
    whileHeld(bench, key, { holdMs: 500 }, async () => {
      await take(bench, key, THIEF, { skew: HOUR });
      await take(bench, key, THIRD, { skew: -HOUR });
    }),
  'a stray file in the folder of a lock': async (bench, key) => {
    mkdirSync(bench.lock(key), { recursive: true });
    writeFileSync(`${bench.lock(key)}/stray`, '');
    bench.age(key, STALE);
    await Promise.all([take(bench, key, THIEF), take(bench, key, THIRD)]);
  },
  'a release of what was robbed': (bench, key) =>
    whileHeld(bench, key, { blockMs: 300 }, async () => {
      rmSync(bench.lock(key), { recursive: true, force: true });
      const thief = bench.child(THIEF);
      const row = bench.begin(thief, key, { holdMs: 800 });
      await bench.inside(thief, row);
      await take(bench, key, THIRD);
      await bench.done(thief, row);
    }),
  'a file system that is frozen': (bench, key) =>
    whileHeld(bench, key, { frozen: true, holdMs: 200 }, async () => {
      await take(bench, key, THIEF, { frozen: true });
    }),
};

/** All at once on a lock whose holder died. Returns how many were inside at the same time. */
async function trial(bench: Bench, key: string): Promise<number> {
  mkdirSync(bench.lock(key), { recursive: true });
  bench.age(key, STALE);
  const lines = await Promise.all(
    bench.children.map((child) => {
      const row = bench.begin(child, key, { waitMs: 10_000, holdMs: 5 });
      return bench.done(child, row);
    }),
  );
  const spans = lines.flatMap((line) => (line?.held === true ? [line] : []));
  const inside = (at: number): number =>
    spans.filter(({ from = 0, to = 0 }) => from <= at && at < to).length;
  return Math.max(0, ...spans.map(({ from = 0 }) => inside(from)));
}

async function check(bench: Bench, catalog: DirectoryNamespace, violated: (what: string) => void) {
  const found = (await idsOf(catalog, ['t'])).sort((a, b) => a - b);
  const certain = bench.rows.filter((row) => row >= 0);
  const perhaps = new Set(bench.rows.filter((row) => row < 0).map((row) => -row));
  const surplus = found.filter((row) => !certain.includes(row) && !perhaps.has(row));
  const lost = certain.filter((row) => !found.includes(row));
  if (lost.length > 0) violated(`rows ${lost} are lost`);
  if (surplus.length > 0 || new Set(found).size !== found.length)
    violated(`rows ${found} are there, of ${certain}`);
  for (const { path, what } of (await catalog.verify({})).problems) violated(`${path}: ${what}`);
  for (const [index, child] of bench.children.entries()) {
    child.tell(null);
    const code = await child.ended();
    if (code !== 0) violated(`process ${index} ended with ${code}`);
  }
}

export const locks: ProofRow = {
  row: 'T11 locks',
  async run({ size, violated }) {
    return inFolder(async (root) => {
      const catalog = await openDirectoryNamespace({ root, durability: 'relaxed' });
      await catalog.createTable({ id: ['t'] }, people(1));
      mkdirSync(`${root}/.dirspace/locks`, { recursive: true });
      const bench = new Bench(root, violated);
      await Promise.all(bench.children.map((child) => child.line(({ ready }) => ready === true)));
      const names = Object.keys(CASES);
      for (const name of names) await CASES[name]?.(bench, name);
      let shared = 0;
      let most = 0;
      for (let count = 0; count < TRIALS[size]; count++) {
        const together = await trial(bench, `trial ${count}`);
        most = Math.max(most, together);
        if (together > 1) shared++;
      }
      await check(bench, catalog, violated);
      await catalog.close();
      return {
        cases: names.length + TRIALS[size],
        note: `${shared} of ${TRIALS[size]} takeovers had up to ${most} holders; ${bench.rows.length} rows, each there once`,
      };
    });
  },
};
