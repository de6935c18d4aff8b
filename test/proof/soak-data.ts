/** The rows of the hostile soak: numbers, texts and vectors, made without an object for each. */
import {
  Field,
  FixedSizeList,
  Float32,
  Float64,
  Int32,
  type RecordBatch,
  recordBatchStream,
  Schema,
  Utf8,
} from '../../src/arrow/apache.ts';
import { dataOf, recordBatch } from '../../src/arrow/arrow-data.ts';
import { encodeIpcStream } from '../../src/ipc/encode/ipc-stream.ts';

const BATCH = 50_000;
const DIMENSION = 8;
const vectorType = new FixedSizeList(DIMENSION, new Field('item', new Float32(), true));
const schema = new Schema([
  new Field('id', new Int32(), true),
  new Field('x', new Float64(), true),
  new Field('s', new Utf8(), true),
  new Field('vector', vectorType, true),
]);

const mixed = (row: number): number => Math.imul(row, 2_654_435_761) >>> 0;

function batchAt(first: number, rows: number): RecordBatch {
  const row = (at: number): number => first + at;
  const ids = Int32Array.from({ length: rows }, (_, at) => row(at));
  const numbers = Float64Array.from({ length: rows }, (_, at) => mixed(row(at)));
  const bytes = Buffer.allocUnsafeSlow(rows * 24);
  const offsets = new Int32Array(rows + 1);
  for (let at = 0, end = 0; at < rows; at++) {
    end += bytes.write(`row ${mixed(row(at)).toString(36)} tail`, end);
    offsets[at + 1] = end;
  }
  const elements = Float32Array.from({ length: rows * DIMENSION }, (_, at) => mixed(first + at));
  const child = dataOf(new Float32(), elements.length, { values: elements });
  return recordBatch(
    schema,
    [
      dataOf(new Int32(), rows, { values: ids }),
      dataOf(new Float64(), rows, { values: numbers }),
      dataOf(new Utf8(), rows, { offsets, values: new Uint8Array(bytes.buffer, 0, offsets[rows]) }),
      dataOf(vectorType, rows, { children: [child] }),
    ],
    rows,
  );
}

export function* soakRows(rows: number): Generator<RecordBatch> {
  for (let first = 0; first < rows; first += BATCH) {
    yield batchAt(first, Math.min(BATCH, rows - first));
  }
}

/** Rows that the table has, as the body of a merge. */
export async function mergeBody(rows: number): Promise<Uint8Array> {
  const pieces: Uint8Array[] = [];
  const stream = recordBatchStream(schema, [batchAt(1_000, rows)]);
  for await (const piece of encodeIpcStream(stream)) pieces.push(piece);
  return Buffer.concat(pieces);
}
