/**
 * `statsText` formats the profile of a table for `dirspace describe --stats`, with one line for
 * each column, and a note whether all rows or a sample were looked at. On a terminal that is wide
 * enough, it adds small histograms (`sparkline`). `statsBuckets` is the number of histogram buckets
 * to ask for.
 */
import type { ColumnProfile, TableProfile } from '../../sdk/index.ts';
import {
  alignedLine,
  columns,
  counted,
  shortCell,
  type Terminals,
  widthsOf,
} from '../terminal/index.ts';

const BARS = '▁▂▃▄▅▆▇█';
/** The width of a terminal that does not tell its own. */
const WIDTH = 80;
const MOST_BARS = 32;
const LEAST_BARS = 8;
/** Columns of a value. */
const VALUE = 24;

const HEAD = ['COLUMN', 'NULLS', 'DISTINCT', 'MIN', 'MAX', 'MEAN', 'MOST FREQUENT'];

/** Buckets that are worth asking for. */
export const statsBuckets = MOST_BARS;

export function statsText(profile: TableProfile, { output, columns: width }: Terminals): string {
  const rows = profile.columns.map((column) => cellsOf(column, profile));
  const text = columns(HEAD, rows);
  if (!output) return `${text}\n\n${noteOf(profile)}`;
  const lines = text.split('\n');
  const [widest = 0] = widthsOf(lines.map((line) => [line]));
  const room = Math.min(MOST_BARS, (width ?? WIDTH) - widest - 2);
  if (room < LEAST_BARS) return `${text}\n\n${noteOf(profile)}`;
  const shown = lines.map((line, at) => {
    const column = profile.columns[at - 1];
    const last = column === undefined ? 'HISTOGRAM' : sparkline(column, room);
    return alignedLine([line, last], [widest]);
  });
  return `${shown.join('\n')}\n\n${noteOf(profile)}`;
}

/** Bars of the counts, at most so many: neighbouring ones are added up. */
export function sparkline({ histogram }: ColumnProfile, most: number): string {
  const counts = histogram?.counts ?? [];
  const joined = Math.ceil(counts.length / most);
  const sums: number[] = [];
  for (let at = 0; at < counts.length; at += joined) {
    sums.push(counts.slice(at, at + joined).reduce((sum, count) => sum + count, 0));
  }
  const highest = Math.max(...sums, 1);
  // An empty bucket is a gap; one with a single row of many is the lowest bar.
  return sums
    .map((count) => (count === 0 ? ' ' : BARS[Math.ceil((count / highest) * BARS.length) - 1]))
    .join('');
}

function cellsOf(column: ColumnProfile, { sampled }: TableProfile): unknown[] {
  const { name, nulls, allNulls, rows, distinct, distinctExact, boundsExact, min, max } = column;
  const known = allNulls ?? nulls;
  const share = sampled && allNulls === undefined && rows > 0 ? percent(nulls / rows) : known;
  const mark = boundsExact || min === null ? '' : '~';
  const [most] = column.top;
  const cell = (value: unknown): string =>
    value === null || value === undefined ? '' : shortCell(value, VALUE);
  return [
    name,
    share,
    `${distinctExact ? '' : '~'}${distinct}`,
    `${mark}${cell(min)}`,
    `${mark}${cell(max)}`,
    typeof column.mean === 'number' ? Number(column.mean.toPrecision(6)) : column.mean,
    most === undefined ? '' : `${cell(most.value)} (${percent(most.count / Math.max(1, rows))})`,
  ];
}

const percent = (share: number): string => `${Number((share * 100).toPrecision(3))}%`;

function noteOf({ sampled, rows, rowsExact, rowsScanned, elapsedMs }: TableProfile): string {
  const all = `${rowsExact ? '' : '~'}${counted(rows, 'row')}`;
  if (!sampled) return `Exact, of ${all}, in ${elapsedMs} ms.`;
  return `A sample: ${counted(rowsScanned, 'row')} of ${all} were looked at in ${elapsedMs} ms; ~ marks estimates. Give --budget MS for more.`;
}
