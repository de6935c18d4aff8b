/**
 * Simplifies bound trees without changing their meaning. `fold` computes constants. `flat` merges
 * nested ANDs or ORs, `negated` negates a condition, and `asRange` joins `>=` and `<=` into one
 * test, or returns null if it cannot. A constant whose computation fails stays in the tree, so that
 * only rows that need its value meet the error; so does one that takes long, such as a list of more
 * than 1,000 items. A literal that does not fit its explicit cast throws at once.
 */
import { isDirspaceError } from '../../errors.ts';
import { evaluateConstant } from '../evaluate/index.ts';
import { refuse } from '../parse/index.ts';
import {
  BOOL,
  type Bound,
  childrenOf,
  type Family,
  familyOf,
  literal,
  locationOf,
} from '../typed/index.ts';

/** Nested ANDs (and ORs) become one. */
export function flat(kind: 'and' | 'or', args: readonly Bound[]): Bound {
  const all = args.flatMap((arg) => (arg.kind === kind ? arg.args : [arg]));
  const [only] = all;
  if (all.length === 1 && only !== undefined) return only;
  return { kind, args: all, type: BOOL };
}

export function negated(arg: Bound): Bound {
  if (arg.kind === 'not') return arg.arg;
  if (arg.kind === 'known') return { ...arg, value: !arg.value };
  if (arg.kind === 'is') return { ...arg, negated: !arg.negated };
  return { kind: 'not', arg, type: BOOL };
}

/**
 * Joins `x >= low` and `x <= high` into one test; null if the sides are anything else, and for
 * texts, bytes and booleans.
 */
export function asRange(low: Bound, high: Bound): Bound | null {
  if (low.kind !== 'compareConstant' || high.kind !== 'compareConstant') return null;
  if (low.arg !== high.arg || low.op !== '>=' || high.op !== '<=') return null;
  const family = familyOf(low.arg.type);
  if (family === 'text' || family === 'bytes' || family === 'bool') return null;
  return { kind: 'range', arg: low.arg, low: low.value, high: high.value, type: BOOL };
}

/** Computes an expression of literals only; returns it unchanged if that fails. */
export function fold(bound: Bound): Bound {
  if (bound.kind === 'literal') return bound;
  if (bound.kind === 'and' || bound.kind === 'or') return foldLogic(bound);
  if (bound.kind === 'known' && bound.arg.kind !== 'literal') return bound;
  if (!isComputable(bound) || !childrenOf(bound).every(isConstant)) return bound;
  try {
    return literal(bound.type, evaluateConstant(bound), childrenOf(bound).map(locationOf)[0]);
  } catch (error) {
    constants.set(bound, false);
    // What a literal says is wrong now; what a calculation meets is wrong when a row gets there.
    const wrong =
      bound.kind === 'cast' && bound.arg.kind === 'literal' && bound.mode === 'explicit';
    if (wrong && isDirspaceError(error, 'InvalidInput')) {
      refuse(locationOf(bound.arg), error.message, { cause: error });
    }
    return bound;
  }
}

/** Whether a node whose children are constants can be computed while it is bound. */
function isComputable(bound: Bound): boolean {
  if (bound.kind === 'column' || bound.kind === 'virtual') return false;
  if (bound.kind === 'list' && bound.items.length > 1000) return false;
  // What is gone through in steps is left to the rows, where there are steps.
  return bound.kind !== 'call' || bound.run.inSteps === undefined || !bound.args.some(isLong);
}

/** Whether a node is constant, found out once for each. */
const constants = new WeakMap<Bound, boolean>();

function isConstant(bound: Bound): boolean {
  if (bound.kind === 'literal') return true;
  let known = constants.get(bound);
  if (known === undefined) {
    known =
      SMALL.has(familyOf(bound.type)) && isComputable(bound) && childrenOf(bound).every(isConstant);
    constants.set(bound, known);
  }
  return known;
}

/** Values of these take little, whatever they are computed of. */
const SMALL: ReadonlySet<Family> = new Set<Family>([
  ...(['bool', 'int', 'float', 'decimal', 'date', 'time', 'timestamp'] as const),
  ...(['duration', 'interval'] as const),
]);

/** Characters of a text that are gone through at once while an expression is bound. */
const SHORT_TEXT = 256;

const isLong = (bound: Bound): boolean =>
  bound.kind === 'literal' && typeof bound.value === 'string' && bound.value.length > SHORT_TEXT;

function foldLogic(bound: Extract<Bound, { kind: 'and' | 'or' }>): Bound {
  const decides = bound.kind === 'or';
  const args: Bound[] = [];
  for (const arg of bound.args) {
    if (arg.kind === 'literal' && arg.value === decides) return literal(BOOL, decides);
    if (!(arg.kind === 'literal' && arg.value === !decides)) args.push(arg);
  }
  const [only] = args;
  if (only === undefined) return literal(BOOL, !decides);
  return args.length === 1 ? only : { ...bound, args };
}
