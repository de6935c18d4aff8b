/**
 * `bindValue`: binds an expression whose values go into a column, and converts it to the column's
 * type. It is refused where the conversion could lose something.
 */
import { type DataType, type Schema, typesEqual } from '../../arrow/index.ts';
import { parseExact } from '../../values/index.ts';
import { type Expression, refuse } from '../parse/index.ts';
import {
  type Bound,
  coerce,
  describe,
  elementType,
  type Family,
  familyOf,
  isNumeric,
  isTemporal,
  literal,
  locationOf,
  plainType,
  settle,
  typeText,
} from '../typed/index.ts';
import { Binder } from './bind.ts';
import { fold } from './fold.ts';

/** Throws InvalidInput for values of another kind; a cast of rows checks each of them. */
export function bindValue(tree: Expression, schema: Schema, type: DataType): Bound {
  return valueFor(new Binder(schema), tree, plainType(type));
}

function valueFor(binder: Binder, tree: Expression, type: DataType): Bound {
  const family = familyOf(type);
  // Item by item, as a number written in a list takes the type of the items like any other.
  if (tree.kind === 'array' && family === 'list') {
    const items = tree.items.map((item) => valueFor(binder, item, plainType(elementType(type))));
    return fold({ kind: 'list', items, type });
  }
  const bound = binder.bind(tree);
  const from = familyOf(bound.type);
  if (from === 'null') return literal(type, null, tree.at);
  if (bound.kind === 'literal' && bound.loose === 'string' && isTemporal(family)) {
    return coerce(bound, type);
  }
  if (bound.kind === 'literal' && bound.loose === 'string' && isNumeric(family)) {
    // Decimals are read as text, and so are numbers that JavaScript has no exact value for.
    const exact = parseExact(String(bound.value));
    if (exact !== null) return coerce({ ...bound, loose: { ...exact, fractional: false } }, type);
  }
  if (!goesInto(from, family)) {
    refuse(locationOf(bound) ?? tree.at, `${describe(bound)} is no ${typeText(type)}`);
  }
  if (from === 'struct' || from === 'other') {
    if (typesEqual(bound.type, type)) return settle(bound);
    refuse(locationOf(bound) ?? tree.at, `${describe(bound)} is no ${typeText(type)}`);
  }
  if (bound.kind === 'literal' && from === 'list') {
    return { kind: 'cast', arg: bound, mode: 'lossless', type };
  }
  return fold(coerce(bound, type));
}

/** Kinds whose values can be the same; whether each value is, is seen when it is cast. */
function goesInto(from: Family, to: Family): boolean {
  if (from === to) return true;
  if (isNumeric(from) && isNumeric(to)) return true;
  const calendar = (family: Family): boolean => family === 'date' || family === 'timestamp';
  return calendar(from) && calendar(to);
}
