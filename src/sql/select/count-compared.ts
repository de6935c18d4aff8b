/**
 * `countCompared` counts the rows of a column that match a comparison with a constant, straight
 * from the Arrow buffers. For numbers stored as doubles or signed 64-bit integers it takes any
 * operator, and for texts and binaries with 32-bit offsets = and <>. It returns null if it cannot
 * count, for example for columns with nulls, dictionaries, large or view types, for NaN, or without
 * WebAssembly. The caller then evaluates the condition.
 */
import { type Data, DataType } from '../../arrow/index.ts';
import type { CompareOperator } from '../parse/index.ts';
import type { Bound } from '../typed/index.ts';
import { type CountKernels, countKernels } from './count-kernels.ts';
import { nextBelow } from './select-compared.ts';

/** @param data of the one column below `bound`; null where this is not of the forms it knows */
export function countCompared(bound: Bound, data: Data): number | null {
  if (bound.kind !== 'compareConstant' || bound.arg.kind !== 'column') return null;
  if (bound.arg.path.length > 0 || data.nullCount > 0 || data.offset > 0) return null;
  if (DataType.isDictionary(data.type)) return null;
  const kernels = countKernels();
  if (kernels === null) return null;
  const { op, value } = bound;
  const { length } = data;
  const values = data.values as ArrayBufferView | undefined;
  if (values instanceof Float64Array && typeof value === 'number') {
    if (Number.isNaN(value)) return null;
    return countNumbers(kernels, op, values.subarray(0, length), value, nextBelow(value));
  }
  if (values instanceof BigInt64Array && typeof value === 'bigint') {
    if (value <= LEAST || value > GREATEST) return null;
    return countNumbers(kernels, op, values.subarray(0, length), value, value - 1n);
  }
  const offsets = data.valueOffsets as ArrayBufferView | undefined;
  if (!(values instanceof Uint8Array && offsets instanceof Int32Array)) return null;
  if (op !== '=' && op !== '<>') return null;
  const wanted = typeof value === 'string' ? Buffer.from(value) : value;
  if (!(wanted instanceof Uint8Array)) return null;
  const equal = kernels.equalTexts(offsets.subarray(0, length + 1), values, wanted);
  return equal === null || op === '=' ? equal : length - equal;
}

const LEAST = -(2n ** 63n);
const GREATEST = 2n ** 63n - 1n;

/** @param below the greatest number less than `value` */
function countNumbers(
  kernels: CountKernels,
  op: CompareOperator,
  values: Float64Array | BigInt64Array,
  value: number | bigint,
  below: number | bigint,
): number {
  const { length } = values;
  switch (op) {
    case '<':
      return kernels.atMost(values, below);
    case '<=':
      return kernels.atMost(values, value);
    case '>':
      return length - kernels.atMost(values, value);
    case '>=':
      return length - kernels.atMost(values, below);
    case '=':
      return kernels.atMost(values, value) - kernels.atMost(values, below);
    case '<>':
      return length - kernels.atMost(values, value) + kernels.atMost(values, below);
  }
}
