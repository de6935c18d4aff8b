/**
 * Finds the shortest way to write a float of 32 or 16 bits. `shortestSingle` and `shortestHalf`
 * return the double with the fewest decimal digits that rounds to the same float, such as 0.1 in
 * place of 0.10000000149011612.
 */
import { nearestHalf } from './half.ts';

export const shortestSingle = (value: number): number => shortest(value, Math.fround, 6, 9);

export const shortestHalf = (value: number): number => shortest(value, nearestHalf, 3, 5);

/** @param least digits that every float of the kind keeps @param most digits that tell all apart */
function shortest(
  value: number,
  nearest: (value: number) => number,
  least: number,
  most: number,
): number {
  const wanted = nearest(value);
  for (let digits = least; digits <= most; digits++) {
    const short = Number(value.toPrecision(digits));
    if (nearest(short) === wanted) return short;
  }
  return value;
}
