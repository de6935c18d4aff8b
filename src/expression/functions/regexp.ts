/**
 * Regular expressions. The engine is the JavaScript runtime's, which backtracks; so patterns whose
 * time could explode are refused before they run, and texts too long for the pattern as well:
 *
 *   - no look-around and no back-references (the dialect of LanceDB has none either);
 *   - nothing is repeated that could match the same text in several ways: no repeat of a repeat,
 *     no repeat of a choice whose branches may start alike;
 *   - at most 8 unbounded repeats and 1000 characters a pattern; the more unbounded repeats, the
 *     shorter the text may be, since the time is a power of its length.
 */
import { DirspaceError } from '../../errors.ts';
import type { RowFunction } from '../bound.ts';
import type { Value } from '../column.ts';
import { strict } from './rows.ts';

const MAX_PATTERN = 1000;
const MAX_UNBOUNDED = 8;
const MAX_REPEAT = 1000;
/** Characters a text may have, by the number of unbounded repeats in the pattern. */
const MAX_TEXT = [1 << 24, 1 << 20, 1 << 14, 1 << 11];
const MAX_TEXT_MORE = 1 << 9;

export interface CompiledPattern {
  readonly expression: RegExp;
  readonly maxText: number;
}

const FLAGS: Readonly<Record<string, string>> = { i: 'i', s: 's', m: 'm', g: '', u: '' };
const MAX_CACHED = 256;
const cache = new Map<string, CompiledPattern>();

function refusePattern(pattern: string, why: string): never {
  throw new DirspaceError(
    'InvalidInput',
    `The regular expression '${pattern.slice(0, 60)}' is refused: ${why}`,
  );
}

/** Throws InvalidInput for what is no pattern, and for a pattern that could run away. */
export function compileRegexp(pattern: string, flags: string): CompiledPattern {
  const key = `${flags}/${pattern}`;
  const cached = cache.get(key);
  if (cached !== undefined) return cached;
  if (pattern.length > MAX_PATTERN)
    refusePattern(pattern, `it is longer than ${MAX_PATTERN} characters`);
  let own = 'u';
  let body = pattern;
  const inline = /^\(\?([ismu]+)\)/.exec(body);
  if (inline !== null) body = body.slice(inline[0].length);
  for (const flag of new Set(flags + (inline?.[1] ?? ''))) {
    const known = Object.hasOwn(FLAGS, flag) ? FLAGS[flag] : undefined;
    if (known === undefined)
      refusePattern(pattern, `the flag ${flag} is not known; i, m, s and g are`);
    own += known;
  }
  body = body
    .replace(/\(\?P</g, '(?<')
    .replace(/\\A/g, '^')
    .replace(/\\z/g, '$');
  const unbounded = checkRepeats(body, pattern);
  let expression: RegExp;
  try {
    expression = new RegExp(body, own);
  } catch (error) {
    const why = error instanceof Error ? error.message.replace(/^.*: /, '') : 'it cannot be read';
    refusePattern(pattern, why);
  }
  const compiled = { expression, maxText: MAX_TEXT[unbounded] ?? MAX_TEXT_MORE };
  if (cache.size >= MAX_CACHED) cache.clear();
  cache.set(key, compiled);
  return compiled;
}

interface Group {
  /** Can match in more than one length. */
  varies: boolean;
  /** The first character of each branch; empty where that is not one plain character. */
  readonly firsts: string[];
  /** True before the first part of a branch. */
  fresh: boolean;
}

const newGroup = (): Group => ({ varies: false, firsts: [], fresh: true });

/** True where some text could be matched by two branches. */
function isAmbiguous(group: Group): boolean {
  const firsts = group.fresh ? [...group.firsts, ''] : group.firsts;
  const folded = firsts.map((first) => first.toLowerCase());
  return firsts.length > 1 && (folded.includes('') || new Set(folded).size < folded.length);
}

const PART =
  /\\(?:[pP]\{[^}]*\}|x\{[^}]*\}|.)|\[\^?\]?(?:\\.|[^\]\\])*\]|\(\?(?:[=!]|<[=!]|:|<\w+>)?|[()|]|[*+?]\??|\{\d+(?:,\d*)?\}\??|./gsu;

/** Most times a quantifier lets its operand match, and whether the number is fixed. */
function bounds(quantifier: string): { most: number; fixed: boolean } {
  const found = /^\{(\d+)(,?)(\d*)\}/.exec(quantifier);
  if (found === null) {
    return { most: quantifier.startsWith('?') ? 1 : Number.POSITIVE_INFINITY, fixed: false };
  }
  if (found[2] === '') return { most: Number(found[1]), fixed: true };
  const most = found[3] === '' ? Number.POSITIVE_INFINITY : Number(found[3]);
  return { most, fixed: most === Number(found[1]) };
}

/** Counts unbounded repeats; refuses one whose operand could match the same text in two ways. */
function checkRepeats(body: string, pattern: string): number {
  const open: Group[] = [newGroup()];
  let closed: Group | null = null;
  let unbounded = 0;
  for (const [part] of body.matchAll(PART)) {
    const here = open.at(-1) as Group;
    if (/^\\([1-9]|k)/.test(part)) refusePattern(pattern, 'back-references are not supported');
    if (/^\(\?<?[=!]/.test(part)) refusePattern(pattern, 'look-around is not supported');
    if (/^([*+?]|\{\d)/.test(part)) {
      const { most, fixed } = bounds(part);
      if (Number.isFinite(most) && most > MAX_REPEAT) {
        refusePattern(pattern, `it repeats more than ${MAX_REPEAT} times`);
      }
      if (most > 1 && closed !== null && (closed.varies || isAmbiguous(closed))) {
        refusePattern(
          pattern,
          'it repeats what may match in several ways, which can take endless time',
        );
      }
      if (!fixed) here.varies = true;
      if (most > 10 && ++unbounded > MAX_UNBOUNDED) {
        refusePattern(pattern, `it has more than ${MAX_UNBOUNDED} unbounded repeats`);
      }
      closed = null;
      continue;
    }
    closed = null;
    if (part === '|') {
      if (here.fresh) here.firsts.push('');
      here.fresh = true;
    } else if (part === ')') {
      closed = open.length > 1 ? (open.pop() as Group) : null;
      const outer = open.at(-1) as Group;
      outer.varies ||= closed !== null && (closed.varies || closed.firsts.length > 1);
    } else {
      if (here.fresh) here.firsts.push(/^[^\\.[(^$]$/u.test(part) ? part : '');
      here.fresh = false;
      if (part.startsWith('(')) open.push(newGroup());
    }
  }
  return unbounded;
}

function compiledFor(args: readonly Value[], flagsAt: number): CompiledPattern {
  return compileRegexp(args[1] as string, (args[flagsAt] ?? '') as string);
}

function checked(text: Value, compiled: CompiledPattern): string {
  const value = text as string;
  if (value.length > compiled.maxText) {
    throw new DirspaceError(
      'InvalidInput',
      `A text of ${value.length} characters is too long for this regular expression (at most ${compiled.maxText}); anchor it or use fewer of * and +`,
    );
  }
  return value;
}

/** `$1`, `${1}` and `\\1` are groups, `$0` is the whole match, `$$` a dollar. */
function fillTemplate(template: string, found: readonly unknown[]): string {
  // After the groups come the offset and the text.
  const groups = found.findIndex((part) => typeof part === 'number');
  return template.replace(
    /\$\$|[$\\](\d)|\$\{(\d+)\}/g,
    (whole, bare?: string, braced?: string) => {
      if (whole === '$$') return '$';
      const index = Number(bare ?? braced);
      return index < groups ? String(found[index] ?? '') : '';
    },
  );
}

export const REGEXP_FUNCTIONS: Readonly<Record<string, RowFunction>> = {
  regexp_like: strict(
    'regexp_like',
    (args) => {
      const compiled = compiledFor(args, 2);
      return compiled.expression.test(checked(args[0], compiled));
    },
    { fallible: true },
  ),
  /** The groups of the first match, or the whole match where there are none; else null. */
  regexp_match: strict(
    'regexp_match',
    (args) => {
      const compiled = compiledFor(args, 2);
      const found = compiled.expression.exec(checked(args[0], compiled));
      if (found === null) return null;
      return found.length > 1 ? found.slice(1).map((group) => group ?? null) : [found[0]];
    },
    { fallible: true },
  ),
  regexp_replace: strict(
    'regexp_replace',
    (args) => {
      const flags = (args[3] ?? '') as string;
      const compiled = compiledFor(args, 3);
      const global = flags.includes('g');
      const expression = global
        ? new RegExp(compiled.expression, `${compiled.expression.flags}g`)
        : compiled.expression;
      const template = args[2] as string;
      return checked(args[0], compiled).replace(expression, (...found: unknown[]) =>
        fillTemplate(template, found),
      );
    },
    { fallible: true },
  ),
};
