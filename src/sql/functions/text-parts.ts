/**
 * Computes translate, overlay and string_split (`TEXT_PART_FUNCTIONS`), and slices of texts
 * (`textSlice`), whose bounds `sliceOf` resolves. Characters are code points. translate and
 * string_split process long texts in steps. overlay throws InvalidInput for a place before the
 * first character.
 */

import { DirspaceError } from '../../errors.ts';
import type { BatchMemory } from '../../request-memory.ts';
import { drained } from '../../steps.ts';
import type { RowFunction, Value } from '../typed/index.ts';
import { eachPlace, Joining } from './long-texts.ts';
import { type ComputeInSteps, STEP_UNITS, strict } from './rows.ts';
import { points, slicePoints } from './strings.ts';

/** Bytes of a list of texts, and of each of its items apart from its text. */
export const TEXT_LIST_BYTES = 32;
export const LISTED_TEXT_BYTES = 48;

/** Characters of the second text become those at the same place of the third, or are left out. */
const translate: ComputeInSteps = function* ([value, from, to], _type, memory) {
  const text = value as string;
  memory.text(2 * text.length);
  const others = Array.from(to as string);
  const changes = new Map<string, string>();
  for (const [at, one] of Array.from(from as string).entries()) {
    if (!changes.has(one)) changes.set(one, others[at] ?? '');
  }
  const made = new Joining();
  let since = 0;
  for (const one of text) {
    made.add(changes.get(one) ?? one);
    if (++since % STEP_UNITS === 0) yield;
  }
  return made.text();
};

/** The parts between separators; without a separator, the characters. */
const split: ComputeInSteps = function* ([value, separator], _type, memory) {
  const [text, by] = [value as string, separator as string];
  memory.take(TEXT_LIST_BYTES);
  const parts: string[] = [];
  if (by === '') {
    for (const one of text) {
      if (parts.length % STEP_UNITS === STEP_UNITS - 1) yield;
      add(parts, one, memory);
    }
    if (text === '') add(parts, '', memory);
    return parts;
  }
  let from = 0;
  yield* eachPlace(text, by, (at) => {
    add(parts, text.slice(from, at), memory);
    from = at + by.length;
    return true;
  });
  add(parts, text.slice(from), memory);
  return parts;
};

/** Puts a text in place of characters from a place on: as many as it has itself, unless told. */
const overlay: RowFunction = strict(
  'overlay',
  ([value, by, from, count], _type, memory) => {
    const [text, other] = [value as string, by as string];
    const start = Number(from);
    if (start < 1) {
      throw new DirspaceError(
        'InvalidInput',
        `overlay begins at character 1 or later, not at ${start}`,
      );
    }
    const length = points(text);
    const end = start - 1 + (count === undefined ? points(other) : Number(count));
    const before = slicePoints(text, 0, start - 1);
    // With a count below 0, characters of the text come both before and behind the other one.
    const behind = slicePoints(text, Math.max(0, end), Math.max(end, length));
    memory.text(before.length + other.length + behind.length);
    return `${before}${other}${behind}`;
  },
  { fallible: true },
);

function add(parts: string[], part: string, memory: BatchMemory): void {
  memory.take(LISTED_TEXT_BYTES + 2 * part.length);
  parts.push(part);
}

/**
 * Where a slice begins and ends, from 0: both bounds count from 1, or from the end where they are
 * negative, and the end is of the slice too.
 */
export function sliceOf(length: number, first: Value, last: Value): [from: number, to: number] {
  const [begin, end] = [Number(first), Number(last)];
  const from = begin > 0 ? begin - 1 : begin < 0 ? Math.max(0, length + begin) : 0;
  const to = end < 0 ? length + end + 1 : Math.min(length, end);
  return [from, Math.max(from, to)];
}

export const TEXT_PART_FUNCTIONS: Readonly<Record<string, RowFunction>> = {
  overlay,
  translate: strict('translate', (args, type, memory) => drained(translate(args, type, memory)), {
    long: translate,
  }),
  string_split: strict('string_split', (args, type, memory) => drained(split(args, type, memory)), {
    long: split,
  }),
};

/** array_slice of a text. */
export const textSlice: RowFunction = strict('array_slice', ([value, first, last]) => {
  const text = value as string;
  const [from, to] = sliceOf(points(text), first as Value, last as Value);
  return slicePoints(text, from, to);
});
