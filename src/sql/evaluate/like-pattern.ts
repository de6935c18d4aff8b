/**
 * Compiles LIKE patterns from their UTF-8 bytes: `compilePattern` at once, and `compiledInSteps` in
 * steps, because a pattern may come from a row and be very long; `compiledBytes` bounds the memory.
 * They throw InvalidInput if the pattern ends in an escape character that escapes nothing, or if a
 * part between two % contains _ and has more than 1,000 bytes. `checkPattern` throws the same
 * without compiling. `matches` tests a text against a compiled pattern; for ILIKE, the caller puts
 * the text into lower case first. `matchAt`, `matchBefore` and `find` look for one part of it.
 */
import { DirspaceError } from '../../errors.ts';
import { drained } from '../../steps.ts';
import { foldedInSteps, LongNeedle, SHORT_NEEDLE } from '../texts/index.ts';

/** A token is a byte of the pattern, or one of these. */
export const ANY_ONE = -1;
export const ANY_RUN = -2;

/** What stands between two % of a pattern, or before the first or after the last one. */
export interface Part {
  readonly tokens: Int16Array;
  /** Set for one that is long, and has no _. */
  readonly long: LongNeedle | undefined;
}

/** A part with _ is compared anew at each character, so that its length is bounded. */
const MAX_WILD_PART = 1000;

export interface LikePattern {
  readonly tokens: Int16Array;
  readonly parts: readonly Part[];
}

/** Bytes of a pattern that are read between two steps, and parts that are made. */
const STEP_BYTES = 1 << 19;
const STEP_PARTS = 1 << 12;

/**
 * Throws InvalidInput for a pattern that ends in its escape character, or has too long a part with _.
 * Makes nothing of it: that is for rows, in steps.
 */
export function checkPattern(pattern: string, escaping: string): void {
  const written = Buffer.from(pattern);
  const tokens = drained(tokensOf(written, markerOf(escaping), written));
  let start = -1;
  let isWild = false;
  for (let at = 0; at < tokens.length; at++) {
    if (tokens[at] === ANY_ONE) isWild = true;
    if (tokens[at] !== ANY_RUN) continue;
    // The first and the last part are compared at one place only.
    if (start >= 0 && isWild) refuseLongPart(at - start, written);
    start = at + 1;
    isWild = false;
  }
}

export const compilePattern = (
  pattern: string,
  escaping: string,
  insensitive: boolean,
): LikePattern => drained(compiledInSteps(Buffer.from(pattern), escaping, insensitive));

/**
 * The same in steps, throwing what `checkPattern` does. Where case does not matter the pattern is put into lower case, but its escape
 * character is the one character in the case that it was given in, as in PostgreSQL.
 */
export function* compiledInSteps(
  written: Uint8Array,
  escaping: string,
  insensitive: boolean,
): Generator<void, LikePattern> {
  if (!insensitive) return yield* compiled(written, markerOf(escaping), written);
  const isPlain = escaping === '\\';
  const escaped = isPlain ? written : yield* withBackslashes(written, markerOf(escaping));
  return yield* compiled(yield* foldedInSteps(escaped), BACKSLASH, written);
}

/** Bytes that `compiledInSteps` has at once, at most. */
export const compiledBytes = (
  { length }: Uint8Array,
  escaping: string,
  insensitive: boolean,
): number => (insensitive && escaping !== '\\' ? 8 : 3) * length;

/** The bytes of the character that takes the next one as it is; none where there is no such character. */
const markerOf = (escaping: string): Uint8Array =>
  escaping === '\\' ? BACKSLASH : Buffer.from(escaping);

const BACKSLASH = Uint8Array.of(0x5c);

/** The pattern with backslashes in the place of its marker, and two for each of its own. */
function* withBackslashes(pattern: Uint8Array, marker: Uint8Array): Generator<void, Uint8Array> {
  const out = new Uint8Array(2 * pattern.length);
  const lead = marker.length > 0 ? marker[0] : -1;
  let size = 0;
  let isTaken = false;
  let border = STEP_BYTES;
  for (let at = 0; at < pattern.length; ) {
    if (at >= border) {
      yield;
      border = at + STEP_BYTES;
    }
    const byte = pattern[at] as number;
    if (!isTaken && byte === lead && isAt(pattern, at, marker)) {
      out[size++] = 0x5c;
      at += marker.length;
      isTaken = true;
      continue;
    }
    if (!isTaken && byte === 0x5c) out[size++] = byte;
    out[size++] = byte;
    isTaken = false;
    at++;
  }
  return out.subarray(0, size);
}

function* compiled(
  pattern: Uint8Array,
  marker: Uint8Array,
  written: Uint8Array,
): Generator<void, LikePattern> {
  const tokens = yield* tokensOf(pattern, marker, written);
  const parts: Part[] = [];
  let made = 0;
  for (let start = 0; start <= tokens.length; ) {
    const run = tokens.indexOf(ANY_RUN, start);
    const end = run < 0 ? tokens.length : run;
    // The first and the last part are compared at one place only.
    const isSought = start > 0 && run >= 0;
    parts.push(yield* partOf(tokens.subarray(start, end), isSought, written));
    start = end + 1;
    if (++made % STEP_PARTS === 0) yield;
  }
  return { tokens, parts };
}

function* tokensOf(
  pattern: Uint8Array,
  marker: Uint8Array,
  written: Uint8Array,
): Generator<void, Int16Array> {
  const reading: Reading = { pattern, marker, tokens: new Int16Array(pattern.length), count: 0 };
  for (let at = 0; at < pattern.length; ) {
    at = readTokens(reading, at, at + STEP_BYTES);
    if (at < 0) {
      const fault = 'ends in its escape character';
      throw new DirspaceError('InvalidInput', `The LIKE pattern '${shown(written)}' ${fault}`);
    }
    if (at < pattern.length) yield;
  }
  return reading.tokens.subarray(0, reading.count);
}

const shown = (written: Uint8Array): string =>
  Buffer.from(written.subarray(0, 240)).toString().slice(0, 60);

interface Reading {
  readonly pattern: Uint8Array;
  readonly marker: Uint8Array;
  readonly tokens: Int16Array;
  count: number;
}

/** Reads from `from` to about `until`; where it came to, -1 at an escape character that is the last one. */
function readTokens(reading: Reading, from: number, until: number): number {
  const { pattern, marker, tokens } = reading;
  const lead = marker.length > 0 ? marker[0] : -1;
  let { count } = reading;
  let at = from;
  while (at < pattern.length && at < until) {
    const byte = pattern[at] as number;
    if (byte === lead && isAt(pattern, at, marker)) {
      at += marker.length;
      if (at >= pattern.length) return -1;
      tokens[count++] = pattern[at++] as number;
      // The rest of the character.
      while (at < pattern.length && ((pattern[at] as number) & 0xc0) === 0x80) {
        tokens[count++] = pattern[at++] as number;
      }
      continue;
    }
    at++;
    if (byte === PERCENT) {
      if (count === 0 || tokens[count - 1] !== ANY_RUN) tokens[count++] = ANY_RUN;
    } else tokens[count++] = byte === UNDERSCORE ? ANY_ONE : byte;
  }
  reading.count = count;
  return at;
}

const PERCENT = 0x25;
const UNDERSCORE = 0x5f;

function isAt(pattern: Uint8Array, at: number, marker: Uint8Array): boolean {
  for (let k = 0; k < marker.length; k++) if (pattern[at + k] !== marker[k]) return false;
  return true;
}

function* partOf(
  tokens: Int16Array,
  isSought: boolean,
  written: Uint8Array,
): Generator<void, Part> {
  if (!isSought || tokens.length <= SHORT_NEEDLE) return { tokens, long: undefined };
  if (!tokens.includes(ANY_ONE)) return { tokens, long: yield* LongNeedle.inSteps(tokens) };
  refuseLongPart(tokens.length, written);
  return { tokens, long: undefined };
}

function refuseLongPart(length: number, written: Uint8Array): void {
  if (length <= MAX_WILD_PART) return;
  throw new DirspaceError(
    'InvalidInput',
    `The LIKE pattern '${shown(written)}' has ${length} bytes with _ between two %; ${MAX_WILD_PART} is the most`,
  );
}

/** Whether `data[start..end)` is the pattern. */
export function matches(
  data: Uint8Array,
  start: number,
  end: number,
  { parts }: LikePattern,
): boolean {
  const head = (parts[0] as Part).tokens;
  const from = matchAt(data, start, end, head);
  if (parts.length === 1) return from === end;
  if (from < 0) return false;
  const until = matchBefore(data, from, end, (parts.at(-1) as Part).tokens);
  if (until < 0) return false;
  let at = from;
  for (let k = 1; k < parts.length - 1; k++) {
    at = find(data, at, until, parts[k] as Part);
    if (at < 0) return false;
  }
  return true;
}

/** Where the tokens end that begin at `start`, -1 where they do not. */
export function matchAt(data: Uint8Array, start: number, end: number, tokens: Int16Array): number {
  let at = start;
  for (let k = 0; k < tokens.length; k++) {
    if (at >= end) return -1;
    const token = tokens[k] as number;
    if (token === ANY_ONE) {
      at++;
      while (at < end && ((data[at] as number) & 0xc0) === 0x80) at++;
    } else if (token !== data[at++]) return -1;
  }
  return at;
}

/** Where the tokens begin that end at `end`, -1 where they do not. */
export function matchBefore(
  data: Uint8Array,
  start: number,
  end: number,
  tokens: Int16Array,
): number {
  let at = end;
  for (let k = tokens.length - 1; k >= 0; k--) {
    if (at <= start) return -1;
    const token = tokens[k] as number;
    at--;
    if (token === ANY_ONE) while (at > start && ((data[at] as number) & 0xc0) === 0x80) at--;
    else if (token !== data[at]) return -1;
  }
  return at;
}

/**
 * Where the first of the part's places within `data[start..end)` ends, -1 where it has none that begins
 * at `furthest` or before.
 */
export function find(
  data: Uint8Array,
  start: number,
  end: number,
  { tokens, long }: Part,
  furthest = end,
): number {
  if (long !== undefined) {
    const at = long.find(data, start, Math.min(end, furthest + tokens.length));
    return at < 0 ? -1 : at + tokens.length;
  }
  const lead = tokens[0] as number;
  const last = Math.min(furthest, end - tokens.length);
  for (let at = start; at <= last; at++) {
    const byte = data[at] as number;
    // A character is not begun in its middle.
    if (lead === ANY_ONE ? (byte & 0xc0) === 0x80 : byte !== lead) continue;
    const stop = matchAt(data, at, end, tokens);
    if (stop >= 0) return stop;
  }
  return -1;
}
