/** T4: processes are killed at random moments of random work: nothing acknowledged is missing. */
import { join } from 'node:path';
import { setTimeout as later } from 'node:timers/promises';
import { seeded } from '../helpers/seeded.ts';
import { type Counts, checked, type Lane, noCounts, noteOf } from './kill-check.ts';
import type { KillLine, KillTask } from './kill-child.ts';
import { emptyState } from './kill-model.ts';
import { Child, inFolder } from './processes.ts';
import type { ProofRow } from './row.ts';

const KILLS = { ci: 8, short: 150, nightly: 10_000 };
/** Catalogs that one process works on at once: each kill hits every one of them. */
const LANES = 3;
/** Processes at work, each with its own catalogs. */
const PROCESSES = 2;
/** Kills that share a catalog, each going on where the one before was. */
const KILLS_A_CATALOG = 20;
/** The kill comes up to so many milliseconds after one of the first so many operations began. */
const LATEST = 10;
const OPERATIONS = 25;

export const kills: ProofRow = {
  row: 'T4 random kills',
  run: ({ seed, size, deadline, violated }) =>
    inFolder(async (folder) => {
      const counts: Counts = noCounts();
      let killed = 0;
      const over = (): boolean =>
        killed >= KILLS[size] || (size === 'nightly' && performance.now() > deadline);
      const worker = async (_: unknown, nth: number): Promise<void> => {
        const random = seeded(seed + nth);
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
      return { cases: killed, note: `${LANES} catalogs each; ${noteOf(counts)}` };
    }),
};
