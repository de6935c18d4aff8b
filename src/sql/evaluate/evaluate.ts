/**
 * Evaluates a bound tree over a frame of rows into a column, in steps that let other work run in
 * between (`evaluateInSteps`). An operand of AND, OR, CASE or COALESCE that could fail is evaluated
 * only for the rows that need it. A value that does not fit its type throws InvalidInput, and so do
 * values that take more memory than the frame has. `logicInSteps` gives the truth values of an AND
 * or OR. `entriesInSteps` evaluates a tree once for each entry of the only column it reads, which
 * must be a dictionary. It returns null for other trees, for a column by itself, and if an entry
 * fails; the caller then evaluates the rows. `evaluateConstant` computes a tree without columns.
 */
import type { DataType } from '../../arrow/index.ts';
import { DirspaceError } from '../../errors.ts';
import { drained } from '../../steps.ts';
import {
  assembled,
  dictionaryFrame,
  type Frame,
  gather,
  memberOf,
  NarrowFrame,
  noColumns,
  type Piece,
  truthOf,
} from '../load/index.ts';
import {
  type Bound,
  type Column,
  canFail,
  childrenOf,
  columnOf,
  constantColumn,
  FALSE,
  familyOf,
  maskNulls,
  reader,
  TRUE,
  truthColumn,
  type Value,
  validityOf,
} from '../typed/index.ts';
import { castColumn } from './cast.ts';
import { onlyDictionary } from './dictionary-trees.ts';
import { compareArithmetic, evaluateArithmetic, rescaleColumn } from './evaluate-arithmetic.ts';
import { compareWithConstant, inRange } from './evaluate-compare.ts';
import { compareColumns } from './evaluate-compare-columns.ts';
import { isAmong, prepareAmong } from './evaluate-in.ts';
import { evaluateLike, likeInSteps } from './evaluate-like.ts';
import { numberKernels } from './number-kernels.ts';
import { countSelected, everyRow, rowsWhere } from './selection.ts';
import { isLight, workOf } from './weight.ts';

/** The value of a tree without columns. Throws what its evaluation throws. */
export function evaluateConstant(bound: Bound): Value {
  return reader(evaluate(bound, noColumns()))(0) ?? null;
}

/**
 * The value of `bound` for every row of `frame`. Throws InvalidInput for values that do not fit,
 * and before values are made that take more memory than the frame has.
 */
function evaluate(bound: Bound, frame: Frame): Column {
  const { memory } = frame;
  const before = memory.used;
  const column = evaluateNode(bound, frame);
  if (isApart(column)) memory.used = before;
  return column;
}

/** Whether a column shares no memory with its operands, so that their memory can be released. */
const isApart = ({ form }: Column): boolean =>
  form === 'truth' || form === 'number' || form === 'wide';

function evaluateNode(bound: Bound, frame: Frame): Column {
  if (frame.length > 1) {
    const once = drained(overDictionary(bound, frame));
    if (once !== null) return once;
  }
  switch (bound.kind) {
    case 'and':
    case 'or':
    case 'case':
    case 'coalesce':
      return drained(lazyNode(bound, frame));
    default:
      return appliedNode(
        bound,
        operandsOf(bound).map((child) => evaluate(child, frame)),
        frame,
      );
  }
}

/**
 * As `evaluate`, but a generator that yields between the nodes of the tree, so that its caller can
 * let other work go on in between: after about as many comparisons as take a millisecond, however
 * many rows they are for.
 */
export function* evaluateInSteps(bound: Bound, frame: Frame): Generator<void, Column> {
  if (isLight(bound, frame)) {
    const column = evaluate(bound, frame);
    if (frame.meter.isFull(workOf(bound, frame))) yield;
    return column;
  }
  const { memory } = frame;
  const before = memory.used;
  let column = frame.length > 1 ? yield* overDictionary(bound, frame) : null;
  column ??= isLazy(bound)
    ? yield* lazyNode(bound, frame)
    : yield* appliedInSteps(bound, yield* childrenInSteps(bound, frame), frame);
  if (isApart(column)) memory.used = before;
  return column;
}

function* childrenInSteps(bound: Bound, frame: Frame): Generator<void, Column[]> {
  const columns: Column[] = [];
  for (const child of operandsOf(bound)) columns.push(yield* evaluateInSteps(child, frame));
  return columns;
}

function* appliedInSteps(
  bound: Bound,
  children: readonly Column[],
  frame: Frame,
): Generator<void, Column> {
  if (bound.kind === 'in') yield* prepareAmong(children[0] as Column, bound.values);
  if (bound.kind === 'call' && bound.run.inSteps !== undefined) {
    return yield* bound.run.inSteps(children, frame.length, bound.type, frame.memory);
  }
  if (bound.kind === 'list') return yield* listInSteps(bound, children, frame);
  if (bound.kind === 'like') {
    const [text, pattern] = children as [Column, Column];
    const { escape: escaping, insensitive } = bound;
    return truthColumn(yield* likeInSteps(text, pattern, escaping, insensitive, frame.memory));
  }
  return appliedNode(bound, children, frame);
}

/** Nodes that evaluate some of their children for some of the rows only. */
type Lazy = Extract<Bound, { kind: 'and' | 'or' | 'case' | 'coalesce' }>;

const isLazy = ({ kind }: Bound): boolean =>
  kind === 'and' || kind === 'or' || kind === 'case' || kind === 'coalesce';

function* lazyNode(bound: Bound, frame: Frame): Generator<void, Column> {
  const lazy = bound as Lazy;
  if (lazy.kind === 'case') return yield* evaluateCase(lazy, frame);
  if (lazy.kind === 'coalesce') return yield* evaluateCoalesce(lazy.args, frame, lazy.type);
  return truthColumn(yield* logicInSteps(lazy, frame));
}

/** Nodes that are evaluated before one: a comparison of a sum is computed together with it. */
const operandsOf = (bound: Bound): readonly Bound[] =>
  childrenOf(
    bound.kind === 'compareConstant' && bound.arg.kind === 'arithmetic' ? bound.arg : bound,
  );

/** What a node makes of the values of its operands, which are those of `operandsOf`. */
function appliedNode(bound: Bound, children: readonly Column[], frame: Frame): Column {
  const { length } = frame;
  const [first, second, third] = children as [Column, Column, Column];
  switch (bound.kind) {
    case 'literal':
      return constantColumn(bound.type, bound.value, length);
    case 'column':
      return frame.column(bound);
    case 'virtual':
      return frame.virtual(bound.name);
    case 'not': {
      const truth = truthOf(first);
      const out = new Uint8Array(length);
      for (let i = 0; i < length; i++) out[i] = 2 - (truth[i] as number);
      return truthColumn(out);
    }
    case 'is':
      return truthColumn(evaluateIs(bound, first));
    case 'compare':
      return truthColumn(compareColumns(bound.op, first, second));
    case 'compareConstant': {
      const { arg, op, value } = bound;
      if (arg.kind !== 'arithmetic') return truthColumn(compareWithConstant(op, first, value));
      const quick = compareArithmetic(arg.op, first, second, arg.type, op, value);
      if (quick !== null) return truthColumn(quick);
      const computed = evaluateArithmetic(arg.op, first, second, arg.type);
      return truthColumn(compareWithConstant(op, computed, value));
    }
    case 'range':
      return truthColumn(inRange(first, bound.low, bound.high));
    case 'known': {
      const out = new Uint8Array(length).fill(bound.value ? TRUE : FALSE);
      return truthColumn(maskNulls(out, validityOf(first)));
    }
    case 'distinct':
      return truthColumn(evaluateDistinct(bound.negated, first, second, third));
    case 'in':
      return truthColumn(isAmong(first, bound.values, bound.hasNull));
    case 'like':
      return truthColumn(
        evaluateLike(first, second, bound.escape, bound.insensitive, frame.memory),
      );
    case 'arithmetic':
      return evaluateArithmetic(bound.op, first, second, bound.type);
    case 'rescale':
      return rescaleColumn(first, bound.factor);
    case 'cast':
      return castColumn(first, bound.type, bound.mode, frame.memory);
    case 'call':
      return bound.run.evaluate(children, length, bound.type, frame.memory);
    case 'list':
      return drained(listInSteps(bound, children, frame));
    case 'member':
      return memberOf(first, bound.index, bound.type);
    default:
      throw new DirspaceError('Internal', `A node ${bound.kind} is not applied to columns`);
  }
}

/** Bytes of a list and of each of its items, as JavaScript keeps them. */
const LIST_OVERHEAD = 32;
const REFERENCE = 8;
/** Items of lists that are computed in one step. */
const STEP_ITEMS = 1 << 16;

/** A list of constants is made once for all rows. */
function* listInSteps(
  bound: Extract<Bound, { kind: 'list' }>,
  children: readonly Column[],
  { length, memory }: Frame,
): Generator<void, Column> {
  const isConstant = length > 0 && children.every(({ form }) => form === 'constant');
  const count = isConstant ? 1 : length;
  memory.take(count * (LIST_OVERHEAD + REFERENCE * children.length));
  const readers = children.map((child) => reader(child));
  const rows: Value[] = [];
  let made = 0;
  for (let row = 0; row < count; row++) {
    rows.push(readers.map((read) => read(row) ?? null));
    made += readers.length;
    if (made < STEP_ITEMS) continue;
    made = 0;
    yield;
  }
  return isConstant ? constantColumn(bound.type, rows[0], length) : columnOf(bound.type, rows);
}

/** Kinds whose truth values are a fresh array, which may be written to. */
const FRESH = new Set([
  'compare',
  'compareConstant',
  'range',
  'in',
  'like',
  'is',
  'not',
  'known',
  'distinct',
]);

/** Below this share of undecided rows, the next operand is evaluated over those alone. */
const NARROW_BELOW = 0.25;

/** `keepUnknown` false: only what is true matters, so that unknown rows need no more looking at. */
export function* logicInSteps(
  bound: Extract<Bound, { kind: 'and' | 'or' }>,
  frame: Frame,
  keepUnknown = true,
): Generator<void, Uint8Array> {
  const { length } = frame;
  const isAnd = bound.kind === 'and';
  const decided = isAnd ? FALSE : TRUE;
  let truth: Uint8Array | null = null;
  for (const arg of bound.args) {
    if (truth === null) {
      const first = isLight(arg, frame) ? evaluate(arg, frame) : yield* evaluateInSteps(arg, frame);
      truth = first.form === 'truth' && FRESH.has(arg.kind) ? first.values : truthOf(first).slice();
      continue;
    }
    const least = isAnd && !keepUnknown ? TRUE : 0;
    const open = countOpen(truth, decided, least);
    if (open === 0) break;
    if (open < length * NARROW_BELOW || (open < length && canFail(arg))) {
      const rows = openRows(truth, decided, least, open);
      const next = truthOf(yield* evaluateInSteps(arg, new NarrowFrame(frame, rows)));
      joinRows(isAnd, truth, next, rows);
    } else joinAll(isAnd, truth, truthOf(yield* evaluateInSteps(arg, frame)));
  }
  return truth ?? new Uint8Array(length).fill(isAnd ? TRUE : FALSE);
}

// The loops have functions of their own: one inside a generator is compiled much later.

/** Rows that are not `decided`, and at least `least`. */
function countOpen(truth: Uint8Array, decided: number, least: number): number {
  if (least === TRUE) return countSelected(truth);
  const kernels = numberKernels(truth.length);
  if (kernels !== null) return truth.length - kernels.count(truth, decided);
  let open = 0;
  for (let i = 0; i < truth.length; i++) if (truth[i] !== decided) open++;
  return open;
}

function openRows(truth: Uint8Array, decided: number, least: number, open: number): Uint32Array {
  const rows = new Uint32Array(open);
  for (let i = 0, k = 0; k < open; i++) {
    const value = truth[i] as number;
    if (value !== decided && value >= least) rows[k++] = i;
  }
  return rows;
}

function joinRows(isAnd: boolean, truth: Uint8Array, next: Uint8Array, rows: Uint32Array): void {
  for (let k = 0; k < rows.length; k++) {
    const row = rows[k] as number;
    const [a, b] = [truth[row] as number, next[k] as number];
    truth[row] = isAnd ? Math.min(a, b) : Math.max(a, b);
  }
}

function joinAll(isAnd: boolean, truth: Uint8Array, next: Uint8Array): void {
  const kernels = numberKernels(truth.length);
  if (kernels !== null) {
    kernels.join(isAnd, truth, next);
    return;
  }
  const n = truth.length;
  if (isAnd) for (let i = 0; i < n; i++) truth[i] = Math.min(truth[i] as number, next[i] as number);
  else for (let i = 0; i < n; i++) truth[i] = Math.max(truth[i] as number, next[i] as number);
}

function evaluateIs(bound: Extract<Bound, { kind: 'is' }>, column: Column): Uint8Array {
  const [yes, no] = bound.negated ? [FALSE, TRUE] : [TRUE, FALSE];
  const out = new Uint8Array(column.length);
  if (bound.test === 'null') {
    const valid = validityOf(column);
    if (valid === null) return out.fill(no);
    for (let i = 0; i < out.length; i++) out[i] = valid[i] === 0 ? yes : no;
    return out;
  }
  const truth = truthOf(column);
  const wanted = bound.test === 'true' ? TRUE : FALSE;
  for (let i = 0; i < out.length; i++) out[i] = truth[i] === wanted ? yes : no;
  return out;
}

function evaluateDistinct(
  negated: boolean,
  equality: Column,
  ofLeft: Column,
  ofRight: Column,
): Uint8Array {
  const equal = truthOf(equality);
  const left = validityOf(ofLeft);
  const right = validityOf(ofRight);
  const out = new Uint8Array(equality.length);
  for (let i = 0; i < out.length; i++) {
    const [a, b] = [left === null ? 1 : left[i], right === null ? 1 : right[i]];
    const same = a === b && (a === 0 || equal[i] === TRUE);
    out[i] = same === negated ? TRUE : FALSE;
  }
  return out;
}

/** Each branch sees only the rows that come to it. */
function* evaluateCase(
  bound: Extract<Bound, { kind: 'case' }>,
  frame: Frame,
): Generator<void, Column> {
  const { whens, otherwise } = bound;
  const base = isPlain(otherwise) ? evaluate(otherwise, frame) : null;
  const pieces: Piece[] = [];
  let rows: Uint32Array | null = null;
  for (const [index, { when, value }] of whens.entries()) {
    const here = narrowed(frame, rows);
    const truth = truthOf(yield* evaluateInSteps(when, here));
    const taken = rowsWhere(truth, true, rows);
    if (taken.length > 0) pieces.push(yield* pieceOf(value, frame, taken));
    if (taken.length === truth.length || (index === whens.length - 1 && base !== null)) {
      return joined(bound.type, frame, base, pieces);
    }
    rows = rowsWhere(truth, false, rows);
  }
  if (base === null) pieces.push(yield* pieceOf(otherwise, frame, rows ?? everyRow(frame.length)));
  return joined(bound.type, frame, base, pieces);
}

/** Whether reading all rows costs as little as reading some. */
const isPlain = ({ kind }: Bound): boolean => kind === 'column' || kind === 'literal';

const narrowed = (frame: Frame, rows: Uint32Array | null): Frame =>
  rows === null ? frame : new NarrowFrame(frame, rows);

function* pieceOf(value: Bound, frame: Frame, rows: Uint32Array): Generator<void, Piece> {
  if (isPlain(value)) return { column: evaluate(value, frame), picked: rows, rows };
  const of = rows.length === frame.length ? frame : new NarrowFrame(frame, rows);
  return { column: yield* evaluateInSteps(value, of), picked: null, rows };
}

function* evaluateCoalesce(
  args: readonly Bound[],
  frame: Frame,
  type: DataType,
): Generator<void, Column> {
  const [first, ...others] = args as [Bound, ...Bound[]];
  const base = yield* evaluateInSteps(first, frame);
  const valid = validityOf(base);
  if (valid === null) return { ...base, type };
  const pieces: Piece[] = [];
  let rows = rowsWithout(valid, null);
  for (const [index, arg] of others.entries()) {
    if (rows.length === 0) break;
    const piece = yield* pieceOf(arg, frame, rows);
    pieces.push(piece);
    const present = index === others.length - 1 ? null : validityOf(piece.column);
    if (present === null) break;
    rows = rowsWithout(present, piece);
  }
  return joined(type, frame, base, pieces);
}

/** Rows of a piece, or of all, that have no value. */
function rowsWithout(valid: Uint8Array, piece: Piece | null): Uint32Array {
  const { rows = null, picked = null } = piece ?? {};
  const length = rows?.length ?? valid.length;
  const left = new Uint32Array(length);
  let count = 0;
  for (let k = 0; k < length; k++) {
    if (valid[picked === null ? k : (picked[k] as number)] === 1) continue;
    left[count++] = rows === null ? k : (rows[k] as number);
  }
  return left.subarray(0, count);
}

function joined(
  type: DataType,
  { length, memory }: Frame,
  base: Column | null,
  pieces: readonly Piece[],
): Column {
  const column = assembled(type, length, base, pieces, memory);
  if (column !== null) return column;
  const below = base === null ? null : reader(base);
  const values: Value[] = Array.from({ length }, (_, row) => below?.(row) ?? null);
  for (const { column: from, picked, rows } of pieces) {
    const read = reader(from);
    for (let k = 0; k < rows.length; k++) {
      values[rows[k] as number] = read(picked === null ? k : (picked[k] as number)) ?? null;
    }
  }
  return columnOf(type, values);
}

/** Values of the entries of a dictionary, and the entry of each row. */
export interface EntryValues {
  readonly values: Column;
  readonly rows: Uint32Array;
}

/**
 * A tree over one dictionary column is evaluated once for every entry. Entries no row uses may make
 * it fail; then the rows are gone through after all, as where there is no dictionary: null is
 * returned.
 */
export function* entriesInSteps(bound: Bound, frame: Frame): Generator<void, EntryValues | null> {
  if (bound.kind === 'literal' || bound.kind === 'column' || bound.kind === 'virtual') return null;
  const column = onlyDictionary(bound);
  if (column === null) return null;
  const parts = frame.dictionary(column);
  if (parts === null) return null;
  let values: Column;
  const { used } = frame.memory;
  try {
    values = yield* evaluateInSteps(bound, dictionaryFrame(parts.values, frame.memory));
  } catch (error) {
    frame.memory.used = used;
    if (error instanceof DirspaceError) return null;
    throw error;
  }
  const isTyped = values.type === bound.type || familyOf(bound.type) === 'bool';
  return { values: isTyped ? values : { ...values, type: bound.type }, rows: parts.rows };
}

function* overDictionary(bound: Bound, frame: Frame): Generator<void, Column | null> {
  const entries = yield* entriesInSteps(bound, frame);
  return entries === null ? null : gather(entries.values, entries.rows);
}
