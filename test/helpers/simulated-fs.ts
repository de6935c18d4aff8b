/**
 * The file system as one simulated process sees it: asynchronous calls happen when the scheduler
 * says so, any call may fail or be the last one, and every call goes into the trace.
 */
import type { FileSystem, SystemError } from '../../src/store/disk/file-system.ts';
import { trustFileSystem } from '../../src/store/disk/strict-fs.ts';
import { Killed } from './faulty-fs.ts';
import type { SimulatedProcess } from './simulation.ts';

type Call = (...args: unknown[]) => unknown;
type Done = (error: SystemError | null, value?: unknown) => void;

const SYNCHRONOUS = [
  ...['openSync', 'closeSync', 'readSync', 'writeSync', 'ftruncateSync', 'fstatSync'],
  ...['lstatSync', 'statSync', 'readdirSync', 'mkdirSync', 'rmdirSync', 'renameSync'],
  ...['linkSync', 'unlinkSync', 'existsSync', 'realpathSync', 'fsyncSync'],
];

/** Asynchronous calls, each by what does the same in place. */
const IN_PLACE: Readonly<Record<string, (base: FileSystem, args: unknown[]) => unknown>> = {
  read: (base, args) => (base.readSync as Call)(...args),
  writev: (base, [fd, buffers]) =>
    (buffers as Uint8Array[]).reduce(
      (sum, bytes) => sum + base.writeSync(fd as number, bytes, 0, bytes.byteLength, null),
      0,
    ),
  fsync: (base, [fd]) => base.fsyncSync(fd as number),
  fdatasync: (base, [fd]) => base.fsyncSync(fd as number),
};

/** Calls that may fail; what closes and looks back at a descriptor does not. */
const FAILING = new Set([
  ...['openSync', 'readSync', 'writeSync', 'lstatSync', 'readdirSync', 'mkdirSync', 'rmdirSync'],
  ...['renameSync', 'linkSync', 'unlinkSync', 'read', 'writev', 'fsync', 'fdatasync'],
]);
const ERRORS = ['EIO', 'ENOSPC', 'EMFILE', 'EACCES'];

type Fate = { readonly kind: 'run' } | { readonly kind: 'fail' | 'die'; readonly after: boolean };

export function simulatedFs(process: SimulatedProcess): FileSystem {
  const { base } = process.simulation;
  const made: Record<string, unknown> = { constants: base.constants };
  const calls = base as unknown as Record<string, Call>;
  for (const name of SYNCHRONOUS) {
    const run: Call = (...args) => (calls[name] as Call)(...args);
    made[name] = (...args: unknown[]) => perform(process, name, args, run);
  }
  for (const [name, run] of Object.entries(IN_PLACE)) {
    made[name] = (...given: unknown[]) => {
      const args = given.slice(0, -1);
      later(process, given.at(-1) as Done, () =>
        perform(process, name, args, (...all) => run(base, all)),
      );
    };
  }
  made.utimes = (...given: [string, Date, Date, Done]) => {
    const [path, accessed, modified, done] = given;
    process.simulation.turn(0, process).then(() => {
      if (!process.dead) base.utimes(path, accessed, modified, done as (error?: unknown) => void);
    });
  };
  return trustFileSystem(made as unknown as FileSystem);
}

/** A dead process is not called back. */
function later(process: SimulatedProcess, done: Done, work: () => unknown): void {
  process.simulation.turn(0, process).then(() => {
    let value: unknown;
    try {
      value = work();
    } catch (error) {
      done(error as Error);
      return;
    }
    done(null, value);
  });
}

function perform(process: SimulatedProcess, name: string, args: unknown[], run: Call): unknown {
  const { simulation } = process;
  const fate = draw(process, name);
  const path = typeof args[0] === 'string' ? args[0] : '';
  if (simulation.faults.lockless === true && name === 'openSync' && path.includes('/locks/')) {
    throw failure('EACCES', name);
  }
  const second = typeof args[1] === 'string' ? args[1] : '';
  let told = '';
  try {
    if (fate.kind !== 'run' && !fate.after) throw doom(process, name, fate.kind);
    if (name === 'unlinkSync') simulation.events.unlinking?.(process, path);
    const value = run(...args);
    if (name === 'linkSync') simulation.events.linked?.(process, path, second);
    else if (name === 'renameSync') simulation.events.renamed?.(process, path, second);
    else if (name === 'unlinkSync') simulation.events.unlinked?.(process, path);
    if (fate.kind !== 'run') throw doom(process, name, fate.kind);
    return value;
  } catch (error) {
    told = (error as SystemError).code ?? String(error);
    throw error;
  } finally {
    simulation.note(`${process.number} ${name} ${path} ${second} ${told}\n`);
  }
}

function draw(process: SimulatedProcess, name: string): Fate {
  const { simulation } = process;
  if (process.dead || simulation.powerIsOff) throw new Killed('killed');
  const { errors = 0, kills = 0, powerCutAt } = simulation.faults;
  const call = ++simulation.calls;
  if (call === powerCutAt) return { kind: 'die', after: simulation.random() < 0.5 };
  if (errors + kills === 0 || !FAILING.has(name)) return { kind: 'run' };
  const drawn = simulation.random();
  if (drawn < kills) return { kind: 'die', after: simulation.random() < 0.5 };
  if (drawn < kills + errors) return { kind: 'fail', after: simulation.random() < 0.2 };
  return { kind: 'run' };
}

function doom(process: SimulatedProcess, name: string, kind: 'fail' | 'die'): Error {
  const { simulation } = process;
  if (kind === 'die') {
    process.dead = true;
    if (simulation.faults.powerCutAt !== undefined) simulation.powerIsOff = true;
    return new Killed(`killed at ${name}`);
  }
  return failure(simulation.pick(...ERRORS), name);
}

const failure = (code: string, name: string): Error =>
  Object.assign(new Error(`${code}: injected into ${name}`), { code });
