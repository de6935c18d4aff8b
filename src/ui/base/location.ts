/**
 * Keeps the state of the page in the fragment of its address, so that back, forward and links work.
 * `parseLocation` reads the fragment, `formatLocation` writes it, and `changed` changes members of
 * its query; `dbOf` gives the member that keeps the database in a link. `#/t/prod/user?view=rows`
 * is a table, `#/n/prod` a namespace, and `#/sql` the SQL view; anything else is the root of the
 * catalog. The browser does not send the fragment to the server.
 */

export type Kind = 'n' | 't' | 'sql';

export interface Location {
  readonly kind: Kind;
  /** The components of the namespace or table. */
  readonly path: readonly string[];
  readonly query: Readonly<Record<string, string>>;
}

const HOME: Location = { kind: 'n', path: [], query: {} };

/** Of anything else than an address of the page, the root of the catalog. */
export function parseLocation(fragment: string): Location {
  const [place = '', query = ''] = fragment.replace(/^#/, '').split(/\?(.*)/s);
  const [, kind = 'n', ...path] = place.split('/');
  if (kind !== 't' && kind !== 'n' && kind !== 'sql') return { ...HOME, query: queryOf(query) };
  return { kind, path: path.filter((part) => part !== '').map(decoded), query: queryOf(query) };
}

export function formatLocation({ kind, path, query }: Location): string {
  const place = [kind, ...path.map(encodeURIComponent)].join('/');
  const given = Object.entries(query).filter(([, value]) => value !== '');
  const text = new URLSearchParams(given).toString();
  return `#/${place}${text === '' ? '' : `?${text}`}`;
}

/** The same place with other members of its query; those that are undefined go. */
export function changed(
  location: Location,
  changes: Readonly<Record<string, string | undefined>>,
): Location {
  const query = Object.entries({ ...location.query, ...changes }).filter(
    (entry): entry is [string, string] => entry[1] !== undefined && entry[1] !== '',
  );
  return { ...location, query: Object.fromEntries(query) };
}

const queryOf = (text: string): Record<string, string> =>
  Object.fromEntries(new URLSearchParams(text));

/** Text of an address; as it is where its escapes are none. */
export function decoded(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}

/** Links to other places keep the database. */
export const dbOf = ({ query }: Location): Record<string, string> =>
  query.db === undefined ? {} : { db: query.db };
