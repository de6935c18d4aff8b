/**
 * Prepares the arguments of a function call and builds its bound node (`call`). `argument` checks
 * an argument against the family of types that a signature names by a letter, such as `t` for
 * text. It passes NULL through and throws InvalidInput for any other type.
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
