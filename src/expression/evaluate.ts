/**
 * Bound tree + frame -> column. One case a kind of node; the loops live beside it, by theme. It
 * never looks at names or at the text.
 */
import type { DataType } from '../arrow.ts';
import { DirspaceError } from '../errors.ts';
import { type Bound, canFail } from './bound.ts';
import { castColumn } from './cast.ts';
import {
  type Column,
  columnOf,
  constantColumn,
  FALSE,
  maskNulls,
  reader,
  TRUE,
  truthColumn,
  type Value,
  validityOf,
} from './column.ts';
import { memberOf, truthOf } from './column-parts.ts';
import { onlyDictionary } from './dictionary-trees.ts';
import { evaluateArithmetic, rescaleColumn } from './evaluate-arithmetic.ts';
import { compareWithConstant, inRange } from './evaluate-compare.ts';
import { compareColumns } from './evaluate-compare-columns.ts';
import { isAmong } from './evaluate-in.ts';
import { evaluateLike } from './evaluate-like.ts';
import { dictionaryFrame, type Frame, NarrowFrame, noColumns } from './frame.ts';
import { gather } from './gather.ts';
import { familyOf } from './types.ts';

/** The value of a tree without columns. Throws what its evaluation throws. */
export function evaluateConstant(bound: Bound): Value {
  return reader(evaluate(bound, noColumns()))(0) ?? null;
}

/**
 * The value of `bound` for every row of `frame`. Throws InvalidInput for values that do not fit, and
 * before values are made that take more memory than the frame has.
 */
export function evaluate(bound: Bound, frame: Frame): Column {
  const { memory } = frame;
  const before = memory.used;
  const column = evaluateNode(bound, frame);
  // Truth and numbers refer to nothing of what they were computed from.
  const { form } = column;
  if (form === 'truth' || form === 'number' || form === 'wide') memory.used = before;
  return column;
}

function evaluateNode(bound: Bound, frame: Frame): Column {
  if (frame.length > 1) {
    const once = overDictionary(bound, frame);
    if (once !== null) return once;
  }
  const { length } = frame;
  switch (bound.kind) {
    case 'literal':
      return constantColumn(bound.type, bound.value, length);
    case 'column':
      return frame.column(bound);
    case 'virtual':
      return frame.virtual(bound.name);
    case 'and':
    case 'or':
      return truthColumn(evaluateLogic(bound, frame));
    case 'not': {
      const truth = truthOf(evaluate(bound.arg, frame));
      const out = new Uint8Array(length);
      for (let i = 0; i < length; i++) out[i] = 2 - (truth[i] as number);
      return truthColumn(out);
    }
    case 'is':
      return truthColumn(evaluateIs(bound, frame));
    case 'compare':
      return truthColumn(
        compareColumns(bound.op, evaluate(bound.left, frame), evaluate(bound.right, frame)),
      );
    case 'compareConstant':
      return truthColumn(compareWithConstant(bound.op, evaluate(bound.arg, frame), bound.value));
    case 'range':
      return truthColumn(inRange(evaluate(bound.arg, frame), bound.low, bound.high));
    case 'known': {
      const out = new Uint8Array(length).fill(bound.value ? TRUE : FALSE);
      return truthColumn(maskNulls(out, validityOf(evaluate(bound.arg, frame))));
    }
    case 'distinct':
      return truthColumn(evaluateDistinct(bound, frame));
    case 'in':
      return truthColumn(isAmong(evaluate(bound.arg, frame), bound.values, bound.hasNull));
    case 'like':
      return truthColumn(
        evaluateLike(
          evaluate(bound.arg, frame),
          evaluate(bound.pattern, frame),
          bound.escape,
          bound.insensitive,
        ),
      );
    case 'arithmetic':
      return evaluateArithmetic(
        bound.op,
        evaluate(bound.left, frame),
        evaluate(bound.right, frame),
        bound.type,
      );
    case 'rescale':
      return rescaleColumn(evaluate(bound.arg, frame), bound.factor);
    case 'case':
      return evaluateCase(bound, frame);
    case 'coalesce':
      return evaluateCoalesce(bound.args, frame, bound.type);
    case 'cast':
      return castColumn(evaluate(bound.arg, frame), bound.type, bound.mode, frame.memory);
    case 'call':
      return bound.run.evaluate(
        bound.args.map((arg) => evaluate(arg, frame)),
        length,
        bound.type,
        frame.memory,
      );
    case 'list': {
      frame.memory.take(length * (LIST_OVERHEAD + REFERENCE * bound.items.length));
      const readers = bound.items.map((item) => reader(evaluate(item, frame)));
      const rows = Array.from({ length }, (_, row) => readers.map((read) => read(row) ?? null));
      return columnOf(bound.type, rows);
    }
    case 'member':
      return memberOf(evaluate(bound.arg, frame), bound.index, bound.type);
  }
}

/** Bytes of a list and of each of its items, as JavaScript keeps them. */
const LIST_OVERHEAD = 32;
const REFERENCE = 8;

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
export function evaluateLogic(
  bound: Extract<Bound, { kind: 'and' | 'or' }>,
  frame: Frame,
  keepUnknown = true,
): Uint8Array {
  const { length } = frame;
  const isAnd = bound.kind === 'and';
  const decided = isAnd ? FALSE : TRUE;
  let truth: Uint8Array | null = null;
  for (const arg of bound.args) {
    if (truth === null) {
      const first = evaluate(arg, frame);
      truth = first.form === 'truth' && FRESH.has(arg.kind) ? first.values : truthOf(first).slice();
      continue;
    }
    const least = isAnd && !keepUnknown ? TRUE : 0;
    let open = 0;
    for (let i = 0; i < length; i++) {
      const value = truth[i] as number;
      if (value !== decided && value >= least) open++;
    }
    if (open === 0) break;
    if (open < length * NARROW_BELOW || (open < length && canFail(arg))) {
      const rows = new Uint32Array(open);
      for (let i = 0, k = 0; i < length; i++) {
        const value = truth[i] as number;
        if (value !== decided && value >= least) rows[k++] = i;
      }
      const next = truthOf(evaluate(arg, new NarrowFrame(frame, rows)));
      for (let k = 0; k < open; k++) {
        const row = rows[k] as number;
        const [a, b] = [truth[row] as number, next[k] as number];
        truth[row] = isAnd ? Math.min(a, b) : Math.max(a, b);
      }
    } else {
      const next = truthOf(evaluate(arg, frame));
      if (isAnd)
        for (let i = 0; i < length; i++) truth[i] = least2(truth[i] as number, next[i] as number);
      else for (let i = 0; i < length; i++) truth[i] = most2(truth[i] as number, next[i] as number);
    }
  }
  return truth ?? new Uint8Array(length).fill(isAnd ? TRUE : FALSE);
}

function least2(a: number, b: number): number {
  return Math.min(a, b);
}

function most2(a: number, b: number): number {
  return Math.max(a, b);
}

function evaluateIs(bound: Extract<Bound, { kind: 'is' }>, frame: Frame): Uint8Array {
  const column = evaluate(bound.arg, frame);
  const [yes, no] = bound.negated ? [FALSE, TRUE] : [TRUE, FALSE];
  const out = new Uint8Array(frame.length);
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

function evaluateDistinct(bound: Extract<Bound, { kind: 'distinct' }>, frame: Frame): Uint8Array {
  const equal = truthOf(evaluate(bound.equal, frame));
  const left = validityOf(evaluate(bound.left, frame));
  const right = validityOf(evaluate(bound.right, frame));
  const out = new Uint8Array(frame.length);
  for (let i = 0; i < out.length; i++) {
    const [a, b] = [left === null ? 1 : left[i], right === null ? 1 : right[i]];
    const same = a === b && (a === 0 || equal[i] === TRUE);
    out[i] = same === bound.negated ? TRUE : FALSE;
  }
  return out;
}

/** Each branch sees only the rows that come to it. */
function evaluateCase(bound: Extract<Bound, { kind: 'case' }>, frame: Frame): Column {
  const values: Value[] = new Array(frame.length).fill(null);
  let rows = Uint32Array.from({ length: frame.length }, (_, i) => i);
  const put = (value: Bound, at: Uint32Array): void => {
    if (at.length === 0) return;
    const read = reader(
      evaluate(value, at.length === frame.length ? frame : new NarrowFrame(frame, at)),
    );
    for (let k = 0; k < at.length; k++) values[at[k] as number] = read(k) ?? null;
  };
  for (const { when, value } of bound.whens) {
    if (rows.length === 0) break;
    const here = rows.length === frame.length ? frame : new NarrowFrame(frame, rows);
    const truth = truthOf(evaluate(when, here));
    put(
      value,
      rows.filter((_, k) => truth[k] === TRUE),
    );
    rows = rows.filter((_, k) => truth[k] !== TRUE);
  }
  put(bound.otherwise, rows);
  return columnOf(bound.type, values);
}

function evaluateCoalesce(args: readonly Bound[], frame: Frame, type: DataType): Column {
  let rows = Uint32Array.from({ length: frame.length }, (_, i) => i);
  const values: Value[] = new Array(frame.length).fill(null);
  for (const arg of args) {
    if (rows.length === 0) break;
    const whole = rows.length === frame.length;
    const column = evaluate(arg, whole ? frame : new NarrowFrame(frame, rows));
    if (whole && validityOf(column) === null) return { ...column, type };
    const read = reader(column);
    const left: number[] = [];
    for (let k = 0; k < rows.length; k++) {
      const row = rows[k] as number;
      const value = read(k) ?? null;
      if (value === null) left.push(row);
      else values[row] = value;
    }
    rows = Uint32Array.from(left);
  }
  return columnOf(type, values);
}

/**
 * A tree over one dictionary column is evaluated once for every entry. Entries no row uses may make
 * it fail; then the rows are gone through after all.
 */
function overDictionary(bound: Bound, frame: Frame): Column | null {
  if (bound.kind === 'literal' || bound.kind === 'column' || bound.kind === 'virtual') return null;
  const column = onlyDictionary(bound);
  if (column === null) return null;
  const parts = frame.dictionary(column);
  if (parts === null) return null;
  let values: Column;
  const { used } = frame.memory;
  try {
    values = evaluate(bound, dictionaryFrame(parts.values, frame.memory));
  } catch (error) {
    frame.memory.used = used;
    if (error instanceof DirspaceError) return null;
    throw error;
  }
  return gather(
    values.type === bound.type || familyOf(bound.type) === 'bool'
      ? values
      : { ...values, type: bound.type },
    parts.rows,
  );
}
