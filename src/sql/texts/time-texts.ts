/**
 * `TimeTexts` writes dates, or timestamps without a time zone, as texts that are the same for every
 * time within a span, such as a day. The texts of the last few thousand spans are kept, and rows of
 * one span share the bytes of their text. `column` returns null for other columns; it calls back
 * before it makes a text, so that the caller can claim the memory.
 */
import type { DataType } from '../../arrow/index.ts';
import { type BytesColumn, type Column, dayOf, timesOf } from '../typed/index.ts';

/** Texts of more bytes than this are forgotten after a column. */
const KEPT_BYTES = 1 << 18;

/** Spans whose texts are kept. */
const SLOTS = 4_096;

const encoder = new TextEncoder();
const NO_SLOTS = new Float64Array(0);

export class TimeTexts {
  readonly #type: DataType;
  readonly #nanos: number;
  readonly #isOfClock: boolean;
  readonly #write: (time: number) => string;
  /** Of each slot: the span whose text it has, and where that is in the bytes. */
  #spans: Float64Array = NO_SLOTS;
  #first = new Int32Array(0);
  #last = new Int32Array(0);
  #bytes: Uint8Array = new Uint8Array(0);
  #length = 0;

  /**
   * @param type of the times
   * @param nanos nanoseconds of a span, counted from 1970
   * @param isOfClock whether the text is the same on every day
   * @param write the text of the span that begins at a time, in units of the type
   */
  constructor(type: DataType, nanos: number, isOfClock: boolean, write: (time: number) => string) {
    this.#isOfClock = isOfClock;
    this.#type = type;
    this.#nanos = nanos;
    this.#write = write;
  }

  /** @param taken called before each text that is made */
  column(column: Column | undefined, to: DataType, taken: () => void): BytesColumn | null {
    const times = timesOf(column, this.#type);
    if (times === null) return null;
    const { values, perUnit, perDay } = times;
    const { valid } = times.column;
    const step = Math.max(1, this.#nanos / perUnit);
    if (this.#spans === NO_SLOTS) this.#begin();
    const [starts, ends] = [new Int32Array(values.length), new Int32Array(values.length)];
    for (let i = 0; i < starts.length; i++) {
      if (valid !== null && valid[i] === 0) continue;
      const value = values[i] as number;
      const time = this.#isOfClock ? value - dayOf(value, perDay) * perDay : value;
      const span = dayOf(time, step);
      const slot = span & (SLOTS - 1);
      if (this.#spans[slot] !== span) {
        taken();
        this.#add(slot, span, step);
      }
      starts[i] = this.#first[slot] as number;
      ends[i] = this.#last[slot] as number;
    }
    const data = this.#bytes;
    if (this.#length > KEPT_BYTES) this.#forget();
    return {
      form: 'bytes',
      type: to,
      length: starts.length,
      data,
      starts,
      ends,
      dense: false,
      valid,
    };
  }

  #add(slot: number, span: number, step: number): void {
    const text = this.#write(span * step);
    // A unit of UTF-16 has at most three bytes of UTF-8.
    if (this.#length + 3 * text.length > this.#bytes.length) {
      const more = new Uint8Array(2 * this.#bytes.length + 3 * text.length);
      more.set(this.#bytes.subarray(0, this.#length));
      this.#bytes = more;
    }
    const { written } = encoder.encodeInto(text, this.#bytes.subarray(this.#length));
    this.#spans[slot] = span;
    this.#first[slot] = this.#length;
    this.#length += written;
    this.#last[slot] = this.#length;
  }

  /** A format that is never written takes no memory. */
  #begin(): void {
    this.#spans = new Float64Array(SLOTS).fill(Number.NaN);
    this.#first = new Int32Array(SLOTS);
    this.#last = new Int32Array(SLOTS);
  }

  /** Earlier columns keep their bytes. */
  #forget(): void {
    this.#bytes = new Uint8Array(0);
    this.#length = 0;
    this.#spans.fill(Number.NaN);
  }
}
