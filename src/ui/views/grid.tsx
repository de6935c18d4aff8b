/**
 * `Grid` shows a table of any number of rows, and draws only the rows and columns in sight. Rows
 * are fetched in windows (row-windows.ts), and the scroll bar is mapped to rows (scroll.ts). A
 * failure is shown above, with a button that tries again. Screen readers see a grid with one active
 * cell, which keys move and Ctrl+C copies. The caller sorts the rows: a click on a header only
 * calls `onSort`.
 */
import {
  type Column,
  messageOf,
  useEffect,
  useLayoutEffect,
  useMemo,
  useRef,
  useState,
} from '../base/index.ts';
import { type Cell, type FetchRows, RowWindows } from './row-windows.ts';
import { RowScroll } from './scroll.ts';

export interface GridProps {
  readonly label: string;
  readonly columns: readonly Column[];
  readonly rows: number;
  readonly fetchRows: FetchRows;
  /** Rows are fetched anew where it changes. */
  readonly source: string;
  /** The grid begins anew, at `top`, where it changes: its rows are others, or in another order. */
  readonly rowsOf: string;
  /** The row at the upper end at first, and what is told when it changed. */
  readonly top: number;
  readonly onTop?: (top: number) => void;
  readonly onOpen?: (id: string | undefined, row: number) => void;
  readonly sort?: { readonly column: string; readonly descending: boolean } | undefined;
  readonly onSort?: ((column: string) => void) | undefined;
}

const ROW = 26;
const HEADER = 44;
const NUMBER_COLUMN = 100;

/** Pixels of a column, by its type and name. */
function widthOf({ name, type }: Column): number {
  const wide = /list|struct|map|union/.test(type)
    ? 240
    : /utf8|binary|dictionary/.test(type)
      ? 180
      : /timestamp/.test(type)
        ? 190
        : 110;
  return Math.max(wide, Math.min(260, 40 + name.length * 8));
}

const isNumeric = (type: string): boolean => /^(u?int|float|decimal|double|half)/.test(type);

export function Grid(props: GridProps) {
  const { columns, rows, source } = props;
  const scroller = useRef<HTMLDivElement>(null);
  const [size, setSize] = useState({ width: 800, height: 400 });
  const [top, setTop] = useState(props.top);
  const [left, setLeft] = useState(0);
  const [active, setActive] = useState({ row: Math.floor(props.top), column: 0 });
  const [, redraw] = useState(0);
  /** What the scroll bar was set to last: a position that it was not set to is the reader's own. */
  const setByUs = useRef(-1);

  const windows = useMemo(
    () => new RowWindows(props.fetchRows, () => redraw((count) => count + 1)),
    [source],
  );
  useEffect(() => () => windows.end(), [windows]);

  const begun = useRef(props.rowsOf);
  useLayoutEffect(() => {
    if (begun.current === props.rowsOf) return;
    begun.current = props.rowsOf;
    setTop(props.top);
    setActive({ row: Math.floor(props.top), column: active.column });
  }, [props.rowsOf]);
  const onTop = useRef(props.onTop);
  onTop.current = props.onTop;

  const body = Math.max(ROW, size.height - HEADER);
  const scroll = new RowScroll(rows, ROW, body);
  const starts = useMemo(() => {
    const edges = [NUMBER_COLUMN];
    for (const column of columns) edges.push((edges.at(-1) as number) + widthOf(column));
    return edges;
  }, [columns]);
  const width = starts.at(-1) as number;

  useLayoutEffect(() => {
    const element = scroller.current as HTMLDivElement;
    // More than the window is never in sight, whatever height a layout gives to the grid.
    const measure = (): void =>
      setSize({
        width: Math.min(element.clientWidth, window.innerWidth),
        height: Math.min(element.clientHeight, window.innerHeight),
      });
    measure();
    const observer = new ResizeObserver(measure);
    observer.observe(element);
    return () => observer.disconnect();
  }, []);

  const shownTop = scroll.clamp(top);
  useLayoutEffect(() => {
    const element = scroller.current as HTMLDivElement;
    const wanted = Math.round(scroll.scrollTopOf(shownTop));
    if (Math.abs(element.scrollTop - wanted) > 1) {
      setByUs.current = wanted;
      element.scrollTop = wanted;
    }
  }, [shownTop, scroll.height, body]);

  const first = Math.floor(shownTop);
  const last = Math.min(rows, first + Math.ceil(body / ROW) + 1);
  // Before the browser draws, which may take longer than the answer.
  useLayoutEffect(() => {
    if (last > first) windows.show(first, last);
  }, [windows, first, last]);
  useEffect(() => {
    const timer = setTimeout(() => onTop.current?.(first), 300);
    return () => clearTimeout(timer);
  }, [windows, first, last]);

  const onScroll = (): void => {
    const element = scroller.current as HTMLDivElement;
    setLeft(element.scrollLeft);
    const at = element.scrollTop;
    if (Math.abs(at - setByUs.current) <= 1) return;
    setByUs.current = Math.round(at);
    setTop(scroll.topAt(at));
  };
  /** A notch of the wheel moves by rows also where a pixel of the scroll bar is many. */
  useEffect(() => {
    const element = scroller.current as HTMLDivElement;
    const onWheel = (event: WheelEvent): void => {
      if (!scroll.isMapped || event.ctrlKey || Math.abs(event.deltaX) > Math.abs(event.deltaY))
        return;
      event.preventDefault();
      const pixels = event.deltaMode === 1 ? event.deltaY * ROW : event.deltaY;
      setTop((before) => scroll.clamp(scroll.clamp(before) + pixels / ROW));
    };
    element.addEventListener('wheel', onWheel, { passive: false });
    return () => element.removeEventListener('wheel', onWheel);
  }, [rows, body]);

  const move = (row: number, column: number): void => {
    const next = {
      row: Math.min(Math.max(0, row), Math.max(0, rows - 1)),
      column: Math.min(Math.max(0, column), columns.length - 1),
    };
    setActive(next);
    setTop(scroll.reveal(next.row, shownTop));
    const element = scroller.current as HTMLDivElement;
    const [from, to] = [starts[next.column] as number, starts[next.column + 1] as number];
    if (from - NUMBER_COLUMN < element.scrollLeft) element.scrollLeft = from - NUMBER_COLUMN;
    else if (to > element.scrollLeft + size.width) element.scrollLeft = to - size.width;
  };
  const page = Math.max(1, Math.floor(body / ROW) - 1);
  const onKeyDown = (event: KeyboardEvent): void => {
    const { row, column } = active;
    const moves: Record<string, () => void> = {
      ArrowDown: () => move(row + 1, column),
      ArrowUp: () => move(row - 1, column),
      ArrowRight: () => move(row, column + 1),
      ArrowLeft: () => move(row, column - 1),
      PageDown: () => move(row + page, column),
      PageUp: () => move(row - page, column),
      Home: () => move(event.ctrlKey ? 0 : row, 0),
      End: () => move(event.ctrlKey ? rows - 1 : row, columns.length - 1),
      Enter: () => props.onOpen?.(windows.row(row)?.id, row),
    };
    const act = moves[event.key];
    if (act === undefined || event.altKey || event.metaKey) return;
    // A heading's button is pressed by Enter.
    if (event.key === 'Enter' && event.target !== event.currentTarget) return;
    event.preventDefault();
    act();
  };

  /** Copies the active cell where no text is selected. */
  const onCopy = (event: ClipboardEvent): void => {
    if (document.getSelection()?.isCollapsed === false) return;
    const cell = windows.row(active.row)?.cells[active.column];
    if (cell === undefined || event.clipboardData === null) return;
    event.clipboardData.setData('text/plain', cell === null ? '' : String(cell));
    event.preventDefault();
  };

  const shownColumns = columns
    .map((column, at) => ({ column, at }))
    .filter(
      ({ at }) => (starts[at + 1] as number) > left && (starts[at] as number) < left + size.width,
    );
  const line = [];
  for (let row = first; row < last; row++) {
    const found = windows.row(row);
    line.push(
      <div
        key={row}
        class={`row${row === active.row ? ' active' : ''}`}
        role="row"
        aria-rowindex={row + 2}
        style={{ top: `${Math.round((row - shownTop) * ROW)}px`, width: `${width}px` }}
        onClick={(event) => {
          const at = (event.target as HTMLElement).closest<HTMLElement>('[data-column]');
          setActive({ row, column: Number(at?.dataset.column ?? active.column) });
        }}
        onDblClick={() => props.onOpen?.(found?.id, row)}
      >
        <div
          class="cell number head"
          role="rowheader"
          aria-colindex={1}
          style={{ width: `${NUMBER_COLUMN}px`, left: `${left}px` }}
        >
          {(row + 1).toLocaleString('en')}
        </div>
        {shownColumns.map(({ column, at }) => (
          <div
            key={at}
            id={row === active.row && at === active.column ? 'active-cell' : undefined}
            class={cellClass(
              column.type,
              found?.cells[at],
              row === active.row && at === active.column,
            )}
            role="gridcell"
            dir="auto"
            aria-colindex={at + 2}
            data-column={at}
            title={shown(found?.cells[at])}
            style={{
              left: `${starts[at]}px`,
              width: `${(starts[at + 1] as number) - (starts[at] as number)}px`,
            }}
          >
            {found === undefined ? '' : shown(found.cells[at])}
          </div>
        ))}
      </div>,
    );
  }
  const { failure } = windows;
  return (
    <div class="grid-frame">
      {failure === undefined ? null : (
        <p class="error" role="alert">
          {messageOf(failure)}{' '}
          <button type="button" onClick={() => windows.show(first, last)}>
            Try again
          </button>
        </p>
      )}
      <div
        ref={scroller}
        class="grid"
        role="grid"
        tabIndex={0}
        aria-label={props.label}
        aria-rowcount={rows + 1}
        aria-colcount={columns.length + 1}
        aria-activedescendant={rows > 0 ? 'active-cell' : undefined}
        onScroll={onScroll}
        onKeyDown={onKeyDown}
        onCopy={onCopy}
      >
        <div
          class="grid-range"
          style={{ height: `${scroll.height + HEADER}px`, width: `${width}px` }}
        >
          <div
            class="grid-view"
            style={{
              height: `${Math.min(size.height, scroll.height + HEADER)}px`,
              width: `${width}px`,
            }}
          >
            <div class="row header" role="row" aria-rowindex={1} style={{ width: `${width}px` }}>
              <div
                class="cell number head"
                role="columnheader"
                aria-colindex={1}
                style={{ width: `${NUMBER_COLUMN}px`, left: `${left}px` }}
              >
                #
              </div>
              {shownColumns.map(({ column, at }) => (
                <Header
                  key={at}
                  column={column}
                  at={at}
                  starts={starts}
                  sort={props.sort}
                  onSort={props.onSort}
                />
              ))}
            </div>
            {line}
          </div>
        </div>
      </div>
    </div>
  );
}

interface HeaderProps extends Pick<GridProps, 'sort' | 'onSort'> {
  readonly column: Column;
  readonly at: number;
  readonly starts: readonly number[];
}

function Header({ column, at, starts, sort, onSort }: HeaderProps) {
  const isSorted = sort?.column === column.name;
  const direction = sort?.descending === true ? 'descending' : 'ascending';
  const arrow = !isSorted ? '' : direction === 'ascending' ? ' ▲' : ' ▼';
  return (
    <div
      class="cell"
      role="columnheader"
      aria-colindex={at + 2}
      aria-sort={isSorted ? direction : 'none'}
      title={`${column.name}: ${column.type}`}
      style={{
        left: `${starts[at]}px`,
        width: `${(starts[at + 1] as number) - (starts[at] as number)}px`,
      }}
    >
      {onSort === undefined ? (
        <bdi class="name">{column.name}</bdi>
      ) : (
        <button type="button" class="name" onClick={() => onSort(column.name)}>
          <bdi>{column.name}</bdi>
          {arrow}
        </button>
      )}
      <span class="type">{column.type}</span>
    </div>
  );
}

function cellClass(type: string, cell: Cell | undefined, isActive: boolean): string {
  const kind = cell === null ? 'null' : isNumeric(type) ? 'right' : '';
  return `cell ${kind}${isActive ? ' active' : ''}`;
}

/** Line breaks would hide what follows them. */
function shown(cell: Cell | undefined): string {
  if (cell === null) return 'null';
  if (cell === undefined) return '';
  return typeof cell === 'string' ? cell.replace(/[\r\n\t]/g, ' ') : String(cell);
}
