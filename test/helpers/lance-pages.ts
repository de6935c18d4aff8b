/** Lance 2.0 data files made page by page, also such as no writer makes. */
import {
  beginColumn,
  binary,
  dictionary,
  endOffsets,
  flat,
  noNulls,
  type Page,
  pageEncoding,
  writePage,
} from '../../src/format/lance/page-encoding.ts';
import { message, type ProtoMembers, type ProtoMessage } from '../../src/format/lance/protobuf.ts';

export function pagesOf(pages: readonly Page[]): ProtoMessage {
  const written = message();
  beginColumn(written);
  for (const page of pages) writePage(written, page);
  return written;
}

export const membersOf =
  (written: ProtoMessage): ProtoMembers =>
  (into) => {
    into.append(written.finish());
  };

export interface Column {
  readonly type: string;
  readonly parent?: number;
  readonly pages: readonly Page[];
  readonly metadata?: ProtoMessage;
  /** A struct whose members have no columns of their own. */
  readonly isPacked?: boolean;
  /** A member of such a struct. */
  readonly isInside?: boolean;
}

/** A file of these values and columns. */
export function file(
  content: Uint8Array,
  columns: readonly Column[],
  { rows = 4, version = [0, 3] }: { rows?: number; version?: readonly number[] } = {},
): Uint8Array {
  const schema = message();
  for (const [id, { type, parent = -1, isPacked }] of columns.entries()) {
    const field = message().text(2, `c${id}`).integer(3, id).integer(4, parent).text(5, type);
    field.integer(6, 1);
    if (isPacked === true) field.message(10, (pair) => pair.text(1, 'packed').text(2, 'true'));
    schema.message(1, field);
  }
  const pieces: Uint8Array[] = [content];
  let at = content.length;
  const add = (piece: Uint8Array): [number, number] => {
    pieces.push(piece);
    at += piece.length;
    return [at - piece.length, piece.length];
  };
  const descriptor = add(message().message(1, schema).integer(2, rows).finish().slice());
  const stored = columns.filter(({ isInside }) => isInside !== true);
  const places = stored.map(({ pages, metadata }) =>
    add((metadata ?? pagesOf(pages)).finish().slice()),
  );
  const table = (pairs: readonly (readonly number[])[]): Uint8Array =>
    new Uint8Array(BigUint64Array.from(pairs.flat().map(BigInt)).buffer);
  const [columnTable] = add(table(places));
  const [globalTable] = add(table([descriptor]));
  const footer = Buffer.alloc(40);
  footer.writeBigUInt64LE(BigInt(columnTable), 8);
  footer.writeBigUInt64LE(BigInt(globalTable), 16);
  footer.writeUInt32LE(1, 24);
  footer.writeUInt32LE(stored.length, 28);
  footer.writeUInt16LE(version[0] as number, 32);
  footer.writeUInt16LE(version[1] as number, 34);
  footer.write('LANC', 36);
  add(new Uint8Array(footer));
  return new Uint8Array(Buffer.concat(pieces));
}

export const page = (
  encoding: ProtoMembers,
  rows: number,
  ...buffers: readonly (readonly [at: number, bytes: number])[]
): Page => ({
  encoding: pageEncoding(encoding),
  rows,
  priority: 0,
  buffers: buffers.map(([at, bytes]) => ({ at, bytes })),
});

/** A page of one text in every row, which stands in the file once. */
export function repeatedText(length: number, rows: number): Uint8Array {
  const content = new Uint8Array(8 + length + rows).fill(97);
  content.set(new Uint8Array(BigUint64Array.of(BigInt(length)).buffer));
  content.fill(1, 8 + length);
  const encoding = dictionary(
    noNulls(flat(8, 0)),
    binary(endOffsets(64, 1), 2, BigInt(length + 1)),
    1,
  );
  const buffers = [[8 + length, rows] as const, [0, 8] as const, [8, length] as const];
  return file(content, [{ type: 'string', pages: [page(encoding, rows, ...buffers)] }], { rows });
}
