/**
 * Declares computed columns, and keeps writers from filling them. `declaredColumn` and
 * `checkDeclared` check their SQL when a column is added or comes with a schema, and throw
 * InvalidInput or TableColumnNotFound. `declaredColumn` returns undefined for a column that is not
 * computed. `withoutValues` throws InvalidInput as soon as rows bring values for them. `withStale`
 * adds to an update that each computed column whose input changes becomes null, and refuses values
 * for such columns too. write/backfill.ts computes the values.
 */
import {
  columnsOf,
  DataType,
  describeType,
  type RecordBatch,
  type RecordBatchStream,
  recordBatchStream,
  type Schema,
  typesEqual,
} from '../../arrow/index.ts';
import { DirspaceError } from '../../errors.ts';
import { type CompiledExpression, compileExpression } from '../../sql/index.ts';
import {
  type ComputedColumn,
  computedColumns,
  computedMetadata,
  refuseValue,
  staleColumns,
} from './computed-columns.ts';
import type { IdentifiedField } from './field-ids.ts';
import { findField } from './field-paths.ts';

interface Wanted {
  readonly path: string;
  readonly computed?: string | undefined;
  readonly expression?: string | undefined;
  readonly type?: DataType | undefined;
}

interface Declared {
  readonly type: DataType;
  /** None: the column is null until it is backfilled. */
  readonly expression?: undefined;
  readonly metadata: ReadonlyMap<string, string>;
}

/** Undefined for a column that is not computed. @throws InvalidInput, TableColumnNotFound */
export async function declaredColumn(
  schema: Schema,
  fields: readonly IdentifiedField[],
  { path, computed: sql, expression, type }: Wanted,
): Promise<Declared | undefined> {
  const parent = path.lastIndexOf('.') < 0 ? undefined : path.slice(0, path.lastIndexOf('.'));
  const [top] = parent === undefined ? [] : findField(fields, parent).chain;
  const holder = computedColumns(fields).find(({ node }) => node === top);
  if (holder !== undefined) refuseValue(holder);
  if (sql === undefined) return undefined;
  if (expression !== undefined || type !== undefined) {
    throw refused(path, `has a computed expression and ${type ? 'a data type' : 'another one'}`);
  }
  if (parent !== undefined) throw refused(path, 'is a field of a struct, and is to be computed');
  const compiled = await compileExpression(sql, schema);
  checkExpression(path, sql, compiled, fields);
  return { type: compiled.type, metadata: computedMetadata(sql, compiled.columns) };
}

function checkExpression(
  name: string,
  sql: string,
  compiled: CompiledExpression,
  fields: readonly IdentifiedField[],
): void {
  const { columns, type, usesRowId, usesRowOffset } = compiled;
  const shown = sql.slice(0, 80);
  if (DataType.isNull(type)) {
    throw refused(name, `is computed by ${shown}, which has no type; write CAST(... AS BIGINT)`);
  }
  if (usesRowId || usesRowOffset) {
    throw refused(name, `is computed by ${shown}, but ids and places of rows change`);
  }
  const other = computedColumns(fields).find((known) => columns.includes(known.name));
  if (other !== undefined) {
    const said = JSON.stringify(other.name);
    throw refused(name, `is computed by ${shown}, which reads ${said}, a computed column itself`);
  }
}

/**
 * Checks the computed columns that a schema declares by the metadata of its fields.
 * @throws InvalidInput, TableColumnNotFound
 */
export async function checkDeclared(
  schema: Schema,
  fields: readonly IdentifiedField[],
): Promise<void> {
  for (const { name, expression: sql, inputs, node } of computedColumns(fields)) {
    const compiled = await compileExpression(sql, schema);
    checkExpression(name, sql, compiled, fields);
    const { nullable, type } = node.field;
    if (!nullable) throw refused(name, 'is computed, so null at first, and must be nullable');
    if (!typesEqual(compiled.type, type)) {
      const [wanted, found] = [describeType(type), describeType(compiled.type)];
      throw refused(name, `is ${wanted}, but its expression gives ${found}`);
    }
    const read = [...compiled.columns].sort().join();
    if (read === [...inputs].sort().join()) continue;
    throw refused(name, `reads ${read}, but its metadata computed_column.inputs says otherwise`);
  }
}

const refused = (name: string, what: string): DirspaceError =>
  new DirspaceError('InvalidInput', `The computed column ${JSON.stringify(name)} ${what}.`, {
    details: { column: name },
  });

/** The rows as they are. @throws InvalidInput as soon as a computed column has a value */
export function withoutValues(
  stream: RecordBatchStream,
  fields: readonly IdentifiedField[],
): RecordBatchStream {
  const columns = computedColumns(fields).flatMap((column): [number, ComputedColumn][] => {
    const at = stream.schema.fields.findIndex(({ name }) => name === column.name);
    return at < 0 ? [] : [[at, column]];
  });
  if (columns.length === 0) return stream;
  const batches = async function* (): AsyncGenerator<RecordBatch> {
    for await (const batch of stream) {
      const given = columnsOf(batch);
      for (const [at, column] of columns) {
        const nulls = given[at]?.nullCount ?? 0;
        if (!DataType.isNull(given[at]?.type) && nulls < batch.numRows) refuseValue(column);
      }
      yield batch;
    }
  };
  return recordBatchStream(stream.schema, batches());
}

/** A computed column may be given null, as in rows that are added. */
const NULL = /^\s*null\s*$/i;

type Updates = readonly (readonly [path: string, sql: string])[];

/**
 * The updates, and null for each computed column that reads one of the columns.
 * @throws InvalidInput for a value of a computed column
 */
export function withStale(
  { fields }: { readonly fields: readonly IdentifiedField[] },
  updates: Updates,
): Updates {
  if (computedColumns(fields).length === 0) return updates;
  const changed = new Set(
    updates.map(([path]) => findField(fields, path).chain[0]?.field.name ?? ''),
  );
  const emptied = new Set(
    updates.flatMap(([path, sql]) => {
      const { chain } = findField(fields, path);
      return chain.length === 1 && NULL.test(sql) ? [chain[0]?.field.name ?? ''] : [];
    }),
  );
  const written = computedColumns(fields).find(
    ({ name }) => changed.has(name) && !emptied.has(name),
  );
  if (written !== undefined) refuseValue(written);
  const stale = staleColumns(fields, (name) => changed.has(name)).filter(
    ({ name }) => !emptied.has(name),
  );
  return [...updates, ...stale.map(({ name }) => [name, 'NULL'] as const)];
}
