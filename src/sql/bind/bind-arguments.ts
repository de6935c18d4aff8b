/**
 * `argument` checks an argument of a function call against a letter of the function's signature.
 * Each letter stands for the types that are allowed, such as `t` for text; for `f` numbers are also
 * converted to float64. NULL passes unchanged, and any other type throws InvalidInput. `call`
 * builds the bound node of the call.
 */
import type { DataType } from '../../arrow/index.ts';
import { refuse } from '../parse/index.ts';
import {
  type Bound,
  coerce,
  describe,
  type Family,
  FLOAT64,
  familyOf,
  locationOf,
  type RowFunction,
  settle,
} from '../typed/index.ts';

export function call(run: RowFunction, args: readonly Bound[], type: DataType): Bound {
  return { kind: 'call', run, args, type };
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
