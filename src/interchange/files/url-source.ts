/**
 * `urlSource` opens the file at an http or https URL as a `ByteSource`, with `fetch`; a `file:` URL
 * names a file on the disk. A user and a password in the URL become a Basic Authorization header,
 * and no message shows them or the query. A Parquet file, by the ending of its name, is read by
 * ranges if the server announces them. A URL that cannot be parsed, an answer without the file, and
 * one that breaks off or changes throw InvalidInput. `isAddress` tells URLs from paths, and
 * `nameOfAddress` returns the name of the file.
 */
import { isError } from '../../errors.ts';
import type { FileBytes } from '../../ipc/index.ts';
import { fileOf } from '../../local-path.ts';
import type { ByteSource } from './byte-source.ts';
import { fileProblem } from './file-problem.ts';
import { fileSource } from './file-source.ts';

const SCHEME = /^(https?|file):\/\//i;

/** Whether the text is an address and no path. */
export const isAddress = (text: string): boolean => SCHEME.test(text);

/** @throws InvalidInput for a text that only begins as an address does */
function urlOf(address: string): URL {
  if (URL.canParse(address)) return new URL(address);
  const file = shownAddress(address);
  throw fileProblem(`${JSON.stringify(file)} is no address: its host cannot be read.`, { file });
}

/** An address that cannot be read, without its query, and without what may be a password in it. */
function shownAddress(address: string): string {
  const plain = address.includes('@') ? address.replace(/\/\/.*$/s, '//...') : address;
  return plain.replace(/[?#].*$/s, '').slice(0, 80);
}

/** The last part of the path, which says by its ending what the file is. @throws InvalidInput */
export function nameOfAddress(address: string): string {
  return decoded(urlOf(address).pathname.split('/').at(-1) ?? '');
}

/** @throws InvalidInput for an answer without the file, and for other schemes */
export async function urlSource(address: string, signal?: AbortSignal): Promise<ByteSource> {
  const url = urlOf(address);
  if (url.protocol === 'file:') return fileSource(fileOf(url), signal);
  const credentials = credentialsOf(url);
  url.username = '';
  url.password = '';
  const name = `${url.origin}${url.pathname}`;
  // On a redirect to another origin, fetch leaves the authorization out.
  const ask: Ask = (headers) =>
    fetch(url, { headers: { ...credentials, ...headers }, ...(signal && { signal }) }).catch(
      (cause: Error) => {
        if (signal?.aborted === true) throw cause;
        const why = isError(cause.cause) ? cause.cause.message : cause.message;
        throw fileProblem(`${name} cannot be fetched: ${why}.`, { file: name }, cause);
      },
    );
  const answerOf = async (): Promise<Response> => {
    const answer = await ask({});
    if (answer.status === 200 && answer.body !== null) return answer;
    await answer.body?.cancel();
    const message = `${name} answered ${answer.status} ${answer.statusText}, and no file.`;
    throw fileProblem(message.replace(' ,', ','), { file: name });
  };
  let first: Response | undefined = await answerOf();
  const length = first.headers.get('content-length');
  // A length is that of what the server compressed on the way.
  const isPlain = !first.headers.has('content-encoding');
  let read = 0;
  const found = isPlain && length !== null && /^\d+$/.test(length) ? Number(length) : undefined;
  const hasRanges = found !== undefined && first.headers.get('accept-ranges') === 'bytes';
  const dropFirst = async (): Promise<void> => {
    const dropped = first;
    first = undefined;
    await dropped?.body?.cancel();
  };
  const count = (bytes: number): void => {
    read += bytes;
  };
  return {
    name,
    remoteRanges:
      hasRanges && BY_RANGES.test(url.pathname)
        ? rangesOf(ask, name, found, first.headers, { dropFirst, count })
        : undefined,
    size: found,
    isRepeatable: true,
    async *pieces() {
      const answer = first ?? (await answerOf());
      first = undefined;
      read = 0;
      try {
        for await (const piece of answer.body as unknown as AsyncIterable<Uint8Array>) {
          read += piece.length;
          yield piece;
        }
      } catch (cause) {
        if (signal?.aborted === true) throw cause;
        const message = `${name} broke off after ${read} bytes.`;
        throw fileProblem(message, { file: name }, cause);
      }
    },
    ranges: undefined,
    bytesRead: () => read,
  };
}

/** Requests the file. @throws InvalidInput where no server answers */
type Ask = (headers: Readonly<Record<string, string>>) => Promise<Response>;

function credentialsOf({ username, password }: URL): { readonly authorization?: string } {
  if (username === '' && password === '') return {};
  const text = [username, password].map(decoded).join(':');
  return { authorization: `Basic ${Buffer.from(text).toString('base64')}` };
}

/** Percent signs that stand for themselves stay. */
const decoded = (text: string): string => {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
};

/** Endings of formats that are read from their end. */
const BY_RANGES = /\.(?:parquet|pq)$/i;
const RANGE_BYTES = 1 << 22;

function rangesOf(
  ask: Ask,
  name: string,
  size: number,
  first: Headers,
  around: {
    /** Ends the answer that has the whole file. */
    dropFirst(): Promise<void>;
    count(bytes: number): void;
  },
): FileBytes {
  const { dropFirst, count } = around;
  const tag = first.get('etag');
  // If-Match compares strongly: a weak tag matches nothing, not even itself.
  const match = tag === null || tag.startsWith('W/') ? {} : { 'if-match': tag };
  const read = async (from: number, to: number): Promise<Uint8Array> => {
    if (to <= from) return new Uint8Array(0);
    await dropFirst();
    const answer = await ask({ range: `bytes=${from}-${to - 1}`, ...match });
    const [, all] = /\/(\d+)$/.exec(answer.headers.get('content-range') ?? '') ?? [];
    const isSame =
      answer.status === 206 && Number(all) === size && isOfSameFile(first, answer.headers);
    // Of an answer without end no more is read than was asked for.
    const bytes = isSame ? await wholeAnswer(answer, to - from) : undefined;
    if (bytes === undefined) {
      await answer.body?.cancel();
      const found = isSame
        ? 'other bytes than were asked for'
        : answer.status === 206
          ? 'a range of another file'
          : `${answer.status}`;
      const message = `${name} was changed while it was read, or gives no ranges: it answered ${found}.`;
      throw fileProblem(message, { file: name });
    }
    count(bytes.length);
    return bytes;
  };
  return { size, read, piece: RANGE_BYTES };
}

/** Compares tags weakly, and times; a header that one of both lacks says nothing. */
const isOfSameFile = (first: Headers, answer: Headers): boolean =>
  ['etag', 'last-modified'].every((header) => {
    const [before, after] = [first, answer].map((each) => each.get(header)?.replace(/^W\//, ''));
    return before === undefined || after === undefined || before === after;
  });

/** Undefined where it has another length. */
async function wholeAnswer(answer: Response, length: number): Promise<Uint8Array | undefined> {
  const bytes = new Uint8Array(length);
  let filled = 0;
  for await (const piece of answer.body as unknown as AsyncIterable<Uint8Array>) {
    if (filled + piece.length > length) return undefined;
    bytes.set(piece, filled);
    filled += piece.length;
  }
  return filled === length ? bytes : undefined;
}
