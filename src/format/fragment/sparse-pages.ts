/**
 * Reads parts of a column without reading all of it. `Pages` loads and verifies only the pages that
 * hold wanted bytes; damage throws Corrupt. `SparseBuffers` reads ranges of the column's buffers
 * out of these pages, and decodes compressed frames, which a `FrameCache` may keep. Bytes must be
 * loaded with `load` before `byte` or `copy` returns them. A `RowReader` is a generator: it yields
 * the byte ranges that it needs and is resumed with their bytes, so that callers choose how to do
 * the I/O.
 */
import type { DirspaceError } from '../../errors.ts';
import { aligned, decodeFrame, FRAME_BYTES } from '../../ipc/index.ts';
import { corrupt } from '../../json.ts';
import {
  contentBytes,
  type FramesForm,
  isCompressed,
  leadBytes,
  leadContent,
  PREFIX_BYTES,
} from './buffer-forms.ts';
import { damagedPage, PAGE_BYTES, pageChecksums } from './checksums.ts';
import type { ByteRange } from './fragment-decoder.ts';
import type { FragmentFooter } from './fragment-footer.ts';
import type { ColumnChunk } from './fragment-layout.ts';

/**
 * Yields ranges of the file, takes their bytes in the same order, returns the columns, which do not
 * refer to these bytes.
 */
export type RowReader<Result> = Generator<ByteRange[], Result, readonly Uint8Array[]>;

/** Some bytes of a column. */
export interface Span {
  readonly begin: number;
  readonly end: number;
}

/** The verified pages of one column that are in memory. */
export class Pages {
  readonly #footer: FragmentFooter;
  readonly #chunk: ColumnChunk;
  readonly #column: number;
  readonly #batch: number;
  readonly #known = new Map<number, Uint8Array>();
  #checksums: Uint32Array | undefined;

  constructor(footer: FragmentFooter, chunk: ColumnChunk, column: number, batch: number) {
    this.#footer = footer;
    this.#chunk = chunk;
    this.#column = column;
    this.#batch = batch;
  }

  fail(what: string): DirspaceError {
    const name = this.#footer.schema.fields[this.#column]?.name;
    return corrupt(this.#footer.name, `column ${name} of batch ${this.#batch}: ${what}`);
  }

  /** Asks for the pages that hold `spans` and are not known yet, neighbours in one range. */
  *load(spans: readonly Span[]): RowReader<void> {
    const missing = new Set<number>();
    for (const { begin, end } of spans) {
      for (let page = Math.floor(begin / PAGE_BYTES); page * PAGE_BYTES < end; page += 1) {
        if (!this.#known.has(page)) missing.add(page);
      }
    }
    const runs: { first: number; pages: number }[] = [];
    for (const page of [...missing].sort((a, b) => a - b)) {
      const run = runs.at(-1);
      if (run !== undefined && run.first + run.pages === page) run.pages += 1;
      else runs.push({ first: page, pages: 1 });
    }
    if (runs.length === 0) return;
    const { offset, bytes } = this.#chunk;
    const ranges = runs.map(({ first, pages }) => ({
      offset: offset + first * PAGE_BYTES,
      length: Math.min(pages * PAGE_BYTES, bytes - first * PAGE_BYTES),
    }));
    const answers = yield ranges;
    this.#checksums ??= pageChecksums(this.#chunk.checksums);
    const checksums = this.#checksums;
    for (const [at, { first, pages }] of runs.entries()) {
      const answer = answers[at];
      if (answer === undefined || answer.length !== ranges[at]?.length) {
        throw this.fail(`${answer?.length ?? 0} bytes instead of ${ranges[at]?.length}`);
      }
      if (damagedPage(answer, first, checksums) >= 0) {
        throw this.fail('its bytes do not match their checksum');
      }
      for (let page = 0; page < pages; page += 1) {
        this.#known.set(first + page, answer.subarray(page * PAGE_BYTES, (page + 1) * PAGE_BYTES));
      }
    }
  }

  byte(position: number): number {
    const page = this.#known.get(Math.floor(position / PAGE_BYTES));
    return page?.[position % PAGE_BYTES] ?? 0;
  }

  copy(position: number, bytes: number, into: Uint8Array, at: number): void {
    for (let done = 0; done < bytes; ) {
      const page = this.#known.get(Math.floor((position + done) / PAGE_BYTES)) as Uint8Array;
      const from = (position + done) % PAGE_BYTES;
      const part = page.subarray(from, Math.min(PAGE_BYTES, from + bytes - done));
      into.set(part, at + done);
      done += part.length;
    }
  }

  /** The whole column, once all of it was loaded. */
  whole(): Uint8Array {
    const bytes = new Uint8Array(this.#chunk.bytes);
    for (const [page, part] of this.#known) bytes.set(part, page * PAGE_BYTES);
    return bytes;
  }
}

/**
 * The buffers of one column, read by ranges of their content: of compressed ones the frames that hold a
 * range are loaded and decoded.
 */
export class SparseBuffers {
  readonly #pages: Pages;
  readonly #chunk: ColumnChunk;
  /** Where each buffer begins in the column, behind its prefix. */
  readonly #starts: number[] = [];
  /** Decoded frames by buffer and number. */
  readonly #frames = new Map<string, Uint8Array>();
  readonly #kept: FrameCache;

  constructor(pages: Pages, chunk: ColumnChunk, kept: FrameCache) {
    this.#pages = pages;
    this.#chunk = chunk;
    this.#kept = kept;
    const prefix = chunk.forms === undefined ? 0 : PREFIX_BYTES;
    let start = 0;
    for (const bytes of chunk.buffers) {
      this.#starts.push(start + prefix);
      start += aligned(bytes);
    }
  }

  /** Bytes of the content of a buffer. */
  size(buffer: number): number {
    const bytes = this.#chunk.buffers[buffer] ?? 0;
    const form = this.#chunk.forms?.[buffer];
    return form === undefined ? bytes : contentBytes(form, bytes);
  }

  /** Asks for what holds these ranges, and decodes it where it is compressed. */
  *load(wanted: readonly BufferSpan[]): RowReader<void> {
    const spans: Span[] = [];
    const frames = new Map<string, FrameSpan>();
    for (const { buffer, begin, end } of wanted) {
      const start = this.#starts[buffer] ?? 0;
      const form = this.#chunk.forms?.[buffer];
      if (form === undefined || !isCompressed(form)) {
        spans.push({ begin: start + begin, end: start + end });
      } else if (end > begin)
        this.#framesOf(buffer, form, begin, Math.min(end, form.bytes), frames);
    }
    for (const { begin, end } of frames.values()) spans.push({ begin, end });
    yield* this.#pages.load(spans);
    for (const [key, { begin, end, bytes }] of frames) {
      const frame = new Uint8Array(end - begin);
      this.#pages.copy(begin, frame.length, frame, 0);
      const content = new Uint8Array(bytes);
      decodeFrame(frame, content, (problem) => {
        throw this.#pages.fail(problem);
      });
      this.#frames.set(key, content);
      this.#kept.keep(key, content);
    }
  }

  #framesOf(
    buffer: number,
    form: FramesForm,
    begin: number,
    end: number,
    into: Map<string, FrameSpan>,
  ): void {
    const lead = leadContent(form);
    const framed = form.bytes - lead;
    const first = Math.floor(Math.max(begin - lead, 0) / FRAME_BYTES);
    const last = Math.floor((end - lead - 1) / FRAME_BYTES);
    let from = (this.#starts[buffer] ?? 0) + leadBytes(form) + sumOf(form.frames, first);
    for (let number = first; number <= last; number += 1) {
      const length = form.frames[number] as number;
      const key = `${buffer} ${number}`;
      if (!this.#frames.has(key) && !into.has(key)) {
        const known = this.#kept.get(key);
        const bytes = Math.min(FRAME_BYTES, framed - number * FRAME_BYTES);
        if (known === undefined) into.set(key, { begin: from, end: from + length, bytes });
        else this.#frames.set(key, known);
      }
      from += length;
    }
  }

  byte(buffer: number, position: number): number {
    const form = this.#chunk.forms?.[buffer];
    if (form === undefined || !isCompressed(form)) {
      return this.#pages.byte((this.#starts[buffer] as number) + position);
    }
    const frame = this.#frames.get(`${buffer} ${Math.floor(position / FRAME_BYTES)}`);
    return frame?.[position % FRAME_BYTES] ?? 0;
  }

  copy(buffer: number, position: number, bytes: number, into: Uint8Array, at: number): void {
    const form = this.#chunk.forms?.[buffer];
    if (form === undefined || !isCompressed(form)) {
      this.#pages.copy((this.#starts[buffer] as number) + position, bytes, into, at);
      return;
    }
    const lead = leadContent(form);
    // What stands before the frames is zeros, and read whole or not at all.
    const zeros = position < lead ? Math.min(bytes, lead - position) : 0;
    into.fill(0, at, at + zeros);
    for (let done = zeros; done < bytes; ) {
      const number = Math.floor((position + done - lead) / FRAME_BYTES);
      const frame = this.#frames.get(`${buffer} ${number}`) as Uint8Array;
      const from = (position + done - lead) % FRAME_BYTES;
      const part = frame.subarray(from, from + bytes - done);
      into.set(part, at + done);
      done += part.length;
    }
  }
}

/** Some bytes of the content of a buffer. */
export interface BufferSpan extends Span {
  readonly buffer: number;
}

/** A frame within its column, and the bytes of its content. */
interface FrameSpan extends Span {
  readonly bytes: number;
}

/** Decoded frames of one column of one batch that may be used again. Their bytes never change. */
export interface FrameCache {
  get(frame: string): Uint8Array | undefined;
  keep(frame: string, content: Uint8Array): void;
}

/** Keeps nothing. */
export const NO_FRAMES: FrameCache = { get: () => undefined, keep: () => {} };

function sumOf(numbers: readonly number[], count: number): number {
  let sum = 0;
  for (let at = 0; at < count; at += 1) sum += numbers[at] as number;
  return sum;
}
