/**
 * T25: five writers, two readers and a janitor on one table of the real disk, killed at random and
 * started anew. One order of their changes has to explain every version, acknowledged changes in it
 * exactly once, and every reading of a version has to find what that order makes of it.
 *
 * The order is found by contention-model.ts from what the processes said and from content hashes; the
 * engine is asked for nothing but rows, types and numbers of versions. An engine that publishes by a
 * rename, which replaces, goes through the same rounds and has to be found out.
 */
import { join } from 'node:path';
import { setTimeout as later } from 'node:timers/promises';
import type { Connection, Table } from '../../src/index.ts';
import { seeded } from '../helpers/seeded.ts';
import {
  type ContentionLine,
  type ContentionTask,
  contentIn,
  openRoot,
  type Reference,
  SCHEMA,
  TABLE,
} from './contention-child.ts';
import { type Change, contentOf, hashOf, type Row, unexplained } from './contention-model.ts';
import { Child, inFolder } from './processes.ts';
import type { ProofContext, ProofRow } from './row.ts';

type Role = ContentionTask['role'];

const ROLES: readonly Role[] = [
  ...(['writer', 'writer', 'writer', 'writer', 'writer', 'reader', 'reader', 'janitor'] as const),
];
const ROUNDS = { ci: 1, short: 4, nightly: Number.POSITIVE_INFINITY };
/** A round ends with so many acknowledged changes, or after so long. */
const CHANGES = { ci: 150, short: 250, nightly: 1200 };
const ROUND_MS = { ci: 3_000, short: 8_000, nightly: 60_000 };
/** Processes that are started before they are needed. */
const SPARES = 3;
/** Between kills, at most. */
const PAUSE_MS = 250;
const CLEANUP_MS = 1_500;
/** Versions that one compaction makes at most, beside the one that it answers. */
const MOST_ROUNDS = 3;
/** Processes that do not stop by then hang. */
const STOP_MS = 60_000;
const FIRST: readonly Row[] = [
  [0, 0, 'first'],
  [1, 1, 'first'],
  [2, 2, 'first'],
];

interface Counts {
  kills: number;
  acknowledged: number;
  open: number;
  read: number;
}

interface Round {
  readonly root: string;
  readonly durability: ContentionTask['durability'];
  readonly cleanupAge?: number;
  readonly unsafe?: true;
  readonly changes: number;
  readonly ms: number;
}

/** Runs the processes; answers all that each of them said. */
async function storm(
  round: Round,
  random: () => number,
  counts: Counts,
  wrong: (what: string) => void,
): Promise<readonly (readonly ContentionLine[])[]> {
  const { root, durability, cleanupAge, unsafe } = round;
  const all: Child<ContentionLine>[] = [];
  const start = (): Child<ContentionLine> => new Child<ContentionLine>('contention-child');
  let number = 0;
  const put = async (child: Child<ContentionLine>, role: Role) => {
    await child.line(({ ready }) => ready === true);
    all.push(child);
    number++;
    const seed = Math.floor(random() * 2 ** 31);
    // Beside those that are killed, cleanup spares nothing.
    const age = cleanupAge === undefined ? {} : { cleanupAge, deleteUnverified: true };
    const broken = unsafe === undefined ? {} : { unsafe };
    child.tell({
      root,
      durability,
      role,
      number,
      seed,
      ...age,
      ...broken,
    } satisfies ContentionTask);
    return child;
  };
  const running = await Promise.all(ROLES.map((role) => put(start(), role)));
  const until = performance.now() + round.ms;
  const done = (): number =>
    all.reduce((sum, { lines }) => sum + lines.filter((line) => line.done).length, 0);
  const spares = Array.from({ length: SPARES }, start);
  while (performance.now() < until && done() < round.changes) {
    await later(random() * PAUSE_MS);
    // Writers are hit more often than readers and the janitor.
    const at = Math.floor(random() * (random() < 0.8 ? 5 : ROLES.length));
    const victim = running[at] as Child<ContentionLine>;
    const ended = await victim.kill();
    if (ended === 'SIGKILL') counts.kills++;
    else wrong(`process ${at} ended by itself with ${ended}`);
    spares.push(start());
    running[at] = await put(spares.shift() as Child<ContentionLine>, ROLES[at] as Role);
  }
  for (const spare of spares) await spare.kill();
  for (const child of running) child.tell('stop');
  for (const [at, child] of running.entries()) {
    const hung = later(STOP_MS, 'hung' as const, { ref: false });
    const ended = await Promise.race([child.ended(), hung]);
    if (ended === 'hung') await child.kill();
    if (ended !== 0) wrong(`the ${ROLES[at]} ended with ${ended} when it was told to stop`);
  }
  return all.map(({ lines }) => lines);
}

/** All that was said, sorted by what it is about. */
class Told {
  /** By branch and version. */
  readonly acknowledged = new Map<string, Map<number, Change>>();
  readonly open = new Map<string, Change[]>();
  readonly untold: Change[] = [];
  readonly seen = new Map<string, Map<number, string>>();
  readonly tags = new Map<string, (number | 'none')[]>();
  readonly branches = new Map<string, { from: number; states: Set<'there' | 'gone'> }>();
  readonly wrong: string[] = [];
  readonly #newest: { at: number; version: number }[] = [];
  readonly #acks: { at: number; version: number }[] = [];

  constructor(cleaned: boolean, lines: readonly (readonly ContentionLine[])[]) {
    for (const said of lines) this.#process(said, cleaned);
    for (const { at, version } of this.#newest) {
      const missed = this.#acks.find((ack) => ack.at < at && ack.version > version);
      if (missed !== undefined)
        this.wrong.push(
          `version ${version} was read as the newest after ${missed.version} was acknowledged`,
        );
    }
  }

  #process(said: readonly ContentionLine[], cleaned: boolean): void {
    let pending: ContentionLine['begin'];
    for (const { begin, done, refused, unknown, seen, gone, error, at = 0 } of said) {
      if (error !== undefined) this.wrong.push(error);
      if (begin !== undefined) pending = begin;
      // Compaction goes in rounds, each a version: only the last is told, and none after an error.
      if (begin !== undefined && 'change' in begin && begin.change.kind === 'compact')
        for (let round = 0; round < MOST_ROUNDS; round++) this.#unknown(begin);
      if (seen !== undefined) {
        this.see(seen.branch, seen.version, seen.hash);
        if (seen.newest) this.#newest.push({ at, version: seen.version });
      }
      if (gone !== undefined && !cleaned) this.wrong.push(`version ${gone.version} was gone`);
      if (done !== undefined && pending !== undefined) this.#done(pending, done.version, at);
      if (unknown === true && pending !== undefined) this.#unknown(pending);
      if (done !== undefined || refused !== undefined || unknown === true) pending = undefined;
    }
    if (pending !== undefined) this.#unknown(pending);
  }

  see(branch: string, version: number, hash: string): void {
    const line = this.seen.get(branch) ?? new Map<number, string>();
    this.seen.set(branch, line);
    if ((line.get(version) ?? hash) !== hash)
      this.wrong.push(
        `${branch} version ${version} was read as ${line.get(version)} and as ${hash}`,
      );
    line.set(version, hash);
  }

  #done(
    work: NonNullable<ContentionLine['begin']>,
    version: number | 'untold' | undefined,
    at: number,
  ): void {
    if ('reference' in work) this.#refer(work.reference, true);
    if (!('change' in work) || version === undefined) return;
    if (version === 'untold') {
      this.untold.push(work.change);
      return;
    }
    const line = this.acknowledged.get(work.branch) ?? new Map<number, Change>();
    this.acknowledged.set(work.branch, line);
    const other = line.get(version);
    if (other !== undefined)
      this.wrong.push(
        `${work.branch} version ${version} was given to ${JSON.stringify(other)} and to ${JSON.stringify(work.change)}`,
      );
    line.set(version, work.change);
    if (work.branch === 'main') this.#acks.push({ at, version });
  }

  #unknown(work: NonNullable<ContentionLine['begin']>): void {
    if ('reference' in work) this.#refer(work.reference, false);
    if ('change' in work)
      this.open.set(work.branch, [...(this.open.get(work.branch) ?? []), work.change]);
  }

  /** Names are of one process each, so that what it said last is what holds. */
  #refer(reference: Reference, sure: boolean): void {
    if (reference.kind === 'set tag' || reference.kind === 'delete tag') {
      const state = reference.kind === 'set tag' ? reference.version : 'none';
      const before = sure ? [] : (this.tags.get(reference.tag) ?? ['none']);
      this.tags.set(reference.tag, [...before, state]);
    } else {
      const isThere = reference.kind === 'create branch';
      const known = this.branches.get(reference.branch);
      const states = new Set(sure ? [] : (known?.states ?? (['gone'] as const)));
      states.add(isThere ? 'there' : 'gone');
      const from = isThere ? reference.version : (known?.from ?? 0);
      this.branches.set(reference.branch, { from, states });
    }
  }
}

/** Reads every version that is left, and holds all of them to what was said. */
async function problems(round: Round, told: Told, counts: Counts): Promise<readonly string[]> {
  const { wrong } = told;
  const connection = await openRoot(round);
  try {
    await brought(connection);
    const table = await connection.openTable(TABLE);
    const newest = await table.version();
    const read = async (of: Table, branch: string): Promise<void> => {
      const { content, version } = await contentIn(of);
      told.see(branch, version, hashOf(content));
      counts.read++;
    };
    const listed = (await table.listVersions()).map(({ version }) => version);
    for (const version of listed)
      await read(await connection.openTable(TABLE, [], { version }), 'main');
    if (round.cleanupAge === undefined && listed.length !== newest)
      wrong.push(`${listed.length} versions are listed of ${newest}`);
    const line = (branch: string, first: number, last: number, content = contentOf(FIRST)) => {
      const acknowledged = told.acknowledged.get(branch) ?? new Map<number, Change>();
      for (const version of acknowledged.keys())
        if (version > last)
          wrong.push(`${branch} ends with ${last}, and ${version} was acknowledged`);
      const open = told.open.get(branch) ?? [];
      const seen = told.seen.get(branch) ?? new Map<number, string>();
      const untold = branch === 'main' ? told.untold : [];
      return unexplained({ first, content, newest: last, acknowledged, open, untold, seen });
    };
    const unexplainedMain = line('main', 1, newest);
    if (unexplainedMain !== undefined) wrong.push(`main: ${unexplainedMain}`);
    await tagsHold(table, told);
    const branches = await table.branches();
    const found = await branches.list();
    for (const [name, { from, states }] of told.branches) {
      const state = found[name] === undefined ? 'gone' : 'there';
      if (!states.has(state)) wrong.push(`the branch ${name} is ${state}`);
      if (state === 'gone') continue;
      const own = await branches.checkout(name);
      const last = await own.version();
      const left = (await own.listVersions()).map(({ version }) => version);
      for (const version of left) await read(await branches.checkout(name, version), name);
      const first = left[0] ?? last;
      if (first !== from && round.cleanupAge === undefined)
        wrong.push(`the branch ${name} begins with ${first}, not with ${from}`);
      const { content } = await contentIn(await branches.checkout(name, first));
      const known = told.seen.get('main')?.get(from);
      if (first === from && known !== undefined && known !== hashOf(content))
        wrong.push(`the branch ${name} does not begin as version ${from} of main`);
      const why = line(name, first, last, content);
      if (why !== undefined) wrong.push(`${name}: ${why}`);
    }
    for (const name of Object.keys(found))
      if (!told.branches.has(name)) wrong.push(`the branch ${name} is nobody's`);
    await table.add([{ id: 999, grp: 0, mark: 'last' }]);
    const { content } = await contentIn(table);
    if (!content.rows.has(999)) wrong.push('one more row is not there');
    const verified = await connection.namespace.verify?.({});
    for (const { path, what } of verified?.problems ?? []) wrong.push(`verify: ${path}: ${what}`);
  } catch (error) {
    wrong.push(`afterwards: ${(error as Error).stack}`);
  } finally {
    await connection.close();
  }
  return wrong;
}

/** Whoever dropped the table last may have been killed. */
async function brought(connection: Connection): Promise<void> {
  if (!(await connection.tableExists(TABLE))) await connection.undropTable(TABLE);
}

async function tagsHold(table: Table, told: Told): Promise<void> {
  const tags = await (await table.tags()).list();
  for (const [tag, allowed] of told.tags) {
    const version = tags[tag]?.version ?? 'none';
    if (!allowed.includes(version))
      told.wrong.push(`the tag ${tag} is ${version} and may be ${allowed.join(' or ')}`);
    if (version === 'none') continue;
    await table.checkout({ tag });
    const read = await contentIn(table);
    told.see('main', read.version, hashOf(read.content));
    if (read.version !== version) told.wrong.push(`the tag ${tag} opens version ${read.version}`);
    await table.checkoutLatest();
  }
  for (const tag of Object.keys(tags))
    if (!told.tags.has(tag)) told.wrong.push(`the tag ${tag} is nobody's`);
}

async function held(round: Round, seed: number, counts: Counts): Promise<readonly string[]> {
  const connection = await openRoot({ root: round.root, durability: round.durability });
  const rows = FIRST.map(([id, grp, mark]) => ({ id, grp, mark }));
  await connection.createTable(TABLE, rows, undefined, { schema: SCHEMA });
  await connection.close();
  const early: string[] = [];
  const lines = await storm(round, seeded(seed), counts, (what) => void early.push(what));
  const told = new Told(round.cleanupAge !== undefined, lines);
  for (const line of told.acknowledged.values()) counts.acknowledged += line.size;
  for (const open of told.open.values()) counts.open += open.length;
  return [...early, ...(await problems(round, told, counts))];
}

async function rounds(context: ProofContext, folder: string, counts: Counts): Promise<number> {
  const { seed, size, deadline, violated } = context;
  let at = 0;
  for (; at < ROUNDS[size]; at++) {
    if (size === 'nightly' && performance.now() > deadline) break;
    const round: Round = {
      root: join(folder, `r${at}`),
      durability: (seed + at) % 4 < 2 ? 'relaxed' : 'full',
      changes: CHANGES[size],
      ms: ROUND_MS[size],
      ...((seed + at) % 2 === 0 ? {} : { cleanupAge: CLEANUP_MS }),
    };
    const wrong = await held(round, seed + at, counts);
    for (const what of wrong.slice(0, 8)) violated(`round ${at}: ${what}`);
  }
  return at;
}

/** Tries of the control: chance may spare an engine that only sometimes loses a version. */
const TRIES = 3;

export const contention: ProofRow = {
  row: 'T25 kills and contention',
  run: (context) =>
    inFolder(async (folder) => {
      const counts: Counts = { kills: 0, acknowledged: 0, open: 0, read: 0 };
      const done = await rounds(context, folder, counts);
      let found = 0;
      for (let at = 0; at < TRIES && found === 0; at++) {
        const root = join(folder, `unsafe${at}`);
        const round = {
          root,
          durability: 'relaxed',
          unsafe: true,
          changes: 80,
          ms: 4_000,
        } as const;
        const spared: Counts = { kills: 0, acknowledged: 0, open: 0, read: 0 };
        found = (await held(round, context.seed + at, spared)).length;
      }
      if (found === 0) context.violated('an engine that renames instead of linking passes');
      const { kills, acknowledged, open, read } = counts;
      return {
        cases: kills,
        note: `${done} rounds, ${acknowledged} changes acknowledged, ${open} open, ${read} versions read back; renaming engine found out by ${found}`,
      };
    }),
};
