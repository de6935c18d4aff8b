/**
 * Defines how an IVF index lays out vectors in blocks of 32 rows: the number of elements after the
 * rotation of turning.ts (`lengthOf`), and the sizes of blocks (`blockBytes`) and of the values
 * kept for each row (`rowBytes`). Callers refuse an index for vectors of more than `MOST_ELEMENTS`
 * elements. docs/on-disk-format.md describes the layouts.
 */

export const BLOCK_ROWS = 32;

/** The position of rows that fill up a block. */
export const NO_POSITION = 0xffffffff;

/**
 * The longest vectors that have an index: their tables fit the part of kernels' memory kept for a
 * query.
 */
export const MOST_ELEMENTS = 8_192;
/** The sum of fewer bits tells too little. */
const LEAST_LENGTH = 64;

/** Elements of a turned vector, with the zeros that fill it up before. */
export const lengthOf = (dimension: number): number =>
  Math.ceil(dimension / LEAST_LENGTH) * LEAST_LENGTH;

/** Where the facts of a block begin, which is also the size of the tables of a query. */
export const factsAt = (length: number): number => length * 4;

/**
 * A block has one bit for each element of 32 rows, 1 where the row is above its centroid. Sixteen
 * bytes hold four bits of each row: those of rows 0 to 15 in the lower halves of the bytes, those
 * of rows 16 to 31 in the upper. Then come the sizes of the rows, their factors and their errors,
 * 32 float32 each.
 */
export const blockBytes = (length: number): number => factsAt(length) + 3 * BLOCK_ROWS * 4;

/**
 * A row has a signed byte for each element, its size and the step of these bytes as float32, its
 * position as uint32, and four bytes of zero.
 */
export const rowBytes = (length: number): number => length + 16;
