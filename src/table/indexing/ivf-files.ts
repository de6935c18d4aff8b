/**
 * `writeIvfFiles` builds a segment of an IVF index over the vectors of some fragments. It scans
 * them twice: first to take a sample and find centroids, then to assign each vector to a partition.
 * Memory holds the sample, and a short form of every vector; `ivfRows` tells how many vectors a
 * segment can have for that. More than the memory of the request throws InvalidInput, and memory that the
 * system does not give ResourceExhausted. The first
 * file lists the partitions, and the second has blocks of their rows (indexes/ivf/layout.ts). A
 * runtime without WebAssembly SIMD throws Unsupported.
 */
import {
  Bool,
  columnsOf,
  type Data,
  type DataType,
  dataOf,
  Field,
  FixedSizeBinary,
  FixedSizeList,
  Float32,
  type RecordBatch,
  type RecordBatchStream,
  recordBatch,
  recordBatchStream,
  setBit,
  Uint32,
} from '../../arrow/index.ts';
import { DirspaceError } from '../../errors.ts';
import {
  BLOCK_ROWS,
  IvfBuilder,
  type IvfOptions,
  ivfParameters,
  lengthOf,
  type Partition,
  requirePartitions,
} from '../../indexes/index.ts';
import type { JsonObject } from '../../json.ts';
import { quotedPath } from '../../sql-quotes.ts';
import { listSizeOf, vectorsOf } from '../query/index.ts';
import { requestMemory, type ScanRequest, scan } from '../read/index.ts';
import type { Engine, Snapshot } from '../versions/index.ts';
import { inTurns, Turn } from '../work/index.ts';
import { segmentSchema, type WrittenSegmentFiles, writeSegmentFiles } from './write-segment.ts';

/** Bytes of codes that a builder holds at most, but for fragments that are larger alone. */
const MOST_BYTES = 256 * 1024 * 1024;
/** Bytes of a batch of blocks, about. */
const BATCH_BYTES = 1 << 20;
const MOST_BATCH_ROWS = 4_096;

/** Rows of a segment of such vectors. */
export const ivfRows = (dimension: number): number =>
  Math.max(1, Math.floor(MOST_BYTES / IvfBuilder.rowBytes(dimension)));

/**
 * @param part the fragments of the segment alone, none of their rows deleted
 * @param onRows is told how many rows are done
 * @throws Unsupported where the runtime lacks the kernels
 */
export async function writeIvfFiles(
  engine: Engine,
  part: Snapshot,
  parameters: JsonObject,
  { path, type }: { readonly path: readonly string[]; readonly type: DataType },
  signal: AbortSignal | undefined,
  onRows: ((rows: number) => void) | undefined,
): Promise<WrittenSegmentFiles> {
  const { metric, partitions, sampleRate, iterations } = ivfParameters(parameters);
  const dimension = listSizeOf(type);
  const rows = part.rowCount;
  const options = {
    metric,
    dimension,
    rows,
    partitions: partitions(rows),
    sampleRate,
    iterations,
  };
  const memory = requestMemory(engine);
  const held = memory.hold('The vectors of an index');
  const turn = new Turn(engine.env);
  try {
    held.set(IvfBuilder.bytesOf(options));
    const kernels = requirePartitions();
    const builder = await allocating(options, () => new IvfBuilder(kernels, options));
    const columns = { vector: quotedPath(path) };
    const wanted: ScanRequest = { columns, keep: false, fresh: true, signal, memory };
    for await (const batch of await scan(engine, part, wanted)) {
      await inTurns(turn, builder.sample(vectorsIn(batch, dimension)), signal);
    }
    await allocating(options, () => inTurns(turn, builder.train(), signal));
    let position = 0;
    for await (const batch of await scan(engine, part, wanted)) {
      await inTurns(turn, builder.add(vectorsIn(batch, dimension), position), signal);
      position += batch.numRows;
      onRows?.(position);
    }
    const found = await inTurns(turn, builder.partitions(), signal);
    return await writeSegmentFiles(engine, part.branch.tableFolder, signal, async (write) => {
      await write(partitionRows(found, lengthOf(dimension)));
      const size = builder.blockBytes + builder.knownBytes;
      const batchRows = Math.max(1, Math.min(MOST_BATCH_ROWS, Math.floor(BATCH_BYTES / size)));
      await write(blockRows(builder, found, batchRows, turn), batchRows);
    });
  } finally {
    held.end();
  }
}

/** Runs work that takes the memory of a builder. @throws ResourceExhausted where the system has none */
async function allocating<Result>(
  options: IvfOptions,
  work: () => Result | Promise<Result>,
): Promise<Result> {
  try {
    return await work();
  } catch (cause) {
    if (!(cause instanceof RangeError)) throw cause;
    const { rows, dimension, partitions } = options;
    const megabytes = Math.ceil(IvfBuilder.bytesOf(options) / (1 << 20));
    throw new DirspaceError(
      'ResourceExhausted',
      `An index of ${rows} vectors of ${dimension} elements in ${partitions} partitions takes about ${megabytes} MiB of memory while it is built, and the system gave no more: ${cause.message}. Give the process more memory, or ask for fewer partitions or a lower sample rate.`,
      { cause },
    );
  }
}

const vectorsIn = (batch: RecordBatch, dimension: number): ReturnType<typeof vectorsOf> =>
  vectorsOf(columnsOf(batch)[0] as Data, batch.numRows, dimension);

/** Partitions of a batch. */
const BATCH_PARTITIONS = 256;

function partitionRows(partitions: readonly Partition[], length: number): RecordBatchStream {
  const element = new Field('item', new Float32(), false);
  const list = new FixedSizeList(length, element);
  const schema = segmentSchema([
    new Field('centroid', list, false),
    new Field('rows', new Uint32(), false),
    new Field('spread', new Float32(), false),
    new Field('measured', new Bool(), false),
  ]);
  const batches = async function* (): AsyncGenerator<RecordBatch> {
    for (let from = 0; from < partitions.length; from += BATCH_PARTITIONS) {
      const some = partitions.slice(from, from + BATCH_PARTITIONS);
      const rows = some.length;
      const centroids = new Float32Array(rows * length);
      const measured = new Uint8Array((rows + 7) >> 3);
      for (const [row, { centroid, isOdd }] of some.entries()) {
        centroids.set(centroid, row * length);
        if (isOdd) setBit(measured, row);
      }
      const children = [dataOf(new Float32(), rows * length, { values: centroids })];
      const counts = Uint32Array.from(some, (partition) => partition.rows.length);
      const spreads = Float32Array.from(some, ({ spread }) => spread);
      yield recordBatch(
        schema,
        [
          dataOf(list, rows, { children }),
          dataOf(new Uint32(), rows, { values: counts }),
          dataOf(new Float32(), rows, { values: spreads }),
          dataOf(new Bool(), rows, { values: measured }),
        ],
        rows,
      );
    }
  };
  return recordBatchStream(schema, batches());
}

/** A file has a row at least: where there is no vector at all, a block without rows. */
function blockRows(
  builder: IvfBuilder,
  partitions: readonly Partition[],
  batchRows: number,
  turn: Turn,
): RecordBatchStream {
  const { blockBytes, knownBytes } = builder;
  const [bits, known] = [new FixedSizeBinary(blockBytes), new FixedSizeBinary(knownBytes)];
  const schema = segmentSchema([new Field('block', bits, false), new Field('rows', known, false)]);
  const batches = async function* (): AsyncGenerator<RecordBatch> {
    let count = 0;
    let blocks = new Uint8Array(batchRows * blockBytes);
    let rows = new Uint8Array(batchRows * knownBytes);
    const batch = (): RecordBatch => {
      const columns = [
        dataOf(bits, count, { values: blocks.subarray(0, count * blockBytes) }),
        dataOf(known, count, { values: rows.subarray(0, count * knownBytes) }),
      ];
      const made = recordBatch(schema, columns, count);
      blocks = new Uint8Array(batchRows * blockBytes);
      rows = new Uint8Array(batchRows * knownBytes);
      count = 0;
      return made;
    };
    const isEmpty = partitions.every((partition) => partition.rows.length === 0);
    for (const partition of partitions) {
      const end = isEmpty ? 1 : partition.rows.length;
      for (let from = 0; from < end; from += BLOCK_ROWS) {
        builder.writeBlock(
          partition,
          from,
          blocks.subarray(count * blockBytes, (count + 1) * blockBytes),
          rows.subarray(count * knownBytes, (count + 1) * knownBytes),
        );
        count += 1;
        if (count === batchRows) yield batch();
        if (turn.isOver()) await turn.pass();
      }
    }
    if (count > 0) yield batch();
  };
  return recordBatchStream(schema, batches());
}
