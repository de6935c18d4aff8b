/**
 * `TablePage` opens a table at the version and branch that the address names, and shows its views
 * as tabs. The tabs share the version, the branch and the filter. A table that is only declared has
 * no views. What changed since the table was opened is told (change-note.tsx). `tableRequest`
 * builds the request for the table, which app.tsx sends ahead.
 */
import {
  Answered,
  bytes,
  changed,
  columnsOf,
  counted,
  type Described,
  dbOf,
  formatLocation,
  type Go,
  type Location,
  type Stats,
  type TableFacts,
  useAnswer,
  type ViewProps,
} from './base/index.ts';
import { ChangeNote } from './change-note.tsx';
import {
  ColumnsView,
  HistoryView,
  RefsView,
  RowsView,
  SchemaView,
  VectorsView,
} from './views/index.ts';

interface Answer {
  readonly described: Described;
  readonly newest: number;
  readonly rows: number;
  readonly stats?: Stats;
}

interface View {
  readonly name: string;
  readonly title: string;
  readonly show: (props: ViewProps) => preact.JSX.Element | null;
}

const VIEWS: readonly View[] = [
  { name: 'rows', title: 'Rows', show: (props) => <RowsView {...props} /> },
  { name: 'columns', title: 'Columns', show: (props) => <ColumnsView {...props} /> },
  { name: 'vectors', title: 'Vectors', show: (props) => <VectorsView {...props} /> },
  { name: 'schema', title: 'Schema', show: (props) => <SchemaView {...props} /> },
  { name: 'history', title: 'History', show: (props) => <HistoryView {...props} /> },
  { name: 'refs', title: 'Tags and branches', show: (props) => <RefsView {...props} /> },
];

/** What the page of a table asks for first. */
export const TABLE = 'table';

export function tableRequest({ path, query: { version, branch, db } }: Location): object {
  return {
    id: path,
    ...(branch === undefined ? {} : { branch }),
    ...(version === undefined ? {} : { version: numberOf(version) }),
    db,
  };
}

export function TablePage({ location, go }: { readonly location: Location; readonly go: Go }) {
  const { path } = location;
  const asked = useAnswer<Answer>(TABLE, tableRequest(location));
  return (
    <main class="page" id="main">
      <h1 class="id" id="title" tabIndex={-1}>
        {path.join(' / ')}
      </h1>
      <Answered asked={asked}>
        {(answer) => (
          <Opened
            answer={answer}
            location={location}
            go={go}
            onAgain={() => {
              // The button is gone then, and with it the focus.
              document.getElementById('title')?.focus({ preventScroll: true });
              const { version: _, top: __, row: ___, ...query } = location.query;
              go({ ...location, query });
              asked.again();
            }}
          />
        )}
      </Answered>
    </main>
  );
}

/** What is no number is sent as it is: the server says so. */
const numberOf = (text: string): number | string => (/^\d+$/.test(text) ? Number(text) : text);

function Opened({
  answer,
  location,
  go,
  onAgain,
}: {
  readonly answer: Answer;
  readonly location: Location;
  readonly go: Go;
  readonly onAgain: () => void;
}) {
  const { described, newest, rows, stats } = answer;
  if (described.is_only_declared === true || described.version === undefined) {
    return <p class="note">The table is declared and has no data yet.</p>;
  }
  const facts: TableFacts = {
    id: location.path,
    branch: location.query.branch,
    version: described.version,
    newest,
    rows,
    bytes: stats?.total_bytes ?? 0,
    fragments: stats?.fragment_stats.num_fragments ?? 0,
    described,
    columns: columnsOf(described.schema?.fields),
  };
  const shown = VIEWS.find(({ name }) => name === location.query.view) ?? (VIEWS[0] as View);
  const { top: _, find: __, ...place } = location.query;
  return (
    <>
      <p class="line facts">
        <span>
          version {facts.version}
          {facts.branch === undefined ? '' : ` of branch ${facts.branch}`}
        </span>
        {facts.version === newest ? null : (
          <a href={formatLocation(changed(location, { version: undefined, top: undefined }))}>
            show the newest, {newest}
          </a>
        )}
        <span>{counted(rows, 'row')}</span>
        <span>{counted(facts.columns.length, 'column')}</span>
        {stats === undefined ? null : <span>{bytes(facts.bytes)}</span>}
        <ChangeNote facts={facts} place={JSON.stringify(place)} onAgain={onAgain} />
      </p>
      <Tabs location={location} go={go} shown={shown.name} />
      <div class="tab-panel" role="tabpanel" aria-labelledby={`tab-${shown.name}`} key={shown.name}>
        {shown.show({ facts, location, go })}
      </div>
    </>
  );
}

/** The members of the address that every view of a version shares. */
const shared = (location: Location, view: string): Location => {
  const { version, branch, where, find } = location.query;
  const kept = Object.entries({ version, branch, where, find }).filter(
    ([, value]) => value !== undefined,
  );
  return {
    ...location,
    query: { ...dbOf(location), ...(Object.fromEntries(kept) as Record<string, string>), view },
  };
};

function Tabs({
  location,
  go,
  shown,
}: {
  readonly location: Location;
  readonly go: Go;
  readonly shown: string;
}) {
  const onKeyDown = (event: KeyboardEvent): void => {
    const step = event.key === 'ArrowRight' ? 1 : event.key === 'ArrowLeft' ? -1 : 0;
    if (step === 0) return;
    event.preventDefault();
    const at = VIEWS.findIndex(({ name }) => name === shown);
    const next = VIEWS[(at + step + VIEWS.length) % VIEWS.length] as View;
    go(shared(location, next.name));
    requestAnimationFrame(() => document.getElementById(`tab-${next.name}`)?.focus());
  };
  return (
    <div class="tabs" role="tablist" aria-label="Views of the table" onKeyDown={onKeyDown}>
      {VIEWS.map(({ name, title }) => (
        <button
          key={name}
          type="button"
          id={`tab-${name}`}
          role="tab"
          aria-selected={name === shown}
          tabIndex={name === shown ? 0 : -1}
          onClick={() => go(shared(location, name))}
        >
          {title}
        </button>
      ))}
    </div>
  );
}
