/**
 * Selects rows by truth values: `selectedRows` returns the numbers of the true rows, and
 * `countSelected` how many there are. Unknown counts as not true. `rowsWhere` returns the true rows
 * or all others, as numbers of rows or as the entries of a given list of rows, and `everyRow` the
 * numbers of all rows.
 */
import { consecutive } from '../../arrow/index.ts';
import { TRUE } from '../typed/index.ts';
import { numberKernels } from './number-kernels.ts';

/** With fewer rows, a loop over bytes is faster than making a view of words. */
const FEW = 64;

/** Rows whose byte is TRUE, in order. */
export function selectedRows(truth: Uint8Array): Uint32Array {
  const count = countSelected(truth);
  if (count === truth.length) return everyRow(count);
  const kernels = numberKernels(truth.length);
  if (kernels !== null) return kernels.trueRows(truth, count);
  const rows = new Uint32Array(count);
  let k = 0;
  if (truth.length < FEW) {
    for (let i = 0; i < truth.length; i++) if (truth[i] === TRUE) rows[k++] = i;
    return rows;
  }
  const words = wordsOf(truth);
  const whole = words.length;
  // Four rows at a time: most of them, mostly, are not wanted.
  for (let w = 0; w < whole; w++) {
    const word = words[w] as number;
    if ((word & 0x02020202) === 0) continue;
    const i = w * 4;
    if (truth[i] === TRUE) rows[k++] = i;
    if (truth[i + 1] === TRUE) rows[k++] = i + 1;
    if (truth[i + 2] === TRUE) rows[k++] = i + 2;
    if (truth[i + 3] === TRUE) rows[k++] = i + 3;
  }
  for (let i = whole * 4; i < truth.length; i++) if (truth[i] === TRUE) rows[k++] = i;
  return rows;
}

/** Those of `rows`, or of all, that are true, or are not. */
export function rowsWhere(
  truth: Uint8Array,
  isTrue: boolean,
  rows: Uint32Array | null,
): Uint32Array {
  const count = countSelected(truth);
  const found = new Uint32Array(isTrue ? count : truth.length - count);
  for (let k = 0, at = 0; at < found.length; k++) {
    if ((truth[k] === TRUE) === isTrue) found[at++] = rows === null ? k : (rows[k] as number);
  }
  return found;
}

export const everyRow = (length: number): Uint32Array => consecutive(0, length);

export function countSelected(truth: Uint8Array): number {
  const kernels = numberKernels(truth.length);
  if (kernels !== null) return kernels.count(truth, TRUE);
  let count = 0;
  if (truth.length < FEW) {
    for (let i = 0; i < truth.length; i++) if (truth[i] === TRUE) count++;
    return count;
  }
  const words = wordsOf(truth);
  const whole = words.length;
  for (let w = 0; w < whole; w++) {
    // Bit 1 of each byte says TRUE; the product gathers the four bits in the top byte.
    const ones = ((words[w] as number) >>> 1) & 0x01010101;
    count += Math.imul(ones, 0x01010101) >>> 24;
  }
  for (let i = whole * 4; i < truth.length; i++) if (truth[i] === TRUE) count++;
  return count;
}

/** The bytes four by four, without the last few; none where they do not begin at a word. */
const wordsOf = (truth: Uint8Array): Uint32Array =>
  truth.byteOffset % 4 === 0
    ? new Uint32Array(truth.buffer, truth.byteOffset, truth.length >> 2)
    : new Uint32Array(0);
