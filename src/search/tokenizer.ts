/**
 * `Tokenizer` finds the tokens of UTF-8 texts in steps, and numbers their distinct terms. `begin`
 * sets a text, and `next` has to be called until it returns false; after each call, also the last,
 * `ids`, `positions` and `count` hold the tokens that it found. Stop words and tokens that are too
 * long are left out, but the positions of later tokens count them. Memory grows with the distinct
 * tokens, until `clear`. `tokensOf` lists the tokens of one text, and throws InvalidInput if there
 * are more than 1,048,576. Stems in a language without a stemmer throw Unsupported.
 */
import { DirspaceError } from '../errors.ts';
import { plainPause } from '../steps.ts';
import { cutterOf, type TextCutter } from './cut-text.ts';
import { HASH_FACTOR, HASH_START, hashOf, longer, TermTable } from './term-table.ts';
import type { TextSettings } from './text-settings.ts';
import { keepsPlainTokens, type WordForm, wordForm } from './word-forms.ts';

/** Tokens found in one step, at most, unless one character of the text gives more. */
const AT_ONCE = 4096;
/** Stands for a distinct token that is left out. */
const LEFT_OUT = -1;

/**
 * With neither stems nor stop words, ASCII text is cut and lower-cased byte by byte without a
 * string; any other token becomes a string only when it is met for the first time.
 */
export class Tokenizer {
  readonly settings: TextSettings;
  /** Numbers of the terms of the last step, and where each stands in its text. */
  ids: Int32Array = new Int32Array(2 * AT_ONCE);
  positions: Uint32Array = new Uint32Array(2 * AT_ONCE);
  /** How many they are. */
  count = 0;
  /** The position of the next token, those left out counted. */
  position = 0;
  /** Whether the text goes on after what the last step found. */
  isWithin = false;
  readonly #form: WordForm;
  readonly #plain: boolean;
  readonly #cutter: TextCutter;
  #terms = new TermTable();
  #tokens = new TermTable();
  /** The term of each distinct token, or LEFT_OUT. */
  #termOf = new Int32Array(1024);
  #scratch = new Uint8Array(256);

  private constructor(settings: TextSettings, form: WordForm) {
    this.settings = settings;
    this.#form = form;
    this.#plain = keepsPlainTokens(settings);
    this.#cutter = cutterOf(settings, this);
  }

  /** Imports what the settings need. @throws Unsupported for a language without a stemmer */
  static async open(settings: TextSettings): Promise<Tokenizer> {
    return new Tokenizer(settings, await wordForm(settings));
  }

  /** Tokens that one byte of a text may begin: more than one for ngrams of several lengths. */
  get tokensPerByte(): number {
    const { baseTokenizer, ngramMinLength, ngramMaxLength } = this.settings;
    return baseTokenizer === 'ngram' ? Math.max(1, ngramMaxLength - ngramMinLength + 1) : 1;
  }

  /** By the numbers in `ids`. */
  get terms(): TermTable {
    return this.#terms;
  }

  /** Bytes of memory that distinct tokens and terms take. */
  get heldBytes(): number {
    return this.#terms.heldBytes + this.#tokens.heldBytes + this.#termOf.byteLength;
  }

  /** Forgets all terms: their numbers begin anew. */
  clear(): void {
    this.#terms = new TermTable();
    this.#tokens = new TermTable();
  }

  /** Begins with a text. Its tokens are counted from `position` on. */
  begin(bytes: Uint8Array, from: number, to: number, position = 0): void {
    this.position = position;
    this.#cutter.begin(bytes, from, to);
  }

  /** Finds some more tokens of the text; false where it is at its end, though some may be there. */
  next(): boolean {
    this.count = 0;
    this.isWithin = this.#cutter.next(AT_ONCE);
    return this.isWithin;
  }

  /** Takes a token of a text that lies in bytes as it is. */
  take(bytes: Uint8Array, from: number, length: number): void {
    if (length >= this.settings.maxTokenLength) {
      this.position += 1;
      return;
    }
    if (!this.settings.lowercase) {
      this.takeHashed(bytes, from, length, hashOf(bytes, from, length));
      return;
    }
    if (this.#scratch.length < length) this.#scratch = longer(this.#scratch, length);
    const scratch = this.#scratch;
    let hash = HASH_START;
    for (let at = 0; at < length; at++) {
      const byte = bytes[from + at] as number;
      const lower = byte >= 0x41 && byte <= 0x5a ? byte | 0x20 : byte;
      scratch[at] = lower;
      hash = Math.imul(hash ^ lower, HASH_FACTOR);
    }
    this.takeHashed(scratch, 0, length, hash);
  }

  /** Takes a token whose ASCII letters have the case wanted. */
  takeHashed(bytes: Uint8Array, from: number, length: number, hash: number): void {
    const before = this.#tokens.size;
    const token = this.#tokens.intern(bytes, from, length, hash);
    if (token === before) this.#learn(token, bytes, from, length, hash);
    const term = this.#termOf[token] as number;
    const position = this.position;
    this.position = position + 1;
    if (term >= 0) this.#add(term, position);
  }

  #add(term: number, position: number): void {
    const at = this.count;
    if (at === this.ids.length) {
      this.ids = longer(this.ids, at + 1);
      this.positions = longer(this.positions, at + 1);
    }
    this.ids[at] = term;
    this.positions[at] = position;
    this.count = at + 1;
  }

  #learn(token: number, bytes: Uint8Array, from: number, length: number, hash: number): void {
    if (token >= this.#termOf.length) this.#termOf = longer(this.#termOf, token + 1);
    if (this.#plain && isAscii(bytes, from, length)) {
      this.#termOf[token] = this.#terms.intern(bytes, from, length, hash);
      return;
    }
    const word = this.#form(decoder.decode(bytes.subarray(from, from + length)));
    if (word === undefined) {
      this.#termOf[token] = LEFT_OUT;
      return;
    }
    const term = encoder.encode(word);
    this.#termOf[token] = this.#terms.intern(term, 0, term.length, hashOf(term, 0, term.length));
  }
}

// A byte order mark is a character of the text like any other.
const decoder = new TextDecoder('utf-8', { ignoreBOM: true });
const encoder = new TextEncoder();

function isAscii(bytes: Uint8Array, from: number, length: number): boolean {
  for (let at = from; at < from + length; at++) if ((bytes[at] as number) >= 0x80) return false;
  return true;
}

/** One token of a text, and its position from the first one on. */
export interface FoundToken {
  readonly text: string;
  readonly position: number;
}

/** Tokens that `tokensOf` gives of one text. */
const MOST_TOKENS = 1 << 20;

/**
 * All tokens of a text.
 * @throws Unsupported for a language without a stemmer, InvalidInput for too many tokens
 */
export async function tokensOf(text: string, settings: TextSettings): Promise<FoundToken[]> {
  const tokenizer = await Tokenizer.open(settings);
  const pause = plainPause();
  const bytes = encoder.encode(text);
  const tokens: FoundToken[] = [];
  tokenizer.begin(bytes, 0, bytes.length);
  for (let more = true; more; ) {
    more = tokenizer.next();
    if (tokens.length + tokenizer.count > MOST_TOKENS) {
      throw new DirspaceError(
        'InvalidInput',
        `The text has more than ${MOST_TOKENS} tokens, which is the most that are given of one. Give it in parts, or ngrams of fewer lengths.`,
      );
    }
    const waiting = pause();
    if (waiting !== undefined) await waiting;
    for (let at = 0; at < tokenizer.count; at++) {
      const term = tokenizer.terms.bytesOf(tokenizer.ids[at] as number);
      tokens.push({ text: decoder.decode(term), position: tokenizer.positions[at] as number });
    }
  }
  return tokens;
}
