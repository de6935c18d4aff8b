/**
 * How far tests go that look at many cases: `npm run test:long` looks at all of them, `npm test` at
 * as many as find what has ever been found.
 */
const LONG = process.env.TEST_LONG === '1';

/** The number of cases of this run. */
export const casesOf = (usual: number, long: number): number => (LONG ? long : usual);

/** The bits of so many bytes, or of each byte one or two, of all significances. */
export function* bitsOf(bytes: number): Generator<number> {
  for (let bit = 0; bit < bytes * 8; bit += LONG ? 1 : 7) yield bit;
}
