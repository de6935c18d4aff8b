/**
 * `vectorClass` makes the classes of vectors in rows: typed arrays that also have `toArray`,
 * `toJSON` and `get`, which programs written for LanceDB call, because its rows hold Arrow vectors.
 * `constructor`, what `map` and `slice` return, and how a vector is printed are those of the plain
 * typed array. The prototype is not, so `assert.deepStrictEqual` in Node 20 tells the two apart.
 * Vectors that are no typed arrays, those of float16 or with a null inside, are read as plain
 * arrays.
 */

/** Stands for every typed array of numbers or bigints. */
type Numbers = Float32Array;
type NumbersConstructor = new (values: Numbers) => Numbers;

/** `toArray` copies the numbers, `toJSON` gives an array, `get` a number or null beyond the end. */
const METHODS = {
  toArray(this: Numbers): Numbers {
    return this.slice();
  },
  toJSON(this: Numbers): number[] {
    return Array.from(this);
  },
  get(this: Numbers, index: number): number | null {
    return this[index] ?? null;
  },
};

const classes = new Map<unknown, NumbersConstructor>();

/** The class of vectors whose numbers are stored as the typed array `store` does. */
export function vectorClass(store: unknown): NumbersConstructor {
  const known = classes.get(store);
  if (known !== undefined) return known;
  const made = class extends (store as NumbersConstructor) {};
  for (const [name, value] of Object.entries({ ...METHODS, constructor: store })) {
    const hidden = { enumerable: false, writable: true, configurable: true };
    Object.defineProperty(made.prototype, name, { value, ...hidden });
  }
  classes.set(store, made);
  return made;
}
