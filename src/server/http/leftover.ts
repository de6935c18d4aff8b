/**
 * `finishAfterBody` sends a response although a part of the request's body was not read
 * (`isUnread`). It then discards the rest, up to 64 MiB or two seconds, and closes the connection;
 * closing it at once could lose the response. A response whose body is not text is broken off
 * instead.
 */
import type { IncomingMessage, ServerResponse } from 'node:http';
import { hasBody, wasTaken } from './body.ts';
import type { HttpAnswer } from './request-state.ts';

const MAX_DISCARDED = 64 * 1024 ** 2;
const MAX_MILLIS = 2_000;

/** Whether a part of the request's body has not been read. */
export function isUnread(request: IncomingMessage): boolean {
  if (!hasBody(request.headers) || request.readableEnded || request.destroyed) return false;
  return !wasTaken(request);
}

/** Sends an answer whose body is text, then discards what is left, and closes the connection. */
export async function finishAfterBody(
  request: IncomingMessage,
  response: ServerResponse,
  { status, headers, body }: HttpAnswer,
): Promise<void> {
  if (typeof body !== 'string') {
    response.destroy();
    await body[Symbol.asyncIterator]().return?.();
    return;
  }
  response.writeHead(status, {
    ...headers,
    'content-length': Buffer.byteLength(body),
    connection: 'close',
  });
  response.write(body);
  await discard(request);
  response.end();
}

function discard(request: IncomingMessage): Promise<void> {
  return new Promise((resolve) => {
    let bytes = 0;
    const finish = (): void => {
      clearTimeout(timer);
      request.off('data', count);
      resolve();
    };
    const count = (piece: Buffer): void => {
      bytes += piece.byteLength;
      if (bytes > MAX_DISCARDED) finish();
    };
    const timer = setTimeout(finish, MAX_MILLIS).unref();
    request.on('data', count);
    request.once('end', finish);
    request.once('close', finish);
    request.once('error', finish);
    request.resume();
  });
}
