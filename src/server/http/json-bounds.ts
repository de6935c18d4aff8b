/**
 * `JsonBounds` limits a JSON text while it arrives: its nesting (`MAX_JSON_DEPTH`), its values
 * (`MAX_JSON_VALUES`), and its lists, objects, names and strings together (`MAX_JSON_PARTS`).
 * Parsing millions of them would block the event loop for seconds. `take` is called with each piece
 * of the text, and throws InvalidInput beyond a limit. The syntax is not checked here.
 */
import { DirspaceError } from '../../errors.ts';

/** Deeper than any request of the protocol, and than any text that a person writes. */
export const MAX_JSON_DEPTH = 64;
/** More numbers than fit into a body of 8 MiB at their full precision. */
export const MAX_JSON_VALUES = 1_000_000;
/** Lists, objects, names and texts: each takes a parser some ten times as long as a number. */
export const MAX_JSON_PARTS = 100_000;

const QUOTE = 0x22;
const COMMA = 0x2c;
const BACKSLASH = 0x5c;

/** Takes a text in pieces, cut anywhere. Whether the text is JSON is its parser's to say. */
export class JsonBounds {
  #depth = 0;
  #values = 0;
  #parts = 0;
  #inText = false;
  #escaped = false;

  /** Throws InvalidInput that names the bound. */
  take(piece: Uint8Array): void {
    for (let at = 0; at < piece.length; at++) {
      const byte = piece[at];
      if (this.#inText) {
        if (this.#escaped) this.#escaped = false;
        else if (byte === BACKSLASH) this.#escaped = true;
        else if (byte === QUOTE) this.#inText = false;
        continue;
      }
      switch (byte) {
        case QUOTE:
          this.#inText = true;
          this.#countPart();
          break;
        case COMMA:
          this.#values++;
          if (this.#values >= MAX_JSON_VALUES) throw beyond(`${MAX_JSON_VALUES} values`);
          break;
        case 0x5b: // [
        case 0x7b: // {
          this.#depth++;
          if (this.#depth > MAX_JSON_DEPTH) throw beyond(`${MAX_JSON_DEPTH} levels`);
          this.#countPart();
          break;
        case 0x5d: // ]
        case 0x7d: // }
          this.#depth--;
          break;
      }
    }
  }

  #countPart(): void {
    this.#parts++;
    if (this.#parts > MAX_JSON_PARTS) {
      throw beyond(`${MAX_JSON_PARTS} lists, objects, names and texts`);
    }
  }
}

const beyond = (bound: string): DirspaceError =>
  new DirspaceError('InvalidInput', `The JSON body has more than ${bound}. Send less at once.`, {
    details: { bound },
  });
