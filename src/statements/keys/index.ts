/**
 * Numbers the values of key columns, so that groups, DISTINCT, joins and partitions of windows
 * compare numbers: `ValueNumbers` those of one column, `KeyNumbers` rows of several. `WordTable`
 * numbers pairs of words.
 */
export { KeyNumbers } from './key-numbers.ts';
export { isOfWords, type KeyColumn, ValueNumbers, wordsOf } from './value-numbers.ts';
export { hashOfWords, WordTable } from './word-table.ts';
