/**
 * `Pipelines` puts the requests that connections send without waiting for answers in line. Of each
 * connection one is under way, and at most 16 begin in a turn of the event loop, so that thousands
 * that came together do not keep other connections waiting. A connection with more than 16
 * unanswered is read no further, and is closed if 8,192 requests of all connections are unanswered.
 */
import type { ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { afterRound } from '../../event-loop.ts';

/** Requests of one connection that may wait for an earlier answer before nothing more of it is read. */
const MOST_BEHIND = 16;

/**
 * Requests of all connections that may be unanswered while one connection has more than `MOST_BEHIND` of
 * them. What Node reads of a connection at once may hold thousands of requests, and each takes 3 KB.
 */
const MOST_UNANSWERED = 8_192;

/** The requests of one connection. */
interface Line {
  /**
   * All answers that were neither sent nor given up, in the order of their requests, with what begins
   * those whose work has not begun. One is under way, the first.
   */
  readonly pending: Map<ServerResponse, (() => void) | undefined>;
  /** Bytes that had come when the head of the last request was parsed. */
  bytesRead: number;
  /** How many requests of these bytes began in this turn of the event loop. */
  begun: number;
}

export class Pipelines {
  readonly #lines = new WeakMap<Socket, Line>();
  /** How many answers there are in all lines. */
  #unanswered = 0;

  /** How many requests of a connection are unanswered. */
  sizeOf(socket: Socket): number {
    return this.#lines.get(socket)?.pending.size ?? 0;
  }

  /** @param begin carries the request out; called once those before it are answered */
  add(socket: Socket, reply: ServerResponse, begin: () => void): void {
    const line = this.#lineOf(socket);
    const { pending } = line;
    if (pending.size > MOST_BEHIND && this.#unanswered >= MOST_UNANSWERED) {
      leaveUnparsed(socket);
      socket.destroy();
      return;
    }
    if (line.bytesRead !== socket.bytesRead) line.begun = 0;
    line.bytesRead = socket.bytesRead;
    pending.set(reply, begin);
    this.#unanswered++;
    reply.once('close', () => {
      // Those of a connection that is gone are not counted any more.
      if (!pending.delete(reply)) return;
      this.#unanswered--;
      if (pending.size === MOST_BEHIND) socket.resume();
      if (pending.size > 0) beginNext(socket, line);
    });
    // Node goes on with the next request in the bytes at hand; these end before a tick does.
    if (pending.size > MOST_BEHIND) process.nextTick(() => pauseWhile(socket, pending));
    if (pending.size === 1) beginNext(socket, line);
  }

  #lineOf(socket: Socket): Line {
    const known = this.#lines.get(socket);
    if (known !== undefined) return known;
    const line: Line = { pending: new Map(), bytesRead: 0, begun: 0 };
    this.#lines.set(socket, line);
    // Of answers that wait behind another, not every Node tells that their connection is gone.
    socket.once('close', () => {
      this.#unanswered -= line.pending.size;
      line.pending.clear();
    });
    return line;
  }
}

/** Some begin at once, and the next ones in the next turn. */
function beginNext(socket: Socket, line: Line): void {
  if (line.begun < MOST_BEHIND) {
    line.begun++;
    beginFirst(socket, line);
    return;
  }
  afterRound(() => {
    line.begun = 1;
    beginFirst(socket, line);
  });
}

/**
 * A request may rest on what an earlier one of its connection did, so it begins once that is answered.
 * Those behind an answer that nobody waits for any more, or that was the last of its connection, never
 * begin.
 */
function beginFirst(socket: Socket, { pending }: Line): void {
  const [first] = pending;
  if (first === undefined || !socket.writable) return;
  const [reply, begin] = first;
  pending.set(reply, undefined);
  begin?.();
}

/** Lets nothing more be read while many requests of the connection wait. */
function pauseWhile(socket: Socket, pending: ReadonlyMap<unknown, unknown>): void {
  if (pending.size > MOST_BEHIND) socket.pause();
}

/**
 * Ends the parsing of the bytes that were read of a connection. Node would make a request of each that
 * they hold, though the connection is closed; after a head that changes the protocol it makes no more.
 * `onIncoming` is no public member of Node's parser: it was tried on Node 20.20, 22.23 and 24.21. Where
 * it is not there, all of the bytes are parsed.
 */
function leaveUnparsed(socket: Socket & { parser?: { onIncoming?: () => number } }): void {
  const CHANGES_PROTOCOL = 2;
  if (socket.parser) socket.parser.onIncoming = () => CHANGES_PROTOCOL;
}
