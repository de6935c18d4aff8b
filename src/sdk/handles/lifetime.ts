/**
 * `Lifetime` tracks whether a handle has ended: it was closed, or the handle that it belongs to
 * has ended, as the connection of a table. Calls begin with `enter`, which throws Closed on a
 * handle that has ended, or the reason of an aborted signal. `signal` is aborted at the end of the
 * handle itself.
 */
import { DirspaceError } from '../../errors.ts';
import type { CallOptions } from '../../protocol/index.ts';

export class Lifetime {
  readonly #subject: () => string;
  readonly #parent: Lifetime | undefined;
  #open = true;
  /** Made when it is asked for: most handles need none. */
  #ended: AbortController | undefined;

  /** `subject` opens messages, as in "Table prod/user". */
  constructor(subject: () => string, parent?: Lifetime) {
    this.#subject = subject;
    this.#parent = parent;
  }

  get isOpen(): boolean {
    return this.#open && this.#parent?.isOpen !== false;
  }

  /** True for the call that ended it. */
  end(): boolean {
    const ended = this.#open;
    this.#open = false;
    this.#ended?.abort(this.#closed());
    return ended;
  }

  /** Aborted with Closed when `end` is called, for what waits for others and would go on. */
  get signal(): AbortSignal {
    this.#ended ??= new AbortController();
    if (!this.#open) this.#ended.abort(this.#closed());
    return this.#ended.signal;
  }

  #closed(): DirspaceError {
    return new DirspaceError('Closed', `${this.#subject()} is closed. Open it again to use it.`);
  }

  /** Opens every call: throws Closed after the end, and the reason of an aborted signal. */
  enter(options?: CallOptions): void {
    this.#parent?.enter();
    if (!this.#open) throw this.#closed();
    options?.signal?.throwIfAborted();
  }
}
