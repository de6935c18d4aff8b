/**
 * Evaluates IN and EXISTS with a subquery, which a plan holds as a mark step. `markedRows` returns
 * the rows of the left side with one more column. It is true where the right side has a row with
 * equal keys, null where a null on either side of IN leaves it open, as in SQL, and otherwise
 * false. Memory holds the distinct keys of the right side; the rows of the left side stream past
 * them.
 */
import {
  type Data,
  type DataType,
  plainType,
  type RecordBatch,
  recordBatch,
} from '../../arrow/index.ts';
import type { HeldMemory } from '../../request-memory.ts';
import {
  BOOL,
  type Column,
  compileTree,
  gatherColumn,
  TRUE,
  toVector,
  truthColumn,
  UNKNOWN,
  validityOf,
} from '../../sql/index.ts';
import { KeyNumbers } from '../keys/index.ts';
import { comparableKeys, type MarkStep } from '../steps/index.ts';
import { dataNamed, keyReaders, oneStep, type Relation, run, type Work } from './relation.ts';

export function markedRows(left: Relation, right: Relation, step: MarkStep, work: Work): Relation {
  const keys = comparableKeys(step);
  const [ofLeft, ofRight] = keyReaders(keys, left, right, work);
  const shown = step.schema.fields.slice(0, -1).map(({ name }) => name);
  return {
    schema: step.schema,
    async *batches(): AsyncGenerator<RecordBatch> {
      const held = work.memory.hold('The keys of IN or EXISTS that are kept in memory');
      try {
        const types = keys.map((key) => plainType(compileTree(key.right, right.schema).type));
        const found = new KeysByNulls(types, keys.length - step.compared, held, work);
        for await (const batch of right.batches()) {
          if (batch.numRows > 0) await found.add(await ofRight(batch), batch.numRows);
        }
        for await (const batch of left.batches()) {
          if (batch.numRows === 0) continue;
          const marks = await found.marks(await ofLeft(batch), batch.numRows);
          const [mark] = toVector(truthColumn(marks), BOOL, work.memory.batch()).data;
          const columns = shown.map((name) => dataNamed(batch, name));
          yield recordBatch(step.schema, [...columns, mark as Data], batch.numRows);
        }
      } finally {
        held.end();
      }
    },
  };
}

/** Keys of rows that have nulls in the same columns: the values of the others. */
interface Kept {
  /** A bit for each compared key, set if it is null. The planner allows eight compared keys. */
  readonly nulls: number;
  /** Which keys are compared: those that are not null. */
  readonly places: readonly number[];
  /** The distinct values of these keys; undefined where none is left, so that all rows are equal. */
  readonly numbers: KeyNumbers | undefined;
}

/** Row numbers; the first `count` of the array are set. */
interface Places {
  readonly rows: Uint32Array;
  count: number;
}

class KeysByNulls {
  readonly #types: readonly DataType[];
  /** Keys before this one come from correlated conditions: a null there is equal to nothing. */
  readonly #firstCompared: number;
  readonly #held: HeldMemory;
  readonly #work: Work;
  readonly #kept = new Map<number, Kept>();
  /** Keys of rows with some nulls, without the columns in which rows of the left side are null. */
  readonly #narrowed = new Map<string, Kept>();

  constructor(types: readonly DataType[], firstCompared: number, held: HeldMemory, work: Work) {
    this.#types = types;
    this.#firstCompared = firstCompared;
    this.#held = held;
    this.#work = work;
  }

  /** Takes rows of the right side. */
  async add(columns: readonly Column[], rows: number): Promise<void> {
    for (const [nulls, own] of this.#byNulls(columns, rows)) {
      let kept = this.#kept.get(nulls);
      if (kept === undefined) {
        kept = this.#without(nulls, nulls);
        this.#kept.set(nulls, kept);
      }
      await this.#fill(kept, columns, own, rows);
    }
  }

  /** Truth values of rows of the left side. */
  async marks(columns: readonly Column[], rows: number): Promise<Uint8Array> {
    const marks = new Uint8Array(rows);
    for (const [nulls, own] of this.#byNulls(columns, rows)) {
      let open = own;
      for (const kept of inOrder(this.#kept)) {
        const mark = kept.nulls === 0 && nulls === 0 ? TRUE : UNKNOWN;
        const narrowed = await this.#narrow(kept, nulls);
        const numbers = narrowed.numbers?.find(placed(narrowed, columns, open, rows));
        const rest = new Uint32Array(open.length);
        let count = 0;
        for (let at = 0; at < open.length; at++) {
          const row = open[at] as number;
          if (numbers === undefined || numbers[at] !== 0) marks[row] = mark;
          else rest[count++] = row;
        }
        open = rest.subarray(0, count);
        if (count === 0) break;
      }
      await run(this.#work, oneStep());
    }
    return marks;
  }

  /**
   * Rows by which of the compared keys are null, as bits. Rows with nulls in other keys are left
   * out: they are equal to none.
   */
  #byNulls(columns: readonly Column[], rows: number): Map<number, Uint32Array> {
    const validities = columns.map(validityOf);
    if (validities.every((valid) => valid === null)) {
      return new Map([[0, Uint32Array.from({ length: rows }, (_, row) => row)]]);
    }
    const codes = new Float64Array(rows);
    for (const [at, valid] of validities.entries()) {
      if (valid === null) continue;
      const bit = at < this.#firstCompared ? Number.NaN : 1 << (at - this.#firstCompared);
      for (let row = 0; row < rows; row++)
        if (valid[row] === 0) codes[row] = (codes[row] as number) + bit;
    }
    const lists = new Map<number, Places>();
    let last: Places = { rows: new Uint32Array(0), count: 0 };
    let nulls = -1;
    for (let row = 0; row < rows; row++) {
      const code = codes[row] as number;
      if (code !== nulls) {
        if (Number.isNaN(code)) continue;
        nulls = code;
        last = lists.get(code) ?? { rows: new Uint32Array(rows), count: 0 };
        lists.set(code, last);
      }
      last.rows[last.count++] = row;
    }
    return new Map([...lists].map(([code, list]) => [code, list.rows.subarray(0, list.count)]));
  }

  /** An empty table for rows of the right side with these nulls, of the keys that `left` does not name. */
  #without(nulls: number, left: number): Kept {
    const places = [...this.#types.keys()].filter((at) => !this.#isSet(left, at));
    const types = places.map((at) => this.#types[at] as DataType);
    return { nulls, places, numbers: types.length === 0 ? undefined : new KeyNumbers(types) };
  }

  #isSet(nulls: number, at: number): boolean {
    return at >= this.#firstCompared && ((nulls >> (at - this.#firstCompared)) & 1) === 1;
  }

  async #fill(
    kept: Kept,
    columns: readonly Column[],
    own: Uint32Array,
    rows: number,
  ): Promise<void> {
    if (kept.numbers !== undefined) {
      await run(this.#work, kept.numbers.reserve(own.length));
      const before = kept.numbers.bytes;
      kept.numbers.add(placed(kept, columns, own, rows));
      this.#held.set(this.#held.bytes + kept.numbers.bytes - before);
    }
    await run(this.#work, oneStep());
  }

  /**
   * The kept keys without those in which rows of the left side are null, as only the others can
   * differ. Made once for each combination of nulls.
   */
  async #narrow(kept: Kept, nulls: number): Promise<Kept> {
    const all = kept.nulls | nulls;
    if (all === kept.nulls) return kept;
    const name = `${kept.nulls} ${all}`;
    const known = this.#narrowed.get(name);
    if (known !== undefined) return known;
    const narrowed = this.#without(kept.nulls, all);
    this.#narrowed.set(name, narrowed);
    if (kept.numbers === undefined || narrowed.numbers === undefined) return narrowed;
    const count = kept.numbers.size - 1;
    for (let from = 0; from < count; from += PART) {
      const part = Int32Array.from(
        { length: Math.min(PART, count - from) },
        (_, at) => from + at + 1,
      );
      const values = kept.numbers.columns(part);
      const columns: Column[] = [];
      for (const [at, place] of kept.places.entries()) columns[place] = values[at] as Column;
      await this.#fill(narrowed, columns, Uint32Array.from(part.keys()), part.length);
    }
    return narrowed;
  }
}

/** Keys without nulls first: only they make a row surely equal, so that the others are not asked. */
const inOrder = (kept: ReadonlyMap<number, Kept>): Kept[] =>
  [...kept.values()].sort((one, other) => one.nulls - other.nulls);

/** Kept keys that are copied in one step. */
const PART = 1 << 14;

/** The compared columns, for some rows. */
const placed = (
  { places }: Kept,
  columns: readonly Column[],
  own: Uint32Array,
  rows: number,
): Column[] =>
  places.map((at) => {
    const column = columns[at] as Column;
    return own.length === rows ? column : gatherColumn(column, own);
  });
