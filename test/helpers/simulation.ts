/**
 * Many processes in one, over one file system in memory, replayable from a seed: the clock, ids and
 * randomness are simulated, and who goes on next is drawn at every asynchronous call of the file
 * system, every call of a store, every sleep and every operation.
 */
import { crc32 } from 'node:zlib';
import { DirectoryNamespace } from '../../src/directory/directory-namespace.ts';
import { type OpenOptions, openCatalog } from '../../src/directory/open-catalog.ts';
import type { Env } from '../../src/env.ts';
import type { FileSystem } from '../../src/store/disk/file-system.ts';
import type { Processes } from '../../src/store/processes.ts';
import { seeded } from './seeded.ts';
import { simulatedFs } from './simulated-fs.ts';

/** What happened on the disk, told right after it did. Paths are absolute. */
export interface DiskEvents {
  linked?(by: SimulatedProcess, from: string, to: string): void;
  renamed?(by: SimulatedProcess, from: string, to: string): void;
  unlinked?(by: SimulatedProcess, path: string): void;
  /** Right before, while it can still be looked at. */
  unlinking?(by: SimulatedProcess, path: string): void;
}

export interface Faults {
  /** Chances that a call of the file system fails, and that it is the last one of its process. */
  readonly errors?: number;
  readonly kills?: number;
  /** No lock is ever to be had: all work goes on without. */
  readonly lockless?: boolean;
  /** The call, counted over all processes, at which the power goes. */
  readonly powerCutAt?: number;
  /**
   * The chance that a process whose turn it is does not get it, nor any other for up to some
   * thousands of turns, while the others go on: what a busy machine does, and fair turns never do.
   */
  readonly stalls?: number;
}

interface Waiting {
  readonly by: SimulatedProcess | undefined;
  readonly at: number;
  readonly wake: () => void;
}

/** What is loaded when first used takes real time, and who waits for it would go on at any turn. */
await Promise.all([
  import('../../src/directory/handlers.ts'),
  import('../../src/table/branching/index.ts'),
  import('../../src/table/indexing/index.ts'),
  import('../../src/table/lance-write/index.ts'),
  import('../../src/table/merge/index.ts'),
  import('../../src/table/verify/index.ts'),
  import('../../src/table/write/index.ts'),
]);

const START = Date.UTC(2030, 0, 1);
/** Turns of the event loop without anybody who could go on, after which something has stopped. */
const MOST_IDLE_TURNS = 100_000;

/** Most turns that a stalled process misses: one of these. */
const STALLS = [100, 1_000, 10_000] as const;

const nextTurn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

export class Simulation {
  readonly random: () => number;
  readonly base: FileSystem;
  readonly faults: Faults;
  readonly events: DiskEvents;
  /** Milliseconds since the epoch, as the file system's own clock says. */
  now = START;
  /** All processes, by their numbers. */
  readonly started: SimulatedProcess[] = [];
  /** Turns taken so far: orders all that happens. */
  step = 0;
  /** Calls of the file system so far. */
  calls = 0;
  powerIsOff = false;
  /** Files are looked at on the spot, as on a disk: what trusts two looks in a row is run then. */
  readonly looksAtOnce: boolean;
  #trace = 0;
  #waiting: Waiting[] = [];

  constructor(seed: number, base: FileSystem, faults: Faults = {}, events: DiskEvents = {}) {
    this.random = seeded(seed);
    this.looksAtOnce = seed % 5 === 2;
    this.base = base;
    this.faults = faults;
    this.events = events;
  }

  /** A checksum of all calls with their outcomes, in order. */
  get trace(): string {
    return this.#trace.toString(16).padStart(8, '0');
  }

  note(what: string): void {
    this.#trace = crc32(what, this.#trace);
  }

  below(limit: number): number {
    return Math.floor(this.random() * limit);
  }

  pick<Item>(...items: readonly Item[]): Item {
    return items[this.below(items.length)] as Item;
  }

  /** @param skew milliseconds that its clock is ahead of the file system's */
  process(skew = 0): SimulatedProcess {
    const process = new SimulatedProcess(this, this.started.length, skew);
    this.started.push(process);
    return process;
  }

  /**
   * Resolves when it is the caller's turn again, after `ms` at the earliest.
   * @param by the process that waits; who names none is never stalled
   */
  turn(ms = 0, by?: SimulatedProcess): Promise<void> {
    return new Promise((wake) => this.#waiting.push({ by, at: this.now + ms, wake }));
  }

  /** Runs all side by side to their ends. @throws the first error */
  async run(work: readonly (() => Promise<void>)[]): Promise<void> {
    const restore = installClock(() => this.now);
    let open = work.length;
    let failure: { readonly error: unknown } | undefined;
    try {
      for (const start of work) {
        start()
          .catch((error: unknown) => {
            failure ??= { error };
          })
          .finally(() => {
            open--;
          });
      }
      for (let idle = 0; ; ) {
        await nextTurn();
        if (open === 0) break;
        if (this.#wakeOne()) idle = 0;
        else if (++idle > MOST_IDLE_TURNS) throw new Error('nobody goes on any more');
      }
    } finally {
      restore();
    }
    if (failure !== undefined) throw failure.error;
  }

  #wakeOne(): boolean {
    const waiting = this.#waiting;
    if (waiting.length === 0) return false;
    this.step++;
    this.now += this.random() * 0.4;
    const isReady = ({ at, by }: Waiting): boolean =>
      at <= this.now && (by === undefined || by.stalledUntil <= this.step);
    let ready = waiting.filter(isReady).length;
    if (ready === 0) {
      for (const { by } of waiting) if (by !== undefined) by.stalledUntil = 0;
      this.now = Math.max(this.now, Math.min(...waiting.map(({ at }) => at)));
      ready = waiting.filter(isReady).length;
    }
    let left = this.below(ready);
    const index = waiting.findIndex((one) => isReady(one) && left-- === 0);
    const by = waiting[index]?.by;
    const { stalls = 0 } = this.faults;
    if (stalls > 0 && by !== undefined && this.random() < stalls) {
      by.stalledUntil = this.step + this.below(this.pick(...STALLS));
      return true;
    }
    const [next] = waiting.splice(index, 1);
    next?.wake();
    return true;
  }
}

/** Replaces the global clock, which in-memory files and lock libraries ask. */
function installClock(now: () => number): () => void {
  const Real = globalThis.Date;
  class SimulatedDate extends Real {
    constructor(...given: unknown[]) {
      super(...((given.length === 0 ? [now()] : given) as [number]));
    }
    static override now(): number {
      return Math.floor(now());
    }
  }
  globalThis.Date = SimulatedDate as DateConstructor;
  return () => {
    globalThis.Date = Real;
  };
}

/** Store calls at which somebody else may go first: not those whose effect callers expect at once. */
const YIELDING = [
  ...['get', 'head', 'open', 'list', 'putIfAbsent', 'put', 'delete', 'createFolder'],
  ...['syncFolders', 'moveFolder', 'deleteFolder'],
] as const;

/** One process: dies alone, and has a clock and ids of its own. */
export class SimulatedProcess {
  readonly simulation: Simulation;
  readonly number: number;
  readonly fs: FileSystem;
  readonly env: Env;
  dead = false;
  /** The step before which it gets no turn. */
  stalledUntil = 0;
  /** A process knows of those that were started later too. */
  readonly processes: Processes;
  /** Of the operation under way: part of every id made meanwhile. */
  operation = 0;
  #ids = 0;

  constructor(simulation: Simulation, number: number, skew: number) {
    this.simulation = simulation;
    this.number = number;
    this.fs = simulatedFs(this);
    this.processes = {
      self: { scope: '51a1de00', pid: number, start: 1 },
      stateOf: ({ pid }) => (simulation.started[pid]?.dead === false ? 'alive' : 'dead'),
    };
    this.env = {
      now: () => Math.floor(simulation.now + skew),
      uuid: () => this.#uuid(),
      random: simulation.random,
      sleep: async (ms, signal) => {
        signal?.throwIfAborted();
        await simulation.turn(ms, this);
        signal?.throwIfAborted();
      },
    };
  }

  /** A catalog in which others may go first at every call of the store. */
  async open(options: Omit<OpenOptions, 'fs' | 'env'>): Promise<DirectoryNamespace> {
    const { fs, env, simulation, processes } = this;
    const { catalog, store, autoCompaction } = await openCatalog({
      ...options,
      fs,
      env,
      processes,
      // The clock of a simulation runs ahead of what it left on the disk.
      trashRetention: Number.POSITIVE_INFINITY,
    });
    const calls = store as unknown as Record<string, (...args: unknown[]) => unknown>;
    for (const name of YIELDING) {
      if (name === 'head' && simulation.looksAtOnce) continue;
      const call = (calls[name] as (...args: unknown[]) => unknown).bind(store);
      calls[name] = async (...args) => {
        await simulation.turn(0, this);
        return call(...args);
      };
    }
    return new DirectoryNamespace(catalog, store, autoCompaction);
  }

  /** Tells the operation by its first part, the process by its second. */
  #uuid(): string {
    const hex = (value: number, digits: number): string => value.toString(16).padStart(digits, '0');
    const id = hex(++this.#ids, 12);
    return `${hex(this.operation, 8)}-${hex(this.number, 4)}-4000-8000-${id}`;
  }
}

/** The operation that made an id. */
export const operationOf = (id: string): number => Number.parseInt(id.slice(0, 8), 16);
