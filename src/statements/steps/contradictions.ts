/**
 * `neverTogether` finds terms of AND that cannot all be true of one row, and returns them as a
 * tree, or undefined if it finds none. It knows three cases: a term that is never true by itself;
 * `x IS NULL` beside a term that needs a value of the column x; and two comparisons of one column
 * of integers, floats or texts with constants that no value fulfils together. If there are more
 * than 50 terms, it looks for the first case only.
 */
import { DataType, Schema } from '../../arrow/index.ts';
import { compileTree, type Expression, familyOf, MIRRORED } from '../../sql/index.ts';
import { neverTrue } from './nulls.ts';
import { joined, textOf } from './trees.ts';

/** Terms that are looked at; two of each are compared. */
const MOST_TERMS = 50;

/** Terms that cannot be true together, as a tree; undefined where none were found. */
export function neverTogether(
  terms: readonly Expression[],
  schema: Schema,
): Expression | undefined {
  const alone = terms.find((term) => neverTrue(term, schema));
  if (alone !== undefined || terms.length > MOST_TERMS) return alone;
  for (const term of terms) {
    if (term.kind !== 'is' || term.test !== 'null' || term.negated) continue;
    if (term.arg.kind !== 'column' || term.arg.path.length !== 1) continue;
    const nulls = new Set(term.arg.path);
    const other = terms.find((one) => one !== term && neverTrue(one, schema, nulls));
    if (other !== undefined) return joined([term, other]);
  }
  const tests = terms.flatMap((term) => testsOf(term, schema));
  for (const [at, test] of tests.entries()) {
    const other = tests.slice(at + 1).find((one) => excludes(test, one));
    if (other !== undefined) return joined([...new Set([test.term, other.term])]);
  }
  return undefined;
}

/** A comparison of a column with a constant. */
interface Test {
  readonly term: Expression;
  readonly column: string;
  readonly op: string;
  readonly value: Expression;
}

function testsOf(term: Expression, schema: Schema): Test[] {
  if (term.kind === 'between' && !term.negated) {
    const { arg, low, high } = term;
    return [...testOf(term, arg, '>=', low, schema), ...testOf(term, arg, '<=', high, schema)];
  }
  if (term.kind !== 'binary' || !(term.op in MIRRORED)) return [];
  const mirrored = MIRRORED[term.op as keyof typeof MIRRORED];
  return [
    ...testOf(term, term.left, term.op, term.right, schema),
    ...testOf(term, term.right, mirrored, term.left, schema),
  ];
}

function testOf(
  term: Expression,
  column: Expression,
  op: string,
  value: Expression,
  schema: Schema,
): Test[] {
  if (column.kind !== 'column' || column.path.length !== 1) return [];
  const type = schema.fields.find(({ name }) => name === column.path[0])?.type;
  if (type === undefined || DataType.isDictionary(type)) return [];
  return isExactOf(familyOf(type), value) ? [{ term, column: textOf(column), op, value }] : [];
}

/** Whether a constant is compared as it is written, and not rounded to another number before. */
function isExactOf(family: string, value: Expression): boolean {
  if (value.kind === 'string') return family === 'text';
  if (value.kind !== 'number') return false;
  return family === 'int' || (family === 'float' && /^\d{1,3}$/.test(value.text));
}

/** Whether no value passes both tests of one column. */
function excludes(one: Test, other: Test): boolean {
  if (one.column !== other.column) return false;
  if (one.op === '=') return !holds(one.value, other.op, other.value);
  if (other.op === '=') return !holds(other.value, one.op, one.value);
  const [low, high] = one.op.startsWith('>') ? [one, other] : [other, one];
  if (!['>', '>='].includes(low.op) || !['<', '<='].includes(high.op)) return false;
  const op = low.op === '>=' && high.op === '<=' ? '<=' : '<';
  return !holds(low.value, op, high.value);
}

/** Whether a comparison of constants is true, or cannot be told. */
function holds(left: Expression, op: string, right: Expression): boolean {
  try {
    const tree = { kind: 'binary', op, left, right } as Expression;
    const row = { numRows: 1, getChild: () => null };
    return (compileTree(tree, new Schema([])).evaluate(row).get(0) as unknown) !== false;
  } catch {
    return true;
  }
}
