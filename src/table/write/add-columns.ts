/**
 * `addColumns` adds nullable columns, or fields of structs, in one version. Columns of nulls change
 * only the schema; for columns defined by SQL expressions, rewrite-fragments.ts writes the values
 * for every fragment. A computed column is null at first and keeps its expression for a backfill
 * (fields/declare-computed.ts). SQL that is NULL alone makes a column of the type null. A name that is taken, and an expression
 * that fails for a row, throw InvalidInput.
 */
import { DataType, describeType, Field } from '../../arrow/index.ts';
import { DirspaceError } from '../../errors.ts';
import { type CompiledExpression, compileExpression } from '../../sql/index.ts';
import {
  assignFieldIds,
  changeNode,
  checkName,
  checkWidth,
  declaredColumn,
  findField,
  type IdentifiedField,
  leafOf,
  nodeWithChildren,
  refuseMetadata,
  refuseTwins,
} from '../fields/index.ts';
import {
  announced,
  type Committed,
  commit,
  type Draft,
  type Engine,
  editFragments,
  emptyTable,
  fragmentListOf,
  type Snapshot,
  type TableBranch,
} from '../versions/index.ts';
import type { WriteOptions } from './append.ts';
import { type FragmentRewriter, rewriting } from './rewrite-fragments.ts';
import { schemaDraft } from './schema-version.ts';

export interface NewColumn {
  /** A dotted path adds a field to a struct. */
  readonly path: string;
  /** SQL over the columns there are; `CAST(NULL AS type)` gives a column of nulls of that type. */
  readonly expression?: string | undefined;
  /** SQL that a backfill fills the column by; it is null until then. */
  readonly computed?: string | undefined;
  /** The type of a column of nulls. */
  readonly type?: DataType | undefined;
  readonly metadata?: Readonly<Record<string, string>> | undefined;
}

/**
 * Adds nullable columns in one version.
 * @throws InvalidInput for a name that is taken, an expression without a type or that fails
 */
export async function addColumns(
  engine: Engine,
  branch: TableBranch,
  columns: readonly NewColumn[],
  options: WriteOptions = {},
): Promise<Committed> {
  if (columns.length === 0) throw new DirspaceError('InvalidInput', 'No column is given to add.');
  return announced(engine, branch.tableFolder, (writing) =>
    addAnnounced(writing, branch, columns, options),
  );
}

async function addAnnounced(
  engine: Engine,
  branch: TableBranch,
  columns: readonly NewColumn[],
  options: WriteOptions,
): Promise<Committed> {
  return rewriting(engine, branch, options, (rewriter) =>
    commit(engine, branch, {
      transaction: options.transaction,
      signal: options.signal,
      build: async (base) => {
        if (base === undefined) throw emptyTable();
        return rewriter.attempt(() => build(engine, base, columns, rewriter));
      },
    }),
  );
}

async function build(
  engine: Engine,
  base: Snapshot,
  columns: readonly NewColumn[],
  rewriter: FragmentRewriter,
): Promise<Draft> {
  let tree = base.fields;
  let { nextFieldId } = base.manifest;
  const computed: { path: string; expression: CompiledExpression }[] = [];
  for (const column of columns) {
    refuseMetadata(column.path, Object.keys(column.metadata ?? {}));
    const declared = await declaredColumn(base.schema, base.fields, column);
    const { type, expression } = declared ?? (await typeOf(base, column));
    const [parent, name] = parentOf(base.fields, column.path);
    checkName(name);
    const metadata = new Map([
      ...Object.entries(column.metadata ?? {}),
      ...(declared?.metadata ?? []),
    ]);
    const field = new Field(name, type, true, metadata);
    checkWidth(field);
    const made = assignFieldIds([field], nextFieldId);
    nextFieldId = made.nextFieldId;
    tree =
      parent === undefined
        ? [...tree, ...made.tree]
        : changeNode(tree, parent.id, (node) =>
            nodeWithChildren(node, [...node.children, ...made.tree]),
          );
    if (expression !== undefined) computed.push({ path: column.path, expression });
  }
  refuseTwins(tree, base.fields);
  if (computed.length === 0) return schemaDraft(base, { tree, nextFieldId }, 'schema');
  const assignments = computed.map(({ path, expression }) => ({
    place: findField(tree, path),
    expression,
  }));
  const { replaced, durable } = await rewriter.rewrite(base, tree, assignments);
  const folder = base.branch.tableFolder;
  const fragments = await editFragments(engine, folder, fragmentListOf(base.manifest), {
    replaced,
  });
  return { ...schemaDraft(base, { tree, nextFieldId, fragments }, 'schema'), after: durable };
}

/** The type of a column, and its expression where that is not null everywhere. */
async function typeOf(
  base: Snapshot,
  { path, expression: sql, type }: NewColumn,
): Promise<{ type: DataType; expression?: CompiledExpression | undefined }> {
  if (sql === undefined) {
    if (type !== undefined) return { type };
    throw new DirspaceError(
      'InvalidInput',
      `The new column ${JSON.stringify(path)} has no expression; one of nulls is CAST(NULL AS BIGINT) and the like.`,
    );
  }
  if (type !== undefined) {
    throw new DirspaceError(
      'InvalidInput',
      `The new column ${JSON.stringify(path)} has an expression and a data type; give one of them: a CAST in the expression chooses its type.`,
      { details: { column: path } },
    );
  }
  const expression = await compileExpression(sql, base.schema);
  const constant =
    expression.columns.length === 0 && !expression.usesRowId && !expression.usesRowOffset;
  const isNull =
    constant && expression.evaluate({ numRows: 1, getChild: () => null }).nullCount === 1;
  return isNull ? { type: expression.type } : { type: expression.type, expression };
}

/** The struct that a new field goes into, if it has a dotted path, and its own name. */
function parentOf(
  fields: readonly IdentifiedField[],
  path: string,
): [parent: IdentifiedField | undefined, name: string] {
  const dot = path.lastIndexOf('.');
  if (dot < 0) return [undefined, path];
  const place = findField(fields, path.slice(0, dot));
  const parent = leafOf(place);
  const { type } = parent.field;
  if (DataType.isStruct(type) && place.chain.every(({ field }) => DataType.isStruct(field.type))) {
    return [parent, path.slice(dot + 1)];
  }
  throw new DirspaceError(
    'InvalidInput',
    `${JSON.stringify(path)} cannot be added: ${JSON.stringify(place.name)} is no struct of the row but a ${describeType(type)}.`,
  );
}
