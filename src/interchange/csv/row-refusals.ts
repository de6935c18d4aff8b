/**
 * Explains why a row of CSV cannot be read. `whyRefused` returns the reason. `adviceFor` and
 * `OTHER_ENCODING` tell the caller what to do about it; this advice is added to the error that ends
 * the reading. It names options of the SDK, which the command line replaces by its own.
 */
import type { RecordProblem } from './csv-scanner.ts';

const counted = (fields: number): string => (fields === 1 ? '1 field' : `${fields} fields`);

/** @param columns that a row should have */
export function whyRefused(problem: RecordProblem, fields: number, columns: number): string {
  const count = `the row has ${counted(fields)} where ${columns} are expected`;
  return {
    fewer: count,
    more: count,
    'after quote':
      'text follows the closing quote of a field; a quote in a quoted field is written twice',
    'open quote': 'the quote that begins here is not closed',
  }[problem];
}

const ASIDE = 'onReject takes such rows aside.';
const BEFORE_HEADER = ' Lines before the header are passed over by skipLines.';
const ADVICE: Readonly<Record<RecordProblem, string>> = {
  fewer: ` With ragged 'pad' the others are null; ${ASIDE}`,
  more: ` ${ASIDE}`,
  'after quote': ` A file without quotes is read with quote ''; ${ASIDE}`,
  'open quote': " A file without quotes is read with quote ''.",
};

/** Begins with a space. If there is one column, a title line above the header is the likely reason. */
export const adviceFor = (problem: RecordProblem, columns: number): string =>
  columns === 1 && problem === 'more' ? BEFORE_HEADER : ADVICE[problem];

export const OTHER_ENCODING = ` Give its encoding, such as latin1; ${ASIDE}`;
