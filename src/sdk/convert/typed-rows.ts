/**
 * Defines `RowsInput`, the type of the data that a typed table accepts: Arrow data, or rows with
 * the columns of its row type. Columns that may be null may be left out. Some values may have a
 * wider type than reading returns, such as a number for a bigint. With `any` as row type, all of
 * `DataInput` is accepted. These are types only; nothing is checked at run time.
 */
import type { RecordBatchStream } from '../../arrow/index.ts';
import type { ArrowLike, RecordBatchLike, TableLike } from './arrow-like.ts';
import type { BlobLike, DataInput } from './data.ts';
import type { ReadableStreamLike } from './source.ts';

type IsAny<Value> = 0 extends 1 & Value ? true : false;

/** What a column takes whose values are read as `Value`. */
type WrittenValue<Value> =
  IsAny<Value> extends true
    ? Value
    : Value extends bigint
      ? bigint | number | Date | string
      : Value extends Date
        ? Date | number | bigint | string
        : Value extends ArrayBufferView
          ? ArrayBufferView | ArrayBuffer | readonly (number | bigint | null)[]
          : Value extends ReadonlyMap<unknown, unknown>
            ? ReadonlyMap<unknown, unknown>
            : Value extends readonly (infer Item)[]
              ? readonly WrittenValue<Item>[] | ArrayBufferView
              : Value extends object
                ? Written<Value>
                : Value;

/** Columns that may be null may be left out. */
type Written<Row> = {
  readonly [Name in keyof Row as IsNullable<Row[Name]> extends true ? never : Name]: WrittenValue<
    Row[Name]
  >;
} & {
  readonly [Name in keyof Row as IsNullable<Row[Name]> extends true ? Name : never]?:
    | WrittenValue<Row[Name]>
    | null
    | undefined;
};

type IsNullable<Value> = null extends Value ? true : undefined extends Value ? true : false;

type Item<Row> = Written<Row> | readonly Written<Row>[] | RecordBatchLike | TableLike | Uint8Array;

/** Any data where rows are not typed; else rows of these columns, or data that is no rows yet. */
export type RowsInput<Row> =
  | readonly Row[]
  | (IsAny<Row> extends true
      ? DataInput
      :
          | readonly Written<Row>[]
          | ArrowLike
          | Uint8Array
          | ArrayBuffer
          | BlobLike
          | RecordBatchStream
          | Iterable<Item<Row>>
          | AsyncIterable<Item<Row>>
          | ReadableStreamLike<Item<Row>>);
