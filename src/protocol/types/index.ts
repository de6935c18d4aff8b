/**
 * Arrow schemas as the protocol writes them in JSON, and the names of Arrow types in both directions.
 */

export {
  MAX_SCHEMA_DEPTH,
  MAX_SCHEMA_FIELDS,
  schemaFromJson,
  schemaToJson,
  schemaToLanceJson,
  typeFromJson,
  typeToJson,
} from './schema.ts';
