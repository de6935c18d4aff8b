/**
 * Exports the conversion of Arrow schemas to and from the protocol's JSON form, with Arrow's or
 * Lance's names of types, and the parser of type names.
 */

export { lanceTypeName } from './lance-names.ts';
export {
  MAX_SCHEMA_DEPTH,
  MAX_SCHEMA_FIELDS,
  schemaFromJson,
  schemaToJson,
  schemaToLanceJson,
  sharedSchema,
  typeFromJson,
  typeToJson,
} from './schema.ts';
export { typeOfName } from './type-parser.ts';
