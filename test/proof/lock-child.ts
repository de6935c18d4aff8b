/** Takes locks as it is told, appends a row under each, and says when it is inside. */
import nodeFs from 'node:fs';
import { openDirectoryNamespace } from '../../src/directory/directory-namespace.ts';
import { openFileStore } from '../../src/store/file-store.ts';
import { withLock } from '../../src/store/lock.ts';
import { people } from '../helpers/people.ts';
import { messages, say } from './child-process.ts';
import type { LockTask } from './locks.ts';

const Real = Date;
let ahead = 0;
/** Locks ask the global clock. */
globalThis.Date = class extends Real {
  constructor(...given: unknown[]) {
    super(...((given.length === 0 ? [Real.now() + ahead] : given) as [number]));
  }
  static override now(): number {
    return Real.now() + ahead;
  }
} as DateConstructor;

const since = (): number => performance.timeOrigin + performance.now();

say({ ready: true });
for await (const task of messages<LockTask | null>()) {
  if (task === null) break;
  const { root, key, row, waitMs, blockMs = 0, holdMs = 0, skew = 0, frozen = false } = task;
  ahead = skew;
  const fs = frozen ? Object.freeze({ ...nodeFs }) : nodeFs;
  const options = { root, fs, durability: 'relaxed' } as const;
  const store = openFileStore(options);
  const catalog = await openDirectoryNamespace(options);
  const span = await withLock(
    store,
    key,
    async (lease) => {
      const from = since();
      const { held } = lease;
      say({ inside: row, held });
      if (blockMs > 0) Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, blockMs);
      await catalog.insertIntoTable({ id: ['t'] }, people(1, row));
      if (holdMs > 0) await new Promise((resolve) => setTimeout(resolve, holdMs));
      return { held, stillHeld: lease.held, from, to: since() };
    },
    { waitMs },
  );
  await catalog.close();
  say({ done: row, ...span });
}
process.stdin.destroy();
