/**
 * `writeSegmentFile` writes the rows of a segment as one file in the folder of indexes, in short
 * record batches, so that a search reads little. It writes and checks the file like a fragment, and
 * removes it on any error. The file is on disk for good once `durable` of the result resolves.
 * Without rows it throws Corrupt. `writeSegmentFiles` writes all files of one segment; if one
 * fails, none of them stays. `segmentSchema` and `numberColumn` make the schema and the number
 * columns of such files.
 */
import {
  type Data,
  dataOf,
  type Field,
  type RecordBatchStream,
  Schema,
  Uint32,
} from '../../arrow/index.ts';
import { type IndexFile, indexFile } from '../../format/index.ts';
import { corrupt } from '../../json.ts';
import { assignFieldIds } from '../fields/index.ts';
import type { Engine } from '../versions/index.ts';
import { writeFragments } from '../write/index.ts';

/** Rows of a batch: two are read for an end of a range, and one for the rows in it. */
const BATCH_ROWS = 4_096;

export interface WrittenSegmentFile {
  readonly file: IndexFile;
  readonly durable: Promise<unknown>;
}

export interface WrittenSegmentFiles {
  readonly files: readonly IndexFile[];
  readonly durable: Promise<unknown>;
}

/** The files that `work` writes, in their order; where it fails none of them stays. */
export async function writeSegmentFiles(
  engine: Engine,
  tableFolder: string,
  signal: AbortSignal | undefined,
  work: (write: (rows: RecordBatchStream, batchRows?: number) => Promise<void>) => Promise<void>,
): Promise<WrittenSegmentFiles> {
  const written: WrittenSegmentFile[] = [];
  try {
    await work(async (rows, batchRows) => {
      written.push(await writeSegmentFile(engine, tableFolder, rows, signal, batchRows));
    });
  } catch (error) {
    for (const { file } of written) {
      try {
        await engine.store.delete(indexFile(tableFolder, file.file));
      } catch {
        // Left to cleanup: nothing refers to it.
      }
    }
    throw error;
  }
  const durable = Promise.all(written.map((one) => one.durable));
  durable.catch(() => {});
  return { files: written.map(({ file }) => file), durable };
}

/** @throws Corrupt where there are no rows */
export async function writeSegmentFile(
  engine: Engine,
  tableFolder: string,
  rows: RecordBatchStream,
  signal: AbortSignal | undefined,
  batchRows: number = BATCH_ROWS,
): Promise<WrittenSegmentFile> {
  const whole = {
    ...engine,
    limits: {
      ...engine.limits,
      batchRows,
      fragmentRows: Number.POSITIVE_INFINITY,
      fragmentBytes: Number.POSITIVE_INFINITY,
    },
  };
  const { tree: fields } = assignFieldIds(rows.schema.fields, 0);
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
  // The commit awaits it; where another file fails first, nobody does.
  durable.catch(() => {});
  const { file, bytes, footerBytes, footerChecksum } = written;
  return { file: { file, rows: written.rows, bytes, footerBytes, footerChecksum }, durable };
}

/** The schema of a segment's file. */
export const segmentSchema = (fields: readonly Field[]): Schema => new Schema([...fields]);

/** A column of whole numbers. */
export const numberColumn = (values: readonly number[]): Data =>
  dataOf(new Uint32(), values.length, { values: Uint32Array.from(values) });
