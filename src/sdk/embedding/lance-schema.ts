/**
 * `LanceSchema` builds a schema of nullable columns from Arrow types by column name. A type may
 * also come from `sourceField` or `vectorField` of an embedding function, which marks the column
 * that the function reads or fills. The schema's metadata then names the function, so that tables
 * with this schema compute their vectors. A column without an Arrow type, and a vector column
 * whose function has no source column, throw InvalidInput.
 */
import { type DataType, Field, Schema } from '../../arrow/index.ts';
import { DirspaceError } from '../../errors.ts';
import { isTypeLike, rebuildType, type TypeLike } from '../convert/index.ts';
import {
  type EmbeddingFunction,
  type FunctionField,
  SOURCE_ROLE,
  VECTOR_ROLE,
} from './embedding-function.ts';
import { type EmbeddingFunctionConfig, getRegistry } from './registry.ts';

/** A type, or what `sourceField` and `vectorField` of a function answer. */
export type LanceSchemaFields = Record<string, FunctionField | DataType | TypeLike | object>;

/** @throws InvalidInput for a vector column whose function has no source column */
export function LanceSchema(fields: LanceSchemaFields): Schema {
  const sources = new Map<EmbeddingFunction, string>();
  const vectors: [string, EmbeddingFunction][] = [];
  const made = Object.entries(fields).map(([name, given]) => {
    const [type, roles] = Array.isArray(given) ? (given as FunctionField) : [given, undefined];
    if (!isTypeLike(type)) {
      throw new DirspaceError(
        'InvalidInput',
        `The column ${JSON.stringify(name)} of LanceSchema has no Arrow type, such as new Utf8().`,
        { details: { column: name } },
      );
    }
    const source = roles?.get(SOURCE_ROLE);
    const vector = roles?.get(VECTOR_ROLE);
    if (source !== undefined) sources.set(source, name);
    if (vector !== undefined) vectors.push([name, vector]);
    return new Field(name, rebuildType(type, new Map()), true);
  });
  const configs = vectors.map(([vectorColumn, own]): EmbeddingFunctionConfig => {
    const sourceColumn = sources.get(own);
    if (sourceColumn !== undefined) return { sourceColumn, vectorColumn, function: own };
    throw new DirspaceError(
      'InvalidInput',
      `The function of the vectors ${JSON.stringify(vectorColumn)} has no source column: declare one with its sourceField().`,
      { details: { column: vectorColumn } },
    );
  });
  const metadata = configs.length === 0 ? undefined : getRegistry().getTableMetadata(configs);
  return new Schema(made, metadata);
}
