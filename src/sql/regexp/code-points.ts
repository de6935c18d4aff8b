/**
 * Computes with sets of code points, which are kept as sorted ranges. `setOf` and `single` build
 * sets; `union`, `intersect`, `subtract` and `negate` combine them. `digits`, `spaces` and `words`
 * are the classes \d, \s and \w. `posixClass` and `property` find POSIX classes and Unicode
 * properties, and return null for an unknown name. `foldedCase` adds the other cases of letters.
 * The Unicode data comes from the JavaScript runtime.
 */

/** `[from, to, from, to, ...]`, both inclusive, ascending, and with gaps between the ranges. */
export type PointSet = readonly number[];

const LAST = 0x10ffff;

/** All that UTF-8 can write: the halves of pairs of UTF-16 are no characters. */
export const ANY: PointSet = [0, 0xd7ff, 0xe000, LAST];

/** The set of any ranges, which may overlap and be in any order. */
export function setOf(ranges: readonly (readonly [number, number])[]): PointSet {
  const sorted = [...ranges].sort((a, b) => a[0] - b[0]);
  const out: number[] = [];
  for (const [from, to] of sorted) {
    const end = out.at(-1);
    if (end !== undefined && from <= end + 1) out[out.length - 1] = Math.max(end, to);
    else out.push(from, to);
  }
  return out;
}

export const single = (point: number): PointSet => [point, point];

function rangesOf(set: PointSet): [number, number][] {
  const ranges: [number, number][] = [];
  for (let i = 0; i < set.length; i += 2) ranges.push([set[i] as number, set[i + 1] as number]);
  return ranges;
}

/** Single ranges are put together first: merging each of them into a large set takes the length of that. */
export function union(...sets: readonly PointSet[]): PointSet {
  const small = setOf(sets.filter(({ length }) => length === 2).flatMap(rangesOf));
  let all = small;
  for (const set of sets) if (set.length !== 2) all = merged(all, set);
  return all;
}

/** The union of two sets, in time linear in their ranges. */
function merged(a: PointSet, b: PointSet): PointSet {
  if (a.length === 0) return b;
  if (b.length === 0) return a;
  const out: number[] = [];
  let end = -2;
  for (let i = 0, j = 0; i < a.length || j < b.length; ) {
    const fromA = j >= b.length || (i < a.length && (a[i] as number) <= (b[j] as number));
    const from = (fromA ? a[i] : b[j]) as number;
    const to = (fromA ? a[i + 1] : b[j + 1]) as number;
    if (fromA) i += 2;
    else j += 2;
    if (from > end + 1) {
      out.push(from, to);
      end = to;
    } else if (to > end) {
      end = to;
      out[out.length - 1] = to;
    }
  }
  return out;
}

export function intersect(a: PointSet, b: PointSet): PointSet {
  const out: number[] = [];
  for (let i = 0, j = 0; i < a.length && j < b.length; ) {
    const from = Math.max(a[i] as number, b[j] as number);
    const to = Math.min(a[i + 1] as number, b[j + 1] as number);
    if (from <= to) out.push(from, to);
    if ((a[i + 1] as number) < (b[j + 1] as number)) i += 2;
    else j += 2;
  }
  return out;
}

/** The sets that others were negated to: `\\W` may stand in one pattern several hundred times. */
const negations = new WeakMap<PointSet, PointSet>();

export function negate(set: PointSet): PointSet {
  const known = negations.get(set);
  if (known !== undefined) return known;
  const out: number[] = [];
  let next = 0;
  for (let i = 0; i < set.length; i += 2) {
    const from = set[i] as number;
    if (from > next) out.push(next, from - 1);
    next = (set[i + 1] as number) + 1;
  }
  if (next <= LAST) out.push(next, LAST);
  const negated = intersect(out, ANY);
  negations.set(set, negated);
  return negated;
}

export const subtract = (a: PointSet, b: PointSet): PointSet => intersect(a, negate(b));

/** Where characters are assigned one by one; planes beyond are all of one kind. */
const DENSE: readonly (readonly [number, number])[] = [
  [0, 0xd7ff],
  [0xe000, 0x3ffff],
  [0xe0000, 0xe0fff],
];
const UNIFORM: readonly (readonly [number, number])[] = [
  [0x40000, 0xdffff],
  [0xe1000, 0xeffff],
  [0xf0000, 0xffffd],
  [0xffffe, 0xfffff],
  [0x100000, 0x10fffd],
  [0x10fffe, 0x10ffff],
];

let dense: readonly { readonly from: number; readonly text: string }[] | undefined;

function denseText(): readonly { readonly from: number; readonly text: string }[] {
  dense ??= DENSE.map(([from, to]) => {
    const pieces: string[] = [];
    for (let at = from; at <= to; at += 4096) {
      const points = Array.from({ length: Math.min(4096, to - at + 1) }, (_, k) => at + k);
      pieces.push(String.fromCodePoint(...points));
    }
    return { from, text: pieces.join('') };
  });
  return dense;
}

const known = new Map<string, PointSet | null>();
const MOST_KNOWN = 1024;

/** The characters of a class of the runtime's own expressions, such as `\p{Lu}`; null if there is none. */
function runtimeClass(source: string): PointSet | null {
  const found = known.get(source);
  if (found !== undefined) return found;
  let set: PointSet | null = null;
  try {
    const runs = new RegExp(`${source}+`, 'gu');
    const one = new RegExp(`^${source}$`, 'u');
    const ranges: [number, number][] = [];
    for (const { from, text } of denseText()) {
      // Code points and units differ beyond 0xffff, where each has two.
      for (const { index, 0: run } of text.matchAll(runs)) {
        const start = text.codePointAt(index) as number;
        const last = run.codePointAt(run.length - 1) as number;
        const isPair = last >= 0xdc00 && last <= 0xdfff && run.length > 1;
        const end = isPair ? (run.codePointAt(run.length - 2) as number) : last;
        // A run may cross the gap between two parts of what is one text.
        if (start >= from) ranges.push([start, end]);
      }
    }
    for (const [from, to] of UNIFORM)
      if (one.test(String.fromCodePoint(from))) ranges.push([from, to]);
    set = setOf(ranges);
  } catch {
    set = null;
  }
  if (known.size >= MOST_KNOWN) known.clear();
  known.set(source, set);
  return set;
}

const required = (source: string): PointSet => runtimeClass(source) as PointSet;

export const digits = (): PointSet => required('\\p{Nd}');
export const spaces = (): PointSet => required('\\p{White_Space}');
export const words = (): PointSet =>
  required('[\\p{Alphabetic}\\p{M}\\p{Nd}\\p{Pc}\\p{Join_Control}]');

/**
 * A property as patterns name it: a category, a script or a binary property, with or without the name
 * of its kind, in any case, with spaces, `_` or `-` between words. Null for one that is not known.
 */
export function property(name: string): PointSet | null {
  const [kind, value] = /[=:]/.test(name) ? name.split(/[=:]/, 2) : [undefined, name];
  const plain = (value ?? '').replace(/[\s_-]/g, '').toLowerCase();
  if (kind === undefined && plain === 'any') return ANY;
  if (kind === undefined && plain === 'assigned') return negate(required('\\p{Cn}'));
  const words = (value ?? '').trim().split(/[\s_-]+|(?<=[a-z])(?=[A-Z])/);
  const spellings = new Set([
    value ?? '',
    words.map((word) => word.charAt(0).toUpperCase() + word.slice(1).toLowerCase()).join('_'),
    plain.toUpperCase(),
    plain,
  ]);
  const kinds: Readonly<Record<string, string>> = {
    sc: 'Script',
    script: 'Script',
    scx: 'Script_Extensions',
    scriptextensions: 'Script_Extensions',
    gc: 'General_Category',
    generalcategory: 'General_Category',
  };
  const asked = kind?.replace(/[\s_-]/g, '').toLowerCase();
  for (const spelling of spellings) {
    if (!/^\w+$/.test(spelling)) continue;
    const forms =
      asked === undefined
        ? [spelling, `Script=${spelling}`]
        : Object.hasOwn(kinds, asked)
          ? [`${kinds[asked]}=${spelling}`]
          : [];
    for (const form of forms) {
      const set = runtimeClass(`\\p{${form}}`);
      if (set !== null) return set;
    }
  }
  return null;
}

const POSIX: Readonly<Record<string, PointSet>> = {
  alnum: [48, 57, 65, 90, 97, 122],
  alpha: [65, 90, 97, 122],
  ascii: [0, 127],
  blank: [9, 9, 32, 32],
  cntrl: [0, 31, 127, 127],
  digit: [48, 57],
  graph: [33, 126],
  lower: [97, 122],
  print: [32, 126],
  punct: [33, 47, 58, 64, 91, 96, 123, 126],
  space: [9, 13, 32, 32],
  upper: [65, 90],
  word: [48, 57, 65, 90, 95, 95, 97, 122],
  xdigit: [48, 57, 65, 70, 97, 102],
};

/** `alpha` and its like, of ASCII; null for one that is not known. */
export const posixClass = (name: string): PointSet | null =>
  Object.hasOwn(POSIX, name) ? (POSIX[name] as PointSet) : null;

/** Characters that differ in case only, by what each of them becomes in simple case folding. */
let alike: ReadonlyMap<number, readonly number[]> | undefined;
let cased: PointSet = [];

function alikeInCase(): ReadonlyMap<number, readonly number[]> {
  if (alike !== undefined) return alike;
  const groups = new Map<number, number[]>();
  cased = required('[\\p{CWCF}\\p{CWCM}]');
  const one = (text: string): number | undefined => {
    const point = text.codePointAt(0) as number;
    return text.length === (point > 0xffff ? 2 : 1) ? point : undefined;
  };
  for (const [from, to] of rangesOf(cased)) {
    for (let point = from; point <= to; point++) {
      const upper = one(String.fromCodePoint(point).toUpperCase()) ?? point;
      const folded = one(String.fromCodePoint(upper).toLowerCase()) ?? point;
      // The dotless i is a letter of its own.
      const key = point === 0x131 ? point : folded;
      const group = groups.get(key);
      if (group === undefined) groups.set(key, [point]);
      else group.push(point);
    }
  }
  const map = new Map<number, readonly number[]>();
  for (const group of groups.values()) for (const point of group) map.set(point, group);
  alike = map;
  return map;
}

/** The set with all that differs from its members in case only. */
export function foldedCase(set: PointSet): PointSet {
  const groups = alikeInCase();
  const more: [number, number][] = [];
  for (const [from, to] of rangesOf(intersect(set, cased))) {
    for (let point = from; point <= to; point++) {
      for (const other of groups.get(point) ?? []) more.push([other, other]);
    }
  }
  return setOf([...rangesOf(set), ...more]);
}
