/**
 * Defines `ManifestView`, the part of a manifest that describes a materialized view: the query that
 * defines the view and, after its first refresh, the version of the source from which its rows were
 * computed. A manifest with this part names the feature `view` (`VIEW_FEATURE`), so that releases
 * without views refuse the table. `decodeView` throws Corrupt for anything malformed.
 */
import {
  arrayMember,
  asObject,
  corrupt,
  integerMember,
  type JsonObject,
  objectMember,
  stringMember,
} from '../../json.ts';

export const VIEW_FEATURE = 'view';

/** What the rows of a view are of. */
export interface ViewSource {
  /** Incarnation of the source table. */
  readonly table: string;
  readonly version: number;
  /** Live rows of that version. */
  readonly rows: number;
}

export interface ManifestView {
  /** Id of the source table, from the root of the catalog down. */
  readonly source: readonly string[];
  /** Names and SQL of the columns, in order. */
  readonly columns: readonly (readonly [name: string, sql: string])[];
  readonly filter?: string | undefined;
  /** Rows that the view has at most. */
  readonly limit?: number | undefined;
  /** Names of the columns of the source that are read. */
  readonly inputs: readonly string[];
  /** Absent until the first refresh. */
  readonly of?: ViewSource | undefined;
}

export function decodeView(value: JsonObject, file: string): ManifestView {
  return {
    source: texts(value, 'source', file),
    columns: arrayMember(value, 'columns', file).map((pair) => {
      const [name, sql, ...more] = Array.isArray(pair) ? (pair as readonly unknown[]) : [];
      if (typeof name === 'string' && typeof sql === 'string' && more.length === 0)
        return [name, sql];
      throw corrupt(file, 'view.columns holds something else than names and expressions');
    }),
    ...(Object.hasOwn(value, 'filter') ? { filter: stringMember(value, 'filter', file) } : {}),
    ...(Object.hasOwn(value, 'limit') ? { limit: integerMember(value, 'limit', file) } : {}),
    inputs: texts(value, 'inputs', file),
    ...(Object.hasOwn(value, 'of')
      ? { of: decodeSource(objectMember(value, 'of', file), file) }
      : {}),
  };
}

function decodeSource(value: JsonObject, file: string): ViewSource {
  const of = asObject(value, file, 'of');
  return {
    table: stringMember(of, 'table', file),
    version: integerMember(of, 'version', file),
    rows: integerMember(of, 'rows', file),
  };
}

function texts(value: JsonObject, name: string, file: string): string[] {
  return arrayMember(value, name, file).map((text) => {
    if (typeof text === 'string') return text;
    throw corrupt(file, `view.${name} holds something else than texts`);
  });
}
