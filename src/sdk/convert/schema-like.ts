/**
 * `toSchema` converts a schema in any form that a user may pass into a Schema of this package's
 * copy of apache-arrow: a schema of another copy, its JSON form, or fields with names of types.
 * Anything else throws InvalidInput. A type object that is unknown throws Unsupported, and an
 * unknown name of a type TableSchemaValidation. Two columns of one name throw
 * TableSchemaValidation.
 */
import type { DataType, Schema } from '../../arrow/index.ts';
import { DirspaceError } from '../../errors.ts';
import {
  type JsonArrowDataType,
  type JsonArrowSchema,
  schemaFromJson,
  typeFromJson,
} from '../../protocol/index.ts';
import { isRecord, showValue } from '../build/index.ts';
import {
  isSchemaLike,
  isTypeLike,
  rebuildSchema,
  type SchemaLike,
  type TypeCache,
  type TypeLike,
} from './arrow-like-types.ts';

/** A field by the name of its type: `int64`, `timestamp:us`, or apache-arrow's own name, as `DateDay`. */
export interface NamedTypeField {
  readonly name: string;
  readonly type: string | TypeLike | JsonArrowDataType;
  readonly nullable?: boolean;
  readonly metadata?: ReadonlyMap<string, string> | null;
}

/** A schema whose fields may have types by name. */
export interface NamedTypeSchema {
  readonly fields: readonly NamedTypeField[];
  readonly metadata?: ReadonlyMap<string, string> | null;
}

/** An Arrow schema of any release of apache-arrow from 15 on, its JSON form, or fields with names of types. */
export type SchemaInput = Schema | SchemaLike | JsonArrowSchema | NamedTypeSchema;

/**
 * Throws InvalidInput for what is no schema, Unsupported for types not known here and
 * TableSchemaValidation for columns that share a name.
 */
export function toSchema(input: SchemaInput, cache: TypeCache = new Map()): Schema {
  if (typeof input !== 'object' || input === null || !('fields' in input)) {
    throw new DirspaceError(
      'InvalidInput',
      `The schema is ${showValue(input)}. Pass an Arrow Schema or a JSON Arrow schema.`,
    );
  }
  const schema = schemaOf(input, cache);
  const names = new Set<string>();
  for (const { name } of schema.fields) {
    if (names.has(name)) {
      throw new DirspaceError(
        'TableSchemaValidation',
        `The schema has two columns named "${name}". Rename one of them.`,
        { details: { column: name } },
      );
    }
    names.add(name);
  }
  return schema;
}

function schemaOf(input: SchemaInput, cache: TypeCache): Schema {
  if (isSchemaLike(input)) return rebuildSchema(input, cache);
  const fields: unknown = input.fields;
  if (!Array.isArray(fields) || !fields.some((field) => typeof field?.type === 'string')) {
    return schemaFromJson(input);
  }
  return rebuildSchema({ ...input, fields: fields.map(withType) } as SchemaLike, cache);
}

function withType(field: NamedTypeField, at: number): object {
  if (typeof field?.name !== 'string') {
    const found = isRecord(field)
      ? `a field whose name is ${showValue(field.name)}`
      : showValue(field);
    throw new DirspaceError(
      'InvalidInput',
      `The schema has ${found} at fields[${at}]. Give each field a name and a type, as { name: "id", type: "int64" }.`,
    );
  }
  const { type } = field;
  if (isTypeLike(type)) return field;
  const json = typeof type === 'string' ? { type: nameOf(type) } : type;
  return { ...field, type: typeFromJson(json, `fields[${at}].type`) satisfies DataType };
}

/** Classes of apache-arrow that are named otherwise in the protocol. */
const CLASS_NAMES: ReadonlyMap<string, string> = new Map([
  ['largeutf8', 'large_utf8'],
  ['largebinary', 'large_binary'],
  ['utf8view', 'utf8_view'],
  ['binaryview', 'binary_view'],
  ['dateday', 'date32'],
  ['datemillisecond', 'date64'],
  ['timesecond', 'time32:s'],
  ['timemillisecond', 'time32:ms'],
  ['timemicrosecond', 'time64:us'],
  ['timenanosecond', 'time64:ns'],
  ['timestampsecond', 'timestamp:s'],
  ['timestampmillisecond', 'timestamp:ms'],
  ['timestampmicrosecond', 'timestamp:us'],
  ['timestampnanosecond', 'timestamp:ns'],
  ['durationsecond', 'duration:s'],
  ['durationmillisecond', 'duration:ms'],
  ['durationmicrosecond', 'duration:us'],
  ['durationnanosecond', 'duration:ns'],
]);

/** The protocol's name: those of apache-arrow's classes count whatever their case. */
function nameOf(type: string): string {
  const plain = type.toLowerCase();
  return CLASS_NAMES.get(plain) ?? (/^[a-z0-9_]+$/.test(plain) ? plain : type);
}
