/**
 * Cuts sorted lists into pages (`pageOf`), and checks page tokens (`pageStart`) and limits
 * (`pageLimit`), which throw InvalidInput. A page token (`pageToken`) encodes the last key of the
 * page before, and keys must be unique. So an entry that stays in the list is neither missed nor
 * repeated. Without a limit a page has all entries. `byCodeUnits` defines the order of names, and
 * `firstAfter` searches a sorted list.
 */
import { DirspaceError } from '../../errors.ts';

const PREFIX = 'after:';

export interface PageRequest {
  readonly limit?: number | undefined;
  readonly page_token?: string | undefined;
}

export interface Page<Item> {
  readonly items: readonly Item[];
  readonly page_token?: string;
}

/** The key to continue after, or undefined at the start. @throws InvalidInput */
export function pageStart(request: PageRequest): string | undefined {
  if (request.page_token === undefined || request.page_token === '') return undefined;
  const text = Buffer.from(request.page_token, 'base64url').toString();
  if (!text.startsWith(PREFIX)) throw strangeToken();
  return text.slice(PREFIX.length);
}

export const strangeToken = (): DirspaceError =>
  new DirspaceError(
    'InvalidInput',
    'page_token is not one that this list handed out. Leave it out to start from the beginning.',
  );

/** The page of `sorted` that the request asks for; keys are unique and in the list's order. */
export function pageOf<Item>(
  sorted: readonly Item[],
  request: PageRequest,
  keyOf: (item: Item) => string,
  isAfter: (key: string, start: string) => boolean = (key, start) => key > start,
): Page<Item> {
  const limit = pageLimit(request);
  const start = pageStart(request);
  const from = start === undefined ? 0 : firstAfter(sorted, (item) => isAfter(keyOf(item), start));
  const items = from === 0 && sorted.length <= limit ? sorted : sorted.slice(from, from + limit);
  const last = items.at(-1);
  if (last === undefined || from + items.length >= sorted.length) return { items };
  return { items, page_token: pageToken(keyOf(last)) };
}

/** The token of the page after the one whose last key that is. */
export const pageToken = (key: string): string => Buffer.from(PREFIX + key).toString('base64url');

/** Items a page may have. @throws InvalidInput */
export function pageLimit(request: PageRequest): number {
  const { limit } = request;
  if (limit === undefined) return Number.MAX_SAFE_INTEGER;
  if (Number.isSafeInteger(limit) && limit > 0) return limit;
  throw new DirspaceError('InvalidInput', `limit is ${limit}; give a whole number from 1 on.`);
}

/** The place of the first item that comes after; all behind it do. */
export function firstAfter<Item>(
  sorted: readonly Item[],
  isAfter: (item: Item) => boolean,
): number {
  let low = 0;
  let high = sorted.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    const item = sorted[middle];
    if (item !== undefined && isAfter(item)) high = middle;
    else low = middle + 1;
  }
  return low;
}

/** Code-unit order: what every list is sorted in. */
export const byCodeUnits = (left: string, right: string): number =>
  left < right ? -1 : left > right ? 1 : 0;
