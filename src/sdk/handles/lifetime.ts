/**
 * `Lifetime` tracks whether a handle has ended: it was closed, or the handle that it belongs to
 * has ended, as the connection of a table. Calls begin with `enter`, which throws Closed on a
 * handle that has ended, or the reason of an aborted signal.
 */
import { DirspaceError } from '../../errors.ts';
import type { CallOptions } from '../../protocol/index.ts';

export class Lifetime {
  readonly #subject: () => string;
  readonly #parent: Lifetime | undefined;
  #open = true;

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
    return ended;
  }

  /** Opens every call: throws Closed after the end, and the reason of an aborted signal. */
  enter(options?: CallOptions): void {
    this.#parent?.enter();
    if (!this.#open) {
      throw new DirspaceError('Closed', `${this.#subject()} is closed. Open it again to use it.`);
    }
    options?.signal?.throwIfAborted();
  }
}
