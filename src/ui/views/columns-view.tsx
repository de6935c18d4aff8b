/**
 * `ColumnsView` shows statistics of the first 60 columns: nulls, distinct values, bounds, mean, the
 * most frequent values and a histogram. The server scans rows for up to 0.2 seconds, or up to 30 if
 * the reader asks for all rows. The view tells whether all rows or a sample were scanned.
 */
import {
  Answered,
  changed,
  count,
  counted,
  formatLocation,
  percent,
  pinned,
  short,
  useAnswer,
  type ViewProps,
} from '../base/index.ts';
import { Histogram } from './histogram.tsx';

type Shown = string | number | boolean | null;

interface Profiled {
  readonly name: string;
  readonly data_type: string;
  readonly rows: number;
  readonly nulls: number;
  readonly nans: number;
  readonly min: Shown;
  readonly max: Shown;
  readonly mean?: string | number;
  readonly distinct: number;
  readonly distinct_exact: boolean;
  readonly top: readonly { readonly value: Shown; readonly count: number }[];
  readonly top_exact: boolean;
  readonly histogram?: {
    readonly of: string;
    readonly edges: readonly Shown[];
    readonly counts: readonly number[];
  };
}

interface Profile {
  readonly sampled: boolean;
  readonly rows: number;
  readonly rows_scanned: number;
  readonly rows_matched: number;
  readonly columns: readonly Profiled[];
}

const MOST_COLUMNS = 60;
/** Milliseconds. */
const [USUAL, LONG] = [200, 30_000];

export function ColumnsView({ facts, location }: ViewProps) {
  const { where = '', all } = location.query;
  const columns = facts.columns.slice(0, MOST_COLUMNS).map(({ name }) => name);
  const asked = useAnswer<Profile>('ProfileTable', {
    ...pinned(facts),
    columns,
    budget_millis: all === '1' ? LONG : USUAL,
    ...(where === '' ? {} : { filter: where }),
  });
  return (
    <div class="view scroll">
      {where === '' ? null : (
        <p class="note">
          Of the rows where <code>{where}</code>
        </p>
      )}
      {facts.columns.length > MOST_COLUMNS ? (
        <p class="note">The first {MOST_COLUMNS} columns.</p>
      ) : null}
      <Answered asked={asked}>
        {(profile) => (
          <>
            <p class="line" role="status">
              <span>{lookedAt(profile)}</span>
              {profile.sampled && all !== '1' ? (
                <a href={formatLocation(changed(location, { all: '1' }))}>Look at all rows</a>
              ) : null}
            </p>
            {profile.columns.map((column) => (
              <ColumnFacts key={column.name} column={column} />
            ))}
          </>
        )}
      </Answered>
    </div>
  );
}

function lookedAt({ sampled, rows, rows_scanned, rows_matched }: Profile): string {
  const looked = sampled
    ? `A sample: ${count(rows_scanned)} of ${counted(rows, 'row')} were looked at`
    : `All ${counted(rows, 'row')} were looked at`;
  return rows_matched === rows_scanned ? `${looked}.` : `${looked}; ${count(rows_matched)} match.`;
}

const text = (value: Shown | undefined): string =>
  value === null || value === undefined
    ? 'null'
    : typeof value === 'number'
      ? short(value)
      : String(value);

function ColumnFacts({ column }: { readonly column: Profiled }) {
  const { name, data_type, rows, nulls, nans, min, max, mean, histogram, top } = column;
  const share = rows === 0 ? 0 : nulls / rows;
  const facts: [string, string][] = [
    ['nulls', `${count(nulls)}${nulls === 0 ? '' : ` (${percent(share)})`}`],
    ['distinct', `${column.distinct_exact ? '' : 'about '}${count(column.distinct)}`],
  ];
  if (nans > 0) facts.push(['NaN', count(nans)]);
  if (min !== null || max !== null) facts.push(['from', text(min)], ['to', text(max)]);
  if (mean !== undefined) facts.push(['mean', text(mean)]);
  return (
    <section class="column" aria-label={`Column ${name}`}>
      <h2>
        <bdi>{name}</bdi> <span class="type">{data_type}</span>
      </h2>
      <div class="column-parts">
        <dl class="column-facts">
          {facts.map(([what, value]) => (
            <div key={what}>
              <dt>{what}</dt>
              <dd>{value}</dd>
            </div>
          ))}
        </dl>
        {histogram === undefined ? null : (
          <div>
            {histogram.of === 'values' ? null : <p class="note">{histogram.of}</p>}
            <Histogram
              label={histogram.of === 'values' ? name : `${histogram.of} of ${name}`}
              edges={histogram.edges.map(text)}
              counts={histogram.counts}
            />
          </div>
        )}
        {top.length === 0 ? null : (
          <table aria-label={`Values of ${name} that are there most`}>
            <tbody>
              {top.map((one) => (
                <tr key={JSON.stringify(one.value)}>
                  <td>{text(one.value)}</td>
                  <td class="right">
                    {column.top_exact ? '' : 'about '}
                    {count(one.count)}
                  </td>
                </tr>
              ))}
            </tbody>
          </table>
        )}
      </div>
    </section>
  );
}
