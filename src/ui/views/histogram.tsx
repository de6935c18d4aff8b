/**
 * `Histogram` draws counts as bars of one width, with the first and the last edge below. The title
 * of a bar shows its count and its range, or its value if there is one edge for each count.
 */
import { count } from '../base/index.ts';

export interface HistogramProps {
  readonly label: string;
  /** The beginnings of the buckets and the end of the last; or, if there are as many as counts, the values counted. */
  readonly edges: readonly string[];
  readonly counts: readonly number[];
}

const [WIDTH, HEIGHT] = [240, 48];

export function Histogram({ label, edges, counts }: HistogramProps) {
  const most = Math.max(1, ...counts);
  const step = WIDTH / Math.max(1, counts.length);
  return (
    <figure class="histogram">
      <svg
        viewBox={`0 0 ${WIDTH} ${HEIGHT}`}
        width={WIDTH}
        height={HEIGHT}
        role="img"
        aria-label={`Histogram of ${label}, from ${edges[0]} to ${edges.at(-1)}`}
      >
        {counts.map((own, at) => {
          // What is there is seen, however little it is.
          const height = own === 0 ? 0 : Math.max(1, (own / most) * HEIGHT);
          return (
            <rect
              key={at}
              x={at * step}
              y={HEIGHT - height}
              width={Math.max(1, step - 1)}
              height={height}
            >
              <title>{`${rangeOf(edges, counts, at)}: ${count(own)}`}</title>
            </rect>
          );
        })}
      </svg>
      <figcaption>
        <span>{edges[0]}</span>
        <span>{edges.at(-1)}</span>
      </figcaption>
    </figure>
  );
}

function rangeOf(edges: readonly string[], counts: readonly number[], at: number): string {
  return edges.length > counts.length ? `${edges[at]} to ${edges[at + 1]}` : String(edges[at]);
}
