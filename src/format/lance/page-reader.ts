/**
 * `PageReader` reads one page of a Lance 2.0 column. It decodes the page's encodings down to
 * buffers of bits, bytes, numbers, and the ends of texts and lists. It reads only the bytes that
 * the wanted rows need, but compressed buffers whole. Damage throws Corrupt, and an unknown
 * encoding Unsupported. `ReadBudget` limits the memory of one read to 256 MiB plus 4 times the size
 * of the files, and to 1 GiB at most; a claim beyond that throws Unsupported. `readInBatches` then
 * reads fewer rows at once, and throws only if a single row is beyond it.
 */
import { bitmapBytes, NO_BYTES, sliceBits } from '../../arrow/index.ts';
import { DirspaceError, isDirspaceError } from '../../errors.ts';
import { decodeZstdInSteps, maxZstdSize } from '../../ipc/index.ts';
import { plainPause, runSteps } from '../../steps.ts';
import { type DataPage, type LanceDataFile, onlyDropped, unreadable } from './data-file.ts';
import type { ProtoReader } from './proto-reader.ts';

/** Rows of a page, or what a column of Arrow has at those rows. */
export interface Rows {
  readonly from: number;
  readonly count: number;
}

/** Offsets of 32 bits end here. */
export const MAX_VALUE_BYTES = 2 ** 31 - 1;
/** What the rows that are read at once may take in memory, whatever their files have. */
const FREE_READ_BYTES = 256 * 1024 * 1024;
/** What they may take for each byte of the files, and at most. */
const READ_BYTES_PER_BYTE = 4;
const MAX_READ_BYTES = 2 ** 30;

/**
 * What one read may still make. Pages of nulls and dictionaries stand for many values in few bytes, so that a
 * small file could ask for any memory.
 */
export class ReadBudget {
  readonly #most: number;
  #left: number;
  readonly #name: string;

  /** @param bytes of the files */
  constructor(name: string, bytes: number) {
    this.#name = name;
    this.#most = Math.min(MAX_READ_BYTES, FREE_READ_BYTES + bytes * READ_BYTES_PER_BYTE);
    this.#left = this.#most;
  }

  /** @throws Unsupported */
  claim(bytes: number): void {
    this.#left -= bytes;
    if (this.#left < 0) throw this.#beyond();
  }

  /** For what is made whole, however few rows are read. @throws Unsupported */
  checkWhole(bytes: number): void {
    if (bytes > this.#most) throw this.#beyond();
  }

  #beyond(): DirspaceError {
    return new DirspaceError(
      'Unsupported',
      `The rows of the Lance file ${this.#name} that are read at once take more than ${this.#most} bytes. Write them in more files, or without dictionaries of long values.`,
      { details: { file: this.#name, limit: 'readBytes' } },
    );
  }
}

/**
 * Reads rows in order.
 * @param atOnce rows; fewer are read where so many are beyond the budget of a read
 * @throws Unsupported where a single row is beyond it
 */
export async function* readInBatches<Batch>(
  rows: number,
  atOnce: number,
  read: (from: number, count: number) => Promise<Batch>,
): AsyncGenerator<Batch> {
  let most = atOnce;
  for (let from = 0; from < rows; ) {
    const count = Math.min(most, rows - from);
    let batch: Batch;
    try {
      batch = await read(from, count);
    } catch (error) {
      if (count === 1 || !isBeyondBudget(error)) throw error;
      most = count >> 1;
      continue;
    }
    yield batch;
    from += count;
  }
}

const isBeyondBudget = (error: unknown): boolean =>
  isDirspaceError(error, 'Unsupported') && error.details.limit === 'readBytes';

/** `lance.encodings.ArrayEncoding` by member. */
const NAMES = [
  '',
  'flat',
  'nullable',
  'fixed_size_list',
  'list',
  'struct',
  'binary',
  'dictionary',
  'fsst',
  'packed_struct',
  'bitpacked',
  'fixed_size_binary',
  'bitpacked_for_non_neg',
  'constant',
  'inline_bitpacking',
  'out_of_line_bitpacking',
  'variable',
  'packed_struct_fixed_width_mini_block',
  'block',
  'rle',
  'general_mini_block',
  'byte_stream_split',
];

/** An encoding by name, with its message. */
export interface Encoding {
  readonly kind: string;
  readonly body: ProtoReader;
}

/** Values of so many bits in a buffer of the page. */
interface FlatValues {
  readonly bits: number;
  readonly buffer: number;
  readonly isCompressed: boolean;
}

/** The size of the content before it was compressed. */
const PREFIX_BYTES = 8;

/** Lists of a page: their ends among the items of the page, and which are there. */
export interface PageLists {
  /** One more than there are lists. */
  readonly ends: Float64Array;
  readonly validity: Uint8Array | undefined;
  readonly nulls: number;
}

export class PageReader {
  readonly file: LanceDataFile;
  readonly page: DataPage;
  readonly column: string;
  readonly budget: ReadBudget;

  /** @param column that errors name */
  constructor(file: LanceDataFile, page: DataPage, column: string, budget: ReadBudget) {
    this.file = file;
    this.page = page;
    this.column = column;
    this.budget = budget;
  }

  /** The encoding that the page begins with. */
  root(): Encoding {
    return this.encoding(this.page.encoding());
  }

  nullable(
    body: ProtoReader,
  ):
    | { readonly kind: 'all' }
    | { readonly kind: 'some'; readonly values: ProtoReader; readonly validity?: ProtoReader } {
    if (!body.next()) throw body.fault('it is empty');
    const { member } = body;
    if (member === 3) return { kind: 'all' };
    if (member !== 1 && member !== 2) throw body.fault('it is not known');
    const inner = body.part('Nullable');
    let values: ProtoReader | undefined;
    let validity: ProtoReader | undefined;
    while (inner.next()) {
      if (inner.member === member) values = inner.part('ArrayEncoding');
      else if (inner.member === 1) validity = inner.part('ArrayEncoding');
      else throw inner.fault('it is not known');
    }
    if (values === undefined || (member === 2 && validity === undefined)) {
      throw inner.fault('it has no values or no validity');
    }
    return { kind: 'some', values, ...(validity !== undefined && { validity }) };
  }

  /**
   * The ends of values or lists. A null has `adjustment` added to it.
   * @param most that an end may be
   */
  async ends(
    encoding: ProtoReader | undefined,
    { from, count }: Rows,
    adjustment: bigint,
    most: number,
  ): Promise<PageLists> {
    const before = from > 0 ? 1 : 0;
    const numbers = await this.numbers(encoding, { from: from - before, count: count + before });
    const added = adjustment > BigInt(2 ** 53) ? Number.POSITIVE_INFINITY : Number(adjustment);
    const ends = new Float64Array(count + 1);
    let validity: Uint8Array | undefined;
    let nulls = 0;
    let last = 0;
    for (let at = 0; at < numbers.length; at++) {
      const row = at - before;
      let end = numbers[at] as number;
      if (added > 0 && end >= added) {
        end -= added;
        if (row >= 0) {
          validity ??= new Uint8Array(bitmapBytes(count)).fill(0xff);
          validity[row >> 3] = (validity[row >> 3] as number) & ~(1 << (row & 7));
          nulls += 1;
        }
      }
      if (row >= 0 && end < last) throw this.damaged(`an end of ${end} follows one of ${last}`);
      if (end > most) throw this.damaged(`an end of ${end}, where ${most} are there`);
      if (row < 0) ends[0] = end;
      else ends[row + 1] = end;
      last = end;
    }
    return { ends, validity, nulls };
  }

  /** Unsigned numbers of 8, 16, 32 or 64 bits. */
  async numbers(encoding: ProtoReader | undefined, rows: Rows): Promise<ArrayLike<number>> {
    if (encoding === undefined) throw this.damaged('its ends or indices are missing');
    let found = this.encoding(encoding);
    if (found.kind === 'nullable') {
      const inner = this.nullable(found.body);
      if (inner.kind === 'all' || inner.validity !== undefined) {
        throw this.damaged('its ends or indices have nulls');
      }
      found = this.encoding(inner.values);
    }
    const { bits, ...place } =
      found.kind === 'bitpacked' ? this.#bitpacked(found.body) : this.#flatParts(found);
    if (![8, 16, 32, 64].includes(bits)) throw this.unreadable(`${bits} bits`, 'offsets');
    const width = bits / 8;
    const bytes = await this.#bytes(place, rows.from * width, (rows.from + rows.count) * width);
    const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    this.budget.claim(rows.count * 24);
    const numbers = new Float64Array(rows.count);
    for (let row = 0; row < rows.count; row++) {
      numbers[row] =
        width === 1
          ? view.getUint8(row)
          : width === 2
            ? view.getUint16(row * 2, true)
            : width === 4
              ? view.getUint32(row * 4, true)
              : view.getUint32(row * 8, true) + view.getUint32(row * 8 + 4, true) * 2 ** 32;
    }
    return numbers;
  }

  /** Bytes of values of so many bits, in memory of their own. */
  async flat(encoding: Encoding, bits: number, { from, count }: Rows): Promise<Uint8Array> {
    let inner = encoding;
    if (inner.kind === 'nullable') {
      const found = this.nullable(inner.body);
      if (found.kind === 'all' || found.validity !== undefined) {
        throw this.damaged('its bytes or bits have nulls');
      }
      inner = this.encoding(found.values);
    }
    const found = this.#flatParts(inner);
    if (found.bits !== bits) {
      throw this.damaged(`its values have ${found.bits} bits, where ${bits} are due`);
    }
    if (bits === 1) {
      const first = Math.floor(from / 8);
      const bytes = await this.#bytes(found, first, bitmapBytes(from + count));
      return sliceBits(bytes, from - first * 8, count).slice();
    }
    const width = bits / 8;
    const bytes = await this.#bytes(found, from * width, (from + count) * width);
    return new Uint8Array(bytes);
  }

  #flatParts({ kind, body }: Encoding): FlatValues {
    if (kind !== 'flat') throw this.unreadable(kind, 'plain values');
    let bits = 0;
    let buffer = 0;
    let isCompressed = false;
    while (body.next()) {
      if (body.member === 1) bits = body.uint();
      else if (body.member === 2) buffer = this.bufferIndex(body.part('Buffer'));
      else if (body.member === 3) {
        this.#requireZstd(body.part('Compression'));
        isCompressed = true;
      } else throw body.fault('it is not known');
    }
    if (bits === 0) {
      const what = `binary values of no bytes in column ${JSON.stringify(this.column)}`;
      throw onlyDropped(this.file.name, this.column, `${what}, which Lance does not read either`);
    }
    if (bits !== 1 && bits % 8 !== 0) throw this.unreadable(`${bits} bits`, 'it');
    return { bits, buffer, isCompressed };
  }

  #requireZstd(compression: ProtoReader): void {
    let scheme = '';
    while (compression.next()) {
      if (compression.member === 1) scheme = compression.text();
      else compression.skip();
    }
    if (scheme !== 'zstd') throw this.unreadable(`compressed by ${scheme.slice(0, 20)}`, 'values');
  }

  /** Whole bytes of which readers are to make longer numbers. */
  #bitpacked(body: ProtoReader): FlatValues {
    let bits = 0;
    let buffer = 0;
    while (body.next()) {
      if (body.member === 1) bits = body.uint();
      else if (body.member === 2) body.uint();
      else if (body.member === 3) buffer = this.bufferIndex(body.part('Buffer'));
      else if (body.member !== 4 || body.bool())
        throw this.unreadable('bitpacked', 'signed numbers');
    }
    return { bits, buffer, isCompressed: false };
  }

  bufferIndex(message: ProtoReader): number {
    let index = 0;
    while (message.next()) {
      if (message.member === 1) index = message.uint();
      else if (message.member !== 2 || message.uint() !== 0) {
        throw this.unreadable('buffers of files or columns', 'it');
      }
    }
    return index;
  }

  /** Bytes of values, which the caller must not keep. */
  async #bytes(
    { buffer, isCompressed }: Omit<FlatValues, 'bits'>,
    from: number,
    to: number,
  ): Promise<Uint8Array> {
    if (!isCompressed) return this.buffer(buffer, from, to);
    const range = this.page.buffers[buffer];
    if (range === undefined) throw this.damaged(`buffer ${buffer} of its page is missing`);
    if (from === to) return NO_BYTES;
    const content = await this.file.content(this.column, buffer, range, (stored) =>
      this.#decompressed(stored),
    );
    if (to > content.length)
      throw this.damaged(`a buffer of ${content.length} bytes is read from ${from} to ${to}`);
    this.budget.claim(to - from);
    return content.subarray(from, to);
  }

  /** Zstandard frames behind the size of their content. */
  async #decompressed(stored: Uint8Array): Promise<Uint8Array> {
    const refuse = (what: string): never => {
      throw this.damaged(what);
    };
    if (stored.length < PREFIX_BYTES) refuse(`a compressed buffer has ${stored.length} bytes`);
    const view = new DataView(stored.buffer, stored.byteOffset, stored.byteLength);
    const size = view.getBigUint64(0, true);
    const frames = stored.subarray(PREFIX_BYTES);
    if (size > BigInt(Math.floor(maxZstdSize(frames.length))))
      refuse(`a compressed buffer of ${stored.length} bytes is said to hold ${size}`);
    this.budget.checkWhole(Number(size));
    return runSteps(decodeZstdInSteps(frames, Number(size), refuse), plainPause());
  }

  async buffer(index: number, from: number, to: number): Promise<Uint8Array> {
    const range = this.page.buffers[index];
    if (from === to) return new Uint8Array(0);
    if (range === undefined) throw this.damaged(`buffer ${index} of its page is missing`);
    if (to > range.bytes || to - from > MAX_VALUE_BYTES) {
      throw this.damaged(`a buffer of ${range.bytes} bytes is read from ${from} to ${to}`);
    }
    this.budget.claim(to - from);
    return this.file.read(range, from, to);
  }

  encoding(message: ProtoReader): Encoding {
    if (!message.next()) throw message.fault('it is empty');
    const kind = NAMES[message.member] ?? `number ${message.member}`;
    return { kind, body: message.part(kind) };
  }

  damaged(what: string): DirspaceError {
    return this.file.damaged(`in column ${JSON.stringify(this.column)}, ${what}`);
  }

  unreadable(encoding: string, what: string): DirspaceError {
    return unreadable(
      this.file.name,
      `values of column ${JSON.stringify(this.column)} (${what}) in the encoding "${encoding}"`,
    );
  }
}

/** Items that the lists of a page refer to. */
export function pageItems(page: DataPage, file: LanceDataFile): number {
  const { kind, body } = new PageReader(file, page, '', new ReadBudget(file.name, 0)).root();
  if (kind !== 'list') return 0;
  while (body.next()) if (body.member === 3) return body.uint();
  return 0;
}
