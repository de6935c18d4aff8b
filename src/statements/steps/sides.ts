/**
 * `onSides` moves expressions that read one side of a join below it, such as `length(a.body)` over
 * `a JOIN b`: they are computed once for each row of that side, and not for each pair that it is
 * in. Their columns have names that begin with `OF_SIDE`. It does so where pairs are estimated to
 * be at least twice as many, or where nothing else reads the texts and lists that it reads, which
 * are then not copied for each pair. Cheap values, those that may fail, those of functions of the
 * program, and those that take more room than a number stay where they are, as do those of the side
 * of an outer join that may be missing.
 */
import { compileTree, type Expression, type Family, familyOf } from '../../sql/index.ts';
import { rowsOf } from './estimates.ts';
import { withInputs } from './inputs.ts';
import type { FilterStep, GroupStep, JoinStep, Plan, ProjectStep } from './plan-tree.ts';
import { namesOf } from './pruned.ts';
import { joinSchema, type NamedValue, projected } from './steps.ts';
import { columnsIn, columnTree, rewritten, textOf } from './trees.ts';

/** The beginning of the names of columns that hold such values; no column of a user has it. */
export const OF_SIDE = '\0of side ';

/** Pairs for each row of a side, from which on a value is computed below. */
const PAIRS = 2;
/** About the weight of a call: what is less is computed as fast as it is copied. */
const WEIGHT = 64;

export const onSides = (plan: Plan): Plan => moved(plan, { count: 0 });

interface Names {
  count: number;
}

function moved(plan: Plan, names: Names): Plan {
  const isStep = plan.kind === 'project' || plan.kind === 'group';
  const step = isStep ? belowJoin(plan, names) : plan;
  return withInputs(step, (input) => moved(input, names));
}

function belowJoin(step: ProjectStep | GroupStep, names: Names): Plan {
  const { input } = step;
  const join = input.kind === 'filter' ? input.input : input;
  if (join.kind !== 'join' || (join.join !== 'inner' && join.join !== 'left')) return step;
  const left = new Side(join.left, rowsOf(input), names);
  const right = join.join === 'inner' ? new Side(join.right, rowsOf(input), names) : undefined;
  const sides = [left, ...(right === undefined ? [] : [right])];
  const trees =
    step.kind === 'project'
      ? step.values
      : [...step.keys, ...step.aggregates, ...(step.checked ?? [])];
  const place = (kept: readonly Side[]): readonly Expression[] =>
    trees.map((tree) =>
      rewritten(tree, (part) => {
        if (part.kind === 'subquery') return part;
        const name = kept.map((side) => side.nameOf(part)).find((found) => found !== undefined);
        return name === undefined ? undefined : columnTree(name, part.at);
      }),
    );
  const others = readIn(join, input.kind === 'filter' ? input : undefined);
  const stillRead = new Set([...columnsIn(place(sides)), ...others]);
  const kept = sides.filter((side) => side.isWorthIt(stillRead));
  if (kept.length === 0) return step;
  const values = place(kept);
  const below = (side: Side | undefined, plan: Plan): Plan =>
    side !== undefined && kept.includes(side) ? side.computed() : plan;
  const both = { left: below(left, join.left), right: below(right, join.right) };
  const schema = joinSchema(join.join, both.left, both.right);
  const pairs: Plan = { ...join, ...both, schema };
  const rows = input.kind === 'filter' ? { ...input, input: pairs, schema } : pairs;
  if (step.kind === 'project') return { ...step, values, input: rows };
  const keys = values.slice(0, step.keys.length);
  const last = keys.length + step.aggregates.length;
  const aggregates = values.slice(keys.length, last) as GroupStep['aggregates'];
  const checked = step.checked && values.slice(last);
  return { ...step, keys, aggregates, ...(checked && { checked }), input: rows };
}

/** The columns that a join and a condition above it read. */
const readIn = (join: JoinStep, filter: FilterStep | undefined): ReadonlySet<string> =>
  columnsIn([
    ...join.keys.flatMap(({ left, right }) => [left, right]),
    ...(join.condition === undefined ? [] : [join.condition]),
    ...(filter === undefined ? [] : [filter.condition]),
  ]);

/** Families whose values may take much room. */
const ROOMY: ReadonlySet<Family> = new Set<Family>(['text', 'bytes', 'list', 'struct', 'other']);

/** A side of a join, and the values that are computed of its rows. */
class Side {
  readonly #plan: Plan;
  readonly #columns: ReadonlySet<string>;
  readonly #pairs: number;
  readonly #names: Names;
  readonly #values = new Map<string, NamedValue>();
  readonly #asked = new Set<string>();

  constructor(plan: Plan, pairs: number, names: Names) {
    this.#plan = plan;
    this.#columns = namesOf(plan);
    this.#pairs = pairs / Math.max(1, rowsOf(plan));
    this.#names = names;
  }

  /** The name of the column that holds the value of a tree; undefined where it stays above. */
  nameOf(tree: Expression): string | undefined {
    if (LEFT_ALONE.has(tree.kind) || this.#pairs < 1) return undefined;
    const columns = columnsIn([tree]);
    if (columns.size === 0 || ![...columns].every((name) => this.#columns.has(name))) {
      return undefined;
    }
    const text = textOf(tree);
    if (!this.#asked.has(text)) {
      this.#asked.add(text);
      if (this.#mayMove(tree)) {
        this.#values.set(text, { name: `${OF_SIDE}${this.#names.count++}`, value: tree });
      }
    }
    return this.#values.get(text)?.name;
  }

  #mayMove(tree: Expression): boolean {
    try {
      const compiled = compileTree(tree, this.#plan.schema);
      if (compiled.canFail || compiled.callsProgram) return false;
      return !ROOMY.has(familyOf(compiled.type)) && compiled.weight >= WEIGHT;
    } catch {
      // A part that has no meaning alone is none of its own.
      return false;
    }
  }

  /** @param stillRead the columns that are read above and by the join itself */
  isWorthIt(stillRead: ReadonlySet<string>): boolean {
    if (this.#values.size === 0) return false;
    if (this.#pairs >= PAIRS) return true;
    const read = columnsIn([...this.#values.values()].map(({ value }) => value));
    const roomy = this.#plan.schema.fields.filter(
      ({ name, type }) => read.has(name) && ROOMY.has(familyOf(type)),
    );
    return roomy.length > 0 && roomy.every(({ name }) => !stillRead.has(name));
  }

  computed(): Plan {
    const columns = [...this.#columns].map((name) => ({ name, value: columnTree(name) }));
    return projected(this.#plan, [...columns, ...this.#values.values()]);
  }
}

const LEFT_ALONE: ReadonlySet<Expression['kind']> = new Set([
  ...(['number', 'string', 'boolean', 'null', 'bytes', 'array', 'column'] as const),
  ...(['subquery', 'aggregate'] as const),
]);
