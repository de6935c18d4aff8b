/**
 * Makes the columns of a result safe to give to a caller, who may change them or transfer them to
 * another thread. Memory that the engine or its caches also use is marked as shared
 * (shared-memory.ts), and only such memory is copied. Columns with up to 8 KiB of it are copied at
 * once, and longer ones when they are first read (lazy-data.ts). `HandOut` does this for columns,
 * and `handedOut` for a stream of record batches.
 */
import { Data, type RecordBatch, type RecordBatchStream, type Schema, Vector } from './apache.ts';
import { columnsOf, plainMaker, recordBatch } from './arrow-data.ts';
import type { TypedArrayConstructor } from './arrow-types.ts';
import { lazyData, type Own, type Part } from './lazy-data.ts';
import { ownSchema } from './own-schema.ts';
import { isShared } from './shared-memory.ts';

/** Columns of up to this many bytes are copied at once: a lazy copy would cost more. */
const SMALL_BYTES = 8 * 1024;

/** Hands out the columns of one result. Its batches share their dictionaries, as Arrow has it. */
export class HandOut {
  readonly #dictionaries = new Map<Vector, Vector>();

  /** Columns whose memory is this result's alone. */
  columns(columns: readonly Data[]): Data[] {
    const small = new SmallCopies();
    const isSmall: boolean[] = [];
    for (const column of columns) isSmall.push(small.add(column));
    const own: Own = (part) => small.own(part);
    return columns.map((column, at) =>
      isSmall[at] === true ? this.#copied(column, own) : this.#lazy(column),
    );
  }

  #copied(data: Data, own: Own): Data {
    const children: Data[] = [];
    for (const child of data.children) children.push(this.#copied(child as Data, own));
    return new CopiedData(data, children, this.#dictionary(data), own);
  }

  #lazy(data: Data): Data {
    const children = data.children.map((child) => this.#lazy(child as Data));
    return lazyData(data, children, this.#dictionary(data), ownPart);
  }

  #dictionary({ dictionary }: Data): Vector | undefined {
    if (dictionary === undefined) return undefined;
    let own = this.#dictionaries.get(dictionary);
    if (own === undefined) {
      own = new Vector(this.columns(dictionary.data));
      this.#dictionaries.set(dictionary, own);
    }
    return own;
  }
}

/** The rows of an answer as the caller's own, whatever memory they lie in. */
export const handedOut = (stream: RecordBatchStream): RecordBatchStream =>
  new HandedOutStream(stream);

class HandedOutStream implements RecordBatchStream {
  readonly schema: Schema;
  readonly #stream: RecordBatchStream;

  constructor(stream: RecordBatchStream) {
    this.schema = ownSchema(stream.schema);
    this.#stream = stream;
  }

  /** Without a generator: stepping through one takes longer than a short query. */
  [Symbol.asyncIterator](): AsyncIterator<RecordBatch> {
    const { schema } = this;
    const out = new HandOut();
    const batches = this.#stream[Symbol.asyncIterator]();
    const handOut = (result: IteratorResult<RecordBatch>): IteratorResult<RecordBatch> => {
      if (result.done === true) return result;
      const columns = out.columns(columnsOf(result.value));
      return { done: false, value: recordBatch(schema, columns, result.value.numRows) };
    };
    return {
      next: () => batches.next().then(handOut),
      return: async (value) => (await batches.return?.(value)) ?? { done: true, value },
    };
  }
}

/**
 * Copies of the short columns of a batch. Most of them lie side by side in one piece of shared
 * memory, which is copied as it is: to make memory for each would take longer than all the rest.
 */
class SmallCopies {
  #source: ArrayBufferLike | undefined;
  #from = Number.POSITIVE_INFINITY;
  #to = 0;
  #copy: ArrayBufferLike | undefined;
  #bytes = 0;
  /** An empty buffer, as most columns have one in place of a null bitmap. */
  readonly #empty = new Uint8Array(0);

  /** False for a column that is too long; it is left out. */
  add(column: Data): boolean {
    const [source, from, to] = [this.#source, this.#from, this.#to];
    this.#bytes = 0;
    this.#look(column);
    if (this.#bytes <= SMALL_BYTES) return true;
    this.#source = source;
    this.#from = from;
    this.#to = to;
    return false;
  }

  /** Once all columns were added. */
  own<Values extends Part>(part: Values): Values {
    if (part === undefined) return part;
    if (part.byteLength === 0 && part instanceof Uint8Array) return this.#empty as Values;
    if (part.byteLength === 0 || part.buffer !== this.#source) return ownPart(part);
    const span = this.#to - this.#from;
    if (span > 2 * SMALL_BYTES) return ownPart(part);
    this.#copy ??= part.buffer.slice(this.#from, this.#to);
    const Values = part.constructor as TypedArrayConstructor;
    return new Values(this.#copy, part.byteOffset - this.#from, part.length) as Values;
  }

  #look(data: Data): void {
    this.#see(data.values as Part);
    this.#see(data.valueOffsets as Part);
    this.#see(data.nullBitmap as Part);
    this.#see(data.typeIds as Part);
    for (const view of data.variadicBuffers) this.#see(view);
    for (const child of data.children) this.#look(child as Data);
  }

  #see(part: Part): void {
    if (part === undefined || part.byteLength === 0) return;
    const { buffer, byteOffset, byteLength } = part;
    if (buffer !== this.#source) {
      if (!isShared(part)) return;
      this.#source ??= buffer;
    }
    this.#bytes += byteLength;
    if (buffer !== this.#source) return;
    // Words of the copy are to lie where words may.
    if (byteOffset < this.#from) this.#from = byteOffset & ~7;
    if (byteOffset + byteLength > this.#to) this.#to = byteOffset + byteLength;
  }
}

/** Copies what is shared into memory of its own. */
const ownPart: Own = (part) => {
  if (part === undefined) return part;
  const Values = part.constructor as TypedArrayConstructor;
  // A view without bytes cannot be written into, but the memory that it is a view of can be
  // transferred.
  if (part.byteLength === 0) return new Values(0) as typeof part;
  if (!isShared(part)) return part;
  const bytes = Buffer.allocUnsafeSlow(part.byteLength);
  bytes.set(new Uint8Array(part.buffer, part.byteOffset, part.byteLength));
  return new Values(bytes.buffer, 0, part.length) as typeof part;
};

const CopiedData = plainMaker(
  Data,
  function (data: Data, children: Data[], dictionary: Vector | undefined, own: Own) {
    this.type = data.type;
    this.children = children;
    this.dictionary = dictionary;
    this.offset = data.offset;
    this.length = data.length;
    this._nullCount = (data as unknown as { _nullCount: number })._nullCount;
    this.stride = data.stride;
    this.valueOffsets = own(data.valueOffsets as Part);
    this.values = own(data.values as Part);
    this.nullBitmap = own(data.nullBitmap as Part);
    this.typeIds = own(data.typeIds as Part);
    this.variadicBuffers =
      data.variadicBuffers.length === 0 ? [] : data.variadicBuffers.map((view) => own(view));
  },
);
