/**
 * `PostingsBuilder` builds the postings of a full-text index: for each term the documents that
 * contain it and, if wanted, the positions. It reads documents one after the other, long ones in
 * steps, and holds encoded postings in memory. Once all documents were read, `order` lists the
 * terms in byte order, and `postingsOf` and `positionsOf` return the bytes to store. A document
 * with too many tokens (16,777,216 if nothing else is given) throws InvalidInput. Callers bound the
 * memory by `heldBytes`; postings of more than 4 GiB throw ResourceExhausted.
 */
import { DirspaceError } from '../errors.ts';
import { ByteStreams } from './byte-streams.ts';
import { type DocumentTexts, SHORT_BYTES } from './collector.ts';
import { sealPositions } from './phrases.ts';
import { sealPostings } from './postings.ts';
import { longer } from './term-table.ts';
import type { Tokenizer } from './tokenizer.ts';

/** Tokens of one document. */
const MOST_TOKENS = 1 << 24;

export class PostingsBuilder {
  /** Tokens of each document. */
  lengths: Uint32Array = new Uint32Array(1024);
  /** Documents so far. */
  documents = 0;
  readonly #tokenizer: Tokenizer;
  readonly #withPositions: boolean;
  readonly #mostTokens: number;
  /** Postings of each term, and its positions where they are kept: at twice its number, plus 1. */
  readonly #streams = new ByteStreams();
  #frequencies = new Uint32Array(1024);
  /** One more than the last document of each term. */
  #last = new Uint32Array(1024);
  /** How often each term occurs in the document being read. */
  #counts = new Uint32Array(1024);
  #lastPositions = new Uint32Array(1024);
  #touched = new Int32Array(256);
  #touchedCount = 0;
  #length = 0;
  /** The average length of all texts with a token, once all were read. */
  #averageLength = 0;

  /** @param mostTokens of one document */
  constructor(tokenizer: Tokenizer, withPositions: boolean, mostTokens = MOST_TOKENS) {
    this.#tokenizer = tokenizer;
    this.#mostTokens = mostTokens;
    this.#withPositions = withPositions;
  }

  get heldBytes(): number {
    return (
      this.#tokenizer.heldBytes +
      this.#streams.heldBytes +
      this.lengths.byteLength +
      4 * this.#counts.byteLength
    );
  }

  /** Reads the texts of the next document, in steps where they are long. */
  *add({ bytes, ranges, count }: DocumentTexts): Generator<void, void> {
    let position = 0;
    for (let at = 0; at < count; at++) {
      this.#tokenizer.begin(
        bytes,
        ranges[2 * at] as number,
        ranges[2 * at + 1] as number,
        position,
      );
      while (this.#tokenizer.next()) {
        this.#take();
        yield;
      }
      this.#take();
      position = this.#tokenizer.position;
    }
    this.#end();
  }

  /** Does the same, but at once, for one text that is not long. */
  addShort(bytes: Uint8Array, from: number, to: number): void {
    this.#tokenizer.begin(bytes, from, to);
    while (this.#tokenizer.next()) this.#take();
    this.#take();
    this.#end();
  }

  #take(): void {
    const { ids, positions, count, terms } = this.#tokenizer;
    if (terms.size > this.#counts.length) this.#grow(terms.size);
    const counts = this.#counts;
    for (let at = 0; at < count; at++) {
      const term = ids[at] as number;
      const before = counts[term] as number;
      counts[term] = before + 1;
      if (before === 0) {
        if (this.#touchedCount === this.#touched.length) {
          this.#touched = longer(this.#touched, this.#touchedCount + 1);
        }
        this.#touched[this.#touchedCount++] = term;
      }
      if (!this.#withPositions) continue;
      const position = positions[at] as number;
      const last = before === 0 ? 0 : (this.#lastPositions[term] as number);
      this.#streams.appendNumber(2 * term + 1, position - last);
      this.#lastPositions[term] = position;
    }
    this.#length += count;
    if (this.#length <= this.#mostTokens) return;
    throw new DirspaceError(
      'InvalidInput',
      `Row ${this.documents} of those that are indexed together has more than ${this.#mostTokens} tokens, the most that a full-text index takes of one row. Shorten its text, or use ngrams of fewer lengths.`,
    );
  }

  /** Whether a text of so many bytes is read at once: it has few tokens. */
  isShort(bytes: number): boolean {
    return bytes * this.#tokenizer.tokensPerByte < SHORT_BYTES;
  }

  #end(): void {
    const document = this.documents;
    if (document === this.lengths.length) this.lengths = longer(this.lengths, document + 1);
    this.lengths[document] = this.#length;
    this.#length = 0;
    this.documents = document + 1;
    for (let at = 0; at < this.#touchedCount; at++) {
      const term = this.#touched[at] as number;
      const count = this.#counts[term] as number;
      this.#counts[term] = 0;
      const distance = document - (this.#last[term] as number);
      this.#streams.appendNumber(2 * term, 2 * distance + (count > 1 ? 1 : 0));
      if (count > 1) this.#streams.appendNumber(2 * term, count - 2);
      this.#last[term] = document + 1;
      this.#frequencies[term] = (this.#frequencies[term] as number) + 1;
    }
    this.#touchedCount = 0;
  }

  #grow(least: number): void {
    this.#counts = longer(this.#counts, least);
    this.#last = longer(this.#last, least);
    this.#frequencies = longer(this.#frequencies, least);
    this.#lastPositions = longer(this.#lastPositions, least);
  }

  /** Puts the terms in order, in steps. */
  *order(): Generator<void, Uint32Array> {
    const { terms } = this.#tokenizer;
    const keyOf = (term: number): number => {
      const bytes = terms.bytesOf(term);
      return ((bytes[0] ?? 0) << 8) | (bytes[1] ?? 0);
    };
    const ends = new Uint32Array(65_537);
    for (let term = 0; term < terms.size; term++) {
      if (this.#frequencies[term] === 0) continue;
      const at = keyOf(term) + 1;
      ends[at] = (ends[at] as number) + 1;
      if (term % 65_536 === 65_535) yield;
    }
    for (let key = 0; key < 65_536; key++) {
      ends[key + 1] = (ends[key + 1] as number) + (ends[key] as number);
    }
    const order = new Uint32Array(ends[65_536] as number);
    const next = ends.slice();
    for (let term = 0; term < terms.size; term++) {
      if (this.#frequencies[term] === 0) continue;
      const key = keyOf(term);
      order[next[key] as number] = term;
      next[key] = (next[key] as number) + 1;
      if (term % 65_536 === 65_535) yield;
    }
    let sorted = 0;
    for (let key = 0; key < 65_536; key++) {
      const [from, to] = [ends[key] as number, ends[key + 1] as number];
      if (to - from < 2) continue;
      order.subarray(from, to).sort((a, b) => Buffer.compare(terms.bytesOf(a), terms.bytesOf(b)));
      sorted += to - from;
      if (sorted < 4_096) continue;
      sorted = 0;
      yield;
    }
    return order;
  }

  /** The bytes of a term that `order` gave. */
  termOf(term: number): Uint8Array {
    return this.#tokenizer.terms.bytesOf(term);
  }

  /** How many documents have it. */
  documentsOf(term: number): number {
    return this.#frequencies[term] as number;
  }

  /** Its postings as they are stored. */
  postingsOf(term: number): Uint8Array {
    const bytes = this.#streams.bytesOf(2 * term);
    return sealPostings(bytes, this.documentsOf(term), this.lengths, this.#average());
  }

  #average(): number {
    if (this.#averageLength === 0) {
      let tokens = 0;
      let texts = 0;
      for (const length of this.lengths.subarray(0, this.documents)) {
        tokens += length;
        if (length > 0) texts += 1;
      }
      this.#averageLength = texts === 0 ? 1 : tokens / texts;
    }
    return this.#averageLength;
  }

  /** Its positions as they are stored, where they are kept. */
  positionsOf(term: number): Uint8Array {
    const bytes = this.#streams.bytesOf(2 * term + 1);
    return sealPositions(bytes, this.#streams.bytesOf(2 * term), this.documentsOf(term));
  }
}
