/**
 * T24: the floor of performance, and what must not depend on how much there is: listing,
 * describing, opening, committing. Every figure is the best of several tries, since other work on
 * the machine only ever adds.
 */
import { linkSync, unlinkSync, writeFileSync } from 'node:fs';
import { type Connection, connect } from '../../src/index.ts';
import { people } from '../helpers/people.ts';
import { inFolder } from './processes.ts';
import { inRounds } from './rounds.ts';
import type { ProofContext, ProofRow } from './row.ts';

const TABLES = { ci: 300, short: 10_000, nightly: 10_000 };
const VERSIONS = { ci: 300, short: 10_000, nightly: 10_000 };
const COMMITS = { ci: 50, short: 400, nightly: 1_000 };
/** Milliseconds: three times what the plan asks of a quiet machine. */
const LIST_ALL = 150;
const NEWEST = 60;
/** On machines that others load, figures of one process are up to three times those of the next. */
const COMMIT = { ci: 4, short: 1.5, nightly: 1.5 };
/** Commits in a second by eight writers that get in each other's way: a third of the plan's. */
const COMMITS_PER_SECOND = 650;
/** On a slow machine: what a commit may cost, in terms of publishing a file by hand. */
const BY_HAND = 20;
const BY_HAND_CONTENDED = 60;
/** What many may cost, in terms of what few do. */
const FACTOR = 1.5;
/** Milliseconds that no comparison of two figures looks at. */
const BLUR = 0.1;
const SAMPLES = 61;
const TRIES = 5;
const ROUNDS = 3;

type Work = () => Promise<unknown>;

/** Milliseconds by the clock, or of this process's own time where others had the cores. */
async function timed(work: Work): Promise<number> {
  const [start, before] = [performance.now(), process.cpuUsage()];
  await work();
  const [taken, { user, system }] = [performance.now() - start, process.cpuUsage(before)];
  return Math.min(taken, (user + system) / 1_000);
}

async function best(work: Work, tries = TRIES): Promise<number> {
  let least = Number.POSITIVE_INFINITY;
  for (let at = 0; at < tries; at++) least = Math.min(least, await timed(work));
  return least;
}

/** A figure for each of two kinds of work, sample by sample in turn: the lower quartiles. */
async function compare(small: Work, large: Work): Promise<readonly [number, number]> {
  const figures: readonly [number[], number[]] = [[], []];
  for (let at = 0; at < SAMPLES; at++) {
    figures[0].push(await timed(small));
    figures[1].push(await timed(large));
  }
  const quartile = (samples: number[]): number =>
    samples.sort((a, b) => a - b)[samples.length >> 2] as number;
  return [quartile(figures[0]), quartile(figures[1])];
}

const ms = (figure: number): string => `${figure.toFixed(2)} ms`;

class Floor {
  readonly notes: string[] = [];
  readonly #violated: (what: string) => void;

  constructor(violated: (what: string) => void) {
    this.#violated = violated;
  }

  atMost(what: string, figure: number, limit: number): void {
    this.notes.push(`${what} ${ms(figure)}`);
    if (figure > limit) this.#violated(`${what} takes ${ms(figure)}, not ${ms(limit)}`);
  }

  /** A comparison that fails is made again: one that is true fails every time. */
  async alike(what: string, small: Work, large: Work): Promise<void> {
    let figures = await compare(small, large);
    for (let tries = 1; tries < TRIES && !isAlike(figures); tries++) {
      figures = await compare(small, large);
    }
    this.notes.push(`${what} ${ms(figures[0])} / ${ms(figures[1])}`);
    if (!isAlike(figures)) this.#violated(`${what} takes ${figures.map(ms).join(' and ')}`);
  }

  perSecond(what: string, figure: number, limit: number): void {
    this.notes.push(`${what} ${figure.toFixed(0)}/s`);
    if (figure < limit)
      this.#violated(`${what}: ${figure.toFixed(0)}/s, not ${limit.toFixed(0)}/s`);
  }
}

const isAlike = ([small, large]: readonly [number, number]): boolean =>
  large <= small * FACTOR + BLUR;

async function manyTables(root: string, count: number, floor: Floor): Promise<void> {
  const connection = await connect(root, { durability: 'relaxed' });
  for (const [namespace, tables] of [
    ['few', 10],
    ['many', count],
  ] as const) {
    await connection.createNamespace([namespace]);
    for (let at = 0; at < tables; at++) {
      // Names are what a list reads; the rows of most tables would only take time to write.
      if (at < 10) await connection.createTable(`table${at}`, people(1), [namespace]);
      else await connection.declareTable(`table${at}`, [namespace]);
    }
  }
  const list = async (): Promise<void> => {
    const { namespace } = connection;
    const request = { id: ['many'], limit: count, include_declared: true };
    const { tables } = await namespace.listTables(request);
    if (tables.length !== count) throw new Error(`the list has ${tables.length} of ${count}`);
  };
  floor.atMost(`list ${count}`, await best(list, 9), (LIST_ALL * count) / 10_000 + 10);
  const describe = (namespace: string) => () => connection.describeTable('table7', [namespace]);
  await floor.alike('describe among few / many', describe('few'), describe('many'));
  await connection.close();
}

async function manyVersions(root: string, count: number, floor: Floor): Promise<void> {
  const connection = await connect(root, { durability: 'relaxed' });
  const short = await connection.createTable('short', people(1));
  const long = await connection.createTable('long', people(1));
  for (let version = 2; version <= 10; version++) await short.add(people(1));
  for (let version = 2; version <= count; version++) await long.add(people(1));
  // A process that has not seen the table: nothing of it is in memory.
  const opened = (name: string) => async (): Promise<void> => {
    const fresh = await connect(root, { readOnly: true });
    await (await fresh.openTable(name)).version();
    await fresh.close();
  };
  floor.atMost(`newest of ${count}`, await best(opened('long'), 9), NEWEST);
  await floor.alike('open with few / many versions', opened('short'), opened('long'));
  const describe = (name: string) => () =>
    connection.describeTable(name, [], { load_detailed_metadata: true });
  await floor.alike('describe', describe('short'), describe('long'));
  await floor.alike(
    'commit',
    () => short.add(people(1)),
    () => long.add(people(1)),
  );
  await connection.close();
}

/** Milliseconds of what no commit can do without: a file written, and linked to its name. */
async function byHand(folder: string): Promise<number> {
  const bytes = new Uint8Array(2_000);
  let name = 0;
  const publish = async (): Promise<void> => {
    const temporary = `${folder}/.tmp-${name}`;
    writeFileSync(temporary, bytes, { flag: 'wx' });
    linkSync(temporary, `${folder}/${name++}`);
    unlinkSync(temporary);
  };
  const samples: number[] = [];
  for (let at = 0; at < 200; at++) samples.push(await timed(publish));
  return samples.sort((a, b) => a - b)[samples.length >> 1] as number;
}

async function commits(root: string, size: ProofContext['size'], floor: Floor): Promise<void> {
  const count = COMMITS[size];
  const connection: Connection = await connect(root, { durability: 'relaxed' });
  const table = await connection.createTable('t', people(1));
  const quartiles: number[] = [];
  // A slow moment of the machine is not the commit's: the best of three rounds counts.
  for (let round = 0; round < ROUNDS; round++) {
    const samples: number[] = [];
    for (let at = 0; at < count; at++) samples.push(await timed(() => table.add(people(1))));
    quartiles.push(samples.sort((a, b) => a - b)[samples.length >> 2] as number);
  }
  const bare = await byHand(`${root}/data`);
  const limit = Math.max(COMMIT[size], bare * BY_HAND);
  floor.notes.push(`a file by hand ${ms(bare)}`);
  floor.atMost('relaxed commit', Math.min(...quartiles), limit);
  // Each with an engine of its own, as processes have: they meet on the disk.
  const writers = await Promise.all(
    Array.from({ length: 8 }, () => connect(root, { durability: 'relaxed' })),
  );
  const tables = await Promise.all(writers.map((writer) => writer.openTable('t')));
  const part = Math.ceil(count / 8);
  const burst = (): Promise<unknown> =>
    Promise.all(
      tables.map(async (own) => {
        for (let at = 0; at < part; at++) await own.add(people(1));
      }),
    );
  const seconds = (await best(burst)) / 1_000;
  const least = Math.min(COMMITS_PER_SECOND, 1_000 / (bare * BY_HAND_CONTENDED));
  floor.perSecond('8 writers of one table', (part * 8) / seconds, least);
  const rows = await table.countRows();
  if (rows !== 1 + ROUNDS * count + part * 8 * TRIES)
    throw new Error(`${rows} rows after the bursts`);
  for (const writer of writers) await writer.close();
  await connection.close();
}

async function run(context: ProofContext): Promise<{ cases: number; note: string }> {
  const { size } = context;
  let floor = new Floor(() => {});
  const cases = await inRounds(context, async (seed) => {
    floor = new Floor((what) => context.violated(what, seed));
    await inFolder((folder) => manyTables(`${folder}/c`, TABLES[size], floor));
    await inFolder((folder) => manyVersions(`${folder}/c`, VERSIONS[size], floor));
    await inFolder((folder) => commits(`${folder}/c`, size, floor));
    return TABLES[size] + VERSIONS[size] + COMMITS[size] * (TRIES + ROUNDS);
  });
  return { cases, note: floor.notes.join('; ') };
}

export const floor: ProofRow = { row: 'T24 performance floor', run };
