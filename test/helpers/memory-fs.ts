/** Fresh file systems in memory. */
import type nodeFs from 'node:fs';
import { createFsFromVolume, Volume } from 'memfs';
import type { FileSystem } from '../../src/store/disk/file-system.ts';

// memfs asks for the user at every step of a path, which is a system call: a tenth of its time.
for (const name of ['getuid', 'getgid'] as const) {
  const id = process[name]?.();
  if (id !== undefined) process[name] = () => id;
}

/** What the engine takes, with the rest of node:fs to look behind it. */
export type TestFs = FileSystem & typeof nodeFs;

/** Another file system with the same folders and files, for tests that begin with the same catalog. */
export function copyOf(fs: TestFs): TestFs {
  const copied: typeof nodeFs = fs;
  const copy: typeof nodeFs = memoryFs();
  const walk = (folder: string): void => {
    for (const entry of copied.readdirSync(folder, { withFileTypes: true })) {
      const path = `${folder === '/' ? '' : folder}/${entry.name}`;
      const { atime, mtime } = copied.statSync(path);
      if (entry.isDirectory()) {
        copy.mkdirSync(path);
        walk(path);
      } else copy.writeFileSync(path, copied.readFileSync(path));
      copy.utimesSync(path, atime, mtime);
    }
  };
  walk('/');
  return copy as TestFs;
}

/** Parts of memfs that take most of its time, on each step of each path. */
interface Internals {
  readonly _core: {
    readonly root: { getChild(name: string): unknown; readonly children: Map<string, unknown> };
    filenameToSteps(name: string, base?: string): string[];
  };
}

/** A path that `resolve` would not change. */
const PLAIN = /^(?:\/(?!\.{0,2}(?:\/|$))[^/]+)+$/;

let shortened = false;

/** Looks names up without noting when, and resolves no path that is plain. */
function shorten({ _core: { root } }: Internals): void {
  if (shortened) return;
  shortened = true;
  const link: Internals['_core']['root'] = Object.getPrototypeOf(root);
  link.getChild = function (name) {
    return this.children.get(name);
  };
}

export function memoryFs(): TestFs {
  const volume = new Volume();
  const internals = volume as unknown as Internals;
  shorten(internals);
  const core = internals._core;
  const steps = core.filenameToSteps;
  core.filenameToSteps = (name, base) =>
    PLAIN.test(name) ? name.slice(1).split('/') : steps.call(core, name, base);
  const fs = createFsFromVolume(volume) as unknown as TestFs & Record<string, unknown>;
  for (const [name, call] of Object.entries(fs)) {
    if (name.endsWith('Sync')) fs[name] = withoutStacks(call as (...args: unknown[]) => unknown);
  }
  return fs;
}

/**
 * Errors of the file system have no stack: most say that a file is not there, which the store expects,
 * and to walk the stack takes longer than all else that the call does.
 */
function withoutStacks(call: (...args: unknown[]) => unknown): (...args: unknown[]) => unknown {
  return (...args) => {
    const limit = Error.stackTraceLimit;
    Error.stackTraceLimit = 0;
    try {
      return call(...args);
    } finally {
      Error.stackTraceLimit = limit;
    }
  };
}
