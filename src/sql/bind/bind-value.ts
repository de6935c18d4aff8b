/**
 * `bindValue` binds an expression whose values will be written to a column, and converts it to the
 * column's type. A text literal for a column of numbers or times is read as one, items of a list
 * that is written out too. NULL fits every type. Types that do not match throw InvalidInput, and so
 * does a literal that the column's type cannot hold without loss; an unknown column throws
 * TableColumnNotFound. Of a computed value, the row is refused when it is evaluated.
 */
import { type DataType, plainType, type Schema, typesEqual } from '../../arrow/index.ts';
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
  sameForm,
  settle,
  typeText,
} from '../typed/index.ts';
import { Binder } from './bind.ts';
import { fold } from './fold.ts';

const MAKERS: ReadonlySet<string> = new Set(['make_array', 'make_list']);

/** Throws InvalidInput for values of another kind; a cast of rows checks each of them. */
export function bindValue(tree: Expression, schema: Schema, type: DataType): Bound {
  return valueFor(new Binder(schema), tree, plainType(type));
}

function valueFor(binder: Binder, tree: Expression, type: DataType): Bound {
  const family = familyOf(type);
  // Item by item, as a number written in a list takes the type of the items like any other.
  const written = family === 'list' ? writtenItems(tree) : undefined;
  if (written !== undefined) {
    const items = written.map((item) => valueFor(binder, item, plainType(elementType(type))));
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
  if (!goesInto(bound.type, type)) {
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

/** The items of a list that is written out: `[a, b]`, `make_array(a, b)`. */
function writtenItems(tree: Expression): readonly Expression[] | undefined {
  if (tree.kind === 'array') return tree.items;
  return tree.kind === 'call' && MAKERS.has(tree.name) ? tree.args : undefined;
}

/**
 * Whether values of one type can be values of the other, of lists item by item. Casting finds out
 * whether each value fits. Texts that were computed are no numbers and times, of constants either.
 */
function goesInto(from: DataType, to: DataType): boolean {
  const [a, b] = [familyOf(from), familyOf(to)];
  if (a === 'list' && b === 'list') {
    const [own, other] = [plainType(elementType(from)), plainType(elementType(to))];
    const nested = familyOf(own) === 'struct' || familyOf(own) === 'other';
    if (nested) return sameForm(own, other);
    return goesInto(own, other);
  }
  if (a === b || (isNumeric(a) && isNumeric(b))) return true;
  const calendar = (family: Family): boolean => family === 'date' || family === 'timestamp';
  return calendar(a) && calendar(b);
}
