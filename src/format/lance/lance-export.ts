/**
 * `LanceFileEncoder` encodes rows as a plain Lance data file, without the Arrow footer that the
 * catalog's own fragments have, for copies of a table outside the catalog. The caller calls `batch`
 * for each record batch and `end` once, and writes the returned pieces in order; then `fragment`
 * describes the file for the manifest. `lanceExportSchema` prepares the schema of such a copy, and
 * `lanceExportManifest` encodes its manifest as version 1. A column that Lance cannot hold throws
 * Unsupported.
 */
import {
  childFields,
  columnsOf,
  type DataType,
  type Field,
  type RecordBatch,
  recordBatch,
  type Schema,
  Type,
} from '../../arrow/index.ts';
import { DirspaceError } from '../../errors.ts';
import { withFieldIds } from '../../ipc/index.ts';
import { FragmentEncoder, plainColumn, withoutViews } from '../fragment/index.ts';
import { type LanceField, lanceFields } from './lance-fields.ts';
import { type LanceFragment, lanceManifest } from './lance-manifest.ts';
import { LancePartWriter } from './lance-part.ts';

/** A schema that Lance can hold, views in their plain form, with ids that count from 0. */
export interface LanceExportSchema {
  readonly schema: Schema;
  readonly fields: readonly LanceField[];
}

/** @throws Unsupported naming the column that is not written for Lance */
export function lanceExportSchema(given: Schema): LanceExportSchema {
  const schema = withoutViews(given);
  const count = schema.fields.reduce((sum, field) => sum + fieldsIn(field), 0);
  const ids = Array.from({ length: count }, (_, at) => at);
  const found = lanceFields(schema.fields, ids);
  if ('problem' in found) throw noForm(found.problem);
  return { schema: withFieldIds(schema, ids), fields: found.fields };
}

/** A field and those below it; the values of a dictionary are none. */
function fieldsIn({ type }: Field<DataType>): number {
  if (type.typeId === Type.Dictionary) return 1;
  return childFields(type).reduce((sum, child) => sum + fieldsIn(child), 1);
}

const noForm = (problem: string): DirspaceError =>
  new DirspaceError(
    'Unsupported',
    `This release does not write it for Lance: ${problem}. Drop the column, or delete the rows that hold it.`,
  );

/** One data file. Call `batch` any number of times and `end` once; write the pieces in order. */
export class LanceFileEncoder {
  readonly #encoder: FragmentEncoder;
  readonly #schema: Schema;
  #part: LancePartWriter | undefined;
  /** Bytes that were given out. */
  position = 0;
  rows = 0;

  constructor({ schema }: LanceExportSchema) {
    this.#schema = schema;
    this.#encoder = new FragmentEncoder(schema, (fields) => {
      this.#part = new LancePartWriter(fields);
      return this.#part;
    });
  }

  /** The pieces are views of the batch. @throws Unsupported naming a column without a form in Lance */
  batch(batch: RecordBatch): Uint8Array[] {
    const first = this.position === 0 ? this.#encoder.begin() : [];
    const pieces = [...first, ...this.#encoder.batch(this.#plain(batch))];
    this.rows += batch.numRows;
    this.#check();
    return this.#counted(pieces);
  }

  end(): Uint8Array[] {
    const pieces = this.#encoder.end();
    this.#check();
    let left = this.#fileSize() - this.position;
    const kept: Uint8Array[] = [];
    for (const piece of pieces) {
      if (left > 0) kept.push(piece.subarray(0, left));
      left -= piece.length;
    }
    return this.#counted(kept);
  }

  /** For the manifest, once the file is at its end. */
  fragment(id: number, file: string): LanceFragment {
    return { id, file, rows: this.rows, deletion: undefined, lance: this.#part?.entry };
  }

  /** The batch itself where none of its columns holds views. */
  #plain(batch: RecordBatch): RecordBatch {
    if (withoutViews(batch.schema) === batch.schema) return batch;
    const { fields } = this.#schema;
    const columns = columnsOf(batch).map((column, at) => {
      const { type, name } = fields[at] as Field;
      return plainColumn(column, type, name);
    });
    return recordBatch(this.#schema, columns, batch.numRows);
  }

  #fileSize(): number {
    const entry = this.#part?.entry;
    if (entry === undefined || !('fileSize' in entry)) {
      throw new DirspaceError('Internal', 'A data file for Lance was ended without its part.');
    }
    return entry.fileSize;
  }

  #check(): void {
    const entry = this.#part?.entry;
    if (entry !== undefined && 'problem' in entry) throw noForm(entry.problem);
  }

  #counted(pieces: Uint8Array[]): Uint8Array[] {
    for (const { length } of pieces) this.position += length;
    return pieces;
  }
}

/** Version 1 of a dataset of these files, which Lance's own writers may change. */
export function lanceExportManifest(
  { schema, fields }: LanceExportSchema,
  fragments: readonly LanceFragment[],
  { timestamp, transaction }: { readonly timestamp: number; readonly transaction: string },
): Uint8Array {
  return lanceManifest({
    version: 1,
    timestamp,
    fields,
    schemaMetadata: schema.metadata,
    tableMetadata: {},
    fragments: [fragments],
    fileName: (file) => file,
    nextFragmentId: fragments.length,
    transaction,
    writable: true,
  });
}
