/**
 * Prepares the arguments of a function call and builds its bound node (`call`). In a function's
 * signature, a letter stands for the types that an argument may have, such as `t` for text.
 * `argument` checks an argument against its letter; for `f` it also converts numbers to float64.
 * NULL passes unchanged. Any other type throws InvalidInput.
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
