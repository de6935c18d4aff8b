/**
 * `openDirectoryNamespace` opens a catalog of nested directories as a `Namespace`
 * (`DirectoryNamespace`), and begins to remove expired entries of the trash in the background
 * (`sweep`). A `DirectoryNamespace` validates requests, repeats the answers of known idempotency
 * keys, and yields to the event loop from time to time. If the format file is damaged, all
 * operations but Verify and Repair throw Corrupt. `close` ends all background work and waits for
 * its end; later calls throw Closed. operation-table.ts finds the function of each operation.
 */

import { type Env, elapsed } from '../env.ts';
import { DirspaceError } from '../errors.ts';
import { nextRound } from '../event-loop.ts';
import {
  type AnyOperation,
  type CallOptions,
  type CatalogExtensions,
  type CatalogWatch,
  checkedRequest,
  EVERY_OPERATION,
  EVERY_OPERATION_NAMES,
  methodName,
  type Namespace,
  throwIfAborted,
  type WatchRequest,
} from '../protocol/index.ts';
import type { FileStore } from '../store/index.ts';
import { answeredOnce, type Catalog, sweepInBackground } from './catalog/index.ts';
import { endJobs } from './jobs.ts';
import { type OpenOptions, openCatalog } from './open-catalog.ts';
import { type CatalogOperations, handlerOf } from './operation-table.ts';
import type { AutoCompaction, RootPresence } from './upkeep/index.ts';
import { watchCatalog } from './watch.ts';

export type DirectoryOptions = OpenOptions;

/** Opens the catalog at a root. @throws what openCatalog throws, PermissionDenied */
export async function openDirectoryNamespace(
  options: DirectoryOptions,
): Promise<DirectoryNamespace> {
  const { catalog, store, autoCompaction, presence } = await openCatalog(options);
  const namespace = new DirectoryNamespace(catalog, store, autoCompaction, presence);
  namespace.sweep();
  return namespace;
}

/** The methods are made from the table of handlers; the class adds the life of the object. */
const Operations = class {} as new () => CatalogOperations;

/** How long a program may go on asking before everything else has its turn, in milliseconds. */
const TURN_MILLIS = 20;

type AnyHandler = (catalog: Catalog, request: object, ...rest: unknown[]) => Promise<unknown>;

export class DirectoryNamespace
  extends Operations
  implements Namespace, Required<CatalogExtensions>
{
  /** Files are at the locations that it answers. */
  readonly opensFiles = true;
  readonly #catalog: Catalog;
  readonly #store: FileStore;
  readonly #autoCompaction: AutoCompaction | undefined;
  readonly #closing = new AbortController();
  readonly #presence: RootPresence | undefined;
  #sweeping: Promise<void> | undefined;
  #lastTurn = Number.NEGATIVE_INFINITY;

  static {
    for (const operation of EVERY_OPERATION_NAMES) {
      const handler = handlerOf(operation) as AnyHandler;
      const takesData = EVERY_OPERATION[operation].body === 'arrow-stream';
      Object.defineProperty(DirectoryNamespace.prototype, methodName(operation), {
        value: function (this: DirectoryNamespace, request: object, ...rest: unknown[]) {
          try {
            const options = rest[takesData ? 1 : 0] as CallOptions | undefined;
            const catalog = this.#use(options, operation);
            const input = checked(operation, request);
            const call = (): Promise<unknown> => handler(catalog, input, ...rest);
            const work =
              options?.idempotencyKey === undefined
                ? call()
                : answeredOnce(catalog, operation, options, call);
            const checkedWork = this.#presence?.checked(operation, work) ?? work;
            return this.#inTurn(catalog, checkedWork);
          } catch (error) {
            return Promise.reject(error);
          }
        },
        writable: true,
        configurable: true,
      });
    }
  }

  /**
   * Small answers are given without waiting for I/O, so a program that asks in a loop would starve
   * its timers and the change that it waits for: every `TURN_MILLIS` an answer waits for a turn.
   */
  #inTurn<Answer>({ env }: Catalog, work: Promise<Answer>): Promise<Answer> {
    if (!this.#isTurnDue(env)) return work;
    // Also before an error: what is waited for may not be there yet. Not in the queue of long work.
    return Promise.allSettled([work, nextRound()]).then(() => work);
  }

  #isTurnDue(env: Env): boolean {
    let now: number;
    try {
      now = elapsed(env);
    } catch {
      // A clock that tells no time is refused by what needs it.
      return false;
    }
    if (now >= this.#lastTurn && now - this.#lastTurn < TURN_MILLIS) return false;
    this.#lastTurn = now;
    return true;
  }

  constructor(
    catalog: Catalog,
    store: FileStore,
    autoCompaction?: AutoCompaction,
    presence?: RootPresence,
  ) {
    super();
    this.#catalog = catalog;
    this.#store = store;
    this.#autoCompaction = autoCompaction;
    this.#presence = presence;
  }

  watch(request: WatchRequest, options?: CallOptions): CatalogWatch {
    const catalog = this.#use(options);
    const signals = [
      this.#closing.signal,
      ...(options?.signal === undefined ? [] : [options.signal]),
    ];
    return watchCatalog(catalog, this.#store, request, AbortSignal.any(signals));
  }

  /** Begins to empty the trash in the background; `close` ends it. */
  sweep(): void {
    const { readOnly, format } = this.#catalog;
    if (readOnly || format.refusal !== undefined) return;
    this.#sweeping ??= sweepInBackground(this.#catalog, this.#closing.signal);
  }

  /** Ends watches and jobs and waits for what goes on in the background; running operations finish. */
  async close(): Promise<void> {
    this.#closing.abort();
    await endJobs(this.#catalog);
    await this.#sweeping;
    await this.#autoCompaction?.close();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
  }

  /** @throws Closed, the signal's reason, or Corrupt where the catalog cannot be trusted */
  #use(options: CallOptions | undefined, operation?: AnyOperation): Catalog {
    if (this.#closing.signal.aborted) {
      throw new DirspaceError('Closed', 'The catalog was closed; open it again to use it.');
    }
    throwIfAborted(options);
    const { refusal } = this.#catalog.format;
    if (refusal !== undefined && operation !== 'Verify' && operation !== 'Repair') throw refusal;
    return this.#catalog;
  }
}

/**
 * The request, validated against its model: callers without types could otherwise have wrong values
 * written, which would later be found as damage. @throws InvalidInput
 */
const checked = (operation: AnyOperation, request: object | undefined): object =>
  checkedRequest(operation, request ?? {});
