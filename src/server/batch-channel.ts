/**
 * `BatchChannel` merges the record batches of several senders into one stream, in the order in
 * which they arrive. `send` resolves when the reader asks for the record batch after the one sent,
 * so a sender that waits for it has at most one in the channel. `end` ends the stream after the
 * batches that were sent. `fail` ends it with an error, which waiting and later senders get too.
 * The channel does not notice a reader that stops early; then its owner calls `fail`.
 */
import type { RecordBatch, RecordBatchStream, Schema } from '../arrow/index.ts';

interface Sent {
  readonly batch: RecordBatch;
  readonly taken: () => void;
  readonly refused: (error: unknown) => void;
}

export class BatchChannel implements RecordBatchStream {
  readonly schema: Schema;
  readonly #sent: Sent[] = [];
  /** The batch that the reader has. */
  #read: Sent | undefined;
  #wake: (() => void) | undefined;
  #ended = false;
  #failure: { readonly error: unknown } | undefined;

  constructor(schema: Schema) {
    this.schema = schema;
  }

  /** Resolves when the batch may be forgotten. Rejects with the error that ended the stream. */
  send(batch: RecordBatch): Promise<void> {
    return new Promise((taken, refused) => {
      if (this.#failure !== undefined) refused(this.#failure.error);
      else {
        this.#sent.push({ batch, taken, refused });
        this.#wake?.();
      }
    });
  }

  /** No more is sent. */
  end(): void {
    this.#ended = true;
    this.#wake?.();
  }

  fail(error: unknown): void {
    if (this.#failure !== undefined) return;
    this.#failure = { error };
    for (const { refused } of this.#sent.splice(0)) refused(error);
    this.#read?.refused(error);
    this.#read = undefined;
    this.#wake?.();
  }

  [Symbol.asyncIterator](): AsyncIterator<RecordBatch> {
    return { next: () => this.#next() };
  }

  async #next(): Promise<IteratorResult<RecordBatch>> {
    this.#read?.taken();
    this.#read = undefined;
    for (;;) {
      if (this.#failure !== undefined) throw this.#failure.error;
      this.#read = this.#sent.shift();
      if (this.#read !== undefined) return { done: false, value: this.#read.batch };
      if (this.#ended) return { done: true, value: undefined };
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
      this.#wake = undefined;
    }
  }
}
