/**
 * Clients that are slow on purpose: they read an answer a little at a time, send a body a little at a time,
 * or stop in the middle of one. Each keeps its connection for as long as the soak goes on.
 */
import { connect, type Socket } from 'node:net';

/** What the connections of a soak do. */
export interface SlowClients {
  /** Closes all of them. */
  end(): void;
}

const LOOK_MILLIS = 250;

export interface SlowTask {
  readonly url: string;
  /** Asks for many rows. */
  readonly query: object;
  /** Arrow data of an insert. */
  readonly data: Uint8Array;
  readonly each: number;
}

/** So many of each kind; those that the server closes come again. */
export function slowClients({ url, query, data, each }: SlowTask): SlowClients {
  const { hostname, port } = new URL(url);
  const open = new Set<Socket>();
  let ended = false;
  const head = (path: string, type: string, length: number): string =>
    `POST /v1/table/t/${path} HTTP/1.1\r\nhost: ${hostname}\r\ncontent-type: ${type}\r\ncontent-length: ${length}\r\n\r\n`;
  const asked = Buffer.from(JSON.stringify(query));
  const insert = head('insert', 'application/vnd.apache.arrow.stream', data.length);
  const begin = (start: (socket: Socket) => NodeJS.Timeout | undefined): void => {
    if (ended) return;
    const socket = connect({ host: hostname, port: Number(port) });
    open.add(socket);
    let timer: NodeJS.Timeout | undefined;
    socket.on('connect', () => {
      timer = start(socket);
    });
    socket.on('error', () => {});
    socket.on('close', () => {
      clearInterval(timer);
      open.delete(socket);
      setTimeout(() => begin(start), LOOK_MILLIS).unref();
    });
  };
  const reader = (socket: Socket): NodeJS.Timeout => {
    socket.write(head('query', 'application/json', asked.length));
    socket.write(asked);
    socket.on('readable', () => {});
    return setInterval(() => void socket.read(LOOK_MILLIS), LOOK_MILLIS);
  };
  const writer = (socket: Socket): NodeJS.Timeout => {
    socket.resume();
    socket.write(insert);
    let at = 0;
    return setInterval(() => {
      socket.write(data.subarray(at, at + LOOK_MILLIS));
      at += LOOK_MILLIS;
    }, LOOK_MILLIS);
  };
  const halfWay = (socket: Socket): undefined => {
    socket.resume();
    socket.write(insert);
    socket.write(data.subarray(0, data.length >> 1));
  };
  for (let at = 0; at < each; at++) for (const start of [reader, writer, halfWay]) begin(start);
  return {
    end: () => {
      ended = true;
      for (const socket of open) socket.destroy();
    },
  };
}
