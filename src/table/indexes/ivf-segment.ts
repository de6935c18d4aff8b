/**
 * `IvfSegment` reads a segment of an IVF index, from `open` until `close`. Its first file lists the
 * partitions, which stay in memory with the segment. Its second file has the blocks of their rows,
 * one partition after the other. `place` copies a partition into the memory of the WebAssembly
 * kernels that search it, unless it is there already; the next one may overwrite it. `positionsOf`
 * reads the positions of its rows. Files that do not fit each other or the vectors throw Corrupt.
 */

import { DataType, getBit } from '../../arrow/index.ts';
import type { IndexSegment } from '../../format/index.ts';
import {
  BLOCK_ROWS,
  blockBytes,
  type PartitionFacts,
  type PartitionMemory,
  type PartitionPlace,
  requirePartitions,
  rowBytes,
} from '../../indexes/index.ts';
import { corrupt } from '../../json.ts';
import type { Awaitable } from '../../store/index.ts';
import type { Engine, Snapshot } from '../versions/index.ts';
import { batchOf } from './btree-segment.ts';
import { rowsIn } from './joined-runs.ts';
import { OpenSegment } from './segment.ts';

const [PARTITIONS_FILE, BLOCKS_FILE] = [0, 1];
const [CENTROID, ROWS, SPREAD, MEASURED] = [0, 1, 2, 3];
const PARTITION_COLUMNS = 4;
const [BLOCKS, KNOWN] = [0, 1];
const BLOCK_COLUMNS = 2;

/** A partition of a segment. */
export interface IvfPartition extends PartitionFacts {
  /** Its first block, and how many there are. */
  readonly first: number;
  readonly blocks: number;
  /** Whether every search measures all of its rows. */
  readonly isMeasured: boolean;
}

interface Partitions {
  readonly list: readonly IvfPartition[];
  /** One after the other. */
  readonly centroids: Float32Array;
}

const known = new WeakMap<IndexSegment, Promise<Partitions>>();

export class IvfSegment {
  readonly segment: IndexSegment;
  readonly partitions: readonly IvfPartition[];
  readonly centroids: Float32Array;
  /** Rows that its positions count, deleted ones and vectors that are null among them. */
  readonly rows: number;
  readonly #engine: Engine;
  readonly #length: number;
  readonly #blocks: OpenSegment;

  private constructor(
    engine: Engine,
    segment: IndexSegment,
    length: number,
    { list, centroids }: Partitions,
    blocks: OpenSegment,
  ) {
    this.#engine = engine;
    this.segment = segment;
    this.#length = length;
    this.partitions = list;
    this.centroids = centroids;
    this.rows = rowsIn(segment.runs);
    this.#blocks = blocks;
  }

  /** @param length elements of a turned vector @throws Corrupt */
  static async open(
    engine: Engine,
    snapshot: Snapshot,
    segment: IndexSegment,
    length: number,
  ): Promise<IvfSegment> {
    let partitions = known.get(segment);
    if (partitions === undefined) {
      partitions = readPartitions(engine, snapshot, segment, length);
      partitions.catch(() => known.delete(segment));
      known.set(segment, partitions);
    }
    const read = await partitions;
    const blocks = await OpenSegment.open(engine, snapshot, segment, BLOCK_COLUMNS, BLOCKS_FILE);
    try {
      checkBlocks(blocks, read.list, length);
      return new IvfSegment(engine, segment, length, read, blocks);
    } catch (error) {
      blocks.close();
      throw error;
    }
  }

  close(): void {
    this.#blocks.close();
  }

  /** The file of the blocks, for errors. */
  get name(): string {
    return this.#blocks.name;
  }

  /** @throws Corrupt */
  place(number: number, memory: PartitionMemory): Awaitable<PartitionPlace> {
    const { blocks } = this.partitions[number] as IvfPartition;
    const { sketches } = this.#engine;
    const key = `${this.segment.files[BLOCKS_FILE]?.file} ${number}`;
    const kept = sketches.get(key);
    if (kept) return { kernels: kept.kernels, at: kept.at, blocks };
    return this.#copied(number, key, memory);
  }

  /** The positions of all rows of a partition. @throws Corrupt */
  async positionsOf(number: number, memory: PartitionMemory): Promise<Uint32Array> {
    const { kernels, at, blocks } = await this.place(number, memory);
    const { rows } = this.partitions[number] as IvfPartition;
    const words = new Uint32Array(kernels.memory.buffer);
    const stride = rowBytes(this.#length) / 4;
    const first = (at + blocks * blockBytes(this.#length) + this.#length) / 4 + 2;
    return Uint32Array.from({ length: rows }, (_, row) => words[first + row * stride] as number);
  }

  async #copied(number: number, key: string, memory: PartitionMemory): Promise<PartitionPlace> {
    const { blocks, rows } = this.partitions[number] as IvfPartition;
    const { sketches } = this.#engine;
    const bytes = blocks * (blockBytes(this.#length) + BLOCK_ROWS * rowBytes(this.#length));
    const kept = sketches.admit(key, bytes, requirePartitions);
    let isRead = false;
    try {
      const place = kept ?? memory.reserve(bytes);
      await this.#copy(number, place);
      isRead = true;
      return { kernels: place.kernels, at: place.at, blocks };
    } finally {
      if (kept !== undefined)
        sketches.made(key, isRead ? { ...kept, rows, dimension: this.#length } : undefined);
    }
  }

  async #copy(
    number: number,
    { kernels, at }: Pick<PartitionPlace, 'kernels' | 'at'>,
  ): Promise<void> {
    const { first, blocks } = this.partitions[number] as IvfPartition;
    const { starts, batches } = this.#blocks;
    const end = first + blocks;
    const columns = [
      [BLOCKS, blockBytes(this.#length)],
      [KNOWN, BLOCK_ROWS * rowBytes(this.#length)],
    ] as const;
    for (let batch = batchOf(starts, first); batch < batches; batch++) {
      const start = starts[batch] as number;
      if (start >= end) break;
      const from = Math.max(first, start);
      const to = Math.min(end, starts[batch + 1] as number);
      let into = at;
      for (const [column, size] of columns) {
        const read = this.#blocks.column(batch, column);
        const data = read instanceof Promise ? await read : read;
        const bytes = (data.values as unknown as Uint8Array).subarray(
          (from - start) * size,
          (to - start) * size,
        );
        new Uint8Array(kernels.memory.buffer).set(bytes, into + (from - first) * size);
        into += blocks * size;
      }
    }
  }
}

async function readPartitions(
  engine: Engine,
  snapshot: Snapshot,
  segment: IndexSegment,
  length: number,
): Promise<Partitions> {
  const open = await OpenSegment.open(
    engine,
    snapshot,
    segment,
    PARTITION_COLUMNS,
    PARTITIONS_FILE,
  );
  try {
    if (segment.files.length !== 2) {
      throw corrupt(open.name, `its segment has ${segment.files.length} files, not 2`);
    }
    const found = (open.typeOf(CENTROID) as unknown as { listSize?: number }).listSize;
    if (found !== length) {
      throw corrupt(open.name, `its vectors have ${found} elements, not ${length}`);
    }
    const centroids = new Float32Array(open.rows * length);
    const list: IvfPartition[] = [];
    let first = 0;
    let total = 0;
    for (let batch = 0; batch < open.batches; batch++) {
      const [centroid, rows, spread, measured] = [
        await open.column(batch, CENTROID),
        await open.column(batch, ROWS),
        await open.column(batch, SPREAD),
        await open.column(batch, MEASURED),
      ];
      const own = centroid.children[0]?.values as unknown as Float32Array;
      centroids.set(own.subarray(0, rows.length * length), list.length * length);
      for (let row = 0; row < rows.length; row++) {
        const count = (rows.values as unknown as Uint32Array)[row] as number;
        const blocks = Math.ceil(count / BLOCK_ROWS);
        list.push({
          rows: count,
          spread: (spread.values as unknown as Float32Array)[row] as number,
          isMeasured: getBit(measured.values as unknown as Uint8Array, measured.offset + row),
          first,
          blocks,
        });
        first += blocks;
        total += count;
      }
    }
    const covered = rowsIn(segment.runs);
    if (total > covered) {
      throw corrupt(open.name, `it has ${total} rows, and covers ${covered}`);
    }
    return { list, centroids };
  } finally {
    open.close();
  }
}

/** Whether blocks are what the partitions and their length say. */
function checkBlocks(open: OpenSegment, partitions: readonly IvfPartition[], length: number): void {
  const blocks = partitions.reduce((sum, own) => sum + own.blocks, 0);
  // A file has a row at least.
  if (open.rows !== Math.max(1, blocks)) {
    throw corrupt(open.name, `it has ${open.rows} blocks, not ${blocks}`);
  }
  for (const [column, bytes] of [
    [BLOCKS, blockBytes(length)],
    [KNOWN, BLOCK_ROWS * rowBytes(length)],
  ] as const) {
    const type = open.typeOf(column) as DataType;
    const width = DataType.isFixedSizeBinary(type) ? type.byteWidth : undefined;
    if (width !== bytes) {
      throw corrupt(open.name, `column ${column} has ${width} bytes for each block, not ${bytes}`);
    }
  }
}
