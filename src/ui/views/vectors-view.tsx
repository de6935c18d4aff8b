/**
 * `VectorsView` shows a column of vectors: the lengths (norms) of a sample as a histogram, and the
 * sample as points on a plane. It also shows the rows whose vectors are nearest to that of one row,
 * which the reader chooses by a click on its point or by its row id.
 */
import {
  Answered,
  changed,
  count,
  isVector,
  pinned,
  short,
  useAnswer,
  type ViewProps,
} from '../base/index.ts';
import { Histogram } from './histogram.tsx';

interface Sample {
  readonly dimensions: number;
  readonly rows: number;
  readonly sampled: number;
  readonly ids: readonly string[];
  readonly norms: readonly number[];
  readonly x: readonly number[];
  readonly y: readonly number[];
}

interface Found {
  readonly columns: readonly { readonly name: string }[];
  readonly rows: readonly (readonly (string | number | boolean | null)[])[];
}

const [WIDTH, HEIGHT, EDGE, BUCKETS] = [560, 360, 8, 24];

export function VectorsView(props: ViewProps) {
  const { facts, location, go } = props;
  const names = (facts.described.schema?.fields ?? []).filter(isVector).map(({ name }) => name);
  const column = names.find((name) => name === location.query.column) ?? names[0];
  const asked = useAnswer<Sample>(column === undefined ? undefined : 'vectors', {
    ...pinned(facts),
    column,
    rows: facts.rows,
  });
  if (column === undefined) {
    return <p class="note">The table has no column of vectors (fixed-size lists of numbers).</p>;
  }
  const choose = (near: string | undefined): void => go(changed(location, { near }));
  return (
    <div class="view scroll">
      {names.length < 2 ? null : (
        <label class="line">
          column{' '}
          <select
            value={column}
            onChange={(event) =>
              go(changed(location, { column: event.currentTarget.value, near: undefined }))
            }
          >
            {names.map((name) => (
              <option key={name}>{name}</option>
            ))}
          </select>
        </label>
      )}
      <Answered asked={asked}>
        {(sample) => (
          <>
            <p role="status">
              {column} has {count(sample.dimensions)} dimensions; {count(sample.norms.length)}{' '}
              vectors of a sample of {count(sample.sampled)} rows are shown.
            </p>
            <Norms column={column} norms={sample.norms} />
            <Plane sample={sample} chosen={location.query.near} onChoose={choose} />
          </>
        )}
      </Answered>
      <Neighbours {...props} column={column} />
    </div>
  );
}

function Norms({ column, norms }: { readonly column: string; readonly norms: readonly number[] }) {
  const known = norms.filter(Number.isFinite);
  if (known.length === 0) return null;
  const [least, most] = [Math.min(...known), Math.max(...known)];
  const step = (most - least) / BUCKETS || 1;
  const counts = Array.from({ length: BUCKETS }, () => 0);
  for (const norm of known) {
    const at = Math.min(BUCKETS - 1, Math.floor((norm - least) / step));
    counts[at] = (counts[at] as number) + 1;
  }
  const edges = Array.from({ length: BUCKETS + 1 }, (_, at) => short(least + at * step));
  return (
    <>
      <h2>Lengths</h2>
      <Histogram label={`lengths of ${column}`} edges={edges} counts={counts} />
    </>
  );
}

function Plane({
  sample: { x, y, ids },
  chosen,
  onChoose,
}: {
  readonly sample: Sample;
  readonly chosen: string | undefined;
  readonly onChoose: (id: string) => void;
}) {
  const place = (values: readonly number[], size: number): ((value: number) => number) => {
    const known = values.filter(Number.isFinite);
    const least = Math.min(...known);
    const range = Math.max(...known) - least || 1;
    return (value) => EDGE + ((value - least) / range) * (size - 2 * EDGE);
  };
  const [across, up] = [place(x, WIDTH), place(y, HEIGHT)];
  return (
    <>
      <h2>On the plane of most variance</h2>
      <svg
        class="plane"
        viewBox={`0 0 ${WIDTH} ${HEIGHT}`}
        width={WIDTH}
        height={HEIGHT}
        role="img"
        aria-label={`${count(ids.length)} vectors on a plane; a click shows the neighbours of one`}
        onClick={(event) => {
          const id = (event.target as Element).getAttribute('data-id');
          if (id !== null) onChoose(id);
        }}
      >
        {ids.map((id, at) =>
          Number.isFinite(x[at]) && Number.isFinite(y[at]) ? (
            <circle
              key={id}
              data-id={id}
              class={id === chosen ? 'chosen' : ''}
              cx={across(x[at] as number)}
              cy={HEIGHT - up(y[at] as number)}
              r={id === chosen ? 6 : 3}
            >
              <title>row id {id}</title>
            </circle>
          ) : null,
        )}
      </svg>
    </>
  );
}

/** The rows nearest to the chosen one. */
function Neighbours({ facts, location, go, column }: ViewProps & { readonly column: string }) {
  const { near } = location.query;
  const asked = useAnswer<Found>(near === undefined ? undefined : 'neighbours', {
    ...pinned(facts),
    column,
    row_id: near,
  });
  return (
    <section aria-label="Neighbours">
      <h2>Neighbours</h2>
      <form
        class="line"
        onSubmit={(event) => {
          event.preventDefault();
          const id = new FormData(event.currentTarget).get('near');
          go(changed(location, { near: String(id ?? '').trim() }));
        }}
      >
        <label for="near">of the row id</label>
        <input id="near" name="near" inputMode="numeric" value={near ?? ''} key={near ?? ''} />
        <button type="submit">Find</button>
      </form>
      {near === undefined ? null : (
        <Answered asked={asked}>
          {({ columns, rows }) => (
            <div class="wide">
              <table aria-label={`Rows near to row id ${near}`}>
                <thead>
                  <tr>
                    {columns.map(({ name }) => (
                      <th scope="col" key={name}>
                        {name}
                      </th>
                    ))}
                  </tr>
                </thead>
                <tbody>
                  {rows.map((row, at) => (
                    <tr key={at}>
                      {columns.map(({ name }, own) => (
                        <td key={name}>{String(row[own])}</td>
                      ))}
                    </tr>
                  ))}
                </tbody>
              </table>
            </div>
          )}
        </Answered>
      )}
    </section>
  );
}
