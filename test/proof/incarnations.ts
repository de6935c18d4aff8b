/**
 * Names that pass from table to table: drops, recreations, renames and returns from the trash against
 * live writers and readers. Everything acknowledged is in the table it was meant for, wherever that
 * lies by then; nothing is destroyed and nothing is half there.
 */
import { strictFileSystem } from '../../src/store/disk/strict-fs.ts';
import { History } from '../helpers/history.ts';
import { memoryFs } from '../helpers/memory-fs.ts';
import { settledProblems } from '../helpers/settled-catalog.ts';
import { BRANCHES, createBranch, setTag } from '../helpers/simulated-references.ts';
import { type Attempt, SimulatedWriter } from '../helpers/simulated-writer.ts';
import { Simulation } from '../helpers/simulation.ts';
import type { ProofRow } from './row.ts';
import { eachSeed } from './seeds.ts';

const ROOT = '/c';
const TABLES = [['t'], ['u'], ['n', 't']];
/** Operations of one interleaving. */
const OPERATIONS = 32;

/** What an operation may answer when a name was taken or given away under it. */
const EXPECTED = new Set([
  ...['ok', 'TableNotFound', 'TableAlreadyExists', 'NamespaceNotFound', 'NamespaceAlreadyExists'],
  ...['NamespaceNotEmpty', 'TableVersionNotFound', 'ConcurrentModification', 'InvalidTableState'],
  ...['TableTagAlreadyExists', 'TableBranchAlreadyExists', 'TableBranchNotFound'],
]);

/** Moves names about. */
function mover(writer: SimulatedWriter): Attempt {
  const { simulation } = writer;
  const id = simulation.pick(...TABLES);
  const roll = simulation.below(15);
  if (roll < 3) return writer.drop(id);
  if (roll < 9) return writer.create(id);
  if (roll < 12) return writer.rename(id, simulation.pick(...TABLES));
  if (roll < 13) return writer.undrop(id);
  const namespace = { id: ['n'] };
  if (roll < 14) {
    return {
      what: 'drop n',
      purpose: 'drop namespace',
      run: (catalog) => catalog.dropNamespace(namespace),
    };
  }
  return {
    what: 'create n',
    purpose: 'create namespace',
    run: (catalog) => catalog.createNamespace({ ...namespace, mode: 'exist_ok' }),
  };
}

/** Works on whatever has the name. */
function worker(writer: SimulatedWriter): Attempt {
  const { simulation } = writer;
  const id = simulation.pick(...TABLES);
  const roll = simulation.below(16);
  if (roll < 6) return writer.append(id);
  if (roll < 8) return writer.delete(id, ...writer.rule());
  if (roll < 10) return writer.update(id, ...writer.rule());
  if (roll < 11) return writer.overwrite(id);
  if (roll < 12) return writer.optimize(id);
  if (roll < 13) return writer.cleanup(id);
  if (roll < 14) return createBranch(writer, id);
  if (roll < 15) return setTag(writer, id, true);
  return writer.append(id, simulation.pick(...BRANCHES));
}

export async function race(seed: number): Promise<{
  readonly wrong: readonly string[];
  readonly outcomes: ReadonlyMap<string, number>;
}> {
  const base = strictFileSystem(memoryFs());
  const history = new History();
  const simulation = new Simulation(seed, base, {}, history);
  const counter = { next: 1 };
  const durability = seed % 2 === 0 ? 'full' : 'relaxed';
  const options = { root: ROOT, durability, limits: { batchRows: 2, fragmentRows: 4 } } as const;
  const make = (): SimulatedWriter => new SimulatedWriter(simulation, history, options, counter);
  const first = make();
  await simulation.run([
    async () => {
      await first.attempt({
        what: 'create n',
        purpose: 'create namespace',
        run: (catalog) => catalog.createNamespace({ id: ['n'] }),
      });
      await first.attempt(first.create(['t'], 'create'));
    },
  ]);
  const wrong: string[] = [];
  const go = (next: (writer: SimulatedWriter) => Attempt) => {
    const writer = make();
    return async (): Promise<void> => {
      while (counter.next <= OPERATIONS) {
        const attempt = next(writer);
        const outcome = await writer.attempt(attempt);
        first.outcomes.set(outcome, (first.outcomes.get(outcome) ?? 0) + 1);
        // One that was made as its table left may be there, and its maker is told so.
        const isReference = /^(branch|tag|update the tag) /.test(attempt.what);
        const isUnknown = outcome === 'CommitStateUnknown' && isReference;
        if (!EXPECTED.has(outcome) && !isUnknown)
          wrong.push(`${attempt.what} ends with ${outcome}`);
      }
    };
  };
  const reader = (writer: SimulatedWriter): Attempt => writer.read(simulation.pick(...TABLES));
  await simulation.run([go(mover), go(mover), go(worker), go(worker), go(reader)]);
  simulation.now += 8 * 24 * 3_600_000;
  await simulation.run([
    async () => void wrong.push(...(await settledProblems(simulation, ROOT, history))),
  ]);
  return { wrong, outcomes: first.outcomes };
}

export const incarnations: ProofRow = {
  row: 'T12 drop and rename races',
  async run(context) {
    const total = new Map<string, number>();
    const cases = await eachSeed(context, { ci: 25, short: 500 }, async (seed) => {
      const { wrong, outcomes } = await race(seed);
      for (const [outcome, times] of outcomes)
        total.set(outcome, (total.get(outcome) ?? 0) + times);
      return wrong;
    });
    const told = [...total].map(([outcome, times]) => `${times} ${outcome}`);
    return { cases, note: told.join(', ') };
  },
};
