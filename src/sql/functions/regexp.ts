/**
 * Computes the SQL functions of regular expressions (`REGEXP_FUNCTIONS`), such as regexp_like and
 * regexp_replace. Long work is done in steps. All work counts against the request's budget for
 * regular expressions, which throws InvalidInput when it is used up. A pattern that is refused and
 * a group that the pattern does not have throw InvalidInput too. ../regexp/ does the matching;
 * `compileRegexp` of it is exported from here as well.
 */
import type { DataType } from '../../arrow/index.ts';
import { DirspaceError } from '../../errors.ts';
import type { RegexpBudget } from '../../regexp-budget.ts';
import type { BatchMemory } from '../../request-memory.ts';
import { drained } from '../../steps.ts';
import { compileRegexp, type Found, type LinearRegexp, type Search } from '../regexp/index.ts';
import { MOST_AT_ONCE, MOST_PART, spanOf, textKernels } from '../texts/index.ts';
import {
  type BytesColumn,
  type Column,
  FALSE,
  maskNulls,
  type RowFunction,
  TRUE,
  truthColumn,
  type Value,
} from '../typed/index.ts';
import { strictInSteps } from './rows.ts';
import { LISTED_TEXT_BYTES, TEXT_LIST_BYTES } from './text-parts.ts';

export { compileRegexp } from '../regexp/index.ts';

let last: { pattern: string; flags: string; compiled: LinearRegexp } | undefined;

/** Row by row the pattern is mostly the one of the row before. */
function compiledLast(args: readonly Value[], flagsAt: number): LinearRegexp | undefined {
  return last?.pattern === args[1] && last?.flags === (args[flagsAt] ?? '')
    ? last?.compiled
    : undefined;
}

/** Compiling another is a step of its own. */
function* compiledAnew(
  args: readonly Value[],
  flagsAt: number,
  budget: RegexpBudget,
): Generator<void, LinearRegexp> {
  const pattern = args[1] as string;
  const flags = (args[flagsAt] ?? '') as string;
  let steps = 0;
  const compiled = compileRegexp(pattern, flags, (taken) => {
    steps = taken;
  });
  last = { pattern, flags, compiled };
  if (steps > 0) {
    budget.take(steps);
    yield;
  }
  return compiled;
}

/** The pattern of all rows, where it is the same. */
function constantPattern([, pattern, flags]: readonly Column[]): LinearRegexp | null {
  if (pattern?.form !== 'constant' || pattern.value === null) return null;
  if (flags !== undefined && (flags.form !== 'constant' || flags.value === null)) return null;
  return compileRegexp(pattern.value as string, (flags?.value ?? '') as string);
}

const likeByRow = strictInSteps('regexp_like', function* (args, _type, { regexp }) {
  const bytes = Buffer.from(args[0] as string);
  const compiled = compiledLast(args, 2) ?? (yield* compiledAnew(args, 2, regexp));
  const matcher = compiled.takeMatcher();
  const found = yield* counted(matcher.inSteps(bytes, 0, bytes.length), regexp);
  regexp.take(matcher.rest());
  compiled.giveBack(matcher);
  if (regexp.isTired()) yield;
  return found;
});

/** Text is read as it lies in its column. */
const regexpLike: RowFunction = {
  ...likeByRow,
  evaluate: (args, length, type, memory) => drained(regexpLikeInSteps(args, length, type, memory)),
  inSteps: regexpLikeInSteps,
};

function* regexpLikeInSteps(
  args: readonly Column[],
  length: number,
  type: DataType,
  memory: BatchMemory,
): Generator<void, Column> {
  const [texts] = args;
  const compiled = texts?.form === 'bytes' ? constantPattern(args) : null;
  if (texts?.form !== 'bytes' || compiled === null) {
    return yield* likeByRow.inSteps(args, length, type, memory);
  }
  const { data, starts, ends, valid } = texts;
  const truth = new Uint8Array(length);
  const isFiltered = findRequired(compiled, texts, truth);
  const matcher = compiled.takeMatcher();
  for (let row = 0; row < length; row++) {
    if ((valid !== null && valid[row] === 0) || (isFiltered && truth[row] === FALSE)) continue;
    let found = matcher.begin(data, starts[row] as number, ends[row] as number);
    while (found === undefined) {
      memory.regexp.take(matcher.rest());
      yield;
      found = matcher.goOn();
    }
    truth[row] = found ? TRUE : FALSE;
    if (matcher.isTired) {
      memory.regexp.take(matcher.rest());
      yield;
    }
  }
  memory.regexp.take(matcher.rest());
  compiled.giveBack(matcher);
  return truthColumn(maskNulls(truth, valid));
}

/**
 * Marks in `truth`, which is all 0, the texts that have what every match has. False where the pattern
 * tells nothing of the kind, or the kernels cannot look for it.
 */
function findRequired(compiled: LinearRegexp, texts: BytesColumn, truth: Uint8Array): boolean {
  const text = texts.dense && spanOf(texts).bytes <= MOST_AT_ONCE ? compiled.required() : null;
  const part = Buffer.from(text ?? '');
  if (part.length < LEAST_PART || part.length > MOST_PART) return false;
  return textKernels()?.contains(texts, part, truth) ?? false;
}

/** Most texts have a single given letter. */
const LEAST_PART = 2;

/** Part `number` of a match: 0 is the whole, a group that took no part is null. */
function partOf(text: string, found: Found, number: number): string | null {
  const start = found[2 * number] ?? -1;
  return start < 0 ? null : text.slice(start, found[2 * number + 1]);
}

/** Text, or the number of a group. */
type Piece = string | number;

const REFERENCE = /\$\$|\\(\d+)|\$\{([^}]*)\}|\$([0-9A-Za-z_]+)/g;
/** The same behind the last `}`, where looking for one would take the rest of the text each time. */
const LAST_REFERENCE = /\$\$|\\(\d+)|\$([0-9A-Za-z_]+)/g;

/** `$1`, `${1}` and `\1` are groups, `$0` is the whole match, `${name}` one with a name, `$$` a dollar. */
function templateOf(template: string, groups: readonly (string | undefined)[]): Piece[] {
  const border = template.lastIndexOf('}') + 1;
  return [
    ...piecesOf(template.slice(0, border), REFERENCE, groups),
    ...piecesOf(template.slice(border), LAST_REFERENCE, groups),
  ];
}

function piecesOf(
  template: string,
  reference: RegExp,
  groups: readonly (string | undefined)[],
): Piece[] {
  const pieces: Piece[] = [];
  let last = 0;
  for (const { 0: text, 1: first, 2: second, 3: third, index } of template.matchAll(reference)) {
    if (index > last) pieces.push(template.slice(last, index));
    last = index + text.length;
    if (text === '$$') {
      pieces.push('$');
      continue;
    }
    const name = first ?? second ?? third ?? '';
    const number = /^\d+$/.test(name) ? Number(name) : groups.indexOf(name) + 1;
    // A group that there is not is empty.
    if (/^\d+$/.test(name) ? number <= groups.length : number > 0) pieces.push(number);
  }
  if (last < template.length) pieces.push(template.slice(last));
  return pieces;
}

const templates = new WeakMap<LinearRegexp, { template: string; pieces: Piece[] }>();

function piecesFor(compiled: LinearRegexp, template: string): Piece[] {
  const known = templates.get(compiled);
  if (known?.template === template) return known.pieces;
  const pieces = templateOf(template, compiled.groups);
  templates.set(compiled, { template, pieces });
  return pieces;
}

export const REGEXP_FUNCTIONS: Readonly<Record<string, RowFunction>> = {
  regexp_like: regexpLike,
  /** The groups of the first match, or the whole match where there are none; else null. */
  regexp_match: strictInSteps('regexp_match', function* (args, _type, memory) {
    const compiled = compiledLast(args, 2) ?? (yield* compiledAnew(args, 2, memory.regexp));
    const text = args[0] as string;
    const { length } = compiled.groups;
    let parts: Value = null;
    const each = (found: Found): void => {
      memory.take(TEXT_LIST_BYTES + LISTED_TEXT_BYTES * Math.max(1, length));
      parts =
        length === 0
          ? [partOf(text, found, 0)]
          : Array.from({ length }, (_, at) => partOf(text, found, at + 1));
    };
    const rest = searched(compiled, text, { groups: true, all: false, each }, memory.regexp);
    if (rest !== null) yield* rest;
    return parts;
  }),
  /** A group of the first match; empty where there is none. */
  regexp_extract: strictInSteps('regexp_extract', function* (args, _type, memory) {
    const compiled = compiledLast(args, 3) ?? (yield* compiledAnew(args, 3, memory.regexp));
    const [text, group] = [args[0] as string, groupOf(compiled, args[2])];
    let part: string | null = null;
    const each = (found: Found): void => {
      part = partOf(text, found, group);
    };
    const search = { groups: group > 0, all: false, each };
    const rest = searched(compiled, text, search, memory.regexp);
    if (rest !== null) yield* rest;
    return part ?? '';
  }),
  /** A group of each match, null where it took no part. */
  regexp_extract_all: strictInSteps('regexp_extract_all', function* (args, _type, memory) {
    const compiled = compiledLast(args, 3) ?? (yield* compiledAnew(args, 3, memory.regexp));
    const [text, group] = [args[0] as string, groupOf(compiled, args[2])];
    memory.take(TEXT_LIST_BYTES);
    const parts: Value[] = [];
    const each = (found: Found): void => {
      const part = partOf(text, found, group);
      memory.take(LISTED_TEXT_BYTES + 2 * (part?.length ?? 0));
      parts.push(part);
    };
    const search = { groups: group > 0, all: true, work: PIECE_WORK, each };
    const rest = searched(compiled, text, search, memory.regexp);
    if (rest !== null) yield* rest;
    return parts;
  }),
  regexp_replace: strictInSteps('regexp_replace', function* (args, _type, memory) {
    const all = ((args[3] ?? '') as string).includes('g');
    const compiled = compiledLast(args, 3) ?? (yield* compiledAnew(args, 3, memory.regexp));
    const text = args[0] as string;
    const pieces = piecesFor(compiled, args[2] as string);
    const groups = pieces.some((piece) => typeof piece === 'number' && piece > 0);
    let made = '';
    let last = 0;
    const each = (found: Found): void => {
      const before = made.length;
      made += text.slice(last, found[0]);
      for (const piece of pieces) {
        made += typeof piece === 'string' ? piece : (partOf(text, found, piece) ?? '');
      }
      memory.take(2 * (made.length - before));
      last = found[1] as number;
    };
    const search = { groups, all, work: PIECE_WORK * pieces.length, each };
    const rest = searched(compiled, text, search, memory.regexp);
    if (rest !== null) yield* rest;
    memory.text(text.length - last);
    return made + text.slice(last);
  }),
};

/** The number of the group asked for; 0 is the whole match. @throws InvalidInput */
function groupOf({ groups }: LinearRegexp, asked: Value | undefined): number {
  const group = Number(asked ?? 0);
  if (group >= 0 && group <= groups.length) return group;
  throw new DirspaceError(
    'InvalidInput',
    `The pattern has ${groups.length} groups; there is no group ${group}.`,
  );
}

/** Putting in a piece of a template, in characters that are searched meanwhile. */
const PIECE_WORK = 8;

/** Searches a text; the steps that are left where it takes more than one. Short texts take one. */
function searched(
  compiled: LinearRegexp,
  text: string,
  search: Search,
  budget: RegexpBudget,
): Generator<void> | null {
  const searcher = compiled.takeSearcher();
  const steps = searcher.inSteps(text, search);
  const { done, value } = steps.next();
  if (done !== true) return searchedOn(compiled, searcher, steps, value, budget);
  budget.take(searcher.rest());
  compiled.giveBack(searcher);
  return budget.isTired() ? oneStep() : null;
}

function* oneStep(): Generator<void> {
  yield;
}

function* searchedOn(
  compiled: LinearRegexp,
  searcher: ReturnType<LinearRegexp['takeSearcher']>,
  steps: Generator<number>,
  first: number,
  budget: RegexpBudget,
): Generator<void> {
  budget.take(first);
  yield;
  yield* counted(steps, budget);
  budget.take(searcher.rest());
  compiled.giveBack(searcher);
  if (budget.isTired()) yield;
}

/** Takes the work of each step from the budget of the request. */
function* counted<Result>(
  steps: Generator<number, Result>,
  budget: RegexpBudget,
): Generator<void, Result> {
  for (;;) {
    const { done, value } = steps.next();
    if (done === true) return value;
    budget.take(value);
    yield;
  }
}
