/**
 * `LancePartWriter`: writes the Lance part of a fragment, which makes the Arrow file a Lance 2.0
 * file too. The part names, page by page, where the buffers of the record batches lie in the same
 * file, so no value is stored twice. It stands between the last message and the Arrow footer, where
 * Arrow's readers do not look. Source: file.proto and file2.proto of the Lance repository.
 */
import { type Field, fieldsEqual } from '../../arrow/index.ts';
import { type EncodedColumn, fieldIdsOf } from '../../ipc/index.ts';
import type { LanceEntry } from '../catalog/index.ts';
import type { PartWriter } from '../fragment/index.ts';
import {
  BatchPages,
  type DictionaryValues,
  dictionaryValues,
  type PageBuffer,
  type PendingPage,
} from './column-pages.ts';
import { fieldMembers, lanceFields } from './lance-fields.ts';
import { beginColumn, writePage } from './page-encoding.ts';
import { message } from './protobuf.ts';

/** Of the part's own buffers. */
const ALIGNMENT = 8;
const PADDING = new Uint8Array(ALIGNMENT);
const FOOTER_BYTES = 40;
/** Used again for each part: one is made at a time, without a break. */
const [METADATA, FILE_END, DESCRIPTOR] = [message(), message(), message()];
const MAGIC = 'LANC';
/** Lance 2.0 is written as 0.3 in files. */
const MAJOR = 0;
const MINOR = 3;

/** Collects the pages of one fragment. Once a problem is found, the fragment gets no part. */
export class LancePartWriter implements PartWriter {
  readonly #schema: readonly Field[];
  readonly #fieldIds: readonly number[];
  readonly #schemaMembers: Uint8Array;
  readonly #pages: PendingPage[][];
  readonly #dictionaries = new Map<number, DictionaryValues>();
  #rows = 0;
  #problem: Extract<LanceEntry, { problem: string }> | undefined;
  #summary: LanceEntry | undefined;

  /** @param fields of the fragment, carrying their ids, dictionaries numbered */
  constructor(fields: readonly Field[]) {
    const { ids, members, problem } = schemaOf(fields);
    this.#schema = fields;
    this.#fieldIds = ids;
    this.#schemaMembers = members;
    this.#problem = problem === undefined ? undefined : { problem };
    this.#pages = ids.map(() => []);
  }

  /** For the manifest, once the file is finished. */
  get entry(): LanceEntry | undefined {
    return this.#problem ?? this.#summary;
  }

  batch(columns: readonly EncodedColumn[], offsets: readonly number[], rows: number): void {
    if (this.#problem !== undefined) return;
    const pages = new BatchPages(this.#pages, this.#rows, (problem) => {
      this.#problem ??= { problem, inValues: true };
    });
    for (const [at, column] of columns.entries()) {
      pages.column(this.#schema[at] as Field, column, offsets[at] as number);
    }
    this.#rows += rows;
  }

  dictionary(id: number, values: EncodedColumn, offset: number): void {
    if (this.#problem === undefined) this.#dictionaries.set(id, dictionaryValues(values, offset));
  }

  finish(position: number): Uint8Array | undefined {
    if (this.#problem !== undefined) return undefined;
    const file = new FileEnd(position);
    const { metadata, ends } = this.#columns(file);
    // Dictionaries may have become too large.
    if (this.#problem !== undefined) return undefined;
    const descriptor = this.#descriptor();
    const descriptorAt = file.append(descriptor);
    const columnsAt = file.append(metadata);
    const table: number[] = [];
    let begin = 0;
    for (const end of ends) {
      table.push(columnsAt + begin, end - begin);
      begin = end;
    }
    const tableAt = file.numbers(table);
    const globalsAt = file.numbers([descriptorAt, descriptor.length]);
    file.numbers([columnsAt, tableAt, globalsAt]);
    file.append(footerEnd(ends.length));
    this.#summary = { fileSize: file.position, fields: this.#fieldIds };
    file.pad();
    return file.bytes;
  }

  /** The metadata of all columns and where each ends; writes the own buffers of their pages. */
  #columns(file: FileEnd): { readonly metadata: Uint8Array; readonly ends: readonly number[] } {
    const metadata = METADATA.reset();
    const ends = this.#pages.map((pages) => {
      beginColumn(metadata);
      for (const { rows, priority, parts } of pages) {
        const { buffers, encoding } =
          typeof parts === 'function' ? parts(this.#dictionaries) : parts;
        const placed = buffers.map((buffer) => file.place(buffer));
        writePage(metadata, { rows, priority, encoding, buffers: placed });
      }
      return metadata.length;
    });
    return { metadata: metadata.finish(), ends };
  }

  /** `lance.file.FileDescriptor`: the schema and the rows. */
  #descriptor(): Uint8Array {
    return DESCRIPTOR.reset().bytes(1, this.#schemaMembers).integer(2, this.#rows).finish();
  }
}

interface LanceSchema {
  /** Of all fields that Lance sees, depth first. */
  readonly ids: readonly number[];
  /** The fields as the file says them. */
  readonly members: Uint8Array;
  readonly problem: string | undefined;
}

/** Of the fields that were written last. Appends bring equal ones, in objects of their own. */
let last: { readonly fields: readonly Field[]; readonly schema: LanceSchema } | undefined;

const ALL_THAT_COUNTS = { metadata: true, nullability: true, itemNames: true };

function schemaOf(fields: readonly Field[]): LanceSchema {
  if (last !== undefined && fieldsEqual(last.fields, fields, ALL_THAT_COUNTS)) return last.schema;
  const found = lanceFields(fields, fieldIdsOf(fields) as readonly number[]);
  const listed = 'fields' in found ? found.fields : [];
  const members = message();
  for (const field of listed) members.message(1, fieldMembers(field));
  const schema = {
    ids: listed.map(({ id }) => id),
    members: members.finish(),
    problem: 'problem' in found ? found.problem : undefined,
  };
  last = { fields, schema };
  return schema;
}

/** What is appended to a file from a position on. */
class FileEnd {
  readonly #begin: number;
  readonly #written = FILE_END.reset();
  /** Buffers that several pages share are written once. */
  readonly #placed = new Map<Uint8Array, number>();

  constructor(position: number) {
    this.#begin = position;
    this.pad();
  }

  get position(): number {
    return this.#begin + this.#written.length;
  }

  get bytes(): Uint8Array {
    return this.#written.finish();
  }

  append(bytes: Uint8Array): number {
    const at = this.position;
    this.#written.append(bytes);
    return at;
  }

  /** Each as 64 bits. */
  numbers(values: readonly number[]): number {
    const at = this.position;
    for (const value of values) this.#written.fixed64(value);
    return at;
  }

  pad(): void {
    const missing = (ALIGNMENT - (this.position % ALIGNMENT)) % ALIGNMENT;
    if (missing > 0) this.append(PADDING.subarray(0, missing));
  }

  place(buffer: PageBuffer): { at: number; bytes: number } {
    if (!(buffer instanceof Uint8Array)) return buffer;
    let at = this.#placed.get(buffer);
    if (at === undefined) {
      at = this.append(buffer);
      this.#placed.set(buffer, at);
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
