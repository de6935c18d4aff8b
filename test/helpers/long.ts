/**
 * How far tests go that look at many cases: `npm run test:long` looks at all of them, other
 * runs at as many as find what has ever been found.
 */
/** Whether this is a run of all cases. */
export const LONG = process.env.TEST_LONG === '1';

/** The number of cases of this run, or the cases. */
export const casesOf = <Cases>(usual: Cases, long: Cases): Cases => (LONG ? long : usual);

/** Places at either end of a range that every run looks at. */
const ENDS = 8;

/** The places below `count`: all of them, or those at both ends and every `step`th between them, from `first` on. */
export function* placesOf(count: number, step: number, first = 0): Generator<number> {
  for (let at = 0; at < count; at += 1) {
    if (LONG || at < ENDS || at >= count - ENDS || at % step === first % step) yield at;
  }
}

/** The bits of so many bytes, or of every third or fourth byte one, of all significances. */
export const bitsOf = (bytes: number, step = 43, first = 0): Generator<number> =>
  placesOf(bytes * 8, step, first);
