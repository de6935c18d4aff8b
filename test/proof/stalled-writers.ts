/**
 * Writers that are left waiting in the middle of a change, for thousands of turns of the others,
 * while cleanup keeps nothing but the newest version: their bases, their numbers and what they have
 * just published go under their hands. What is acknowledged is in the table all the same.
 */
import { strictFileSystem } from '../../src/store/disk/strict-fs.ts';
import { History } from '../helpers/history.ts';
import { memoryFs } from '../helpers/memory-fs.ts';
import { settledProblems } from '../helpers/settled-catalog.ts';
import {
  BRANCHES,
  batch,
  createBranch,
  deleteBranch,
  deleteTag,
  deleteVersions,
  lately,
  setTag,
} from '../helpers/simulated-references.ts';
import { type Attempt, SimulatedWriter } from '../helpers/simulated-writer.ts';
import { Simulation } from '../helpers/simulation.ts';
import type { ProofRow } from './row.ts';
import { eachSeed } from './seeds.ts';

const ROOT = '/c';
const TABLE = ['t'];
const OPERATIONS = 160;
const DAY = 24 * 3_600_000;

function writing(writer: SimulatedWriter): Attempt {
  const roll = writer.simulation.below(20);
  if (roll < 12) return writer.append(TABLE);
  if (roll < 14) return writer.delete(TABLE, ...writer.rule());
  if (roll < 16) return writer.update(TABLE, ...writer.rule());
  if (roll < 17) return writer.merge(TABLE);
  if (roll < 18) return writer.overwrite(TABLE);
  if (roll < 19) return writer.read(TABLE);
  return writer.optimize(TABLE);
}

/** Also what names versions, which cleanup keeps, and takes old ones up again. */
function naming(writer: SimulatedWriter): Attempt {
  const { simulation } = writer;
  const roll = simulation.below(20);
  const branch = simulation.pick(...BRANCHES);
  if (roll < 8) return writing(writer);
  if (roll < 10) return writer.append(TABLE, branch);
  if (roll < 12) return writer.restore(TABLE, lately(writer), simulation.pick('main', branch));
  if (roll < 14) return setTag(writer, TABLE, simulation.random() < 0.5);
  if (roll < 15) return deleteTag(writer, TABLE);
  if (roll < 17) return createBranch(writer, TABLE);
  if (roll < 18) return deleteBranch(writer, TABLE);
  if (roll < 19) return batch(writer, [TABLE]);
  return deleteVersions(writer, TABLE);
}

const cleaning = (): Attempt => ({
  what: `clean up ${TABLE}`,
  run: (catalog) =>
    catalog.cleanupTable({ id: TABLE, older_than_millis: 0, orphan_grace_millis: 0 }),
});

/** Of rows, where nothing is named that could be missing. */
const ALLOWED = new Set([
  ...['ok', 'died', 'ConcurrentModification', 'CommitStateUnknown', 'TableVersionNotFound'],
  'ServiceUnavailable',
]);

export async function stallSeed(seed: number): Promise<{
  readonly wrong: readonly string[];
  readonly outcomes: ReadonlyMap<string, number>;
  readonly freed: number;
}> {
  const base = strictFileSystem(memoryFs());
  const history = new History();
  const stalls = 1 / 150;
  const faults = { lockless: seed % 4 < 2, stalls, kills: seed % 3 === 0 ? 1 / 3000 : 0 };
  const simulation = new Simulation(seed, base, faults, history);
  const counter = { next: 1 };
  const limits = { batchRows: 2, fragmentRows: 4, commitTimeout: Number.POSITIVE_INFINITY };
  const options = {
    root: ROOT,
    durability: seed % 5 === 0 ? 'full' : 'relaxed',
    limits,
  } as const;
  const first = new SimulatedWriter(simulation, history, options, counter);
  await simulation.run([
    async () => {
      while ((await first.attempt(first.create(TABLE, 'create'))) === 'died');
    },
  ]);
  const wrong: string[] = [];
  const writers: SimulatedWriter[] = [];
  const go = (next: (writer: SimulatedWriter) => Attempt) => {
    const writer = new SimulatedWriter(simulation, history, options, counter);
    writers.push(writer);
    return async (): Promise<void> => {
      while (counter.next <= OPERATIONS) {
        const attempt = next(writer);
        const outcome = await writer.attempt(attempt);
        if (next === writing && !ALLOWED.has(outcome))
          wrong.push(`${attempt.what} ends with ${outcome}`);
      }
    };
  };
  const change = seed % 3 === 2 ? naming : writing;
  await simulation.run([go(change), go(change), go(change), go(cleaning), go(cleaning)]);
  const outcomes = new Map<string, number>();
  for (const writer of writers) {
    for (const [outcome, times] of writer.outcomes)
      outcomes.set(outcome, (outcomes.get(outcome) ?? 0) + times);
  }
  simulation.now += 8 * DAY;
  await simulation.run([
    async () => void wrong.push(...(await settledProblems(simulation, ROOT, history))),
  ]);
  return { wrong, outcomes, freed: history.strays };
}

export const stalledWriters: ProofRow = {
  row: 'T21 cleanup beside stalled writers',
  async run(context) {
    const counts = { ok: 0, CommitStateUnknown: 0 };
    let freed = 0;
    const cases = await eachSeed(context, { ci: 3, short: 120 }, async (seed) => {
      const run = await stallSeed(seed);
      for (const code of ['ok', 'CommitStateUnknown'] as const)
        counts[code] += run.outcomes.get(code) ?? 0;
      freed += run.freed;
      return run.wrong;
    });
    return {
      cases,
      note: `${counts.ok} operations done, ${freed} versions written to freed numbers, ${counts.CommitStateUnknown} changes of unknown state`,
    };
  },
};
