/**
 * Evaluates LIKE and ILIKE for each row, over UTF-8 bytes. A null text or pattern gives unknown.
 * `evaluateLike` does so at once, and `likeInSteps` in steps that let other work run, because texts
 * and patterns may be long. Simple constant patterns, such as a prefix or a part of up to 64 bytes
 * without _, have fast loops. For other patterns, the parts between % are searched from left to
 * right. like-pattern.ts compiles the patterns, and throws InvalidInput for those that it refuses,
 * of rows too.
 */
import type { BatchMemory } from '../../request-memory.ts';
import { drained } from '../../steps.ts';
import {
  foldedInSteps,
  inOneCase,
  lowerText,
  MOST_PART,
  SHORT_NEEDLE,
  textKernels,
} from '../texts/index.ts';
import {
  type BytesColumn,
  type Column,
  FALSE,
  maskNulls,
  reader,
  TRUE,
  UNKNOWN,
} from '../typed/index.ts';
import { equalBytes } from './evaluate-compare.ts';
import {
  ANY_ONE,
  ANY_RUN,
  compiledBytes,
  compiledInSteps,
  compilePattern,
  find,
  type LikePattern,
  matchAt,
  matchBefore,
  matches,
  type Part,
} from './like-pattern.ts';

export function evaluateLike(
  column: Column,
  pattern: Column,
  escaping: string,
  insensitive: boolean,
  memory: BatchMemory,
): Uint8Array {
  if (pattern.form === 'constant') {
    if (pattern.value === null) return new Uint8Array(column.length).fill(UNKNOWN);
    const like = compilePattern(String(pattern.value), escaping, insensitive);
    return likeOfAll(column, like, insensitive, memory);
  }
  return drained(rowPatternsInSteps(column, pattern, escaping, insensitive, memory));
}

function likeOfAll(
  column: Column,
  like: LikePattern,
  insensitive: boolean,
  memory: BatchMemory,
): Uint8Array {
  return column.form === 'bytes'
    ? maskNulls(matchColumn(column, like, insensitive, memory), column.valid)
    : matchValues(column, like, insensitive);
}

/** Longer texts are gone through in steps. */
const LONG_BYTES = 1 << 20;
/** Bytes that are compared, at worst, between two steps. */
const STEP_WORK = 1 << 22;

/**
 * As `evaluateLike`, in steps where a text is long, a part with _ is, or each row has a pattern of its own.
 */
export function* likeInSteps(
  column: Column,
  pattern: Column,
  escaping: string,
  insensitive: boolean,
  memory: BatchMemory,
): Generator<void, Uint8Array> {
  if (pattern.form !== 'constant') {
    return yield* rowPatternsInSteps(column, pattern, escaping, insensitive, memory);
  }
  if (pattern.value === null) return new Uint8Array(column.length).fill(UNKNOWN);
  const written = Buffer.from(String(pattern.value));
  const like = yield* compiledInSteps(written, escaping, insensitive);
  if (column.form !== 'bytes') {
    return yield* computedTextsInSteps(column, like, insensitive, memory);
  }
  const wild = longestWild(like);
  const isWild = wild > 0 && wild * textBytes(column) > WILD_WORK;
  if (!isWild && !hasLong(column)) return likeOfAll(column, like, insensitive, memory);
  const { data, starts, ends, valid } = column;
  const out = new Uint8Array(column.length);
  let work = 0;
  for (let row = 0; row < out.length; row++) {
    if (valid !== null && valid[row] === 0) continue;
    const [start, end] = [starts[row] as number, ends[row] as number];
    // A row that takes long has steps of its own.
    work += Math.max(1, wild) * (end - start);
    if (work >= STEP_WORK) {
      yield;
      work = 0;
    }
    const before = memory.used;
    let text = data.subarray(start, end);
    if (insensitive) {
      memory.take(text.length);
      text = yield* foldedInSteps(text);
    }
    out[row] = (yield* matchesInSteps(text, like)) ? TRUE : FALSE;
    memory.used = before;
  }
  return maskNulls(out, valid);
}

/** Texts that were computed, each of which may be long. */
function* computedTextsInSteps(
  column: Column,
  like: LikePattern,
  insensitive: boolean,
  memory: BatchMemory,
): Generator<void, Uint8Array> {
  const out = new Uint8Array(column.length);
  const textOf = utf8Reader(column);
  const wild = Math.max(1, longestWild(like));
  let work = 0;
  for (let row = 0; row < out.length; row++) {
    const text = textOf(row);
    if (text === null) {
      out[row] = UNKNOWN;
      continue;
    }
    const here = (2 + wild) * text.length;
    work += here;
    if (work >= STEP_WORK) {
      yield;
      work = 0;
    }
    if (here < SHORT_ROW_WORK) {
      const compared = insensitive ? drained(foldedInSteps(text)) : text;
      out[row] = matches(compared, 0, compared.length, like) ? TRUE : FALSE;
      continue;
    }
    const before = memory.used;
    memory.take(text.length);
    const compared = insensitive ? yield* foldedInSteps(text) : text;
    out[row] = (yield* matchesInSteps(compared, like)) ? TRUE : FALSE;
    memory.used = before;
  }
  return out;
}

/** Bytes of texts times those of a part with _ that are gone through at once, as each place may take as many. */
const WILD_WORK = 1 << 24;

/** Bytes of the longest part that is compared anew at each place of a text; 0 where none has _. */
const longestWild = ({ parts }: LikePattern): number =>
  parts
    .slice(1, -1)
    .filter(({ tokens, long }) => long === undefined && tokens.includes(ANY_ONE))
    .reduce((most, { tokens }) => Math.max(most, tokens.length), 0);

function textBytes({ starts, ends, length }: BytesColumn): number {
  let bytes = 0;
  for (let row = 0; row < length; row++) bytes += (ends[row] as number) - (starts[row] as number);
  return bytes;
}

/** Rows that are looked at together where texts lie one after the other. */
const BLOCK_ROWS = 64;

/** Whether one of the texts is long. Many short ones are told by where blocks of them begin and end. */
function hasLong({ starts, ends, length, dense }: BytesColumn): boolean {
  const step = dense ? BLOCK_ROWS : 1;
  for (let first = 0; first < length; first += step) {
    const next = Math.min(length, first + step);
    if ((ends[next - 1] as number) - (starts[first] as number) <= LONG_BYTES) continue;
    for (let row = first; row < next; row++) {
      if ((ends[row] as number) - (starts[row] as number) > LONG_BYTES) return true;
    }
  }
  return false;
}

/** What a part takes wherever it is found. */
const PART_WORK = 64;

/** As `matches`, of a whole text, and yields between some of the places that it looks at. */
function* matchesInSteps(data: Uint8Array, { parts }: LikePattern): Generator<void, boolean> {
  const from = matchAt(data, 0, data.length, (parts[0] as Part).tokens);
  if (parts.length === 1) return from === data.length;
  if (from < 0) return false;
  const until = matchBefore(data, from, data.length, (parts.at(-1) as Part).tokens);
  if (until < 0) return false;
  let at = from;
  let work = 0;
  for (let k = 1; k < parts.length - 1; k++) {
    const part = parts[k] as Part;
    const { tokens, long } = part;
    // A long part takes the time of the text alone; a short one is compared at each place.
    const places =
      long === undefined
        ? Math.max(1, Math.floor(STEP_WORK / tokens.length))
        : Math.max(STEP_WORK, tokens.length);
    for (;;) {
      const begun = at;
      at = find(data, begun, until, part, begun + places - 1);
      work += PART_WORK + (at < 0 ? STEP_WORK : ((at - begun) / places) * STEP_WORK);
      if (work >= STEP_WORK) {
        yield;
        work = 0;
      }
      if (at >= 0) break;
      at = begun + places;
      if (at + tokens.length > until) return false;
    }
  }
  return true;
}

function matchColumn(
  column: BytesColumn,
  like: LikePattern,
  insensitive: boolean,
  memory: BatchMemory,
): Uint8Array {
  const quick = insensitive ? containsInAnyCase(column, like) : null;
  if (quick !== null) return quick;
  const folded = insensitive ? inOneCase(column, false, memory) : null;
  if (folded !== null) return matchColumn(folded, like, false, memory);
  const { tokens: pattern } = like;
  const out = new Uint8Array(column.length);
  const first = pattern[0] === ANY_RUN;
  const last = pattern.at(-1) === ANY_RUN;
  const middle = pattern.subarray(
    first ? 1 : 0,
    pattern.length - (last && pattern.length > 1 ? 1 : 0),
  );
  if (first && pattern.length === 1) return out.fill(TRUE);
  const isLong = first && last && middle.length > SHORT_NEEDLE;
  if (insensitive || isLong || middle.some((token) => token < 0)) {
    return generalLoop(column, like, insensitive, out);
  }
  const needle = Uint8Array.from(middle);
  if (first && last) containsLoop(column, needle, out);
  else if (first) suffixLoop(column, needle, out);
  else if (last) prefixLoop(column, needle, out);
  else equalBytes(column, needle, out);
  return out;
}

/** The part of a pattern `%part%`, in bytes; null for others. */
function partOf({ parts }: LikePattern): Uint8Array | null {
  const [before, part, after] = parts;
  if (parts.length !== 3 || part === undefined || part.tokens.includes(ANY_ONE)) return null;
  if (before?.tokens.length !== 0 || after?.tokens.length !== 0) return null;
  return part.tokens.length === 0 ? null : Uint8Array.from(part.tokens);
}

/** A part in lower case, looked for in texts of ASCII many at once; null where the kernels cannot. */
function containsInAnyCase(column: BytesColumn, like: LikePattern): Uint8Array | null {
  const part = partOf(like);
  if (part === null || part.length > MOST_PART || !column.dense) return null;
  if (column.length < KERNEL_ROWS) return null;
  const out = new Uint8Array(column.length);
  const highs = new Uint8Array(column.length);
  if (textKernels()?.contains(column, part, out, highs) !== true) return null;
  const others = countOf(highs);
  // Many letters of other scripts are changed together.
  if (others > column.length / 64) return null;
  if (others === 0) return out;
  const { data, starts, ends } = column;
  for (let row = highs.indexOf(1); row >= 0; row = highs.indexOf(1, row + 1)) {
    const text = drained(foldedInSteps(data.subarray(starts[row], ends[row])));
    out[row] = matches(text, 0, text.length, like) ? TRUE : FALSE;
  }
  return out;
}

function countOf(flags: Uint8Array): number {
  let count = 0;
  for (let i = 0; i < flags.length; i++) count += flags[i] as number;
  return count;
}

function prefixLoop(column: BytesColumn, needle: Uint8Array, out: Uint8Array): void {
  const { data, starts, ends } = column;
  const size = needle.length;
  for (let i = 0; i < out.length; i++) {
    const start = starts[i] as number;
    let k = 0;
    if ((ends[i] as number) - start >= size) while (k < size && data[start + k] === needle[k]) k++;
    out[i] = k === size ? TRUE : FALSE;
  }
}

function suffixLoop(column: BytesColumn, needle: Uint8Array, out: Uint8Array): void {
  const { data, starts, ends } = column;
  const size = needle.length;
  for (let i = 0; i < out.length; i++) {
    const start = (ends[i] as number) - size;
    let k = 0;
    if (start >= (starts[i] as number)) while (k < size && data[start + k] === needle[k]) k++;
    out[i] = k === size ? TRUE : FALSE;
  }
}

/** With fewer rows the way into the kernels costs more than the loop. */
const KERNEL_ROWS = 64;

/** A native search over the whole buffer pays off while matches are few. */
const SAMPLE = 256;

function containsLoop(column: BytesColumn, needle: Uint8Array, out: Uint8Array): void {
  const { data, starts, ends, length } = column;
  const size = needle.length;
  if (size === 0) {
    out.fill(TRUE);
    return;
  }
  if (column.dense && length >= KERNEL_ROWS && size <= MOST_PART) {
    if (textKernels()?.contains(column, needle, out) === true) return;
  }
  let row = 0;
  if (column.dense && length > 0) {
    const bytes = Buffer.from(data.buffer, data.byteOffset, ends[length - 1]);
    let at = starts[0] as number;
    for (let searches = 1; ; searches++) {
      at = bytes.indexOf(needle, at);
      if (at < 0) return;
      while ((ends[row] as number) <= at) row++;
      // A match that runs over the end of a row is none.
      if (at >= (starts[row] as number) && at + size <= (ends[row] as number)) {
        out[row] = TRUE;
        at = ends[row] as number;
        row++;
        if (row === length) return;
      } else at++;
      if (searches % SAMPLE === 0 && row < searches * 24) break;
    }
  }
  const lead = needle[0] as number;
  for (; row < length; row++) {
    const stop = (ends[row] as number) - size;
    let hit = FALSE;
    for (let p = starts[row] as number; p <= stop; p++) {
      if (data[p] !== lead) continue;
      let k = 1;
      while (k < size && data[p + k] === needle[k]) k++;
      if (k === size) {
        hit = TRUE;
        break;
      }
    }
    if (hit === TRUE) out[row] = TRUE;
  }
}

function generalLoop(
  column: BytesColumn,
  pattern: LikePattern,
  insensitive: boolean,
  out: Uint8Array,
): Uint8Array {
  const { data, starts, ends } = column;
  const bytes = Buffer.from(data.buffer, data.byteOffset, data.byteLength);
  for (let i = 0; i < out.length; i++) {
    const start = starts[i] as number;
    const end = ends[i] as number;
    if (!insensitive) out[i] = matches(data, start, end, pattern) ? TRUE : FALSE;
    else {
      const lower = Buffer.from(lowerText(bytes.toString('utf8', start, end)));
      out[i] = matches(lower, 0, lower.length, pattern) ? TRUE : FALSE;
    }
  }
  return out;
}

function matchValues(column: Column, pattern: LikePattern, insensitive: boolean): Uint8Array {
  const out = new Uint8Array(column.length);
  const read = reader(column);
  for (let i = 0; i < out.length; i++) {
    const value = read(i) ?? null;
    if (value === null) out[i] = UNKNOWN;
    else {
      const text = Buffer.from(insensitive ? lowerText(String(value)) : String(value));
      out[i] = matches(text, 0, text.length, pattern) ? TRUE : FALSE;
    }
  }
  return out;
}

/** What a row with a pattern of its own takes beside its bytes, and what a byte of the pattern takes. */
const ROW_WORK = 1 << 10;
const PATTERN_BYTE_WORK = 8;
/** A row of less work is gone through at once. */
const SHORT_ROW_WORK = 1 << 16;

/** Each row has a pattern of its own: compiled for it, and matched, in steps of about as much work. */
function* rowPatternsInSteps(
  column: Column,
  pattern: Column,
  escaping: string,
  insensitive: boolean,
  memory: BatchMemory,
): Generator<void, Uint8Array> {
  const out = new Uint8Array(column.length);
  const [textOf, patternOf] = [utf8Reader(column), utf8Reader(pattern)];
  let work = 0;
  for (let row = 0; row < out.length; row++) {
    const text = textOf(row);
    const tokens = text === null ? null : patternOf(row);
    if (text === null || tokens === null) {
      out[row] = UNKNOWN;
      continue;
    }
    const here = ROW_WORK + 2 * text.length + PATTERN_BYTE_WORK * tokens.length;
    work += here;
    if (work >= STEP_WORK) {
      yield;
      work = 0;
    }
    if (here < SHORT_ROW_WORK) {
      out[row] = isRowLike(text, tokens, escaping, insensitive) ? TRUE : FALSE;
      continue;
    }
    const before = memory.used;
    memory.take((insensitive ? text.length : 0) + compiledBytes(tokens, escaping, insensitive));
    const like = yield* compiledInSteps(tokens, escaping, insensitive);
    const folded = insensitive ? yield* foldedInSteps(text) : text;
    work += Math.max(1, longestWild(like)) * text.length;
    out[row] = (yield* matchesInSteps(folded, like)) ? TRUE : FALSE;
    memory.used = before;
  }
  return out;
}

function isRowLike(
  text: Uint8Array,
  pattern: Uint8Array,
  escaping: string,
  insensitive: boolean,
): boolean {
  const like = drained(compiledInSteps(pattern, escaping, insensitive));
  const compared = insensitive ? drained(foldedInSteps(text)) : text;
  return matches(compared, 0, compared.length, like);
}

/** Texts as UTF-8, null where a row has none. */
function utf8Reader(column: Column): (row: number) => Uint8Array | null {
  if (column.form === 'bytes') {
    const { data, starts, ends, valid } = column;
    return (row) =>
      valid !== null && valid[row] === 0 ? null : data.subarray(starts[row], ends[row]);
  }
  const read = reader(column);
  return (row) => {
    const value = read(row) ?? null;
    return value === null ? null : Buffer.from(String(value));
  };
}
