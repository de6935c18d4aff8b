/**
 * `structRuns` cuts a stream into runs of rows whose null structs are the same top-level columns.
 * Lance 2.0 has no form for a null struct, but reads a column that no file holds as null: each run
 * becomes a fragment without these columns. The order of rows is kept, or rows of a batch that lack
 * the same structs are put together where any order will do. Rows that would make many small
 * fragments are not cut: they come as one run with all columns.
 */
import {
  columnsOf,
  type Data,
  DataType,
  gatherBatch,
  getBit,
  type RecordBatch,
  type RecordBatchStream,
  rebatch,
  recordBatch,
  recordBatchStream,
  Schema,
  sliceBatch,
} from '../../arrow/index.ts';
import { lanceFields, withoutViews } from '../../format/index.ts';
import { followsByPath } from '../../lance-mode.ts';
import { type IdentifiedField, listFieldIds } from '../fields/index.ts';
import { type Engine, lanceModeOf, type Snapshot } from '../versions/index.ts';
import { lanceFieldsOf } from './lance-view.ts';

/** Whether rows stay in the order in which they come. */
export type StructOrder = 'kept' | 'any';

/** Runs beyond which rows are not cut any more. */
const MOST_RUNS = 8;
/** Fragments from which a table that Lance only reads over REST gets no more of them for it. */
const MOST_FRAGMENTS = 64;
/** Each column is a bit of a number. */
const MOST_STRUCTS = 30;
/** Rows that may hold null structs: all columns are written. */
const UNCUT = -1;

export interface StructRun {
  readonly stream: RecordBatchStream;
  /** Those of the stream's columns. */
  readonly fields: readonly IdentifiedField[];
}

/**
 * The positions of the columns that rows may lack; none where nothing is gained by cutting, as
 * Lance does not open the table for another reason.
 */
export function structsToCut(
  { fields }: Schema,
  ids: readonly IdentifiedField[],
): readonly number[] {
  const structs = fields.flatMap(({ type, nullable }, at) =>
    nullable && DataType.isStruct(type) ? [at] : [],
  );
  // A file has one column at least.
  if (structs.length === 0 || structs.length === fields.length) return [];
  if (structs.length > MOST_STRUCTS) return [];
  const plain = withoutViews(new Schema([...fields])).fields;
  return 'fields' in lanceFields(plain, listFieldIds(ids)) ? structs : [];
}

/** Whether Lance opens a version, as far as its totals say. */
export const isOpenForLance = (snapshot: Snapshot): boolean => {
  const { lance, totals } = snapshot.manifest;
  return (
    lance === true &&
    (totals.lanceFragments ?? 0) === totals.fragments &&
    lanceFieldsOf(snapshot) !== undefined
  );
};

/**
 * The order in which rows are cut that are added to a version; undefined where they are not cut.
 * Compaction joins no fragments of unlike runs, so in the mode `read` a table of many fragments
 * closes instead.
 */
export async function structOrder(
  engine: Engine,
  base: Snapshot,
  order: StructOrder,
): Promise<StructOrder | undefined> {
  if (!isOpenForLance(base)) return undefined;
  const { branch, manifest } = base;
  if (manifest.totals.fragments < MOST_FRAGMENTS) return order;
  return followsByPath(await lanceModeOf(engine, branch, manifest)) ? order : undefined;
}

/** Each run is read to its end before the next one is asked for. */
export async function* structRuns(
  stream: RecordBatchStream,
  fields: readonly IdentifiedField[],
  structs: readonly number[],
  order: StructOrder,
): AsyncGenerator<StructRun> {
  const pieces = piecesOf(stream, structs, order);
  try {
    let next = await pieces.next();
    while (next.done !== true) {
      const { absent } = next.value;
      const held = [...fields.keys()].filter((at) => !isAbsent(absent, structs.indexOf(at)));
      const schema =
        held.length === fields.length
          ? stream.schema
          : new Schema(
              held.map((at) => stream.schema.fields[at] as Schema['fields'][number]),
              stream.schema.metadata,
            );
      const batches = async function* (): AsyncGenerator<RecordBatch> {
        while (next.done !== true && next.value.absent === absent) {
          const { batch } = next.value;
          yield schema === stream.schema ? batch : withColumns(batch, schema, held);
          next = await pieces.next();
        }
      };
      yield {
        stream: recordBatchStream(schema, batches()),
        fields: held.map((at) => fields[at] as IdentifiedField),
      };
    }
  } finally {
    await pieces.return(undefined);
  }
}

const isAbsent = (absent: number, struct: number): boolean =>
  absent !== UNCUT && struct >= 0 && (absent & (1 << struct)) !== 0;

function withColumns(batch: RecordBatch, schema: Schema, held: readonly number[]): RecordBatch {
  const columns = columnsOf(batch);
  return recordBatch(
    schema,
    held.map((at) => columns[at] as Data),
    batch.numRows,
  );
}

/** Rows that lack the same structs: `absent` has a bit for each. */
interface Piece {
  readonly absent: number;
  readonly batch: RecordBatch;
}

async function* piecesOf(
  stream: RecordBatchStream,
  structs: readonly number[],
  order: StructOrder,
): AsyncGenerator<Piece> {
  let last: number | undefined;
  let runs = 0;
  // Rows of small batches are put together before they are cut.
  const batches = order === 'kept' ? stream : rebatch(stream, stream.schema, {});
  for await (const batch of batches) {
    if (batch.numRows === 0) continue;
    const pieces = last === UNCUT ? undefined : cut(batch, structs, order, last);
    if (pieces !== undefined) runs += pieces.length - (pieces[0]?.absent === last ? 1 : 0);
    if (pieces === undefined || (order === 'kept' && runs > MOST_RUNS)) {
      last = UNCUT;
      yield { absent: UNCUT, batch };
      continue;
    }
    for (const piece of pieces) {
      last = piece.absent;
      yield piece;
    }
  }
}

/** Undefined where there would be too many pieces. */
function cut(
  batch: RecordBatch,
  structs: readonly number[],
  order: StructOrder,
  last: number | undefined,
): readonly Piece[] | undefined {
  const columns = columnsOf(batch);
  let same = 0;
  const mixed: Validity[] = [];
  for (const [struct, at] of structs.entries()) {
    const { nullCount, length, nullBitmap, offset } = columns[at] as Data;
    const bit = 1 << struct;
    if (nullCount === 0) continue;
    if (nullCount === length) same |= bit;
    else mixed.push({ bytes: nullBitmap as Uint8Array, offset, bit });
  }
  if (mixed.length === 0) return [{ absent: same, batch }];
  return order === 'kept' ? runsOf(batch, same, mixed) : groupsOf(batch, same, mixed, last);
}

/** A column of which some rows are null. */
interface Validity {
  readonly bytes: Uint8Array;
  readonly offset: number;
  readonly bit: number;
}

/** @param same the structs that no row has */
function absentIn(row: number, same: number, mixed: readonly Validity[]): number {
  let absent = same;
  for (let at = 0; at < mixed.length; at++) {
    const { bytes, offset, bit } = mixed[at] as Validity;
    if (!getBit(bytes, offset + row)) absent |= bit;
  }
  return absent;
}

function runsOf(
  batch: RecordBatch,
  same: number,
  mixed: readonly Validity[],
): readonly Piece[] | undefined {
  const pieces: Piece[] = [];
  const { numRows } = batch;
  let absent = absentIn(0, same, mixed);
  let from = 0;
  for (let row = 1; row <= numRows; row++) {
    const next = row < numRows ? absentIn(row, same, mixed) : undefined;
    if (next === absent) continue;
    if (pieces.length === MOST_RUNS) return undefined;
    pieces.push({ absent, batch: sliceBatch(batch, from, row - from) });
    from = row;
    absent = next ?? absent;
  }
  return pieces;
}

/** Rows that lack what those before the batch did come first. */
function groupsOf(
  batch: RecordBatch,
  same: number,
  mixed: readonly Validity[],
  last: number | undefined,
): readonly Piece[] | undefined {
  const absent = new Int32Array(batch.numRows);
  const counts = new Map<number, number>();
  for (let row = 0; row < absent.length; row++) {
    const each = absentIn(row, same, mixed);
    absent[row] = each;
    const count = counts.get(each) ?? 0;
    if (count === 0 && counts.size === MOST_RUNS) return undefined;
    counts.set(each, count + 1);
  }
  const groups = [...counts].sort(
    ([one], [other]) => Number(other === last) - Number(one === last),
  );
  return groups.map(([group, count]) => {
    const rows = new Uint32Array(count);
    let found = 0;
    for (let row = 0; row < absent.length; row++) if (absent[row] === group) rows[found++] = row;
    return { absent: group, batch: gatherBatch(batch, rows) };
  });
}
