/**
 * `pruned` takes a plan and the names of its columns that are wanted. It removes columns that
 * nothing reads, so that they are not read from disk. It also moves LIMIT, and an ORDER BY directly
 * below it, into the scan of a table, if at most a projection lies between and the keys are
 * top-level columns. A sort that stays below a LIMIT is told how many rows the LIMIT needs.
 * `namesOf` returns the names of a plan's columns.
 */
import { type Field, Schema } from '../../arrow/index.ts';
import type { Expression } from '../../sql/index.ts';
import type { LimitStep, Plan, ProjectStep, ScanStep, SortKey } from './plan-tree.ts';
import { columnsIn } from './trees.ts';

/** @param wanted names of the plan's columns; those not there are none of its own */
export function pruned(plan: Plan, wanted: ReadonlySet<string>): Plan {
  switch (plan.kind) {
    case 'scan':
      return prunedScan(plan, wanted);
    case 'filter': {
      const input = pruned(plan.input, union(wanted, columnsIn([plan.condition])));
      return { ...plan, input, schema: input.schema };
    }
    case 'project': {
      const kept = plan.schema.fields.flatMap(({ name }, at) => (wanted.has(name) ? [at] : []));
      const values = kept.map((at) => plan.values[at] as Expression);
      const schema = new Schema(kept.map((at) => plan.schema.fields[at] as Field));
      return { ...plan, values, schema, input: pruned(plan.input, columnsIn(values)) };
    }
    case 'join': {
      const condition = plan.condition === undefined ? [] : [plan.condition];
      const paired = union(wanted, columnsIn(condition));
      const keys = plan.keys.flatMap(({ left, right }) => [left, right]);
      const all = union(paired, columnsIn(keys));
      const schema = new Schema(plan.schema.fields.filter(({ name }) => paired.has(name)));
      return { ...plan, left: pruned(plan.left, all), right: pruned(plan.right, all), schema };
    }
    case 'mark': {
      const mark = plan.schema.fields.at(-1) as Field;
      const ofLeft = columnsIn(plan.keys.map(({ left }) => left));
      const ofRight = columnsIn(plan.keys.map(({ right }) => right));
      if (!wanted.has(mark.name)) return pruned(plan.left, wanted);
      const left = pruned(plan.left, union(wanted, ofLeft));
      const shown = left.schema.fields.filter(({ name }) => wanted.has(name));
      const schema = new Schema([...shown, mark]);
      return { ...plan, left, right: pruned(plan.right, ofRight), schema };
    }
    case 'group': {
      const { length } = plan.keys;
      const kept = plan.aggregates.flatMap((_, at) =>
        wanted.has(plan.schema.fields[length + at]?.name ?? '') ? [at] : [],
      );
      const aggregates = kept.map((at) => plan.aggregates[at] as (typeof plan.aggregates)[number]);
      const schema = new Schema([
        ...plan.schema.fields.slice(0, length),
        ...kept.map((at) => plan.schema.fields[length + at] as Field),
        ...plan.schema.fields.slice(length + plan.aggregates.length),
      ]);
      const reads = columnsIn([...plan.keys, ...aggregates, ...(plan.checked ?? [])]);
      const input = pruned(plan.input, reads);
      return { ...plan, aggregates, schema, input };
    }
    case 'window': {
      const keys = plan.orderBy.map(({ value }) => value);
      const reads = columnsIn([...plan.calls, ...plan.partitionBy, ...keys]);
      const added = plan.schema.fields.slice(plan.input.schema.fields.length);
      const input = pruned(plan.input, union(wanted, reads));
      const shown = input.schema.fields.filter(({ name }) => wanted.has(name));
      return { ...plan, input, schema: new Schema([...shown, ...added]) };
    }
    case 'sort': {
      const input = pruned(
        plan.input,
        union(wanted, columnsIn(plan.keys.map(({ value }) => value))),
      );
      return { ...plan, input, schema: input.schema };
    }
    case 'limit': {
      const read = readWindow(plan);
      if (read !== undefined) return pruned(read, wanted);
      const most = Math.min(Number.MAX_SAFE_INTEGER, plan.limit + plan.offset);
      const below = plan.input.kind === 'sort' ? { ...plan.input, limit: most } : plan.input;
      const input = pruned(below, wanted);
      return { ...plan, input, schema: input.schema };
    }
    case 'union': {
      const kept = plan.schema.fields.flatMap(({ name }, at) => (wanted.has(name) ? [at] : []));
      const inputs = plan.inputs.map((input) =>
        pruned(input, new Set(kept.map((at) => input.schema.fields[at]?.name ?? ''))),
      );
      return {
        ...plan,
        inputs,
        schema: new Schema(kept.map((at) => plan.schema.fields[at] as Field)),
      };
    }
    case 'single':
      return { ...plan, input: pruned(plan.input, namesOf(plan.input)) };
    case 'checked': {
      const input = pruned(plan.input, union(wanted, new Set([plan.count])));
      return { ...plan, input, schema: input.schema };
    }
    case 'repeat': {
      const input = pruned(plan.input, union(wanted, columnsIn([plan.times])));
      const schema = new Schema(plan.schema.fields.filter(({ name }) => wanted.has(name)));
      return { ...plan, input, schema };
    }
    case 'expand': {
      const input = pruned(plan.input, union(wanted, columnsIn(plan.args)));
      const own = new Set([plan.item, plan.number]);
      const schema = new Schema(
        plan.schema.fields.filter(({ name }) => wanted.has(name) || own.has(name)),
      );
      return { ...plan, input, schema };
    }
    case 'recursive': {
      const [base, step] = [plan.base, plan.step].map((input) => pruned(input, namesOf(input)));
      return { ...plan, base: base as Plan, step: step as Plan };
    }
    case 'working':
    case 'values':
      return plan;
  }
}

/** The names of the columns that a plan gives. */
export const namesOf = ({ schema }: Plan): Set<string> =>
  new Set(schema.fields.map(({ name }) => name));

const union = (a: ReadonlySet<string>, b: ReadonlySet<string>): Set<string> =>
  new Set([...a, ...b]);

function prunedScan(plan: ScanStep, wanted: ReadonlySet<string>): ScanStep {
  const schema = new Schema(plan.schema.fields.filter(({ name }) => wanted.has(name)));
  return { ...plan, schema };
}

/**
 * The limited rows, where the reading of a table can see to the limit, and to the order before it.
 */
const readWindow = ({ input, limit, offset }: LimitStep): Plan | undefined =>
  input.kind === 'sort'
    ? readInOrder(input.input, input.keys, limit, offset)
    : readInOrder(input, [], limit, offset);

/** A scan that gives these rows itself, below a projection of its columns. */
function readInOrder(
  plan: Plan,
  keys: readonly SortKey[],
  limit: number,
  offset: number,
): Plan | undefined {
  const scan = plan.kind === 'project' ? plan.input : plan;
  if (scan.kind !== 'scan') return undefined;
  const orderBy: SortKey[] = [];
  for (const key of keys) {
    const value = plan.kind === 'project' ? itemOf(plan, key.value) : key.value;
    // Members of structs, and what is computed, are put in order by the statement itself.
    if (value?.kind !== 'column' || value.path.length !== 1) return undefined;
    if (scan.columns.get(value.path[0] ?? '')?.includes('.') !== false) return undefined;
    orderBy.push({ ...key, value });
  }
  const read: ScanStep = { ...scan, orderBy, limit, offset };
  return plan.kind === 'project' ? { ...plan, input: read } : read;
}

function itemOf(plan: ProjectStep, key: Expression): Expression | undefined {
  const [name] = key.kind === 'column' ? key.path : [];
  return plan.values[plan.schema.fields.findIndex((field) => field.name === name)];
}
