/**
 * `inferSchema` infers an Arrow schema from rows by the rules of LanceDB's TypeScript SDK, and
 * `SchemaInference` from rows that come in parts (`add`, and `schema` after the last part). With
 * `wholeNumbers`, which is for files, columns of whole numbers become int64 or uint64 instead of
 * float64, and columns that are null in all rows of a file become utf8, as those of CSV do, or lists
 * of it. Inferred fields are nullable. A column whose type cannot be inferred throws
 * TableSchemaValidation. Values that do not fit the inferred type are found only when `sdk/build/`
 * builds the column.
 */
import {
  Binary,
  Bool,
  type DataType,
  Field,
  FixedSizeList,
  Float16,
  Float32,
  Float64,
  Int8,
  Int16,
  Int32,
  Int64,
  List,
  Schema,
  Struct,
  TimestampMillisecond,
  Uint8,
  Uint16,
  Uint32,
  Uint64,
  Utf8,
} from '../../arrow/index.ts';
import { DirspaceError } from '../../errors.ts';
import { asItems, isDate, isRecord, showValue } from '../build/index.ts';

/** Columns to make vectors of although their name does not say so, with the type of their items. */
export type VectorColumns = Readonly<Record<string, { readonly type: DataType }>>;

/** What is known of a column so far; open while more rows could add to it. */
type Guess =
  /**
   * Nothing but nulls and empty arrays; with `isList` some of these, and with the `vector` that the
   * first array of a vector column is if none has a number.
   */
  | { kind: 'unknown'; vector?: Guess; isList?: boolean }
  | { kind: 'leaf'; type: DataType }
  /** Numbers of which whole ones may be integers; `kinds` has the bits of NUMBER. */
  | { kind: 'number'; kinds: number }
  | { kind: 'struct'; members: Map<string, Guess> }
  | { kind: 'list'; item: Guess }
  /** Without `fixed`, values of differing lengths make it a list. */
  | { kind: 'vector'; item: DataType; size: number; fixed: boolean; ragged: boolean };

/** The place in the rows at which a guess was made. */
interface Spot {
  readonly path: string;
  readonly name: string;
  readonly depth: number;
  readonly vectors: VectorColumns | undefined;
  readonly wholeNumbers: boolean;
}

/** What numbers of a column there are, a bit each. */
const NUMBER = { negative: 1, fraction: 2, beyondInt64: 4 } as const;

/** Deeper values are taken for cycles. */
const MAX_DEPTH = 64;

/** Arrays by their tag, so that other realms and Float16Array are known too. */
const TYPED_ARRAYS: Readonly<Record<string, () => DataType>> = {
  Int8Array: () => new Int8(),
  Int16Array: () => new Int16(),
  Int32Array: () => new Int32(),
  Uint8Array: () => new Uint8(),
  Uint8ClampedArray: () => new Uint8(),
  Uint16Array: () => new Uint16(),
  Uint32Array: () => new Uint32(),
  BigInt64Array: () => new Int64(),
  BigUint64Array: () => new Uint64(),
  Float16Array: () => new Float16(),
  Float32Array: () => new Float32(),
  Float64Array: () => new Float64(),
};

/** Types of top-level columns that are not inferred, by name. */
export type ColumnTypes = ReadonlyMap<string, DataType>;

/** Infers a schema from rows that come in parts. */
export class SchemaInference {
  readonly #members = new Map<string, Guess>();
  readonly #top: Spot;
  #rows = 0;

  /**
   * @param wholeNumbers whether numbers that are all whole become int64 or uint64, as those of files
   * of JSON do, and not float64
   * @param vectors as the `vectorColumns` option: top-level columns, by name
   */
  constructor(wholeNumbers = false, vectors?: VectorColumns) {
    this.#top = { path: '', name: '', depth: 0, vectors, wholeNumbers };
  }

  add(rows: readonly unknown[]): void {
    for (const row of rows) {
      // What is no row at all is refused where the batch is built, with its number.
      if (isRecord(row)) observeMembers(this.#members, row, this.#top, this.#rows);
      this.#rows++;
    }
  }

  /**
   * @param isWhole whether no rows follow: in files, what is null in all of them is text then
   * @throws TableSchemaValidation for a column whose type cannot be inferred
   */
  schema(types?: ColumnTypes, isWhole = false): Schema {
    if (isWhole && this.#top.wholeNumbers) settleMembers(this.#members);
    return new Schema(fieldsOf(this.#members, '', types));
  }
}

/**
 * Numbers become float64, bigints int64, strings utf8, booleans bool, Dates timestamp(ms), bytes
 * binary, objects structs, arrays lists. Typed arrays of one length become vectors, and so do number
 * arrays in the columns of `vectors` and in those whose name says vector or embedding.
 * @throws TableSchemaValidation for a column whose type cannot be inferred
 */
export function inferSchema(
  rows: readonly unknown[],
  vectors?: VectorColumns,
  types?: ColumnTypes,
  wholeNumbers = false,
  isWhole = false,
): Schema {
  const inference = new SchemaInference(wholeNumbers, vectors);
  inference.add(rows);
  return inference.schema(types, isWhole);
}

function settleMembers(members: Map<string, Guess>): void {
  for (const [name, guess] of members) members.set(name, settled(guess));
}

/** The guess with text in place of what is not known. */
function settled(guess: Guess): Guess {
  if (guess.kind === 'struct') settleMembers(guess.members);
  if (guess.kind === 'list') guess.item = settled(guess.item);
  if (guess.kind !== 'unknown') return guess;
  if (guess.vector !== undefined) return guess;
  const text: Guess = { kind: 'leaf', type: new Utf8() };
  return guess.isList === true ? { kind: 'list', item: text } : text;
}

function observeMembers(
  members: Map<string, Guess>,
  record: Record<string, unknown>,
  spot: Spot,
  row: number,
): void {
  for (const name in record) {
    const guess = members.get(name);
    // The common case: a scalar column that is known already.
    if (guess?.kind === 'leaf') continue;
    const value = record[name];
    if (value === undefined || !Object.hasOwn(record, name)) continue;
    if (guess === undefined || guess.kind === 'unknown') {
      members.set(name, later(guess, firstGuess(value, inside(spot, name), row)));
    } else if (value !== null) refine(guess, value, name, spot, row);
  }
}

/** The later guess; of two that know no type yet, the one that tells more. */
function later(guess: Guess | undefined, found: Guess): Guess {
  if (guess?.kind !== 'unknown' || found.kind !== 'unknown') return found;
  const told = ({ vector, isList }: typeof guess): number =>
    vector !== undefined ? 2 : isList === true ? 1 : 0;
  return told(found) > told(guess) ? found : guess;
}

function refine(guess: Guess, value: unknown, name: string, spot: Spot, row: number): void {
  if (guess.kind === 'number') guess.kinds |= kindsOf(value);
  else if (guess.kind === 'vector') {
    guess.ragged ||= ArrayBuffer.isView(value) && (value as Uint8Array).length !== guess.size;
  } else if (guess.kind === 'struct') {
    if (isRecord(value)) observeMembers(guess.members, value, inside(spot, name), row);
  } else if (guess.kind === 'list' && Array.isArray(value) && guess.item.kind !== 'leaf') {
    observeItems(guess, value, inside(spot, name), row);
  }
}

const inside = (spot: Spot, name: string): Spot => ({
  ...spot,
  path: spot.path === '' ? name : `${spot.path}.${name}`,
  name,
  depth: spot.depth + 1,
});

function observeItems(
  list: { item: Guess },
  items: readonly unknown[],
  spot: Spot,
  row: number,
): void {
  for (const item of items) {
    if (item === null || item === undefined) continue;
    if (list.item.kind === 'unknown') {
      list.item = later(list.item, firstGuess(item, spot, row));
    } else if (list.item.kind === 'number') list.item.kinds |= kindsOf(item);
    else if (list.item.kind === 'struct' && isRecord(item)) {
      observeMembers(list.item.members, item, spot, row);
    } else if (list.item.kind === 'vector') refine(list.item, item, spot.name, spot, row);
    else if (list.item.kind === 'list' && Array.isArray(item))
      observeItems(list.item, item, spot, row);
    if (list.item.kind === 'leaf') return;
  }
}

function firstGuess(value: unknown, spot: Spot, row: number): Guess {
  switch (typeof value) {
    case 'undefined':
      return { kind: 'unknown' };
    case 'number':
      return spot.wholeNumbers
        ? { kind: 'number', kinds: kindsOf(value) }
        : { kind: 'leaf', type: new Float64() };
    case 'string':
      return { kind: 'leaf', type: new Utf8() };
    case 'boolean':
      return { kind: 'leaf', type: new Bool() };
    case 'bigint':
      return spot.wholeNumbers
        ? { kind: 'number', kinds: kindsOf(value) }
        : { kind: 'leaf', type: new Int64() };
    case 'object':
      return value === null ? { kind: 'unknown' } : guessObject(value, spot, row);
    default:
      throw cannotInfer(value, spot, row);
  }
}

/** Other values do not fit numbers, which the builder finds. */
function kindsOf(value: unknown): number {
  if (typeof value === 'number') {
    if (!Number.isSafeInteger(value) || Object.is(value, -0)) return NUMBER.fraction;
    return value < 0 ? NUMBER.negative : 0;
  }
  if (typeof value !== 'bigint') return 0;
  const isBeyond = BigInt.asIntN(64, value) !== value;
  return (value < 0n ? NUMBER.negative : 0) | (isBeyond ? NUMBER.beyondInt64 : 0);
}

function numberType(kinds: number): DataType {
  if ((kinds & NUMBER.fraction) !== 0) return new Float64();
  return kinds === NUMBER.beyondInt64 ? new Uint64() : new Int64();
}

function guessObject(value: object, spot: Spot, row: number): Guess {
  if (spot.depth > MAX_DEPTH) throw cannotInfer(value, spot, row);
  if (Array.isArray(value)) return guessArray(value, spot, row);
  if (isDate(value)) return { kind: 'leaf', type: new TimestampMillisecond() };
  if (ArrayBuffer.isView(value)) return guessView(value, spot, row);
  // Rows that came out of Arrow have vectors where others have arrays.
  const items = asItems(value);
  if (items !== undefined) return guessArray(Array.from(items), spot, row);
  if (!isRecord(value)) throw cannotInfer(value, spot, row);
  const members = new Map<string, Guess>();
  observeMembers(members, value, spot, row);
  return { kind: 'struct', members };
}

/** LanceDB's rule for the names of vector columns, at any depth. */
const namesVector = (name: string): boolean => /vector|embedding/i.test(name);

function guessArray(value: readonly unknown[], spot: Spot, row: number): Guess {
  const first = value.find((item) => item !== null && item !== undefined);
  const { vectors, path, name } = spot;
  const named = vectors !== undefined && Object.hasOwn(vectors, path) && path === name;
  if (named || namesVector(name)) {
    const item = (named && vectors[name]?.type) || new Float32();
    const vector: Guess = { kind: 'vector', item, size: value.length, fixed: true, ragged: false };
    if (typeof first === 'number') return vector;
    if (first === undefined && value.length > 0) return { kind: 'unknown', vector };
  }
  if (first === undefined) return { kind: 'unknown', isList: true };
  const list = { kind: 'list' as const, item: { kind: 'unknown' } as Guess };
  observeItems(list, value, { ...spot, depth: spot.depth + 1 }, row);
  return list;
}

function guessView(value: ArrayBufferView, spot: Spot, row: number): Guess {
  const tag = Object.prototype.toString.call(value).slice(8, -1);
  // Plain bytes are binary; only in a vector column are they a vector of small integers.
  if (tag === 'Uint8Array' && (Buffer.isBuffer(value) || !namesVector(spot.name))) {
    return { kind: 'leaf', type: new Binary() };
  }
  const item = TYPED_ARRAYS[tag]?.();
  if (item === undefined) throw cannotInfer(value, spot, row);
  const size = (value as Uint8Array).length;
  if (size === 0) return { kind: 'unknown' };
  return { kind: 'vector', item, size, fixed: namesVector(spot.name), ragged: false };
}

function fieldsOf(
  members: ReadonlyMap<string, Guess>,
  parent: string,
  types?: ColumnTypes,
): Field[] {
  return [...members].map(([name, guess]) => {
    const path = parent === '' ? name : `${parent}.${name}`;
    return new Field(name, types?.get(name) ?? typeOf(guess, path, name), true);
  });
}

function typeOf(guess: Guess, path: string, name: string): DataType {
  switch (guess.kind) {
    case 'leaf':
      return guess.type;
    case 'number':
      return numberType(guess.kinds);
    case 'list':
      return new List(new Field('item', typeOf(guess.item, `${path}[]`, name), true));
    case 'vector': {
      const item = new Field('item', guess.item, true);
      // In a vector column a differing length is a mistake, which the builder finds.
      if (guess.ragged && !guess.fixed) return new List(item);
      return new FixedSizeList(guess.size, item);
    }
    case 'struct':
      if (guess.members.size > 0) return new Struct(fieldsOf(guess.members, path));
      throw noType(path, 'only objects without keys');
    default:
      if (guess.vector !== undefined) return typeOf(guess.vector, path, name);
      throw noType(path, 'only null, undefined or empty arrays');
  }
}

const noType = (path: string, what: string): DirspaceError =>
  new DirspaceError(
    'TableSchemaValidation',
    `The type of column "${path}" cannot be inferred: the rows hold ${what} there. Pass a schema.`,
    { details: { column: path } },
  );

const cannotInfer = (value: unknown, { path }: Spot, row: number): DirspaceError =>
  new DirspaceError(
    'TableSchemaValidation',
    `Row ${row}, column "${path}": no type can be inferred from ${showValue(value)}. Pass a schema.`,
    { details: { row, column: path, found: showValue(value) } },
  );
