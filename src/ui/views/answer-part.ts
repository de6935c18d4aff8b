/**
 * `partOf`: chooses the columns and the number of rows of an SQL answer that its table shows. All
 * of a table's cells are elements of the page, which a browser draws some ten thousand of without
 * delay; `partText` says what of the answer is shown. Downloads and charts use the whole answer.
 */
import { count, counted } from '../base/index.ts';

export const MOST_COLUMNS = 60;
export const MOST_CELLS = 20_000;

export interface AnswerPart {
  readonly columns: number;
  readonly rows: number;
}

/** The first rows and columns; at least one row, where there is one. */
export function partOf(columns: number, rows: number): AnswerPart {
  const shown = Math.min(columns, MOST_COLUMNS);
  return { columns: shown, rows: Math.min(rows, Math.floor(MOST_CELLS / Math.max(1, shown))) };
}

/** @param isCut whether the statement gives more rows than the answer has */
export function partText(part: AnswerPart, columns: number, rows: number, isCut: boolean): string {
  const ofRows = counted(part.rows, 'row');
  const told = isCut || part.rows < rows ? `The first ${ofRows}` : ofRows;
  return part.columns === columns
    ? told
    : `${told}, ${count(part.columns)} of ${counted(columns, 'column')}`;
}
