/** Doubles that comparisons are easily wrong about. */
export const EDGE_DOUBLES: readonly number[] = [
  Number.NEGATIVE_INFINITY,
  -Number.MAX_VALUE,
  -1.5,
  -Number.MIN_VALUE,
  -0,
  0,
  Number.MIN_VALUE,
  1 - 2 ** -53,
  1,
  1 + 2 ** -52,
  Number.MAX_VALUE,
  Number.POSITIVE_INFINITY,
  Number.NaN,
];
