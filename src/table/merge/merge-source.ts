/**
 * Reads the source rows of a merge into memory (`readSource`) and converts them to the table's
 * columns and types (`sourceColumns`); `fieldsThatCame` names the fields that get them. Source rows of more than 1 GiB, or more than 2^31 - 1 of
 * them, throw PayloadTooLarge. They are counted as memory of the request (`held`), which may throw
 * InvalidInput or ServiceUnavailable before. A column that does not fit the table throws
 * TableSchemaValidation.
 */
import {
  batchBytes,
  columnsOf,
  type Data,
  type RecordBatchStream,
  rebatch,
  type Schema,
  Vector,
} from '../../arrow/index.ts';
import { DirspaceError } from '../../errors.ts';
import type { HeldMemory } from '../../request-memory.ts';
import { plainPause } from '../../steps.ts';
import { adapterBetween, type IdentifiedField } from '../fields/index.ts';
import type { Limits } from '../versions/index.ts';
import { matchFields } from '../write/index.ts';
import { type MissingMembers, missingMembers, withoutMissing } from './merge-structs.ts';

/** Bytes of all columns together; a merge of more is done in parts. */
const MAX_SOURCE_BYTES: number = 1024 * 1024 * 1024;
/** Rows are counted in signed numbers of 32 bits. */
const MOST_ROWS = 0x7fff_ffff;

export interface SourceRows {
  readonly schema: Schema;
  /** The columns of each batch. */
  readonly batches: readonly (readonly Data[])[];
  readonly rows: number;
}

/**
 * Bytes for each row while it is merged, besides its values: hash table, first row of its key,
 * flags.
 */
const ROW_BYTES = 40;

/**
 * Reads all rows, in batches of the sizes that the table has.
 * @throws PayloadTooLarge, and where `held` takes no more
 */
export async function readSource(
  stream: RecordBatchStream,
  { batchRows, batchBytes: bytesAtOnce }: Limits,
  held: HeldMemory,
  signal?: AbortSignal,
): Promise<SourceRows> {
  const batches: (readonly Data[])[] = [];
  let rows = 0;
  let bytes = 0;
  const limits = { rows: batchRows, bytes: bytesAtOnce };
  for await (const batch of rebatch(stream, stream.schema, limits, plainPause())) {
    signal?.throwIfAborted();
    rows += batch.numRows;
    bytes += batchBytes(batch);
    held.set(bytes + rows * ROW_BYTES);
    if (bytes > MAX_SOURCE_BYTES || rows > MOST_ROWS) {
      throw new DirspaceError(
        'PayloadTooLarge',
        `The data of a merge is kept in memory: at most ${MAX_SOURCE_BYTES} bytes and ${MOST_ROWS} rows are taken, and this has more. Merge it in parts.`,
      );
    }
    batches.push(columnsOf(batch));
  }
  return { schema: stream.schema, batches, rows };
}

export interface SourceColumn {
  readonly values: Vector;
  /** Members of structs that did not come, null in the values. */
  readonly missing: MissingMembers | undefined;
}

/** The columns that came, by the names they have in the table, in the table's types. */
export type SourceColumns = ReadonlyMap<string, SourceColumn>;

/**
 * @param partial whether required columns may be missing, as no row is inserted
 * @throws TableSchemaValidation naming a column that does not fit
 */
export function* sourceColumns(
  source: SourceRows,
  fields: readonly IdentifiedField[],
  partial: boolean,
): Generator<void, SourceColumns> {
  const matched = matchFields(fields, source.schema, partial);
  const columns = new Map<string, SourceColumn>();
  for (const [at, node] of matched.entries()) {
    const wanted = fields.find(({ id }) => id === node.id) as IdentifiedField;
    const adapter = adapterBetween(wanted, node);
    const chunks: Data[] = [];
    for (const batch of source.batches) {
      const data = batch[at] as Data;
      chunks.push(adapter === null ? data : adapter(data));
      if (adapter !== null) yield;
    }
    if (chunks.length === 0) continue;
    const missing = missingMembers(wanted, node);
    columns.set(wanted.field.name, { values: new Vector(chunks), missing });
  }
  return columns;
}

/** The table's fields whose values come from the source: without members of structs that did not come. */
export const fieldsThatCame = (
  fields: readonly IdentifiedField[],
  source: SourceColumns,
): readonly IdentifiedField[] =>
  fields.flatMap((field) => {
    const column = source.get(field.field.name);
    return column === undefined ? [] : withoutMissing(field, column.missing);
  });
