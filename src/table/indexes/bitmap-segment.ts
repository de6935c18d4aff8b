/**
 * `bitmapReader` and `labelListReader` read the segments of BITMAP and LABEL_LIST indexes. The
 * first answers tests of the values of a column, the second those of the items of its lists. The
 * file of a segment has a row for each distinct value, sorted with nulls last: the value, the count
 * of its table rows and their positions. So the rows that match are counted without reading
 * positions. For lists and several values this count is only an upper bound. Damaged files throw
 * Corrupt.
 */
import type { Data } from '../../arrow/index.ts';
import type { IndexSegment } from '../../format/index.ts';
import { decodePositions } from '../../indexes/index.ts';
import type { ColumnTest, Value } from '../../sql/index.ts';
import type { Engine, Snapshot } from '../versions/index.ts';
import { batchOf, SortedSegment, valueTypeOf } from './btree-segment.ts';
import { OpenSegment } from './segment.ts';
import type { IndexReader, LocatedRows } from './segment-types.ts';

const COUNT = 1;
const POSITIONS = 2;
const COLUMNS = 3;

/** A distinct value of the segment. */
interface Group {
  readonly batch: number;
  readonly row: number;
  readonly count: number;
}

export const bitmapReader: IndexReader = {
  ofItems: false,
  answers: ({ kind }) => kind !== 'items',
  locate: (engine, snapshot, segment, test) =>
    located(engine, snapshot, segment, async (open) => {
      const groups = await groupsOf(open, test);
      return { groups, count: total(groups), isExact: true, join: united };
    }),
  valueType: (engine, snapshot, segment) => valueTypeOf(engine, snapshot, segment, COLUMNS),
};

export const labelListReader: IndexReader = {
  ofItems: true,
  answers: ({ kind }) => kind === 'items',
  locate: (engine, snapshot, segment, test) =>
    located(engine, snapshot, segment, async (open) => {
      if (test.kind !== 'items') return NOTHING;
      const values = distinct(test.values);
      const groups = await groupsOf(open, { kind: 'among', values });
      if (!test.all)
        return { groups, count: total(groups), isExact: groups.length < 2, join: united };
      if (groups.length < values.length) return NOTHING;
      const count = groups.reduce((least, group) => Math.min(least, group.count), Infinity);
      return { groups, count, isExact: groups.length < 2, join: shared };
    }),
  valueType: (engine, snapshot, segment) => valueTypeOf(engine, snapshot, segment, COLUMNS),
};

interface Found {
  readonly groups: readonly Group[];
  readonly count: number;
  readonly isExact: boolean;
  readonly join: (sets: readonly Uint32Array[]) => Uint32Array;
}

const distinct = (values: readonly Value[]): Value[] => [...new Set(values)];
const total = (groups: readonly Group[]): number =>
  groups.reduce((sum, { count }) => sum + count, 0);

async function opened<Result>(
  engine: Engine,
  snapshot: Snapshot,
  segment: IndexSegment,
  use: (open: OpenSegment) => Promise<Result>,
): Promise<Result> {
  const opening = OpenSegment.open(engine, snapshot, segment, COLUMNS);
  const open = opening instanceof Promise ? await opening : opening;
  try {
    return await use(open);
  } finally {
    open.close();
  }
}

async function located(
  engine: Engine,
  snapshot: Snapshot,
  segment: IndexSegment,
  find: (open: OpenSegment) => Promise<Found>,
): Promise<LocatedRows> {
  const { groups, count, isExact, join } = await opened(engine, snapshot, segment, find);
  const positions = (): Promise<Uint32Array> =>
    opened(engine, snapshot, segment, async (open) => {
      const sets: Uint32Array[] = [];
      for (const { batch, row, count: size } of groups) {
        const read = open.cells(batch, POSITIONS, Uint32Array.of(row));
        const data = read instanceof Promise ? await read : read;
        sets.push(decodePositions(bytesOf(data), size, open.name));
      }
      return join(sets);
    });
  return { count, isExact, positions };
}

/** The bytes of the only row. */
function bytesOf(data: Data): Uint8Array {
  const [from = 0, to = 0] = (data.valueOffsets ?? []) as unknown as number[];
  return ((data.values ?? new Uint8Array(0)) as Uint8Array).subarray(Number(from), Number(to));
}

async function groupsOf(open: OpenSegment, test: ColumnTest): Promise<Group[]> {
  const groups: Group[] = [];
  for (const { from, to } of await new SortedSegment(open).spans(test)) {
    for (let batch = batchOf(open.starts, from); batch < open.batches; batch++) {
      const start = open.starts[batch] as number;
      if (start >= to) break;
      const read = open.column(batch, COUNT);
      const data = read instanceof Promise ? await read : read;
      const counts = data.values as unknown as Uint32Array;
      for (let row = Math.max(0, from - start); row < Math.min(data.length, to - start); row++)
        groups.push({ batch, row, count: counts[row] as number });
    }
  }
  return groups;
}

function united(sets: readonly Uint32Array[]): Uint32Array {
  const [only] = sets;
  if (only !== undefined && sets.length === 1) return only;
  const all = new Uint32Array(sets.reduce((sum, { length }) => sum + length, 0));
  let filled = 0;
  for (const set of sets) {
    all.set(set, filled);
    filled += set.length;
  }
  return all.sort();
}

function shared(sets: readonly Uint32Array[]): Uint32Array {
  const [first = new Uint32Array(0), ...more] = [...sets].sort((a, b) => a.length - b.length);
  return more.reduce((left, right) => {
    const both = new Uint32Array(left.length);
    let [at, count] = [0, 0];
    for (const position of left) {
      while (at < right.length && (right[at] as number) < position) at++;
      if (right[at] === position) both[count++] = position;
    }
    return both.subarray(0, count);
  }, first);
}

const NOTHING: Found = { groups: [], count: 0, isExact: true, join: united };
