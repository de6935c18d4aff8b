/**
 * `LancePartWriter` writes the Lance part of a fragment, which makes the Arrow file a Lance 2.0
 * file too. The part tells, page by page, where the buffers of the record batches lie in the same
 * file, so that values are not stored twice. If Lance could not read the fragment, `finish` returns
 * undefined, the fragment gets no part, and `entry` holds the reason. `lanceColumns` returns the
 * number of columns of a written part, or -1 if no part ends there. column-pages.ts describes the
 * pages.
 *
 * Source: file.proto and file2.proto of the Lance repository.
 */
import { crc32 } from 'node:zlib';
import type { Field } from '../../arrow/index.ts';
import { fieldIdsOf } from '../../ipc/index.ts';
import type { LanceEntry } from '../catalog/index.ts';
import {
  END_OF_MESSAGES,
  type PartWriter,
  type StoredColumn,
  type WrittenPart,
} from '../fragment/index.ts';
import {
  BatchPages,
  type DictionaryValues,
  dictionaryValues,
  type PageBuffer,
  type PageParts,
  type PendingPage,
} from './column-pages.ts';
import { fieldMembers, lanceFields } from './lance-fields.ts';
import { beginColumn, type FileRange, type Page, writePage } from './page-encoding.ts';
import { message } from './protobuf.ts';

/** Of the part's own buffers. */
const ALIGNMENT = 8;
const PADDING = new Uint8Array(ALIGNMENT);
const FOOTER_BYTES = 40;
/** Used again for each part: one is made at a time, without a break. */
const FILE_END = message();
const MAGIC = 'LANC';
/** Lance 2.0 is written as 0.3 in files. */
const MAJOR = 0;
const MINOR = 3;

/** Collects the pages of one fragment. Once a problem is found, the fragment gets no part. */
export class LancePartWriter implements PartWriter {
  readonly #schema: readonly Field[];
  readonly #lance: LanceSchema;
  readonly #pages: PendingPage[][];
  readonly #dictionaries = new Map<number, DictionaryValues>();
  /** The first batch, as long as it may turn out to be the only one and to have a known part. */
  #held: Batch | undefined;
  #batches = 0;
  /** Of the only batch, where it has few rows. */
  #shape: readonly number[] | undefined;
  #rows = 0;
  #problem: Extract<LanceEntry, { problem: string }> | undefined;
  #summary: LanceEntry | undefined;

  /** @param fields of the fragment, carrying their ids, dictionaries numbered */
  constructor(fields: readonly Field[]) {
    this.#schema = fields;
    this.#lance = schemaOf(fields);
    const { ids, problem } = this.#lance;
    this.#problem = problem === undefined ? undefined : { problem };
    this.#pages = ids.map(() => []);
  }

  /** For the manifest, once the file is finished. */
  get entry(): LanceEntry | undefined {
    return this.#problem ?? this.#summary;
  }

  batch(columns: readonly StoredColumn[], offsets: readonly number[], rows: number): void {
    if (this.#problem !== undefined) return;
    const batch = { columns, offsets, rows };
    if (this.#batches++ === 0 && isLike(batch, this.#lance.last)) this.#held = batch;
    else {
      this.#addHeld();
      this.#add(batch);
    }
  }

  dictionary(id: number, values: StoredColumn, offset: number): void {
    if (this.#problem === undefined) this.#dictionaries.set(id, dictionaryValues(values, offset));
  }

  finish(position: number): WrittenPart | undefined {
    const { last } = this.#lance;
    if (this.#held !== undefined && last?.position === position) {
      this.#summary = last.summary;
      return last.part;
    }
    this.#addHeld();
    if (this.#problem !== undefined) return undefined;
    const file = new FileEnd(position);
    const columns = this.#placed(file);
    // Dictionaries may have become too large.
    if (this.#problem !== undefined) return undefined;
    const summary = this.#write(file, columns);
    const bytes = file.written.finish().slice();
    const part = { bytes, checksum: crc32(bytes) };
    // What dictionaries hold is in no shape.
    if (this.#shape !== undefined && !file.hasOwnBuffers && this.#dictionaries.size === 0)
      this.#lance.last = { shape: this.#shape, position, part, summary };
    this.#summary = summary;
    return part;
  }

  #addHeld(): void {
    const held = this.#held;
    this.#held = undefined;
    if (held !== undefined) this.#add(held);
  }

  #add(batch: Batch): void {
    const { columns, offsets, rows } = batch;
    const isShared = this.#batches === 1 && rows <= FEW_ROWS && !isCompressed(batch);
    this.#shape = isShared ? shapeOf(batch) : undefined;
    const pages = new BatchPages(this.#pages, this.#rows, (problem) => {
      this.#problem ??= { problem, inValues: true };
    });
    for (const [at, column] of columns.entries()) {
      pages.column(this.#schema[at] as Field, column, offsets[at] as number);
    }
    this.#rows += rows;
  }

  #write(file: FileEnd, columns: readonly Page[][]): LanceEntry {
    const { written } = file;
    const descriptorAt = file.position;
    // `lance.file.FileDescriptor`: the schema and the rows.
    written.bytes(1, this.#lance.members).integer(2, this.#rows);
    const columnsAt = file.position;
    const ends = columns.map((pages) => {
      beginColumn(written);
      for (const page of pages) writePage(written, page);
      return file.position;
    });
    const tableAt = file.position;
    let begin = columnsAt;
    for (const end of ends) {
      written.fixed64(begin).fixed64(end - begin);
      begin = end;
    }
    const globalsAt = file.position;
    written.fixed64(descriptorAt).fixed64(columnsAt - descriptorAt);
    written.fixed64(columnsAt).fixed64(tableAt).fixed64(globalsAt);
    written.append(this.#lance.footerEnd);
    const summary = { fileSize: file.position, fields: this.#lance.ids };
    file.pad();
    return summary;
  }

  /** The pages of all columns, whose own buffers are written. */
  #placed(file: FileEnd): Page[][] {
    const place = (buffer: PageBuffer): FileRange => file.place(buffer);
    return this.#pages.map((pages) =>
      pages.map(({ rows, priority, parts }) => {
        const { buffers, encoding }: PageParts =
          typeof parts === 'function' ? parts(this.#dictionaries) : parts;
        return { rows, priority, encoding, buffers: buffers.map(place) };
      }),
    );
  }
}

interface Batch {
  readonly columns: readonly StoredColumn[];
  /** Where each column begins in the file. */
  readonly offsets: readonly number[];
  readonly rows: number;
}

/** Parts of larger fragments take no time beside their rows, and are not kept. */
const FEW_ROWS = 64;

const isCompressed = ({ columns }: Batch): boolean => columns[0]?.forms !== undefined;

/** All numbers of a batch that its pages say, so that batches of one shape have the same pages. */
function shapeOf({ columns, offsets, rows }: Batch): readonly number[] {
  const shape = [rows];
  for (const [at, { nodes, buffers }] of columns.entries())
    shape.push(offsets[at] as number, ...nodes, ...buffers);
  return shape;
}

/** Whether the batch has the shape of the one that the part was made of. */
function isLike({ columns, offsets, rows }: Batch, last: KnownPart | undefined): boolean {
  if (last === undefined) return false;
  const { shape } = last;
  if (shape[0] !== rows) return false;
  let next = 1;
  for (let at = 0; at < columns.length; at++) {
    const { nodes, buffers, forms } = columns[at] as StoredColumn;
    if (forms !== undefined) return false;
    if (shape[next++] !== offsets[at]) return false;
    for (let each = 0; each < nodes.length; each++) if (shape[next++] !== nodes[each]) return false;
    for (let each = 0; each < buffers.length; each++)
      if (shape[next++] !== buffers[each]) return false;
  }
  return true;
}

/** A part that holds nothing of its own, and so is that of every fragment of the same shape. */
interface KnownPart {
  readonly shape: readonly number[];
  readonly position: number;
  readonly part: WrittenPart;
  readonly summary: LanceEntry;
}

interface LanceSchema {
  /** The ids of all fields that Lance sees, depth first. */
  readonly ids: readonly number[];
  /** The fields as the file says them. */
  readonly members: Uint8Array;
  readonly footerEnd: Uint8Array;
  readonly problem: string | undefined;
  /** The newest part of a few rows: small commits follow each other with rows of one shape. */
  last: KnownPart | undefined;
}

/** By the fields of a prepared schema, which the fragments of a table share. */
const schemas = new WeakMap<readonly Field[], LanceSchema>();

function schemaOf(fields: readonly Field[]): LanceSchema {
  const known = schemas.get(fields);
  if (known !== undefined) return known;
  const found = lanceFields(fields, fieldIdsOf(fields) as readonly number[]);
  const listed = 'fields' in found ? found.fields : [];
  const members = message();
  for (const field of listed) members.message(1, fieldMembers(field));
  const schema = {
    ids: listed.map(({ id }) => id),
    members: members.finish(),
    footerEnd: footerEnd(listed.length),
    problem: 'problem' in found ? found.problem : undefined,
    last: undefined,
  };
  schemas.set(fields, schema);
  return schema;
}

/** What is appended to a file from a position on. */
class FileEnd {
  readonly #begin: number;
  readonly written = FILE_END.reset();
  /** Buffers that several pages share are written once. */
  #shared: Map<Uint8Array, number> | undefined;

  constructor(position: number) {
    this.#begin = position;
    this.written.append(END_OF_MESSAGES);
    this.pad();
  }

  get hasOwnBuffers(): boolean {
    return this.#shared !== undefined;
  }

  get position(): number {
    return this.#begin + this.written.length;
  }

  pad(): void {
    const missing = (ALIGNMENT - (this.position % ALIGNMENT)) % ALIGNMENT;
    if (missing > 0) this.written.append(PADDING.subarray(0, missing));
  }

  place(buffer: PageBuffer): FileRange {
    if (!(buffer instanceof Uint8Array)) return buffer;
    this.#shared ??= new Map();
    let at = this.#shared.get(buffer);
    if (at === undefined) {
      at = this.position;
      this.written.append(buffer);
      this.#shared.set(buffer, at);
      this.pad();
    }
    return { at, bytes: buffer.length };
  }
}

/** What follows the positions in the footer: numbers of global buffers and columns, version, magic. */
function footerEnd(columns: number): Uint8Array {
  const bytes = new Uint8Array(FOOTER_BYTES - 24);
  const view = new DataView(bytes.buffer);
  view.setUint32(0, 1, true);
  view.setUint32(4, columns, true);
  view.setUint16(8, MAJOR, true);
  view.setUint16(10, MINOR, true);
  for (let at = 0; at < MAGIC.length; at++) view.setUint8(12 + at, MAGIC.charCodeAt(at));
  return bytes;
}

/** How many columns a Lance part has that ends so many bytes into `part`; -1 where it does not end there. */
export function lanceColumns(part: Uint8Array, end: number): number {
  if (end < FOOTER_BYTES || end > part.length) return -1;
  const view = new DataView(part.buffer, part.byteOffset + end - FOOTER_BYTES, FOOTER_BYTES);
  const isMagic = [...MAGIC].every((char, at) => view.getUint8(36 + at) === char.charCodeAt(0));
  return isMagic ? view.getUint32(28, true) : -1;
}
