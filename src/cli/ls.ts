/** `dirspace ls`: what a namespace holds. */
import { type Answer, type Call, type Command, UsageError } from './command.ts';
import { parsePath } from './ids.ts';

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
  options: [{ flags: '-r, --recursive', summary: 'list what is in its namespaces too' }],
  examples: ['dirspace ls', 'dirspace ls prod/search', 'dirspace ls -r --json'],
  reads: true,
  async run(call: Call): Promise<Answer> {
    const { options } = call;
    const path = parsePath(call.arguments[0] ?? '');
    if (!options.flag('recursive')) {
      const listing = await list(call, path);
      const shown = lines(listing).join('\n');
      return { json: listing, text: shown, ...emptyNote(shown, call.show(path)) };
    }
    const listings = await everyListing(call, path);
    const below = (name: string, at: Listing): string =>
      [...at.path.slice(path.length), name].join('/');
    const names = listings.flatMap((at) => lines(at).map((line) => below(line, at)));
    const shown = names.sort().join('\n');
    return { json: { path, listings }, text: shown, ...emptyNote(shown, call.show(path)) };
  },
};

const emptyNote = (shown: string, id: string): { note?: string } =>
  shown === '' ? { note: `There are no namespaces and no tables in ${id}.` } : {};

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
    namespaces.push(...page.namespaces);
    pageToken = page.pageToken;
  } while (pageToken !== undefined);
  return { path, namespaces, tables: await connection.tableNames(path, { signal }) };
}

/** Of a namespace and of all below it. */
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
