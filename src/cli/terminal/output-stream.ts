/**
 * `OutputStream` writes to standard output with backpressure. A write fails with `OutputClosed`
 * once the reader is gone, and with `OutputFailed` if the output cannot be written, such as on a
 * full disk. `end` returns an `OutputFailed` that shows only after the last write. After
 * `outliveReaders` neither is an error: what is written then is dropped.
 */
import type { Writable } from 'node:stream';

/** The reader has gone, such as `head` that has seen enough. This is no failure. */
export class OutputClosed extends Error {
  override readonly name = 'OutputClosed';
}

/** The output cannot be written, such as to a disk that is full. */
export class OutputFailed extends Error {
  override readonly name = 'OutputFailed';
}

export class OutputStream {
  readonly #stream: Writable;
  #problem: OutputClosed | OutputFailed | undefined;
  #outlivesReaders = false;

  constructor(stream: Writable) {
    this.#stream = stream;
    stream.on('error', (error) => this.#noteError(error));
  }

  /** After this call a reader that leaves is no error: what is written then is dropped. */
  outliveReaders(): void {
    this.#outlivesReaders = true;
  }

  /** Resolves when more can be taken. Throws OutputClosed and OutputFailed. */
  write(data: string | Uint8Array): void | Promise<void> {
    if (this.#problem !== undefined) throw this.#problem;
    if (this.#stream.write(data)) return undefined;
    const drained = this.#drained();
    // Who does not wait is told by the next write, or at the end.
    drained.catch(() => {});
    return drained;
  }

  /** Waits for what was written. Answers why it could not be written, if that is so. */
  async end(): Promise<OutputFailed | undefined> {
    if (this.#outlivesReaders) return undefined;
    if (this.#stream.writable) {
      await new Promise<void>((resolve) => void this.#stream.write('', () => resolve()));
    } else if (this.#stream.errored) {
      // The event of the error may be still to come.
      this.#noteError(this.#stream.errored);
    }
    return this.#problem instanceof OutputFailed ? this.#problem : undefined;
  }

  #noteError(error: NodeJS.ErrnoException): void {
    if (this.#outlivesReaders) return;
    this.#problem ??=
      error.code === 'EPIPE'
        ? new OutputClosed('The reader of the output has gone.')
        : new OutputFailed(`cannot write the output: ${error.code ?? error.message}`);
  }

  #drained(): Promise<void> {
    if (!this.#stream.writable) return Promise.resolve();
    return new Promise((resolve, reject) => {
      const settle = (): void => {
        this.#stream.off('drain', settle).off('close', settle);
        if (this.#problem === undefined) resolve();
        else reject(this.#problem);
      };
      this.#stream.on('drain', settle).on('close', settle);
    });
  }
}
