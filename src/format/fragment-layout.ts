/**
 * The layout of a fragment: where each column of each batch lies, its checksums and statistics.
 * It stands as JSON in the footer's metadata, so that readers need no other part of the file to
 * find a column. Owns that JSON form and the checks on it.
 */

import { ALIGNMENT, aligned } from './alignment.ts';
import { isPageChecksums, type PageChecksums } from './checksums.ts';
import { corrupt } from './json.ts';

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
}

export interface BatchLayout {
  readonly offset: number;
  readonly metadataBytes: number;
  readonly metadataChecksum: number;
  readonly rows: number;
  readonly columns: readonly ColumnChunk[];
}

export interface DictionaryLayout {
  readonly id: number;
  readonly offset: number;
  readonly metadataBytes: number;
  readonly metadataChecksum: number;
  readonly rows: number;
  readonly values: ColumnChunk;
}

export interface FragmentLayout {
  /** Where the schema message lies in the footer. */
  readonly schema: readonly [offset: number, bytes: number];
  /** The beginning of the file up to the first batch. */
  readonly headBytes: number;
  readonly headChecksum: number;
  readonly batches: readonly BatchLayout[];
  readonly dictionaries: readonly DictionaryLayout[];
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
      batch.columns.map(encodeChunk),
    ]),
    layout.dictionaries.map((dictionary) => [
      dictionary.id,
      dictionary.metadataBytes,
      dictionary.metadataChecksum,
      dictionary.rows,
      encodeChunk(dictionary.values),
    ]),
  ]);
}

const encodeChunk = (chunk: ColumnChunk): readonly unknown[] => [
  chunk.bytes,
  chunk.checksums,
  chunk.nodes,
  chunk.buffers,
  chunk.views,
  chunk.statistics,
];

/**
 * The inverse. Positions are not stored but counted up, so the parts of a file always meet and
 * together cover `end` bytes: what no part covered could change unseen.
 * @throws Corrupt naming `file`
 */
export function decodeLayout(text: string, end: number, file: string): FragmentLayout {
  const bad = (what: string) => corrupt(file, `its layout has ${what}`);
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    throw corrupt(file, 'its layout is not JSON', error);
  }
  const [format, schema, head, batches, dictionaries] = list(value, 5);
  if (format !== FORMAT) throw bad(`the unknown format ${String(format)}`);
  const [schemaAt, schemaBytes] = list(schema, 2);
  const [headBytes, headChecksum] = list(head, 2);
  let position = count(headBytes);

  return finish({
    schema: [count(schemaAt), count(schemaBytes)],
    headBytes: position,
    headChecksum: checksum(headChecksum),
    batches: list(batches).map((item) => {
      const [metadataBytes, metadataChecksum, rows, columns] = list(item, 4);
      const offset = begin(metadataBytes);
      const known = count(rows);
      return {
        offset,
        metadataBytes: position - offset,
        metadataChecksum: checksum(metadataChecksum),
        rows: known,
        columns: list(columns).map((column) => chunk(column, known)),
      };
    }),
    dictionaries: list(dictionaries).map((item) => {
      const [id, metadataBytes, metadataChecksum, rows, values] = list(item, 5);
      const offset = begin(metadataBytes);
      const known = count(rows);
      return {
        id: count(id),
        offset,
        metadataBytes: position - offset,
        metadataChecksum: checksum(metadataChecksum),
        rows: known,
        values: chunk(values, known),
      };
    }),
  });

  function finish(layout: FragmentLayout): FragmentLayout {
    if (position !== end) throw bad(`parts of ${position} bytes where ${end} precede its footer`);
    return layout;
  }

  /** Where a message begins whose metadata takes so many bytes. */
  function begin(metadataBytes: unknown): number {
    const offset = position;
    position += count(metadataBytes);
    return offset;
  }

  function chunk(item: unknown, rows: number): ColumnChunk {
    const [bytes, checksums, nodes, buffers, views, statistics] = list(item, 6);
    const offset = position;
    const length = count(bytes);
    position += length;
    if (position > end || length % ALIGNMENT !== 0) throw bad('a column that is too long');
    if (!isPageChecksums(checksums, length)) throw bad('checksums that do not fit their column');
    const lengths = counts(nodes);
    const sizes = counts(buffers);
    if (lengths[0] !== rows) throw bad('a column of another length than its batch');
    if (sizes.reduce((sum, size) => sum + aligned(size), 0) !== length) {
      throw bad('buffers that do not fill their column');
    }
    return {
      offset,
      bytes: length,
      checksums,
      nodes: lengths,
      buffers: sizes,
      views: counts(views),
      statistics,
    };
  }

  function list(item: unknown, length?: number): readonly unknown[] {
    if (!Array.isArray(item) || (length !== undefined && item.length !== length)) {
      throw bad('a member that is not the list it should be');
    }
    return item;
  }

  function counts(item: unknown): readonly number[] {
    const items = list(item);
    for (const entry of items) count(entry);
    return items as readonly number[];
  }

  function count(item: unknown): number {
    if (typeof item !== 'number' || !Number.isSafeInteger(item) || item < 0) {
      throw bad('a member that is not a whole number');
    }
    return item;
  }

  function checksum(item: unknown): number {
    const found = count(item);
    if (found > 0xffffffff) throw bad('a checksum of more than 32 bits');
    return found;
  }
}
