/**
 * `withShared` finds values that the expressions of one step compute several times, such as `price
 * * (1 - discount)` within two aggregates, and notes them in the step: execute/ computes each of
 * them once for a batch, by the names that `NamedOnce` gives them. A value is noted if at least one
 * expression computes it for every row, so a row that a CASE or an AND leaves out makes no
 * statement fail. Texts and lists are not noted, as their memory would be held longer, nor what
 * calls functions of the program. Decimals that several expressions read count as computed: reading
 * them takes as long. Of a step with more than 64 such values, or very long expressions, none is
 * noted.
 */
import { Field, Schema } from '../../arrow/index.ts';
import { compileTree, type Expression, type Family, familyOf } from '../../sql/index.ts';
import { withInputs } from './inputs.ts';
import type { GroupStep, Plan } from './plan-tree.ts';
import type { NamedValue } from './steps.ts';
import { columnTree, rewritten, textOf } from './trees.ts';

export function withShared(plan: Plan): Plan {
  const step = withInputs(plan, withShared);
  if (step.kind === 'project') {
    const computed = step.values.filter(({ kind }) => kind !== 'column');
    return noted(step, computed, 1);
  }
  if (step.kind !== 'group') return step;
  const { keys, aggregates, sets } = step;
  // Sums of several sets of keys are made of the same values.
  return noted(step, [...keys, ...aggregates.flatMap(valuesOf)], sets?.length ?? 1);
}

/** What an aggregate computes for each row. */
const valuesOf = ({ args, orderBy, filter }: GroupStep['aggregates'][number]): Expression[] => [
  ...args,
  ...orderBy.map(({ value }) => value),
  ...(filter === undefined ? [] : [filter]),
];

type Noted = Extract<Plan, { kind: 'project' | 'group' }>;

function noted(step: Noted, trees: readonly Expression[], times: number): Plan {
  const shared = sharedIn(trees, step.input.schema, times);
  return shared.length === 0 ? step : { ...step, shared };
}

/** Characters of expressions that are compared with each other, and values that are noted. */
const MOST_TEXT = 1 << 18;
const MOST_SHARED = 64;

interface Occurrence {
  readonly tree: Expression;
  count: number;
  /** Whether it is computed for every row. */
  isCertain: boolean;
}

/** Values that occur several times, those first that others are made of. */
function sharedIn(trees: readonly Expression[], schema: Schema, times: number): Expression[] {
  const found = new Map<string, Occurrence>();
  let left = MOST_TEXT;
  const look = (tree: Expression, isCertain: boolean, isAnew: boolean): void => {
    if (left <= 0 || LEFT_ALONE.has(tree.kind)) return;
    const text = textOf(tree);
    left -= text.length;
    const known = found.get(text);
    const own = known ?? { tree, count: 0, isCertain: false };
    if (isAnew) own.count++;
    const isMoreCertain = isCertain && !own.isCertain;
    own.isCertain ||= isCertain;
    // Parts of what was met before are computed together with it.
    if (known !== undefined && !isMoreCertain) return;
    for (const [part, isOfAllRows] of partsOf(tree)) {
      look(part, isCertain && isOfAllRows, known === undefined);
    }
    // Those that it is made of come before it.
    if (known === undefined) found.set(text, own);
  };
  for (const tree of trees) {
    look(tree, true, true);
    const whole = found.get(textOf(tree));
    if (whole !== undefined) whole.count += times - 1;
  }
  if (left <= 0) return [];
  const shared = [...found.values()].filter(
    ({ tree, count, isCertain }) => isCertain && count > 1 && isWorthIt(tree, schema),
  );
  const values = shared.map(({ tree }) => tree);
  return values.length > MOST_SHARED || !keepsTypes(trees, values, schema) ? [] : values;
}

const LEFT_ALONE: ReadonlySet<Expression['kind']> = new Set([
  ...(['number', 'string', 'boolean', 'null', 'bytes', 'array', 'subquery', 'aggregate'] as const),
]);

/** The operands of an expression, and whether each is computed wherever the expression is. */
function partsOf(tree: Expression): readonly (readonly [Expression, boolean])[] {
  switch (tree.kind) {
    case 'binary':
    case 'distinct':
      return [
        [tree.left, true],
        [tree.right, true],
      ];
    case 'negate':
    case 'not':
    case 'is':
    case 'cast':
    case 'field':
    case 'in':
    case 'like':
    case 'element':
      return [[tree.arg, true]];
    case 'between':
      return [
        [tree.arg, true],
        [tree.low, true],
        [tree.high, false],
      ];
    case 'and':
    case 'or':
    case 'call':
      // Some functions, such as coalesce, compute the others for some rows alone.
      return tree.args.map((arg, at) => [arg, at === 0] as const);
    case 'case': {
      const { operand, whens, otherwise } = tree;
      return [
        ...(operand === undefined ? [] : [[operand, true] as const]),
        ...whens.flatMap(({ when, value }, at) => [
          [when, at === 0] as const,
          [value, false] as const,
        ]),
        ...(otherwise === undefined ? [] : [[otherwise, false] as const]),
      ];
    }
    default:
      return [];
  }
}

/** Families whose values have a fixed size. */
const FIXED: ReadonlySet<Family> = new Set<Family>([
  ...(['bool', 'int', 'float', 'decimal', 'date', 'time', 'timestamp', 'duration'] as const),
]);

function isWorthIt(tree: Expression, schema: Schema): boolean {
  try {
    const compiled = compileTree(tree, schema);
    const family = familyOf(compiled.type);
    if (!FIXED.has(family) || compiled.callsProgram) return false;
    if (tree.kind === 'column') return tree.path.length === 1 && family === 'decimal';
    // What is made of one text may be computed of the entries of its dictionary alone.
    const [only, ...more] = compiled.columns;
    const type = schema.fields.find(({ name }) => name === only)?.type;
    return type !== undefined && (more.length > 0 || familyOf(type) !== 'text');
  } catch {
    // A part that has no meaning alone is none of its own.
    return false;
  }
}

/** Whether all expressions give the types that they gave, computed of the values. */
function keepsTypes(
  trees: readonly Expression[],
  values: readonly Expression[],
  schema: Schema,
): boolean {
  const once = new NamedOnce(values, schema);
  return [...trees, ...values].every((tree) => {
    if (LEFT_ALONE.has(tree.kind)) return true;
    const now = compileTree(once.rewrite(tree), once.schema).typeName;
    return compileTree(tree, schema).typeName === now;
  });
}

/** Names for values that are computed once, and the schema with these columns beside the others. */
export class NamedOnce {
  readonly schema: Schema;
  /** Each is made of columns and of those before it. */
  readonly values: readonly NamedValue[];
  readonly #names = new Map<string, string>();

  /** @param trees those first that others are made of */
  constructor(trees: readonly Expression[], schema: Schema) {
    const fields: Field[] = [];
    this.values = trees.map((tree, at) => {
      const named = { name: `\0once ${at}`, value: this.rewrite(tree) };
      fields.push(new Field(named.name, compileTree(tree, schema).type, true));
      this.#names.set(textOf(tree), named.name);
      return named;
    });
    this.schema = fields.length === 0 ? schema : new Schema([...schema.fields, ...fields]);
  }

  /** The tree with these columns in place of what they hold. */
  rewrite(tree: Expression): Expression {
    if (this.#names.size === 0) return tree;
    return rewritten(tree, (part) => {
      const name = this.#names.get(textOf(part));
      return name === undefined ? undefined : columnTree(name, part.at);
    });
  }
}
