/** What a run prints and writes: one line for each row, and a last one with the sums. */
import type { ListedRow } from './rows.ts';

export interface RowResult {
  readonly row: string;
  readonly cases: number;
  readonly violations: number;
  readonly seconds: number;
  readonly seed: number;
  /** Why it did not run. */
  readonly skipped?: string;
  readonly note?: string;
}

const WIDTHS = [34, 9, 10, 8, 10] as const;

const line = (verdict: string, cells: readonly unknown[], rest = ''): string =>
  [
    verdict.padEnd(4),
    ...cells.map((cell, at) => {
      const width = WIDTHS[at] ?? 0;
      return at === 0 ? String(cell).padEnd(width) : String(cell).padStart(width);
    }),
    rest,
  ]
    .join(' ')
    .trimEnd();

export const heading = (): string => line('', ['row', 'cases', 'violations', 'seconds', 'seed']);

export function tableLine(result: RowResult): string {
  const { row, cases, violations, seconds, seed, skipped, note } = result;
  const verdict = violations > 0 ? 'FAIL' : skipped === undefined ? 'ok' : '-';
  const rest = [skipped === undefined ? undefined : `not run: ${skipped}`, note];
  const text = rest.filter((part) => part !== undefined).join('; ');
  return line(verdict, [row, cases, violations, seconds.toFixed(1), seed], ` ${text}`);
}

/** The sums: rows, violations, and the kinds of cases that are counted over all rows. */
export function lastLine(
  results: readonly RowResult[],
  listed: readonly ListedRow[],
  seconds: number,
): string {
  const sum = (kind: ListedRow['cases']): number => {
    const rows = new Set(listed.filter(({ cases }) => cases === kind).map(({ row }) => row));
    return results.reduce((total, { row, cases }) => total + (rows.has(row) ? cases : 0), 0);
  };
  const violations = results.reduce((total, result) => total + result.violations, 0);
  const idle = results.filter(({ skipped }) => skipped !== undefined).length;
  return [
    `${results.length - idle} rows in ${Math.round(seconds)} s`,
    `${violations} violations`,
    `${sum('SIGKILLs')} SIGKILLs`,
    `${sum('fuzzed inputs')} fuzzed inputs`,
    ...(idle === 0 ? [] : [`${idle} rows not run`]),
  ].join(', ');
}

/** The document of `--json`. */
export const jsonOf = (results: readonly RowResult[]): string =>
  `${JSON.stringify(
    {
      rows: results.map(({ row, cases, violations, seconds, seed, skipped }) => ({
        row,
        cases,
        violations,
        seconds: Number(seconds.toFixed(1)),
        seed,
        ...(skipped === undefined ? {} : { skipped }),
      })),
    },
    null,
    2,
  )}\n`;
