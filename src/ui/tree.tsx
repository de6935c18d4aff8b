/**
 * `CatalogTree` shows the namespaces and tables of the catalog as a tree, at most 200,000 of each
 * in a namespace. It draws only the items in sight, so that tens of thousands of names stay quick.
 * It fetches the content of a namespace when it is opened, and of all that are open when the window
 * gets the focus. A text in the field lists the tables whose ids contain all of its words. Arrow
 * keys move, open and close; Enter and the space bar show an item.
 */
import {
  allPages,
  dbOf,
  formatLocation,
  isAborted,
  type Location,
  messageOf,
  useEffect,
  useLayoutEffect,
  useMemo,
  useRef,
  useState,
} from './base/index.ts';

interface Node {
  readonly kind: 'n' | 't';
  readonly path: readonly string[];
  readonly name: string;
  readonly depth: number;
  /** From 1 on, among those of one namespace, and how many these are: only some are in the document. */
  readonly place: number;
  readonly of: number;
}

interface Listed {
  readonly namespaces: readonly string[];
  readonly tables: readonly string[];
  readonly failure?: string;
}

const ITEM = 24;
const keyOf = (path: readonly string[]): string => path.join('/');

async function list(path: readonly string[]): Promise<Listed> {
  const id = [...path];
  const [namespaces, tables] = await Promise.all([
    allPages<{ namespaces: string[]; page_token?: string }>('ListNamespaces', { id }),
    allPages<{ tables: string[]; page_token?: string }>('ListTables', { id }),
  ]);
  return {
    namespaces: namespaces.flatMap((page) => page.namespaces),
    tables: tables.flatMap((page) => page.tables),
  };
}

export interface TreeProps {
  readonly location: Location;
  readonly go: (location: Location) => void;
}

export function CatalogTree({ location, go }: TreeProps) {
  const [listed, setListed] = useState<ReadonlyMap<string, Listed>>(new Map());
  const [open, setOpen] = useState<ReadonlySet<string>>(() => openTo(location.path));
  const [all, setAll] = useState<readonly string[] | undefined>();
  const [failure, setFailure] = useState<string | undefined>();
  const [top, setTop] = useState(0);
  const [height, setHeight] = useState(400);
  const [active, setActive] = useState(0);
  const scroller = useRef<HTMLDivElement>(null);
  const asked = useRef(new Set<string>());
  const [focused, setFocused] = useState(0);
  /** What `focused` was when `all` was listed. */
  const allOf = useRef(-1);
  const filter = location.query.find ?? '';

  const load = (path: readonly string[]): void => {
    const key = keyOf(path);
    if (asked.current.has(key)) return;
    asked.current.add(key);
    list(path).then(
      (found) => setListed((before) => new Map(before).set(key, found)),
      (error: unknown) => {
        // What was listed before stays in sight.
        setListed((before) => {
          const known = before.get(key) ?? { namespaces: [], tables: [] };
          return new Map(before).set(key, { ...known, failure: messageOf(error) });
        });
      },
    );
  };
  // Tables may have come and gone meanwhile.
  useEffect(() => {
    const relist = (): void => {
      asked.current.clear();
      setFocused((times) => times + 1);
    };
    window.addEventListener('focus', relist);
    return () => window.removeEventListener('focus', relist);
  }, []);
  useEffect(
    () => setOpen((before) => new Set([...before, ...openTo(location.path)])),
    [keyOf(location.path)],
  );
  // Lists that failed are asked for again when something is opened.
  useEffect(() => {
    for (const [key, { failure }] of listed) if (failure !== undefined) asked.current.delete(key);
  }, [open]);
  // From the root on: what its parent does not list is not shown, and may not be there.
  useEffect(() => {
    load([]);
    for (const key of open) {
      const path = key.split('/');
      const parent = listed.get(keyOf(path.slice(0, -1)));
      if (parent?.namespaces.includes(path.at(-1) as string)) load(path);
    }
  }, [open, listed, focused]);

  useEffect(() => {
    if (filter === '' || allOf.current === focused) return undefined;
    const controller = new AbortController();
    allPages<{ tables: string[]; page_token?: string }>(
      'ListAllTables',
      {},
      controller.signal,
    ).then(
      (pages) => {
        allOf.current = focused;
        setFailure(undefined);
        setAll(pages.flatMap(({ tables }) => tables));
      },
      (error: unknown) => {
        if (!isAborted(error)) setFailure(messageOf(error));
      },
    );
    return () => controller.abort();
  }, [filter === '', focused]);

  const nodes = useMemo(
    () => (filter === '' ? nodesOf([], listed, open) : matching(all ?? [], filter)),
    [listed, open, filter, all],
  );
  useLayoutEffect(() => {
    const element = scroller.current as HTMLDivElement;
    const measure = (): void => setHeight(element.clientHeight);
    measure();
    const observer = new ResizeObserver(measure);
    observer.observe(element);
    return () => observer.disconnect();
  }, []);

  const toggle = (node: Node, wanted?: boolean): void => {
    const key = keyOf(node.path);
    const next = new Set(open);
    if (wanted ?? !next.has(key)) next.add(key);
    else {
      next.delete(key);
      // It is listed anew where it is opened again.
      asked.current.delete(key);
    }
    setOpen(next);
  };
  const show = (node: Node): void => {
    const query = { ...(filter === '' ? {} : { find: filter }), ...dbOf(location) };
    go({ kind: node.kind, path: node.path, query });
    if (node.kind === 'n') toggle(node, true);
  };
  const focus = (at: number): void => {
    const next = Math.min(Math.max(0, at), nodes.length - 1);
    setActive(next);
    const element = scroller.current as HTMLDivElement;
    if (next * ITEM < element.scrollTop) element.scrollTop = next * ITEM;
    else if ((next + 1) * ITEM > element.scrollTop + height) {
      element.scrollTop = (next + 1) * ITEM - height;
    }
  };
  const onKeyDown = (event: KeyboardEvent): void => {
    const node = nodes[active];
    if (node === undefined) return;
    const isOpen = open.has(keyOf(node.path));
    const parent = (): number => {
      const depth = node.depth;
      for (let at = active; at >= 0; at--) if ((nodes[at] as Node).depth < depth) return at;
      return active;
    };
    const moves: Record<string, () => void> = {
      ArrowDown: () => focus(active + 1),
      ArrowUp: () => focus(active - 1),
      Home: () => focus(0),
      End: () => focus(nodes.length - 1),
      PageDown: () => focus(active + Math.floor(height / ITEM)),
      PageUp: () => focus(active - Math.floor(height / ITEM)),
      ArrowRight: () => (node.kind === 'n' && !isOpen ? toggle(node, true) : focus(active + 1)),
      ArrowLeft: () => (node.kind === 'n' && isOpen ? toggle(node, false) : focus(parent())),
      Enter: () => show(node),
      ' ': () => show(node),
    };
    const act = moves[event.key];
    if (act === undefined || event.ctrlKey || event.altKey || event.metaKey) return;
    event.preventDefault();
    act();
  };

  const first = Math.max(0, Math.floor(top / ITEM) - 5);
  const last = Math.min(nodes.length, Math.ceil((top + height) / ITEM) + 5);
  const failures =
    failure ?? [...listed.values()].find((one) => one.failure !== undefined)?.failure;
  const current = `${location.kind} ${keyOf(location.path)}`;
  return (
    <nav class="tree" aria-label="Catalog">
      <input
        type="search"
        class="find"
        placeholder="Find a table"
        aria-label="Find a table by its id"
        value={filter}
        onInput={(event) => {
          const find = event.currentTarget.value;
          go({ ...location, query: { ...location.query, find } });
        }}
      />
      {failures === undefined ? null : (
        <p class="error" role="alert">
          {failures}
        </p>
      )}
      <p class="note" role="status">
        {noteOf(filter, all, nodes.length)}
      </p>
      <div
        ref={scroller}
        class="tree-items"
        role="tree"
        aria-label="Namespaces and tables"
        tabIndex={0}
        aria-activedescendant={nodes.length > 0 ? 'active-item' : undefined}
        onScroll={(event) => setTop(event.currentTarget.scrollTop)}
        onKeyDown={onKeyDown}
      >
        <div class="tree-range" style={{ height: `${nodes.length * ITEM}px` }}>
          {nodes.slice(first, last).map((node, index) => {
            const at = first + index;
            const isOpen = open.has(keyOf(node.path));
            const isCurrent = current === `${node.kind} ${keyOf(node.path)}`;
            return (
              <a
                key={`${node.kind} ${keyOf(node.path)}`}
                id={at === active ? 'active-item' : undefined}
                class={`item ${node.kind}${isCurrent ? ' current' : ''}${at === active ? ' active' : ''}`}
                role="treeitem"
                tabIndex={-1}
                aria-level={node.depth + 1}
                aria-posinset={node.place}
                aria-setsize={node.of}
                aria-selected={isCurrent}
                aria-expanded={node.kind === 'n' ? isOpen : undefined}
                aria-label={`${node.kind === 'n' ? 'namespace' : 'table'} ${node.name}`}
                href={formatLocation({ kind: node.kind, path: node.path, query: dbOf(location) })}
                style={{ top: `${at * ITEM}px`, paddingLeft: `${8 + node.depth * 14}px` }}
                onClick={(event) => {
                  if (event.ctrlKey || event.metaKey || event.shiftKey) return;
                  event.preventDefault();
                  setActive(at);
                  if (node.kind === 'n' && isOpen && isCurrent) toggle(node, false);
                  else show(node);
                }}
              >
                <span class="mark" aria-hidden="true">
                  {node.kind === 't' ? '▦' : isOpen ? '▾' : '▸'}
                </span>
                {node.name}
              </a>
            );
          })}
        </div>
      </div>
    </nav>
  );
}

function noteOf(filter: string, all: readonly string[] | undefined, shown: number): string {
  if (filter === '') return '';
  if (all === undefined) return 'Listing the tables…';
  return `${shown.toLocaleString('en')} of ${all.length.toLocaleString('en')} tables`;
}

function openTo(path: readonly string[]): Set<string> {
  return new Set(path.slice(0, -1).map((_, at) => keyOf(path.slice(0, at + 1))));
}

function nodesOf(
  path: readonly string[],
  listed: ReadonlyMap<string, Listed>,
  open: ReadonlySet<string>,
): Node[] {
  const { namespaces = [], tables = [] } = listed.get(keyOf(path)) ?? {};
  const nodes: Node[] = [];
  const [depth, of] = [path.length, namespaces.length + tables.length];
  for (const [at, name] of namespaces.entries()) {
    const own = [...path, name];
    nodes.push({ kind: 'n', path: own, name, depth, place: at + 1, of });
    if (!open.has(keyOf(own))) continue;
    for (const node of nodesOf(own, listed, open)) nodes.push(node);
  }
  for (const [at, name] of tables.entries()) {
    const place = namespaces.length + at + 1;
    nodes.push({ kind: 't', path: [...path, name], name, depth, place, of });
  }
  return nodes;
}

/** Tables whose id has all words of the filter. */
function matching(ids: readonly string[], filter: string): Node[] {
  const words = filter
    .toLowerCase()
    .split(/[\s/$]+/)
    .filter((word) => word !== '');
  return ids
    .filter((id) => words.every((word) => id.toLowerCase().includes(word)))
    .map((id, at, { length }) => {
      const path = id.split('$');
      return { kind: 't', path, name: path.join('/'), depth: 0, place: at + 1, of: length };
    });
}
