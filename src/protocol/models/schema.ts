/**
 * Defines the JSON Schemas and TypeScript types of an Arrow schema, its fields and its types. The
 * JSON Schemas accept any text as the name of a type, because ../types/type-parser.ts parses and
 * checks it.
 */
import { array, boolean, count, map, object, ref, type SchemaOf, string } from './model-schema.ts';

export interface JsonArrowDataType {
  /** Arrow's name of the type; parameters without a member follow it after colons. */
  type: string;
  /** Children of a nested type. */
  fields?: JsonArrowField[];
  /** Bytes of a `fixed_size_binary`, values of a `fixed_size_list`. */
  length?: number;
}

export interface JsonArrowField {
  name: string;
  nullable: boolean;
  type: JsonArrowDataType;
  metadata?: Record<string, string>;
}

export interface JsonArrowSchema {
  fields: JsonArrowField[];
  metadata?: Record<string, string>;
}

const fields = array(ref<JsonArrowField>('JsonArrowField'));
const metadata = map(string);

// The types are recursive, which inference from a schema is not: they are written out above.
export const JsonArrowDataType = object(
  { type: string },
  { fields, length: count },
) as unknown as SchemaOf<JsonArrowDataType>;

export const JsonArrowField = object(
  { name: string, nullable: boolean, type: ref<JsonArrowDataType>('JsonArrowDataType') },
  { metadata },
) as unknown as SchemaOf<JsonArrowField>;

export const JsonArrowSchema = object(
  { fields },
  { metadata },
) as unknown as SchemaOf<JsonArrowSchema>;
