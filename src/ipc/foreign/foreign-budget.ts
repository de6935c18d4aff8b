/**
 * `MessageBudget` bounds the memory that one message of another program can take beyond its
 * buffers. Few bytes can stand for many values: in columns of the null type, in list views that
 * share values, and in long runs of one value. Callers claim the memory before they use it
 * (`claimUnbacked`, `claimExpanded`). A claim that exceeds what is left for the message, or for the
 * whole stream, throws PayloadTooLarge.
 */

import { maxZstdSize } from '../codecs/index.ts';
import { tooLarge } from './foreign-messages.ts';

/** Bitmaps of more rows are longer than positions in them can tell. */
export const MAX_ROWS = 0x7fff_fff8;
/** Of one position among values that are picked. */
export const POSITION_BYTES = 4;

/** What is left for all messages of one stream. */
export interface StreamBudget {
  /** Values that no byte stands for, such as nulls of the null type. */
  unbacked: number;
  /** Bytes of list views and runs once they are expanded. */
  expanded: number;
}

/** What one message may stand for. Its part of the budget of the stream is taken as it is used. */
export class MessageBudget {
  readonly #stream: StreamBudget;
  readonly #freeValues: number;
  readonly #freeBytes: number;
  readonly #mostBytes: number;
  readonly #make: (bytes: number) => void;
  #expanded = 0;

  /**
   * Values up to the number of bits in the buffers cost the stream nothing, and neither do bytes
   * up to those that compression could pack into the body.
   * @param bufferBytes after decompression
   * @param maxBytes of all buffers and what is expanded
   * @param make is told how many bytes are about to be made, and may refuse them
   */
  constructor(
    stream: StreamBudget,
    bodyBytes: number,
    bufferBytes: number,
    maxBytes: number,
    make: (bytes: number) => void = () => {},
  ) {
    this.#make = make;
    this.#stream = stream;
    this.#freeValues = 8 * bufferBytes;
    this.#freeBytes = maxZstdSize(bodyBytes);
    this.#mostBytes = maxBytes - bufferBytes;
  }

  /** Bytes of list views and runs that were claimed. */
  get expanded(): number {
    return this.#expanded;
  }

  /** @throws PayloadTooLarge */
  claimUnbacked(values: number): void {
    if (values <= this.#freeValues) return;
    this.#stream.unbacked -= values;
    if (this.#stream.unbacked < 0) {
      throw tooLarge(`${values} values take no bytes, such as those of the null type`);
    }
  }

  /**
   * Before values are picked by their positions.
   * @param bytes of the values, without those of the positions
   * @param what names the column
   * @throws PayloadTooLarge
   */
  claimExpanded(bytes: number, values: number, what: string): void {
    if (bytes === 0) this.claimUnbacked(values);
    if (values > MAX_ROWS) throw tooLarge(`${what} has ${values} values once it is expanded`);
    const paid = Math.max(this.#expanded - this.#freeBytes, 0);
    const more = Math.ceil(bytes) + values * POSITION_BYTES;
    this.#expanded += more;
    if (this.#expanded > this.#mostBytes) {
      throw tooLarge(
        `its list views and runs up to ${what} take ${this.#expanded} bytes once they are expanded, more than the ${this.#mostBytes} allowed for one message`,
      );
    }
    this.#stream.expanded -= Math.max(this.#expanded - this.#freeBytes, 0) - paid;
    if (this.#stream.expanded < 0) {
      throw tooLarge(
        `the list views and runs of all batches up to ${what} take more bytes once they are expanded than are allowed for so few`,
      );
    }
    this.#make(more);
  }
}
