/**
 * `cutBatches` finds where each batch and each of its columns lies in the text of a long layout, so
 * that fragment-layout.ts parses only the wanted columns. It scans the text once, in steps. It
 * returns undefined for text in another form than `encodeLayout` writes.
 */

/** Bytes that are looked through in one step: as a function that is called often is optimized soon. */
const STEP_BYTES = 1 << 16;

export interface CutBatches {
  /** Between the brackets of the list of batches. */
  readonly from: number;
  readonly to: number;
  readonly batches: readonly CutBatch[];
}

/** Where the parts of a batch lie in the text. */
export interface CutBatch {
  readonly from: number;
  /** The list of its columns. */
  list: number;
  /** Where each column begins, and how many bytes of the file it has. */
  readonly starts: number[];
  readonly bytes: number[];
  to: number;
}

/** The position of the list of batches in a layout. */
export const BATCHES = 3;
const [QUOTE, BACKSLASH, COMMA] = [0x22, 0x5c, 0x2c];
const [ZERO, NINE] = [0x30, 0x39];
const [LIST, LIST_END, MEMBERS, MEMBERS_END] = [0x5b, 0x5d, 0x7b, 0x7d];

/**
 * Where each batch of a layout and each column of it lies in the text, so that only what is asked for
 * is parsed; undefined where the text is not as encodeLayout writes it. It need not be JSON: it is
 * if its parts are.
 */
export function* cutBatches(text: Uint8Array): Generator<undefined, CutBatches | undefined> {
  const cutter = new Cutter(text);
  while (cutter.goOn()) yield;
  return cutter.found;
}

/** Goes through the text in pieces: the loop is in a plain function, which runs three times as fast as a generator. */
class Cutter {
  found: CutBatches | undefined;
  readonly #text: Uint8Array;
  readonly #batches: CutBatch[] = [];
  #at = 0;
  #depth = 0;
  /** Commas of the layout itself before here. */
  #part = 0;
  #from = -1;

  constructor(text: Uint8Array) {
    this.#text = text;
  }

  /** Whether there is more to go through. */
  goOn(): boolean {
    const text = this.#text;
    const end = Math.min(text.length, this.#at + STEP_BYTES);
    let depth = this.#depth;
    let at = this.#at;
    for (; at < end; at++) {
      const byte = text[at] as number;
      // Most of them.
      if (byte >= ZERO && byte <= NINE) continue;
      if (byte === COMMA) {
        if (depth === 1) this.#part++;
      } else if (byte === QUOTE) {
        for (at++; at < text.length && text[at] !== QUOTE; at++) if (text[at] === BACKSLASH) at++;
      } else if (byte === LIST || byte === MEMBERS) {
        depth++;
        if (depth >= 2 && depth <= 5 && !this.#begins(at, depth)) return false;
      } else if (byte === LIST_END || byte === MEMBERS_END) {
        depth--;
        if (depth <= 4 && this.#from >= 0 && !this.#ends(at, depth)) return false;
      }
    }
    this.#at = at;
    this.#depth = depth;
    return at < text.length;
  }

  /** False where what begins there is not what should be at this depth. */
  #begins(at: number, depth: number): boolean {
    const text = this.#text;
    const isList = text[at] === LIST;
    if (depth === 2) {
      if (this.#part !== BATCHES) return true;
      this.#from = at + 1;
      return isList && text[at - 1] === COMMA && text[at + 1] === LIST;
    }
    if (this.#from < 0) return true;
    if (!isList) return false;
    if (depth === 3) {
      this.#batches.push({ from: at, list: -1, starts: [], bytes: [], to: -1 });
      return true;
    }
    const batch = this.#batches.at(-1) as CutBatch;
    if (depth === 4) {
      if (batch.list >= 0 || text[at - 1] !== COMMA) return false;
      batch.list = at;
      return true;
    }
    const bytes = countFrom(text, at + 1);
    if (bytes === undefined || text[at - 1] !== (batch.starts.length === 0 ? LIST : COMMA)) {
      return false;
    }
    batch.starts.push(at);
    batch.bytes.push(bytes);
    return true;
  }

  /** False where the list of batches ends, or where what ends there is not what should. */
  #ends(at: number, depth: number): boolean {
    const text = this.#text;
    if (text[at] !== LIST_END) return false;
    const follows = text[at + 1];
    const isLast = follows === LIST_END;
    const isFollowed = isLast || (follows === COMMA && text[at + 2] === LIST);
    const batch = this.#batches.at(-1);
    if (depth === 4) return isFollowed;
    if (depth === 3) return isLast;
    if (depth === 2) {
      if (batch === undefined || batch.list < 0) return false;
      batch.to = at + 1;
      return isFollowed;
    }
    this.found = { from: this.#from, to: at, batches: this.#batches };
    return false;
  }
}

/** The whole number that stands there before a comma; undefined for anything else. */
function countFrom(text: Uint8Array, from: number): number | undefined {
  let count = 0;
  let at = from;
  for (; (text[at] as number) >= ZERO && (text[at] as number) <= NINE; at++) {
    count = count * 10 + ((text[at] as number) - ZERO);
  }
  const isPlain = at > from && (at === from + 1 || text[from] !== ZERO);
  return isPlain && text[at] === COMMA && Number.isSafeInteger(count) ? count : undefined;
}
