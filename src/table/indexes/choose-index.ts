/**
 * `chooseIndexes` finds the rows that match a condition by the indexes of a version, if they are a
 * small share of all rows and the table is not small; else `indexed` is undefined. The result holds
 * candidate rows, deleted ones among them, of the fragments that the indexes cover. The caller
 * checks the condition on these, unless they are `exact`, and scans the other fragments. For AND it
 * takes the index that names the fewest rows, and others that name about as few; for OR an index
 * for each part, or none. `rowsWithValues` looks for given values of a column in the same way, and
 * may return undefined. `indexesOf` lists the indexes of a column. `indexFor` returns the one that
 * answers a test of it, or in words why none does.
 */
import type { IndexEntry } from '../../format/index.ts';
import {
  BITMAP,
  type FragmentRows,
  intersection,
  NO_FRAGMENT_ROWS,
  rowsAtPositions,
  union,
} from '../../indexes/index.ts';
import type { CompiledExpression, Condition, Value } from '../../sql/index.ts';
import type { Engine, Snapshot } from '../versions/index.ts';
import { type Coverage, coverageOf, indexedField, readingIndexes } from './coverage.ts';
import { entryFile, placedRuns } from './segment.ts';
import { indexReader, type LocatedRows } from './segment-types.ts';

export interface IndexedRows {
  /** Ids of the fragments that need no scan. */
  readonly covered: ReadonlySet<number>;
  /** Rows of these that may match, deleted ones among them. */
  readonly rows: FragmentRows;
  /** Whether every live one of them matches. */
  readonly exact: boolean;
  /** Whether other rows of these fragments are not read, even those that match. */
  readonly isChoice?: boolean;
}

export interface IndexChoice {
  readonly indexed: IndexedRows | undefined;
  /** A line of a plan; undefined where the version has no index. */
  readonly note: string | undefined;
}

/** Others are joined by AND where they name at most so many times as many rows. */
const ABOUT_AS_FEW = 4;
/** So many times as many rows are worth finding where no value of them is read. */
const UNREAD = 8;
/** But not of more: their positions are sorted at once. */
const MOST_UNREAD = 1 << 20;

const NO_INDEX: IndexChoice = { indexed: undefined, note: undefined };

/**
 * @param readsRows whether values of the rows that match are read, beside those that the condition
 * asks for; false where rows are counted or marked
 * @throws Corrupt
 */
export function chooseIndexes(
  engine: Engine,
  snapshot: Snapshot,
  predicate: CompiledExpression,
  readsRows: boolean,
): IndexChoice | Promise<IndexChoice> {
  const { indexes } = snapshot.manifest;
  if (indexes === undefined) return NO_INDEX;
  if (predicate.usesRowId || predicate.usesRowOffset)
    return unused('the condition names rows by number');
  if (snapshot.rowCount < engine.limits.indexedRows)
    return unused(`${snapshot.rowCount} rows are scanned as fast`);
  const chooser = new Chooser(engine, snapshot, indexes, readsRows ? 1 : UNREAD);
  const condition = predicate.condition();
  return readingIndexes(engine, snapshot, () => chooser.choose(condition));
}

/**
 * The rows of which a column has one of `values`, by an index of the column; undefined where none
 * tells, or where they are not few.
 * @param path names of the structs that the column is in, and its own
 * @param values of the column's type, none of them null
 * @throws Corrupt
 */
export async function rowsWithValues(
  engine: Engine,
  snapshot: Snapshot,
  path: readonly string[],
  values: readonly Value[],
): Promise<IndexedRows | undefined> {
  const { indexes } = snapshot.manifest;
  if (indexes === undefined || snapshot.rowCount < engine.limits.indexedRows) return undefined;
  const chooser = new Chooser(engine, snapshot, indexes, 1);
  const test = { kind: 'among', values } as const;
  const asked: Condition = { kind: 'test', path, test, exact: true };
  const { indexed } = await readingIndexes(engine, snapshot, () => chooser.choose(asked));
  return indexed;
}

/** The choice of no index, with the reason that explain shows. */
export const unused = (why: string): IndexChoice => ({
  indexed: undefined,
  note: `Index: none used, ${why}`,
});

/** Rows that a part of the condition names. */
interface Named {
  readonly count: number;
  readonly exact: boolean;
  readonly covered: ReadonlySet<number>;
  readonly names: readonly string[];
  /** What is wrong with segments of these indexes that cannot be read. */
  readonly damages: readonly string[];
  rows(): Promise<FragmentRows>;
}

type TestedColumn = Extract<Condition, { kind: 'test' }>;

/** The indexes of a column, by its name and the names of the structs that it is in. */
export const indexesOf = (
  snapshot: Snapshot,
  indexes: readonly IndexEntry[],
  path: readonly string[],
): IndexEntry[] =>
  indexes.filter((index) => {
    const indexed = indexedField(snapshot, index)?.path;
    return indexed?.length === path.length && indexed.every((name, at) => name === path[at]);
  });

/** The index that answers a test of its column; why there is none where there is none. */
export function indexFor(
  snapshot: Snapshot,
  indexes: readonly IndexEntry[],
  { path, test }: TestedColumn,
): IndexEntry | string {
  const own = indexesOf(snapshot, indexes, path);
  if (own.length === 0) return `${path.join('.')} has none`;
  const answering = own.filter(({ type }) => indexReader(type)?.answers(test) === true);
  return (
    answering.find(({ type }) => type === BITMAP) ??
    answering[0] ??
    `that of ${path.join('.')} does not answer the condition`
  );
}

class Chooser {
  readonly #engine: Engine;
  readonly #snapshot: Snapshot;
  readonly #indexes: readonly IndexEntry[];
  readonly #ease: number;

  /** @param ease how many times as many rows are worth finding, if none has to be checked */
  constructor(engine: Engine, snapshot: Snapshot, indexes: readonly IndexEntry[], ease: number) {
    this.#engine = engine;
    this.#snapshot = snapshot;
    this.#indexes = indexes;
    this.#ease = ease;
  }

  async choose(condition: Condition): Promise<IndexChoice> {
    const named = await this.#named(condition);
    if (typeof named === 'string') return unused(named);
    const { names, damages, count, covered, exact } = named;
    const { rowCount } = this.#snapshot;
    const shown = names.join(', ');
    const few = rowCount * this.#engine.limits.indexedShare;
    const eased = exact ? Math.min(few * this.#ease, MOST_UNREAD) : few;
    if (count > Math.max(1, few, eased))
      return unused(`${shown} names ${count} of ${rowCount} rows`);
    const rows = await named.rows();
    const rest = exact ? '' : ', the rest of the condition is checked on these';
    const broken = [...new Set(damages)].map((damage) => `; ${damage}`).join('');
    return {
      indexed: { covered, rows, exact },
      note: `Index: ${shown} names ${count} of ${rowCount} rows${rest}${broken}`,
    };
  }

  /** The rows that are named, or as a text why no index names them. */
  async #named(condition: Condition): Promise<Named | string> {
    switch (condition.kind) {
      case 'test':
        return this.#tested(condition);
      case 'and':
        return this.#all(condition.args);
      case 'or':
        return this.#any(condition.args);
      default:
        return NONE;
    }
  }

  async #tested(condition: TestedColumn): Promise<Named | string> {
    const { test, exact } = condition;
    const index = indexFor(this.#snapshot, this.#indexes, condition);
    if (typeof index === 'string') return index;
    const coverage = await coverageOf(this.#engine, this.#snapshot, index);
    if (coverage.fragments.size === 0) {
      const [damage] = coverage.damages;
      if (damage !== undefined) return damaged(index, damage);
      return `${index.name} covers no row of this version`;
    }
    const reader = indexReader(index.type) as NonNullable<ReturnType<typeof indexReader>>;
    const located: LocatedRows[] = [];
    for (const { segment } of coverage.segments) {
      located.push(await reader.locate(this.#engine, this.#snapshot, segment, test));
    }
    return {
      count: located.reduce((sum, { count }) => sum + count, 0),
      exact,
      covered: coverage.fragments,
      names: [index.name],
      damages: coverage.damages.map((damage) => damaged(index, damage)),
      rows: () => this.#rowsOf(coverage, located),
    };
  }

  async #rowsOf(
    { segments, fragments }: Coverage,
    located: readonly LocatedRows[],
  ): Promise<FragmentRows> {
    let rows = NO_FRAGMENT_ROWS;
    for (const [at, { segment }] of segments.entries()) {
      const found = located[at] as LocatedRows;
      if (found.count === 0) continue;
      const positions = await found.positions();
      const file = entryFile(this.#snapshot, segment);
      rows = union(rows, rowsAtPositions(positions, placedRuns(segment), fragments, file));
    }
    return rows;
  }

  async #all(args: readonly Condition[]): Promise<Named | string> {
    const named: Named[] = [];
    const whys: string[] = [];
    for (const arg of args) {
      const found = await this.#named(arg);
      if (typeof found === 'string') whys.push(found);
      else named.push(found);
    }
    const [least, ...more] = named.sort((one, other) => one.count - other.count);
    if (least === undefined) return whys.find((why) => why !== NONE) ?? NONE;
    const joined = more.filter(
      ({ count, covered }) =>
        count <= least.count * ABOUT_AS_FEW && isWithin(least.covered, covered),
    );
    return {
      count: least.count,
      exact:
        whys.length === 0 && joined.length === more.length && named.every(({ exact }) => exact),
      covered: least.covered,
      names: [least, ...joined].flatMap(({ names }) => names),
      damages: named.flatMap(({ damages }) => damages),
      async rows() {
        let rows = await least.rows();
        for (const other of joined) rows = intersection(rows, await other.rows());
        return rows;
      },
    };
  }

  async #any(args: readonly Condition[]): Promise<Named | string> {
    const named: Named[] = [];
    for (const arg of args) {
      const found = await this.#named(arg);
      if (typeof found === 'string') return found;
      named.push(found);
    }
    return {
      count: named.reduce((sum, { count }) => sum + count, 0),
      exact: named.every(({ exact }) => exact),
      covered: named.map(({ covered }) => covered).reduce(shared),
      names: [...new Set(named.flatMap(({ names }) => names))],
      damages: named.flatMap(({ damages }) => damages),
      async rows() {
        let rows = NO_FRAGMENT_ROWS;
        for (const each of named) rows = union(rows, await each.rows());
        return rows;
      },
    };
  }
}

/** Why a segment is not used, for plans. */
const damaged = ({ name }: IndexEntry, what: string): string => `${name} is damaged: ${what}`;

const NONE = 'none answers the condition';

const isWithin = (one: ReadonlySet<number>, other: ReadonlySet<number>): boolean =>
  one === other || [...one].every((fragment) => other.has(fragment));

const shared = (one: ReadonlySet<number>, other: ReadonlySet<number>): ReadonlySet<number> =>
  one === other ? one : new Set([...one].filter((fragment) => other.has(fragment)));
