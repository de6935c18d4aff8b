/** T2: a process is killed at every call of the file system, on the real disk. */
import nodeFs, { mkdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import type { FileSystem } from '../../src/index.ts';
import { CRASH_OPERATIONS } from '../helpers/crash-operations.ts';
import { type CrashCase, checkReopened, crashCase } from '../helpers/crash-runs.ts';
import { seeded } from '../helpers/seeded.ts';
import { plant } from '../helpers/trees.ts';
import type { OperationDone, OperationTask } from './operation-child.ts';
import { Child, inFolder } from './processes.ts';
import type { ProofRow } from './row.ts';

/** Kills in each kind of operation, spread over its calls; at night every call has its turn. */
const KILLS = { ci: 1, short: 36, nightly: Number.POSITIVE_INFINITY };
/** Processes at work at once, each with another one that starts up meanwhile. */
const LANES = 2;

export const killCalls: ProofRow = {
  row: 'T2 kill at every call',
  run: ({ seed, size, violated }) =>
    inFolder(async (folder) => {
      const random = seeded(seed);
      const kills: { readonly each: CrashCase; readonly at: number }[] = [];
      for (const [name, operation] of Object.entries(CRASH_OPERATIONS)) {
        const each = await crashCase(name, operation);
        const step = Math.max(1, each.calls / KILLS[size]);
        for (let at = 1 + random() * step; at < each.calls + 1; at += step)
          kills.push({ each, at: Math.floor(at) });
      }
      let [killed, landed] = [0, 0];
      const lane = async (): Promise<void> => {
        let next = new Child<OperationDone>('operation-child');
        for (let kill = kills.pop(); kill !== undefined; kill = kills.pop()) {
          const { each, at } = kill;
          const child = next;
          next = new Child('operation-child');
          const root = join(folder, `${each.name} ${at}`);
          mkdirSync(root);
          plant(nodeFs, root, each.tree);
          child.tell({ root, operation: each.name, at } satisfies OperationTask);
          const done = await child.line(() => true);
          if (done === undefined) killed++;
          else await child.kill();
          try {
            if (done?.error !== undefined) throw new Error(`refused: ${done.error}`);
            const allowed = done === undefined ? [each.before, each.after] : [each.after];
            const fs = nodeFs as unknown as FileSystem;
            const state = await checkReopened(fs, each, { root, turn: at, allowed });
            if (state === each.after) landed++;
          } catch (error) {
            violated(`${each.name}, killed at call ${at}: ${(error as Error).stack}`);
          }
          rmSync(root, { recursive: true });
        }
        await next.kill();
      };
      await Promise.all(Array.from({ length: LANES }, lane));
      return { cases: killed, note: `${landed} of them when the change was there already` };
    }),
};
