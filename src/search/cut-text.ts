/**
 * Cuts UTF-8 texts into tokens. `cutterOf` returns the cutter of the base tokenizer that the
 * settings name. It hands each token to a `TokenTaker`. A cutter works in steps, so that a long
 * text does not block other work: `begin` sets the text, and `next` has to be called until it
 * returns false. A cutter may lower ASCII letters and leave out words that are too long, as the
 * settings ask; tokenizer.ts makes all other changes of tokens.
 */
import { codePointAt, decodedBytes, isWordCharacter } from './characters.ts';
import { HASH_FACTOR, HASH_START, longer } from './term-table.ts';
import type { TextSettings } from './text-settings.ts';

/** Takes the tokens that a cutter finds. */
export interface TokenTaker {
  /** Tokens of this step that were kept. */
  count: number;
  /** The position of the next token. */
  position: number;
  take(bytes: Uint8Array, from: number, length: number): void;
  takeHashed(bytes: Uint8Array, from: number, length: number, hash: number): void;
}

export interface TextCutter {
  begin(bytes: Uint8Array, from: number, to: number): void;
  /** Cuts on until about `tokens` are found, or many bytes passed; false at the end of the text. */
  next(tokens: number): boolean;
}

/** Bytes that are cut in one step. */
const STEP_BYTES = 1 << 16;

export function cutterOf(settings: TextSettings, taker: TokenTaker): TextCutter {
  switch (settings.baseTokenizer) {
    case 'simple':
      return new WordCutter(settings, taker);
    case 'whitespace':
      return new SpaceCutter(taker);
    case 'raw':
      return new WholeCutter(taker);
    case 'ngram':
      return new NgramCutter(settings, taker);
    default:
      return new SegmentCutter(settings, taker);
  }
}

abstract class StepCutter implements TextCutter {
  protected bytes: Uint8Array = new Uint8Array(0);
  protected at = 0;
  protected to = 0;

  begin(bytes: Uint8Array, from: number, to: number): void {
    this.bytes = bytes;
    this.at = from;
    this.to = to;
  }

  abstract next(tokens: number): boolean;
}

/**
 * The byte that stands for each byte in a word, in lower case if asked for; 0 for ASCII that ends a
 * word.
 */
function byteClasses(lowercase: boolean): Uint8Array {
  const classes = Uint8Array.from({ length: 256 }, (_, byte) => (byte < 128 ? 0 : byte));
  for (let byte = 0; byte < 128; byte++) {
    const character = String.fromCharCode(byte);
    if (/[0-9A-Za-z]/.test(character)) {
      classes[byte] = (lowercase ? character.toLowerCase() : character).charCodeAt(0);
    }
  }
  return classes;
}

/** Runs of letters and digits. */
class WordCutter extends StepCutter {
  readonly #taker: TokenTaker;
  readonly #most: number;
  readonly #classes: Uint8Array;
  #word = new Uint8Array(64);
  /** The bytes read so far of a run that is too long for a token and that the last step did not finish; otherwise 0. */
  #cut = 0;

  constructor({ maxTokenLength, lowercase }: TextSettings, taker: TokenTaker) {
    super();
    this.#taker = taker;
    this.#most = maxTokenLength;
    this.#classes = byteClasses(lowercase);
  }

  override begin(bytes: Uint8Array, from: number, to: number): void {
    super.begin(bytes, from, to);
    this.#cut = 0;
  }

  next(tokens: number): boolean {
    const { bytes, to } = this;
    const classes = this.#classes;
    const taker = this.#taker;
    const stop = Math.min(to, this.at + STEP_BYTES);
    let at = this.at;
    while (at < stop && taker.count < tokens) {
      let hash = HASH_START;
      let length = this.#cut;
      let word = this.#word;
      let broken = false;
      while (at < to) {
        const byte = bytes[at] as number;
        let end = at + 1;
        if (byte >= 0x80) {
          if (!isWordCharacter(codePointAt(bytes, at, to))) break;
          end = at + decodedBytes;
        } else if (classes[byte] === 0) break;
        if (length >= STEP_BYTES && at >= stop) {
          broken = true;
          break;
        }
        if (length + 4 > word.length && length < this.#most) {
          word = longer(word, length + 4);
          this.#word = word;
        }
        for (; at < end; at++) {
          const kept = classes[bytes[at] as number] as number;
          if (length < word.length) word[length] = kept;
          length += 1;
          hash = Math.imul(hash ^ kept, HASH_FACTOR);
        }
      }
      if (broken) {
        this.#cut = length;
        break;
      }
      this.#cut = 0;
      if (length >= this.#most) taker.position += 1;
      else if (length > 0) taker.takeHashed(word, 0, length, hash);
      // The character that ended the word is no part of the next one.
      if (at < to) {
        const byte = bytes[at] as number;
        if (byte < 0x80) at += 1;
        else {
          codePointAt(bytes, at, to);
          at += decodedBytes;
        }
      }
    }
    this.at = at;
    return at < to;
  }
}

const isSpace = (byte: number): boolean =>
  byte === 0x20 || byte === 0x09 || byte === 0x0a || byte === 0x0c || byte === 0x0d;

/** Runs of anything but ASCII whitespace. */
class SpaceCutter extends StepCutter {
  readonly #taker: TokenTaker;
  /** The start of the token that a step broke off in. */
  #start = -1;

  constructor(taker: TokenTaker) {
    super();
    this.#taker = taker;
  }

  override begin(bytes: Uint8Array, from: number, to: number): void {
    super.begin(bytes, from, to);
    this.#start = -1;
  }

  next(tokens: number): boolean {
    const { bytes, to } = this;
    const stop = Math.min(to, this.at + STEP_BYTES);
    let { at } = this;
    let start = this.#start;
    for (; at < stop && this.#taker.count < tokens; at++) {
      if (!isSpace(bytes[at] as number)) {
        if (start < 0) start = at;
      } else if (start >= 0) {
        this.#taker.take(bytes, start, at - start);
        start = -1;
      }
    }
    if (at === to && start >= 0) {
      this.#taker.take(bytes, start, to - start);
      start = -1;
    }
    this.at = at;
    this.#start = start;
    return at < to;
  }
}

/** The text as one token. */
class WholeCutter extends StepCutter {
  readonly #taker: TokenTaker;

  constructor(taker: TokenTaker) {
    super();
    this.#taker = taker;
  }

  next(): boolean {
    this.#taker.take(this.bytes, this.at, this.to - this.at);
    this.at = this.to;
    return false;
  }
}

/** Every run of so many characters, whatever they are. All stand at the first position. */
class NgramCutter extends StepCutter {
  readonly #taker: TokenTaker;
  readonly #settings: TextSettings;

  constructor(settings: TextSettings, taker: TokenTaker) {
    super();
    this.#settings = settings;
    this.#taker = taker;
  }

  next(tokens: number): boolean {
    const { ngramMinLength, ngramMaxLength, prefixOnly } = this.#settings;
    const { bytes, to } = this;
    const taker = this.#taker;
    const stop = Math.min(to, this.at + STEP_BYTES);
    const { position } = taker;
    while (this.at < stop && taker.count < tokens) {
      let end = this.at;
      let next = end;
      for (let length = 1; length <= ngramMaxLength && end < to; length++) {
        codePointAt(bytes, end, to);
        end += decodedBytes;
        if (length === 1) next = end;
        if (length < ngramMinLength) continue;
        taker.take(bytes, this.at, end - this.at);
        taker.position = position;
      }
      this.at = prefixOnly ? to : next;
    }
    if (this.at >= to) taker.position = position + 1;
    return this.at < to;
  }
}

/** Texts between spaces are segmented together up to this length, and cut where they are longer. */
const SEGMENT_BYTES = 1 << 14;

/**
 * Words as Unicode's rules and ICU's dictionaries find them. Text without spaces is cut after 16
 * KiB, where a word may be cut in two.
 */
class SegmentCutter extends StepCutter {
  readonly #taker: TokenTaker;
  readonly #words: WordCutter | undefined;

  constructor(settings: TextSettings, taker: TokenTaker) {
    super();
    this.#taker = taker;
    this.#words =
      settings.baseTokenizer === 'icu/split' ? new WordCutter(settings, taker) : undefined;
  }

  next(tokens: number): boolean {
    const { bytes, to } = this;
    const stop = Math.min(to, this.at + STEP_BYTES / 4);
    while (this.at < stop && this.#taker.count < tokens) {
      while (this.at < to && isSpace(bytes[this.at] as number)) this.at += 1;
      const start = this.at;
      if (start >= to) break;
      const most = Math.min(to, start + SEGMENT_BYTES);
      let end = start;
      while (end < most && !isSpace(bytes[end] as number)) end += 1;
      // A character has three bytes behind its first at most; more are no character.
      for (const least = end - 3; end < to && end > least && isInner(bytes[end]); ) end -= 1;
      this.#cut(start, end);
      this.at = end;
    }
    return this.at < to;
  }

  #cut(start: number, end: number): void {
    const plain = plainWord(this.bytes, start, end);
    if (plain !== undefined) {
      if (plain.length > 0) this.#taker.take(this.bytes, plain.start, plain.length);
      return;
    }
    segmenter ??= new Intl.Segmenter('en', { granularity: 'word' });
    const text = decoder.decode(this.bytes.subarray(start, end));
    for (const { segment } of segmenter.segment(text)) {
      if (!/[\p{Alphabetic}\p{N}]/u.test(segment)) continue;
      const word = encoder.encode(segment);
      if (this.#words === undefined) this.#taker.take(word, 0, word.length);
      else {
        this.#words.begin(word, 0, word.length);
        while (this.#words.next(Number.POSITIVE_INFINITY));
      }
    }
  }
}

/** Whether a byte of UTF-8 is not the first of its character. */
const isInner = (byte: number | undefined): boolean => ((byte as number) & 0xc0) === 0x80;

let segmenter: Intl.Segmenter | undefined;
const decoder = new TextDecoder('utf-8', { ignoreBOM: true });
const encoder = new TextEncoder();

const isWordByte = (byte: number): boolean =>
  (byte >= 0x30 && byte <= 0x39) ||
  (byte >= 0x61 && byte <= 0x7a) ||
  (byte >= 0x41 && byte <= 0x5a);

/**
 * The only run of ASCII letters and digits between ASCII punctuation; undefined for any other text.
 */
function plainWord(
  bytes: Uint8Array,
  from: number,
  to: number,
): { readonly start: number; readonly length: number } | undefined {
  let start = from;
  while (start < to && isPunctuation(bytes[start] as number)) start += 1;
  let end = start;
  while (end < to && isWordByte(bytes[end] as number)) end += 1;
  let rest = end;
  while (rest < to && isPunctuation(bytes[rest] as number)) rest += 1;
  return rest === to ? { start, length: end - start } : undefined;
}

/** ASCII characters except letters, digits and the underscore, which belongs to words. */
const isPunctuation = (byte: number): boolean =>
  byte > 0x20 && byte < 0x7f && byte !== 0x5f && !isWordByte(byte);
