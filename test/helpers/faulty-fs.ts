/**
 * A file system that fails on command: the N-th call errors, writes short, or is the last one.
 *
 * Counts and logs every call, so that a test can walk through all of them one by one.
 */
import { constants } from 'node:fs';
import type { FileSystem, SystemError } from '../../src/store/disk/file-system.ts';
import { trustFileSystem } from '../../src/store/disk/strict-fs.ts';

/** What every call answers once the process counts as killed. Has no errno on purpose. */
export class Killed extends Error {
  override readonly name = 'Killed';
}

export interface Fault {
  /** The call that fails, counted from 1 since the fault was armed. */
  readonly at: number;
  /** An errno name; `kill` ends everything; `short` makes a write take half of its bytes. */
  readonly kind: 'kill' | 'short' | (string & {});
  /** The call takes effect before it fails. */
  readonly after?: boolean;
  /** Every later call of the same name fails too. */
  readonly persistent?: boolean;
  /** Only calls of these names count. */
  readonly only?: readonly string[];
  /** Only calls that change the disk count: killed at another, the disk is what it is at the next. */
  readonly changing?: boolean;
}

const SYNCHRONOUS = [
  ...['openSync', 'closeSync', 'readSync', 'writeSync', 'ftruncateSync', 'fstatSync'],
  ...['lstatSync', 'statSync', 'readdirSync', 'mkdirSync', 'rmdirSync', 'renameSync'],
  ...['linkSync', 'unlinkSync', 'existsSync', 'realpathSync', 'fsyncSync'],
];
const CALLBACKS = ['read', 'writev', 'fsync', 'fdatasync', 'utimes'];

const CHANGES = /^(write|ftruncate|mkdir|rmdir|rename|link|unlink|utimes)/;
const FLAGS_THAT_CHANGE = constants.O_CREAT | constants.O_TRUNC;

/** Whether the disk is another one after a call. */
function changes(name: string, [, flags]: readonly unknown[]): boolean {
  if (name !== 'openSync') return CHANGES.test(name);
  if (typeof flags === 'string') return flags !== 'r';
  return (Number(flags) & FLAGS_THAT_CHANGE) !== 0;
}

type Call = (...args: unknown[]) => unknown;

export class FaultyFs {
  readonly fs: FileSystem;
  /** Names of the calls made since the fault was armed. */
  log: string[] = [];
  fired = false;
  #fault: Fault | undefined;
  #failing = new Set<string>();
  readonly #kill: (() => void) | undefined;
  #killed = false;
  #count = 0;

  /** `kill` ends the process for real, where there is one of its own. */
  constructor(base: FileSystem, kill?: () => void) {
    this.#kill = kill;
    const made: Record<string, unknown> = { constants: base.constants };
    const calls = base as unknown as Record<string, Call>;
    for (const name of SYNCHRONOUS) {
      made[name] = (...args: unknown[]) => this.#synchronous(name, args, calls);
    }
    for (const name of CALLBACKS) {
      made[name] = (...args: unknown[]) => this.#callback(name, args, calls);
    }
    this.fs = trustFileSystem(made as unknown as FileSystem);
  }

  arm(fault?: Fault): void {
    this.log = [];
    this.fired = false;
    this.#fault = fault;
    this.#failing = new Set();
    this.#killed = false;
    this.#count = 0;
  }

  #due(name: string, args: readonly unknown[]): Fault | undefined {
    if (this.#killed) throw new Killed('killed');
    this.log.push(name);
    const fault = this.#fault;
    if (fault === undefined) return undefined;
    if (this.#failing.has(name)) return fault;
    if (fault.only !== undefined && !fault.only.includes(name)) return undefined;
    if (fault.changing === true && !changes(name, args)) return undefined;
    if (++this.#count !== fault.at) return undefined;
    this.fired = true;
    if (fault.persistent) this.#failing.add(name);
    return fault;
  }

  #failure(fault: Fault, name: string): Error {
    if (fault.kind === 'kill') {
      this.#kill?.();
      this.#killed = true;
      return new Killed(`killed at ${name}`);
    }
    return Object.assign(new Error(`${fault.kind}: injected into ${name}`), { code: fault.kind });
  }

  #synchronous(name: string, args: unknown[], calls: Record<string, Call>): unknown {
    const run = (given: unknown[]): unknown => (calls[name] as Call).apply(calls, given);
    const fault = this.#due(name, args);
    if (fault === undefined) return run(args);
    if (fault.kind === 'short') {
      if (name !== 'writeSync') return run(args);
      return run([args[0], args[1], args[2], Math.ceil((args[3] as number) / 2), args[4]]);
    }
    if (fault.after) {
      const answer = run(args);
      // The file was made, but an open that fails hands out no descriptor.
      if (name === 'openSync') calls.closeSync?.(answer);
    }
    const failure = this.#failure(fault, name);
    // It swallows whatever goes wrong.
    if (name === 'existsSync' && fault.kind !== 'kill') return false;
    throw failure;
  }

  #callback(name: string, args: unknown[], calls: Record<string, Call>): void {
    const done = args.at(-1) as (error: SystemError | null, value?: unknown) => void;
    const run = (given: unknown[]): unknown => (calls[name] as Call).apply(calls, given);
    let fault: Fault | undefined;
    try {
      fault = this.#due(name, args);
    } catch (error) {
      queueMicrotask(() => done(error as Error));
      return;
    }
    if (fault === undefined) run(args);
    else if (fault.kind === 'short') {
      if (name !== 'writev') return void run(args);
      const [first] = args[1] as Uint8Array[];
      const half = (first as Uint8Array).subarray(0, Math.ceil((first as Uint8Array).length / 2));
      run([args[0], [half], args[2], done]);
    } else if (fault.after) {
      const failure = this.#failure(fault, name);
      run([...args.slice(0, -1), () => done(failure)]);
    } else {
      const failure = this.#failure(fault, name);
      queueMicrotask(() => done(failure));
    }
  }
}
