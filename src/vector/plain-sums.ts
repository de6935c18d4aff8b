/**
 * Computes the sums of kernels.wat in plain JavaScript, by a function for each sum and type of
 * elements: squared differences (`squaresF32`, `squaresF64`, `squaresU8`), products (`productsF32`,
 * `productsF64`, `productsU8`) and differing bits (`bitsU8`). Half floats are converted to float32
 * before. Additions and roundings of floats have the same order as in kernels.wat, and sums of
 * bytes are exact, so the results are equal to the last bit.
 */

const { fround } = Math;
const lanes8 = new Float32Array(8);
const lanes4 = new Float64Array(4);

/** The sum of squared differences of the `size` floats at `at` from `query`. */
export function squaresF32(
  values: Float32Array,
  at: number,
  query: Float32Array,
  size: number,
): number {
  let a = 0;
  let b = 0;
  let c = 0;
  let d = 0;
  let e = 0;
  let f = 0;
  let g = 0;
  let h = 0;
  let i = 0;
  for (; i + 8 <= size; i += 8) {
    const j = at + i;
    const p = fround((values[j] as number) - (query[i] as number));
    const q = fround((values[j + 1] as number) - (query[i + 1] as number));
    const r = fround((values[j + 2] as number) - (query[i + 2] as number));
    const s = fround((values[j + 3] as number) - (query[i + 3] as number));
    const t = fround((values[j + 4] as number) - (query[i + 4] as number));
    const u = fround((values[j + 5] as number) - (query[i + 5] as number));
    const v = fround((values[j + 6] as number) - (query[i + 6] as number));
    const w = fround((values[j + 7] as number) - (query[i + 7] as number));
    a = fround(a + fround(p * p));
    b = fround(b + fround(q * q));
    c = fround(c + fround(r * r));
    d = fround(d + fround(s * s));
    e = fround(e + fround(t * t));
    f = fround(f + fround(u * u));
    g = fround(g + fround(v * v));
    h = fround(h + fround(w * w));
  }
  lanes8[0] = a;
  lanes8[1] = b;
  lanes8[2] = c;
  lanes8[3] = d;
  lanes8[4] = e;
  lanes8[5] = f;
  lanes8[6] = g;
  lanes8[7] = h;
  for (; i < size; i += 1) {
    const difference = fround((values[at + i] as number) - (query[i] as number));
    lanes8[i & 7] = (lanes8[i & 7] as number) + fround(difference * difference);
  }
  return sumLanes8();
}

/** The sum of products of the `size` floats at `at` with `query`. */
export function productsF32(
  values: Float32Array,
  at: number,
  query: Float32Array,
  size: number,
): number {
  let a = 0;
  let b = 0;
  let c = 0;
  let d = 0;
  let e = 0;
  let f = 0;
  let g = 0;
  let h = 0;
  let i = 0;
  for (; i + 8 <= size; i += 8) {
    const j = at + i;
    a = fround(a + fround((values[j] as number) * (query[i] as number)));
    b = fround(b + fround((values[j + 1] as number) * (query[i + 1] as number)));
    c = fround(c + fround((values[j + 2] as number) * (query[i + 2] as number)));
    d = fround(d + fround((values[j + 3] as number) * (query[i + 3] as number)));
    e = fround(e + fround((values[j + 4] as number) * (query[i + 4] as number)));
    f = fround(f + fround((values[j + 5] as number) * (query[i + 5] as number)));
    g = fround(g + fround((values[j + 6] as number) * (query[i + 6] as number)));
    h = fround(h + fround((values[j + 7] as number) * (query[i + 7] as number)));
  }
  lanes8[0] = a;
  lanes8[1] = b;
  lanes8[2] = c;
  lanes8[3] = d;
  lanes8[4] = e;
  lanes8[5] = f;
  lanes8[6] = g;
  lanes8[7] = h;
  for (; i < size; i += 1) {
    const product = fround((values[at + i] as number) * (query[i] as number));
    lanes8[i & 7] = (lanes8[i & 7] as number) + product;
  }
  return sumLanes8();
}

/** The sum of squared differences of the `size` doubles at `at` from `query`. */
export function squaresF64(
  values: Float64Array,
  at: number,
  query: Float64Array,
  size: number,
): number {
  let a = 0;
  let b = 0;
  let c = 0;
  let d = 0;
  let i = 0;
  for (; i + 4 <= size; i += 4) {
    const j = at + i;
    const p = (values[j] as number) - (query[i] as number);
    const q = (values[j + 1] as number) - (query[i + 1] as number);
    const r = (values[j + 2] as number) - (query[i + 2] as number);
    const s = (values[j + 3] as number) - (query[i + 3] as number);
    a += p * p;
    b += q * q;
    c += r * r;
    d += s * s;
  }
  lanes4[0] = a;
  lanes4[1] = b;
  lanes4[2] = c;
  lanes4[3] = d;
  for (; i < size; i += 1) {
    const difference = (values[at + i] as number) - (query[i] as number);
    lanes4[i & 3] = (lanes4[i & 3] as number) + difference * difference;
  }
  return sumLanes4();
}

/** The sum of products of the `size` doubles at `at` with `query`. */
export function productsF64(
  values: Float64Array,
  at: number,
  query: Float64Array,
  size: number,
): number {
  let a = 0;
  let b = 0;
  let c = 0;
  let d = 0;
  let i = 0;
  for (; i + 4 <= size; i += 4) {
    const j = at + i;
    a += (values[j] as number) * (query[i] as number);
    b += (values[j + 1] as number) * (query[i + 1] as number);
    c += (values[j + 2] as number) * (query[i + 2] as number);
    d += (values[j + 3] as number) * (query[i + 3] as number);
  }
  lanes4[0] = a;
  lanes4[1] = b;
  lanes4[2] = c;
  lanes4[3] = d;
  for (; i < size; i += 1) {
    const product = (values[at + i] as number) * (query[i] as number);
    lanes4[i & 3] = (lanes4[i & 3] as number) + product;
  }
  return sumLanes4();
}

/** The sum of squared differences of the `size` bytes at `at` from `query`. */
export function squaresU8(values: Uint8Array, at: number, query: Uint8Array, size: number): number {
  let sum = 0;
  for (let i = 0; i < size; i += 1) {
    const difference = (values[at + i] as number) - (query[i] as number);
    sum += difference * difference;
  }
  return sum;
}

/** The sum of products of the `size` bytes at `at` with `query`. */
export function productsU8(
  values: Uint8Array,
  at: number,
  query: Uint8Array,
  size: number,
): number {
  let sum = 0;
  for (let i = 0; i < size; i += 1) sum += (values[at + i] as number) * (query[i] as number);
  return sum;
}

const BITS = Uint8Array.from({ length: 256 }, (_, byte) => {
  let count = 0;
  for (let rest = byte; rest !== 0; rest &= rest - 1) count += 1;
  return count;
});

/** How many bits of the `size` bytes at `at` differ from those of `query`. */
export function bitsU8(values: Uint8Array, at: number, query: Uint8Array, size: number): number {
  let sum = 0;
  for (let i = 0; i < size; i += 1) {
    sum += BITS[(values[at + i] as number) ^ (query[i] as number)] as number;
  }
  return sum;
}

/** Eight lanes to four, four to two, two to one, as the kernels' last additions go. */
function sumLanes8(): number {
  const x = fround(fround(lane8(0) + lane8(4)) + fround(lane8(2) + lane8(6)));
  const y = fround(fround(lane8(1) + lane8(5)) + fround(lane8(3) + lane8(7)));
  return fround(x + y);
}

const lane8 = (index: number): number => lanes8[index] as number;

function sumLanes4(): number {
  const upper = (lanes4[1] as number) + (lanes4[3] as number);
  return (lanes4[0] as number) + (lanes4[2] as number) + upper;
}
