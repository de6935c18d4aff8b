/**
 * `prepareSchema` encodes a schema as the message at the head of a file or stream, and `readSchema`
 * decodes the message of a file. Both cache their latest results, which callers share and must not
 * change, because thousands of fragments can share one schema. `prepareSchema` throws
 * TableSchemaValidation for types that nest too deep (`MAX_SCHEMA_DEPTH`). `readSchema` throws
 * Corrupt for a damaged schema. It checks the bytes before apache-arrow parses them, because that
 * parser would loop for minutes on bad lengths.
 */
import { crc32 } from 'node:zlib';
import {
  changeField,
  childFields,
  type DataType,
  type Date_,
  DateUnit,
  Dictionary,
  Field,
  type Float,
  type Int,
  type Interval,
  IntervalUnit,
  Message,
  MessageHeader,
  mapType,
  Precision,
  plainType,
  Schema,
  schemasEqual,
  strideOf,
  type Time,
  type Timestamp,
  TimeUnit,
  Type,
  type Union,
  UnionMode,
} from '../../arrow/index.ts';
import { DirspaceError } from '../../errors.ts';
import { corrupt } from '../../json.ts';
import { MAX_SCHEMA_DEPTH } from '../../protocol/index.ts';
import { fieldIdsOf, stripFieldIds } from './field-ids.ts';
import { framed, MAGIC, schemaMessage } from './ipc-messages.ts';

export interface PreparedSchema {
  /** With dictionaries numbered from 0, depth first, each field its own. */
  readonly schema: Schema;
  readonly message: Uint8Array;
  /** How every file of this schema begins, up to its first batch; shared, not to be changed. */
  readonly head: Uint8Array;
  readonly headChecksum: number;
  /** The dictionary types by number. */
  readonly dictionaries: readonly Dictionary[];
}

/** By the very schema that was given. */
const byIdentity = new WeakMap<Schema, PreparedSchema>();
/** Schemas written last, the newest first: most programs write a few over and over. */
const prepared: PreparedSchema[] = [];
const MAX_PREPARED = 16;
const IN_EVERYTHING = { metadata: true, itemNames: true };

/**
 * What a writer needs; the same object for equal schemas while they are in use.
 * @throws TableSchemaValidation for types that nest too deep
 */
export function prepareSchema(schema: Schema): PreparedSchema {
  const known = byIdentity.get(schema);
  // Callers may have changed the schema's metadata since.
  if (known !== undefined && schemasEqual(known.schema, schema, IN_EVERYTHING)) return known;
  const at = prepared.findIndex((known) => schemasEqual(known.schema, schema, IN_EVERYTHING));
  const found = prepared[at] ?? prepare(schema);
  if (at >= 0) prepared.splice(at, 1);
  prepared.unshift(found);
  prepared.length = Math.min(prepared.length, MAX_PREPARED);
  byIdentity.set(schema, found);
  return found;
}

function prepare(schema: Schema): PreparedSchema {
  for (const { name, type } of schema.fields) requireDepth(name, type, 0);
  const dictionaries: Dictionary[] = [];
  const fields = schema.fields.map((field) => kept(field, dictionaries));
  const own = new Schema(fields, new Map(schema.metadata));
  const message = schemaMessage(own);
  const head = headOf(message);
  return { schema: own, message, head, headChecksum: crc32(head), dictionaries };
}

/** @throws TableSchemaValidation for a type that would be refused where the schema is read */
function requireDepth(column: string, type: DataType, depth: number): void {
  if (depth > MAX_SCHEMA_DEPTH) {
    const message = `The column ${JSON.stringify(column)} nests types deeper than ${MAX_SCHEMA_DEPTH}.`;
    throw new DirspaceError('TableSchemaValidation', message, { details: { column } });
  }
  for (const child of childFields(plainType(type))) requireDepth(column, child.type, depth + 1);
}

function headOf(message: Uint8Array): Uint8Array {
  const start = 8;
  const frame = framed(message, start);
  const head = new Uint8Array(start + frame.length);
  head.set(MAGIC);
  head.set(frame, start);
  return head;
}

/** Copies the field with its metadata, whose map a caller may change later. */
const kept = (field: Field, found: Dictionary[]): Field =>
  changeField(field, { type: numbered(field.type, found), metadata: new Map(field.metadata) });

function numbered(type: DataType, found: Dictionary[]): DataType {
  if (type.typeId !== Type.Dictionary) return mapType(type, (field) => kept(field, found));
  const { dictionary, indices, isOrdered } = type as Dictionary;
  const id = found.length;
  found.push(type as Dictionary);
  const own = new Dictionary(numbered(dictionary, found), indices, id, isOrdered);
  found[id] = own;
  return own;
}

export interface StoredSchema {
  /** Without the ids in its metadata. */
  readonly schema: Schema;
  /** Field ids depth first, undefined where a field carries none. */
  readonly fieldIds: readonly (number | undefined)[];
  /** The dictionary types by id. */
  readonly dictionaries: ReadonlyMap<number, Dictionary>;
}

interface CacheEntry {
  readonly bytes: Uint8Array;
  readonly stored: StoredSchema;
}

const MAX_CACHED = 256;
const cache = new Map<number, CacheEntry>();

/** Parses the flatbuffer of a schema message. @throws Corrupt naming `file` */
export function readSchema(message: Uint8Array, file: string): StoredSchema {
  const key = crc32(message);
  const known = cache.get(key);
  if (known !== undefined && Buffer.compare(known.bytes, message) === 0) {
    if (cache.size >= MAX_CACHED) {
      cache.delete(key);
      cache.set(key, known);
    }
    return known.stored;
  }
  const bytes = message.slice();
  const stored = parse(bytes, file);
  if (cache.size >= MAX_CACHED) {
    for (const oldest of cache.keys()) {
      cache.delete(oldest);
      break;
    }
  }
  cache.set(key, { bytes, stored });
  return stored;
}

function parse(message: Uint8Array, file: string): StoredSchema {
  checkSchemaMessage(message, file);
  let parsed: Schema;
  try {
    parsed = Message.decode(message).header() as Schema;
  } catch (error) {
    throw corrupt(file, 'its schema cannot be parsed', error);
  }
  for (const field of parsed.fields) checkSound(field.type, file);
  parsed = new Schema(parsed.fields.map(named), parsed.metadata);
  const dictionaries = new Map<number, Dictionary>();
  let count = 0;
  const collect = (type: DataType): void => {
    if (type.typeId === Type.Dictionary) {
      dictionaries.set((type as Dictionary).id, type as Dictionary);
      count += 1;
      collect((type as Dictionary).dictionary);
    } else {
      for (const field of childFields(type)) collect(field.type);
    }
  };
  for (const field of parsed.fields) collect(field.type);
  if (dictionaries.size !== count) throw corrupt(file, 'its dictionaries share a number');
  return { schema: stripFieldIds(parsed), fieldIds: fieldIdsOf(parsed.fields), dictionaries };
}

/** apache-arrow writes no empty names, and reads fields without a name as fields of no name. */
const named = (field: Field): Field =>
  new Field(field.name ?? '', mapType(field.type, named), field.nullable, field.metadata);

function checkSound(type: DataType, file: string): void {
  if (!isSound(type)) throw corrupt(file, 'its schema has a type that cannot be');
  if (type.typeId === Type.Dictionary) checkSound((type as Dictionary).dictionary, file);
  else for (const field of childFields(type)) checkSound(field.type, file);
}

/** Whether the parameters of a parsed type are ones that Arrow has. */
function isSound(type: DataType): boolean {
  const children = childFields(type).filter((field) => field !== undefined);
  const width = (type as Int).bitWidth;
  const counts = (size: number): boolean => Number.isInteger(size) && size >= 0;
  switch (type.typeId) {
    case Type.Int:
      return [8, 16, 32, 64].includes(width);
    case Type.Float:
      return (type as Float).precision in Precision;
    case Type.Decimal:
      return [32, 64, 128, 256].includes(width);
    case Type.Date:
      return (type as Date_).unit in DateUnit;
    case Type.Time:
      return [32, 64].includes(width) && (type as Time).unit in TimeUnit;
    case Type.Timestamp:
    case Type.Duration:
      return (type as Timestamp).unit in TimeUnit;
    case Type.Interval:
      return (type as Interval).unit in IntervalUnit;
    case Type.FixedSizeBinary:
      return counts(strideOf(type));
    case Type.FixedSizeList:
      return counts(strideOf(type)) && children.length === 1;
    case Type.List:
    case Type.LargeList:
      return children.length === 1;
    case Type.Map:
      return children.length === 1 && childFields(children[0]?.type as DataType).length === 2;
    case Type.Union: {
      const { typeIds, mode } = type as Union;
      return mode in UnionMode && typeIds.length === children.length;
    }
    case Type.Dictionary:
      return isSound((type as Dictionary).indices);
    default:
      return true;
  }
}

/** Columns are at depth 1 here; where schemas from outside are checked, their types are at depth 0. */
const MAX_DEPTH = MAX_SCHEMA_DEPTH + 1;

/**
 * Walks the tables of a schema message and bounds everything its parser loops over.
 * @throws Corrupt naming `file`
 */
function checkSchemaMessage(message: Uint8Array, file: string): void {
  const view = new DataView(message.buffer, message.byteOffset, message.byteLength);
  // A table takes at least 4 bytes; counting them stops references that share or form a loop.
  let tables = message.length / 4;
  const bad = () => corrupt(file, 'its schema is not well formed');
  try {
    const root = view.getUint32(0, true);
    if (view.getUint8(slot(root, 1) ?? -1) !== MessageHeader.Schema) throw bad();
    // Metadata of the message itself is never written, and the parser would loop over it too.
    if (slot(root, 4) !== undefined) throw bad();
    const schema = follow(slot(root, 2));
    enter(0);
    for (const field of elements(schema, 1)) checkField(follow(field), 1);
    for (const pair of elements(schema, 2)) checkPair(follow(pair));
  } catch (error) {
    if (error instanceof RangeError) throw bad();
    throw error;
  }

  function checkField(field: number, depth: number): void {
    enter(depth);
    text(field, 0);
    const type = slot(field, 3);
    const tag = slot(field, 2);
    if (type !== undefined) checkType(tag === undefined ? 0 : view.getUint8(tag), follow(type));
    const dictionary = slot(field, 4);
    if (dictionary !== undefined) slot(follow(dictionary), 0);
    for (const child of elements(field, 5)) checkField(follow(child), depth + 1);
    for (const pair of elements(field, 6)) checkPair(follow(pair));
  }

  /** Of all types only two hold something of variable length. */
  function checkType(tag: number, type: number): void {
    enter(0);
    if (tag === Type.Timestamp) text(type, 1);
    if (tag === Type.Union) elements(type, 1);
  }

  function checkPair(pair: number): void {
    enter(0);
    text(pair, 0);
    text(pair, 1);
  }

  function enter(depth: number): void {
    tables -= 1;
    if (tables < 0 || depth > MAX_DEPTH) throw bad();
  }

  /** The position of a field of a table, undefined when it is absent. */
  function slot(table: number, index: number): number | undefined {
    const vtable = table - view.getInt32(table, true);
    const entry = 4 + index * 2;
    if (entry >= view.getUint16(vtable, true)) return undefined;
    const offset = view.getUint16(vtable + entry, true);
    return offset === 0 ? undefined : table + offset;
  }

  function follow(position: number | undefined): number {
    if (position === undefined) throw bad();
    return position + view.getUint32(position, true);
  }

  function text(table: number, index: number): void {
    const position = slot(table, index);
    if (position === undefined) return;
    const start = follow(position);
    if (start + 4 + view.getUint32(start, true) > message.length) throw bad();
  }

  /** Positions of the elements of a vector, whose elements take 4 bytes. */
  function elements(table: number, index: number): number[] {
    const position = slot(table, index);
    if (position === undefined) return [];
    const start = follow(position);
    const length = view.getUint32(start, true);
    if (start + 4 + length * 4 > message.length) throw bad();
    return Array.from({ length }, (_, at) => start + 4 + at * 4);
  }
}
