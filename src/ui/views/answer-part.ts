/**
 * `partOf` chooses how many columns and rows of an SQL answer its table shows: at most 60 columns
 * and 20,000 cells, because a browser is slow with more. `partText` says which part is shown.
 * Downloads and charts are not limited by it.
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
