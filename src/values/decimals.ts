/**
 * Converts exact integers and decimals between JavaScript values, texts and the bigints by which
 * columns store them. A value that is not a number, is far too large, or would lose digits gives
 * undefined or null. `exactToDouble` gives the nearest double and `meanOf` a double as well; all
 * others are exact. `parseExact` reads numbers as SQL and CAST write them, `integerFrom` and
 * `unscaledDecimal` those of rows, and `doubleToExact` a double. `decimalText` writes a decimal
 * with all its digits.
 */

/** An exact decimal: unscaled / 10^scale, scale >= 0. */
export interface ExactNumber {
  readonly unscaled: bigint;
  readonly scale: number;
}

const INTEGER = /^[+-]?\d{1,40}$/;
const DECIMAL = /^([+-]?)(\d{0,100})(?:\.(\d{0,100}))?(?:[eE]([+-]?\d{1,4}))?$/;

/** A bigint from a bigint, an integer number or decimal digits. */
export function integerFrom(value: unknown): bigint | undefined {
  if (typeof value === 'bigint') return value;
  if (typeof value === 'number') return Number.isSafeInteger(value) ? BigInt(value) : undefined;
  if (typeof value !== 'string' || !INTEGER.test(value)) return undefined;
  return BigInt(value.startsWith('+') ? value.slice(1) : value);
}

/**
 * `value` times ten to the `scale`, when that is an integer. Numbers count as the digits they
 * print as, so that 0.1 is one tenth. Raw words (a Uint32Array, as Arrow's own decimals are) are
 * taken as already scaled.
 */
export function unscaledDecimal(value: unknown, scale: number, words: number): bigint | undefined {
  if (typeof value === 'bigint') return shifted(value, scale);
  if (typeof value === 'string') return parsed(value, scale);
  if (typeof value === 'number') return parsed(String(value), scale);
  if (
    !ArrayBuffer.isView(value) ||
    Object.prototype.toString.call(value) !== '[object Uint32Array]'
  )
    return undefined;
  const raw = value as Uint32Array;
  return raw.length === words ? decimalWords(raw, 0, words) : undefined;
}

function parsed(text: string, scale: number): bigint | undefined {
  const match = DECIMAL.exec(text);
  if (match === null) return undefined;
  const [, sign, whole = '', fraction = '', exponent = '0'] = match;
  if (whole === '' && fraction === '') return undefined;
  const digits = BigInt(whole + fraction);
  return shifted(sign === '-' ? -digits : digits, scale - fraction.length + Number(exponent));
}

/** `value` times ten to the `power`; undefined when digits would be lost. */
function shifted(value: bigint, power: number): bigint | undefined {
  if (value === 0n) return 0n;
  // No decimal type holds more than 76 digits: larger powers need not be computed.
  if (power > 200 || power < -400) return undefined;
  if (power >= 0) return value * 10n ** BigInt(power);
  const divisor = 10n ** BigInt(-power);
  return value % divisor === 0n ? value / divisor : undefined;
}

/** The signed integer in `words` 32-bit words starting at `start`, least significant first. */
export function decimalWords(from: Uint32Array, start: number, words: number): bigint {
  let value = BigInt((from[start + words - 1] ?? 0) | 0);
  for (let word = words - 2; word >= 0; word--) {
    value = (value << 32n) | BigInt(from[start + word] ?? 0);
  }
  return value;
}

/** An unscaled decimal as text with all its digits: 1230 with scale 2 is `12.30`. */
export function decimalText(unscaled: bigint, scale: number): string {
  if (scale <= 0) return (unscaled * 10n ** BigInt(-scale)).toString();
  const negative = unscaled < 0n;
  const digits = (negative ? -unscaled : unscaled).toString().padStart(scale + 1, '0');
  const point = digits.length - scale;
  return `${negative ? '-' : ''}${digits.slice(0, point)}.${digits.slice(point)}`;
}

/** Beyond this a number has no exact use: float64 ends at 1e308. */
const MAX_EXPONENT = 400;
/** Digits of a number in another base, behind its zeros; so many are beyond 1e400 in any. */
const MAX_DIGITS = 4 * MAX_EXPONENT;
const ZERO = 48;

/**
 * The number that a text says, in base 10 or with 0x, 0o or 0b; null for other text and for a number far
 * beyond what float64 holds. Takes time in proportion to the text.
 */
export function parseExact(text: string): ExactNumber | null {
  if (/^\d{1,15}$/.test(text)) return { unscaled: BigInt(text), scale: 0 };
  const radix = /^([+-]?)(0x[0-9a-f]+|0o[0-7]+|0b[01]+)$/i.exec(text);
  if (radix !== null) {
    const [, sign, number = ''] = radix;
    if (number.length - 2 - leadingZeros(number, 2) > MAX_DIGITS) return null;
    const value = BigInt(number);
    return { unscaled: sign === '-' ? -value : value, scale: 0 };
  }
  // Blanks are cut off first: a pattern for them would try each of many again and again.
  const found = /^([+-]?)(\d*)(?:\.(\d*))?(?:e([+-]?\d+))?$/i.exec(text.trim());
  if (found === null) return null;
  const [, sign, written = '', digits = '', power = '0'] = found;
  if (written === '' && digits === '') return null;
  // Zeros before and after the number say nothing, however many they are.
  let end = digits.length;
  while (end > 0 && digits.charCodeAt(end - 1) === ZERO) end--;
  const [whole, fraction] = [written.slice(leadingZeros(written)), digits.slice(0, end)];
  const exponent = Number(power);
  if (Math.abs(exponent) > MAX_EXPONENT || whole.length + fraction.length > 2 * MAX_EXPONENT) {
    return null;
  }
  let unscaled = BigInt(whole + fraction);
  let scale = fraction.length - exponent;
  if (scale < 0) {
    unscaled *= 10n ** BigInt(-scale);
    scale = 0;
  }
  while (scale > 0 && unscaled % 10n === 0n) {
    unscaled /= 10n;
    scale--;
  }
  return { unscaled: sign === '-' ? -unscaled : unscaled, scale };
}

/** How many zeros there are from `from` on. */
function leadingZeros(text: string, from = 0): number {
  let at = from;
  while (text.charCodeAt(at) === ZERO) at++;
  return at - from;
}

/** The double nearest to an exact number: the text is rounded once. */
export function exactToDouble(exact: ExactNumber): number {
  return Number(`${exact.unscaled}e${-exact.scale}`);
}

export function doubleToExact(value: number): ExactNumber | null {
  if (!Number.isFinite(value)) return null;
  if (Number.isInteger(value)) return { unscaled: BigInt(value), scale: 0 };
  // value = mantissa / 2^k exactly, and 1 / 2^k = 5^k / 10^k.
  let scale = 0;
  let mantissa = value;
  while (!Number.isInteger(mantissa)) {
    mantissa *= 2;
    scale++;
  }
  return { unscaled: BigInt(mantissa) * 5n ** BigInt(scale), scale };
}

const powers: bigint[] = [];

/** Ten to the `exponent`, a whole number from 0 on. */
export function powerOfTen(exponent: number): bigint {
  powers[exponent] ??= 10n ** BigInt(exponent);
  return powers[exponent];
}

/** An exact sum, divided. Of one that no double holds, whole part and rest are divided apart. */
export function meanOf(sum: bigint, by: number): number {
  const number = Number(sum);
  if (Number.isSafeInteger(number) || !Number.isSafeInteger(by)) return number / by;
  const divisor = BigInt(by);
  return Number(sum / divisor) + Number(sum % divisor) / by;
}

/** How many decimal digits a number has. */
export const digitsOf = (unscaled: bigint): number =>
  String(unscaled < 0n ? -unscaled : unscaled).length;
