/**
 * Reads single values of bytes or text from a fragment, in a column or in a member of its structs.
 * `findValue` returns the place of a value, and null for a null value. For other types, and for
 * columns with views, it returns undefined. `readBytes` reads the value or a part of it. Only the
 * pages with the wanted bytes are loaded and verified (sparse-pages.ts), so a part of a long value
 * is read without the rest. Damage throws Corrupt; the row and the part must be there.
 */
import {
  childFields,
  type DataType,
  hasLargeOffsets,
  layoutOf,
  UnionMode,
} from '../../arrow/index.ts';
import { chunkAt, type FragmentFooter } from './fragment-footer.ts';
import { NO_FRAMES, Pages, type RowReader, SparseBuffers } from './sparse-pages.ts';
import { OFFSETS_BUFFER } from './wide-offsets.ts';

/** A column of a batch of a fragment, and the places of the members of structs that lead to the value. */
export interface ValueColumn {
  readonly footer: FragmentFooter;
  readonly batch: number;
  readonly column: number;
  readonly path: readonly number[];
}

/** Where the bytes of one value lie in the content of a buffer of its column. */
export interface ValueSpan {
  readonly buffer: number;
  readonly begin: number;
  readonly end: number;
}

/**
 * The place of the value of a row of the batch; null where it, or a struct that it is in, is null.
 * Undefined where the column has no such member, or one that does not lie so.
 */
export function* findValue(
  { footer, batch, column, path }: ValueColumn,
  row: number,
): RowReader<ValueSpan | null | undefined> {
  const chunk = chunkAt(footer, batch, column);
  const pages = new Pages(footer, chunk, column, batch);
  const buffers = new SparseBuffers(pages, chunk, NO_FRAMES);
  const place = placeIn(footer.schema.fields[column]?.type as DataType, path);
  if (place === undefined || chunk.views.length > 0) return undefined;
  const bits = place.nodes.flatMap(({ node, buffer }) =>
    (chunk.nodes[2 * node + 1] ?? 0) > 0 ? [buffer] : [],
  );
  const { values, isLarge } = place;
  const offsets = values - 2 + OFFSETS_BUFFER;
  const width = isLarge || (chunk.isWide === true && path.length === 0) ? 8 : 4;
  yield* buffers.load([
    ...bits.map((buffer) => ({ buffer, begin: row >> 3, end: (row >> 3) + 1 })),
    { buffer: offsets, begin: row * width, end: (row + 2) * width },
  ]);
  const isNull = bits.some((buffer) => ((buffers.byte(buffer, row >> 3) >> (row & 7)) & 1) === 0);
  if (isNull) return null;
  const pair = new Uint8Array(2 * width);
  buffers.copy(offsets, row * width, pair.length, pair, 0);
  const view = new DataView(pair.buffer);
  const at = (position: number): number =>
    width === 4 ? view.getInt32(position, true) : Number(view.getBigInt64(position, true));
  const span = { buffer: values, begin: at(0), end: at(width) };
  if (span.begin < 0 || span.end < span.begin || span.end > buffers.size(values)) {
    throw pages.fail('an offset lies outside');
  }
  return span;
}

/** The bytes `from` to `to` of a value that `findValue` found, in memory of their own. */
export function* readBytes(
  { footer, batch, column }: ValueColumn,
  { buffer, begin }: ValueSpan,
  from: number,
  to: number,
): RowReader<Uint8Array> {
  const chunk = chunkAt(footer, batch, column);
  const buffers = new SparseBuffers(new Pages(footer, chunk, column, batch), chunk, NO_FRAMES);
  const bytes = new Uint8Array(to - from);
  if (bytes.length === 0) return bytes;
  yield* buffers.load([{ buffer, begin: begin + from, end: begin + to }]);
  buffers.copy(buffer, begin + from, bytes.length, bytes, 0);
  return bytes;
}

interface MemberPlace {
  /** The member and the structs around it: their nodes, and their buffers of validity. */
  readonly nodes: readonly { readonly node: number; readonly buffer: number }[];
  /** The buffer of the member's values; its offsets are the one before. */
  readonly values: number;
  readonly isLarge: boolean;
}

/** Counts nodes and buffers up to the member. Undefined where there is none that has offsets. */
function placeIn(type: DataType, path: readonly number[]): MemberPlace | undefined {
  const nodes: { node: number; buffer: number }[] = [];
  let node = 0;
  let buffer = 0;
  let at = type;
  for (const member of path) {
    const found = childFields(at)[member];
    if (layoutOf(at) !== 'struct' || found === undefined) return undefined;
    nodes.push({ node, buffer });
    node += 1;
    buffer += 1;
    for (const before of childFields(at).slice(0, member)) {
      const size = sizeOf(before.type);
      node += size.nodes;
      buffer += size.buffers;
    }
    at = found.type;
  }
  if (layoutOf(at) !== 'binary') return undefined;
  return {
    nodes: [...nodes, { node, buffer }],
    values: buffer + 2,
    isLarge: hasLargeOffsets(at),
  };
}

/** How many nodes and buffers a column of a type without views has. */
function sizeOf(type: DataType): { readonly nodes: number; readonly buffers: number } {
  const children = childFields(type).map((child) => sizeOf(child.type));
  const inner = layoutOf(type) === 'dictionary' ? [] : children;
  return {
    nodes: inner.reduce((sum, { nodes }) => sum + nodes, 1),
    buffers: inner.reduce((sum, { buffers }) => sum + buffers, ownBuffers(type)),
  };
}

function ownBuffers(type: DataType): number {
  switch (layoutOf(type)) {
    case 'null':
      return 0;
    case 'struct':
    case 'fixed-list':
      return 1;
    case 'binary':
      return 3;
    case 'union':
      return (type as unknown as { mode: UnionMode }).mode === UnionMode.Dense ? 2 : 1;
    default:
      return 2;
  }
}
