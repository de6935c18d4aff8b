/**
 * `neverTrue` finds conditions that cannot be true, because they are constant or because the
 * columns that they read are null. It judges a condition by its form, for example a comparison with
 * a null. It also evaluates parts that read only constants and those null columns. It reports only
 * what is certain.
 */
import { nullColumn, Schema, Vector } from '../../arrow/index.ts';
import { compileTree, type Expression } from '../../sql/index.ts';
import { columnsIn } from './trees.ts';

const NONE: ReadonlySet<string> = new Set();

/**
 * Whether a condition is never true of rows in which all the named columns are null.
 * @param schema has the columns of the condition
 */
export function neverTrue(
  tree: Expression,
  schema: Schema,
  nulls: ReadonlySet<string> = NONE,
): boolean {
  const never = (part: Expression): boolean => neverTrue(part, schema, nulls);
  const empty = (part: Expression): boolean => isNull(part, schema, nulls);
  switch (tree.kind) {
    case 'and':
      return tree.args.some(never);
    case 'or':
      return tree.args.every(never);
    case 'between':
      return empty(tree.arg) || (!tree.negated && (empty(tree.low) || empty(tree.high)));
    case 'is':
      if (tree.test === 'null' && tree.negated && empty(tree.arg)) return true;
      break;
    case 'not':
      if (empty(tree.arg)) return true;
      break;
    default:
      if (empty(tree)) return true;
  }
  const value = constantOf(tree, schema, nulls);
  return value === null || value === false;
}

/** Whether a tree is null for such rows. */
function isNull(tree: Expression, schema: Schema, nulls: ReadonlySet<string>): boolean {
  const empty = (part: Expression): boolean => isNull(part, schema, nulls);
  switch (tree.kind) {
    case 'null':
      return true;
    case 'number':
    case 'string':
    case 'boolean':
    case 'bytes':
      return false;
    case 'column':
      return nulls.has(tree.path[0] ?? '');
    case 'binary':
      return empty(tree.left) || empty(tree.right);
    case 'negate':
    case 'not':
    case 'in':
    case 'cast':
    case 'field':
      return empty(tree.arg);
    case 'like':
      return empty(tree.arg) || empty(tree.pattern);
    case 'call':
    case 'case':
      return constantOf(tree, schema, nulls) === null;
    default:
      return false;
  }
}

/** The value of a tree that reads none but the named columns; undefined where that is not known. */
function constantOf(tree: Expression, schema: Schema, nulls: ReadonlySet<string>): unknown {
  const reads = columnsIn([tree]);
  for (const name of reads) if (!nulls.has(name)) return undefined;
  try {
    const fields = schema.fields.filter(({ name }) => reads.has(name));
    const compiled = compileTree(tree, new Schema(fields));
    if (compiled.heavy) return undefined;
    const columns = new Map(
      fields.map(({ name, type }) => [name, new Vector([nullColumn(type, 1)])]),
    );
    const row = { numRows: 1, getChild: (name: string) => columns.get(name) ?? null };
    return compiled.evaluate(row as never).get(0) as unknown;
  } catch {
    // What cannot be computed is left to the rows.
    return undefined;
  }
}
