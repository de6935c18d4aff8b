/**
 * `loadSimdKernels` loads the kernels that run in WebAssembly with 128-bit vectors, or returns
 * undefined if the runtime lacks them. It owns the module and its memory, which all searches of the
 * process share. Rows are copied there in blocks. residents.ts may keep them there, except half
 * floats, rows that are not a multiple of 32 bytes, and selected rows.
 */
import type { ElementType, QueryVector, VectorValues } from './elements.ts';
import { gatherRows, type Kernels, type SumKind, type VectorBlock } from './kernels.ts';
import { KERNELS_BASE64 } from './kernels.wasm.ts';
import { ResidentRoom, Residents, reserve } from './residents.ts';
import type { LoadedRows, PartitionKernels } from './sketch.ts';

/** The parts of WebAssembly that are used: the typings in use do not declare them. */
interface WebAssemblyApi {
  validate(bytes: Uint8Array): boolean;
  readonly Module: new (bytes: Uint8Array) => object;
  readonly Instance: new (module: object) => { readonly exports: unknown };
}

type Sum = (rows: number, stride: number, count: number, query: number, sums: number) => void;

interface Exports extends PartitionKernels {
  readonly squares_f32: Sum;
  readonly products_f32: Sum;
  readonly squares_f64: Sum;
  readonly products_f64: Sum;
  readonly squares_u8: Sum;
  readonly products_u8: Sum;
  readonly bits_u8: Sum;
  readonly widen: (from: number, to: number, count: number) => void;
  readonly spread: (
    from: number,
    length: number,
    to: number,
    stride: number,
    count: number,
    mask: number,
  ) => void;
}

/** Rows and query end where a multiple of this does. */
const STEP = 32;
const BLOCK_BYTES = 131_072;

const roundUp = (bytes: number): number => Math.ceil(bytes / STEP) * STEP;

/** The kernels, or undefined where the module's instructions are not known. */
export function loadSimdKernels(): Kernels | undefined {
  const api = (globalThis as { WebAssembly?: WebAssemblyApi }).WebAssembly;
  const bytes = Buffer.from(KERNELS_BASE64, 'base64');
  if (api?.validate(bytes) !== true) return undefined;
  const module = new api.Module(bytes);
  const exports = new api.Instance(module).exports as Exports;
  const room = new ResidentRoom(exports.memory);
  const residents = new Residents(room);
  const open = (type: ElementType, dimension: number) =>
    openBlock(exports, residents, type, dimension);
  return {
    name: 'simd',
    openBlock: open,
    sketching: {
      kernels: exports,
      openRows: (type, dimension) => open(type, dimension).loaded,
      openMemory: () => new api.Instance(module).exports as Exports,
    },
  };
}

function openBlock(
  wasm: Exports,
  residents: Residents,
  elementType: ElementType,
  dimension: number,
): VectorBlock & { readonly loaded: LoadedRows } {
  const width = { float16: 4, float32: 4, float64: 8, uint8: 1 }[elementType];
  const length = dimension * width;
  const stride = roundUp(length);
  const capacity = Math.max(4, Math.floor(BLOCK_BYTES / stride / 4) * 4);
  const packed = stride === length;
  const halves = elementType === 'float16';

  // Each piece ends in room for what the kernels read or write beyond its last row.
  let end = 0;
  const place = (bytes: number): number => {
    const at = end;
    end += roundUp(bytes) + STEP;
    return at;
  };
  const maskAt = place(STEP);
  const queryAt = place(stride);
  const sumsAt = place(capacity * 8);
  const rowsAt = place(capacity * stride);
  const looseAt = packed ? rowsAt : place(capacity * length);
  const copyAt = halves ? place(capacity * dimension * 2) : looseAt;

  const mask = new Uint8Array(STEP).fill(255, 0, length % STEP);
  const names = { float16: 'f32', float32: 'f32', float64: 'f64', uint8: 'u8' } as const;
  const suffix = names[elementType];
  let views = openViews();
  let loaded = 0;
  let loadedAt = rowsAt;

  function openViews(): { bytes: Uint8Array; copy: VectorValues; sums: Float64Array } {
    reserve(wasm.memory, end);
    const { buffer } = wasm.memory;
    const size = capacity * dimension;
    return {
      bytes: new Uint8Array(buffer),
      copy: halves
        ? new Uint16Array(buffer, copyAt, size)
        : elementType === 'float32'
          ? new Float32Array(buffer, copyAt, size)
          : elementType === 'float64'
            ? new Float64Array(buffer, copyAt, size)
            : new Uint8Array(buffer, copyAt, size),
      sums: new Float64Array(buffer, sumsAt, capacity),
    };
  }

  function begin(values: VectorValues): void {
    if (packed && !halves) residents.placeOf(values, true);
  }

  function load(
    values: VectorValues,
    rows: Uint32Array | undefined,
    from: number,
    count: number,
  ): void {
    loaded = count;
    const direct = rows === undefined && packed && !halves;
    const resident = direct ? residents.placeOf(values, false) : undefined;
    // The memory may have grown, here or in another search, which detaches every view.
    if (views.bytes.buffer !== wasm.memory.buffer) views = openViews();
    loadedAt = resident === undefined ? rowsAt : resident + from * stride;
    if (resident !== undefined) return;
    gatherRows(values, rows, from, count, dimension, views.copy);
    if (halves) wasm.widen(copyAt, looseAt, count * dimension);
    if (packed) return;
    views.bytes.set(mask, maskAt);
    wasm.spread(looseAt, length, rowsAt, stride, count, maskAt);
  }

  function sums(kind: SumKind, query: QueryVector, into: Float64Array): void {
    // The rows may have been sketched since they were loaded, which takes memory.
    if (views.bytes.buffer !== wasm.memory.buffer) views = openViews();
    const { bytes } = views;
    bytes.set(new Uint8Array(query.buffer, query.byteOffset, query.byteLength), queryAt);
    bytes.fill(0, queryAt + query.byteLength, queryAt + stride);
    const sum = wasm[`${kind}_${suffix}` as keyof Exports] as Sum;
    sum(loadedAt, stride, loaded, queryAt, sumsAt);
    into.set(loaded === capacity ? views.sums : views.sums.subarray(0, loaded));
  }

  const rows: LoadedRows = {
    capacity,
    stride,
    end,
    get at() {
      return loadedAt;
    },
    load,
  };
  return { capacity, loaded: rows, begin, load, sums };
}
