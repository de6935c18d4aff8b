/**
 * Cleanup against writers, readers and commits that take days, with clocks a day apart: no file that
 * anything refers to, or will, is removed; no version goes sooner after it was superseded than was
 * asked for; and whoever reads a removed version is told so.
 */
import type { RecordBatchStream } from '../../src/arrow/apache.ts';
import type { DirectoryNamespace } from '../../src/directory/directory-namespace.ts';
import { strictFileSystem } from '../../src/store/disk/strict-fs.ts';
import { History } from '../helpers/history.ts';
import { memoryFs } from '../helpers/memory-fs.ts';
import { people } from '../helpers/people.ts';
import { settledProblems } from '../helpers/settled-catalog.ts';
import { type Attempt, SimulatedWriter } from '../helpers/simulated-writer.ts';
import { Simulation } from '../helpers/simulation.ts';
import type { ProofRow } from './row.ts';
import { eachSeed } from './seeds.ts';

const ROOT = '/c';
const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;
/** The shortest that the plan allows; writers stay well below it. */
const GRACE = 2 * DAY;
const SLOWEST = 30 * HOUR;
const TABLES = [['t'], ['u']];
const OPERATIONS = 70;
const SHIFT = 12 * HOUR;

/** All begin work at the same hours, so that they meet there; up to so many shifts are left out. */
function untilShift(simulation: Simulation, shifts: number): number {
  const { now } = simulation;
  return (Math.ceil(now / SHIFT) + simulation.below(shifts)) * SHIFT - now;
}

async function* slowly(stream: RecordBatchStream, pause: () => Promise<void>) {
  for await (const batch of stream) {
    yield batch;
    await pause();
  }
}

/** The number of a version that was there a while ago, and may go just now. */
function lately({ simulation, history }: SimulatedWriter): number {
  const newest = [...history.lines.values()].map((line) => history.newest(line));
  return Math.max(1, (simulation.pick(...newest)?.manifest.version ?? 1) - simulation.below(4));
}

function writing(writer: SimulatedWriter): Attempt {
  const { simulation } = writer;
  const id = simulation.pick(...TABLES);
  const roll = simulation.below(16);
  if (roll < 4) return writer.append(id);
  if (roll < 6) return writer.delete(id, ...writer.rule());
  if (roll < 8) return writer.update(id, ...writer.rule());
  if (roll < 9) return writer.merge(id);
  if (roll < 10) return writer.optimize(id);
  if (roll < 13) return writer.restore(id, lately(writer));
  if (roll < 14) return writer.rename(id, simulation.pick(...TABLES, ['v']));
  if (roll < 15) return writer.rename(['v'], simulation.pick(...TABLES));
  // A commit whose files lie there for a day or more before anything refers to them.
  const ids = writer.newRows(3);
  const pause = (): Promise<void> => simulation.turn(SLOWEST * simulation.random());
  return {
    what: `append ${ids} to ${id} slowly`,
    apply: (rows) => new Map([...rows, ...ids.map((row) => [row, `name ${row}`] as const)]),
    exact: true,
    run: (catalog: DirectoryNamespace) => {
      const stream = people(ids.length, ids[0]);
      return catalog.insertIntoTable(
        { id },
        { schema: stream.schema, [Symbol.asyncIterator]: () => slowly(stream, pause) },
      );
    },
  };
}

function reading(writer: SimulatedWriter): Attempt {
  const { simulation } = writer;
  const id = simulation.pick(...TABLES);
  if (simulation.random() < 0.3) return writer.read(id);
  const version = lately(writer);
  return writer.read(id, { version }, () => simulation.turn(DAY * simulation.random()));
}

function cleaning(writer: SimulatedWriter, olderThan: number): Attempt {
  const { simulation } = writer;
  const id = simulation.pick(...TABLES);
  return {
    what: `clean up ${id} older than ${olderThan}`,
    run: (catalog) =>
      catalog.cleanupTable({ id, older_than_millis: olderThan, orphan_grace_millis: GRACE }),
  };
}

const ALLOWED = new Set([
  ...['ok', 'TableNotFound', 'TableVersionNotFound', 'ConcurrentModification'],
  'TableAlreadyExists',
]);

export async function cleanSeed(seed: number): Promise<{
  readonly wrong: readonly string[];
  readonly deleted: number;
  readonly expired: number;
}> {
  const base = strictFileSystem(memoryFs());
  const history = new History();
  const simulation = new Simulation(seed, base, { lockless: seed % 2 === 0 }, history);
  const counter = { next: 1 };
  const limits = { batchRows: 2, fragmentRows: 2, commitTimeout: 30 * DAY };
  const options = { root: ROOT, durability: 'relaxed', limits } as const;
  const wrong: string[] = [];
  let expired = 0;
  // What was promised to readers: none of the cleaners may go below it.
  const olderThan = simulation.pick(0, HOUR, DAY, 3 * DAY);
  // Ages are told by the writers' clocks, which lie apart in two runs of three.
  const mostSkew = seed % 3 === 0 ? 0 : DAY;
  const first = new SimulatedWriter(simulation, history, options, counter);
  await simulation.run([
    async () => {
      for (const id of TABLES) await first.attempt(first.create(id, 'create'));
    },
  ]);
  const clean = (writer: SimulatedWriter): Attempt => cleaning(writer, olderThan);
  const go = (next: (writer: SimulatedWriter) => Attempt, shifts: number) => {
    const skew = simulation.pick(0, 1, -1) * mostSkew * simulation.random();
    const writer = new SimulatedWriter(simulation, history, options, counter, skew);
    return async (): Promise<void> => {
      while (counter.next <= OPERATIONS) {
        const attempt = next(writer);
        const outcome = await writer.attempt(attempt);
        // Its table was moved away meanwhile: it removed nothing, and may try again.
        const moved = next === clean && outcome === 'ServiceUnavailable';
        if (!moved && !ALLOWED.has(outcome)) wrong.push(`${attempt.what} ends with ${outcome}`);
        if (outcome === 'TableVersionNotFound') expired++;
        if (simulation.random() < 0.6) await simulation.turn(untilShift(simulation, shifts));
      }
    };
  };
  await simulation.run([
    go(writing, 6),
    go(writing, 6),
    go(reading, 6),
    go(clean, 4),
    go(clean, 4),
  ]);
  for (const { path, age } of history.deletedAges) {
    if (age >= olderThan - 2 * mostSkew - MINUTE) continue;
    wrong.push(`${path} is deleted ${age} ms after it was superseded, and has ${olderThan}`);
  }
  const deleted = history.deletedFiles.length;
  simulation.now += 8 * DAY;
  await simulation.run([
    async () => void wrong.push(...(await settledProblems(simulation, ROOT, history))),
  ]);
  return { wrong, deleted, expired };
}

export const cleanupSafety: ProofRow = {
  row: 'T21 cleanup',
  async run(context) {
    let files = 0;
    let told = 0;
    const cases = await eachSeed(context, { ci: 15, short: 200 }, async (seed) => {
      const { wrong, deleted, expired } = await cleanSeed(seed);
      files += deleted;
      told += expired;
      return wrong;
    });
    return {
      cases,
      note: `${files} files removed, ${told} times a version was gone, no live file removed`,
    };
  },
};
