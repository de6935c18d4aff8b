/**
 * `columnTypesOf` converts the column types that a caller passes for a file, as Arrow types or
 * their names, to Arrow types; without any it returns undefined. A name or value that is no type
 * throws InvalidInput; an Arrow type that is not known here throws Unsupported.
 */
import type { DataType } from '../../arrow/index.ts';
import { DirspaceError, isDirspaceError } from '../../errors.ts';
import { schemaFromJson } from '../../protocol/index.ts';
import { isTypeLike, rebuildType, type TypeLike } from '../convert/index.ts';

/** By the names of columns: an Arrow type, or its name as `describe` prints it, such as `int64`. */
export type FileColumnTypes =
  | ReadonlyMap<string, TypeLike | string>
  | Readonly<Record<string, TypeLike | string>>;

/** @throws InvalidInput for what is no type */
export function columnTypesOf(
  types: FileColumnTypes | undefined,
): ReadonlyMap<string, DataType> | undefined {
  if (types === undefined) return undefined;
  const entries = types instanceof Map ? [...types] : Object.entries(types);
  return new Map(entries.map(([name, type]) => [name, typeOf(name, type)]));
}

function typeOf(name: string, type: unknown): DataType {
  if (isTypeLike(type)) return rebuildType(type as never, new Map());
  try {
    if (typeof type === 'string') {
      const field = { name, nullable: true, type: { type } };
      return schemaFromJson({ fields: [field] }).fields[0]?.type as DataType;
    }
  } catch (error) {
    if (!isDirspaceError(error)) throw error;
  }
  throw new DirspaceError(
    'InvalidInput',
    `The type of the column ${JSON.stringify(name)} is ${JSON.stringify(type)}; give an Arrow type, or the name of one, such as int64, utf8 or timestamp:us:UTC.`,
    { details: { column: name } },
  );
}
