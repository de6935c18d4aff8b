/**
 * `TypeGuess` finds the types of the columns of a CSV file, window by window. `add` collects the
 * kinds of fields in each column, and `typeOf` returns the narrowest type that holds them all.
 * Empty and null fields do not count. A field with escaped quotes is a text.
 */
import type { DataType } from '../../arrow/index.ts';
import { type CheckedCsvOptions, isNullText } from './csv-options.ts';
import { type CsvScanner, ESCAPED, QUOTED, startOf } from './csv-scanner.ts';
import { KIND, kindOf, typeOfKinds } from './csv-types.ts';

type GuessOptions = Pick<CheckedCsvOptions, 'nulls' | 'emptyIsNull' | 'hasDecimalComma'>;

export class TypeGuess {
  readonly columns: number;
  /** Rows that were looked at. */
  rows = 0;
  readonly #kinds: Int32Array;
  readonly #options: GuessOptions;

  constructor(columns: number, options: GuessOptions) {
    this.columns = columns;
    this.#kinds = new Int32Array(columns);
    this.#options = options;
  }

  /** Looks at all records of the scanner. */
  add(bytes: Uint8Array, { bounds, rows }: CsvScanner): void {
    const { columns } = this;
    const { nulls, hasDecimalComma } = this.#options;
    this.rows += rows;
    for (let column = 0; column < columns; column++) {
      let kinds = this.#kinds[column] as number;
      // Once a text is there nothing else can come of the column.
      for (let row = 0; row < rows && (kinds & KIND.text) === 0; row++) {
        const slot = 2 * (row * columns + column);
        const entry = bounds[slot] as number;
        const [start, end] = [startOf(entry), bounds[slot + 1] as number];
        if (start === end || ((entry & QUOTED) === 0 && isNullText(nulls, bytes, start, end)))
          continue;
        kinds |= (entry & ESCAPED) === 0 ? kindOf(bytes, start, end, hasDecimalComma) : KIND.text;
      }
      this.#kinds[column] = kinds;
    }
  }

  typeOf(column: number): DataType {
    return typeOfKinds(this.#kinds[column] as number);
  }

  /** The kinds of its fields, as csv-types.ts has them; 0 where all were empty. */
  kindsOf(column: number): number {
    return this.#kinds[column] as number;
  }
}
