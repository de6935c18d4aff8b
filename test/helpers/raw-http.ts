/** HTTP as bytes on a socket: what no client library would send. */
import { connect, type Socket } from 'node:net';

export interface RawConnection {
  readonly socket: Socket;
  /** What came back so far. */
  text(): string;
  /** Everything that came back, once the server has closed the connection. */
  readonly closed: Promise<string>;
}

/** A connection to a server at `url`, from the address `localAddress`; `bytes` are sent first. */
export function rawConnection(
  url: string,
  bytes: string | Uint8Array = '',
  localAddress?: string,
): RawConnection {
  const { hostname, port } = new URL(url);
  const host = hostname.replace(/^\[|\]$/g, '');
  const socket = connect({ port: Number(port), host, ...(localAddress && { localAddress }) });
  let text = '';
  socket.setEncoding('utf8').on('data', (piece: string) => {
    text += piece;
  });
  // A connection that breaks has an end too.
  socket.on('error', () => {});
  if (bytes.length > 0) socket.write(bytes);
  const closed = new Promise<string>((resolve) => socket.once('close', () => resolve(text)));
  return { socket, text: () => text, closed };
}

/** The answer to bytes after which the connection is closed. */
export const rawAnswer = (url: string, bytes: string): Promise<string> =>
  rawConnection(url, bytes).closed;
