/**
 * `DictionaryUnion` unites the dictionaries of several batches into one that only grows, so that
 * indices handed out earlier stay valid. Values of fixed width, and texts and binaries with
 * offsets, are compared by their bytes; booleans, views and nested values are appended without
 * comparison. `add` and `merge` return the new index of each old entry, or undefined if no index
 * changes. `add` keeps the repeats of the first dictionary. `remapIndices` rewrites the indices of
 * a column.
 */
import type { Data, DataType, Vector } from './apache.ts';
import { bytesOf, type Offsets, offsetAt } from './arrow-data.ts';
import { byteWidth, layoutOf } from './arrow-types.ts';
import { gatherData } from './gather-data.ts';

/** New index by old index; undefined when they are the same. */
export type IndexMap = Uint32Array | undefined;

export class DictionaryUnion {
  readonly #pieces: Data[] = [];
  #length = 0;
  #keys: Map<string, number> | undefined;
  readonly #known = new WeakMap<Vector, { readonly map: IndexMap }>();

  get length(): number {
    return this.#length;
  }

  /** The values, in pieces to be joined; empty when nothing was added. */
  get pieces(): readonly Data[] {
    return this.#pieces;
  }

  /** Adds what is new in a dictionary; its own repeats may be merged, so indices may shrink. */
  add(dictionary: Vector): IndexMap {
    const known = this.#known.get(dictionary);
    if (known !== undefined) return known.map;
    const map = this.#length === 0 ? this.#adopt(dictionary) : this.merge(dictionary);
    this.#known.set(dictionary, { map });
    return map;
  }

  #adopt(dictionary: Vector): undefined {
    for (const piece of dictionary.data) if (piece.length > 0) this.#pieces.push(piece);
    this.#length = dictionary.length;
  }

  /** As `add`, but its own repeats are always merged where its values can be compared. */
  merge(dictionary: Vector): IndexMap {
    const map = new Uint32Array(dictionary.length);
    let start = 0;
    for (const piece of dictionary.data) {
      const key = keyReader(piece);
      if (key === undefined) {
        for (let row = 0; row < piece.length; row += 1) map[start + row] = this.#length + row;
        if (piece.length > 0) this.#pieces.push(piece);
        this.#length += piece.length;
      } else {
        this.#mergePiece(piece, key, map.subarray(start, start + piece.length));
      }
      start += piece.length;
    }
    return map.every((index, at) => index === at) ? undefined : map;
  }

  #mergePiece(piece: Data, key: (row: number) => string, map: Uint32Array): void {
    const keys = this.#index();
    const added: number[] = [];
    for (let row = 0; row < piece.length; row += 1) {
      const value = key(row);
      let index = keys.get(value);
      if (index === undefined) {
        index = this.#length;
        this.#length += 1;
        keys.set(value, index);
        added.push(row);
      }
      map[row] = index;
    }
    if (added.length === piece.length) this.#pieces.push(piece);
    else if (added.length > 0) this.#pieces.push(gatherData(piece, Uint32Array.from(added)));
  }

  #index(): Map<string, number> {
    if (this.#keys !== undefined) return this.#keys;
    const keys = new Map<string, number>();
    let start = 0;
    for (const piece of this.#pieces) {
      const key = keyReader(piece);
      for (let row = 0; key !== undefined && row < piece.length; row += 1) {
        const value = key(row);
        if (!keys.has(value)) keys.set(value, start + row);
      }
      start += piece.length;
    }
    this.#keys = keys;
    return keys;
  }
}

const NULL_KEY = 'null';

/** Values by their exact bytes; undefined for types whose values are not one run of bytes. */
function keyReader(data: Data): ((row: number) => string) | undefined {
  const { type } = data;
  const layout = layoutOf(type);
  if (layout !== 'fixed' && layout !== 'binary') return undefined;
  const { buffer, byteOffset, byteLength } = bytesOf(
    (data.values ?? new Uint8Array(0)) as Uint8Array,
  );
  const bytes = Buffer.from(buffer, byteOffset, byteLength);
  const range = layout === 'fixed' ? fixedRange(type) : offsetRange(data.valueOffsets as Offsets);
  return (row) => {
    if (!data.getValid(row)) return NULL_KEY;
    const [begin, end] = range(row);
    return `=${bytes.toString('latin1', begin, end)}`;
  };
}

const fixedRange = (type: DataType): ((row: number) => readonly [number, number]) => {
  const width = byteWidth(type);
  return (row) => [row * width, (row + 1) * width];
};

const offsetRange =
  (offsets: Offsets): ((row: number) => readonly [number, number]) =>
  (row) => [offsetAt(offsets, row), offsetAt(offsets, row + 1)];

/** Indices through a map; rows that are null keep an index that exists. */
export function remapIndices<Indices extends { readonly length: number; [at: number]: number }>(
  indices: Indices,
  into: Indices,
  map: Uint32Array,
): Indices {
  const wide: unknown = into;
  if (wide instanceof BigInt64Array || wide instanceof BigUint64Array) {
    for (let row = 0; row < wide.length; row += 1)
      wide[row] = BigInt(map[Number(indices[row])] ?? 0);
    return into;
  }
  for (let row = 0; row < into.length; row += 1) into[row] = map[indices[row] as number] ?? 0;
  return into;
}
