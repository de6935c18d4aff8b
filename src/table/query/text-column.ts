/**
 * Finds the columns that a full-text search reads: those of utf8, large_utf8 and lists of these
 * (`isSearchable`). `textColumns` lists the top-level ones; `textColumn` resolves one by its path,
 * which may lead into structs, and throws TableColumnNotFound, or InvalidInput for a column of
 * another type. `checkSearchable` throws InvalidInput for a type that no full-text index can be of.
 * `TextReader` gives the bytes of the texts of each row of one record batch; a null row or item has
 * none.
 */
import { type Data, DataType, describeType, getBit, type Offsets } from '../../arrow/index.ts';
import { DirspaceError } from '../../errors.ts';
import { quotedPath } from '../../sql-quotes.ts';
import { findField, isListLike, leafOf } from '../fields/index.ts';
import type { Snapshot } from '../versions/index.ts';

export interface TextColumn {
  /** The real names from the column down to the field, joined with dots. */
  readonly name: string;
  /** The path of the column as SQL reads it. */
  readonly sql: string;
  readonly type: DataType;
  /** Whether it is a top-level column, not a field of a struct. */
  readonly isWhole: boolean;
}

const isText = (type: DataType | undefined): boolean =>
  DataType.isUtf8(type) || DataType.isLargeUtf8(type);

/** Whether a column of that type can be searched. */
export const isSearchable = (type: DataType): boolean =>
  isText(type) || (isListLike(type) && isText(type.children[0]?.type as DataType | undefined));

/** Top-level columns of texts and of lists of texts. */
export const textColumns = ({ fields }: Snapshot): readonly string[] =>
  fields.filter(({ field }) => isSearchable(field.type)).map(({ field }) => field.name);

/** @throws TableColumnNotFound, InvalidInput naming the columns that would do */
export function textColumn(snapshot: Snapshot, path: string): TextColumn {
  const place = findField(snapshot.fields, path);
  const { type } = leafOf(place).field;
  const above = place.chain.slice(0, -1);
  if (isSearchable(type) && above.every(({ field }) => DataType.isStruct(field.type))) {
    const sql = quotedPath(place.chain.map(({ field }) => field.name));
    return { name: place.name, sql, type, isWhole: above.length === 0 };
  }
  throw new DirspaceError(
    'InvalidInput',
    `Column ${place.name} is ${describeType(type)}${above.length === 0 ? '' : ' below others'}; a full-text search reads utf8, large_utf8, lists of these, and fields of structs. Texts are in ${textColumns(snapshot).join(', ') || 'none'}.`,
    { details: { column: place.name } },
  );
}

/** @throws InvalidInput for a column that no full-text index can be of */
export function checkSearchable(column: string, type: DataType): void {
  if (isSearchable(type)) return;
  throw new DirspaceError(
    'InvalidInput',
    `${column} cannot have an index of type FTS: it is ${describeType(type)}, and words are found in utf8, large_utf8 and lists of these.`,
    { details: { column, index_type: 'FTS' } },
  );
}

const offsetsOf = (data: Data): Offsets => data.valueOffsets as unknown as Offsets;

/**
 * The texts of the rows of one batch. In Arrow, the offset of a slice counts in bitmaps alone:
 * offsets of texts and children are cut already.
 */
export class TextReader {
  readonly bytes: Uint8Array;
  /** Byte offsets of the texts of the last row asked for, from and to alternating. */
  ranges: number[] = [];
  readonly #data: Data;
  readonly #texts: Data;
  readonly #offsets: Offsets;
  /** Elements of each row of a list of fixed size; 0 for others. */
  readonly #size: number;

  constructor(data: Data) {
    this.#data = data;
    this.#texts = isText(data.type) ? data : (data.children[0] as Data);
    this.#offsets = offsetsOf(this.#texts);
    this.#size = DataType.isFixedSizeList(data.type) ? data.type.listSize : 0;
    this.bytes = this.#texts.values as unknown as Uint8Array;
  }

  /** Whether each row is one text, so that `from` and `to` tell all of it. */
  get isPlain(): boolean {
    return this.#texts === this.#data;
  }

  isNull(row: number): boolean {
    const { nullCount, nullBitmap, offset } = this.#data;
    return nullCount > 0 && !getBit(nullBitmap, offset + row);
  }

  from(row: number): number {
    return Number(this.#offsets[row]);
  }

  to(row: number): number {
    return Number(this.#offsets[row + 1]);
  }

  /** How many texts a row has; `ranges` tells where they lie. */
  textsOf(row: number): number {
    this.ranges.length = 0;
    if (this.isNull(row)) return 0;
    if (this.isPlain) this.ranges.push(this.from(row), this.to(row));
    else {
      const size = this.#size;
      const offsets = offsetsOf(this.#data);
      const first = size > 0 ? size * row : Number(offsets[row]);
      const last = size > 0 ? first + size : Number(offsets[row + 1]);
      for (let element = first; element < last; element++) this.#element(element);
    }
    return this.ranges.length / 2;
  }

  #element(element: number): void {
    const { nullCount, nullBitmap, offset } = this.#texts;
    if (nullCount > 0 && !getBit(nullBitmap, offset + element)) return;
    this.ranges.push(Number(this.#offsets[element]), Number(this.#offsets[element + 1]));
  }
}
