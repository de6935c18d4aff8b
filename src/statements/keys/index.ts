/**
 * Exports the numbering of key columns, so that groups, DISTINCT, joins and partitions of windows
 * compare numbers: `ValueNumbers` numbers the values of one column, `KeyNumbers` rows of several
 * columns, and `WordTable` pairs of 32-bit words. `wordsOf` gives such pairs for a column, if
 * `isOfWords` allows it for the type, and `hashOfWords` hashes one.
 */
export { KeyNumbers } from './key-numbers.ts';
export { isOfWords, type KeyColumn, ValueNumbers, wordsOf } from './value-numbers.ts';
export { hashOfWords, WordTable } from './word-table.ts';
