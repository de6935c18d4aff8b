/** Changes of columns, from the words of the SDK to those of the protocol. Calls nothing. */
import type { DataType } from '../arrow.ts';
import { DirspaceError } from '../errors.ts';
import type {
  AddColumnsEntry,
  AlterColumnsEntry,
  JsonArrowDataType,
  UpdateFieldMetadataEntry,
} from '../protocol/models.ts';
import { typeToJson } from '../protocol/schema.ts';
import { isTypeLike, rebuildType, type TypeLike } from './arrow-like-types.ts';
import { defined } from './defined.ts';

export interface AddColumnsSql {
  readonly name: string;
  /** An SQL expression over the columns there are. */
  readonly valueSql: string;
}

export type NewColumns =
  | readonly AddColumnsSql[]
  /** Columns that are filled later, by their expression. */
  | { readonly computed: readonly AddColumnsSql[] };

export interface ColumnAlteration {
  /** The column, nested ones with dots: `address.city`. */
  readonly path: string;
  readonly rename?: string;
  /** An Arrow type, its name such as `int64`, or its JSON form. */
  readonly dataType?: string | DataType | TypeLike | JsonArrowDataType;
  readonly nullable?: boolean;
}

export interface FieldMetadataUpdate {
  readonly path: string;
  /** A value of null removes the key. */
  readonly metadata: Readonly<Record<string, string | null>>;
  /** Removes the keys that are not given. */
  readonly replace?: boolean;
}

export function newColumns(columns: NewColumns): AddColumnsEntry[] {
  const computed = 'computed' in columns;
  const entries: readonly AddColumnsSql[] = computed ? columns.computed : columns;
  if (!Array.isArray(entries) || entries.some(({ valueSql }) => typeof valueSql !== 'string')) {
    throw new DirspaceError(
      'InvalidInput',
      'addColumns takes [{name, valueSql}]. A column of nulls is {name, valueSql: "CAST(NULL AS BIGINT)"}.',
    );
  }
  return entries.map(({ name, valueSql }) =>
    computed ? { name, computed: valueSql } : { name, expression: valueSql },
  );
}

export function alteration(change: ColumnAlteration): AlterColumnsEntry {
  const { path, rename, dataType, nullable } = change;
  const data_type = dataType === undefined ? undefined : { ...dataTypeJson(dataType) };
  return defined({ path, rename, nullable, data_type });
}

export function fieldMetadata(update: FieldMetadataUpdate): UpdateFieldMetadataEntry {
  const { path, metadata, replace } = update;
  return defined({ path, metadata: { ...metadata }, replace });
}

function dataTypeJson(type: string | DataType | TypeLike | JsonArrowDataType): JsonArrowDataType {
  if (typeof type === 'string') return { type };
  if (isTypeLike(type)) return typeToJson(rebuildType(type, new Map()));
  return type as JsonArrowDataType;
}
