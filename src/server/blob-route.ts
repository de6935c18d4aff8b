/**
 * `blobRoute` answers GET requests for the bytes of one blob, whole or a range of it. A null blob
 * is answered with 204, and a range beyond the end with 416. The route calls FetchBlobs for 1 MiB
 * at a time, as the client takes the bytes. Later pieces are read from the version that the catalog
 * names with the first piece, if it names one. A blob that ends too early breaks the answer off.
 */
import { columnsOf, type RecordBatchStream } from '../arrow/index.ts';
import { DirspaceError } from '../errors.ts';
import { FETCHED_FROM, FORM_ROUTES } from '../protocol/index.ts';
import {
  type HttpAnswer,
  type HttpRequest,
  parseRange,
  type Range,
  type Route,
} from './http/index.ts';
import { answerOperation, type Order, type Services } from './routes.ts';

/** Bytes that are asked for at once. */
const PIECE_BYTES = 1 << 20;

const route = FORM_ROUTES.ReadBlobBytes;

export const blobRoute = (services: Services): Route => ({
  method: route.method,
  name: route.operation,
  path: route.path,
  answer: (http) => {
    const range = parseRange(http.state.headers);
    const { version, branch, incarnation } = http.query;
    const body = {
      column: http.parameters.column,
      row_ids: [http.parameters.row_id],
      ...(version === undefined ? {} : { version: wholeNumber(version) }),
      ...(branch === undefined ? {} : { branch }),
      ...(incarnation === undefined ? {} : { incarnation }),
      ...firstPiece(range),
    };
    return answerOperation(services, route.operation, undefined, http, {
      route,
      body,
      work: (order) => blobAnswer(http, range, order),
    });
  },
});

/** No more than one piece of the range; of one that is counted from the end the beginning. */
function firstPiece(range: Range | undefined): { offset?: number; length: number } {
  if (range === undefined) return { length: PIECE_BYTES };
  const { from, to = Number.POSITIVE_INFINITY } = range;
  const most = from < 0 ? -from : to - from;
  return { offset: from, length: Math.min(PIECE_BYTES, most) };
}

/** What is no number is left to the check of the request. */
const wholeNumber = (text: string | readonly string[]): unknown =>
  typeof text === 'string' && /^\d{1,16}$/.test(text) ? Number(text) : text;

interface Piece {
  /** Null where the blob is. */
  readonly bytes: Uint8Array | null;
  /** Of the whole blob. */
  readonly size: number;
}

async function blobAnswer(
  http: HttpRequest,
  range: Range | undefined,
  { request, call }: Order,
): Promise<HttpAnswer> {
  const rows = (await call(request)) as RecordBatchStream;
  const first = await pieceOf(rows);
  const at = pinned(rows);
  // LanceDB's clients from 0.40 on read later ranges of the version that this header names.
  const told = {
    ...RANGES,
    ...(at.version === undefined ? {} : { [VERSION_HEADER]: `${at.version}` }),
  };
  if (first.bytes === null) return { status: 204, headers: told, body: '' };
  const { size } = first;
  const [from, to] = within(range, size);
  if (range !== undefined && from >= to) {
    return { status: 416, headers: { ...told, 'content-range': `bytes */${size}` }, body: '' };
  }
  const headers = { ...told, ...BYTES, 'content-length': String(to - from) };
  const body = async function* (): AsyncGenerator<Uint8Array> {
    let bytes: Uint8Array = (first.bytes as Uint8Array).subarray(0, to - from);
    let next = from;
    while (next < to) {
      // The blob became shorter, which one of a version that is pinned does not.
      if (bytes.length === 0) throw new DirspaceError('Internal', 'The blob ends too early.');
      yield bytes;
      next += bytes.length;
      http.state.progress.moved();
      if (next === to) return;
      const asked = { ...request, ...at, offset: next, length: Math.min(PIECE_BYTES, to - next) };
      bytes = (await pieceOf((await call(asked)) as RecordBatchStream)).bytes ?? EMPTY;
    }
  };
  if (range === undefined) return { status: 200, headers, body: body() };
  const content = { 'content-range': `bytes ${from}-${to - 1}/${size}` };
  return { status: 206, headers: { ...headers, ...content }, body: body() };
}

const EMPTY = new Uint8Array(0);
const RANGES = { 'accept-ranges': 'bytes' };
const VERSION_HEADER = 'x-lancedb-version';
/** Bytes that anybody may have stored: a browser must neither guess what they are nor show them. */
const BYTES = {
  'content-type': 'application/octet-stream',
  'content-disposition': 'attachment',
  'x-content-type-options': 'nosniff',
};

function within(range: Range | undefined, size: number): readonly [from: number, to: number] {
  if (range === undefined) return [0, size];
  const { from, to = size } = range;
  return from < 0 ? [Math.max(0, size + from), size] : [from, Math.min(to, size)];
}

/** The one row of an answer. */
async function pieceOf(rows: RecordBatchStream): Promise<Piece> {
  let piece: Piece | undefined;
  for await (const batch of rows) {
    if (batch.numRows === 0 || piece !== undefined) continue;
    const [bytes, size] = columnsOf(batch).map((_, at) => batch.getChildAt(at)?.get(0));
    piece = { bytes: (bytes ?? null) as Uint8Array | null, size: Number(size ?? 0) };
  }
  if (piece === undefined) {
    throw new DirspaceError(
      'Internal',
      'The catalog answered without the blob that was asked for.',
    );
  }
  return piece;
}

/** The members that name the version again that the rows are of. */
function pinned({ schema: { metadata } }: RecordBatchStream): {
  readonly version?: number;
  readonly incarnation?: string;
} {
  const version = metadata.get(FETCHED_FROM.version);
  const incarnation = metadata.get(FETCHED_FROM.incarnation);
  return {
    ...(version === undefined ? {} : { version: Number(version) }),
    ...(incarnation === undefined ? {} : { incarnation }),
  };
}
