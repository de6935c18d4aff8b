/** Rows by their ids, in the order asked for, repeats kept: what orderings and searches end with. */
import type { Data, DataType, RecordBatch } from '../arrow.ts';
import { nullColumn, recordBatch } from '../format/arrow-data.ts';
import { concatData } from '../format/concat.ts';
import { type FragmentEntry, liveRows } from '../format/fragment-entry.ts';
import { gather } from '../format/gather.ts';
import { readSelected } from './batch-rows.ts';
import { deletedRows } from './deletions.ts';
import type { Engine } from './engine.ts';
import { FragmentReader } from './fragment-reader.ts';
import type { ScanPlan } from './scan-plan.ts';
import type { Snapshot } from './snapshot.ts';

export interface Taken {
  /** The plan's columns of the rows found. */
  readonly batch: RecordBatch;
  /** Positions in the request of the rows found, in its order; deleted and unknown ids are missing. */
  readonly found: Uint32Array;
}

/** One batch of the plan's columns; the plan's predicate, limit and offset are not applied. */
export async function takeRows(plan: ScanPlan, rowIds: BigUint64Array): Promise<Taken> {
  const wanted = groupByFragment(rowIds);
  const parts: Data[][] = [];
  /** Where each row of the request is in the joined parts; -1 when it was not found. */
  const places = new Int32Array(rowIds.length).fill(-1);
  let read = 0;
  let position = 0;
  for (const entry of await plan.snapshot.fragments()) {
    const first = position;
    position += liveRows(entry);
    const group = wanted.get(entry.id);
    if (group === undefined) continue;
    for await (const part of readGroup(plan, entry, group, first)) {
      for (const [at, request] of part.requests) places[request] = read + at;
      read += part.rows;
      parts.push(part.data);
    }
  }
  const found = Uint32Array.from(places.keys()).filter((request) => (places[request] ?? -1) >= 0);
  const order = found.map((request) => places[request] as number);
  const inOrder = order.every((row, at) => row === at);
  const columns = plan.columns.map((_, column) => {
    const data = parts.map((part) => part[column] as Data);
    const [only] = data;
    if (only === undefined) return nullColumn(plan.schema.fields[column]?.type as DataType, 0);
    const joined = data.length === 1 ? only : concatData(data);
    return inOrder && joined.length === order.length ? joined : gather(joined, order);
  });
  return { batch: recordBatch(plan.schema, columns, found.length), found };
}

/** Ids of the live rows at these offsets; offsets past the last row give none. */
export async function rowIdsAt(
  engine: Engine,
  snapshot: Snapshot,
  offsets: readonly bigint[],
): Promise<BigUint64Array> {
  const ends: number[] = [];
  const fragments = await snapshot.fragments();
  for (const entry of fragments) ends.push((ends.at(-1) ?? 0) + liveRows(entry));
  const ids: bigint[] = [];
  for (const offset of offsets) {
    if (offset >= BigInt(snapshot.rowCount)) continue;
    const rank = Number(offset);
    const at = firstAbove(ends, rank);
    const entry = fragments[at] as FragmentEntry;
    const within = rank - (ends[at - 1] ?? 0);
    const deleted = await deletedRows(engine, snapshot, entry);
    const row = deleted === undefined ? within : deleted.liveRow(within);
    ids.push((BigInt(entry.id) << 32n) | BigInt(row));
  }
  return BigUint64Array.from(ids);
}

function firstAbove(ascending: readonly number[], value: number): number {
  let low = 0;
  let high = ascending.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((ascending[middle] as number) > value) high = middle;
    else low = middle + 1;
  }
  return low;
}

interface Wanted {
  readonly offset: number;
  readonly request: number;
}

function groupByFragment(rowIds: BigUint64Array): Map<number, Wanted[]> {
  const words = new Uint32Array(rowIds.buffer, rowIds.byteOffset, rowIds.length * 2);
  const groups = new Map<number, Wanted[]>();
  for (let request = 0; request < rowIds.length; request++) {
    const fragment = words[2 * request + 1] as number;
    const wanted = { offset: words[2 * request] as number, request };
    const group = groups.get(fragment);
    if (group === undefined) groups.set(fragment, [wanted]);
    else group.push(wanted);
  }
  for (const group of groups.values()) group.sort((a, b) => a.offset - b.offset);
  return groups;
}

interface Part {
  readonly data: Data[];
  readonly rows: number;
  /** Pairs of a row of the part and a position in the request. */
  readonly requests: readonly (readonly [number, number])[];
}

async function* readGroup(
  plan: ScanPlan,
  entry: FragmentEntry,
  group: readonly Wanted[],
  position: number,
): AsyncGenerator<Part> {
  const deleted = await deletedRows(plan.engine, plan.snapshot, entry);
  const reader = await FragmentReader.open(plan.engine, plan.snapshot, entry, plan);
  try {
    let first = 0;
    let next = 0;
    for (const [index, { rows }] of reader.footer.batches.entries()) {
      const selected: number[] = [];
      const requests: [number, number][] = [];
      for (; next < group.length; next++) {
        const { offset, request } = group[next] as Wanted;
        if (offset >= first + rows) break;
        if (deleted?.has(offset) === true) continue;
        if (selected.at(-1) !== offset - first) selected.push(offset - first);
        requests.push([selected.length - 1, request]);
      }
      if (selected.length > 0) {
        const before = position + first - (deleted?.countBetween(0, first) ?? 0);
        const place = { reader, entry, deleted, index, first, rows, position: before };
        const data = await readSelected(plan, place, Uint32Array.from(selected));
        yield { data, rows: selected.length, requests };
      }
      first += rows;
    }
  } finally {
    reader.close();
  }
}
