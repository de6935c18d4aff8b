/**
 * `CodedValues` numbers the distinct values of a column, one batch after another, in order of first
 * appearance, and holds each in memory. Values that are equal in SQL share a number (their code).
 * All NaN share one, and so do all nulls. `inOrder` returns the values in SQL's order, nulls last,
 * with their codes, or undefined if there are none. `CodedPositions` collects the positions of each
 * code, which have to be added in ascending order.
 */
import { concatData, type Data, gather, gatherData } from '../arrow/index.ts';
import { compareValues, loadColumn, reader, type Value } from '../sql/index.ts';

export class CodedValues {
  readonly #codes = new Map<unknown, number>();
  readonly #values: Value[] = [];
  readonly #pieces: Data[] = [];

  get count(): number {
    return this.#values.length;
  }

  /** The code of each value. */
  codesOf(data: Data): Uint32Array {
    const codes = new Uint32Array(data.length);
    const read = reader(loadColumn(data));
    const fresh: number[] = [];
    const known = this.#codes;
    for (let row = 0; row < codes.length; row++) {
      const value = read(row);
      const key = value instanceof Uint8Array ? Buffer.from(value).toString('latin1') : value;
      let code = known.get(key);
      if (code === undefined) {
        code = this.#values.length;
        known.set(key, code);
        this.#values.push(value instanceof Uint8Array ? value.slice() : value);
        fresh.push(row);
      }
      codes[row] = code;
    }
    if (fresh.length > 0) this.#pieces.push(gatherData(data, Uint32Array.from(fresh)));
    return codes;
  }

  /** Undefined where there are no values. */
  inOrder(): { readonly values: Data; readonly codes: Uint32Array } | undefined {
    if (this.#pieces.length === 0) return undefined;
    const values = this.#values;
    const codes = Uint32Array.from(values.keys()).sort((one, other) => {
      const [a, b] = [values[one], values[other]];
      if (a === null || b === null) return a === b ? 0 : a === null ? 1 : -1;
      return compareValues(a, b);
    });
    return { values: gather(concatData(this.#pieces), codes), codes };
  }
}

/** Pairs of a code and a position, which come with rising positions, sorted by code. */
export class CodedPositions {
  #codes = new Uint32Array(1_024);
  #positions = new Uint32Array(1_024);
  #count = 0;

  get bytes(): number {
    return this.#codes.byteLength * 2;
  }

  add(code: number, position: number): void {
    if (this.#count === this.#codes.length) this.#grow();
    this.#codes[this.#count] = code;
    this.#positions[this.#count] = position;
    this.#count++;
  }

  /** The positions of each code, one after the other, and where those of each begin. */
  byCode(codes: number): { readonly positions: Uint32Array; readonly starts: Uint32Array } {
    const starts = new Uint32Array(codes + 1);
    for (let at = 0; at < this.#count; at++) {
      const next = (this.#codes[at] as number) + 1;
      starts[next] = (starts[next] as number) + 1;
    }
    for (let code = 1; code <= codes; code++)
      starts[code] = (starts[code] as number) + (starts[code - 1] as number);
    const next = starts.slice();
    const positions = new Uint32Array(this.#count);
    for (let at = 0; at < this.#count; at++) {
      const code = this.#codes[at] as number;
      const place = next[code] as number;
      positions[place] = this.#positions[at] as number;
      next[code] = place + 1;
    }
    return { positions, starts };
  }

  #grow(): void {
    const [codes, positions] = [this.#codes, this.#positions];
    this.#codes = new Uint32Array(codes.length * 2);
    this.#codes.set(codes);
    this.#positions = new Uint32Array(codes.length * 2);
    this.#positions.set(positions);
  }
}
