/**
 * `ranks` computes the window functions that count rows: row_number, rank, dense_rank,
 * percent_rank, cume_dist and ntile. `isRank` recognises them, and `readsPeers` those that need to
 * know which rows are equal in order. `Partitions` marks the rows at which partitions, and groups
 * of rows of equal order, begin. `runs` iterates over the groups of rows from one mark to the next.
 * A number of ntile below 1 throws InvalidInput; `checkNth` throws it for nth_value.
 */
import type { DataType } from '../../arrow/index.ts';
import { DirspaceError } from '../../errors.ts';
import { type Column, reader, type Value } from '../../sql/index.ts';
import { inSlices } from '../../steps.ts';

/** For each row whether it is the first of a partition, and of rows that are equal in order. */
export interface Partitions {
  readonly partitions: Uint8Array;
  readonly peers: Uint8Array;
}

/** Rows between two steps. */
export const STEP_ROWS: number = 1 << 14;

/** Yields runs of rows from one mark to the next; without marks, row by row. */
export function* runs(
  marks: Uint8Array | undefined,
  begin = 0,
  end = marks?.length ?? 0,
): Generator<{ from: number; to: number }> {
  for (let from = begin; from < end; ) {
    let to = from + 1;
    while (to < end && marks?.[to] === 0) to++;
    yield { from, to };
    from = to;
  }
}

/** @throws InvalidInput for a number of a row that is not from 1 on */
export function checkNth(number: Value): void {
  if (number === null || Number(number) >= 1) return;
  throw new DirspaceError('InvalidInput', 'nth_value takes a number from 1 on.');
}

/** Functions that count rows, and those of them that count rows of one place in order as one. */
const RANKS: ReadonlySet<string> = new Set([
  ...['row_number', 'rank', 'dense_rank', 'percent_rank', 'cume_dist', 'ntile'],
]);
const PEER_RANKS: ReadonlySet<string> = new Set([
  'rank',
  'dense_rank',
  'percent_rank',
  'cume_dist',
]);

export const isRank = (name: string): boolean => RANKS.has(name);

/** Whether a function that counts rows asks which of them are equal in order. */
export const readsPeers = (name: string): boolean => PEER_RANKS.has(name);

export function* ranks(
  name: string,
  type: DataType,
  { partitions, peers }: Partitions,
  [tiles]: readonly Column[],
): Generator<void, Column> {
  const rows = partitions.length;
  const values = new Float64Array(rows);
  if (name === 'ntile' || name === 'percent_rank' || name === 'cume_dist') {
    for (const { from, to } of runs(partitions)) {
      if (name === 'ntile') yield* fillTiles(values, from, to, tiles);
      else if (name === 'cume_dist') yield* fillPassed(values, from, to, peers);
      else yield* fillShares(values, from, to, peers);
      yield;
    }
  } else {
    yield* countedRows(name, partitions, peers, values);
  }
  return { form: 'number', type, length: rows, values, valid: null };
}

function* countedRows(
  name: string,
  partitions: Uint8Array,
  peers: Uint8Array,
  into: Float64Array,
): Generator<void, void> {
  const [isRowNumber, isPlainRank] = [name === 'row_number', name === 'rank'];
  const last = { number: 0, first: 0, dense: 0 };
  yield* inSlices(into.length, STEP_ROWS, (from, to) => {
    let { number, first, dense } = last;
    for (let row = from; row < to; row++) {
      if (partitions[row] === 1) {
        number = 0;
        dense = 0;
      }
      number++;
      if (peers[row] === 1) {
        first = number;
        dense++;
      }
      into[row] = isRowNumber ? number : isPlainRank ? first : dense;
    }
    Object.assign(last, { number, first, dense });
  });
}

function* fillTiles(
  values: Float64Array,
  from: number,
  to: number,
  tiles: Column | undefined,
): Generator<void, void> {
  const rows = to - from;
  const count = Number(tiles === undefined ? 1 : (reader(tiles)(from) ?? 0));
  if (!(count >= 1)) throw new DirspaceError('InvalidInput', 'ntile takes a number from 1 on.');
  const [least, larger] = [Math.floor(rows / count), rows % count];
  const border = larger * (least + 1);
  for (let at = 0; at < rows; at++) {
    if (at % STEP_ROWS === 0) yield;
    const tile =
      at < border ? Math.floor(at / (least + 1)) : larger + Math.floor((at - border) / least);
    values[from + at] = tile + 1;
  }
}

/** How many of the other rows are before each one, as a share. */
function* fillShares(
  values: Float64Array,
  from: number,
  to: number,
  peers: Uint8Array,
): Generator<void, void> {
  const others = to - from - 1;
  let first = 0;
  for (let row = from; row < to; row++) {
    if (row % STEP_ROWS === 0) yield;
    if (row === from || peers[row] === 1) first = row - from;
    values[row] = others === 0 ? 0 : first / others;
  }
}

/** How many of the rows are before each one or equal to it in order, as a share. */
function* fillPassed(
  values: Float64Array,
  from: number,
  to: number,
  peers: Uint8Array,
): Generator<void, void> {
  let steps = 0;
  for (const peer of runs(peers, from, to)) {
    if (steps++ % STEP_ROWS === 0) yield;
    values.fill((peer.to - from) / (to - from), peer.from, peer.to);
  }
}
