/**
 * Builds dictionary columns (`buildDictionary`) and union columns (`buildUnion`) from JavaScript
 * values. A dictionary grows over the record batches of a stream, which share it; more distinct
 * values than its codes can number throw TableSchemaValidation. A union stores a value in the first
 * member that suits its kind and accepts it, or else in the first that accepts it; a null goes to
 * the first member that may be null. A value that no member accepts throws TableSchemaValidation.
 */
import {
  type Data,
  type DataType,
  type Dictionary,
  type Field,
  type Int,
  Type,
  type Union,
  UnionMode,
  Vector,
} from '../../arrow/index.ts';
import { isDirspaceError } from '../../errors.ts';
import {
  arrowData,
  type BuildContext,
  type DictionaryMemory,
  findNulls,
  misfit,
  type Place,
} from './column-data.ts';
import { asBytes, isDate, isRecord } from './js-values.ts';

type Values = readonly unknown[];
/** A typed array, of bigints where codes have 64 bits. */
interface Codes extends ArrayBufferView {
  [at: number]: number | bigint;
}

export function buildDictionary(
  type: Dictionary,
  values: Values,
  place: Place,
  context: BuildContext,
): Data {
  const nulls = findNulls(type, values, place, context);
  const memory = memoryOf(type, context);
  const fresh: unknown[] = [];
  const firstSeen: number[] = [];
  const codes = newCodes(type, values.length);
  const isWide = (type.indices as Int).bitWidth === 64;
  const base = memory.codes.size;
  for (let i = 0; i < values.length; i++) {
    const value = values[i];
    if (value === null || value === undefined) continue;
    const key = keyOf(value);
    let code = memory.codes.get(key);
    if (code === undefined) {
      code = base + fresh.length;
      memory.codes.set(key, code);
      fresh.push(value);
      firstSeen.push(i);
    }
    const stored = isWide ? BigInt(code) : code;
    codes[i] = stored;
    if (codes[i] !== stored) {
      throw misfit(place, i, value, type, context, `${code} distinct values before it`);
    }
  }
  if (fresh.length > 0 || memory.vector === undefined) {
    const inside: Place = {
      nullable: false,
      row: (k) => place.row(firstSeen[k] as number),
      path: (k) => place.path(firstSeen[k] as number),
      hidden: () => false,
    };
    // Only ever appended to, so that writers can store what is new as a delta.
    let chunk: Data;
    try {
      chunk = context.build(type.dictionary, fresh, inside, context);
    } catch (error) {
      // The rows may come again in smaller batches, which need the values.
      for (const value of fresh) memory.codes.delete(keyOf(value));
      throw error;
    }
    memory.chunks.push(chunk);
    memory.vector = new Vector([...memory.chunks]);
    // Columns of one batch with the same dictionary must name the very same vector.
    for (const user of memory.users) user.dictionary = memory.vector;
  }
  const made = arrowData(type, values.length, nulls, { values: codes, dictionary: memory.vector });
  memory.users.push(made);
  return made;
}

const newCodes = (type: Dictionary, length: number): Codes =>
  new ((type.indices as Int).ArrayType as new (n: number) => Codes)(length);

function memoryOf(type: Dictionary, context: BuildContext): DictionaryMemory {
  let memory = context.dictionaries.get(type.id);
  if (memory === undefined) {
    memory = { codes: new Map(), chunks: [], users: [] };
    context.dictionaries.set(type.id, memory);
  }
  return memory;
}

/** Equal keys only for equal values; an object without a cheap key is its own. */
function keyOf(value: unknown): unknown {
  if (typeof value !== 'object' || value === null) {
    return Object.is(value, -0) ? '\0-0' : value;
  }
  if (isDate(value)) return `\0date ${value.getTime()}`;
  const bytes = asBytes(value);
  return bytes === undefined ? value : `\0bytes ${Buffer.from(bytes).toString('latin1')}`;
}

export function buildUnion(type: Union, values: Values, place: Place, context: BuildContext): Data {
  const fields = type.children as readonly Field[];
  const dense = type.mode === UnionMode.Dense;
  const picked = values.map((value, i) => {
    const child = pick(fields, value, context);
    if (child === undefined && !place.hidden(i)) throw misfit(place, i, value, type, context);
    return child ?? 0;
  });
  const typeIds = Int8Array.from(picked, (child) => type.typeIds[child] as number);
  const offsets = new Int32Array(values.length);
  const children = fields.map((field, child) => {
    const from: number[] = [];
    for (let i = 0; i < values.length; i++) {
      if (dense && picked[i] !== child) continue;
      offsets[i] = from.length;
      from.push(i);
    }
    const inside: Place = {
      nullable: field.nullable,
      row: (k) => place.row(from[k] as number),
      path: (k) => place.path(from[k] as number),
      hidden: (k) => picked[from[k] as number] !== child || place.hidden(from[k] as number),
    };
    const own = from.map((i) => (picked[i] === child ? values[i] : null));
    return context.build(field.type, own, inside, context);
  });
  const parts = { typeIds, children, offsets: dense ? offsets : undefined };
  return arrowData(type, values.length, undefined, parts);
}

/** The member for a value: first those made for its kind, then any that takes it exactly. */
function pick(fields: readonly Field[], value: unknown, context: BuildContext): number | undefined {
  if (value === null || value === undefined) {
    const index = fields.findIndex((field) => field.nullable || field.type.typeId === Type.Null);
    return index < 0 ? undefined : index;
  }
  const takes = (field: Field): boolean => accepts(field.type, value, context);
  let index = fields.findIndex((field) => suits(field.type, value) && takes(field));
  if (index < 0) index = fields.findIndex(takes);
  return index < 0 ? undefined : index;
}

const ANYWHERE: Place = { nullable: false, row: () => 0, path: () => '', hidden: () => false };

function accepts(type: DataType, value: unknown, context: BuildContext): boolean {
  try {
    // A trial must leave no trace in the dictionaries, so it gets its own.
    context.build(type, [value], ANYWHERE, { ...context, dictionaries: new Map() });
    return true;
  } catch (error) {
    if (isDirspaceError(error, 'TableSchemaValidation')) return false;
    throw error;
  }
}

const SUITS: Partial<Record<Type, (value: unknown) => boolean>> = {
  [Type.Int]: (value) => typeof value === 'bigint',
  [Type.Float]: (value) => typeof value === 'number',
  [Type.Utf8]: (value) => typeof value === 'string',
  [Type.LargeUtf8]: (value) => typeof value === 'string',
  [Type.Utf8View]: (value) => typeof value === 'string',
  [Type.Bool]: (value) => typeof value === 'boolean',
  [Type.Timestamp]: isDate,
  [Type.Date]: isDate,
  [Type.Struct]: isRecord,
  [Type.List]: Array.isArray,
};

const suits = (type: DataType, value: unknown): boolean => SUITS[type.typeId]?.(value) ?? false;
