/**
 * `windowedRows` computes window functions over one window; each call adds a column. It keeps all
 * rows and the computed columns in memory, which counts against the request's memory. It puts the
 * rows of each partition together, sorted by the window's ORDER BY, and yields them in that order.
 * If the step says that only the first rows of each partition are wanted (`first`), others are left
 * out (first-of-partitions.ts), though some may remain. ../windows/ computes each function.
 */
import {
  batchBytes,
  columnsOf,
  consecutive,
  type Data,
  type DataType,
  plainType,
  type RecordBatch,
  recordBatch,
  Schema,
  sliceBatch,
  splitBatch,
} from '../../arrow/index.ts';
import {
  type Column,
  compileTree,
  type Expression,
  familyOf,
  gatherColumn,
  toVector,
} from '../../sql/index.ts';
import { markChanges } from '../../table/index.ts';
import { allPlaces, columnsInOne, partitioned, type RowPlaces } from '../aggregates/index.ts';
import { KeyNumbers } from '../keys/index.ts';
import { columnsIn, frameTrees, type WindowStep } from '../steps/index.ts';
import {
  boundedFrame,
  comparesPeers,
  type FrameBounds,
  frameBounds,
  type Partitions,
  windowColumn,
} from '../windows/index.ts';
import { onlyFirst } from './first-of-partitions.ts';
import {
  asOneBatch,
  BATCH_ROWS,
  collected,
  columnReader,
  dataNamed,
  oneStep,
  type Relation,
  run,
  type Work,
} from './relation.ts';
import { placeSorter } from './sort.ts';

export function windowedRows(input: Relation, step: WindowStep, work: Work): Relation {
  const { partitionBy, orderBy, schema, frame, calls } = step;
  const sort = placeSorter(input, orderBy, work);
  const trees = orderBy.map(({ value }) => value);
  const shown = schema.fields.slice(0, schema.fields.length - calls.length);
  const read = columnsIn(calls.flatMap(({ args }) => args));
  for (const { name } of shown) read.add(name);
  const hasPeers = comparesPeers(calls, frame);
  const ofFrame = frameTrees(step) ?? [];
  for (const name of columnsIn(ofFrame)) read.add(name);
  if (hasPeers) for (const name of columnsIn(trees)) read.add(name);
  return {
    schema,
    async *batches(): AsyncGenerator<RecordBatch> {
      const held = work.memory.hold('The rows of a window');
      try {
        let batches: readonly RecordBatch[] = await collected(input, held);
        let ofPartitions: readonly Int32Array[] | undefined;
        const [key] = orderBy;
        if (step.first !== undefined && key !== undefined && batches.length > 0) {
          const partitions = (await numbersOf(batches, partitionBy, input, work)) ?? [];
          const all = { batches, partitions };
          const some = await onlyFirst(all, input, key, step.first, work);
          batches = some.batches;
          ofPartitions = some.partitions;
        }
        const rows = batches.reduce((sum, { numRows }) => sum + numRows, 0);
        if (rows === 0) return;
        const bytes = batches.reduce((sum, batch) => sum + batchBytes(batch), 0);
        held.set(2 * bytes + rows * ROW_BYTES);
        ofPartitions ??= await numbersOf(batches, partitionBy, input, work);
        let places = await sort(batches, Number.MAX_SAFE_INTEGER);
        let partitions: Uint8Array = new Uint8Array(rows);
        partitions[0] = 1;
        if (ofPartitions !== undefined) {
          const all = places ?? allPlaces(batches);
          const sorted = await run(work, partitioned(all, ofPartitions));
          places = sorted.places;
          partitions = sorted.firsts;
        }
        const whole = await ordered(batches, read, places, work);
        const peers = hasPeers ? await peersOf(whole, trees, partitions, work) : partitions;
        const marks: Partitions = { partitions, peers };
        const bounds = await boundsOf(step, whole, marks, work);
        const added: Column[] = [];
        const types = schema.fields.slice(shown.length).map(({ type }) => type);
        for (const [at, call] of calls.entries()) {
          const columns = await columnReader(call.args, whole.schema, work)(whole);
          const window = { marks, frame, bounds, memory: work.memory };
          added.push(await run(work, windowColumn(call, types[at] as DataType, columns, window)));
          held.set(held.bytes + rows * VALUE_BYTES);
        }
        for (let from = 0; from < rows; from += BATCH_ROWS) {
          const part = sliceBatch(whole, from, Math.min(BATCH_ROWS, rows - from));
          const own = consecutive(from, part.numRows);
          const data = shown.map(({ name }) => dataNamed(part, name));
          for (const [at, column] of added.entries()) {
            const type = types[at] as DataType;
            const vector = toVector(gatherColumn(column, own), type, work.memory.batch());
            data.push(vector.data[0] as Data);
            await run(work, oneStep());
          }
          yield recordBatch(schema, data, part.numRows);
        }
      } finally {
        held.end();
      }
    },
  };
}

/** The bounds of frames that are given by numbers of rows or by distances. */
async function boundsOf(
  step: WindowStep,
  whole: RecordBatch,
  marks: Partitions,
  work: Work,
): Promise<FrameBounds | undefined> {
  const frame = boundedFrame(step.calls, step.frame);
  if (frame === undefined) return undefined;
  const trees = frameTrees(step);
  if (trees === undefined) return await run(work, frameBounds(frame, marks, undefined));
  const [key, start, end] = await columnReader(trees, whole.schema, work)(whole);
  const keys = {
    ascending: step.orderBy[0]?.ascending !== false,
    key: key as Column,
    start: frame.startBy && start,
    end: frame.endBy && end,
  };
  return await run(work, frameBounds(frame, marks, keys));
}

/** Bytes of the place, the partition, the order and the frame of a row. */
const ROW_BYTES = 32;

/** Bytes of a value that was computed, and of whether it is null. */
const VALUE_BYTES = 9;

/** The rows in order, as one batch of the columns that are read from now on. */
async function ordered(
  batches: readonly RecordBatch[],
  read: ReadonlySet<string>,
  places: RowPlaces | undefined,
  work: Work,
): Promise<RecordBatch> {
  const [{ schema }] = batches as [RecordBatch];
  if (places === undefined) return asOneBatch(batches, work);
  const columns = schema.fields.flatMap(({ name, type }, at) =>
    read.has(name) ? [{ type, parts: batches.map((batch) => columnsOf(batch)[at] as Data) }] : [],
  );
  const kept = new Schema(schema.fields.filter(({ name }) => read.has(name)));
  const data = await run(work, columnsInOne(columns, batches.length, places));
  return recordBatch(kept, data, places.row.length);
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

/** Marks rows in order that differ from the one before in a tree, and those marked already. */
async function peersOf(
  whole: RecordBatch,
  trees: readonly Expression[],
  marked: Uint8Array,
  work: Work,
): Promise<Uint8Array> {
  const keys: Data[] = [];
  for (const tree of trees) {
    const compiled = compileTree(tree, whole.schema);
    // A key that is null in every row tells no rows apart.
    if (familyOf(compiled.type) === 'null') continue;
    const vector = await run(work, compiled.evaluateInSteps(whole, { memory: work.memory }));
    keys.push(vector.data[0] as Data);
  }
  const marks = marked.slice();
  await run(work, markChanges(keys, marks));
  return marks;
}
