/**
 * `argument` checks an argument of a function call against one letter of the function's signature:
 * `t` is a text, `i` a whole number, `n` a number, `f` a number that is converted to float64, `l` a
 * list. NULL passes unchanged, and any other type throws InvalidInput. `call` builds the bound node
 * of a call, and `isNull` recognises a NULL without a type. `exactOperand` keeps all digits of a
 * number literal that is cast to a decimal, and returns undefined for anything else.
 */
import { type DataType, Decimal } from '../../arrow/index.ts';
import { MAX_PRECISION, refuse } from '../parse/index.ts';
import {
  type Bound,
  coerce,
  describe,
  type Family,
  FLOAT64,
  familyOf,
  literal,
  locationOf,
  type RowFunction,
  settle,
} from '../typed/index.ts';

/** Binds a call of a function whose types depend on its arguments. */
export type Binding = (args: readonly Bound[], at: number | undefined) => Bound;

/** Whether an argument is NULL without a type. */
export const isNull = (arg: Bound | undefined): boolean =>
  arg !== undefined && familyOf(arg.type) === 'null';

export function call(run: RowFunction, args: readonly Bound[], type: DataType): Bound {
  return { kind: 'call', run, args, type };
}

/** A number as written that is cast to a decimal: all its digits, not their nearest double. */
export function exactOperand(
  arg: Bound,
  type: DataType,
  at: number | undefined,
): Bound | undefined {
  if (arg.kind !== 'literal' || typeof arg.loose !== 'object') return undefined;
  if (familyOf(type) !== 'decimal') return undefined;
  const { unscaled, scale } = arg.loose;
  return literal(new Decimal(scale, MAX_PRECISION, 128), unscaled, at);
}

const FAMILIES: Readonly<Record<string, readonly [Family[], string]>> = {
  t: [['text'], 'text'],
  i: [['int'], 'a whole number'],
  n: [['int', 'float', 'decimal'], 'a number'],
  f: [['int', 'float', 'decimal'], 'a number'],
  l: [['list'], 'a list'],
};

export function argument(name: string, arg: Bound, letter: string, at: number | undefined): Bound {
  const [families, said] = FAMILIES[letter] ?? [[], ''];
  const family = familyOf(arg.type);
  if (family === 'null') return arg;
  if (!families.includes(family)) {
    refuse(
      locationOf(arg) ?? at,
      `${name === 'negate' ? '-' : name} takes ${said} here, not ${describe(arg)}`,
    );
  }
  if (letter === 'f') return coerce(arg, FLOAT64, 'explicit');
  return settle(arg);
}
