/**
 * `structRuns` cuts a stream of rows into runs, each of which becomes a fragment without the
 * top-level struct columns that are null in all of its rows: Lance 2.0 has no form for a null
 * struct, but reads a column that no file holds as null. Each run must be read to its end before
 * the next one is asked for. A `StructOrder` says whether rows keep their order ('kept'), may be
 * regrouped within a batch ('any'), or make one run only ('one'). Beyond eight runs, or with 'any'
 * beyond eight kinds of rows in a batch, rows are no longer cut, and null structs among them close
 * the table for Lance. With 'mostly', as in tables that Lance's clients write, the rest is
 * regrouped first.
 *
 * `structsToCut` lists the columns to look at. `structOrder` and `orderOfNewRows` choose the order
 * for a version; `structOrder` returns undefined if its rows are not cut. `isOpenForLance` tells
 * whether Lance opens a version.
 */
import {
  type BatchLimits,
  columnsOf,
  type Data,
  gatherBatch,
  getBit,
  optionalStructs,
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
import type { Pause } from '../../steps.ts';
import { type IdentifiedField, listFieldIds } from '../fields/index.ts';
import { type Engine, lanceModeOf, type Snapshot } from '../versions/index.ts';
import { lanceFieldsOf } from './lance-view.ts';

/**
 * Whether rows stay in the order in which they come; with 'one' they do, and make one run at most,
 * and with 'mostly' they do as long as that does not close the table.
 */
export type StructOrder = 'kept' | 'any' | 'one' | 'mostly';

/** Runs beyond which rows are not cut any more. */
const MOST_RUNS = 8;
/** Fragments from which a write to a table that Lance only reads over REST makes one run at most. */
const MOST_FRAGMENTS = 64;
/** Fragments from which its rows are not cut at all. */
const MOST_FRAGMENTS_OF_RUNS = 512;
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
  const structs = optionalStructs(fields).map((field) => fields.indexOf(field));
  if (structs.length === 0 || structs.length > MOST_STRUCTS) return [];
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
 * gets one run in a write at most, and one of very many closes instead.
 */
export async function structOrder(
  engine: Engine,
  base: Snapshot,
  order: StructOrder,
): Promise<StructOrder | undefined> {
  if (!isOpenForLance(base)) return undefined;
  const { branch, manifest } = base;
  const { fragments } = manifest.totals;
  const wanted = order === 'kept' ? orderOfNewRows(manifest.lanceWrites === true) : order;
  if (fragments < MOST_FRAGMENTS) return wanted;
  if (followsByPath(await lanceModeOf(engine, branch, manifest))) return wanted;
  return fragments < MOST_FRAGMENTS_OF_RUNS ? 'one' : undefined;
}

export interface CutOptions {
  readonly order: StructOrder;
  /** Of the batches that are put together to be cut. */
  readonly limits: BatchLimits;
  readonly pause: Pause;
}

/** The order of rows that are all of a version: a table that closed would refuse Lance's writers. */
export const orderOfNewRows = (isWrittenByLance: boolean): 'kept' | 'mostly' =>
  isWrittenByLance ? 'mostly' : 'kept';

/** Each run is read to its end before the next one is asked for. */
export async function* structRuns(
  stream: RecordBatchStream,
  fields: readonly IdentifiedField[],
  structs: readonly number[],
  options: CutOptions,
): AsyncGenerator<StructRun> {
  const pieces = piecesOf(stream, structs, options);
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

/** A piece of a batch that is not gathered yet. */
interface Cut {
  readonly absent: number;
  readonly taken: () => RecordBatch;
}

async function* piecesOf(
  stream: RecordBatchStream,
  structs: readonly number[],
  options: CutOptions,
): AsyncGenerator<Piece> {
  const { order, limits, pause } = options;
  const most = order === 'one' ? 1 : MOST_RUNS;
  let last: number | undefined;
  let runs = 0;
  const batches = order === 'any' ? joined(stream, structs, limits, pause) : stream;
  const iterator = batches[Symbol.asyncIterator]();
  for await (const batch of { [Symbol.asyncIterator]: () => iterator }) {
    if (batch.numRows === 0) continue;
    const cuts = last === UNCUT ? undefined : cut(batch, structs, order, last);
    if (cuts !== undefined) runs += cuts.length - (cuts[0]?.absent === last ? 1 : 0);
    const isInOrder = cuts !== undefined && (order === 'any' || runs <= most);
    if (!isInOrder && order === 'mostly') {
      const rest = recordBatchStream(stream.schema, following(batch, iterator));
      yield* piecesOf(rest, structs, { ...options, order: 'any' });
      return;
    }
    if (!isInOrder) {
      last = UNCUT;
      yield { absent: UNCUT, batch };
      continue;
    }
    for (const { absent, taken } of cuts) {
      last = absent;
      await pause();
      yield { absent, batch: taken() };
    }
  }
}

/** The batch, and those that an iterator gives after it. */
async function* following(
  batch: RecordBatch,
  iterator: AsyncIterator<RecordBatch>,
): AsyncGenerator<RecordBatch> {
  yield batch;
  for (let next = await iterator.next(); next.done !== true; next = await iterator.next())
    yield next.value;
}

/** From the first null struct on, small batches are put together before they are cut. */
async function* joined(
  stream: RecordBatchStream,
  structs: readonly number[],
  limits: BatchLimits,
  pause: Pause,
): AsyncGenerator<RecordBatch> {
  const batches = stream[Symbol.asyncIterator]();
  try {
    for (let next = await batches.next(); next.done !== true; next = await batches.next()) {
      const columns = columnsOf(next.value);
      if (structs.some((at) => (columns[at] as Data).nullCount > 0)) {
        yield* rebatch(following(next.value, batches), stream.schema, limits, pause);
        return;
      }
      yield next.value;
    }
  } finally {
    await batches.return?.();
  }
}

/** Undefined where there would be too many pieces. */
function cut(
  batch: RecordBatch,
  structs: readonly number[],
  order: StructOrder,
  last: number | undefined,
): readonly Cut[] | undefined {
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
  if (mixed.length === 0) return [{ absent: same, taken: () => batch }];
  return order === 'any' ? groupsOf(batch, same, mixed, last) : runsOf(batch, same, mixed);
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
): readonly Cut[] | undefined {
  const cuts: Cut[] = [];
  const { numRows } = batch;
  let absent = absentIn(0, same, mixed);
  let from = 0;
  for (let row = 1; row <= numRows; row++) {
    const next = row < numRows ? absentIn(row, same, mixed) : undefined;
    if (next === absent) continue;
    if (cuts.length === MOST_RUNS) return undefined;
    const [first, rows] = [from, row - from];
    cuts.push({ absent, taken: () => sliceBatch(batch, first, rows) });
    from = row;
    absent = next ?? absent;
  }
  return cuts;
}

/** Rows that lack what those before the batch did come first. */
function groupsOf(
  batch: RecordBatch,
  same: number,
  mixed: readonly Validity[],
  last: number | undefined,
): readonly Cut[] | undefined {
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
  const taken = (group: number, count: number): RecordBatch => {
    const rows = new Uint32Array(count);
    let found = 0;
    for (let row = 0; row < absent.length; row++) if (absent[row] === group) rows[found++] = row;
    return gatherBatch(batch, rows);
  };
  return groups.map(([group, count]) => ({ absent: group, taken: () => taken(group, count) }));
}
