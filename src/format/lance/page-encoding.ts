/**
 * The encodings of Lance 2.0 in which Arrow's own buffers can stand: `lance.encodings.ArrayEncoding` and
 * what a page says of its buffers. Source: encodings_v2_0.proto and file2.proto of the Lance repository.
 */
import { message, type ProtoMessage } from './protobuf.ts';

/** A buffer's number within its page. */
type BufferIndex = number;

const MEMBERS = {
  flat: 1,
  nullable: 2,
  fixedSizeList: 3,
  list: 4,
  struct: 5,
  binary: 6,
  dictionary: 7,
  bitpacked: 10,
} as const;

/** Larger than any offset, so that no offset of a value stands for a null: nulls are in a bitmap. */
const NO_OFFSET_IS_NULL = 1n << 62n;

const encoding = (kind: keyof typeof MEMBERS, body: ProtoMessage): ProtoMessage =>
  message().message(MEMBERS[kind], body);

const buffer = (index: BufferIndex): ProtoMessage =>
  index === 0 ? message() : message().integer(1, index);

/** Values of so many bits, one behind the other. */
export const flat = (bits: number, index: BufferIndex): ProtoMessage =>
  encoding('flat', message().integer(1, bits).message(2, buffer(index)));

/** Unsigned 32-bit numbers that readers take as 64-bit ones: Arrow's short offsets. */
const shortOffsets = (index: BufferIndex): ProtoMessage =>
  encoding('bitpacked', message().integer(1, 32).integer(2, 64).message(3, buffer(index)));

/** The ends of values: Arrow's offsets without the first one, which is 0. */
export const endOffsets = (bits: 32 | 64, index: BufferIndex): ProtoMessage =>
  noNulls(bits === 32 ? shortOffsets(index) : flat(64, index));

export const noNulls = (values: ProtoMessage): ProtoMessage =>
  encoding('nullable', message().message(1, message().message(1, values)));

/** @param validity a bitmap, set where there is a value */
export const someNulls = (validity: BufferIndex, values: ProtoMessage): ProtoMessage =>
  encoding(
    'nullable',
    message().message(2, message().message(1, flat(1, validity)).message(2, values)),
  );

export const allNulls = (): ProtoMessage => encoding('nullable', message().message(3, message()));

export const fixedSizeList = (dimension: number, items: ProtoMessage): ProtoMessage =>
  encoding('fixedSizeList', message().integer(1, dimension).message(2, items));

/** @param addition what is added to the end of a null value; by default nulls are in a bitmap */
export const binary = (
  ends: ProtoMessage,
  bytes: BufferIndex,
  addition: number | bigint = NO_OFFSET_IS_NULL,
): ProtoMessage =>
  encoding('binary', message().message(1, ends).message(2, flat(8, bytes)).integer(3, addition));

export const list = (ends: ProtoMessage, items: number): ProtoMessage =>
  encoding('list', message().message(1, ends).integer(2, nullAddition(items)).integer(3, items));

/** What is added to the end of a null, so that it is larger than every end of `items` items. */
export const nullAddition = (items: number): number => items + 1;

export const struct = (): ProtoMessage => encoding('struct', message());

export const dictionary = (
  indices: ProtoMessage,
  items: ProtoMessage,
  count: number,
): ProtoMessage =>
  encoding('dictionary', message().message(1, indices).message(2, items).integer(3, count));

/** An encoding as pages and columns hold it: directly, named by its type. */
export const direct = (
  type: 'ArrayEncoding' | 'ColumnEncoding',
  body: ProtoMessage,
): ProtoMessage =>
  message().message(
    2,
    message().message(1, message().text(1, `/lance.encodings.${type}`).message(2, body)),
  );

/** Rows of one column that lie in these buffers of the file. */
export interface Page {
  readonly buffers: readonly { readonly at: number; readonly bytes: number }[];
  readonly rows: number;
  readonly encoding: ProtoMessage;
  /** The first row of the file that it belongs to. */
  readonly priority: number;
}

export function columnMetadata(pages: readonly Page[]): ProtoMessage {
  const values = direct('ColumnEncoding', message().message(1, message()));
  const column = message().message(1, values);
  for (const page of pages) {
    const { buffers } = page;
    column.message(
      2,
      message()
        .packed(
          1,
          buffers.map(({ at }) => at),
        )
        .packed(
          2,
          buffers.map(({ bytes }) => bytes),
        )
        .integer(3, page.rows)
        .message(4, direct('ArrayEncoding', page.encoding))
        .integer(5, page.priority),
    );
  }
  return column;
}
