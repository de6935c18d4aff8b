/**
 * Writes into Lance's metadata how the pages of a column are encoded
 * (`lance.encodings.ArrayEncoding`, Lance 2.0). There is one function for each encoding that this
 * engine's files use, such as `flat`; `pageEncoding` and `keptEncoding` make the bytes of one.
 * `beginColumn` begins the metadata of a column, and then `writePage` adds a page with its
 * encoding. data-file.ts and page-reader.ts read such metadata.
 *
 * Source: encodings_v2_0.proto and file2.proto of the Lance repository.
 */
import type { DataType } from '../../arrow/index.ts';
import { message, noMembers, type ProtoMembers, type ProtoMessage } from './protobuf.ts';

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

const encoding =
  (kind: keyof typeof MEMBERS, body: ProtoMembers): ProtoMembers =>
  (into) => {
    into.message(MEMBERS[kind], body);
  };

const buffer = (index: BufferIndex): ProtoMembers =>
  index === 0
    ? noMembers
    : (into) => {
        into.integer(1, index);
      };

/**
 * Values of so many bits, one behind the other.
 * @param compressed whether they are Zstandard frames behind the size of the values, as in Arrow
 */
export const flat = (bits: number, index: BufferIndex, compressed = false): ProtoMembers =>
  encoding('flat', (into) => {
    into.integer(1, bits).message(2, buffer(index));
    if (compressed) into.message(3, zstdCompression);
  });

const zstdCompression: ProtoMembers = (into) => {
  into.text(1, 'zstd');
};

/** Unsigned 32-bit numbers that readers take as 64-bit ones: Arrow's short offsets. */
const shortOffsets = (index: BufferIndex): ProtoMembers =>
  encoding('bitpacked', (into) => {
    into.integer(1, 32).integer(2, 64).message(3, buffer(index));
  });

/**
 * The ends of values: Arrow's offsets without the first one, which is 0.
 * @param compressed as of `flat`, for 64 bits alone
 */
export const endOffsets = (bits: 32 | 64, index: BufferIndex, compressed = false): ProtoMembers =>
  noNulls(bits === 32 ? shortOffsets(index) : flat(64, index, compressed));

export const noNulls = (values: ProtoMembers): ProtoMembers =>
  encoding('nullable', (into) => {
    into.message(1, (some) => {
      some.message(1, values);
    });
  });

/** @param validity a bitmap, set where there is a value */
export const someNulls = (validity: BufferIndex, values: ProtoMembers): ProtoMembers =>
  encoding('nullable', (into) => {
    into.message(2, (some) => {
      some.message(1, flat(1, validity)).message(2, values);
    });
  });

export const allNulls = (): ProtoMembers =>
  encoding('nullable', (into) => {
    into.message(3, noMembers);
  });

export const fixedSizeList = (dimension: number, items: ProtoMembers): ProtoMembers =>
  encoding('fixedSizeList', (into) => {
    into.integer(1, dimension).message(2, items);
  });

/** @param addition what is added to the end of a null value; by default nulls are in a bitmap */
export const binary = (
  ends: ProtoMembers,
  bytes: BufferIndex,
  addition: number | bigint = NO_OFFSET_IS_NULL,
  compressed = false,
): ProtoMembers =>
  encoding('binary', (into) => {
    into
      .message(1, ends)
      .message(2, flat(8, bytes, compressed))
      .integer(3, addition);
  });

export const list = (ends: ProtoMembers, items: number): ProtoMembers =>
  encoding('list', (into) => {
    into.message(1, ends).integer(2, nullAddition(items)).integer(3, items);
  });

/** What is added to the end of a null, so that it is larger than every end of `items` items. */
export const nullAddition = (items: number): number => items + 1;

export const struct = (): ProtoMembers => encoding('struct', noMembers);

export const dictionary = (
  indices: ProtoMembers,
  items: ProtoMembers,
  count: number,
): ProtoMembers =>
  encoding('dictionary', (into) => {
    into.message(1, indices).message(2, items).integer(3, count);
  });

/** An encoding as pages and columns hold it: directly, named by its type. */
const direct =
  (type: 'ArrayEncoding' | 'ColumnEncoding', body: ProtoMembers): ProtoMembers =>
  (into) => {
    into.message(2, (encoded) => {
      encoded.message(1, (any) => {
        any.text(1, `/lance.encodings.${type}`).message(2, body);
      });
    });
  };

/** What a page says of its encoding. */
export const pageEncoding = (body: ProtoMembers): Uint8Array =>
  written(direct('ArrayEncoding', body));

function written(members: ProtoMembers): Uint8Array {
  const into = message();
  members(into);
  return into.finish().slice();
}

/** Caches encodings by type and form, because those of most columns are the same in every fragment. */
const kept = new WeakMap<DataType, (Uint8Array | undefined)[]>();

/**
 * What pages of a type say of their encoding.
 * @param form which of the buffers that the type may have a page has, as a small number
 * @param make of the encoding, which the type and the form alone decide
 */
export function keptEncoding(type: DataType, form: number, make: () => ProtoMembers): Uint8Array {
  let forms = kept.get(type);
  if (forms === undefined) {
    forms = [];
    kept.set(type, forms);
  }
  forms[form] ??= pageEncoding(make());
  return forms[form];
}

/** A range of the file. */
export interface FileRange {
  readonly at: number;
  readonly bytes: number;
}

/** Rows of one column that lie in these buffers of the file. */
export interface Page {
  readonly buffers: readonly FileRange[];
  readonly rows: number;
  /** As `pageEncoding` or `keptEncoding` gives it. */
  readonly encoding: Uint8Array;
  /** The first row of the file that it belongs to. */
  readonly priority: number;
}

/** The encoding of columns that consist of their pages alone. */
const PLAIN_COLUMN = written((into) => {
  into.message(
    1,
    direct('ColumnEncoding', (encoding) => {
      encoding.message(1, noMembers);
    }),
  );
});

/** Begins a `lance.file.v2.ColumnMetadata`. */
export function beginColumn(into: ProtoMessage): void {
  into.append(PLAIN_COLUMN);
}

/** Adds a page to the column that was begun last. */
export function writePage(into: ProtoMessage, { buffers, rows, encoding, priority }: Page): void {
  const page = into.begin(2);
  if (buffers.length > 0) {
    const positions = into.begin(1);
    for (let each = 0; each < buffers.length; each++) into.varint((buffers[each] as FileRange).at);
    into.end(positions);
    const sizes = into.begin(2);
    for (let each = 0; each < buffers.length; each++)
      into.varint((buffers[each] as FileRange).bytes);
    into.end(sizes);
  }
  into.integer(3, rows).bytes(4, encoding).integer(5, priority).end(page);
}
