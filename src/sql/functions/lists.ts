/**
 * Functions of lists. A null list gives null; a null inside a list equals nothing. They know
 * columns and canonical values.
 */

import { compareWithConstant } from '../evaluate/index.ts';
import {
  type Column,
  compareValues,
  FALSE,
  maskNulls,
  type RowFunction,
  reader,
  TRUE,
  truthColumn,
  UNKNOWN,
  type Value,
} from '../typed/index.ts';
import { strict } from './rows.ts';

const items = (value: Value): readonly Value[] => value as readonly Value[];

function has(list: readonly Value[], wanted: Value): boolean {
  return wanted !== null && list.some((item) => item !== null && compareValues(item, wanted) === 0);
}

/** array_has: against one constant the members are compared all at once. */
const arrayHas: RowFunction = {
  name: 'array_has',
  fallible: false,
  evaluate([list, wanted]: readonly Column[], length): Column {
    const out = new Uint8Array(length);
    if (list === undefined || wanted === undefined) return truthColumn(out);
    if (list.form === 'list' && wanted.form === 'constant' && wanted.value !== null) {
      const hits = compareWithConstant('=', list.child, wanted.value);
      for (let i = 0; i < length; i++) {
        const end = list.ends[i] as number;
        for (let k = list.starts[i] as number; k < end; k++) {
          if (hits[k] === TRUE) {
            out[i] = TRUE;
            break;
          }
        }
      }
      return truthColumn(maskNulls(out, list.valid));
    }
    const [readList, readWanted] = [reader(list), reader(wanted)];
    for (let i = 0; i < length; i++) {
      const [found, value] = [readList(i) ?? null, readWanted(i) ?? null];
      out[i] = found === null || value === null ? UNKNOWN : has(items(found), value) ? TRUE : FALSE;
    }
    return truthColumn(out);
  },
};

export const LIST_FUNCTIONS: Readonly<Record<string, RowFunction>> = {
  array_has: arrayHas,
  array_has_any: strict('array_has_any', ([list, wanted]) =>
    items(wanted).some((item) => has(items(list), item)),
  ),
  array_has_all: strict('array_has_all', ([list, wanted]) =>
    items(wanted).every((item) => has(items(list), item)),
  ),
  array_length: strict('array_length', ([list]) => BigInt(items(list).length)),
  array_position: strict('array_position', ([list, wanted]) => {
    const at = items(list).findIndex((item) => item !== null && compareValues(item, wanted) === 0);
    return at < 0 ? null : BigInt(at + 1);
  }),
  /** From 1; a negative index counts from the end; outside there is null. */
  array_element: strict('array_element', ([list, index]) => {
    const at = Number(index);
    return at === 0 ? null : (items(list).at(at > 0 ? at - 1 : at) ?? null);
  }),
};
