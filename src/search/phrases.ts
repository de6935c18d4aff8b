/**
 * `hasPhrase`: tells in steps whether the words of a phrase follow each other in a document, by the
 * positions of each. At each gap between two words there may be up to `slop` positions more than in
 * the phrase.
 */

/** Growing list of numbers that is used again for the next document. */
export interface PositionList {
  values: Uint32Array;
  count: number;
}

/** Positions between two steps. */
const STEP = 1 << 16;

/** @param gaps positions from each word to the next one, in the phrase */
export function* hasPhrase(
  words: readonly PositionList[],
  gaps: readonly number[],
  slop: number,
): Generator<void, boolean> {
  const [first] = words as [PositionList];
  let reached = first.values.subarray(0, first.count);
  let sinceStep = 0;
  for (let word = 1; word < words.length; word++) {
    const { values, count } = words[word] as PositionList;
    const gap = gaps[word - 1] as number;
    const next = new Uint32Array(count);
    let found = 0;
    // Both ascend: a position is reached from the last one before it that is near enough.
    let from = 0;
    for (let at = 0; at < count; at++) {
      const position = values[at] as number;
      while (from < reached.length && (reached[from] as number) + gap + slop < position) from += 1;
      if (from < reached.length && (reached[from] as number) + gap <= position) {
        next[found++] = position;
      }
    }
    if (found === 0) return false;
    sinceStep += reached.length + count + 16;
    reached = next.subarray(0, found);
    if (sinceStep < STEP) continue;
    sinceStep = 0;
    yield;
  }
  return reached.length > 0;
}
