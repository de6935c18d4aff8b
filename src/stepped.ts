/**
 * `stepped` builds an async generator from a function that resolves with the next value, or with
 * undefined at the end. Steps run one after another, also where a reader asks for several at once.
 * `close` is called once: at the end, after an error, or when the reader stops early. Unlike an
 * async generator function, the result keeps no reference to the last value, so each stage of a
 * pipeline holds one record batch less in memory.
 */
export function stepped<Value>(
  step: () => Promise<Value | undefined>,
  close: () => unknown = () => {},
): AsyncGenerator<Value, undefined, undefined> {
  return new Steps(step, close);
}

class Steps<Value> implements AsyncGenerator<Value, undefined, undefined> {
  readonly #step: () => Promise<Value | undefined>;
  readonly #close: () => unknown;
  /** The step that goes on: those asked for meanwhile follow it. */
  #last: Promise<unknown> | undefined;
  #ended = false;

  /**
   * @param step resolves with the next value; undefined is the end
   * @param close is called once, at the end, after a failure, or where no more is wanted
   */
  constructor(step: () => Promise<Value | undefined>, close: () => unknown) {
    this.#step = step;
    this.#close = close;
  }

  next(): Promise<IteratorResult<Value, undefined>> {
    return this.#after(() => this.#go());
  }

  return(): Promise<IteratorResult<Value, undefined>> {
    return this.#after(async () => {
      await this.#end();
      return { done: true, value: undefined };
    });
  }

  throw(error: unknown): Promise<IteratorResult<Value, undefined>> {
    return this.#after(async () => {
      await this.#end();
      throw error;
    });
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.return();
  }

  async #go(): Promise<IteratorResult<Value, undefined>> {
    if (this.#ended) return { done: true, value: undefined };
    let value: Value | undefined;
    try {
      value = await this.#step();
    } catch (error) {
      await this.#end();
      throw error;
    }
    if (value !== undefined) return { done: false, value };
    await this.#end();
    return { done: true, value: undefined };
  }

  async #end(): Promise<void> {
    if (this.#ended) return;
    this.#ended = true;
    await this.#close();
  }

  #after<Result>(work: () => Promise<Result>): Promise<Result> {
    const result = this.#last === undefined ? work() : this.#last.then(work);
    const last: Promise<void> = result.then(
      () => this.#settled(last),
      () => this.#settled(last),
    );
    this.#last = last;
    return result;
  }

  #settled(last: Promise<unknown>): void {
    if (this.#last === last) this.#last = undefined;
  }
}
