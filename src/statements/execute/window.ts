/**
 * `windowedRows`: computes window functions. All rows are kept in memory and sorted by partition,
 * then by the window's ORDER BY, and each call adds a column. Rows come out in that order.
 */
import {
  batchBytes,
  columnsOf,
  type Data,
  type DataType,
  Int32,
  makeData,
  type RecordBatch,
  recordBatch,
  splitBatch,
} from '../../arrow/index.ts';
import { compileTree, type Expression, plainType, toVector } from '../../sql/index.ts';
import type { WindowStep } from '../plan/index.ts';
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
import { rowSorter } from './sort.ts';
import { KeyNumbers } from './value-numbers.ts';
import { type Partitions, windowColumn } from './window-functions.ts';

export function windowedRows(input: Relation, step: WindowStep, work: Work): Relation {
  const { partitionBy, orderBy, schema } = step;
  const sort = rowSorter(input, orderBy, work);
  const trees = orderBy.map(({ value }) => value);
  return {
    schema,
    async *batches(): AsyncGenerator<RecordBatch> {
      const held = work.memory.hold('The rows of a window');
      try {
        const unordered = await collected(input, held);
        if (unordered.length === 0) return;
        const numbers = await numbersOf(unordered, partitionBy, input, work);
        const isInOrder = partitionBy.length === 0 && orderBy.length === 0;
        const ordered = isInOrder
          ? unordered
          : await sort(unordered, Number.MAX_SAFE_INTEGER, (batch) => numberKeys(numbers?.[batch]));
        const batch = await asOneBatch(ordered, work);
        held.set(2 * batchBytes(batch));
        const partitions = marksOf(
          (await numbersOf([batch], partitionBy, input, work))?.[0],
          batch,
        );
        const peers = await numbersOf([batch], trees, input, work);
        const places: Partitions = {
          partitions,
          peers: peers === undefined ? partitions : marksOf(peers[0], batch, partitions),
        };
        const added: Data[] = [];
        for (const [at, call] of step.calls.entries()) {
          const type = schema.fields[input.schema.fields.length + at]?.type as DataType;
          const columns = await columnReader(call.args, input.schema, work)(batch);
          const column = await run(work, windowColumn(call, type, columns, places, step.frame));
          added.push(toVector(column, type, work.memory.batch()).data[0] as Data);
        }
        const whole = recordBatch(schema, [...columnsOf(batch), ...added], batch.numRows);
        yield* splitBatch(whole, BATCH_ROWS);
      } finally {
        held.end();
      }
    },
  };
}

/** Equal numbers for rows that are equal in all trees; undefined where there are none. */
async function numbersOf(
  batches: readonly RecordBatch[],
  trees: readonly Expression[],
  { schema }: Relation,
  work: Work,
): Promise<Int32Array[] | undefined> {
  if (trees.length === 0) return undefined;
  const keys = new KeyNumbers(trees.map((tree) => plainType(compileTree(tree, schema).type)));
  const read = columnReader(trees, schema, work);
  const numbers: Int32Array[] = [];
  for (const batch of batches) {
    const own = new Int32Array(batch.numRows);
    let from = 0;
    for (const part of splitBatch(batch, BATCH_ROWS)) {
      const columns = await read(part);
      await run(work, keys.reserve(part.numRows));
      own.set(keys.add(columns), from);
      from += part.numRows;
      await run(work, oneStep());
    }
    numbers.push(own);
  }
  return numbers;
}

/** Partitions come in any order, so they are sorted by their numbers. */
const numberKeys = (numbers: Int32Array | undefined): Data[] =>
  numbers === undefined
    ? []
    : [makeData({ type: new Int32(), length: numbers.length, data: numbers })];

/** Marks rows whose number is not that of the row before, and those that are marked already. */
function marksOf(
  numbers: Int32Array | undefined,
  { numRows }: RecordBatch,
  marked?: Uint8Array,
): Uint8Array {
  const marks = marked === undefined ? new Uint8Array(numRows) : marked.slice();
  marks[0] = 1;
  if (numbers === undefined) return marks;
  for (let row = 1; row < numRows; row++) if (numbers[row] !== numbers[row - 1]) marks[row] = 1;
  return marks;
}
