/**
 * `SqlPage` runs a SELECT over the catalog's tables. It shows the first rows with links that
 * download all of them (`RowsOf`), a chart of the first rows, or the query plan. A statement that
 * is running can be stopped. The address holds the statement and this choice:
 * `#/sql?q=SELECT..&show=chart&chart=bar&x=city&y=n`.
 */
import {
  Answered,
  changed,
  type Go,
  type Location,
  messageOf,
  useAnswer,
  useEffect,
  useState,
} from './base/index.ts';
import {
  Chart,
  type ChartCell,
  type ChartKind,
  Downloads,
  numberOf,
  partOf,
  partText,
  StatementBox,
} from './views/index.ts';

interface Answer {
  readonly columns: readonly { readonly name: string; readonly type: string }[];
  readonly rows: readonly (readonly ChartCell[])[];
  /** There are more rows than these. */
  readonly is_cut?: boolean;
}

const SHOWN = ['rows', 'chart', 'plan'] as const;
const CHARTS: readonly ChartKind[] = ['bar', 'line', 'scatter'];

export function SqlPage({ location, go }: { readonly location: Location; readonly go: Go }) {
  const { q = '', show = 'rows', db } = location.query;
  const [text, setText] = useState(q);
  const [runs, setRuns] = useState(0);
  useEffect(() => setText(q), [q]);
  const run = (): void => {
    setRuns(runs + 1);
    go(changed(location, { q: text.trim() }));
  };
  const isPlan = show === 'plan';
  const [stopped, setStopped] = useState<string | undefined>();
  const running = JSON.stringify([q, runs, db]);
  const isStopped = stopped === running;
  // Without a question its request is aborted, and the server stops.
  const isAsked = q !== '' && !isPlan && !isStopped;
  const rows = useAnswer<Answer>(isAsked ? 'sql' : undefined, { sql: q, runs, db });
  const stop = (): void => {
    setStopped(running);
    // The button is gone then, and with it the focus.
    document.getElementById('statement')?.focus();
  };
  const plan = useAnswer<{ plan: string }>(q === '' || !isPlan ? undefined : 'ExplainSql', {
    sql: q,
    db,
  });
  const { failure } = isPlan ? plan : rows;
  return (
    <main class="page" id="main">
      <h1 class="id" id="title" tabIndex={-1}>
        SQL
      </h1>
      <StatementBox
        text={text}
        setText={setText}
        error={failure === undefined ? undefined : messageOf(failure)}
        onRun={run}
      />
      <p class="line">
        <button type="button" onClick={run}>
          Run
        </button>
        {rows.isLoading ? (
          <button type="button" onClick={stop}>
            Stop
          </button>
        ) : null}
        {SHOWN.map((name) => (
          <button
            key={name}
            type="button"
            aria-pressed={show === name}
            onClick={() => go(changed(location, { show: name }))}
          >
            {name}
          </button>
        ))}
      </p>
      <div class="view scroll">
        {q === '' ? (
          <p class="note">Nothing was asked yet.</p>
        ) : failure !== undefined ? null : isStopped && !isPlan ? (
          <p class="note" role="status">
            The statement was stopped.
          </p>
        ) : isPlan ? (
          <Answered asked={plan}>{(answer) => <pre class="code">{answer.plan}</pre>}</Answered>
        ) : (
          <Answered asked={rows}>
            {(answer) =>
              show === 'chart' ? (
                <ChartOf answer={answer} location={location} go={go} />
              ) : (
                <RowsOf answer={answer} sql={q} />
              )
            }
          </Answered>
        )}
      </div>
    </main>
  );
}

/** Columns of a statement may share a name, so each is known by its place. */
export function RowsOf({
  answer: { columns, rows, is_cut: isCut },
  sql,
}: {
  readonly answer: Answer;
  readonly sql: string;
}) {
  const part = partOf(columns.length, rows.length);
  return (
    <>
      <p class="line">
        <span role="status">{partText(part, columns.length, rows.length, isCut === true)}</span>
        <Downloads asked={{ sql }} of="all rows of the answer" />
      </p>
      <table aria-label="Rows of the answer">
        <thead>
          <tr>
            {columns.slice(0, part.columns).map(({ name, type }, column) => (
              <th key={column} scope="col" title={type}>
                {name}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.slice(0, part.rows).map((row, at) => (
            <tr key={at}>
              {row.slice(0, part.columns).map((cell, column) => (
                <td
                  key={column}
                  dir="auto"
                  class={cell === null ? 'null' : isNumber(columns[column]?.type) ? 'right' : ''}
                >
                  {cell === null ? 'null' : String(cell)}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </>
  );
}

function ChartOf({
  answer: { columns, rows },
  location,
  go,
}: {
  readonly answer: Answer;
  readonly location: Location;
  readonly go: Go;
}) {
  const { query } = location;
  const numeric = columns.filter((_, at) => rows.some((row) => !Number.isNaN(numberOf(row[at]))));
  const kind = CHARTS.find((name) => name === query.chart) ?? 'bar';
  const y = columns.find(({ name }) => name === query.y) ?? numeric.at(-1);
  const x = columns.find(({ name }) => name === query.x) ?? columns.find((one) => one !== y) ?? y;
  if (x === undefined || y === undefined || rows.length === 0) {
    return <p class="note">There are no numbers to draw.</p>;
  }
  const of = (column: (typeof columns)[number]): ChartCell[] => {
    const at = columns.indexOf(column);
    return rows.map((row) => row[at] ?? null);
  };
  const choice = (name: string, label: string, value: string, options: readonly string[]) => (
    <label>
      {label}{' '}
      <select
        value={value}
        onChange={(event) => go(changed(location, { [name]: event.currentTarget.value }))}
      >
        {[...new Set(options)].map((option) => (
          <option key={option} value={option}>
            {option}
          </option>
        ))}
      </select>
    </label>
  );
  return (
    <>
      <p class="line">
        {choice('chart', 'Chart', kind, CHARTS)}
        {choice(
          'x',
          'across',
          x.name,
          columns.map(({ name }) => name),
        )}
        {choice(
          'y',
          'up',
          y.name,
          numeric.map(({ name }) => name),
        )}
      </p>
      <Chart kind={kind} label={`${y.name} by ${x.name}`} x={of(x)} y={of(y)} />
    </>
  );
}

const isNumber = (type = ''): boolean => /^(u?int|float|decimal)/.test(type);
