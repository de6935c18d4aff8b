/**
 * `LanceDataFile.open` opens a Lance 2.0 data file of any writer and reads its footer and its
 * schema; `column` reads the pages of a column. It reads only the ranges that it needs, and keeps
 * about 64 MiB of decoded dictionaries and buffers for later reads. The file is untrusted: damage
 * throws Corrupt. Another version of the format throws UnsupportedFormat, and an unsupported
 * encoding throws Unsupported (`unreadable`, `onlyDropped`). The messages say how to rewrite the
 * file or drop the column.
 */
import { type Data, dataBytes } from '../../arrow/index.ts';
import { DirspaceError } from '../../errors.ts';
import type { FileBytes } from '../../ipc/index.ts';
import { type ParsedField, parseField } from './parsed-fragment.ts';
import { ProtoFile, type ProtoReader } from './proto-reader.ts';

/** The bytes of a data file; they must stay the same. */
export type LanceBytes = Pick<FileBytes, 'size' | 'read'>;

/** A range of the file. */
export interface BufferRange {
  readonly at: number;
  readonly bytes: number;
}

export interface DataPage {
  /** The first of its rows, counted over the pages of the column. */
  readonly first: number;
  readonly rows: number;
  readonly buffers: readonly BufferRange[];
  /** `lance.encodings.ArrayEncoding`. Reads it anew at each call. */
  readonly encoding: () => ProtoReader;
}

export interface DataColumn {
  readonly index: number;
  readonly rows: number;
  readonly pages: readonly DataPage[];
  /** Of all its pages. */
  readonly bytes: number;
}

const FOOTER_BYTES = 40;
const MAGIC = 0x4c414e43;
const PAIR_BYTES = 16;
const MAX_COLUMNS = 65_536;
/** Largest metadata of a column, and largest schema. */
const MAX_METADATA_BYTES = 64 * 1024 * 1024;
/** What the dictionaries and decompressed buffers of a file may take while they are not needed. */
const MAX_KEPT_BYTES = 64 * 1024 * 1024;
/** Rows of a fragment are numbered with 32 bits. */
const MAX_ROWS = 2 ** 32 - 1;

/** How to get a file that is read here, for messages. */
export const HOW_TO_REWRITE =
  'Write it anew with pylance: lance.write_dataset(lance.dataset("OLD").scanner(), "NEW", data_storage_version="2.0")';

export class LanceDataFile {
  /** How errors name it. */
  readonly name: string;
  readonly rows: number;
  readonly fields: readonly ParsedField[];
  readonly metadata: ReadonlyMap<string, string>;
  readonly #bytes: LanceBytes;
  readonly size: number;
  readonly #places: readonly BufferRange[];
  readonly #columns = new Map<number, Promise<DataColumn>>();
  readonly #kept = new Map<string, { key: string; made: unknown; bytes: number }>();
  #keptBytes = 0;

  /**
   * @param size where the Lance footer ends: an Arrow file that is a Lance file too goes on behind it
   * @throws Corrupt, UnsupportedFormat for another version than 2.0
   */
  static async open(bytes: LanceBytes, name: string, size = bytes.size): Promise<LanceDataFile> {
    const fault = (what: string, at: number, member: string): DirspaceError =>
      new DirspaceError(
        'Corrupt',
        `The Lance file ${name} is damaged at byte ${at}, in ${member}: ${what}.`,
        { details: { file: name, offset: at, member } },
      );
    if (size > bytes.size) {
      throw fault(`it has ${bytes.size} bytes, where ${size} are due`, 0, 'footer');
    }
    const short = Math.min(size, FOOTER_BYTES);
    const footer = await bytes.read(size - short, size);
    const view = new DataView(footer.buffer, footer.byteOffset, footer.byteLength);
    if (footer.length < 8 || view.getUint32(footer.length - 4) !== MAGIC) {
      throw fault('it does not end with LANC', size - 4, 'footer');
    }
    const version = `${view.getUint16(footer.length - 8, true)}.${view.getUint16(footer.length - 6, true)}`;
    // 2.0 is written as 0.3.
    if (version !== '0.3' && version !== '2.0') {
      throw new DirspaceError(
        'UnsupportedFormat',
        `The Lance file ${name} has the version ${version}; 2.0 is read. ${HOW_TO_REWRITE}.`,
        { details: { file: name } },
      );
    }
    if (footer.length < FOOTER_BYTES) throw fault(`${size} bytes are no Lance file`, 0, 'footer');
    const globals = view.getUint32(24, true);
    const columns = view.getUint32(28, true);
    if (columns > MAX_COLUMNS || globals > MAX_COLUMNS) {
      throw fault(`${columns} columns and ${globals} buffers`, size - FOOTER_BYTES, 'footer');
    }
    const table = async (at: bigint, count: number, member: string): Promise<BufferRange[]> => {
      if (at > BigInt(size - count * PAIR_BYTES)) throw fault('it is outside', size - 40, member);
      const start = Number(at);
      const pairs = await bytes.read(start, start + count * PAIR_BYTES);
      if (pairs.length < count * PAIR_BYTES) throw fault('it is cut off by now', start, member);
      const words = new DataView(pairs.buffer, pairs.byteOffset, pairs.byteLength);
      return Array.from({ length: count }, (_, number) => {
        const from = words.getBigUint64(number * PAIR_BYTES, true);
        const length = words.getBigUint64(number * PAIR_BYTES + 8, true);
        if (from + length > BigInt(size) || length > BigInt(MAX_METADATA_BYTES)) {
          const place = start + number * PAIR_BYTES;
          throw fault(`${length} bytes at ${from} of a file of ${size}`, place, member);
        }
        return { at: Number(from), bytes: Number(length) };
      });
    };
    const places = await table(view.getBigUint64(8, true), columns, 'column table');
    const [first] = await table(view.getBigUint64(16, true), globals, 'buffer table');
    if (first === undefined) throw fault('it has no schema', size - FOOTER_BYTES, 'footer');
    const content = await bytes.read(first.at, first.at + first.bytes);
    const descriptor = new ProtoFile(content, `${name} (schema at byte ${first.at})`);
    const found = parseDescriptor(descriptor.message('FileDescriptor', 0, content.length));
    if (found.rows > MAX_ROWS) throw fault(`it has ${found.rows} rows`, first.at, 'FileDescriptor');
    return new LanceDataFile(bytes, name, size, places, found);
  }

  private constructor(
    bytes: LanceBytes,
    name: string,
    size: number,
    places: readonly BufferRange[],
    { rows, fields, metadata }: Descriptor,
  ) {
    this.#bytes = bytes;
    this.name = name;
    this.size = size;
    this.#places = places;
    this.rows = rows;
    this.fields = fields;
    this.metadata = metadata;
  }

  /** @param name that errors say it has @throws Corrupt, Unsupported */
  column(index: number, name: string): Promise<DataColumn> {
    let found = this.#columns.get(index);
    if (found === undefined) {
      found = this.#readColumn(index, name);
      this.#columns.set(index, found);
      // What could not be read is read again by the next call: an error of the disk may pass.
      found.catch(() => this.#columns.delete(index));
    }
    return found;
  }

  /** The dictionary of a column that was made last, or what `make` makes. */
  async dictionary(column: string, key: string, make: () => Promise<Data>): Promise<Data> {
    return this.#remembered(`dictionary of ${column}`, key, make, dataBytes);
  }

  /** The content of a compressed buffer that was made last, or what `make` makes of its bytes. */
  async content(
    column: string,
    index: number,
    range: BufferRange,
    make: (stored: Uint8Array) => Promise<Uint8Array>,
  ): Promise<Uint8Array> {
    const decode = async (): Promise<Uint8Array> => make(await this.read(range, 0, range.bytes));
    const slot = `buffer ${index} of ${column}`;
    return this.#remembered(slot, String(range.at), decode, ({ length }) => length);
  }

  /**
   * What is kept in a slot, if it was made for the same key. Of much the oldest is made again: columns may
   * share the bytes of one dictionary.
   */
  async #remembered<Made>(
    slot: string,
    key: string,
    make: () => Promise<Made>,
    bytesOf: (made: Made) => number,
  ): Promise<Made> {
    const known = this.#kept.get(slot);
    if (known?.key === key) return known.made as Made;
    this.#forget(slot);
    const made = await make();
    this.#forget(slot);
    const bytes = bytesOf(made);
    this.#kept.set(slot, { key, made, bytes });
    this.#keptBytes += bytes;
    for (const other of this.#kept.keys()) {
      if (this.#keptBytes <= MAX_KEPT_BYTES || other === slot) break;
      this.#forget(other);
    }
    return made;
  }

  #forget(slot: string): void {
    this.#keptBytes -= this.#kept.get(slot)?.bytes ?? 0;
    this.#kept.delete(slot);
  }

  /** Bytes of a buffer of a page. */
  async read({ at, bytes }: BufferRange, from: number, to: number): Promise<Uint8Array> {
    if (to > bytes) throw this.damaged(`a buffer of ${bytes} bytes is read up to ${to}`);
    const found = await this.#bytes.read(at + from, at + to);
    if (found.length === to - from) return found;
    throw this.damaged(`it has no bytes from ${at + from + found.length} on any more`);
  }

  damaged(what: string): DirspaceError {
    return new DirspaceError('Corrupt', `The Lance file ${this.name} is damaged: ${what}.`, {
      details: { file: this.name },
    });
  }

  async #readColumn(index: number, name: string): Promise<DataColumn> {
    const place = this.#places[index];
    if (place === undefined) {
      throw this.damaged(`column ${index} is named, and it has ${this.#places.length}`);
    }
    const content = await this.read(place, 0, place.bytes);
    const source = new ProtoFile(content, `${this.name} (column ${index} at byte ${place.at})`);
    const message = source.message('ColumnMetadata', 0, content.length);
    const pages: DataPage[] = [];
    let rows = 0;
    let bytes = 0;
    let isPlain = false;
    const shared = new Set<string>();
    while (message.next()) {
      if (message.member === 1) {
        this.#checkValues(message.part('Encoding'), name);
        isPlain = true;
      } else if (message.member === 2) {
        const page = this.#page(message.item('Page'), rows);
        rows += page.rows;
        if (rows > MAX_ROWS) throw message.fault(`more than ${MAX_ROWS} rows`);
        bytes += ownBytes(page, shared);
        // What is counted twice could be read without end.
        if (bytes > this.size) throw message.fault('its pages take more bytes than the file');
        pages.push(page);
      } else if (message.member !== 3 && message.member !== 4) {
        throw message.fault('it is not known');
      }
    }
    if (!isPlain) throw this.damaged(`column ${index} has no encoding`);
    return { index, rows, pages, bytes };
  }

  /** The column must hold plain values, without an index of zones and without blobs. */
  #checkValues(message: ProtoReader, name: string): void {
    const encoding = directEncoding(message, 'ColumnEncoding', this.name);
    const kind = encoding.next() ? encoding.member : undefined;
    if (kind === 1) return;
    const place = `in column ${JSON.stringify(name)}`;
    // pylance writes blobs anew as blobs.
    if (kind === 3) throw onlyDropped(this.name, name, `blobs ${place}, which are not read`);
    const what = kind === 2 ? 'zones' : 'values in an encoding of their own';
    throw unreadable(this.name, `${what} ${place}`);
  }

  #page(message: ProtoReader, first: number): DataPage {
    const places: number[] = [];
    const sizes: number[] = [];
    let rows = 0;
    let encoding: Uint8Array | undefined;
    let encodingAt = 0;
    while (message.next()) {
      switch (message.member) {
        case 1:
          message.uints(places);
          break;
        case 2:
          message.uints(sizes);
          break;
        case 3:
          rows = message.uint();
          break;
        case 4: {
          const direct = directEncoding(message.part('Encoding'), 'ArrayEncoding', this.name);
          encoding = direct.content;
          encodingAt = direct.start;
          break;
        }
        case 5:
          message.uint();
          break;
        default:
          throw message.fault('it is not known');
      }
    }
    if (places.length !== sizes.length) {
      throw message.fault(`${places.length} buffers with ${sizes.length} sizes`);
    }
    const buffers = places.map((at, number) => {
      const bytes = sizes[number] as number;
      if (at + bytes > this.size) {
        throw message.fault(`${bytes} bytes at ${at} of a file of ${this.size}`);
      }
      return { at, bytes };
    });
    if (encoding === undefined) throw message.fault('it has no encoding');
    const content = encoding;
    const name = `${this.name} (encoding at byte ${encodingAt} of its column)`;
    return {
      first,
      rows,
      buffers,
      encoding: () => new ProtoFile(content, name).message('ArrayEncoding', 0, content.length),
    };
  }
}

/** Bytes of a page that no page before has; only dictionaries are shared. */
function ownBytes({ buffers, encoding }: DataPage, shared: Set<string>): number {
  const message = encoding();
  const isDictionary = message.next() && message.member === 7;
  return buffers.reduce((sum, { at, bytes }, number) => {
    if (!isDictionary || number === 0) return sum + bytes;
    const key = `${at}:${bytes}`;
    if (shared.has(key)) return sum;
    shared.add(key);
    return sum + bytes;
  }, 0);
}

interface Descriptor {
  readonly rows: number;
  readonly fields: readonly ParsedField[];
  readonly metadata: ReadonlyMap<string, string>;
}

/** `lance.file.FileDescriptor`. */
function parseDescriptor(message: ProtoReader): Descriptor {
  const fields: ParsedField[] = [];
  const metadata = new Map<string, string>();
  let rows = 0;
  while (message.next()) {
    if (message.member === 1) {
      const schema = message.part('Schema');
      while (schema.next()) {
        if (schema.member === 1) fields.push(parseField(schema.item('Field')));
        else if (schema.member === 5) schema.entry(metadata);
        else schema.skip();
      }
    } else if (message.member === 2) rows = message.uint();
    else message.skip();
  }
  return { rows, fields, metadata };
}

/** What an `Encoding` holds: an `Any` of the type, in the message itself. */
function directEncoding(message: ProtoReader, type: string, file: string): ProtoReader {
  let found: ProtoReader | undefined;
  while (message.next()) {
    if (message.member !== 2) throw unreadable(file, 'encodings that stand elsewhere in the file');
    const direct = message.part('DirectEncoding');
    while (direct.next()) {
      if (direct.member !== 1) throw direct.fault('it is not known');
      found = anyOf(direct.part('Any'), type, file);
    }
  }
  if (found === undefined) throw message.fault('it is empty');
  return found;
}

function anyOf(message: ProtoReader, type: string, file: string): ProtoReader {
  let url = '';
  let found: ProtoReader | undefined;
  while (message.next()) {
    if (message.member === 1) url = message.text();
    else if (message.member === 2) found = message.part(type);
    else throw message.fault('it is not known');
  }
  if (!url.endsWith(`.${type}`)) throw unreadable(file, `encodings of type ${url.slice(0, 80)}`);
  if (found === undefined) throw message.fault('it is empty');
  return found;
}

/** @param what stands in the file, in the plural */
export const unreadable = (file: string, what: string): DirspaceError =>
  new DirspaceError(
    'Unsupported',
    `The Lance file ${file} holds ${what}, which are not read. ${HOW_TO_REWRITE}.`,
    { details: { file } },
  );

/** @param what stands in the file, as the end of a sentence; pylance would write it again */
export const onlyDropped = (file: string, column: string, what: string): DirspaceError =>
  new DirspaceError(
    'Unsupported',
    `The Lance file ${file} holds ${what}. Drop the column with Lance first.`,
    { details: { file, column } },
  );
