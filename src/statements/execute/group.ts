/**
 * `groupedRows` groups rows by keys and computes their aggregates, with FILTER and DISTINCT. It
 * keeps the keys of all groups and the states of their aggregates in memory. It does not keep the
 * rows, except the values that aggregates such as array_agg collect. Without keys all rows form one
 * group, even if there are none. Keys that are only checked fail for a row, and are not kept. With
 * GROUPING SETS it computes the groups of each set of keys in
 * the same pass.
 */
import {
  columnsOf,
  type Data,
  type DataType,
  type Field,
  Int32,
  makeData,
  nullColumn,
  plainType,
  type RecordBatch,
  recordBatch,
  Schema,
} from '../../arrow/index.ts';
import {
  type AggregateExpression,
  type Column,
  compileTree,
  type Expression,
  TRUE,
  toVector,
  validityOf,
  withValidity,
} from '../../sql/index.ts';
import {
  type Accumulator,
  accumulator,
  aggregateOf,
  columnsOfCall,
  DistinctWords,
  type GroupRange,
  resultOf,
} from '../aggregates/index.ts';
import { isOfWords, type KeyColumn, KeyNumbers, ValueNumbers, WordTable } from '../keys/index.ts';
import { aggregateName } from '../plan/index.ts';
import type { GroupStep } from '../steps/index.ts';
import {
  type ColumnReader,
  columnReader,
  dataNamed,
  oneStep,
  type Relation,
  run,
  type Work,
} from './relation.ts';
import { SharedColumns } from './shared-columns.ts';

export function groupedRows(input: Relation, step: GroupStep, work: Work): Relation {
  if (step.sets !== undefined) return groupedBySets(input, step, step.sets, work);
  return {
    schema: step.schema,
    async *batches(): AsyncGenerator<RecordBatch> {
      const held = work.memory.hold('The groups of a statement');
      try {
        const shared = new SharedColumns(step.shared, input.schema, work);
        const own = withNames(step, shared);
        const groups = new Groups(shared, own, await aggregatesOf(shared, own, work), work);
        const check = columnReader(step.checked ?? [], input.schema, work);
        for await (const batch of input.batches()) {
          for (const part of shared.parts(batch)) {
            await check(part);
            held.set(groups.bytes + shared.bytesOf(part));
            await groups.add(part, await shared.of(part));
            held.set(groups.bytes);
          }
        }
        yield* groups.result();
      } finally {
        held.end();
      }
    },
  };
}

/** The step over the columns that are computed for several of its expressions. */
const withNames = (step: GroupStep, shared: SharedColumns): GroupStep => ({
  ...step,
  keys: step.keys.map((key) => shared.rewrite(key)),
  aggregates: step.aggregates.map((call) => shared.rewrite(call) as AggregateExpression),
});

/** The groups of each set of keys, with nulls for other keys, and the number of the set. */
function groupedBySets(
  input: Relation,
  step: GroupStep,
  sets: NonNullable<GroupStep['sets']>,
  work: Work,
): Relation {
  const shared = new SharedColumns(step.shared, input.schema, work);
  const named = withNames(step, shared);
  const { keys, schema, aggregates } = named;
  const ofAggregates = schema.fields.slice(keys.length, keys.length + aggregates.length);
  const steps = sets.map((set): GroupStep => {
    const fields = set.map((at) => schema.fields[at] as Field);
    const own = set.map((at) => keys[at] as Expression);
    return { ...named, keys: own, schema: new Schema([...fields, ...ofAggregates]) };
  });
  return {
    schema,
    async *batches(): AsyncGenerator<RecordBatch> {
      const held = work.memory.hold('The groups of a statement');
      try {
        const all: Groups[] = [];
        for (const own of steps) {
          all.push(new Groups(shared, own, await aggregatesOf(shared, own, work), work));
        }
        for await (const batch of input.batches()) {
          for (const part of shared.parts(batch)) {
            held.set(bytesOf(all) + shared.bytesOf(part));
            const computed = await shared.of(part);
            for (const groups of all) await groups.add(part, computed);
            held.set(bytesOf(all));
          }
        }
        for (const [number, groups] of all.entries()) {
          const set = sets[number] as readonly number[];
          for await (const batch of groups.result()) {
            const own = columnsOf(batch);
            const columns = keys.map((_, at) => {
              const place = set.indexOf(at);
              if (place >= 0) return own[place] as Data;
              return nullColumn(plainType(schema.fields[at]?.type as DataType), batch.numRows);
            });
            const numbers = new Int32Array(batch.numRows).fill(number);
            const ofSet = makeData({ type: new Int32(), length: batch.numRows, data: numbers });
            yield recordBatch(schema, [...columns, ...own.slice(set.length), ofSet], batch.numRows);
          }
        }
      } finally {
        held.end();
      }
    },
  };
}

const bytesOf = (all: readonly Groups[]): number => all.reduce((sum, { bytes }) => sum + bytes, 0);

/** Compiles the aggregates, of which there may be hundreds, in steps. */
async function aggregatesOf(
  input: WithSchema,
  { keys, aggregates, schema }: GroupStep,
  work: Work,
): Promise<GroupAggregate[]> {
  const compiled: GroupAggregate[] = [];
  for (const [at, call] of aggregates.entries()) {
    await run(work, oneStep());
    const type = schema.fields[keys.length + at]?.type as DataType;
    compiled.push(new GroupAggregate(call, type, input, { work, isWhole: keys.length === 0 }));
  }
  return compiled;
}

type WithSchema = Pick<Relation, 'schema'>;
type Computed = ReadonlyMap<string, Column>;

class Groups {
  readonly #work: Work;
  readonly #schema: Schema;
  readonly #isWhole: boolean;
  readonly #keys: (batch: RecordBatch, computed: Computed) => Promise<KeyColumn[]>;
  readonly #numbers: KeyNumbers;
  readonly #aggregates: readonly GroupAggregate[];
  /** The group of rows where there is one; not written to. */
  #ofWhole = new Int32Array(0);
  /** Whether there are rows of number 0, which is null's where there is one key. */
  #hasFirst = false;

  constructor(
    input: WithSchema,
    { keys, schema }: GroupStep,
    aggregates: readonly GroupAggregate[],
    work: Work,
  ) {
    this.#work = work;
    this.#schema = schema;
    this.#isWhole = keys.length === 0;
    this.#keys = keyReader(keys, input.schema, work);
    const types = schema.fields.slice(0, keys.length).map(({ type }) => plainType(type));
    this.#numbers = new KeyNumbers(types);
    this.#aggregates = aggregates;
  }

  get bytes(): number {
    const states = this.#aggregates.reduce((sum, { bytes }) => sum + bytes, 0);
    return this.#numbers.bytes + states;
  }

  async add(batch: RecordBatch, computed: Computed): Promise<void> {
    const columns = await this.#keys(batch, computed);
    await run(this.#work, this.#numbers.reserve(batch.numRows));
    const groups = this.#isWhole ? this.#zeros(batch.numRows) : this.#numbers.add(columns);
    const { size } = this.#numbers;
    await run(this.#work, oneStep());
    this.#hasFirst ||= columns.some(mayHaveNulls) && groups.includes(0);
    for (const aggregate of this.#aggregates) {
      await aggregate.add(batch, groups, { size, computed });
      await run(this.#work, oneStep());
    }
  }

  #zeros(rows: number): Int32Array {
    if (this.#ofWhole.length < rows) this.#ofWhole = new Int32Array(rows);
    return this.#ofWhole.subarray(0, rows);
  }

  /** A statement without GROUP BY has one group, be there rows or not. */
  async *result(): AsyncGenerator<RecordBatch> {
    const { size } = this.#numbers;
    for (let from = this.#isWhole || this.#hasFirst ? 0 : 1; from < size; from += RESULT_ROWS) {
      const range = { from, to: Math.min(size, from + RESULT_ROWS) };
      const columns: (Column | Data)[] = this.#isWhole
        ? []
        : this.#numbers.columns(numbersFrom(range));
      for (const aggregate of this.#aggregates) {
        columns.push(await run(this.#work, aggregate.result(range)));
      }
      const memory = this.#work.memory.batch();
      const data: Data[] = [];
      for (const [at, column] of columns.entries()) {
        const type = this.#schema.fields[at]?.type as DataType;
        const vector = 'form' in column ? toVector(column, plainType(type), memory) : undefined;
        data.push((vector?.data[0] ?? column) as Data);
        await run(this.#work, oneStep());
      }
      yield recordBatch(this.#schema, data, range.to - range.from);
    }
  }
}

/** Whether a row of the column may be null; true for any dictionary column, which is not searched. */
const mayHaveNulls = (column: KeyColumn): boolean =>
  !('form' in column) || column.form === 'truth' || validityOf(column) !== null;

/** Groups of one batch of the result. */
const RESULT_ROWS = 1 << 14;

const numbersFrom = ({ from, to }: GroupRange): Int32Array =>
  Int32Array.from({ length: to - from }, (_, at) => from + at);

/** Columns with a dictionary are keys by it: its values are looked up once. */
function keyReader(
  keys: readonly Expression[],
  schema: Schema,
  work: Work,
): (batch: RecordBatch, computed: Computed) => Promise<KeyColumn[]> {
  const readers = keys.map((key) => ({
    name: key.kind === 'column' && key.path.length === 1 ? (key.path[0] as string) : undefined,
    compiled: compileTree(key, schema),
    read: columnReader([key], schema, work),
  }));
  return async (batch, computed) => {
    const columns: KeyColumn[] = [];
    for (const { name, compiled, read } of readers) {
      if (name === undefined) {
        const context = { memory: work.memory, computed };
        const entries = await run(work, compiled.entriesInSteps(batch, context));
        if (entries !== null) {
          columns.push(entries);
          continue;
        }
      }
      const isData = name !== undefined && !computed.has(name);
      const data = isData ? dataNamed(batch, name) : undefined;
      const entries = data?.dictionary?.length ?? 0;
      // Of a longer dictionary than there are rows, the values of rows are fewer.
      if (data !== undefined && entries > 0 && entries <= data.length) columns.push(data);
      else columns.push((await read(batch, computed))[0] as Column);
    }
    return columns;
  };
}

/** Aggregates that distinct values give the result of all. */
const SAME_WHEN_DISTINCT: ReadonlySet<string> = new Set(
  'min max bool_and bool_or bit_and bit_or any_value'.split(' '),
);

/** One aggregate of all groups, with the rows that it leaves out. */
class GroupAggregate {
  readonly #state: Accumulator;
  readonly #work: Work;
  readonly #columns: ColumnReader;
  readonly #isWhole: boolean;
  readonly #filter: ColumnReader | undefined;
  /** For DISTINCT: the values, and the pairs of a group and a value that occurred. */
  readonly #values: ValueNumbers | undefined;
  readonly #pairs: WordTable | undefined;

  constructor(
    call: AggregateExpression,
    type: DataType,
    input: WithSchema,
    { work, isWhole }: { readonly work: Work; readonly isWhole: boolean },
  ) {
    const { schema } = input;
    this.#work = work;
    this.#isWhole = isWhole;
    this.#filter =
      call.filter === undefined ? undefined : columnReader([call.filter], schema, work);
    const [argument] = call.args;
    const argumentType = argument === undefined ? undefined : compileTree(argument, schema).type;
    const name = aggregateName(call.name);
    const isDistinct = call.distinct || call.name === 'approx_distinct';
    const plain = argumentType && plainType(argumentType);
    const counts = isDistinct && isWhole && name === 'count' && plain !== undefined;
    if (counts && isOfWords(plain)) {
      this.#state = new DistinctWords(type);
      this.#columns = columnReader(call.args, schema, work);
      return;
    }
    this.#state = accumulator(aggregateOf(call, { type, argument: argumentType }, work.memory));
    this.#columns = columnReader(columnsOfCall(call), schema, work);
    // The least of distinct values is the least of all.
    const matters = !SAME_WHEN_DISTINCT.has(name);
    if (isDistinct && matters && plain !== undefined) {
      this.#values = new ValueNumbers(plain);
      // With one group, a value with a new number occurs for the first time. Null has no number.
      if (!isWhole || name === 'array_agg') this.#pairs = new WordTable();
    }
  }

  get bytes(): number {
    return this.#state.bytes + (this.#values?.bytes ?? 0) + (this.#pairs?.bytes ?? 0);
  }

  async add(
    batch: RecordBatch,
    groups: Int32Array,
    { size, computed }: { readonly size: number; readonly computed: Computed },
  ): Promise<void> {
    const columns = await this.#columns(batch, computed);
    let counted = groups;
    if (this.#filter !== undefined) {
      counted = whereTrue(counted, (await this.#filter(batch, computed))[0]);
    }
    const [column] = columns;
    if (this.#values !== undefined && column !== undefined) {
      await run(this.#work, this.#values.reserve(batch.numRows));
      if (this.#pairs !== undefined) await run(this.#work, this.#pairs.reserve(batch.numRows));
      const before = this.#values.size;
      // Values of rows that do not count are none, but for those of groups.
      const given = this.#pairs === undefined ? onlyCounted(column, counted) : column;
      const numbers = this.#values.add(given);
      await run(this.#work, oneStep());
      counted =
        this.#pairs === undefined
          ? firstOf(numbers, before)
          : firstInGroups(counted, numbers, this.#pairs);
      await run(this.#work, oneStep());
    }
    if (this.#state.reserve !== undefined) {
      await run(this.#work, this.#state.reserve(batch.numRows));
    }
    if (this.#isWhole && counted === groups && this.#state.addWhole !== undefined) {
      this.#state.addWhole(groups.length, columns);
    } else this.#state.add(counted, size, columns);
  }

  result(groups: GroupRange): Generator<void, Column | Data> {
    return resultOf(this.#state, groups);
  }
}

/** The column, null where a row does not count. */
function onlyCounted(column: Column, groups: Int32Array): Column {
  if (!groups.includes(-1)) return column;
  return withValidity(
    column,
    Uint8Array.from(groups, (group) => (group < 0 ? 0 : 1)),
  );
}

/** The one group for rows whose number is new, counted from `before`; -1 for others. */
function firstOf(numbers: Int32Array, before: number): Int32Array {
  const groups = new Int32Array(numbers.length);
  let next = before;
  for (let row = 0; row < numbers.length; row++) {
    if (numbers[row] === next) next++;
    else groups[row] = -1;
  }
  return groups;
}

/** The group of each row whose value is new in that group; -1 for other rows. */
function firstInGroups(groups: Int32Array, values: Int32Array, pairs: WordTable): Int32Array {
  const words = new Int32Array(groups.length * 2);
  const rows = new Int32Array(groups.length);
  let count = 0;
  for (let row = 0; row < groups.length; row++) {
    if ((groups[row] as number) < 0) continue;
    words[2 * count] = groups[row] as number;
    words[2 * count + 1] = values[row] as number;
    rows[count++] = row;
  }
  const out = new Int32Array(groups.length).fill(-1);
  const numbers = new Int32Array(count);
  let next = pairs.size + 1;
  pairs.numbers(words, numbers);
  for (let at = 0; at < count; at++) {
    if (numbers[at] !== next) continue;
    next++;
    const row = rows[at] as number;
    out[row] = groups[row] as number;
  }
  return out;
}

function whereTrue(groups: Int32Array, condition: Column | undefined): Int32Array {
  const counted = new Int32Array(groups.length);
  const truth = condition?.form === 'truth' ? condition.values : undefined;
  const constant = condition?.form === 'constant' && condition.value === true;
  for (let row = 0; row < groups.length; row++) {
    const isTrue = truth === undefined ? constant : truth[row] === TRUE;
    counted[row] = isTrue ? (groups[row] as number) : -1;
  }
  return counted;
}
