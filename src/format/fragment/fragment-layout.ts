/**
 * Encodes (`encodeLayout`) and decodes (`decodeLayoutInSteps`) the layout of a fragment file, which
 * is JSON in the footer of the file. It tells where the columns of each batch lie, with their
 * checksums and statistics, and where dictionaries and the part for Lance lie. Damage throws
 * Corrupt, and a newer layout UnsupportedFormat. A layout of 128 KiB or more is decoded in steps,
 * and each of its columns only when `at` asks for it, which may then throw Corrupt
 * (layout-cuts.ts).
 */

import { DirspaceError } from '../../errors.ts';
import { ALIGNMENT, aligned } from '../../ipc/index.ts';
import { corrupt, isWholeNumber } from '../../json.ts';
import {
  type BufferForm,
  contentBytes,
  decodeForm,
  encodeForm,
  OFFSET_BYTES,
} from './buffer-forms.ts';
import { isPageChecksums, type PageChecksums } from './checksums.ts';
import { BATCHES, type CutBatch, cutBatches } from './layout-cuts.ts';
import { OFFSETS_BUFFER } from './wide-offsets.ts';

export const LAYOUT_KEY = 'dirspace.layout';
const FORMAT = 1;

/** One column of one batch: a contiguous range of the file. */
export interface ColumnChunk {
  /** Position in the file. */
  readonly offset: number;
  readonly bytes: number;
  readonly checksums: PageChecksums;
  /** Length and null count of the column and its children, depth first. */
  readonly nodes: readonly number[];
  /** Bytes of each buffer; each begins at the next multiple of 64 after the one before. */
  readonly buffers: readonly number[];
  readonly views: readonly number[];
  /** As statistics.ts encodes them. */
  readonly statistics: unknown;
  /** How each buffer is stored in a compressed batch; undefined in others. */
  readonly forms: readonly BufferForm[] | undefined;
  /** Whether its offsets take twice the bytes of those of its type (wide-offsets.ts). */
  readonly isWide: boolean;
}

export interface BatchLayout {
  readonly offset: number;
  readonly metadataBytes: number;
  readonly metadataChecksum: number;
  readonly rows: number;
  readonly columns: ColumnChunks;
}

/** The columns of a batch. Those of a long layout are decoded, and refused, when they are asked for. */
export interface ColumnChunks {
  readonly length: number;
  at(column: number): ColumnChunk | undefined;
}

export interface DictionaryLayout {
  readonly id: number;
  readonly offset: number;
  readonly metadataBytes: number;
  readonly metadataChecksum: number;
  readonly rows: number;
  readonly values: ColumnChunk;
}

/** A part behind the last message that readers of Arrow skip. */
export interface PartLayout {
  /** Position in the file. */
  readonly offset: number;
  readonly bytes: number;
  readonly checksum: number;
}

export interface FragmentLayout {
  /** Where the schema message lies in the footer. */
  readonly schema: readonly [offset: number, bytes: number];
  /** The beginning of the file up to the first batch. */
  readonly headBytes: number;
  readonly headChecksum: number;
  readonly batches: readonly BatchLayout[];
  readonly dictionaries: readonly DictionaryLayout[];
  readonly part: PartLayout | undefined;
  /** Columns with wide offsets, ascending. */
  readonly wide: readonly number[];
}

export function encodeLayout(layout: FragmentLayout): string {
  return JSON.stringify([
    FORMAT,
    layout.schema,
    [layout.headBytes, layout.headChecksum],
    layout.batches.map((batch) => [
      batch.metadataBytes,
      batch.metadataChecksum,
      batch.rows,
      chunksOf(batch.columns).map(encodeChunk),
    ]),
    layout.dictionaries.map((dictionary) => [
      dictionary.id,
      dictionary.metadataBytes,
      dictionary.metadataChecksum,
      dictionary.rows,
      encodeChunk(dictionary.values),
    ]),
    ...endOf(layout),
  ]);
}

/** The part, and the columns with wide offsets, as far as there are some. */
function endOf({ part, wide }: FragmentLayout): readonly unknown[] {
  const parts = part === undefined ? undefined : [part.bytes, part.checksum];
  if (wide.length > 0) return [parts ?? 0, wide];
  return parts === undefined ? [] : [parts];
}

const chunksOf = (columns: ColumnChunks): readonly ColumnChunk[] =>
  Array.from({ length: columns.length }, (_, at) => columns.at(at) as ColumnChunk);

const encodeChunk = (chunk: ColumnChunk): readonly unknown[] => [
  chunk.bytes,
  chunk.checksums,
  chunk.nodes,
  chunk.buffers,
  chunk.views,
  chunk.statistics,
  ...(chunk.forms === undefined ? [] : [chunk.forms.map(encodeForm)]),
];

/**
 * The inverse, in steps where it is long. Positions are not stored but counted up, so the parts of a
 * file always meet and together cover `end` bytes: what no part covered could change unseen.
 * @throws Corrupt naming `file`, UnsupportedFormat where a newer release wrote it
 */
export function* decodeLayoutInSteps(
  text: Uint8Array,
  end: number,
  file: string,
): Generator<undefined, FragmentLayout> {
  const reader = new LayoutReader(end, file);
  const cut = text.length < LONG_BYTES ? undefined : yield* cutBatches(text);
  if (cut === undefined) return reader.layout(parse([text], file));
  const parts = reader.parts(parse([text.subarray(0, cut.from), text.subarray(cut.to)], file));
  const batches: BatchLayout[] = [];
  for (const batch of cut.batches) {
    batches.push(reader.cutBatch(text, batch));
    yield;
  }
  return reader.whole({ ...parts, batches });
}

/** Layouts of fewer bytes are decoded in one step of about a millisecond. */
const LONG_BYTES = 1 << 17;

const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

/** The value of the text in these pieces, which are cut at characters of JSON's own. */
function parse(pieces: readonly Uint8Array[], file: string): unknown {
  let text: string;
  try {
    text = pieces.map((piece) => decoder.decode(piece)).join('');
  } catch (error) {
    throw corrupt(file, 'its footer cannot be parsed', error);
  }
  try {
    return JSON.parse(text);
  } catch (error) {
    throw corrupt(file, 'its layout is not JSON', error);
  }
}

/** The columns of a batch of a long layout, each parsed when it is first asked for. */
class StoredColumns implements ColumnChunks {
  readonly #reader: LayoutReader;
  readonly #text: Uint8Array;
  readonly #rows: number;
  readonly #batch: CutBatch;
  readonly #offsets: Float64Array;
  readonly #known: Map<number, ColumnChunk> = new Map();

  constructor(
    reader: LayoutReader,
    text: Uint8Array,
    rows: number,
    batch: CutBatch,
    offsets: Float64Array,
  ) {
    this.#reader = reader;
    this.#text = text;
    this.#rows = rows;
    this.#batch = batch;
    this.#offsets = offsets;
  }

  get length(): number {
    return this.#offsets.length;
  }

  /** @throws Corrupt */
  at(column: number): ColumnChunk | undefined {
    const known = this.#known.get(column);
    if (known !== undefined) return known;
    const start = this.#batch.starts[column];
    if (start === undefined) return undefined;
    // Behind each there is a comma, and behind the last one the ends of the list and of the batch.
    const end = (this.#batch.starts[column + 1] ?? this.#batch.to - 1) - 1;
    const chunk = this.#reader.chunkAt(
      this.#reader.parsed([this.#text.subarray(start, end)]),
      this.#rows,
      this.#offsets[column] as number,
      this.#reader.isWide(column),
    );
    this.#known.set(column, chunk);
    return chunk;
  }
}

/** A layout whose dictionaries, and the part behind them, are still to be read. */
type Parts = Omit<FragmentLayout, 'dictionaries' | 'part'> & {
  readonly dictionaries: readonly unknown[];
  readonly part: unknown;
};

const NONE: readonly number[] = [];

/** The end of a batch whose columns were cut out. */
const NO_COLUMNS = new TextEncoder().encode('[]]');

/** Made for every fragment that is read: it steps through lists without closures and iterators. */
class LayoutReader {
  readonly #end: number;
  readonly #file: string;
  /** Where the next part of the file begins. */
  #position = 0;
  #wide: readonly number[] = NONE;
  /** The same where there are some. */
  #isWide: ReadonlySet<number> | undefined;

  constructor(end: number, file: string) {
    this.#end = end;
    this.#file = file;
  }

  layout(value: unknown): FragmentLayout {
    return this.whole(this.parts(value));
  }

  /** All but the dictionaries, which lie after batches that may have been read apart. */
  parts(value: unknown): Parts {
    this.#refuseNewer(value);
    const parts = this.#list(value);
    if (parts.length < 5 || parts.length > 7) throw this.#bad(`${parts.length} members`);
    if (parts[0] !== FORMAT) throw this.#bad(`the unknown format ${String(parts[0])}`);
    const schema = this.#list(parts[1], 2);
    const head = this.#list(parts[2], 2);
    this.#position = this.#count(head[0]);
    if (parts.length === 7) {
      this.#wide = this.#ascending(parts[6]);
      this.#isWide = new Set(this.#wide);
    }
    return {
      schema: [this.#count(schema[0]), this.#count(schema[1])],
      headBytes: this.#position,
      headChecksum: this.#checksum(head[1]),
      batches: this.#list(parts[BATCHES]).map((item) => this.batch(item)),
      dictionaries: this.#list(parts[4]),
      part: parts[5] === 0 ? undefined : parts[5],
      wide: this.#wide,
    };
  }

  isWide(column: number): boolean {
    return this.#isWide?.has(column) === true;
  }

  #ascending(item: unknown): readonly number[] {
    const found = this.#counts(item);
    for (let at = 1; at < found.length; at++) {
      if ((found[at] as number) <= (found[at - 1] as number)) {
        throw this.#bad('columns that do not ascend');
      }
    }
    return found;
  }

  /** Before the number of parts is looked at, which may be another in a newer layout. */
  #refuseNewer(value: unknown): void {
    const format: unknown = Array.isArray(value) ? value[0] : undefined;
    if (!isWholeNumber(format) || format <= FORMAT) return;
    throw new DirspaceError(
      'UnsupportedFormat',
      `The file ${this.#file} uses layout ${format}; this release reads layout ${FORMAT}. Open it with a newer release of dirspace.`,
    );
  }

  whole(parts: Parts): FragmentLayout {
    const dictionaries = parts.dictionaries.map((item) => this.#dictionary(item));
    const part = parts.part === undefined ? undefined : this.#part(parts.part);
    const layout = { ...parts, dictionaries, part };
    if (this.#position === this.#end) return layout;
    throw this.#bad(`parts of ${this.#position} bytes where ${this.#end} precede its footer`);
  }

  #part(item: unknown): PartLayout {
    const parts = this.#list(item, 2);
    const offset = this.#begin(parts[0]);
    return { offset, bytes: this.#position - offset, checksum: this.#checksum(parts[1]) };
  }

  batch(item: unknown): BatchLayout {
    const parts = this.#list(item, 4);
    const offset = this.#begin(parts[0]);
    const metadataBytes = this.#position - offset;
    const metadataChecksum = this.#checksum(parts[1]);
    const rows = this.#count(parts[2]);
    const stored = this.#list(parts[3]);
    const columns: ColumnChunk[] = [];
    for (let at = 0; at < stored.length; at++) {
      columns.push(this.#chunk(stored[at], rows, this.isWide(at)));
    }
    return { offset, metadataBytes, metadataChecksum, rows, columns };
  }

  #dictionary(item: unknown): DictionaryLayout {
    const parts = this.#list(item, 5);
    const offset = this.#begin(parts[1]);
    const rows = this.#count(parts[3]);
    return {
      id: this.#count(parts[0]),
      offset,
      metadataBytes: this.#position - offset,
      metadataChecksum: this.#checksum(parts[2]),
      rows,
      values: this.#chunk(parts[4], rows, false),
    };
  }

  /** A batch of which only the numbers before its columns are parsed. */
  cutBatch(text: Uint8Array, batch: CutBatch): BatchLayout {
    const parts = this.#list(this.parsed([text.subarray(batch.from, batch.list), NO_COLUMNS]), 4);
    const offset = this.#begin(parts[0]);
    const metadataBytes = this.#position - offset;
    const metadataChecksum = this.#checksum(parts[1]);
    const rows = this.#count(parts[2]);
    const offsets = new Float64Array(batch.starts.length);
    for (let column = 0; column < offsets.length; column++) {
      offsets[column] = this.#position;
      this.#position += batch.bytes[column] as number;
      if (this.#position > this.#end) throw this.#bad('a column that is too long');
    }
    const columns = new StoredColumns(this, text, rows, batch, offsets);
    return { offset, metadataBytes, metadataChecksum, rows, columns };
  }

  parsed(pieces: readonly Uint8Array[]): unknown {
    return parse(pieces, this.#file);
  }

  /** Where a message begins whose metadata takes so many bytes. */
  #begin(metadataBytes: unknown): number {
    const offset = this.#position;
    this.#position += this.#count(metadataBytes);
    return offset;
  }

  #chunk(item: unknown, rows: number, isWide: boolean): ColumnChunk {
    const chunk = this.chunkAt(item, rows, this.#position, isWide);
    this.#position += chunk.bytes;
    return chunk;
  }

  /** @param offset where it lies in the file */
  chunkAt(item: unknown, rows: number, offset: number, isWide: boolean): ColumnChunk {
    const parts = this.#list(item);
    if (parts.length !== 6 && parts.length !== 7) throw this.#bad('a column of unknown members');
    const bytes = this.#count(parts[0]);
    if (offset + bytes > this.#end || bytes % ALIGNMENT !== 0) {
      throw this.#bad(`a column of ${bytes} bytes at ${offset}`);
    }
    const checksums = parts[1];
    if (!isPageChecksums(checksums, bytes)) {
      throw this.#bad('checksums that do not fit their column');
    }
    const nodes = this.#counts(parts[2]);
    const buffers = this.#counts(parts[3]);
    if (nodes[0] !== rows) throw this.#bad('a column of another length than its batch');
    let filled = 0;
    for (let at = 0; at < buffers.length; at++) filled += aligned(buffers[at] as number);
    if (filled !== bytes) throw this.#bad('buffers that do not fill their column');
    const views = this.#counts(parts[4]);
    const forms = parts.length === 6 ? undefined : this.#forms(parts[6], buffers);
    if (isWide && !this.#holdsOffsets(forms?.[OFFSETS_BUFFER], buffers[OFFSETS_BUFFER])) {
      throw this.#bad('wide offsets of another length');
    }
    const statistics = parts[5];
    return { offset, bytes, checksums, nodes, buffers, views, statistics, forms, isWide };
  }

  /** Whether a buffer may hold 64-bit offsets. */
  #holdsOffsets(form: BufferForm | undefined, stored = 0): boolean {
    const bytes = form === undefined ? stored : contentBytes(form, stored);
    return bytes > 0 && bytes % OFFSET_BYTES === 0;
  }

  #forms(item: unknown, buffers: readonly number[]): readonly BufferForm[] {
    return this.#list(item, buffers.length).map((each, at) => {
      const form = decodeForm(each, buffers[at] as number);
      if (form === undefined) throw this.#bad('a compressed buffer of another length');
      return form;
    });
  }

  #list(item: unknown, length?: number): readonly unknown[] {
    if (!Array.isArray(item) || (length !== undefined && item.length !== length)) {
      throw this.#bad('a member that is not the list it should be');
    }
    return item;
  }

  #counts(item: unknown): readonly number[] {
    const items = this.#list(item);
    for (let at = 0; at < items.length; at++) this.#count(items[at]);
    return items as readonly number[];
  }

  #count(item: unknown): number {
    if (typeof item === 'number' && Number.isSafeInteger(item) && item >= 0) return item;
    throw this.#bad('a member that is not a whole number');
  }

  #checksum(item: unknown): number {
    const found = this.#count(item);
    if (found > 0xffffffff) throw this.#bad('a checksum of more than 32 bits');
    return found;
  }

  #bad(what: string): Error {
    return corrupt(this.#file, `its layout has ${what}`);
  }
}
