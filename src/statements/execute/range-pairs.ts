/**
 * `SortedRows` finds pairs for a join without keys whose condition compares numbers, dates or times
 * of both sides by order, such as `a.t BETWEEN b.start AND b.end`. `SortedRows.of` sorts the rows
 * of the side that is kept in memory; it returns undefined if the condition bounds no range.
 * `finder` pairs each row of a batch of the other side with only one range of them; it returns
 * undefined if the bounds cannot be computed for all rows of the batch. No pair outside the range
 * fulfils the condition; join.ts checks the pairs inside.
 */
import {
  Field,
  Float64,
  makeData,
  type RecordBatch,
  recordBatch,
  Schema,
} from '../../arrow/index.ts';
import { firstAbove, firstAtLeast } from '../../binary-search.ts';
import { DirspaceError } from '../../errors.ts';
import {
  type Column,
  compileTree,
  type Expression,
  familyOf,
  reader,
  validityOf,
} from '../../sql/index.ts';
import {
  castUnlessSame,
  columnsIn,
  columnTree,
  commonKeyType,
  conjuncts,
  isWithin,
} from '../steps/index.ts';
import type { PairFinder } from './pair-finders.ts';
import { BATCH_ROWS, columnReader, oneStep, run, type Work } from './relation.ts';
import { placeSorter } from './sort.ts';

/** A value of each side, the kept one of which has to be at most, or at least, the other. */
interface Term {
  readonly kept: Expression;
  readonly streamed: Expression;
}

/** What bounds the rows of the kept side: one above, one below, or both. */
interface Terms {
  readonly most?: Term;
  readonly least?: Term;
}

type Read = (batch: RecordBatch) => Promise<Column[]>;

export class SortedRows {
  /** The rows in order, those that may be in a pair. */
  readonly #rows: Uint32Array;
  /** Of each row in order: its value that is at most one of the other side. */
  readonly #most: Float64Array | undefined;
  /** The greatest value up to each row in order that is at least one of the other side. */
  readonly #least: Float64Array | undefined;
  readonly #read: Read;

  private constructor(
    rows: Uint32Array,
    most: Float64Array | undefined,
    least: Float64Array | undefined,
    read: Read,
  ) {
    this.#rows = rows;
    this.#most = most;
    this.#least = least;
    this.#read = read;
  }

  /**
   * @param rows of the kept batch that count
   * @returns undefined where the condition bounds no range
   */
  static async of(
    condition: Expression | undefined,
    streamed: Schema,
    kept: { readonly batch: RecordBatch; readonly rows: number },
    work: Work,
  ): Promise<SortedRows | undefined> {
    const { most, least } = termsOf(condition, streamed, kept.batch.schema);
    const terms = [most, least].filter((term) => term !== undefined);
    if (terms.length === 0) return undefined;
    const trees = terms.map((term) => term.kept);
    const columns = await tried(columnReader(trees, kept.batch.schema, work), kept.batch);
    if (columns === undefined) return undefined;
    const values = columns.map(doubles);
    const own = most === undefined ? undefined : (values[0] as Float64Array);
    const other = least === undefined ? undefined : (values.at(-1) as Float64Array);
    const by = (own ?? other) as Float64Array;
    // A null compares with nothing.
    const valid = columns.map(validityOf);
    const all = Uint32Array.from({ length: kept.rows }, (_, row) => row);
    const known = all.filter((row) => valid.every((own) => own === null || own[row] === 1));
    await run(work, oneStep());
    const rows = await inOrderOf(by, known, work);
    const placed = (from: Float64Array): Float64Array =>
      Float64Array.from(rows, (row) => from[row] as number);
    const greatest = other === undefined ? undefined : placed(other);
    for (let at = 1; greatest !== undefined && at < greatest.length; at++) {
      greatest[at] = Math.max(greatest[at] as number, greatest[at - 1] as number);
    }
    const read = columnReader(
      terms.map((term) => term.streamed),
      streamed,
      work,
    );
    return new SortedRows(rows, own && placed(own), greatest, read);
  }

  get bytes(): number {
    const ofValues = (this.#most?.byteLength ?? 0) + (this.#least?.byteLength ?? 0);
    return this.#rows.byteLength + ofValues;
  }

  /**
   * @param rows of the batch that may be in a pair
   * @returns undefined where the values of the batch cannot be computed for all rows
   */
  async finder(batch: RecordBatch, rows: Uint32Array): Promise<PairFinder | undefined> {
    const columns = await tried(this.#read, batch);
    if (columns === undefined) return undefined;
    const values = columns.map(doubles);
    const valid = columns.map(validityOf);
    const [most, least] = [this.#most, this.#least];
    const from = new Uint32Array(rows.length);
    const to = new Uint32Array(rows.length);
    for (let at = 0; at < rows.length; at++) {
      const row = rows[at] as number;
      if (valid.some((known) => known !== null && known[row] === 0)) continue;
      const last = values.length - 1;
      to[at] =
        most === undefined ? this.#rows.length : firstAbove(most, values[0]?.[row] as number);
      if (least !== undefined) from[at] = firstAtLeast(least, values[last]?.[row] as number);
    }
    return new RangePairs(this.#rows, rows, from, to);
  }
}

/** Computes columns; undefined where some row cannot be computed, which may be in no pair. */
async function tried(read: Read, batch: RecordBatch): Promise<Column[] | undefined> {
  try {
    return await read(batch);
  } catch (error) {
    if (error instanceof DirspaceError && error.code === 'InvalidInput') return undefined;
    throw error;
  }
}

/** Rows in the order of their values, sorted in steps. */
async function inOrderOf(
  values: Float64Array,
  rows: Uint32Array,
  work: Work,
): Promise<Uint32Array> {
  const type = new Float64();
  const schema = new Schema([new Field('value', type, false)]);
  const data = Float64Array.from(rows, (row) => values[row] as number);
  const batch = recordBatch(schema, [makeData({ type, data })], rows.length);
  const key = { value: columnTree('value'), ascending: true, nullsFirst: false };
  const sort = placeSorter({ schema }, [key], work);
  const places = await sort([batch], Number.MAX_SAFE_INTEGER);
  return Uint32Array.from(places?.row ?? [], (place) => rows[place] as number);
}

/** Values in their order, as doubles: different ones may be equal, and NaN is above all others. */
function doubles(column: Column): Float64Array {
  const read = reader(column);
  return Float64Array.from({ length: column.length }, (_, row) => {
    const value = Number(read(row) ?? 0);
    return Number.isNaN(value) ? Number.POSITIVE_INFINITY : value;
  });
}

/** Pairs of rows with all of a range. */
class RangePairs implements PairFinder {
  readonly #kept: Uint32Array;
  readonly #rows: Uint32Array;
  readonly #from: Uint32Array;
  readonly #to: Uint32Array;
  #at = 0;
  #next: number;

  constructor(kept: Uint32Array, rows: Uint32Array, from: Uint32Array, to: Uint32Array) {
    this.#kept = kept;
    this.#rows = rows;
    this.#from = from;
    this.#to = to;
    this.#next = from[0] ?? 0;
  }

  next(): { streamed: Uint32Array; kept: Uint32Array } {
    const streamed = new Uint32Array(BATCH_ROWS);
    const kept = new Uint32Array(BATCH_ROWS);
    let count = 0;
    while (this.#at < this.#rows.length && count < BATCH_ROWS) {
      const end = Math.min(this.#to[this.#at] as number, this.#next + BATCH_ROWS - count);
      for (let place = this.#next; place < end; place++) {
        streamed[count] = this.#rows[this.#at] as number;
        kept[count++] = this.#kept[place] as number;
      }
      this.#next = Math.max(this.#next, end);
      if (this.#next >= (this.#to[this.#at] as number)) this.#next = this.#from[++this.#at] ?? 0;
    }
    return { streamed: streamed.subarray(0, count), kept: kept.subarray(0, count) };
  }
}

/** The first comparisons by order of each direction between the two sides. */
function termsOf(condition: Expression | undefined, streamed: Schema, kept: Schema): Terms {
  const [ofStreamed, ofKept] = [streamed, kept].map(
    ({ fields }) => new Set(fields.map(({ name }) => name)),
  ) as [Set<string>, Set<string>];
  const isOf = (tree: Expression, names: ReadonlySet<string>): boolean =>
    columnsIn([tree]).size > 0 && isWithin(tree, names);
  let most: Term | undefined;
  let least: Term | undefined;
  for (const [smaller, greater] of conjuncts(condition).flatMap(inOrder)) {
    if (isOf(smaller, ofKept) && isOf(greater, ofStreamed)) {
      most ??= comparable({ kept: smaller, streamed: greater }, streamed, kept);
    } else if (isOf(smaller, ofStreamed) && isOf(greater, ofKept)) {
      least ??= comparable({ kept: greater, streamed: smaller }, streamed, kept);
    }
  }
  return { ...(most && { most }), ...(least && { least }) };
}

/** Of a term that compares by order: the smaller side and the greater one. */
function inOrder(term: Expression): (readonly [smaller: Expression, greater: Expression])[] {
  if (term.kind === 'between' && !term.negated) {
    return [
      [term.low, term.arg],
      [term.arg, term.high],
    ];
  }
  if (term.kind !== 'binary') return [];
  if (term.op === '<' || term.op === '<=') return [[term.left, term.right]];
  return term.op === '>' || term.op === '>=' ? [[term.right, term.left]] : [];
}

const IN_ORDER: ReadonlySet<string> = new Set('int float decimal date time timestamp'.split(' '));

/** Both sides in one type, where this is one of numbers, dates or times. */
function comparable(term: Term, streamed: Schema, kept: Schema): Term | undefined {
  const cast = commonKeyType(
    compileTree(term.kept, kept).type,
    compileTree(term.streamed, streamed).type,
  );
  if (cast === 'none') return undefined;
  const both = {
    kept: castUnlessSame(term.kept, cast),
    streamed: castUnlessSame(term.streamed, cast),
  };
  return IN_ORDER.has(familyOf(compileTree(both.kept, kept).type)) ? both : undefined;
}
