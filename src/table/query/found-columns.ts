/**
 * Computes the columns of the answer for the rows that a search found. `planFound` plans which
 * columns are read for them, and `answeredColumns` computes the rest for each record batch.
 * `foundFilter` compiles a filter of these rows, and `projectionOf` names columns for plans.
 * Expressions and filters may also use the columns that the search adds, such as `_distance` and
 * `_score`. A column of the table with the same name takes precedence in them; in the answer, the
 * name is that of what the search adds. A request for another expression of that name throws
 * InvalidInput. An expression of such a column and `_rowoffset` throws Unsupported.
 */
import { columnsOf, type Data, Field, type RecordBatch, Schema } from '../../arrow/index.ts';
import { DirspaceError } from '../../errors.ts';
import { type CompiledExpression, compileExpression, compilePredicate } from '../../sql/index.ts';
import { quotedName } from '../../sql-quotes.ts';
import type { Awaitable } from '../../store/index.ts';
import {
  type ColumnRequest,
  evaluateRows,
  planScan,
  type ScanPlan,
  type ScanRequest,
} from '../read/index.ts';
import type { Engine, Snapshot } from '../versions/index.ts';

/** A column of the answer: one that was read, or one that is computed from some of these. */
type AnswerColumn =
  | { readonly field: Field; readonly at: number; readonly isRowId: boolean }
  | {
      readonly field: Field;
      readonly expression: CompiledExpression;
      /**
       * Where the columns that it reads are among those of the plan; -1 for what the search adds.
       */
      readonly inputs: readonly { readonly name: string; readonly at: number }[];
      readonly isRowId: false;
    };

export interface FoundPlan extends ScanPlan {
  readonly answer: readonly AnswerColumn[];
  /** The columns of the answer in words, for plans. */
  readonly projection: readonly string[];
}

/**
 * @param added what the search adds to the rows
 * @throws TableColumnNotFound, InvalidInput, Unsupported naming a column
 */
export async function planFound(
  engine: Engine,
  snapshot: Snapshot,
  request: ScanRequest,
  added: readonly Field[],
): Promise<FoundPlan> {
  const names = added.map(({ name }) => name);
  const columns = withoutAdded(snapshot, request.columns, names);
  const computed = await computedColumns(snapshot, columns, added);
  if (computed === undefined) {
    const plan = await planScan(engine, snapshot, { ...request, columns });
    return { ...plan, ...plainAnswer(plan) };
  }
  const plan = await planScan(engine, snapshot, { ...request, columns: computed.read });
  const at = new Map(plan.columns.map(({ name }, place) => [name, place]));
  const answer = computed.answer.map((column): AnswerColumn => {
    if ('read' in column) {
      const place = at.get(column.read) as number;
      return { field: plan.schema.fields[place] as Field, at: place, isRowId: false };
    }
    const inputs = column.expression.columns.map((name) => ({
      name,
      at: at.get(inputName(name)) ?? -1,
    }));
    return { ...column, inputs, isRowId: false };
  });
  const rowId = plan.columns.findIndex(({ kind }) => kind === 'row id');
  const projection = computed.answer.map((column) =>
    'read' in column ? column.read : `${column.expression.toSql()} AS ${column.field.name}`,
  );
  if (rowId < 0) return { ...plan, answer, projection };
  const field = plan.schema.fields[rowId] as Field;
  return {
    ...plan,
    answer: [...answer, { field, at: rowId, isRowId: true }],
    projection: [...projection, field.name],
  };
}

function plainAnswer({ columns, schema }: ScanPlan): Pick<FoundPlan, 'answer' | 'projection'> {
  return {
    answer: columns.map(({ kind }, at) => ({
      field: schema.fields[at] as Field,
      at,
      isRowId: kind === 'row id',
    })),
    projection: projectionOf(columns),
  };
}

/** Columns in words, for plans. */
export const projectionOf = (columns: ScanPlan['columns']): string[] =>
  columns.map((column) =>
    column.kind === 'value' ? `${column.expression.toSql()} AS ${column.name}` : column.name,
  );

/**
 * A filter of the rows that a search found.
 * @param added what the search adds; a column of the table of the same name comes first
 */
export function foundFilter(
  { schema }: Snapshot,
  filter: string,
  added: readonly Field[],
): Promise<CompiledExpression> {
  const known = new Set(schema.fields.map(({ name }) => name));
  const values = added.filter(({ name }) => !known.has(name));
  return compilePredicate(filter, withFields(schema, values));
}

interface ComputedColumns {
  readonly read: Readonly<Record<string, string>>;
  readonly answer: readonly (
    | { readonly read: string }
    | { readonly field: Field; readonly expression: CompiledExpression }
  )[];
}

/**
 * Splits the columns asked for into read and computed ones; undefined if no expression reads what
 * the search adds.
 */
async function computedColumns(
  snapshot: Snapshot,
  columns: ColumnRequest | undefined,
  added: readonly Field[],
): Promise<ComputedColumns | undefined> {
  if (columns === undefined || isNames(columns)) return undefined;
  const known = new Set(snapshot.schema.fields.map(({ name }) => name));
  const values = added.filter(({ name }) => !known.has(name));
  const schema = withFields(snapshot.schema, values);
  // No object, in which a column named __proto__ would be lost.
  const read = new Map<string, string>();
  const answer: ComputedColumns['answer'][number][] = [];
  let isPlain = true;
  for (const [name, sql] of Object.entries(columns)) {
    const expression = await compileExpression(sql, schema);
    const [only, ...nested] = expression.column ?? [];
    // What the search adds is in the answer in any case.
    const isValue = nested.length === 0 && only === name && !known.has(name);
    if (added.some((value) => value.name === name)) {
      isPlain = false;
      if (isValue) continue;
      throw new DirspaceError(
        'InvalidInput',
        `The search adds a column ${JSON.stringify(name)} itself; give the expression another name.`,
        { details: { column: name } },
      );
    }
    if (!expression.columns.some((column) => values.some((value) => value.name === column))) {
      read.set(name, sql);
      answer.push({ read: name });
      continue;
    }
    if (expression.usesRowOffset) {
      throw new DirspaceError(
        'Unsupported',
        `${name} reads _rowoffset and what the search adds; select each by itself.`,
        { details: { column: name } },
      );
    }
    isPlain = false;
    for (const column of expression.columns) {
      if (known.has(column)) read.set(inputName(column), quotedName(column));
    }
    answer.push({ field: new Field(name, expression.type, true), expression });
  }
  return isPlain ? undefined : { read: Object.fromEntries(read), answer };
}

/** The name that an input of an expression is read under, which no caller gives. */
const inputName = (column: string): string => `\0${column}`;

const extended = new WeakMap<Schema, Map<string, Schema>>();

/**
 * The schema with more fields; the same object for the same fields, so that SQL is compiled once.
 */
function withFields(schema: Schema, fields: readonly Field[]): Schema {
  let own = extended.get(schema);
  if (own === undefined) {
    own = new Map();
    extended.set(schema, own);
  }
  const key = fields.map(({ name }) => name).join('\0');
  const known = own.get(key);
  if (known !== undefined) return known;
  const made = new Schema([...schema.fields, ...fields]);
  own.set(key, made);
  return made;
}

const isNames = (columns: ColumnRequest): columns is readonly string[] => Array.isArray(columns);

/**
 * Removes names of what the search adds: it is always there, so asking for it by name changes
 * nothing. A column of the table with such a name is read by expressions alone.
 */
function withoutAdded(
  { schema }: Snapshot,
  columns: ColumnRequest | undefined,
  names: readonly string[],
): ColumnRequest | undefined {
  if (columns !== undefined && !isNames(columns)) return columns;
  const hidden = schema.fields.some(({ name }) => names.includes(name));
  if (columns === undefined && !hidden) return undefined;
  const asked = columns ?? schema.fields.map(({ name }) => name);
  return asked.filter((name) => !names.includes(name));
}

/**
 * The columns of the answer for rows that were read, in its order.
 * @param added what the search adds to these rows, by name
 * @param rowIds of these rows
 */
export async function answeredColumns(
  plan: FoundPlan,
  batch: RecordBatch,
  added: ReadonlyMap<string, Data>,
  rowIds: () => BigUint64Array,
): Promise<Data[]> {
  const read = columnsOf(batch);
  const made: Data[] = [];
  for (const column of plan.answer) {
    if ('at' in column) {
      made.push(read[column.at] as Data);
      continue;
    }
    const { expression, inputs } = column;
    const columns = new Map(
      inputs.map(({ name, at }) => [name, (at < 0 ? added.get(name) : read[at]) as Data]),
    );
    const context = {
      memory: plan.memory,
      ...(expression.usesRowId ? { rowIds: rowIds() } : {}),
    };
    const values: Awaitable<Data> = evaluateRows(plan, expression, {
      columns,
      rows: batch.numRows,
      context,
    });
    made.push(await values);
  }
  return made;
}
