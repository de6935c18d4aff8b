/**
 * `ROW` is the prototype of row objects and of the structs in them. Its only method, `toJSON`,
 * returns a plain object with arrays in place of typed arrays and objects in place of Maps; bigints
 * stay, so JSON.stringify throws for a row that has one. The own members of a row are its columns.
 */

export const ROW: object = Object.create(Object.prototype, {
  // A column may have the name, and is assigned.
  toJSON: { value: toJSON, enumerable: false, writable: true, configurable: true },
});

function toJSON(this: Record<string, unknown>): Record<string, unknown> {
  return plainObject(Object.entries(this));
}

function plainObject(entries: Iterable<readonly [string, unknown]>): Record<string, unknown> {
  return Object.fromEntries(Array.from(entries, ([name, value]) => [name, plain(value)]));
}

/** Bigints and Dates are left as they are: JSON.stringify refuses the ones and writes the others. */
function plain(value: unknown): unknown {
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) return value.map(plain);
  if (ArrayBuffer.isView(value)) return Array.from(value as Uint8Array);
  if (value instanceof Map) {
    return plainObject(Array.from(value, ([key, item]) => [String(key), item] as const));
  }
  if (Object.getPrototypeOf(value) !== ROW) return value;
  return plainObject(Object.entries(value));
}
