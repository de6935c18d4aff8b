/** One operation on a catalog of the real disk, in a process that may die at one of its calls. */
import nodeFs from 'node:fs';
import { openDirectoryNamespace } from '../../src/directory/directory-namespace.ts';
import type { FileSystem } from '../../src/index.ts';
import { filesOf } from '../helpers/catalog-files.ts';
import { CRASH_OPERATIONS, type CrashOperation } from '../helpers/crash-operations.ts';
import { OUTSIDE, runOperation } from '../helpers/crash-runs.ts';
import { FaultyFs } from '../helpers/faulty-fs.ts';
import { message, say } from './child-process.ts';

export interface OperationTask {
  readonly root: string;
  readonly operation: string;
  /** The call of the file system that is the last one; none if absent. */
  readonly at?: number;
}

export interface OperationDone {
  readonly done: true;
  /** Undefined when the change was acknowledged. */
  readonly error?: string;
  readonly code?: string;
}

const faulty = new FaultyFs(nodeFs as unknown as FileSystem, () =>
  process.kill(process.pid, 'SIGKILL'),
);
const { root, operation, at } = await message<OperationTask>();
let error: unknown;
try {
  const catalog = await openDirectoryNamespace({ root, fs: faulty.fs, locations: OUTSIDE });
  const change = CRASH_OPERATIONS[operation] as CrashOperation;
  error = await runOperation(change, catalog, filesOf(nodeFs, root), () =>
    faulty.arm(at === undefined ? undefined : { at, kind: 'kill' }),
  );
} catch (thrown) {
  error = thrown;
}
if (error === undefined) say({ done: true } satisfies OperationDone);
else {
  const code = (error as { code?: string }).code ?? 'unknown';
  say({ done: true, error: String(error), code } satisfies OperationDone);
}
