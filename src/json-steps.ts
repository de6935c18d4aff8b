/**
 * `parseJsonInSteps` parses a long JSON text as a generator of short steps, between which the
 * caller can let other work run. A step passes up to 16,384 characters of a list or object to
 * JSON.parse, or one longer text or number. The result is that of JSON.parse, and invalid text
 * throws SyntaxError as there. Only very deep nesting differs: it can throw RangeError.
 */

/** Characters that are parsed at once, unless a single text or number is longer. */
const PIECE = 1 << 14;

const QUOTE = 0x22;
const COMMA = 0x2c;
const COLON = 0x3a;
const OPENING_LIST = 0x5b;
const BACKSLASH = 0x5c;
const CLOSING_LIST = 0x5d;
const OPENING_OBJECT = 0x7b;
const CLOSING_OBJECT = 0x7d;

/** What JSON.parse makes of the text. @throws SyntaxError */
export function* parseJsonInSteps(text: string, piece = PIECE): Generator<undefined, unknown> {
  return yield* new PieceParser(text, piece).whole();
}

class PieceParser {
  readonly #text: string;
  readonly #piece: number;
  #at = 0;

  constructor(text: string, piece: number) {
    this.#text = text;
    this.#piece = piece;
  }

  *whole(): Generator<undefined, unknown> {
    const value = yield* this.#value(this.#text.length);
    if (this.#at < this.#text.length) this.#refuse();
    return value;
  }

  /** The value at the cursor, which goes to the blanks behind it; `end` is where a plain one ends. */
  *#value(end: number): Generator<undefined, unknown> {
    this.#passBlanks();
    const first = this.#text.charCodeAt(this.#at);
    let value: unknown;
    if (first === OPENING_LIST) value = yield* this.#list();
    else if (first === OPENING_OBJECT) value = yield* this.#object();
    else {
      value = JSON.parse(this.#text.slice(this.#at, end));
      this.#at = end;
    }
    this.#passBlanks();
    return value;
  }

  *#list(): Generator<undefined, unknown[]> {
    const list: unknown[] = [];
    this.#at++;
    for (let first = true; ; first = false) {
      this.#passBlanks();
      const { end, whole } = this.#parts();
      if (whole) {
        const part = JSON.parse(`[${this.#text.slice(this.#at, end)}]`) as unknown[];
        if (part.length === 0 && !(first && this.#isAt(end, CLOSING_LIST))) this.#refuse();
        for (const item of part) list.push(item);
        this.#at = end;
      } else list.push(yield* this.#value(this.#endOfPart()));
      yield;
      if (this.#ended(CLOSING_LIST)) return list;
    }
  }

  *#object(): Generator<undefined, object> {
    const object: Record<string, unknown> = {};
    this.#at++;
    for (let first = true; ; first = false) {
      this.#passBlanks();
      const { end, whole } = this.#parts();
      if (whole) {
        const part = JSON.parse(`{${this.#text.slice(this.#at, end)}}`) as object;
        const entries = Object.entries(part);
        if (entries.length === 0 && !(first && this.#isAt(end, CLOSING_OBJECT))) this.#refuse();
        for (const [name, value] of entries) setOwn(object, name, value);
        this.#at = end;
      } else {
        const name = this.#name();
        setOwn(object, name, yield* this.#value(this.#endOfPart()));
      }
      yield;
      if (this.#ended(CLOSING_OBJECT)) return object;
    }
  }

  /** Passes the comma behind a part, or what closes the list or object. */
  #ended(closing: number): boolean {
    if (this.#isAt(this.#at, COMMA)) {
      this.#at++;
      return false;
    }
    if (!this.#isAt(this.#at, closing)) this.#refuse();
    this.#at++;
    return true;
  }

  /**
   * Where those parts of a list or object end that lie within one piece from the cursor on: at a comma
   * or at what closes it. Not `whole` where the first part alone is longer.
   */
  #parts(): { end: number; whole: boolean } {
    const text = this.#text;
    const most = Math.min(text.length, this.#at + this.#piece);
    let depth = 0;
    let last = -1;
    for (let at = this.#at; at < most; at++) {
      switch (text.charCodeAt(at)) {
        case QUOTE:
          at = this.#endOfText(at, most);
          break;
        case COMMA:
          if (depth === 0) last = at;
          break;
        case OPENING_LIST:
        case OPENING_OBJECT:
          depth++;
          break;
        case CLOSING_LIST:
        case CLOSING_OBJECT:
          if (depth === 0) return { end: at, whole: true };
          depth--;
          break;
      }
    }
    if (last < 0 && most === text.length) this.#refuse();
    return { end: last, whole: last >= 0 };
  }

  /** The end of a plain value at the cursor; where it is a list or an object it is not looked for. */
  #endOfPart(): number {
    this.#passBlanks();
    const text = this.#text;
    const first = text.charCodeAt(this.#at);
    if (first === OPENING_LIST || first === OPENING_OBJECT) return this.#at;
    let at = first === QUOTE ? this.#endOfText(this.#at, text.length) : this.#at;
    for (; at < text.length; at++) {
      const code = text.charCodeAt(at);
      if (code === COMMA || code === CLOSING_LIST || code === CLOSING_OBJECT) break;
    }
    return at;
  }

  /** The name at the cursor, which goes behind the colon. */
  #name(): string {
    this.#passBlanks();
    const start = this.#at;
    if (!this.#isAt(start, QUOTE)) this.#refuse();
    const end = this.#endOfText(start, this.#text.length) + 1;
    const name = JSON.parse(this.#text.slice(start, end)) as string;
    this.#at = end;
    this.#passBlanks();
    if (!this.#isAt(this.#at, COLON)) this.#refuse();
    this.#at++;
    return name;
  }

  /** The quotation mark that ends the text which begins at `start`, or `most` where it goes on there. */
  #endOfText(start: number, most: number): number {
    for (let at = start + 1; at < most; at++) {
      const code = this.#text.charCodeAt(at);
      if (code === QUOTE) return at;
      if (code === BACKSLASH) at++;
    }
    return most;
  }

  #passBlanks(): void {
    for (; this.#at < this.#text.length; this.#at++) {
      const code = this.#text.charCodeAt(this.#at);
      if (code !== 0x20 && code !== 0x09 && code !== 0x0a && code !== 0x0d) return;
    }
  }

  #isAt(at: number, code: number): boolean {
    return this.#text.charCodeAt(at) === code;
  }

  #refuse(): never {
    throw new SyntaxError(`The JSON text is not valid at position ${this.#at}`);
  }
}

/** Also for a member named `__proto__`, which is one like any other. */
function setOwn(object: Record<string, unknown>, name: string, value: unknown): void {
  if (name !== '__proto__') object[name] = value;
  else {
    const property = { value, writable: true, enumerable: true, configurable: true };
    Object.defineProperty(object, name, property);
  }
}
