/**
 * Reads request bodies: JSON as a whole and within limits (`readJson`), Arrow data as a stream with
 * backpressure (`arrowPieces`). Callers of `arrowPieces` first call `checkArrowBody`, and
 * `bodyBegun` to wait for the first bytes. A wrong content type or encoding (UnsupportedMediaType),
 * or a stated length that is too large, is refused before anything is read. A body that turns out
 * too large throws PayloadTooLarge; one that breaks off, and JSON that is none, throw InvalidInput.
 * `hasBody` and `wasTaken` tell whether there is a body and whether `readJson` took it at once.
 * `pauseOf` makes the pause for long work, which throws once the request was aborted.
 */
import type { IncomingHttpHeaders } from 'node:http';
import type { Readable } from 'node:stream';
import { DirspaceError } from '../../errors.ts';
import { parseJsonInSteps } from '../../json-steps.ts';
import type { Progress } from '../../progress.ts';
import { ARROW_FILE_TYPE, ARROW_STREAM_TYPE, JSON_TYPE, mediaType } from '../../protocol/index.ts';
import { type Pause, plainPause, runSteps } from '../../steps.ts';
import { type Arrivals, type BodyPace, begun, isWhole, PaceKeeper } from './arrivals.ts';
import { JoinedPieces } from './joined-pieces.ts';
import { JsonBounds, MAX_JSON_DEPTH } from './json-bounds.ts';
import type { RequestState, WireRequest } from './request-state.ts';

/** Whether a request says that it has a body. */
export function hasBody(headers: IncomingHttpHeaders): boolean {
  const length = headers['content-length'];
  return headers['transfer-encoding'] !== undefined || (length !== undefined && length !== '0');
}

type BodyLimit = 'maxJsonBytes' | 'maxArrowBytes';

function checkLength({ headers }: WireRequest, bytes: number, limit: BodyLimit): void {
  const length = Number(headers['content-length'] ?? 0);
  if (length > bytes) throw tooLarge(bytes, limit);
}

const tooLarge = (bytes: number, limit: BodyLimit): DirspaceError =>
  new DirspaceError('PayloadTooLarge', `The body is larger than ${bytes} bytes.`, {
    details: { limit, [limit]: bytes },
  });

function unsupportedType(request: WireRequest, expected: string): DirspaceError {
  const found = mediaType(request.headers['content-type']);
  return new DirspaceError(
    'UnsupportedMediaType',
    `The content-type is ${JSON.stringify(found.slice(0, 80))}; expected ${expected}.`,
  );
}

function checkEncoding({ headers }: WireRequest): void {
  const encoding = headers['content-encoding'];
  if (encoding === undefined || encoding === 'identity') return;
  throw new DirspaceError(
    'UnsupportedMediaType',
    `The content-encoding is ${JSON.stringify(encoding.slice(0, 80))}; bodies are not compressed.`,
  );
}

/** The caller whose body is awaited, how long it is awaited, and what ends the wait. */
export interface Arriving {
  readonly caller: string;
  readonly arrivals: Arrivals;
  readonly pace: BodyPace;
  readonly progress: Progress;
}

/** Waits for a body until `end` is called: it may have to give way, and must not be too slow. */
function watch({ caller, arrivals, pace, progress }: Arriving): {
  moved: (bytes: number) => void;
  end: () => void;
} {
  const arrival = arrivals.enter(caller, progress);
  const keeper = new PaceKeeper(pace, progress);
  keeper.wait();
  return {
    moved: (bytes) => {
      arrival.moved();
      keeper.came(bytes);
      keeper.wait();
    },
    end: () => {
      arrival.leave();
      keeper.came(0);
    },
  };
}

/** Resolves when the first bytes of a body are there, or when it ended without. */
export async function bodyBegun({ request }: RequestState, arriving: Arriving): Promise<void> {
  const { body } = request;
  if (body === undefined) return;
  request.acceptBody?.();
  if (body.readableLength > 0) return;
  const watched = watch(arriving);
  try {
    await begun(body, arriving.progress);
  } finally {
    watched.end();
  }
}

/** Lets other work go on between steps, and ends them once their request has ended. */
export function pauseOf(progress: Progress): Pause {
  const pause = plainPause();
  return () => {
    if (progress.aborted) throw progress.reason;
    return pause();
  };
}

const utf8 = new TextDecoder('utf-8', { fatal: true });

/** Characters of a JSON text that is parsed without a turn: a few milliseconds' work. */
const AT_ONCE = 1 << 16;

/**
 * The parsed JSON body, or undefined where it is empty. Its bounds are checked as it arrives; `count`
 * is told of the bytes so far, and may refuse more; `whole` is called before they are parsed. Throws
 * InvalidInput and its like.
 */
export async function readJson(
  state: RequestState,
  limit: number,
  arriving: Arriving,
  count: (bytes: number) => void = () => {},
  whole: () => void = () => {},
): Promise<unknown> {
  const { request } = state;
  const { body } = request;
  if (body === undefined) return undefined;
  checkEncoding(request);
  const type = mediaType(request.headers['content-type']);
  if (type !== '' && type !== JSON_TYPE && !type.endsWith('+json')) {
    throw unsupportedType(request, JSON_TYPE);
  }
  checkLength(request, limit, 'maxJsonBytes');
  request.acceptBody?.();
  const { progress } = arriving;
  const length = request.headers['content-length'];
  // A body that came together with its headers is there once the parser is done with its bytes: watching
  // for it, and its events, would cost as much as a tenth of a small request.
  if (!isWhole(body, length)) await undefined;
  if (progress.aborted) throw progress.reason;
  const take = (bytes: number, more: number): void => {
    state.received += more;
    if (bytes > limit) throw tooLarge(limit, 'maxJsonBytes');
    count(bytes);
  };
  const bytes = takenAtOnce(body, length, take) ?? (await readWatched(body, arriving, take));
  whole();
  if (bytes.byteLength === 0) return undefined;
  try {
    const text = utf8.decode(bytes);
    if (text.length <= AT_ONCE) return JSON.parse(text);
    return await runSteps(parseJsonInSteps(text), pauseOf(progress));
  } catch (cause) {
    if (progress.aborted) throw progress.reason;
    // The decoder throws TypeErrors for bytes that are not UTF-8.
    if (!(cause instanceof SyntaxError || cause instanceof TypeError)) throw cause;
    const reason = cause instanceof SyntaxError ? 'is not valid JSON' : 'is not UTF-8';
    throw new DirspaceError('InvalidInput', `The body ${reason}.`, { cause });
  }
}

/** Bodies of which all bytes were taken, though their end may have yet to be told. */
const taken = new WeakSet<Readable>();

/** Whether all bytes of a body were taken at once. */
export const wasTaken = (body: Readable): boolean => taken.has(body);

/** All of a body that is here already, which is counted; undefined where some of it has yet to come. */
function takenAtOnce(
  body: Readable,
  length: string | undefined,
  count: (bytes: number, more: number) => void,
): Buffer | undefined {
  if (!isWhole(body, length)) return undefined;
  const bytes: Buffer | null = body.read();
  if (bytes === null) return undefined;
  taken.add(body);
  count(bytes.byteLength, bytes.byteLength);
  // So few bytes are within every bound.
  if (bytes.byteLength > MAX_JSON_DEPTH) new JsonBounds().take(bytes);
  return bytes;
}

async function readWatched(
  body: Readable,
  arriving: Arriving,
  count: (bytes: number, more: number) => void,
): Promise<Buffer> {
  const watched = watch(arriving);
  try {
    return await readWhole(body, arriving.progress, (bytes, more) => {
      watched.moved(more);
      count(bytes, more);
    });
  } finally {
    watched.end();
  }
}

/** `count` is told of the bytes so far and of those of the last piece. */
function readWhole(
  body: Readable,
  progress: Progress,
  count: (bytes: number, more: number) => void,
): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const pieces = new JoinedPieces();
    const bounds = new JsonBounds();
    let settled = false;
    const fail = (error: unknown): void => {
      if (settled) return;
      settled = true;
      body.off('data', onData);
      forget();
      reject(error);
    };
    const onData = (piece: Buffer): void => {
      try {
        count(pieces.length + piece.byteLength, piece.byteLength);
        pieces.add(piece);
        bounds.take(piece);
      } catch (error) {
        fail(error);
      }
    };
    let forget = (): void => {};
    forget = progress.onAbort(fail);
    if (settled) return;
    body.on('data', onData);
    body.once('end', () => {
      if (settled) return;
      settled = true;
      forget();
      resolve(pieces.bytes());
    });
    body.once('error', (error: Error) => settled || fail(brokenOff(error)));
    body.once('close', () => settled || fail(brokenOff(undefined)));
  });
}

const brokenOff = (cause: unknown): DirspaceError =>
  new DirspaceError('InvalidInput', 'The body of the request broke off.', { cause });

/** Checks what an Arrow body says of itself before anything of it is read. */
export function checkArrowBody(request: WireRequest, limit: number): void {
  checkEncoding(request);
  const type = mediaType(request.headers['content-type']);
  if (type !== ARROW_STREAM_TYPE && type !== ARROW_FILE_TYPE) {
    throw unsupportedType(request, ARROW_STREAM_TYPE);
  }
  checkLength(request, limit, 'maxArrowBytes');
}

/** The pieces of a body as they are pulled: what is not asked for stays in the connection. */
export async function* arrowPieces(
  state: RequestState,
  limit: number,
  pace: BodyPace,
): AsyncGenerator<Uint8Array> {
  const { request, progress } = state;
  const { body } = request;
  if (body === undefined) return;
  request.acceptBody?.();
  const keeper = new PaceKeeper(pace, progress);
  let bytes = 0;
  const pieces = body[Symbol.asyncIterator]() as AsyncIterator<Buffer>;
  while (true) {
    let next: IteratorResult<Buffer>;
    keeper.wait();
    try {
      next = await progress.race(pieces.next());
    } catch (error) {
      keeper.came(0);
      throw progress.aborted ? progress.reason : brokenOff(error);
    }
    keeper.came(next.done ? 0 : next.value.byteLength);
    if (next.done) return;
    progress.moved();
    bytes += next.value.byteLength;
    state.received += next.value.byteLength;
    if (bytes > limit) throw tooLarge(limit, 'maxArrowBytes');
    yield next.value;
  }
}
