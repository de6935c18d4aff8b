/**
 * `makeArrowTable` builds an Arrow table from an array of rows, as LanceDB's SDK does;
 * `MakeArrowTableOptions` and `VectorColumnOptions` are the classes of its options. The schema is
 * given, or inferred from all rows. If there are rows, columns of a given schema that no row has
 * are left out. Rows that do not fit throw TableSchemaValidation; no rows without a schema throw
 * InvalidInput, and options for embeddings Unsupported. It runs without a break, so a large array
 * blocks the event loop; `createTable` and `add` take rows in steps.
 */
import {
  type Table as ArrowTable,
  arrowTable,
  DataType,
  Dictionary,
  Field,
  type Float,
  Float32,
  Int32,
  Schema,
} from '../../arrow/index.ts';
import { DirspaceError } from '../../errors.ts';
import { onlyOptions } from '../handles/index.ts';
import { ownTypes } from './data.ts';
import type { VectorColumns } from './infer.ts';
import { tableOfRows } from './row-stream.ts';
import { type SchemaInput, toSchema } from './schema-like.ts';

/** The type of a vector column's items. */
export class VectorColumnOptions {
  type: Float = new Float32();

  constructor(values?: Partial<VectorColumnOptions>) {
    Object.assign(this, values);
  }
}

/** How to make a table of rows. */
export class MakeArrowTableOptions {
  schema?: SchemaInput;
  /** Number arrays to make vectors of, beside those whose names say so. */
  vectorColumns: Record<string, VectorColumnOptions> = { vector: new VectorColumnOptions() };
  /** Refused: `createTable({embeddingFunction})` fills vectors. */
  embeddings?: unknown;
  /** Refused: `createTable({embeddingFunction})` fills vectors. */
  embeddingFunction?: unknown;
  /** Texts as codes of a dictionary; without a schema only. */
  dictionaryEncodeStrings = false;

  constructor(values?: Partial<MakeArrowTableOptions>) {
    Object.assign(this, values);
  }
}

const OPTIONS = [
  'schema',
  'vectorColumns',
  'embeddings',
  'embeddingFunction',
  'dictionaryEncodeStrings',
];

/** @throws TableSchemaValidation for rows that do not fit, InvalidInput for no rows without a schema */
export function makeArrowTable(
  data: readonly Record<string, unknown>[],
  options: Partial<MakeArrowTableOptions> = {},
  metadata?: ReadonlyMap<string, string>,
): ArrowTable {
  onlyOptions(options, OPTIONS, 'makeArrowTable');
  const { schema: given, vectorColumns, embeddings, embeddingFunction } = options;
  if (embeddings !== undefined || embeddingFunction !== undefined) {
    throw new DirspaceError(
      'Unsupported',
      'makeArrowTable waits for nothing and computes no embeddings: give the function to createTable as embeddingFunction.',
    );
  }
  if (!Array.isArray(data)) {
    throw new DirspaceError('InvalidInput', 'makeArrowTable takes an array of objects.');
  }
  const schema = given === undefined ? undefined : toSchema(given);
  const coded = schema === undefined && options.dictionaryEncodeStrings === true;
  const made = tableOfRows(
    data,
    schema,
    vectorColumns && ownTypes(vectorColumns as VectorColumns),
    coded ? withCodes : (inferred) => inferred,
  );
  const fields = made.schema.fields;
  const all = new Map([...made.schema.metadata, ...(metadata ?? [])]);
  return arrowTable(new Schema(fields, all), made.batches);
}

/** The schema with dictionaries of texts in place of texts, at the top. */
const withCodes = (schema: Schema): Schema =>
  new Schema(
    schema.fields.map((field) =>
      DataType.isUtf8(field.type)
        ? new Field(field.name, new Dictionary(field.type, new Int32()), field.nullable)
        : field,
    ),
    schema.metadata,
  );
