/**
 * Several writers, readers and cleaners over one catalog, interleaved by a seed at every await, with
 * failing calls, dying processes and restarts; the same seed twice is the same run to the last call.
 */
import { strictFileSystem } from '../../src/store/disk/strict-fs.ts';
import { History } from '../helpers/history.ts';
import { memoryFs } from '../helpers/memory-fs.ts';
import { settledProblems } from '../helpers/settled-catalog.ts';
import { changeColumns } from '../helpers/simulated-columns.ts';
import {
  createNamespace,
  declare,
  deregister,
  dropNamespace,
  register,
} from '../helpers/simulated-moves.ts';
import {
  BRANCHES,
  batch,
  createBranch,
  deleteBranch,
  deleteTag,
  deleteVersions,
  lately,
  readTag,
  setTag,
} from '../helpers/simulated-references.ts';
import { type Attempt, SimulatedWriter } from '../helpers/simulated-writer.ts';
import { type Faults, Simulation } from '../helpers/simulation.ts';
import type { ProofRow } from './row.ts';
import { eachSeed } from './seeds.ts';

const ROOT = '/c';
/** Of one seed. */
const OPERATIONS = { ci: 100, short: 100, nightly: 200 } as const;
/** Between rounds nothing is under way, and days go by. */
const ROUNDS = 4;
const DAY = 24 * 3_600_000;
/** Remainders by 8 of the seeds whose tables change columns; those of the corpus keep their runs. */
const CHANGING_COLUMNS = new Set([2, 4, 7]);
/** Every so many seeds are run twice. */
const TWICE = 11;

export interface Run {
  readonly wrong: readonly string[];
  readonly trace: string;
  readonly operations: number;
  readonly calls: number;
  readonly outcomes: ReadonlyMap<string, number>;
}

function faultsOf(seed: number): Faults {
  if (seed % 3 === 0) return { lockless: seed % 4 < 2 };
  if (seed % 3 === 1) return { kills: 1 / 1500 };
  return { errors: 1 / 500, kills: 1 / 4000 };
}

const TABLES = [['t'], ['u'], ['n', 't']];

/** Rows of tables, which now and then change their names. */
function onRows(writer: SimulatedWriter): Attempt {
  const { simulation } = writer;
  const id = simulation.pick(...TABLES);
  const roll = simulation.below(100);
  if (roll < 24) return writer.append(id);
  if (roll < 34) return writer.delete(id, ...writer.rule());
  if (roll < 43) return writer.update(id, ...writer.rule());
  if (roll < 49) return writer.merge(id);
  if (roll < 53) return writer.overwrite(id);
  if (roll < 58) return writer.restore(id, 1 + simulation.below(20));
  if (roll < 62) return writer.optimize(id);
  if (roll < 66) return writer.cleanup(id);
  if (roll < 76) return writer.create(id);
  if (roll < 78) return writer.drop(id);
  if (roll < 81) return writer.undrop(id);
  if (roll < 84) return writer.rename(id, simulation.pick(...TABLES));
  if (roll < 93) return writer.read(id);
  return writer.read(id, { version: 1 + simulation.below(20) });
}

/** All that is in a catalog. `places` are those of tables that were taken out of it. */
function onCatalog(writer: SimulatedWriter, places: string[]): Attempt {
  const { simulation } = writer;
  const id = simulation.pick(...TABLES);
  const roll = simulation.below(100);
  const branch = simulation.pick(...BRANCHES);
  if (roll < 12) return writer.append(id);
  if (roll < 16) return writer.append(id, branch);
  if (roll < 19) return writer.delete(id, ...writer.rule());
  if (roll < 22) return writer.restore(id, lately(writer), simulation.pick('main', branch));
  if (roll < 25) return writer.optimize(id);
  if (roll < 30) return writer.cleanup(id);
  if (roll < 34) return deleteVersions(writer, id);
  if (roll < 40) return setTag(writer, id, true);
  if (roll < 44) return setTag(writer, id, false);
  if (roll < 47) return deleteTag(writer, id);
  if (roll < 49) return readTag(writer, id);
  if (roll < 54) return createBranch(writer, id);
  if (roll < 57) return deleteBranch(writer, id);
  if (roll < 62) {
    const other = simulation.pick(...TABLES);
    return batch(writer, other === id ? [id] : [id, other]);
  }
  if (roll < 72) return writer.create(id);
  if (roll < 74) return declare(id);
  if (roll < 76) return writer.drop(id);
  if (roll < 79) return writer.undrop(id);
  if (roll < 82) return writer.rename(id, simulation.pick(...TABLES));
  if (roll < 84) return deregister(id, places);
  if (roll < 88) return register(writer, id, places);
  if (roll < 92) return createNamespace(writer, simulation.pick(['n'], ['n'], ['n'], ['t']));
  if (roll < 94) return dropNamespace(writer, simulation.pick(['n'], ['t']));
  if (roll < 97) return writer.read(id, { branch });
  return writer.read(id, { version: lately(writer) });
}

export async function simulate(seed: number, operations: number): Promise<Run> {
  const base = strictFileSystem(memoryFs());
  const history = new History();
  const simulation = new Simulation(seed, base, faultsOf(seed), history);
  const counter = { next: 1 };
  const wide = seed % 2 === 1;
  const places: string[] = [];
  const columns = CHANGING_COLUMNS.has(seed % 8);
  const nextAttempt = (writer: SimulatedWriter): Attempt => {
    if (columns && simulation.below(100) < 18)
      return changeColumns(writer, simulation.pick(...TABLES));
    return wide ? onCatalog(writer, places) : onRows(writer);
  };
  const options = {
    root: ROOT,
    durability: seed % 2 === 0 ? 'full' : 'relaxed',
    limits: { batchRows: 2, fragmentRows: 4 },
  } as const;
  const writers: SimulatedWriter[] = [];
  const first = new SimulatedWriter(simulation, history, options, counter);
  await simulation.run([
    async () => {
      const namespace: Attempt = {
        what: 'create namespace n',
        purpose: 'create namespace',
        run: (catalog) => catalog.createNamespace({ id: ['n'], mode: 'exist_ok' }),
      };
      while ((await first.attempt(namespace)) !== 'ok');
      for (const id of TABLES) await first.attempt(first.create(id, 'create'));
    },
  ]);
  const count = 2 + (seed % 4);
  for (let index = 0; index < count; index++) {
    const skew = index === 1 ? DAY * (simulation.random() - 0.5) : 0;
    writers.push(new SimulatedWriter(simulation, history, options, counter, skew));
  }
  for (let round = 1; round <= ROUNDS; round++) {
    await simulation.run(
      writers.map((writer) => async () => {
        while (counter.next <= (operations * round) / ROUNDS)
          await writer.attempt(nextAttempt(writer));
      }),
    );
    // What was left behind grows old enough to be removed, beside new work.
    simulation.now += 8 * DAY;
  }
  const outcomes = new Map<string, number>();
  for (const writer of [first, ...writers]) {
    for (const [outcome, times] of writer.outcomes)
      outcomes.set(outcome, (outcomes.get(outcome) ?? 0) + times);
  }
  const wrong: string[] = [];
  await simulation.run([
    async () => void wrong.push(...(await settledProblems(simulation, ROOT, history))),
  ]);
  const { trace, calls } = simulation;
  return { wrong, trace, calls, operations: counter.next - 1, outcomes };
}

export const simulation: ProofRow = {
  row: 'T10 simulation',
  async run(context) {
    let operations = 0;
    let calls = 0;
    let twice = 0;
    const outcomes = new Map<string, number>();
    const cases = await eachSeed(context, { ci: 6, short: 500 }, async (seed) => {
      const run = await simulate(seed, OPERATIONS[context.size]);
      operations += run.operations;
      calls += run.calls;
      for (const [outcome, times] of run.outcomes)
        outcomes.set(outcome, (outcomes.get(outcome) ?? 0) + times);
      if (seed % TWICE !== 0) return run.wrong;
      twice++;
      const { trace } = await simulate(seed, OPERATIONS[context.size]);
      if (trace === run.trace) return run.wrong;
      return [...run.wrong, `its traces are ${run.trace} and ${trace}`];
    });
    const done = outcomes.get('ok') ?? 0;
    const died = outcomes.get('died') ?? 0;
    return {
      cases,
      note: `${operations} operations, ${done} done, ${died} died, ${calls} calls, ${twice} replayed alike`,
    };
  },
};
