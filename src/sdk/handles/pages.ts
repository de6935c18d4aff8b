/**
 * `pages` iterates over all pages of a list, until one has no page token. It throws Internal if a
 * catalog returns the same page token twice in a row, because the list would never end.
 */
import { DirspaceError } from '../../errors.ts';

interface Page {
  page_token?: string | undefined;
}

/** Fetches page after page until one carries no token. */
export async function* pages<Answer extends Page>(
  fetch: (token: { page_token?: string }) => Promise<Answer>,
): AsyncGenerator<Answer, void, undefined> {
  let token: string | undefined;
  do {
    const page = await fetch(token === undefined ? {} : { page_token: token });
    yield page;
    const next = page.page_token || undefined;
    if (next !== undefined && next === token) {
      throw new DirspaceError('Internal', 'The catalog answers the same page of a list forever.');
    }
    token = next;
  } while (token !== undefined);
}
