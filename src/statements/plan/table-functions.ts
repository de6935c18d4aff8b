/**
 * `plannedFunction` plans a function of the FROM clause that gives rows: unnest, generate_series or
 * range. Its arguments may read columns of the tables before it (`readsColumns`), each row of which
 * then comes once for every row that the function gives. The plan has the columns of both, and the
 * `Scope` those of the function alone. An argument of another type, a wrong number of them, or too
 * many names for its columns throws InvalidInput.
 */
import {
  childFields,
  type DataType,
  Field,
  Int64,
  plainType,
  Schema,
  typesEqual,
} from '../../arrow/index.ts';
import {
  compileTree,
  type Expression,
  familyOf,
  refuse,
  type TableFunction,
  type TableReference,
  typeText,
} from '../../sql/index.ts';
import { type ExpandStep, type Plan, visit } from '../steps/index.ts';
import type { Planner } from './planner.ts';
import { Scope, type ScopeColumn } from './scope.ts';

export type FunctionReference = Extract<TableReference, { kind: 'function' }>;

/** Whether its arguments read columns. */
export function readsColumns({ args }: FunctionReference): boolean {
  let reads = false;
  for (const arg of args) {
    visit(arg, (part) => {
      reads ||= part.kind === 'column';
      return !reads;
    });
  }
  return reads;
}

/**
 * @param before the tables whose columns the arguments may read
 * @param keepsRows whether their rows stay for which the function gives none
 * @returns the rows of both, and the scope of the function alone
 */
export function plannedFunction(
  planner: Planner,
  reference: FunctionReference,
  before: { readonly plan: Plan; readonly scope: Scope },
  keepsRows = false,
): { plan: ExpandStep; scope: Scope } {
  const { name, alias, columns: renames, numbered, at } = reference;
  const { plan: input } = before;
  const scope = before.scope.within(planner.around);
  const given = reference.args.map((arg) => planner.resolvedRow(arg, scope, 'FROM'));
  const names = [alias ?? name, ...(numbered ? ['ordinality'] : [])];
  if (renames.length > names.length) {
    refuse(at, `${renames.length} names are given to the ${names.length} columns of ${name}`);
  }
  const { of, args, type } =
    name === 'unnest' ? listOf(given, input.schema, at) : seriesOf(name, given, input.schema, at);
  const [item, number] = names.map((own, place): ScopeColumn => {
    const shown = renames[place] ?? own;
    const internal = planner.freshName(shown, alias ?? name);
    return { name: shown, internal, type: place === 0 ? type : INT64 };
  }) as [ScopeColumn, ScopeColumn?];
  const added = [item, ...(number === undefined ? [] : [number])];
  return {
    plan: {
      ...{ kind: 'expand', input, of, args, keepsRows, item: item.internal, at },
      isWithEnd: name === 'generate_series',
      ...(number === undefined ? {} : { number: number.internal }),
      schema: new Schema([
        ...input.schema.fields,
        ...added.map((column) => new Field(column.internal, column.type, true)),
      ]),
    },
    scope: new Scope([{ path: [alias ?? name], columns: added, isAlias: true }]),
  };
}

const INT64 = new Int64();

type Given = Pick<ExpandStep, 'of' | 'args'> & { readonly type: DataType };

function listOf(args: readonly Expression[], schema: Schema, at: number | undefined): Given {
  const [list] = args;
  if (list === undefined || args.length > 1) {
    return refuse(at, `unnest takes one list, not ${args.length}`);
  }
  const { type } = compileTree(list, schema);
  if (familyOf(type) !== 'list') {
    refuse(list.at ?? at, `unnest takes a list, not ${typeText(type)}`);
  }
  return { of: 'list', args, type: plainType((childFields(type)[0] as Field).type) };
}

function seriesOf(
  name: Exclude<TableFunction, 'unnest'>,
  args: readonly Expression[],
  schema: Schema,
  at: number | undefined,
): Given {
  if (args.length < 1 || args.length > 3) {
    refuse(at, `${name} takes 1 to 3 arguments, not ${args.length}`);
  }
  const [first, second, third] = args as [Expression, Expression?, Expression?];
  const types = args.map((arg) => compileTree(arg, schema).type);
  const families = types.map(familyOf);
  const known = families.filter((family) => family !== 'null');
  if (known.every((family) => family === 'int')) {
    const [start, stop] = second === undefined ? [number('0'), first] : [first, second];
    const all = [start, stop, third ?? number('1')].map((arg) =>
      typesEqual(compileTree(arg, schema).type, INT64) ? arg : castTo('bigint', arg),
    );
    return { of: 'numbers', args: all, type: INT64 };
  }
  const isTime = (family: string | undefined): boolean =>
    family === 'date' || family === 'timestamp' || family === 'null';
  if (isTime(families[0]) && isTime(families[1]) && families[2] === 'interval') {
    const hasZone = types.some((type) => 'timezone' in type && type.timezone !== null);
    const given = [first, second as Expression];
    // Timestamps of one type are stepped by the clocks of its zone, and keep their unit.
    const areAlike =
      families[0] === 'timestamp' && typesEqual(types[0] as DataType, types[1] as DataType);
    const bounds = areAlike
      ? given
      : given.map((arg) => castTo(hasZone ? 'timestamptz' : 'timestamp', arg));
    const { type } = compileTree(bounds[0] as Expression, schema);
    return { of: 'times', args: [...bounds, third as Expression], type };
  }
  const given = types.map(typeText).join(', ');
  return refuse(
    at,
    `${name} takes whole numbers, or two dates or timestamps and an interval, not ${given}`,
  );
}

const number = (text: string): Expression => ({ kind: 'number', text });

const castTo = (name: string, arg: Expression): Expression => ({
  ...{ kind: 'cast', arg, type: { name, args: [] }, lenient: false },
  ...(arg.at === undefined ? {} : { at: arg.at }),
});
