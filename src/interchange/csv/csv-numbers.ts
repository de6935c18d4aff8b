/**
 * Parses numbers from the bytes of CSV fields. `digitsValue` and `floatValue` parse numbers of up
 * to 15 digits without making a string, and return NaN for everything else. `integerOf` and
 * `floatOf` parse all other forms from a text of up to 400 characters, and return undefined for a
 * text that is no number. If `strict`, a number that looks like a code, such as 007, counts as
 * text. `plainText` and `textOf` decode a field, as Latin-1 without the spaces around it and as
 * UTF-8.
 */

/** Powers of ten that a double has exactly. */
const POWERS = Float64Array.from({ length: 23 }, (_, exponent) => Number(`1e${exponent}`));
const MINUS = 45;
const POINT = 46;
const ZERO = 48;

/**
 * The integer of up to 15 digits, with a sign, that the bytes are. NaN for other bytes and, where
 * `strict`, for digits after a leading zero: what is written so is a code, not a number.
 */
export function digitsValue(
  bytes: Uint8Array,
  start: number,
  end: number,
  strict: boolean,
): number {
  let at = start;
  const isNegative = bytes[at] === MINUS;
  if (isNegative) at++;
  const digits = end - at;
  if (digits === 0 || digits > 15) return Number.NaN;
  if (strict && digits > 1 && bytes[at] === ZERO) return Number.NaN;
  // Nine digits fit the integers of the machine.
  const split = at + (digits > 9 ? 9 : digits);
  let head = 0;
  for (; at < split; at++) {
    const digit = (bytes[at] as number) - ZERO;
    if (digit < 0 || digit > 9) return Number.NaN;
    head = head * 10 + digit;
  }
  if (at === end) return isNegative ? -head : head;
  let value: number = head;
  for (; at < end; at++) {
    const digit = (bytes[at] as number) - ZERO;
    if (digit < 0 || digit > 9) return Number.NaN;
    value = value * 10 + digit;
  }
  return isNegative ? -value : value;
}

/**
 * The decimal of up to 15 digits without an exponent: then one division rounds as it has to be. NaN
 * for other bytes and, where `strict`, for an integer with a leading zero.
 */
export function floatValue(bytes: Uint8Array, start: number, end: number, strict: boolean): number {
  let at = start;
  const isNegative = bytes[at] === MINUS;
  if (isNegative) at++;
  // Fifteen digits and the point.
  if (end - at > 16 || at === end) return Number.NaN;
  const first = at;
  let value = 0;
  let point = -1;
  for (; at < end; at++) {
    const digit = (bytes[at] as number) - ZERO;
    if (digit >= 0 && digit <= 9) value = value * 10 + digit;
    else if (digit === POINT - ZERO && point < 0) point = at;
    else return Number.NaN;
  }
  const digits = end - first - (point < 0 ? 0 : 1);
  if (digits > 15 || digits === 0) return Number.NaN;
  if (strict && bytes[first] === ZERO && digits > 1 && point !== first + 1) return Number.NaN;
  if (point >= 0) value /= POWERS[end - point - 1] as number;
  return isNegative ? -value : value;
}

/** The bytes as text, each a character; spaces around are dropped. */
export const plainText = (bytes: Uint8Array, start: number, end: number): string =>
  bufferOf(bytes).toString('latin1', start, end).trim();

/** The bytes as text; they are UTF-8. */
export const textOf = (bytes: Uint8Array, start: number, end: number): string =>
  bufferOf(bytes).toString('utf8', start, end);

/** Fields of one piece of a file follow each other: its buffer is made once. */
let [lastBytes, lastBuffer] = [new Uint8Array(0), Buffer.alloc(0)];

function bufferOf(bytes: Uint8Array): Buffer {
  if (bytes !== lastBytes) {
    lastBytes = bytes as Uint8Array<ArrayBuffer>;
    lastBuffer = Buffer.from(bytes.buffer as ArrayBuffer, bytes.byteOffset, bytes.length);
  }
  return lastBuffer;
}

const INTEGER = /^[+-]?\d+$/;
const STRICT_INTEGER = /^-?(?:0|[1-9]\d*)$/;
/** Longer numbers are texts: no number of any type has so many digits. */
const MOST_CHARACTERS = 400;

/** Any integer; undefined for other text. */
export function integerOf(text: string, strict: boolean): bigint | undefined {
  if (text.length > MOST_CHARACTERS || !(strict ? STRICT_INTEGER : INTEGER).test(text)) {
    return undefined;
  }
  return BigInt(text.startsWith('+') ? text.slice(1) : text);
}

const FLOAT = /^[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?$/;
const STRICT_FLOAT = /^-?(?:(?:0|[1-9]\d*)(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d+)?$/;
const WORD = /^([+-]?)(?:(nan)|inf(?:inity)?)$/i;

/** Any number that float64 can hold, also nan and inf; undefined for other text. */
export function floatOf(text: string, strict: boolean): number | undefined {
  if (text.length > MOST_CHARACTERS) return undefined;
  if ((strict ? STRICT_FLOAT : FLOAT).test(text)) {
    const value = Number(text);
    // Larger than float64 can hold: it would become infinite.
    return Number.isFinite(value) ? value : undefined;
  }
  const found = WORD.exec(text);
  if (found === null) return undefined;
  if (found[2] !== undefined) return Number.NaN;
  return found[1] === '-' ? Number.NEGATIVE_INFINITY : Number.POSITIVE_INFINITY;
}
