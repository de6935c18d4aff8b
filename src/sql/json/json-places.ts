/**
 * Makes columns of the values that were found in JSON texts. `JsonPlaces` collects where they are
 * in the bytes of the texts; `jsonOf`, `textsOf`, `typesOf`, `lengthsOf` and `namesOf` are what
 * json_extract, json_extract_string, json_type, json_array_length and json_keys give for them. Texts
 * share the bytes of their column if none of them has to be changed; the memory of copies is
 * claimed. These are generators of short steps.
 */
import type { DataType } from '../../arrow/index.ts';
import type { BatchMemory } from '../../request-memory.ts';
import { LISTED_TEXT_BYTES, TEXT_LIST_BYTES } from '../functions/index.ts';
import { TextWriter, type WordBytes, wordBytes } from '../texts/index.ts';
import type { BytesColumn, Column, Validity } from '../typed/index.ts';
import { BACKSLASH, isBlank, JSON_STEP, OPEN_ARRAY, OPEN_OBJECT, QUOTE } from './json-check.ts';
import { JsonWalk } from './json-walk.ts';

/** Bytes of a place. */
const PLACE_BYTES = 10;

/** Places of values in the bytes of a column; some have none. */
export class JsonPlaces {
  readonly data: Uint8Array;
  readonly walk: JsonWalk;
  readonly memory: BatchMemory;
  length = 0;
  starts: Int32Array;
  ends: Int32Array;
  /** 1 where a value has escapes. */
  escapes: Uint8Array;
  /** 0 where there is no value. */
  valid: Uint8Array;
  #hasNulls = false;

  constructor(data: Uint8Array, places: number, memory: BatchMemory) {
    this.data = data;
    this.walk = new JsonWalk(data);
    this.memory = memory;
    memory.take(PLACE_BYTES * places);
    this.starts = new Int32Array(places);
    this.ends = new Int32Array(places);
    this.escapes = new Uint8Array(places);
    this.valid = new Uint8Array(places);
  }

  add(start: number, end: number, isEscaped: boolean): void {
    if (this.length === this.starts.length) this.#grow();
    this.starts[this.length] = start;
    this.ends[this.length] = end;
    this.escapes[this.length] = isEscaped ? 1 : 0;
    this.valid[this.length++] = 1;
  }

  addNone(): void {
    if (this.length === this.starts.length) this.#grow();
    this.#hasNulls = true;
    this.valid[this.length++] = 0;
  }

  /** Makes a value that was found null. */
  setNone(place: number): void {
    this.#hasNulls = true;
    this.valid[place] = 0;
  }

  get validity(): Validity {
    return this.#hasNulls ? this.valid.subarray(0, this.length) : null;
  }

  #grow(): void {
    const places = Math.max(64, 2 * this.length);
    this.memory.take(PLACE_BYTES * places);
    const grown = <A extends Int32Array | Uint8Array>(made: A, old: A): A => {
      made.set(old);
      return made;
    };
    this.starts = grown(new Int32Array(places), this.starts);
    this.ends = grown(new Int32Array(places), this.ends);
    this.escapes = grown(new Uint8Array(places), this.escapes);
    this.valid = grown(new Uint8Array(places), this.valid);
  }
}

/** Makes a column with the value of each place. */
export type OfPlaces = (places: JsonPlaces, type: DataType) => Generator<void, Column>;

/** Bytes that are looked at between two steps, and what a value counts beside its own. */
const VALUE_BYTES = 16;

/** How a value becomes a text: as it stands there, without blanks, or without escapes. */
const AS_IS = 0;
const SHORTENED = 1;
const UNESCAPED = 2;

/** The JSON of the values, without blanks between its tokens. */
export const jsonOf: OfPlaces = function* (places, type) {
  const { length, starts, ends } = places;
  const forms = new Uint8Array(length);
  let isChanged = false;
  for (let at = 0, work = 0; at < length; at++) {
    if (places.valid[at] === 0) continue;
    if (hasBlanks(places, at)) {
      forms[at] = SHORTENED;
      isChanged = true;
    }
    work += (ends[at] as number) - (starts[at] as number) + VALUE_BYTES;
    if (work < JSON_STEP) continue;
    work = 0;
    yield;
  }
  return isChanged ? yield* written(places, forms, type) : shared(places, type);
};

/** What texts in quotes mean, no value for null, and the JSON of other values. */
export const textsOf: OfPlaces = function* (places, type) {
  const { data, length, starts, ends, escapes } = places;
  const forms = new Uint8Array(length);
  let isChanged = false;
  for (let at = 0, work = 0; at < length; at++) {
    if (places.valid[at] === 0) continue;
    const [start, end] = [starts[at] as number, ends[at] as number];
    const first = data[start];
    if (first === LETTER_N) places.setNone(at);
    else if (first === QUOTE) {
      starts[at] = start + 1;
      ends[at] = end - 1;
      if (escapes[at] === 1) forms[at] = UNESCAPED;
    } else if (hasBlanks(places, at)) forms[at] = SHORTENED;
    if (forms[at] !== AS_IS) isChanged = true;
    work += end - start + VALUE_BYTES;
    if (work < JSON_STEP) continue;
    work = 0;
    yield;
  }
  return isChanged ? yield* written(places, forms, type) : shared(places, type);
};

const LETTER_N = 0x6e;

/** Whether an object or array may have blanks; a long one is not gone through for that. */
function hasBlanks({ data, starts, ends }: JsonPlaces, place: number): boolean {
  const [start, end] = [starts[place] as number, ends[place] as number];
  if (data[start] !== OPEN_OBJECT && data[start] !== OPEN_ARRAY) return false;
  if (end - start > JSON_STEP) return true;
  for (let at = start; at < end; at++) if ((data[at] as number) <= 32) return true;
  return false;
}

/** The places as they are: their values lie within the texts of the column. */
function shared(places: JsonPlaces, type: DataType): BytesColumn {
  const { data, length } = places;
  const starts = places.starts.subarray(0, length);
  const ends = places.ends.subarray(0, length);
  return { form: 'bytes', type, length, data, starts, ends, dense: false, valid: places.validity };
}

function* written(
  places: JsonPlaces,
  forms: Uint8Array,
  type: DataType,
): Generator<void, BytesColumn> {
  const { data, length, starts, ends, valid } = places;
  let most = 0;
  for (let at = 0; at < length; at++) {
    if (valid[at] === 1) most += (ends[at] as number) - (starts[at] as number);
  }
  const writer = new TextWriter(length, most, places.memory);
  const source = wordBytes(data);
  for (let at = 0, work = 0; at < length; at++) {
    const [start, end] = [starts[at] as number, ends[at] as number];
    if (valid[at] === 1) {
      if (forms[at] === AS_IS) writer.bytes(source, start, end);
      else if (forms[at] === SHORTENED) yield* writeShort(writer, source, start, end);
      else {
        const text = Buffer.from(places.walk.textOf(start - 1, end + 1));
        writer.bytes(wordBytes(text), 0, text.length);
      }
      work += end - start;
    }
    writer.end();
    work += VALUE_BYTES;
    if (work < JSON_STEP) continue;
    work = 0;
    yield;
  }
  return writer.column(type, places.validity);
}

/** Writes JSON without the blanks between its tokens. */
function* writeShort(
  writer: TextWriter,
  source: WordBytes,
  start: number,
  end: number,
): Generator<void, void> {
  const { data } = source;
  let from = start;
  let isInText = false;
  let pause = start + JSON_STEP;
  for (let at = start; at < end; at++) {
    const byte = data[at] as number;
    if (isInText) {
      if (byte === BACKSLASH) at++;
      else if (byte === QUOTE) isInText = false;
    } else if (byte === QUOTE) isInText = true;
    else if (isBlank(byte)) {
      writer.bytes(source, from, at);
      from = at + 1;
    }
    if (at < pause) continue;
    pause = at + JSON_STEP;
    yield;
  }
  writer.bytes(source, from, end);
}

const TYPES = ['OBJECT', 'ARRAY', 'VARCHAR', 'BOOLEAN', 'NULL', 'UBIGINT', 'BIGINT', 'DOUBLE'];
const TYPE_BYTES: Uint8Array = Buffer.from(TYPES.join(''));
/** Where the name of each type begins in TYPE_BYTES, and where that of the next one does. */
const TYPE_BORDERS = TYPES.map((_, at) => TYPES.slice(0, at).join('').length).concat(
  TYPE_BYTES.length,
);
const TYPE_OF_SIGN: ReadonlyMap<number, number> = new Map(
  [...'{["tfn'].map((sign, at) => [sign.charCodeAt(0), [0, 1, 2, 3, 3, 4][at] as number]),
);
const [UBIGINT, BIGINT, DOUBLE] = [5, 6, 7];

/** The names of the types of the values. */
export const typesOf: OfPlaces = function* (places, type) {
  const { data, length, starts, ends, valid } = places;
  for (let at = 0; at < length; at++) {
    if (at % JSON_STEP === JSON_STEP - 1) yield;
    if (valid[at] === 0) continue;
    const start = starts[at] as number;
    const found = TYPE_OF_SIGN.get(data[start] as number) ?? numberType(data, start, ends[at]);
    starts[at] = TYPE_BORDERS[found] as number;
    ends[at] = TYPE_BORDERS[found + 1] as number;
  }
  return { ...shared(places, type), data: TYPE_BYTES };
};

const MINUS = 0x2d;
/** Digits and a sign that any integer has room for, and more than any has. */
const SHORT_NUMBER = 18;
const LONG_NUMBER = 20;

function numberType(data: Uint8Array, start: number, end = start): number {
  // As many digits as no integer has are not worth a bigint.
  if (end - start > LONG_NUMBER) return DOUBLE;
  for (let at = start; at < end; at++) {
    const byte = data[at] as number;
    if (byte !== MINUS && (byte < 0x30 || byte > 0x39)) return DOUBLE;
  }
  const isNegative = data[start] === MINUS;
  if (end - start > SHORT_NUMBER) {
    const number = BigInt(Buffer.from(data.subarray(start, end)).toString('latin1'));
    const fits = BigInt[isNegative ? 'asIntN' : 'asUintN'](64, number) === number;
    if (!fits) return DOUBLE;
  }
  return isNegative ? BIGINT : UBIGINT;
}

/** How many items each array has; other values have none. */
export const lengthsOf: OfPlaces = function* (places, type) {
  const { data, length, starts, ends, valid, walk } = places;
  const values = new Float64Array(length);
  for (let at = 0, work = 0; at < length; at++) {
    const [start, end] = [starts[at] as number, ends[at] as number];
    if (valid[at] === 0 || data[start] !== OPEN_ARRAY) continue;
    values[at] = yield* walk.sizeOf(start, end);
    work += end - start + VALUE_BYTES;
    if (work < JSON_STEP) continue;
    work = 0;
    yield;
  }
  return { form: 'number', type, length, values, valid: places.validity };
};

/** The names of each object; other values have none. */
export const namesOf: OfPlaces = function* (places, type) {
  const { data, length, starts, ends, valid, walk, memory } = places;
  const text = Buffer.from(data.buffer, data.byteOffset, data.length);
  const values: (readonly string[] | null)[] = new Array(length).fill(null);
  for (let at = 0; at < length; at++) {
    if (valid[at] === 0) continue;
    memory.take(TEXT_LIST_BYTES);
    const names: string[] = [];
    values[at] = names;
    const [start, end] = [starts[at] as number, ends[at] as number];
    if (data[start] !== OPEN_OBJECT) continue;
    yield* walk.names(start, end, (from, to, isEscaped) => {
      memory.take(LISTED_TEXT_BYTES + 2 * (to - from));
      names.push(isEscaped ? walk.textOf(from, to) : text.toString('utf8', from + 1, to - 1));
    });
  }
  return { form: 'values', type, length, values };
};
