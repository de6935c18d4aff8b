/**
 * Answers the requests of the view of a vector column. `vectorSample` returns the lengths of at
 * most 2,000 vectors, fewer above 4,096 dimensions, and their places on a plane; rows without a
 * vector are left out. `neighbours` returns the rows, at most 100, whose vectors are nearest to
 * that of one row. The plane has two directions in which the sample varies most, which power
 * iteration finds (`projected`). A column that is not a fixed-size list of numbers, and a row
 * without a vector as the origin of `neighbours`, throw InvalidInput.
 */
import {
  type Data,
  type FixedSizeList,
  type RecordBatchStream,
  Type,
  Vector,
} from '../../arrow/index.ts';
import { DirspaceError } from '../../errors.ts';
import { inTurns, Turn } from '../../table/index.ts';
import type { PageFacts } from './facts.ts';
import type { Body, PageCaller } from './page-caller.ts';
import { countOf, pinnedTable, rowIdOf, textOf } from './page-request.ts';
import { type JsonRows, jsonRows } from './rows.ts';

const MOST_SAMPLE = 2_000;
/** Numbers of a sample, at most: 2,000 vectors of 4,096 dimensions. */
const MOST_NUMBERS = 8_192_000;
const MOST_NEIGHBOURS = 100;
const ROUNDS = 12;

export interface VectorSample {
  readonly dimensions: number;
  /** Rows of the version, and how many of them were looked at. */
  readonly rows: number;
  readonly sampled: number;
  /** The rows of the sample that have a vector. */
  readonly ids: readonly string[];
  readonly norms: readonly number[];
  readonly x: readonly number[];
  readonly y: readonly number[];
}

/**
 * `{id, version, branch, column, rows}` with the number of rows of the version. Rows without a
 * vector are left out; nulls within one, and lengths and places that are not finite, are 0.
 */
export async function vectorSample(
  { memory, env }: PageFacts,
  caller: PageCaller,
  body: Body,
): Promise<VectorSample> {
  const column = textOf(body.column, 'column');
  const rows = countOf(body.rows, 'rows', Number.MAX_SAFE_INTEGER);
  const table = pinnedTable(body);
  const read = (offsets: bigint[]): Promise<RecordBatchStream> =>
    caller.call('TakeRows', {
      ...table,
      columns: { column_names: [column] },
      offsets,
      with_row_id: true,
    });
  const first = await read([]);
  const dimensions = dimensionsOf(first, column);
  const most = Math.max(2, Math.min(MOST_SAMPLE, Math.floor(MOST_NUMBERS / dimensions)));
  const count = Math.min(rows, most);
  const offsets = Array.from({ length: count }, (_, at) => Math.floor((at * rows) / count));
  const held = memory().hold('The sample of vectors');
  try {
    held.set(count * dimensions * 4);
    const matrix = new Float32Array(count * dimensions);
    const ids: string[] = [];
    for await (const batch of await read(offsets.map(BigInt))) {
      const names = batch.schema.fields.map(({ name }) => name);
      const data = batch.data.children[names.indexOf(column)] as Data;
      const rowIds = batch.data.children[names.indexOf('_rowid')]?.values as BigUint64Array;
      const vectors = new Vector([data]);
      for (let row = 0; row < batch.numRows; row++) {
        const vector = vectors.get(row) as Vector | null;
        if (vector === null) continue;
        const to = ids.length * dimensions;
        for (let d = 0; d < dimensions; d++) matrix[to + d] = Number(vector.get(d) ?? 0);
        ids.push(String(rowIds[row]));
      }
    }
    const steps = projected(matrix.subarray(0, ids.length * dimensions), dimensions);
    const { norms, x, y } = await inTurns(new Turn(env), steps, caller.signal);
    return { dimensions, rows, sampled: count, ids, norms, x, y };
  } finally {
    held.end();
  }
}

function dimensionsOf({ schema }: RecordBatchStream, column: string): number {
  const type = schema.fields.find(({ name }) => name === column)?.type;
  if (type?.typeId === Type.FixedSizeList) {
    const item = (type as FixedSizeList).children[0]?.type.typeId;
    if (item === Type.Float || item === Type.Int) return (type as FixedSizeList).listSize;
  }
  throw new DirspaceError(
    'InvalidInput',
    `The column ${JSON.stringify(column.slice(0, 80))} is of type ${type}; vectors are fixed-size lists of numbers.`,
  );
}

interface Projected {
  readonly norms: number[];
  readonly x: number[];
  readonly y: number[];
}

/** In steps of one row each or fewer, so that it can yield. */
export function* projected(matrix: Float32Array, dimensions: number): Generator<void, Projected> {
  const rows = matrix.length / dimensions;
  const mean = new Float64Array(dimensions);
  const norms: number[] = [];
  for (let row = 0; row < rows; row++) {
    let sum = 0;
    for (let d = 0; d < dimensions; d++) {
      const value = matrix[row * dimensions + d] as number;
      sum += value * value;
      mean[d] = (mean[d] as number) + value / rows;
    }
    norms.push(rounded(Math.sqrt(sum)));
    if (row % 16 === 15) yield;
  }
  const first = yield* direction(matrix, mean, undefined);
  const second = yield* direction(matrix, mean, first);
  const x: number[] = [];
  const y: number[] = [];
  for (let row = 0; row < rows; row++) {
    x.push(rounded(along(matrix, row, mean, first)));
    y.push(rounded(along(matrix, row, mean, second)));
    if (row % 16 === 15) yield;
  }
  return { norms, x, y };
}

/** Enough for a picture, and half of the bytes. JSON has no infinities. */
const rounded = (value: number): number =>
  Number.isFinite(value) ? Number(value.toPrecision(6)) : 0;

function along(matrix: Float32Array, row: number, mean: Float64Array, onto: Float64Array): number {
  const dimensions = mean.length;
  let sum = 0;
  for (let d = 0; d < dimensions; d++) {
    sum += ((matrix[row * dimensions + d] as number) - (mean[d] as number)) * (onto[d] as number);
  }
  return sum;
}

/** The direction of the largest variance, orthogonal to `not`, by power iteration. */
function* direction(
  matrix: Float32Array,
  mean: Float64Array,
  not: Float64Array | undefined,
): Generator<void, Float64Array> {
  const dimensions = mean.length;
  const rows = matrix.length / dimensions;
  // Fixed, so that the picture of a version is the same each time.
  let found = Float64Array.from({ length: dimensions }, (_, d) => 1 + ((d * 7919) % 13) / 13);
  for (let round = 0; round < ROUNDS; round++) {
    unit(found, not);
    const next = new Float64Array(dimensions);
    for (let row = 0; row < rows; row++) {
      const weight = along(matrix, row, mean, found);
      for (let d = 0; d < dimensions; d++) {
        const value = (matrix[row * dimensions + d] as number) - (mean[d] as number);
        next[d] = (next[d] as number) + weight * value;
      }
      if (row % 16 === 15) yield;
    }
    if (next.every((value) => value === 0 || !Number.isFinite(value))) break;
    found = next;
  }
  unit(found, not);
  return found;
}

function unit(vector: Float64Array, not: Float64Array | undefined): void {
  if (not !== undefined) {
    const shared = vector.reduce((sum, value, d) => sum + value * (not[d] as number), 0);
    for (const [d, value] of not.entries()) vector[d] = (vector[d] as number) - shared * value;
  }
  const length = Math.sqrt(vector.reduce((sum, value) => sum + value * value, 0));
  if (length === 0) return;
  for (const [d, value] of vector.entries()) vector[d] = value / length;
}

/** `{id, version, branch, column, row_id, k}` */
export async function neighbours(caller: PageCaller, body: Body): Promise<JsonRows> {
  const column = textOf(body.column, 'column');
  const table = pinnedTable(body);
  const rows = await caller.call('TakeRows', {
    ...table,
    columns: { column_names: [column] },
    row_ids: [rowIdOf(body.row_id)],
  });
  dimensionsOf(rows, column);
  let single: number[] | undefined;
  for await (const batch of rows) {
    const vector = new Vector([batch.data.children[0] as Data]).get(0) as Vector | null;
    if (vector !== null && batch.numRows > 0) single = Array.from(vector, Number);
  }
  if (single === undefined) {
    throw new DirspaceError('InvalidInput', 'The row has no vector, or is not in this version.');
  }
  const found = await caller.call('QueryTable', {
    ...table,
    vector: { single_vector: single },
    vector_column: column,
    k: countOf(body.k ?? 10, 'k', MOST_NEIGHBOURS),
    with_row_id: true,
  });
  return jsonRows(found, 160, MOST_NEIGHBOURS);
}
