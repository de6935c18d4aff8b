/**
 * `writeSegmentFile`: writes the rows of a segment as one file in the folder `indexes`, in batches
 * of 4,096 rows, so that a search reads little. It is written and checked like a fragment, and
 * removed on any error.
 */
import { type Field, type RecordBatchStream, Schema } from '../../arrow/index.ts';
import type { IndexFile } from '../../format/index.ts';
import { corrupt } from '../../json.ts';
import type { IdentifiedField } from '../fields/index.ts';
import type { Engine } from '../versions/index.ts';
import { writeFragments } from '../write/index.ts';

/** Rows of a batch: two are read for an end of a range, and one for the rows in it. */
const BATCH_ROWS = 4_096;

export interface WrittenSegmentFile {
  readonly file: IndexFile;
  readonly durable: Promise<unknown>;
}

/** @throws Corrupt where there are no rows */
export async function writeSegmentFile(
  engine: Engine,
  tableFolder: string,
  rows: RecordBatchStream,
  signal: AbortSignal | undefined,
): Promise<WrittenSegmentFile> {
  const whole = {
    ...engine,
    limits: {
      ...engine.limits,
      batchRows: BATCH_ROWS,
      fragmentRows: Number.POSITIVE_INFINITY,
      fragmentBytes: Number.POSITIVE_INFINITY,
    },
  };
  const fields = rows.schema.fields.map(
    (field, id): IdentifiedField => ({ id, field, children: [] }),
  );
  const { fragments, durable } = await writeFragments(whole, tableFolder, rows, fields, {
    lance: false,
    compression: 'none',
    required: 'unchecked',
    isOfIndex: true,
    signal,
  });
  const [written] = fragments;
  if (written === undefined)
    throw corrupt(tableFolder, 'a segment of an index was built of no rows');
  const { file, bytes, footerBytes, footerChecksum } = written;
  return { file: { file, rows: written.rows, bytes, footerBytes, footerChecksum }, durable };
}

/** The schema of a segment's file. */
export const segmentSchema = (fields: readonly Field[]): Schema => new Schema([...fields]);
