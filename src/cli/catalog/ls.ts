/**
 * `dirspace ls` lists the namespaces and tables in a namespace. `-l` adds details of each table
 * (ls-details.ts), by which `--sort` can order, and `-r` includes everything below. Also exports
 * `everyListing`, which lists a namespace and all namespaces below it, and throws UsageError beyond
 * 256 levels.
 */
import {
  type Answer,
  type Call,
  type Command,
  columns,
  parsePath,
  UsageError,
} from '../terminal/index.ts';
import { detailsOf, type Entry, SORT_KEYS, type SortKey, sortEntries } from './ls-details.ts';

export interface Listing {
  readonly path: readonly string[];
  readonly namespaces: readonly string[];
  readonly tables: readonly string[];
}

export const ls: Command = {
  name: 'ls',
  summary: 'List the namespaces and tables of a namespace',
  otherNames: ['list', 'dir'],
  arguments: [['[path]', 'the namespace; the root if absent']],
  choices: { sort: SORT_KEYS },
  options: [
    { flags: '-r, --recursive', summary: 'list what is in its namespaces too' },
    {
      flags: '-l, --long',
      summary: 'tell rows, bytes, the newest version and when it was made',
    },
    {
      flags: '--sort <key>',
      summary: `${SORT_KEYS.join(', ')}; the largest or newest first, but for names. Implies -l`,
    },
  ],
  examples: [
    'dirspace ls',
    'dirspace ls prod/search',
    'dirspace ls -r --json',
    'dirspace ls -l --sort bytes',
  ],
  refusedIsUsage: true,
  reads: true,
  async run(call: Call): Promise<Answer> {
    const { options } = call;
    const path = parsePath(call.arguments[0] ?? '');
    const isRecursive = options.flag('recursive');
    const sort = options.choice('sort', SORT_KEYS);
    const isLong = options.flag('long') || options.text('sort') !== undefined;
    const listings = isRecursive ? await everyListing(call, path) : [await list(call, path)];
    if (isLong) return longAnswer(call, path, listings, sort);
    const below = (name: string, at: Listing): string =>
      [...at.path.slice(path.length), name].join('/');
    const names = listings.flatMap((at) => lines(at).map((line) => below(line, at)));
    const shown = (isRecursive ? names.sort() : names).join('\n');
    const json = isRecursive ? { path, listings } : listings[0];
    return { json, text: shown, ...emptyNote(names.length, call.show(path)) };
  },
};

async function longAnswer(
  call: Call,
  path: readonly string[],
  listings: readonly Listing[],
  sort: SortKey,
): Promise<Answer> {
  const entries: Entry[] = sortEntries(await detailsOf(call, listings), sort);
  const rows = entries.map(({ id, kind, rows, bytes, version, changed, problem }) => [
    id.slice(path.length).join('/') + (kind === 'namespace' ? '/' : ''),
    rows?.toLocaleString('en'),
    bytes?.toLocaleString('en'),
    version ?? problem,
    changed,
  ]);
  const text =
    rows.length === 0 ? '' : columns(['NAME', 'ROWS', 'BYTES', 'VERSION', 'CHANGED'], rows);
  return { json: { path, entries }, text, ...emptyNote(rows.length, call.show(path)) };
}

const emptyNote = (count: number, id: string): { note?: string } =>
  count === 0 ? { note: `There are no namespaces and no tables in ${id}.` } : {};

const lines = ({ namespaces, tables }: Listing): string[] => [
  ...namespaces.map((name) => `${name}/`),
  ...tables,
];

async function list({ connection, signal }: Call, path: string[]): Promise<Listing> {
  const namespaces: string[] = [];
  let pageToken: string | undefined;
  do {
    const page = await connection.listNamespaces(
      path,
      pageToken === undefined ? { signal } : { pageToken, signal },
    );
    for (const name of page.namespaces) namespaces.push(name);
    pageToken = page.pageToken;
  } while (pageToken !== undefined);
  return { path, namespaces, tables: await connection.tableNames(path, { signal }) };
}

/** Lists a namespace and all namespaces below it. */
export async function everyListing(call: Call, path: string[]): Promise<Listing[]> {
  const listings: Listing[] = [];
  await descend(call, path, listings);
  return listings;
}

/** Deeper than any path that the system would take. */
const MAX_DEPTH = 256;

async function descend(call: Call, path: string[], into: Listing[]): Promise<void> {
  if (path.length > MAX_DEPTH)
    throw new UsageError(`${call.show(path)} is nested too deep to list.`);
  const listing = await list(call, path);
  into.push(listing);
  for (const name of listing.namespaces) await descend(call, [...path, name], into);
}
