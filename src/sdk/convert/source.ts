/**
 * Pulls items out of any iterable, async iterable or stream that a caller passes, one at a time
 * and only when asked (`Source`). An abort ends a pull that is waiting. `RowSource` joins rows and
 * arrays of rows, and returns as many rows as are asked for, fewer only at the end. `itemsOf`
 * passes each item through a check of the caller and closes the source at the end. `once` makes a
 * second iteration throw InvalidInput, and `abortable` lets an abort end any wait.
 */
import { DirspaceError } from '../../errors.ts';
import { isThenable } from '../build/index.ts';

export interface ReadableStreamLike<T> {
  getReader(): {
    read(): Promise<{ done: boolean; value?: T | undefined }>;
    cancel(reason?: unknown): Promise<unknown>;
    releaseLock(): void;
  };
}

export type Pullable = AsyncIterable<unknown> | Iterable<unknown> | ReadableStreamLike<unknown>;

export function isPullable(value: unknown): value is Pullable {
  if (typeof value !== 'object' || value === null) return false;
  return (
    typeof Reflect.get(value, Symbol.asyncIterator) === 'function' ||
    typeof Reflect.get(value, Symbol.iterator) === 'function' ||
    typeof Reflect.get(value, 'getReader') === 'function'
  );
}

type Step = IteratorResult<unknown, unknown>;

interface SomeIterator {
  next(): Step | PromiseLike<Step>;
  return?(): unknown;
}

function iteratorOf(source: Pullable): SomeIterator {
  if (Symbol.asyncIterator in source) return source[Symbol.asyncIterator]();
  if (Symbol.iterator in source) return source[Symbol.iterator]();
  const reader = source.getReader();
  return {
    next: async () => {
      const { done, value } = await reader.read();
      return done ? { done, value: undefined } : { done, value };
    },
    return: async () => {
      await reader.cancel();
      reader.releaseLock();
    },
  };
}

/** One pass over a source. After the end, an error, an abort or close() it gives nothing more. */
export class Source {
  readonly #iterator: SomeIterator;
  readonly #signal: AbortSignal | undefined;
  #first: { readonly value: unknown } | undefined;
  #done = false;

  constructor(source: Pullable, signal?: AbortSignal) {
    signal?.throwIfAborted();
    this.#iterator = iteratorOf(source);
    this.#signal = signal;
  }

  /** The next item without taking it; undefined at the end. */
  async peek(): Promise<{ readonly value: unknown } | undefined> {
    if (this.#first === undefined) {
      const step = await this.next();
      if (!step.done) this.#first = { value: step.value };
    }
    return this.#first;
  }

  /** The next item: at once where the source gives it at once, else as a promise. */
  next(): Step | Promise<Step> {
    const first = this.#first;
    if (first !== undefined) {
      this.#first = undefined;
      return { done: false, value: first.value };
    }
    if (this.#done) return { done: true, value: undefined };
    if (this.#signal?.aborted) return this.#aborted(this.#signal);
    let step: Step | PromiseLike<Step>;
    try {
      step = this.#iterator.next();
    } catch (error) {
      this.#done = true;
      throw error;
    }
    if (isThenable(step)) return this.#wait(step as PromiseLike<Step>);
    if ((step as Step).done) this.#done = true;
    return step as Step;
  }

  /** Ends the source early, by its iterator's `return`. */
  async close(): Promise<void> {
    if (this.#done) return;
    this.#done = true;
    this.#first = undefined;
    await this.#iterator.return?.();
  }

  async #wait(step: PromiseLike<Step>): Promise<Step> {
    try {
      const found = await (this.#signal ? abortable(step, this.#signal) : step);
      if (found.done) this.#done = true;
      return found;
    } catch (error) {
      if (this.#signal?.aborted) this.#abandon();
      this.#done = true;
      throw error;
    }
  }

  async #aborted(signal: AbortSignal): Promise<never> {
    this.#abandon();
    throw signal.reason;
  }

  /** As close(), but without waiting: a generator that hangs cannot answer return() either. */
  #abandon(): void {
    this.close().catch(() => {});
  }
}

/** Settles as the promise does, or rejects with the signal's reason as soon as that is aborted. */
export function abortable<T>(promise: PromiseLike<T>, signal: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    const abort = (): void => reject(signal.reason);
    signal.addEventListener('abort', abort, { once: true });
    promise.then(
      (value) => {
        signal.removeEventListener('abort', abort);
        resolve(value);
      },
      (error: unknown) => {
        signal.removeEventListener('abort', abort);
        reject(error);
      },
    );
  });
}

/** Items of a source as an async iterable that can be read once and closes what it leaves. */
export async function* itemsOf<T>(
  source: Source,
  check: (item: unknown, index: number) => T,
): AsyncGenerator<T, void> {
  try {
    for (let index = 0; ; index++) {
      const pulled = source.next();
      const step = isThenable(pulled) ? await pulled : pulled;
      if (step.done) return;
      yield check(step.value, index);
    }
  } finally {
    await source.close();
  }
}

/** Takes rows, or arrays of rows, and hands out groups of a given size. */
export class RowSource {
  readonly #source: Source;
  #rest: readonly unknown[] = [];
  #at = 0;

  constructor(source: Source) {
    this.#source = source;
  }

  /** The next rows, fewer than `count` only at the end. */
  async take(count: number): Promise<unknown[]> {
    const rows: unknown[] = [];
    while (rows.length < count) {
      if (this.#at < this.#rest.length) {
        rows.push(this.#rest[this.#at++]);
        continue;
      }
      const pulled = this.#source.next();
      const step = isThenable(pulled) ? await pulled : pulled;
      if (step.done) break;
      if (Array.isArray(step.value)) {
        this.#rest = step.value;
        this.#at = 0;
      } else rows.push(step.value);
    }
    return rows;
  }

  close(): Promise<void> {
    return this.#source.close();
  }
}

/** Wraps an iterable so that a second pass is refused instead of giving nothing. */
export function once<T>(iterable: AsyncIterable<T>): AsyncIterable<T> {
  let used = false;
  return {
    [Symbol.asyncIterator]() {
      if (used) {
        throw new DirspaceError(
          'InvalidInput',
          'The data came from a stream or iterator and has been read already. Pass a fresh one, ' +
            'or an array or Arrow table, which can be read again.',
        );
      }
      used = true;
      return iterable[Symbol.asyncIterator]();
    },
  };
}
