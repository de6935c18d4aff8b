/**
 * `toSchema`: converts a schema in any form that a user may pass (of this or another copy of
 * apache-arrow, or JSON) into a Schema of this package's copy.
 */
import type { Schema } from '../../arrow/index.ts';
import { DirspaceError } from '../../errors.ts';
import { type JsonArrowSchema, schemaFromJson } from '../../protocol/index.ts';
import { showValue } from '../build/index.ts';
import {
  isSchemaLike,
  rebuildSchema,
  type SchemaLike,
  type TypeCache,
} from './arrow-like-types.ts';

/** An Arrow schema of any release of apache-arrow from 15 on, or its JSON form. */
export type SchemaInput = Schema | SchemaLike | JsonArrowSchema;

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
  const schema = isSchemaLike(input) ? rebuildSchema(input, cache) : schemaFromJson(input);
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
