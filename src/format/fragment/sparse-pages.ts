/**
 * `Pages`: loads and verifies only those pages of a column that hold wanted bytes. A reader
 * (`RowReader`) is a generator that yields the byte ranges it needs and is resumed with their
 * bytes, so that callers choose how to do the I/O. `runReader` runs one with synchronous reads.
 */
import type { DirspaceError } from '../../errors.ts';
import { corrupt } from '../../json.ts';
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

/** Runs a reader to its end with a synchronous source of bytes. */
export function runReader<Result>(
  reader: RowReader<Result>,
  read: (range: ByteRange) => Uint8Array,
): Result {
  let step = reader.next();
  while (!step.done) step = reader.next(step.value.map(read));
  return step.value;
}
