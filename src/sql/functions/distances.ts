/**
 * Computes the function levenshtein: the least number of characters (code points) to insert, remove
 * or replace to make one text into another. The time grows with the product of both lengths. So it
 * works in steps, and a text of more than 16,384 characters throws InvalidInput.
 */
import { DirspaceError } from '../../errors.ts';
import type { RowFunction } from '../typed/index.ts';
import { type ComputeInSteps, strictInSteps } from './rows.ts';

/** Characters of each text. */
const MOST = 1 << 14;
/** Pairs of characters between two steps. */
const STEP_PAIRS = 1 << 18;
/** Pairs since the last step, which may have been those of other rows. */
let pairs = 0;

const distance: ComputeInSteps = function* ([left, right]) {
  const [a, b] = [pointsOf(left as string), pointsOf(right as string)];
  // Numbers of changes for the beginning of one text and each beginning of the other.
  const changes = new Int32Array(b.length + 1).map((_, at) => at);
  for (let row = 1; row <= a.length; row++) {
    let before = changes[0] as number;
    changes[0] = row;
    for (let at = 1; at <= b.length; at++) {
      const replaced = before + (a[row - 1] === b[at - 1] ? 0 : 1);
      before = changes[at] as number;
      changes[at] = Math.min(replaced, before + 1, (changes[at - 1] as number) + 1);
    }
    pairs += 1 + b.length;
    if (pairs < STEP_PAIRS) continue;
    pairs = 0;
    yield;
  }
  return BigInt(changes[b.length] as number);
};

function pointsOf(text: string): Int32Array {
  // Code units are at most twice as many.
  const points =
    text.length > 2 * MOST ? [] : Array.from(text, (one) => one.codePointAt(0) as number);
  if (text.length > 2 * MOST || points.length > MOST) {
    throw new DirspaceError(
      'InvalidInput',
      `levenshtein takes texts of at most ${MOST} characters; this one has ${text.length > 2 * MOST ? 'more' : points.length}.`,
    );
  }
  return Int32Array.from(points);
}

export const levenshtein: RowFunction = {
  ...strictInSteps('levenshtein', distance),
  takesAnyTime: true,
};
