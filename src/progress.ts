/**
 * `Progress` aborts work that makes no progress for a given time; with a time of 0 there is no
 * timeout. The work calls `moved` when it gets on. `pause` stops the timeout until `resume`. The
 * abort signals of callers abort the work too. `race` rejects with the abort reason as soon as the
 * work is aborted, and `onAbort` calls back then. The creator must call `end`, which releases the
 * timer and the listeners for good.
 */

export class Progress {
  #controller: AbortController | undefined;
  #aborted = false;
  #reason: unknown;
  readonly #timeoutMs: number;
  readonly #onTimeout: () => unknown;
  #unlink: (() => void)[] | undefined;
  /** Called once when the work is ended. Cheaper than listeners of the signal: every request has some. */
  readonly #waiting: ((reason: unknown) => void)[] = [];
  #timer: NodeJS.Timeout | undefined;
  #ended = false;
  readonly #group: Set<Progress> | undefined;

  /**
   * @param reason makes the abort reason after `timeoutMs` without progress; 0 means no timeout
   * @param group holds it until it ends, for its owner to abort all that is under way: a signal that
   *   each of them listens to costs a request several times as much
   */
  constructor(
    timeoutMs: number,
    reason: () => unknown,
    callers: readonly AbortSignal[] = [],
    group?: Set<Progress>,
  ) {
    this.#timeoutMs = timeoutMs;
    this.#group = group;
    group?.add(this);
    this.#onTimeout = () => this.abort(reason());
    for (const caller of callers) {
      if (caller.aborted) {
        this.abort(caller.reason);
        return;
      }
      const forward = (): void => this.abort(caller.reason);
      caller.addEventListener('abort', forward, { once: true });
      this.#unlink ??= [];
      this.#unlink.push(() => caller.removeEventListener('abort', forward));
    }
    if (timeoutMs > 0) this.#start();
  }

  /** Aborted by a caller, by the timer, or by `abort`; its reason says why. Made when it is asked for. */
  get signal(): AbortSignal {
    if (this.#controller === undefined) {
      this.#controller = new AbortController();
      if (this.#aborted) this.#controller.abort(this.#reason);
    }
    return this.#controller.signal;
  }

  get aborted(): boolean {
    return this.#aborted;
  }

  get reason(): unknown {
    return this.#reason;
  }

  moved(): void {
    this.#timer?.refresh();
  }

  /** Stops the timeout until `resume`, while progress depends on another party. */
  pause(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
  }

  /** Starts the timeout anew; does nothing after `end`, as work that ended may still come to here. */
  resume(): void {
    if (this.#timer !== undefined) this.#timer.refresh();
    else if (this.#timeoutMs > 0 && !this.#ended) this.#start();
  }

  #start(): void {
    this.#timer = setTimeout(this.#onTimeout, this.#timeoutMs).unref();
  }

  abort(reason: unknown): void {
    this.end();
    if (this.#aborted) return;
    this.#aborted = true;
    this.#reason = reason;
    this.#controller?.abort(reason);
    for (const tell of this.#waiting.splice(0)) tell(reason);
  }

  /** Calls `tell` with the reason on abort. The function returned cancels that. */
  onAbort(tell: (reason: unknown) => void): () => void {
    if (this.#aborted) {
      tell(this.#reason);
      return () => {};
    }
    const waiting = this.#waiting;
    waiting.push(tell);
    return () => {
      if (waiting.at(-1) === tell) waiting.pop();
      else if (waiting.includes(tell)) waiting.splice(waiting.indexOf(tell), 1);
    };
  }

  /** Releases the timer, the callers' signals and the group; the own signal keeps its state. */
  end(): void {
    this.#ended = true;
    this.pause();
    this.#group?.delete(this);
    if (this.#unlink !== undefined) for (const unlink of this.#unlink.splice(0)) unlink();
  }

  /** Settles as `work` does, or rejects with the signal's reason as soon as that is aborted. */
  race<T>(work: Promise<T>): Promise<T> {
    return new Promise((resolve, reject) => {
      const settled = this.onAbort(reject);
      work.then(
        (value) => {
          settled();
          resolve(value);
        },
        (error: unknown) => {
          settled();
          reject(error);
        },
      );
    });
  }
}
