/**
 * Snapshot -> record batches, in row order, with memory bounded by a batch. The place where
 * predicates, pruning and late materialisation join in.
 */
import type { Data, RecordBatch, RecordBatchStream } from '../arrow.ts';
import { recordBatch, sliceData } from '../format/arrow-data.ts';
import type { FragmentEntry } from '../format/fragment-entry.ts';
import { liveRows } from '../format/fragment-entry.ts';
import { gather } from '../format/gather.ts';
import {
  adaptColumn,
  type ReadColumn,
  resolveColumns,
  rowIdColumn,
  rowOffsetColumn,
  schemaOfColumns,
} from './columns.ts';
import { deletedRows } from './deletions.ts';
import type { Engine } from './engine.ts';
import { FragmentReader } from './fragment-reader.ts';
import type { Snapshot } from './snapshot.ts';

export interface ScanRequest {
  /** All of them if absent. */
  readonly columns?: readonly string[] | undefined;
  readonly limit?: number | undefined;
  readonly offset?: number | undefined;
  readonly withRowId?: boolean | undefined;
  readonly signal?: AbortSignal | undefined;
}

/** @throws TableColumnNotFound at once; what goes wrong while reading rejects the iteration */
export function scan(engine: Engine, snapshot: Snapshot, request: ScanRequest): RecordBatchStream {
  const columns = resolveColumns(snapshot.fields, request.columns, request.withRowId ?? false);
  const schema = schemaOfColumns(snapshot.schema, columns);
  const { signal, offset = 0, limit = Number.MAX_SAFE_INTEGER } = request;
  return {
    schema,
    async *[Symbol.asyncIterator](): AsyncGenerator<RecordBatch> {
      let skip = offset;
      let wanted = limit;
      let position = 0;
      if (wanted <= 0) return;
      for (const entry of await snapshot.fragments()) {
        const live = liveRows(entry);
        if (skip >= live) {
          skip -= live;
          position += live;
          continue;
        }
        for await (const rows of fragmentRows(engine, snapshot, entry, columns, position)) {
          signal?.throwIfAborted();
          const taken = Math.min(rows.count - Math.min(skip, rows.count), wanted);
          const first = Math.min(skip, rows.count);
          skip -= first;
          if (taken <= 0) continue;
          const whole = taken === rows.count;
          const data = whole
            ? rows.data
            : rows.data.map((column) => sliceData(column, first, taken));
          yield recordBatch(schema, data, taken);
          wanted -= taken;
          if (wanted <= 0) return;
        }
        position += live;
      }
    },
  };
}

interface Rows {
  readonly count: number;
  readonly data: Data[];
}

/** The live rows of a fragment, batch by batch; `position` is how many live rows come before. */
async function* fragmentRows(
  engine: Engine,
  snapshot: Snapshot,
  entry: FragmentEntry,
  columns: readonly ReadColumn[],
  position: number,
): AsyncGenerator<Rows> {
  const deleted = await deletedRows(engine, snapshot, entry);
  const reader = await FragmentReader.open(engine, snapshot, entry);
  try {
    let first = 0;
    let next = position;
    for (const [index, { rows }] of reader.footer.batches.entries()) {
      const kept = deleted?.keptBetween(first, rows);
      const count = kept?.length ?? rows;
      if (count > 0) {
        const data = await readBatch(reader, entry, columns, { index, first, rows });
        const live = kept === undefined ? data : data.map((column) => gather(column, kept));
        yield { count, data: withOffsets(live, columns, next) };
      }
      first += rows;
      next += count;
    }
  } finally {
    reader.close();
  }
}

async function readBatch(
  reader: FragmentReader,
  entry: FragmentEntry,
  columns: readonly ReadColumn[],
  batch: { readonly index: number; readonly first: number; readonly rows: number },
): Promise<Data[]> {
  const positions = columns.map((column) =>
    column.kind === 'field' ? entry.fields.indexOf(column.field.id) : -1,
  );
  const stored = [...new Set(positions.filter((position) => position >= 0))].sort((a, b) => a - b);
  const read = stored.length === 0 ? [] : await reader.columns(batch.index, stored);
  return columns.map((column, at) => {
    if (column.kind !== 'field') return rowIdColumn(entry.id, batch.first, batch.rows);
    const data = read[stored.indexOf(positions[at] ?? -1)];
    return adaptColumn(column.field, data, batch.rows);
  });
}

/** Offsets count live rows, so they are known only once the deleted ones are out. */
function withOffsets(data: Data[], columns: readonly ReadColumn[], first: number): Data[] {
  return data.map((column, at) =>
    columns[at]?.kind === 'row offset' ? rowOffsetColumn(first, column.length) : column,
  );
}
