/**
 * Recognises kinds of JavaScript values that a user may pass, such as records (`isRecord`) and
 * dates (`isDate`). `asBytes` returns the bytes of a value, and `asItems` the items of a list; both
 * return undefined for other values. Values of another realm or of another copy of a library count
 * too, although instanceof is false for them. `isRecord` also accepts instances of classes.
 * `isInheritedName` tells whether every object has a member of a name, such as `toString`.
 */

const NOT_RECORDS = new Set(
  [
    'Date Map Set WeakMap WeakSet RegExp Promise ArrayBuffer SharedArrayBuffer DataView',
    'String Number Boolean Symbol BigInt Error',
  ].flatMap((names) => names.split(' ')),
);

const tagOf = (value: object): string => Object.prototype.toString.call(value).slice(8, -1);

/** True for objects that stand for a row or a struct: plain ones and instances of classes. */
export function isRecord(value: unknown): value is Record<string, unknown> {
  if (typeof value !== 'object' || value === null) return false;
  const prototype = Object.getPrototypeOf(value);
  if (prototype === Object.prototype || prototype === null) return true;
  return !Array.isArray(value) && !ArrayBuffer.isView(value) && !NOT_RECORDS.has(tagOf(value));
}

export function isDate(value: unknown): value is Date {
  return value instanceof Date || (typeof value === 'object' && value !== null && isDateTag(value));
}

const isDateTag = (value: object): boolean => tagOf(value) === 'Date';

/** The bytes of a Buffer, Uint8Array, DataView or ArrayBuffer, as a view; nothing is copied. */
export function asBytes(value: unknown): Uint8Array | undefined {
  if (value instanceof Uint8Array) return value;
  if (typeof value !== 'object' || value === null) return undefined;
  const tag = tagOf(value);
  if (tag === 'ArrayBuffer' || tag === 'SharedArrayBuffer') {
    return new Uint8Array(value as ArrayBuffer);
  }
  if (tag !== 'Uint8Array' && tag !== 'DataView') return undefined;
  const { buffer, byteOffset, byteLength } = value as DataView;
  return new Uint8Array(buffer, byteOffset, byteLength);
}

export function isThenable(value: unknown): value is PromiseLike<unknown> {
  return typeof (value as PromiseLike<unknown> | null | undefined)?.then === 'function';
}

/** The items of an array, typed array or Arrow vector of any copy of apache-arrow. */
export function asItems(value: unknown): ArrayLike<unknown> | undefined {
  if (Array.isArray(value)) return value;
  if (typeof value !== 'object' || value === null) return undefined;
  if (ArrayBuffer.isView(value)) {
    return tagOf(value) === 'DataView' ? undefined : (value as Uint8Array);
  }
  return isVectorLike(value) ? Array.from(value) : undefined;
}

interface VectorLike extends Iterable<unknown> {
  readonly length: number;
}

function isVectorLike(value: object): value is VectorLike {
  const vector = value as {
    length?: unknown;
    get?: unknown;
    type?: { typeId?: unknown };
  };
  return (
    typeof vector.length === 'number' &&
    typeof vector.get === 'function' &&
    typeof vector.type?.typeId === 'number' &&
    Symbol.iterator in value
  );
}

/** True for names every object answers to, so that only an own property counts. */
export const isInheritedName = (name: string): boolean => name in Object.prototype;
