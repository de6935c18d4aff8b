/** T4: processes are killed at random moments of random work: nothing acknowledged is missing. */
import { join } from 'node:path';
import { setTimeout as later } from 'node:timers/promises';
import { connect } from '../../src/index.ts';
import type { KillLine, KillTask } from './kill-child.ts';
import {
  applied,
  type CatalogState,
  emptyState,
  type Operation,
  possible,
  tablesOf,
  visible,
} from './kill-model.ts';
import { perform, readBack } from './kill-operations.ts';
import { Child, inFolder, randomOf } from './processes.ts';
import type { ProofRow } from './row.ts';

const KILLS = { ci: 20, short: 300, nightly: 10_000 };
/** Catalogs that one process works on at once: each kill hits every one of them. */
const LANES = 3;
/** Processes at work, each with its own catalogs. */
const PROCESSES = 2;
/** Kills that share a catalog, each going on where the one before was. */
const KILLS_A_CATALOG = 20;
/** The kill comes up to so many milliseconds after one of the first so many operations began. */
const LATEST = 10;
const OPERATIONS = 25;

interface Counts {
  acknowledged: number;
  inFlight: number;
  landed: number;
  readonly kinds: Set<string>;
}

interface Lane {
  readonly root: string;
  readonly state: CatalogState;
}

export const kills: ProofRow = {
  row: 'T4 random kills',
  run: ({ seed, size, deadline, violated }) =>
    inFolder(async (folder) => {
      const counts: Counts = { acknowledged: 0, inFlight: 0, landed: 0, kinds: new Set() };
      let killed = 0;
      const over = (): boolean =>
        killed >= KILLS[size] || (size === 'nightly' && performance.now() > deadline);
      const worker = async (_: unknown, nth: number): Promise<void> => {
        const random = randomOf(seed + nth);
        const spare = () => new Child<KillLine>('kill-child');
        let next = spare();
        let lanes: (Lane | undefined)[] = [];
        for (let run = 0; !over(); run++) {
          const known = run % KILLS_A_CATALOG === 0 ? [] : lanes;
          const given = Array.from(
            { length: LANES },
            (_, lane) =>
              known[lane] ?? { root: join(folder, `${nth}-${run}-${lane}`), state: emptyState },
          );
          const durability = run % 2 === 0 ? 'full' : 'relaxed';
          const child = next;
          await child.line(({ ready }) => ready === true);
          // The next process starts up while this one works.
          next = spare();
          const seeded = given.map((lane) => ({ ...lane, seed: Math.floor(random() * 2 ** 31) }));
          child.tell({ durability, lanes: seeded } satisfies KillTask);
          let operations = Math.floor(random() * OPERATIONS);
          await child.line(
            ({ error, begin }) => error !== undefined || (begin !== undefined && operations-- <= 0),
          );
          await later(random() * LATEST);
          if ((await child.kill()) === 'SIGKILL') killed++;
          else violated(`process ${run} of ${nth} ended by itself`);
          lanes = await Promise.all(
            given.map(async (lane, at) => {
              try {
                const lines = child.lines.filter((line) => line.lane === at);
                return { ...lane, state: await checked(lane, durability, lines, counts) };
              } catch (error) {
                violated(`kill ${run} of ${nth}, catalog ${at}: ${(error as Error).stack}`);
                return undefined;
              }
            }),
          );
        }
        await next.kill();
      };
      await Promise.all(Array.from({ length: PROCESSES }, worker));
      const { acknowledged, inFlight, landed, kinds } = counts;
      return {
        cases: killed,
        note: `${LANES} catalogs each; ${acknowledged} operations acknowledged, ${inFlight} in flight (${landed} of them landed) in ${kinds.size} kinds`,
      };
    }),
};

/** The state the catalog is in. @throws at whatever is wrong with it */
async function checked(
  { root, state: before }: Lane,
  durability: KillTask['durability'],
  lines: readonly KillLine[],
  counts: Counts,
): Promise<CatalogState> {
  let state = before;
  let pending: Operation | undefined;
  for (const { begin, done, error } of lines) {
    if (error !== undefined) throw new Error(`refused: ${error}`);
    if (begin !== undefined) pending = begin;
    if (done === undefined || pending === undefined) continue;
    state = applied(state, pending, done);
    pending = undefined;
    counts.acknowledged++;
  }
  const connection = await connect(root, { durability });
  try {
    const found = await readBack(connection);
    const allowed = pending === undefined ? [state] : possible(state, pending);
    const at = allowed.findIndex(({ namespaces }) => visible(namespaces) === found);
    if (at < 0) {
      const expected = allowed.map(({ namespaces }) => visible(namespaces)).join(' or ');
      throw new Error(`killed in ${JSON.stringify(pending)}, found ${found}, expected ${expected}`);
    }
    if (pending !== undefined) {
      counts.inFlight++;
      counts.kinds.add(pending.kind);
      if (at > 0) counts.landed++;
    }
    state = await writeOnceMore(connection, allowed[at] as CatalogState);
    const again = await readBack(connection);
    if (again !== visible(state.namespaces))
      throw new Error(`one more write left ${again} instead of ${visible(state.namespaces)}`);
    const { problems } = (await connection.namespace.verify?.({})) ?? { problems: ['no verify'] };
    if (problems.length > 0) throw new Error(`verify found ${JSON.stringify(problems)}`);
    return state;
  } finally {
    await connection.close();
  }
}

/** An append where there is a table, else a namespace. */
async function writeOnceMore(
  connection: Awaited<ReturnType<typeof connect>>,
  state: CatalogState,
): Promise<CatalogState> {
  const [id] = tablesOf(state);
  const free = ['a', 'b', 'c'].find((ns) => state.namespaces[ns] === undefined);
  if (id === undefined && free === undefined) return state;
  const operation: Operation =
    id === undefined
      ? { kind: 'create namespace', ns: free as string }
      : { kind: 'append', id, rows: [state.next] };
  const done = await perform(connection, operation);
  return applied(state, operation, done);
}
