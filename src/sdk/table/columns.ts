/**
 * Translates arguments of a table's methods into the protocol's form: columns to add
 * (`newColumns`), to alter (`alterationsOf`), to drop (`columnNames`) or to fill
 * (`backfillMembers`), and changes of the metadata of fields (`fieldUpdates`). `refreshResult`
 * translates the answer to a backfill. `dataTypeJson` returns the JSON form of a type. Arguments of
 * a wrong shape, and a new column of nulls that may not be null, throw InvalidInput. The catalog
 * checks the names of columns, the names of types and the SQL.
 */
import type { DataType } from '../../arrow/index.ts';
import { DirspaceError } from '../../errors.ts';
import {
  type AddColumnsEntry,
  type AlterColumnsEntry,
  type AlterTableBackfillColumnsRequest,
  type AlterTableBackfillColumnsResponse,
  type CallOptions,
  type JsonArrowDataType,
  typeToJson,
  type UpdateFieldMetadataEntry,
} from '../../protocol/index.ts';
import { isTypeLike, rebuildType, type TypeLike } from '../convert/index.ts';
import { checkWhere, defined, onlyOptions, showKind } from '../handles/index.ts';

/** A new column with a value in every row. */
export interface AddColumnsSql {
  readonly name: string;
  /** An SQL expression over the columns there are. */
  readonly valueSql: string;
}

/** A field by its name and Arrow type; the column is null in all rows, so it must be nullable. */
export interface NewField {
  readonly name: string;
  readonly type: DataType | TypeLike;
  readonly nullable?: boolean;
  readonly metadata?: ReadonlyMap<string, string> | null;
}

/** Columns to add: with values, or of nulls. */
export type NewColumns =
  | readonly AddColumnsSql[]
  /** Columns of nulls: a field, several, or the fields of a schema. */
  | NewField
  | readonly NewField[]
  | { readonly fields: readonly NewField[] }
  /** Columns that are filled later, by their expression. */
  | { readonly computed: readonly AddColumnsSql[] };

/** Which rows of a computed column are filled. */
export interface RefreshColumnOptions extends CallOptions {
  /** SQL; rows that fit are computed, whatever they hold. Those without a value if absent. */
  readonly where?: string;
  /** Fragments that are filled at most. */
  readonly maxFragments?: number;
  /** Fragments that one version fills at most; all of them if absent. */
  readonly fragmentsPerVersion?: number;
}

/** What a backfill did; figures are 0 where the catalog does not tell. */
export interface RefreshColumnResult {
  /** Rows that were given a value; with `where` those whose value is null are among them. */
  readonly rowsFilled: number;
  readonly version: number;
  readonly transactionId?: string;
}

export const REFRESH_OPTIONS: readonly string[] = ['where', 'maxFragments', 'fragmentsPerVersion'];

/** @throws InvalidInput */
export function backfillMembers(
  column: string,
  { where, maxFragments, fragmentsPerVersion }: RefreshColumnOptions,
): Omit<AlterTableBackfillColumnsRequest, 'id'> {
  const counts = { maxFragments, fragmentsPerVersion };
  for (const [name, value] of Object.entries(counts)) {
    if (value === undefined || (Number.isSafeInteger(value) && value >= 1)) continue;
    throw new DirspaceError('InvalidInput', `${name} is a number of fragments, not ${value}.`);
  }
  checkWhere(where);
  return defined({
    column,
    where,
    num_frags: maxFragments,
    commit_granularity: fragmentsPerVersion,
  });
}

export const refreshResult = (answer: AlterTableBackfillColumnsResponse): RefreshColumnResult =>
  defined({
    rowsFilled: answer.rows_filled ?? 0,
    version: answer.version ?? 0,
    transactionId: answer.transaction_id,
  });

/** One change of a column; members that are left out stay as they are. */
export interface ColumnAlteration {
  /** The column, nested ones with dots: `address.city`. */
  readonly path: string;
  readonly rename?: string;
  /** An Arrow type, its name such as `int64`, or its JSON form. */
  readonly dataType?: string | DataType | TypeLike | JsonArrowDataType;
  /** False is refused while the column has nulls. */
  readonly nullable?: boolean;
}

/** Keys to set and to remove in the metadata of one field. */
export interface FieldMetadataUpdate {
  /** The column, nested ones with dots: `address.city`. */
  readonly path: string;
  /** A value of null removes the key. */
  readonly metadata: Readonly<Record<string, string | null>>;
  /** Removes the keys that are not given. */
  readonly replace?: boolean;
}

export function newColumns(columns: NewColumns): AddColumnsEntry[] {
  if (typeof columns !== 'object' || columns === null) throw notColumns(columns);
  if ('computed' in columns) {
    onlyOptions(columns, ['computed'], 'addColumns');
    return checked(columns.computed).map(({ name, valueSql }) => ({ name, computed: valueSql }));
  }
  if ('fields' in columns) return nullColumns(columns.fields);
  if ('type' in columns) return [nullColumn(columns)];
  if (!Array.isArray(columns)) throw notColumns(columns);
  if (isField(columns[0])) return nullColumns(columns as readonly NewField[]);
  return checked(columns as readonly AddColumnsSql[]).map(({ name, valueSql }) => ({
    name,
    expression: valueSql,
  }));
}

const isField = (given: unknown): given is NewField =>
  typeof given === 'object' && given !== null && 'type' in given;

function nullColumns(fields: readonly NewField[]): AddColumnsEntry[] {
  if (Array.isArray(fields) && fields.every(isField)) return fields.map(nullColumn);
  throw notColumns(fields);
}

function nullColumn({ name, type, nullable, metadata }: NewField): AddColumnsEntry {
  if (nullable === false) {
    throw new DirspaceError(
      'InvalidInput',
      `The new column ${JSON.stringify(name)} would be null in every row and must be nullable: new Field(name, type, true).`,
      { details: { column: name } },
    );
  }
  const known = (metadata?.size ?? 0) > 0 ? Object.fromEntries(metadata ?? []) : undefined;
  return defined({ name, data_type: { ...dataTypeJson(type) }, metadata: known });
}

function checked(entries: readonly AddColumnsSql[]): readonly AddColumnsSql[] {
  const sound =
    Array.isArray(entries) &&
    entries.every((entry) => typeof (entry as AddColumnsSql | null)?.valueSql === 'string');
  if (sound) {
    for (const entry of entries) onlyOptions(entry, ['name', 'valueSql'], 'a new column');
    return entries;
  }
  throw notColumns(entries);
}

const notColumns = (given: unknown): DirspaceError =>
  new DirspaceError(
    'InvalidInput',
    `addColumns takes [{name: "older", valueSql: "age + 1"}], or Arrow fields for columns of nulls, and was given ${showKind(given)}${Array.isArray(given) ? ' of something else' : ''}.`,
  );

/** @throws InvalidInput unless it is an array */
export function alterationsOf(changes: readonly ColumnAlteration[]): AlterColumnsEntry[] {
  if (Array.isArray(changes)) return changes.map(alteration);
  throw new DirspaceError(
    'InvalidInput',
    `alterColumns takes an array, such as [{path: "age", rename: "years"}], and was given ${showKind(changes)}.`,
  );
}

/** @throws InvalidInput unless it is an array */
export function fieldUpdates(updates: readonly FieldMetadataUpdate[]): UpdateFieldMetadataEntry[] {
  if (Array.isArray(updates)) return updates.map(fieldMetadata);
  throw new DirspaceError(
    'InvalidInput',
    `updateFieldMetadata takes an array, such as [{path: "age", metadata: {unit: "years"}}], and was given ${showKind(updates)}.`,
  );
}

/** A copy of the names. @throws InvalidInput unless it is an array */
export function columnNames(columns: readonly string[]): string[] {
  if (Array.isArray(columns)) return columns.slice();
  throw new DirspaceError(
    'InvalidInput',
    `dropColumns takes an array of column names, such as ["age"], and was given ${showKind(columns)}.`,
  );
}

function alteration(change: ColumnAlteration): AlterColumnsEntry {
  onlyOptions(change, ['path', 'rename', 'dataType', 'nullable'], 'an alteration');
  const { path, rename, dataType, nullable } = change;
  if (rename === undefined && dataType === undefined && nullable === undefined) {
    throw new DirspaceError(
      'InvalidInput',
      `The alteration of ${JSON.stringify(path)} says nothing: give rename, dataType or nullable.`,
    );
  }
  const data_type = dataType === undefined ? undefined : { ...dataTypeJson(dataType) };
  return defined({ path, rename, nullable, data_type });
}

function fieldMetadata(update: FieldMetadataUpdate): UpdateFieldMetadataEntry {
  onlyOptions(update, ['path', 'metadata', 'replace'], 'an update of a field');
  const { path, metadata, replace } = update;
  return defined({ path, metadata: { ...metadata }, replace });
}

/** The JSON form of a type. */
export function dataTypeJson(
  type: string | DataType | TypeLike | JsonArrowDataType,
): JsonArrowDataType {
  if (typeof type === 'string') return { type };
  if (isTypeLike(type)) return typeToJson(rebuildType(type, new Map()));
  return type as JsonArrowDataType;
}
