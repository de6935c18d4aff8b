/**
 * Converts Arrow schemas to the protocol's JSON (`schemaToJson`, `schemaToLanceJson`) and back
 * (`schemaFromJson`), and single types (`typeToJson`, `typeFromJson`). `sharedSchema` reads JSON
 * that never changes only once; all callers get the same schema, so it must not be handed out. JSON
 * from outside is validated: a malformed value, more than 64 levels or more than 65,536 fields
 * throw InvalidInput, and a type that does not exist throws TableSchemaValidation. Writing throws
 * TableSchemaValidation for such a type or depth. The ids of dictionaries are not kept.
 */
import { DataType, Field, plainType, Schema, typeName } from '../../arrow/index.ts';
import { DirspaceError, type ErrorCode } from '../../errors.ts';
import type { JsonArrowDataType, JsonArrowField, JsonArrowSchema } from '../models/index.ts';
import { lanceTypeName } from './lance-names.ts';
import { typeOfName } from './type-parser.ts';

/** How deep types may nest, and how many fields a schema may have, nested ones counted. */
export const MAX_SCHEMA_DEPTH = 64;
export const MAX_SCHEMA_FIELDS = 65_536;

/**
 * The schema as JSON, with Arrow's names of types. @throws TableSchemaValidation where it nests too
 * deep, or has a type that Arrow does not have
 */
export function schemaToJson(schema: Schema): JsonArrowSchema {
  return writeSchema(schema, typeName);
}

/**
 * The same with the names that Lance's clients know. A type that Lance has no name for (views,
 * maps, unions, intervals, narrow decimals) keeps Arrow's: those clients refuse it only where they
 * use it.
 */
export function schemaToLanceJson(schema: Schema): JsonArrowSchema {
  return writeSchema(schema, lanceTypeName);
}

export function typeToJson(type: DataType): JsonArrowDataType {
  return writeType(type, typeName, 'type', 0);
}

/**
 * Validates and reads a schema that came from outside; names of types may be Arrow's or Lance's.
 * Throws InvalidInput for a malformed value and TableSchemaValidation for a type that cannot be,
 * both naming the member, as in `fields[2].type.fields[0].type`.
 */
export function schemaFromJson(json: unknown): Schema {
  const budget: Budget = { fields: MAX_SCHEMA_FIELDS };
  const { fields, metadata } = asObject(json, '');
  const read = readFields(fields, 'fields', 0, budget);
  return new Schema(read, readMetadata(metadata, 'metadata'));
}

const shared = new WeakMap<JsonArrowSchema, Schema>();

/**
 * As schemaFromJson, read once for each object: for JSON that never changes, such as that of a
 * version. All who ask get the same schema, so it is not to be handed out.
 */
export function sharedSchema(json: JsonArrowSchema): Schema {
  let schema = shared.get(json);
  if (schema === undefined) {
    schema = schemaFromJson(json);
    shared.set(json, schema);
  }
  return schema;
}

/** As schemaFromJson, for one type. `path` names it in messages. */
export function typeFromJson(json: unknown, path = 'type'): DataType {
  return readType(json, path, 0, { fields: MAX_SCHEMA_FIELDS });
}

type NameOf = typeof typeName;

function writeSchema(schema: Schema, nameOf: NameOf): JsonArrowSchema {
  const fields = schema.fields.map((field) => writeField(field, nameOf, 0));
  return { fields, ...writeMetadata(schema.metadata) };
}

function writeField(field: Field, nameOf: NameOf, depth: number): JsonArrowField {
  const { name, nullable, metadata } = field;
  const type = writeType(field.type, nameOf, name, depth);
  return { name, nullable, type, ...writeMetadata(metadata) };
}

function writeType(
  type: DataType,
  nameOf: NameOf,
  where: string,
  depth: number,
): JsonArrowDataType {
  const refuse = (problem: string): never =>
    fail('TableSchemaValidation', `field ${JSON.stringify(where)}`, problem);
  if (depth > MAX_SCHEMA_DEPTH) refuse(`types nest deeper than ${MAX_SCHEMA_DEPTH}`);
  const json: JsonArrowDataType = { type: nameOf(type, refuse) };
  const plain = plainType(type);
  if (DataType.isFixedSizeBinary(plain)) json.length = plain.byteWidth;
  if (DataType.isFixedSizeList(plain)) json.length = plain.listSize;
  const children: readonly Field[] | null = plain.children;
  if (children) json.fields = children.map((child) => writeField(child, nameOf, depth + 1));
  return json;
}

function writeMetadata(metadata: ReadonlyMap<string, string> | null | undefined): {
  metadata?: Record<string, string>;
} {
  if (!metadata || metadata.size === 0) return {};
  // fromEntries defines own members, so a key such as __proto__ is one like any other.
  return { metadata: Object.fromEntries(metadata) };
}

/** What may still be read; shared by all levels of one schema. */
interface Budget {
  fields: number;
}

function readFields(json: unknown, path: string, depth: number, budget: Budget): Field[] {
  if (!Array.isArray(json))
    return fail('InvalidInput', path, `expected a list, not ${shown(json)}`);
  if (json.length > budget.fields) {
    fail('InvalidInput', path, `a schema has at most ${MAX_SCHEMA_FIELDS} fields`);
  }
  budget.fields -= json.length;
  return json.map((field, index) => readField(field, `${path}[${index}]`, depth, budget));
}

function readField(json: unknown, path: string, depth: number, budget: Budget): Field {
  const { name, nullable, type, metadata } = asObject(json, path);
  const prefix = path === '' ? '' : `${path}.`;
  if (typeof name !== 'string') {
    return fail('InvalidInput', `${prefix}name`, `expected a string, not ${shown(name)}`);
  }
  if (typeof nullable !== 'boolean') {
    return fail('InvalidInput', `${prefix}nullable`, `expected a boolean, not ${shown(nullable)}`);
  }
  const read = readType(type, `${prefix}type`, depth, budget);
  return new Field(name, read, nullable, readMetadata(metadata, `${prefix}metadata`));
}

function readType(json: unknown, path: string, depth: number, budget: Budget): DataType {
  if (depth > MAX_SCHEMA_DEPTH) {
    fail('InvalidInput', path, `types nest deeper than ${MAX_SCHEMA_DEPTH}`);
  }
  const { type, fields, length } = asObject(json, path);
  if (typeof type !== 'string') {
    return fail('InvalidInput', `${path}.type`, `expected a string, not ${shown(type)}`);
  }
  if (isThere(length) && !(Number.isSafeInteger(length) && (length as number) >= 0)) {
    fail('InvalidInput', `${path}.length`, `expected an integer from 0, not ${shown(length)}`);
  }
  const shape = {
    ...(isThere(fields) && { fields: readFields(fields, `${path}.fields`, depth + 1, budget) }),
    ...(isThere(length) && { length: length as number }),
  };
  return typeOfName(type, shape, (problem) => fail('TableSchemaValidation', path, problem));
}

function readMetadata(json: unknown, path: string): Map<string, string> {
  const metadata = new Map<string, string>();
  if (!isThere(json)) return metadata;
  for (const [key, value] of Object.entries(asObject(json, path))) {
    if (typeof value !== 'string') {
      fail(
        'InvalidInput',
        `${path}[${JSON.stringify(key)}]`,
        `expected a string, not ${shown(value)}`,
      );
    }
    metadata.set(key, value as string);
  }
  return metadata;
}

const isThere = (value: unknown): boolean => value !== undefined && value !== null;

function asObject(json: unknown, path: string): Record<string, unknown> {
  if (typeof json !== 'object' || json === null || Array.isArray(json)) {
    return fail('InvalidInput', path, `expected an object, not ${shown(json)}`);
  }
  return json as Record<string, unknown>;
}

function shown(value: unknown): string {
  if (value === undefined) return 'nothing';
  if (typeof value === 'object' && value !== null)
    return Array.isArray(value) ? 'a list' : 'an object';
  const text = typeof value === 'string' ? JSON.stringify(value) : String(value);
  return text.length > 60 ? `${text.slice(0, 60)}...` : text;
}

function fail(code: ErrorCode, path: string, problem: string): never {
  const where = path === '' ? 'schema' : `schema: ${path}`;
  throw new DirspaceError(code, `${where}: ${problem}`, { details: { path } });
}
