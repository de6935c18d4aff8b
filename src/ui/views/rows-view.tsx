/**
 * `RowsView` shows the rows of one version in a grid. The user can filter and sort the rows, choose
 * columns, open all values of one row, and download rows as files. A search box for words appears
 * if a column has a full-text index. The grid asks the server for rows as they come into sight. The
 * server keeps the result of a filter, a sort or a search, so that scrolling does not repeat it.
 */

import {
  Answered,
  ask,
  type Column,
  changed,
  count,
  counted,
  decoded,
  Failure,
  type Index,
  pinned,
  useAnswer,
  useEffect,
  useRef,
  useState,
  type ViewProps,
} from '../base/index.ts';
import { Downloads } from './downloads.tsx';
import { FilterBox } from './filter-box.tsx';
import { Grid, type GridProps } from './grid.tsx';
import type { Cell, FetchRows } from './row-windows.ts';

/** What the grid shows of the newest search that was answered. */
type Shown = Pick<GridProps, 'rows' | 'columns' | 'source' | 'rowsOf' | 'fetchRows'>;

interface Window {
  readonly columns: readonly Column[];
  readonly rows: readonly (readonly Cell[])[];
  readonly ids: readonly string[];
  readonly total?: number;
  readonly is_cut?: boolean;
}

/** Columns that are fetched where the reader chose none. */
const MOST_COLUMNS = 60;

export function RowsView(props: ViewProps) {
  const { facts, location, go } = props;
  const { where = '', sort = '', desc, text = '', top = '0', cols = '' } = location.query;
  const chosen = cols === '' ? [] : cols.split(',').map(decoded);
  const known = facts.columns.filter(({ name }) => chosen.includes(name));
  const columns = known.length > 0 ? known : facts.columns.slice(0, MOST_COLUMNS);
  const isSearched = where !== '' || sort !== '' || text !== '';
  const found = {
    ...pinned(facts),
    ...(where === '' ? {} : { where }),
    ...(text === '' ? {} : { text }),
    ...(sort === '' ? {} : { order: sort, descending: desc === '1' }),
  };
  const search = { ...found, columns: columns.map(({ name }) => name) };
  // The first window tells how many rows there are; the grid asks for it again, and it is kept.
  const asked = useAnswer<Window>(isSearched ? 'rows' : undefined, { ...search, limit: 1 });
  const change = (changes: Record<string, string | undefined>): void =>
    go(changed(location, { ...changes, top: undefined, row: undefined }));
  const total = isSearched ? asked.answer?.total : facts.rows;
  const fetchRows: FetchRows = (offset, limit, signal) =>
    ask<Window>('rows', { ...search, offset, limit }, signal);
  // The rows of before stay until others are found, and with them the focus and the place.
  const latest = useRef<Shown | undefined>(undefined);
  if (total !== undefined) {
    const [source, rowsOf] = [JSON.stringify(search), JSON.stringify(found)];
    latest.current = { rows: total, columns, source, rowsOf, fetchRows };
  } else if (!asked.isLoading) latest.current = undefined;
  const shown = latest.current;
  const wrongFilter = asked.failure !== undefined && where !== '' ? asked.failure : undefined;
  const onSort = (name: string): void => {
    if (sort !== name) change({ sort: name, desc: undefined });
    else if (desc !== '1') change({ desc: '1' });
    else change({ sort: undefined, desc: undefined });
  };
  return (
    <div class="view rows-view">
      <FilterBox
        value={where}
        columns={facts.columns}
        error={wrongFilter === undefined ? undefined : String((wrongFilter as Error).message)}
        onSubmit={(next) => change({ where: next })}
      />
      <TextSearch {...props} value={text} onSubmit={(next) => change({ text: next })} />
      <div class="line">
        <span role="status">{rowsText(facts.rows, isSearched, asked.answer, asked.isLoading)}</span>
        <ColumnChoice
          all={facts.columns}
          shown={columns}
          onChange={(names) => change({ cols: names })}
        />
        {sort === '' ? null : (
          <button type="button" onClick={() => change({ sort: undefined, desc: undefined })}>
            Row order
          </button>
        )}
        {asked.failure !== undefined ? null : (
          <Downloads
            asked={known.length > 0 ? search : found}
            of={isSearched ? 'all rows found' : `version ${facts.version}`}
          />
        )}
      </div>
      {wrongFilter === undefined && asked.failure !== undefined ? (
        <Failure error={asked.failure} onAgain={asked.again} />
      ) : null}
      {shown === undefined ? null : (
        <Grid
          label={`Rows of ${facts.id.join('/')}`}
          {...shown}
          top={Number(top) || 0}
          onTop={(at) => {
            // The place among the rows of before says nothing of those that are asked for.
            if (total === undefined) return;
            go(changed(location, { top: at === 0 ? undefined : String(at) }), true);
          }}
          onOpen={(id) => go(changed(location, { row: id }))}
          sort={sort === '' ? undefined : { column: sort, descending: desc === '1' }}
          onSort={onSort}
        />
      )}
      {location.query.row === undefined ? null : <RowDetails {...props} id={location.query.row} />}
    </div>
  );
}

function rowsText(
  rows: number,
  isSearched: boolean,
  found: Window | undefined,
  isLoading: boolean,
): string {
  if (!isSearched) return counted(rows, 'row');
  if (isLoading) return 'Searching…';
  if (found?.total === undefined) return '';
  if (found.is_cut === true) return `the first ${count(found.total)} of more rows than are kept`;
  return `${count(found.total)} of ${counted(rows, 'row')}`;
}

/** Shown where a full-text index is there. */
function TextSearch({
  facts,
  value,
  onSubmit,
}: ViewProps & { readonly value: string; readonly onSubmit: (text: string) => void }) {
  const { answer } = useAnswer<{ indexes: readonly Index[] }>('ListTableIndices', pinned(facts));
  const [text, setText] = useState(value);
  useEffect(() => setText(value), [value]);
  const indexed = (answer?.indexes ?? []).filter(({ index_type = '' }) =>
    /fts|inverted/i.test(index_type),
  );
  if (indexed.length === 0) return null;
  const names = [...new Set(indexed.flatMap(({ columns }) => columns))].join(', ');
  return (
    <form
      class="filter-line"
      onSubmit={(event) => {
        event.preventDefault();
        onSubmit(text.trim());
      }}
    >
      <label for="text">text</label>
      <input
        id="text"
        type="search"
        placeholder={`words in ${names}; the best matches come first`}
        value={text}
        onInput={(event) => setText(event.currentTarget.value)}
      />
      <button type="submit">Search</button>
    </form>
  );
}

function ColumnChoice({
  all,
  shown,
  onChange,
}: {
  readonly all: readonly Column[];
  readonly shown: readonly Column[];
  readonly onChange: (names: string | undefined) => void;
}) {
  const names = shown.map(({ name }) => name);
  const toggle = (name: string): void => {
    const next = names.includes(name)
      ? names.filter((one) => one !== name)
      : all.map((column) => column.name).filter((one) => one === name || names.includes(one));
    if (next.length > 0) onChange(next.map(encodeURIComponent).join(','));
  };
  return (
    <details class="choice">
      <summary>
        {names.length === all.length ? 'All columns' : `${names.length} of ${all.length} columns`}
      </summary>
      <div class="choices" role="group" aria-label="Columns to show">
        <button type="button" onClick={() => onChange(undefined)}>
          {all.length > MOST_COLUMNS ? `The first ${MOST_COLUMNS}` : 'All'}
        </button>
        {all.map(({ name, type }) => (
          <label key={name}>
            <input type="checkbox" checked={names.includes(name)} onChange={() => toggle(name)} />
            <bdi>{name}</bdi> <span class="type">{type}</span>
          </label>
        ))}
      </div>
    </details>
  );
}

/** All values of one row, in full length. Escape closes it. */
function RowDetails({ facts, location, go, id }: ViewProps & { readonly id: string }) {
  const asked = useAnswer<Window>('row', { ...pinned(facts), row_id: id });
  const close = (): void => {
    go(changed(location, { row: undefined }));
    requestAnimationFrame(() => document.querySelector<HTMLElement>('.grid')?.focus());
  };
  const box = useRef<HTMLElement>(null);
  useEffect(() => box.current?.focus(), [id]);
  return (
    <section
      class="details"
      ref={box}
      tabIndex={-1}
      aria-label={`Row ${id}`}
      onKeyDown={(event) => {
        if (event.key === 'Escape') close();
      }}
    >
      <header class="line">
        <h2>Row id {id}</h2>
        <button type="button" onClick={close}>
          Close
        </button>
      </header>
      <Answered asked={asked}>
        {({ columns, rows: [row] }) =>
          row === undefined ? (
            <p class="note">This version has no row of that id.</p>
          ) : (
            <dl>
              {columns.map(({ name, type }, at) => (
                <div key={name}>
                  <dt>
                    <bdi>{name}</bdi> <span class="type">{type}</span>
                  </dt>
                  <dd dir="auto" class={row[at] === null ? 'null' : ''}>
                    {String(row[at])}
                  </dd>
                </div>
              ))}
            </dl>
          )
        }
      </Answered>
    </section>
  );
}
