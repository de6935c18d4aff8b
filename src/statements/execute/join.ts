/**
 * `joinedRows` joins two relations by their keys. It keeps all rows of one side in memory, the left
 * one if `keepsLeft` is set, and those of the other side stream past them. A row with a null among
 * its keys has no partner. Without keys every row of one side can be a partner of every row of the
 * other. A pair must also fulfil the condition of the step. Batches of pairs have 65,536 rows or
 * about 8 MiB at most; if no key has two kept rows, they have at most the rows of the batch that
 * streams past. Left and full joins add rows without a partner, with nulls in place of one. Semi
 * and anti joins return rows of the left side alone; if that is the side kept, after the last row
 * of the other.
 */
import {
  batchBytes,
  columnsOf,
  type Data,
  DataType,
  gatherData,
  indicesOf,
  nullColumn,
  plainType,
  type RecordBatch,
  recordBatch,
  type Schema,
  Vector,
} from '../../arrow/index.ts';
import type { HeldMemory } from '../../request-memory.ts';
import {
  type Column,
  compileConditionTree,
  compileTree,
  type Expression,
  familyOf,
} from '../../sql/index.ts';
import { KeyNumbers } from '../keys/index.ts';
import {
  columnsIn,
  comparableKeys,
  conjuncts,
  isHalf,
  isWithin,
  type JoinStep,
  joined,
  pairSchema,
} from '../steps/index.ts';
import {
  AllPairs,
  type Chains,
  KeyPairs,
  only,
  type PairFinder,
  PairRows,
} from './pair-finders.ts';
import { PairRuns } from './pair-runs.ts';
import { SortedRows } from './range-pairs.ts';
import {
  asOneBatch,
  BATCH_ROWS,
  collected,
  columnReader,
  oneStep,
  type Relation,
  run,
  type Work,
} from './relation.ts';
import { leftRows } from './semi-join.ts';

export interface Joined {
  readonly left: Relation;
  readonly right: Relation;
  readonly step: JoinStep;
  /** Whether the left side is the one that is kept, as inner, semi and anti joins may ask for. */
  readonly keepsLeft: boolean;
  /** Whether texts of the kept side may be given as indices of a dictionary, for groups by them. */
  readonly isEncoded: boolean;
}

export function joinedRows(
  { left, right, step, keepsLeft, isEncoded }: Joined,
  work: Work,
): Relation {
  const keys = comparableKeys(step);
  const streamed = keepsLeft ? right : left;
  const kept = keepsLeft ? left : right;
  const streamedKeys = keys.map((key) => (keepsLeft ? key.right : key.left));
  const keptKeys = keys.map((key) => (keepsLeft ? key.left : key.right));
  return {
    schema: step.schema,
    async *batches(): AsyncGenerator<RecordBatch> {
      const held = work.memory.hold('The rows of a join that are kept in memory');
      try {
        const rows = await KeptRows.of(kept, keptKeys, step.join !== 'inner', held, work);
        const { condition } = step;
        const sorted =
          keys.length === 0
            ? await SortedRows.of(condition, streamed.schema, rows, work)
            : undefined;
        if (sorted !== undefined) held.set(held.bytes + sorted.bytes);
        const options = { step, keepsLeft, sorted, isEncoded };
        const probe = new Probe(rows, streamed, streamedKeys, options, work);
        for await (const batch of streamed.batches()) yield* probe.pairs(batch);
        if (step.join === 'full') yield* probe.unmatched();
        else if (isHalf(step.join) && keepsLeft) yield* probe.keptHalf();
      } finally {
        held.end();
      }
    },
  };
}

/** The side that is kept: one batch, and for each key its rows as a chain. */
class KeptRows {
  readonly batch: RecordBatch;
  readonly rows: number;
  readonly numbers: KeyNumbers | undefined;
  readonly chains: Chains;

  private constructor(
    batch: RecordBatch,
    rows: number,
    numbers: KeyNumbers | undefined,
    chains: Chains,
  ) {
    this.batch = batch;
    this.rows = rows;
    this.numbers = numbers;
    this.chains = chains;
  }

  /** @param hasNone whether a row of nulls follows the others, for rows without a partner */
  static async of(
    input: Relation,
    keys: JoinStep['keys'][number]['left'][],
    hasNone: boolean,
    held: HeldMemory,
    work: Work,
  ): Promise<KeptRows> {
    const batches = await collected(input, held);
    const schema = batches[0]?.schema ?? input.schema;
    const rows = batches.reduce((sum, { numRows }) => sum + numRows, 0);
    const bytes = batches.reduce((sum, batch) => sum + batchBytes(batch), 0);
    held.set(2 * bytes);
    const given = await numbersOf(batches, keys, input, work);
    if (hasNone || batches.length === 0) batches.push(nullRows(schema, hasNone ? 1 : 0));
    const batch = await asOneBatch(batches, work);
    if (given === undefined) {
      const none = new Int32Array(0);
      return new KeptRows(batch, rows, undefined, { first: none, next: none, isUnique: false });
    }
    const { numbers, ofRows } = given;
    const first = new Int32Array(numbers.size).fill(-1);
    const next = new Int32Array(rows);
    let isUnique = true;
    for (let row = rows - 1; row >= 0; row--) {
      const number = ofRows[row] as number;
      const before = first[number] as number;
      // Number 0 is that of null, which has no partner.
      if (before >= 0 && number !== 0) isUnique = false;
      next[row] = before;
      first[number] = row;
    }
    held.set(2 * bytes + numbers.bytes + first.byteLength + next.byteLength);
    return new KeptRows(batch, rows, numbers, { first, next, isUnique });
  }
}

/** The numbers of the keys of all rows, one after the other; undefined where there are no keys. */
async function numbersOf(
  batches: readonly RecordBatch[],
  keys: JoinStep['keys'][number]['left'][],
  { schema }: Relation,
  work: Work,
): Promise<{ numbers: KeyNumbers; ofRows: Int32Array } | undefined> {
  if (keys.length === 0) return undefined;
  const numbers = new KeyNumbers(keys.map((key) => plainType(compileTree(key, schema).type)));
  const read = columnReader(keys, schema, work);
  const ofRows = new Int32Array(batches.reduce((sum, { numRows }) => sum + numRows, 0));
  numbers.expect(ofRows.length);
  let at = 0;
  for (const batch of batches) {
    const columns = await read(batch);
    await run(work, numbers.reserve(batch.numRows));
    ofRows.set(numbers.add(columns), at);
    at += batch.numRows;
    await run(work, oneStep());
  }
  return { numbers, ofRows };
}

const nullRows = (schema: Schema, rows: number): RecordBatch =>
  recordBatch(
    schema,
    schema.fields.map(({ type }) => nullColumn(type, rows)),
    rows,
  );

interface ProbeOptions {
  readonly step: JoinStep;
  readonly keepsLeft: boolean;
  /** The kept rows in an order by which the condition bounds those that may be in a pair. */
  readonly sorted: SortedRows | undefined;
  readonly isEncoded: boolean;
}

class Probe {
  readonly #kept: KeptRows;
  readonly #step: JoinStep;
  readonly #sorted: SortedRows | undefined;
  readonly #work: Work;
  readonly #keys: (batch: RecordBatch) => Promise<Column[]>;
  /** Dictionaries of the kept side, for columns that are given as indices into them. */
  readonly #dictionaries: readonly (Vector | undefined)[];
  readonly #condition: ReturnType<typeof compileConditionTree> | undefined;
  readonly #runs: PairRuns;
  readonly #rowsOfPairs = new PairRows();
  /** Where each column of the result comes from. */
  readonly #places: readonly { readonly isKept: boolean; readonly at: number }[];
  /** Whether rows of the kept side are given by whether they had a partner. */
  readonly #marksKept: boolean;
  /** Rows of the kept side that had a partner. */
  readonly #hadPartner: Uint8Array;
  /** A condition without which a row that passes by has no partner. */
  readonly #own: ReturnType<typeof compileConditionTree> | undefined;
  /** Whether no two rows are a pair. */
  readonly #isNever: boolean;
  #schema: Schema;

  constructor(
    kept: KeptRows,
    streamed: Relation,
    keys: JoinStep['keys'][number]['left'][],
    { step, keepsLeft, sorted, isEncoded }: ProbeOptions,
    work: Work,
  ) {
    this.#dictionaries = columnsOf(kept.batch).map((column) =>
      isEncoded && isText(column) ? new Vector([column]) : undefined,
    );
    const pairs = isHalf(step.join) ? pairSchema(step) : step.schema;
    this.#kept = kept;
    this.#step = step;
    this.#sorted = sorted;
    this.#work = work;
    this.#schema = pairs;
    this.#keys = columnReader(keys, streamed.schema, work);
    this.#marksKept = step.join === 'full' || (isHalf(step.join) && keepsLeft);
    this.#hadPartner = new Uint8Array(this.#marksKept ? kept.rows : 0);
    this.#places = pairs.fields.map(({ name }) => {
      const at = streamed.schema.fields.findIndex((field) => field.name === name);
      if (at >= 0) return { isKept: false, at };
      return {
        isKept: true,
        at: kept.batch.schema.fields.findIndex((field) => field.name === name),
      };
    });
    this.#runs = new PairRuns(this.#columnsOf(kept.batch, true));
    const { condition } = step;
    const [own, both] = parted(
      conjuncts(condition),
      new Set(streamed.schema.fields.map(({ name }) => name)),
    );
    this.#own = own === undefined ? undefined : compileConditionTree(own, streamed.schema);
    this.#isNever = condition?.kind === 'boolean' && !condition.value;
    this.#condition = both === undefined ? undefined : compileConditionTree(both, pairs);
  }

  async *pairs(batch: RecordBatch): AsyncGenerator<RecordBatch> {
    const { join } = this.#step;
    const marksStreamed = join === 'full' || (join !== 'inner' && !this.#marksKept);
    const hasPartner = marksStreamed ? new Uint8Array(batch.numRows) : undefined;
    const finder = await this.#finder(batch);
    this.#runs.begin(this.#kept.chains.isUnique ? [] : this.#columnsOf(batch, false));
    for (let found = finder.next(); found.streamed.length > 0; found = finder.next()) {
      for (const { streamed, kept } of this.#runs.of(found)) {
        const pairs = this.#paired(batch, streamed, kept);
        const fitting = await this.#fitting(pairs);
        if (hasPartner !== undefined) markRows(hasPartner, streamed, fitting);
        if (this.#marksKept) markRows(this.#hadPartner, kept, fitting);
        if (!isHalf(join)) {
          if (fitting === undefined) yield pairs;
          else if (fitting.length > 0) yield this.#picked(pairs, fitting);
        }
        await run(this.#work, oneStep());
      }
    }
    if (hasPartner === undefined) return;
    if (join === 'semi') flip(hasPartner);
    const alone = rowsWithout(hasPartner);
    if (alone.length === 0) return;
    if (isHalf(join)) {
      yield leftRows(batch, alone, this.#step);
      return;
    }
    yield this.#paired(batch, alone, new Uint32Array(alone.length).fill(this.#kept.rows));
  }

  /** The columns of the result that are copied from one side. */
  #columnsOf(batch: RecordBatch, ofKept: boolean): Data[] {
    const columns = columnsOf(batch);
    return this.#places.flatMap(({ isKept, at }) =>
      isKept === ofKept && (!isKept || this.#dictionaries[at] === undefined)
        ? [columns[at] as Data]
        : [],
    );
  }

  /** Rows of the kept side that no row came to. */
  async *unmatched(): AsyncGenerator<RecordBatch> {
    const alone = rowsWithout(this.#hadPartner);
    for (let from = 0; from < alone.length; from += BATCH_ROWS) {
      const rows = alone.subarray(from, from + BATCH_ROWS);
      const columns = this.#places.map(({ isKept, at }, column) =>
        isKept
          ? gatherData(columnsOf(this.#kept.batch)[at] as Data, rows)
          : nullColumn(this.#schema.fields[column]?.type as Data['type'], rows.length),
      );
      yield recordBatch(this.#schema, columns, rows.length);
    }
  }

  /** The rows of a semi or anti join whose left side is the kept one. */
  async *keptHalf(): AsyncGenerator<RecordBatch> {
    if (this.#step.join === 'semi') flip(this.#hadPartner);
    const rows = rowsWithout(this.#hadPartner);
    for (let from = 0; from < rows.length; from += BATCH_ROWS) {
      yield leftRows(this.#kept.batch, rows.subarray(from, from + BATCH_ROWS), this.#step);
      await run(this.#work, oneStep());
    }
  }

  async #finder(batch: RecordBatch): Promise<PairFinder> {
    const { numbers, chains, rows } = this.#kept;
    const own =
      this.#own === undefined
        ? undefined
        : await run(this.#work, this.#own.selectInSteps(batch, { memory: this.#work.memory }));
    if (numbers === undefined) {
      const count = this.#isNever ? 0 : batch.numRows;
      const asked = own ?? Uint32Array.from({ length: count }, (_, row) => row);
      const ranged = await this.#sorted?.finder(batch, asked);
      return ranged ?? new AllPairs(asked, rows);
    }
    const found = numbers.find(await this.#keys(batch));
    const known = own === undefined ? found : only(found, own);
    return new KeyPairs(known, chains, this.#rowsOfPairs);
  }

  #paired(batch: RecordBatch, streamed: Uint32Array, kept: Uint32Array): RecordBatch {
    const own = columnsOf(batch);
    const others = columnsOf(this.#kept.batch);
    const isWhole = streamed.length === batch.numRows && isCounting(streamed);
    let indices: Uint32Array | undefined;
    const columns = this.#places.map(({ isKept, at }) => {
      const dictionary = isKept ? this.#dictionaries[at] : undefined;
      if (dictionary !== undefined) {
        // The next pairs take the place of these.
        indices ??= kept.slice();
        return indicesOf(dictionary, indices);
      }
      if (isKept) return gatherData(others[at] as Data, kept);
      return isWhole ? (own[at] as Data) : gatherData(own[at] as Data, streamed);
    });
    return recordBatch(this.#schema, columns, streamed.length);
  }

  /** Pairs that the condition is true for; undefined where those are all. */
  async #fitting(pairs: RecordBatch): Promise<Uint32Array | undefined> {
    if (this.#condition === undefined) return undefined;
    const { memory } = this.#work;
    const rows = await run(this.#work, this.#condition.selectInSteps(pairs, { memory }));
    return rows.length === pairs.numRows ? undefined : rows;
  }

  #picked(pairs: RecordBatch, rows: Uint32Array): RecordBatch {
    const columns = columnsOf(pairs).map((column) => gatherData(column, rows));
    return recordBatch(this.#schema, columns, rows.length);
  }
}

const isText = ({ type }: Data): boolean =>
  familyOf(type) === 'text' && !DataType.isDictionary(type);

const isCounting = (rows: Uint32Array): boolean => {
  for (let at = 0; at < rows.length; at++) if (rows[at] !== at) return false;
  return true;
};

/** Marks rows of pairs: of those given, or else of all. */
function markRows(marks: Uint8Array, rows: Uint32Array, pairs: Uint32Array | undefined): void {
  const count = pairs?.length ?? rows.length;
  for (let at = 0; at < count; at++) {
    const pair = pairs === undefined ? at : (pairs[at] as number);
    marks[rows[pair] as number] = 1;
  }
}

/** Terms that read nothing but the named columns, and the others. */
function parted(
  terms: readonly Expression[],
  names: ReadonlySet<string>,
): [own: Expression | undefined, both: Expression | undefined] {
  const isOwn = (term: Expression): boolean => columnsIn([term]).size > 0 && isWithin(term, names);
  return [joined(terms.filter(isOwn)), joined(terms.filter((term) => !isOwn(term)))];
}

/** Turns marks into their opposites. */
function flip(marks: Uint8Array): void {
  for (let row = 0; row < marks.length; row++) marks[row] = 1 - (marks[row] as number);
}

function rowsWithout(marks: Uint8Array): Uint32Array {
  let count = 0;
  for (let row = 0; row < marks.length; row++) if (marks[row] === 0) count++;
  const rows = new Uint32Array(count);
  for (let row = 0, at = 0; at < count; row++) if (marks[row] === 0) rows[at++] = row;
  return rows;
}
