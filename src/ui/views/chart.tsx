/**
 * `Chart` draws rows as bars, a line or points, with the heights from the column `y`. Bars stand
 * in the order of the rows; lines and points stand at the numbers in the column `x`; if any cell of
 * it is no number, they stand in row order, as bars do. Rows without a number in `y` are left out,
 * and so are bars beyond the first 240; the caption counts them. `numberOf` reads the number of a
 * cell.
 */
import { counted, short } from '../base/index.ts';

export type ChartKind = 'bar' | 'line' | 'scatter';
export type ChartCell = string | number | boolean | null;

export interface ChartProps {
  readonly kind: ChartKind;
  readonly label: string;
  /** Places from left to right, one a row. */
  readonly x: readonly ChartCell[];
  readonly y: readonly ChartCell[];
}

const [WIDTH, HEIGHT, EDGE] = [720, 300, 44];
/** Bars that can be told apart. */
const MOST_BARS = 240;

/** The number that a cell is, or that its text is. */
export function numberOf(cell: ChartCell | undefined): number {
  if (typeof cell === 'number') return cell;
  return typeof cell === 'string' && /^-?\d+(\.\d+)?(e[+-]?\d+)?$/i.test(cell)
    ? Number(cell)
    : Number.NaN;
}

interface Point {
  readonly at: number;
  readonly value: number;
  readonly title: string;
}

export function Chart({ kind, label, x, y }: ChartProps) {
  const isNumeric = kind !== 'bar' && x.every((cell) => !Number.isNaN(numberOf(cell)));
  const all = x.map((cell, row): Point => {
    const value = numberOf(y[row]);
    return {
      at: isNumeric ? numberOf(cell) : row,
      value,
      title: `${cell ?? 'null'}: ${short(value)}`,
    };
  });
  const points = all.filter(({ value }) => Number.isFinite(value));
  const shown = kind === 'bar' ? points.slice(0, MOST_BARS) : points;
  if (shown.length === 0) return <p class="note">There are no numbers to draw.</p>;
  const ordered = kind === 'line' && isNumeric ? shown.toSorted((a, b) => a.at - b.at) : shown;
  const values = shown.map(({ value }) => value);
  const [low, high] = spread(
    kind === 'scatter' ? Math.min(...values) : Math.min(0, ...values),
    kind === 'scatter' ? Math.max(...values) : Math.max(0, ...values),
  );
  const places = shown.map(({ at }) => at);
  const [left, right] = spread(Math.min(...places), Math.max(...places));
  const up = (value: number): number =>
    HEIGHT - EDGE / 2 - ((value - low) / (high - low)) * (HEIGHT - EDGE);
  const along = (at: number): number =>
    EDGE + ((at - left) / (right - left)) * (WIDTH - EDGE * 1.5);
  const step = (WIDTH - EDGE * 1.5) / shown.length;
  const missing = x.length - shown.length;
  return (
    <figure class="chart">
      <svg viewBox={`0 0 ${WIDTH} ${HEIGHT}`} role="img" aria-label={label}>
        {[low, (low + high) / 2, high].map((value, at) => (
          <g key={at} class="rule">
            <line x1={EDGE} x2={WIDTH} y1={up(value)} y2={up(value)} />
            <text x={EDGE - 6} y={up(value) + 4} text-anchor="end">
              {short(value)}
            </text>
          </g>
        ))}
        {kind === 'line' ? (
          <polyline
            points={ordered.map(({ at, value }) => `${along(at)},${up(value)}`).join(' ')}
          />
        ) : null}
        {kind === 'bar'
          ? shown.map(({ value, title }, row) => (
              <rect
                key={`${row} ${title}`}
                x={EDGE + row * step}
                y={Math.min(up(value), up(0))}
                width={Math.max(1, step - 1)}
                height={Math.max(1, Math.abs(up(value) - up(0)))}
              >
                <title>{title}</title>
              </rect>
            ))
          : ordered.map(({ at, value, title }, row) => (
              <circle key={`${row} ${title}`} cx={along(at)} cy={up(value)} r={3}>
                <title>{title}</title>
              </circle>
            ))}
      </svg>
      <figcaption>
        {counted(shown.length, 'row')} drawn
        {missing === 0 ? '' : `; ${missing} more have no number, or no room`}
      </figcaption>
    </figure>
  );
}

/** Two ends that are apart. */
const spread = (low: number, high: number): readonly [number, number] =>
  low < high ? [low, high] : [low - 0.5, high + 0.5];
