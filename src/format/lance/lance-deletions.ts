/**
 * `decodeLanceDeletions` decodes a deletion file of any writer of Lance, and returns the deleted
 * rows of the fragment in ascending order. The file is an Arrow file of one column or a portable
 * 32-bit Roaring bitmap; the caller says which. The bytes are untrusted: damage throws Corrupt, and
 * the number of the fragment's rows bounds the memory.
 */
import { bitmapBytes, columnsOf, getBit, setBit, typesEqual, Uint32 } from '../../arrow/index.ts';
import { DirspaceError, isDirspaceError } from '../../errors.ts';
import { openArrowBody } from '../../ipc/index.ts';
import { type Pause, plainPause, runSteps } from '../../steps.ts';

/** How Lance wrote the rows. */
export type LanceDeletionKind = 'arrow' | 'bitmap';

export interface LanceDeletions {
  readonly kind: LanceDeletionKind;
  /** Rows of the fragment, deleted ones included. */
  readonly rows: number;
  /** How errors name the file. */
  readonly file: string;
  readonly pause?: Pause;
}

/** The deleted rows, ascending and each once. @throws Corrupt naming the file */
export async function decodeLanceDeletions(
  bytes: Uint8Array,
  deletions: LanceDeletions,
): Promise<Uint32Array> {
  const { kind, pause = plainPause() } = deletions;
  if (kind === 'arrow') return arrowRows(bytes, deletions, pause);
  return runSteps(new Roaring(bytes, deletions).rows(), pause);
}

const damaged = (file: string, what: string, cause?: unknown): DirspaceError =>
  new DirspaceError('Corrupt', `The Lance file ${file} is damaged: ${what}.`, {
    details: { file },
    cause,
  });

/** Rows that are looked at between two steps. */
const ROWS_AT_ONCE = 1 << 16;
/** Beside the offsets, an Arrow file holds its schema and a few lengths. */
const MOST_OTHER_BYTES = 1 << 20;

const OFFSETS = new Uint32();

async function arrowRows(
  bytes: Uint8Array,
  { rows, file }: LanceDeletions,
  pause: Pause,
): Promise<Uint32Array> {
  const deleted = new Uint8Array(bitmapBytes(rows));
  let count = 0;
  try {
    const most = rows * 4 + MOST_OTHER_BYTES;
    const limits = { maxDecompressedBytes: most, maxContentBytes: most, pause };
    const stream = await openArrowBody(bytes, limits);
    const [field, ...more] = stream.schema.fields;
    const isOffsets =
      field?.name === 'row_id' && typesEqual(field.type, OFFSETS) && more.length === 0;
    if (!isOffsets) throw damaged(file, 'it is not one column row_id of 32-bit offsets');
    for await (const batch of stream) {
      const [column] = columnsOf(batch);
      if (column === undefined || column.nullCount > 0) throw damaged(file, 'an offset is null');
      const values = (column.values as Uint32Array).subarray(0, batch.numRows);
      count += await runSteps(marked(values, deleted, rows, file), pause);
    }
  } catch (error) {
    if (!isDirspaceError(error, 'InvalidInput', 'PayloadTooLarge')) throw error;
    throw damaged(file, error.message.replace(/\.$/, ''), error);
  }
  return runSteps(positions(deleted, rows, count), pause);
}

/** Sets a bit for each row; how many there are. */
function* marked(
  values: Uint32Array,
  deleted: Uint8Array,
  rows: number,
  file: string,
): Generator<undefined, number> {
  for (let at = 0; at < values.length; at++) {
    if (at % ROWS_AT_ONCE === ROWS_AT_ONCE - 1) yield;
    const row = values[at] as number;
    if (row >= rows) throw damaged(file, `row ${row} is deleted of a fragment of ${rows} rows`);
    if (getBit(deleted, row)) throw damaged(file, `row ${row} is deleted twice`);
    setBit(deleted, row);
  }
  return values.length;
}

function* positions(
  deleted: Uint8Array,
  rows: number,
  count: number,
): Generator<undefined, Uint32Array> {
  const found = new Uint32Array(count);
  let next = 0;
  for (let row = 0; row < rows && next < count; row++) {
    if (row % ROWS_AT_ONCE === ROWS_AT_ONCE - 1) yield;
    if (getBit(deleted, row)) found[next++] = row;
  }
  return found;
}

const COOKIE = 12_346;
const COOKIE_WITH_RUNS = 12_347;
/** Fewer containers have no list of positions, where runs are used. */
const FEWEST_WITH_POSITIONS = 4;
const CONTAINER_ROWS = 1 << 16;
/** A container of more rows is a bitmap. */
const MOST_IN_LIST = 4096;
const BITMAP_BYTES = CONTAINER_ROWS / 8;

interface Container {
  readonly firstRow: number;
  readonly count: number;
  readonly isRuns: boolean;
}

/** The portable serialisation of 32-bit Roaring bitmaps. */
class Roaring {
  readonly #view: DataView;
  readonly #rows: number;
  readonly #file: string;
  #at = 0;

  constructor(bytes: Uint8Array, { rows, file }: LanceDeletions) {
    this.#view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    this.#rows = rows;
    this.#file = file;
  }

  *rows(): Generator<undefined, Uint32Array> {
    const containers = this.#header();
    const total = containers.reduce((sum, { count }) => sum + count, 0);
    if (total > this.#rows) {
      throw this.#damaged(`${total} rows are deleted of a fragment of ${this.#rows}`);
    }
    const found = new Uint32Array(total);
    let next = 0;
    for (const container of containers) {
      const into = found.subarray(next, next + container.count);
      if (container.isRuns) this.#runs(container, into);
      else if (container.count > MOST_IN_LIST) this.#bits(container, into);
      else this.#list(container, into);
      next += container.count;
      yield;
    }
    if (this.#at !== this.#view.byteLength) {
      throw this.#damaged(`${this.#view.byteLength - this.#at} bytes follow its last rows`);
    }
    const last = found.at(-1) ?? -1;
    if (last >= this.#rows) {
      throw this.#damaged(`row ${last} is deleted of a fragment of ${this.#rows} rows`);
    }
    return found;
  }

  #header(): Container[] {
    const cookie = this.#u32();
    const withRuns = (cookie & 0xffff) === COOKIE_WITH_RUNS;
    if (!withRuns && cookie !== COOKIE) throw this.#damaged(`its cookie is ${cookie}`);
    const count = withRuns ? (cookie >>> 16) + 1 : this.#u32();
    if (count > CONTAINER_ROWS) throw this.#damaged(`it has ${count} containers`);
    const runs = withRuns ? this.#bytes(Math.ceil(count / 8)) : undefined;
    const containers: Container[] = [];
    let last = -1;
    for (let at = 0; at < count; at++) {
      const key = this.#u16();
      if (key <= last) throw this.#damaged(`container ${key} follows container ${last}`);
      last = key;
      containers.push({
        firstRow: key * CONTAINER_ROWS,
        count: this.#u16() + 1,
        isRuns: runs !== undefined && getBit(runs, at),
      });
    }
    // Where each container begins: they stand one behind the other anyway.
    if (!withRuns || count >= FEWEST_WITH_POSITIONS) this.#bytes(4 * count);
    return containers;
  }

  #list({ firstRow }: Container, into: Uint32Array): void {
    let last = -1;
    for (let at = 0; at < into.length; at++) {
      const row = this.#u16();
      if (row <= last) throw this.#damaged(`row ${firstRow + row} follows row ${firstRow + last}`);
      last = row;
      into[at] = firstRow + row;
    }
  }

  #bits({ firstRow }: Container, into: Uint32Array): void {
    const bits = this.#bytes(BITMAP_BYTES);
    let next = 0;
    for (let row = 0; row < CONTAINER_ROWS; row++) {
      if (!getBit(bits, row)) continue;
      if (next < into.length) into[next] = firstRow + row;
      next += 1;
    }
    if (next !== into.length) {
      throw this.#damaged(`a bitmap has ${next} rows, and ${into.length} are counted`);
    }
  }

  #runs({ firstRow }: Container, into: Uint32Array): void {
    let next = 0;
    let last = -1;
    for (let left = this.#u16(); left > 0; left--) {
      const start = this.#u16();
      const end = start + this.#u16();
      if (start <= last || end >= CONTAINER_ROWS) {
        throw this.#damaged(`rows ${firstRow + start} to ${firstRow + end} are out of order`);
      }
      last = end;
      if (next + end - start >= into.length) break;
      for (let row = start; row <= end; row++) into[next++] = firstRow + row;
      if (left === 1 && next === into.length) return;
    }
    throw this.#damaged(`its runs have other rows than the ${into.length} that are counted`);
  }

  #u16(): number {
    this.#need(2);
    this.#at += 2;
    return this.#view.getUint16(this.#at - 2, true);
  }

  #u32(): number {
    this.#need(4);
    this.#at += 4;
    return this.#view.getUint32(this.#at - 4, true);
  }

  #bytes(count: number): Uint8Array {
    this.#need(count);
    this.#at += count;
    const { buffer, byteOffset } = this.#view;
    return new Uint8Array(buffer, byteOffset + this.#at - count, count);
  }

  #need(count: number): void {
    if (this.#at + count > this.#view.byteLength) throw this.#damaged('it is cut off');
  }

  #damaged(what: string): DirspaceError {
    return damaged(this.#file, what);
  }
}
