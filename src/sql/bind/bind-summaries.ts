/**
 * `SUMMARIES_OF_LISTS` maps the functions that reduce a list to the code that binds their calls:
 * list_sum, list_avg, list_min, list_max, list_distinct and array_to_string. A sum of integers is
 * an int64, of decimals a decimal of 38 digits, of floats a float64, and a mean is always a
 * float64; list_min and list_max keep the type of the items. NULL gives NULL. Items of a type that
 * the function does not take throw InvalidInput.
 */
import { type DataType, Decimal, plainType } from '../../arrow/index.ts';
import { canCast } from '../evaluate/index.ts';
import { LIST_SUMMARIES, listMean } from '../functions/index.ts';
import { refuse } from '../parse/index.ts';
import {
  coerce,
  elementType,
  FLOAT64,
  familyOf,
  INT64,
  isNumeric,
  isOrdered,
  listOf,
  literal,
  locationOf,
  type RowFunction,
  typeText,
  UTF8,
} from '../typed/index.ts';
import { argument, type Binding, call } from './bind-arguments.ts';

interface Summary {
  /** Whether items of a type are taken. */
  readonly takes: (item: DataType) => boolean;
  /** Those that are, in words. */
  readonly wanted: string;
  /** The type of the result for items of a type. */
  readonly gives: (item: DataType) => DataType;
  /** The type that items are converted to first. */
  readonly reads?: (item: DataType) => DataType;
}

function sumType(item: DataType): DataType {
  if (familyOf(item) === 'int') return INT64;
  return item instanceof Decimal ? new Decimal(Math.max(0, item.scale), 38, 128) : FLOAT64;
}

const isNumber = (item: DataType): boolean => isNumeric(familyOf(item));
const hasOrder = (item: DataType): boolean => isOrdered(familyOf(item));

const SUMMARIES: Readonly<Record<string, Summary>> = {
  list_sum: {
    takes: isNumber,
    wanted: 'numbers',
    gives: sumType,
    reads: (item) => (item instanceof Decimal ? sumType(item) : item),
  },
  list_avg: {
    takes: isNumber,
    wanted: 'numbers',
    gives: () => FLOAT64,
    reads: (item) => (familyOf(item) === 'float' ? FLOAT64 : item),
  },
  list_min: { takes: hasOrder, wanted: 'items that have an order', gives: plainType },
  list_max: { takes: hasOrder, wanted: 'items that have an order', gives: plainType },
  list_distinct: { takes: () => true, wanted: '', gives: (item) => listOf(plainType(item)) },
};

function bindSummary(name: string, { takes, wanted, gives, reads }: Summary): Binding {
  return (args, at) => {
    const [given] = args;
    if (given === undefined || args.length > 1) {
      return refuse(at, `${name} takes one list, not ${args.length} arguments`);
    }
    const list = argument(name, given, 'l', at);
    const item = familyOf(list.type) === 'null' ? INT64 : plainType(elementType(list.type));
    if (familyOf(list.type) === 'null') return literal(gives(item), null, at);
    // A list of nulls alone has texts by its type only.
    const items = list.kind === 'literal' ? (list.value as readonly unknown[] | null) : undefined;
    if (items?.every((x) => x === null) && !takes(item)) return literal(gives(INT64), null, at);
    if (!takes(item)) {
      refuse(
        locationOf(given) ?? at,
        `${name} takes a list of ${wanted}, not ${typeText(list.type)}`,
      );
    }
    const typed = reads === undefined ? list : coerce(list, listOf(reads(item)), 'explicit');
    const run = name === 'list_avg' ? listMean(item) : (LIST_SUMMARIES[name] as RowFunction);
    return call(run, [typed], gives(item));
  };
}

const bindJoined: Binding = (args, at) => {
  const [given, between] = args;
  if (given === undefined || between === undefined || args.length > 2) {
    return refuse(at, `array_to_string takes a list and a text, not ${args.length} arguments`);
  }
  const list = argument('array_to_string', given, 'l', at);
  const text = argument('array_to_string', between, 't', at);
  if ([list, text].some(({ type }) => familyOf(type) === 'null')) return literal(UTF8, null, at);
  const item = familyOf(elementType(list.type));
  if (item !== 'null' && !canCast(item, 'text')) {
    refuse(locationOf(given) ?? at, `Items of ${typeText(list.type)} have no text form`);
  }
  const texts = coerce(list, listOf(UTF8), 'explicit');
  return call(LIST_SUMMARIES.array_to_string as RowFunction, [texts, text], UTF8);
};

export const SUMMARIES_OF_LISTS: Readonly<Record<string, Binding>> = {
  ...Object.fromEntries(
    Object.entries(SUMMARIES).map(([name, summary]) => [name, bindSummary(name, summary)]),
  ),
  array_to_string: bindJoined,
};
