/**
 * Ends work that stands still: a timer that every sign of progress puts back. Owns the link
 * between the signals of callers and the one signal the work sees.
 */

export class Progress {
  /** Aborted by a caller, by the timer, or by `abort`; its reason says why. */
  readonly signal: AbortSignal;
  readonly #controller = new AbortController();
  readonly #timeoutMs: number;
  readonly #onTimeout: () => unknown;
  readonly #unlink: (() => void)[] = [];
  /** Called once when the work is ended. Cheaper than listeners of the signal: every request has some. */
  readonly #waiting = new Set<(reason: unknown) => void>();
  #timer: NodeJS.Timeout | undefined;

  /** `reason` makes what the signal is aborted with when nothing moved for `timeoutMs` (0: ever). */
  constructor(timeoutMs: number, reason: () => unknown, callers: readonly AbortSignal[] = []) {
    this.signal = this.#controller.signal;
    this.#timeoutMs = timeoutMs;
    this.#onTimeout = () => this.abort(reason());
    for (const caller of callers) {
      if (caller.aborted) {
        this.abort(caller.reason);
        return;
      }
      const forward = (): void => this.abort(caller.reason);
      caller.addEventListener('abort', forward, { once: true });
      this.#unlink.push(() => caller.removeEventListener('abort', forward));
    }
    if (timeoutMs > 0) this.#start();
  }

  moved(): void {
    this.#timer?.refresh();
  }

  /** Stops the clock until `resume`: somebody else's turn. */
  pause(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
  }

  resume(): void {
    if (this.#timer !== undefined) this.#timer.refresh();
    else if (this.#timeoutMs > 0 && !this.signal.aborted) this.#start();
  }

  #start(): void {
    this.#timer = setTimeout(this.#onTimeout, this.#timeoutMs).unref();
  }

  abort(reason: unknown): void {
    this.end();
    this.#controller.abort(reason);
    for (const tell of this.#waiting) tell(this.signal.reason);
    this.#waiting.clear();
  }

  /** `tell` is called with the reason when the signal is aborted, unless what is answered is called before. */
  onAbort(tell: (reason: unknown) => void): () => void {
    if (this.signal.aborted) {
      tell(this.signal.reason);
      return () => {};
    }
    this.#waiting.add(tell);
    return () => this.#waiting.delete(tell);
  }

  /** Lets go of timer and callers; the signal stays as it is. */
  end(): void {
    this.pause();
    for (const unlink of this.#unlink.splice(0)) unlink();
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
