/**
 * `urlSource`: the bytes at an address as a `ByteSource`. Only addresses that the user gives are
 * fetched, with `fetch`; a `file:` address is a file on the disk. Another pass fetches anew.
 */
import { fileURLToPath } from 'node:url';
import type { ByteSource } from './byte-source.ts';
import { fileProblem } from './file-problem.ts';
import { fileSource } from './file-source.ts';

const SCHEME = /^(https?|file):\/\//i;

/** Whether the text is an address and no path. */
export const isAddress = (text: string): boolean => SCHEME.test(text);

/** @throws InvalidInput for a text that only begins as an address does */
function urlOf(address: string): URL {
  if (URL.canParse(address)) return new URL(address);
  const file = address.slice(0, 80);
  throw fileProblem(`${JSON.stringify(file)} is no address: its host cannot be read.`, { file });
}

/** The last part of the path, which says by its ending what the file is. @throws InvalidInput */
export function nameOfAddress(address: string): string {
  const name = urlOf(address).pathname.split('/').at(-1) ?? '';
  try {
    return decodeURIComponent(name);
  } catch {
    // A percent sign that stands for itself.
    return name;
  }
}

/** @throws InvalidInput for an answer without the file, and for other schemes */
export async function urlSource(address: string, signal?: AbortSignal): Promise<ByteSource> {
  const url = urlOf(address);
  if (url.protocol === 'file:') return fileSource(fileURLToPath(url), signal);
  // Names and passwords in an address are secrets.
  const name = `${url.origin}${url.pathname}`;
  const answerOf = async (): Promise<Response> => {
    const answer = await fetch(url, signal ? { signal } : {}).catch((cause: Error) => {
      if (signal?.aborted === true) throw cause;
      const why = cause.cause instanceof Error ? cause.cause.message : cause.message;
      throw fileProblem(`${name} cannot be fetched: ${why}.`, { file: name }, cause);
    });
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
  return {
    name,
    size: isPlain && length !== null && /^\d+$/.test(length) ? Number(length) : undefined,
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
