/**
 * `downloadAddress` builds the address at which the server returns rows as a file, for a request of
 * the views `rows` and `sql`. It returns undefined if the address would have more than 12,000
 * characters.
 */
import { databaseName, ownAddress } from './server.ts';

/** Characters; a server takes 16 KiB of headers, of which cookies are a part. */
const MOST_CHARACTERS = 12_000;

export function downloadAddress(format: string, asked: object): string | undefined {
  const db = databaseName();
  const query = new URLSearchParams({
    ask: JSON.stringify(asked),
    ...(db === undefined ? {} : { db }),
  });
  const address = ownAddress(`rows/${format}?${query}`);
  return address.length <= MOST_CHARACTERS ? address : undefined;
}
