/**
 * Defines `Frame`, the rows that an expression is evaluated over. The usual one, `BatchFrame`,
 * loads each column of a record batch on first use. Others are rows selected from a frame
 * (`NarrowFrame`), the entries of a dictionary (`dictionaryFrame`), or one row to compute a
 * constant (`noColumns`, with 4 MiB of memory). In a `BatchFrame`, `_rowid` and `_rowoffset` throw
 * InvalidInput if the caller gave no row numbers. A frame's meter tells when an evaluation in steps
 * should yield. `withValidity` makes rows of a column null.
 */
import { type Data, DataType, type Vector } from '../../arrow/index.ts';
import { DirspaceError } from '../../errors.ts';
import { RegexpBudget } from '../../regexp-budget.ts';
import { type BatchMemory, RequestMemory } from '../../request-memory.ts';
import {
  type BoundColumn,
  bothValid,
  type Column,
  constantColumn,
  UINT64,
  type Validity,
} from '../typed/index.ts';
import { concatenate, gather } from './gather.ts';
import { dictionaryParts, loadColumn } from './load.ts';
import { loadValidity } from './load-buffers.ts';

/** Where top-level columns are found by name; a RecordBatch is one. */
export interface ColumnSource {
  readonly numRows: number;
  getChild(name: string): Vector | null;
}

/** The ids of all rows, or of rows numbered one after another. */
export type RowNumbers = BigUint64Array | { readonly start: bigint | number };

export interface EvaluationContext {
  /** Bounds what may be made of a batch; that of a request of its own if absent. */
  readonly memory?: RequestMemory;
  /** Values of `_rowid`, one a row. */
  readonly rowIds?: RowNumbers;
  /** Values of `_rowoffset`, one a row. */
  readonly rowOffsets?: RowNumbers;
  /** How many times as long as short values those of a row take, by their bytes; 1 if absent. */
  readonly scale?: number;
  /** Columns beside those of the batch, computed before, by their names. */
  readonly computed?: ReadonlyMap<string, Column>;
}

export interface Frame {
  readonly length: number;
  readonly memory: BatchMemory;
  readonly meter: StepMeter;
  /** How many times as long as short values those of a row take, by their bytes. */
  readonly scale: number;
  column(bound: BoundColumn): Column;
  virtual(name: '_rowid' | '_rowoffset'): Column;
  /** A dictionary column in parts, if it has fewer entries than the frame has rows; else null. */
  dictionary(bound: BoundColumn): { values: Column; rows: Uint32Array } | null;
}

/** Counts the work of a tree that is evaluated in steps, and tells when one has done enough. */
class StepMeter {
  #work = 0;

  /** Whether a step ends here, after `work` comparisons more; then the next one begins. */
  isFull(work: number): boolean {
    this.#work += work;
    if (this.#work < STEP_WORK) return false;
    this.#work = 0;
    return true;
  }
}

/** Comparisons of a step: less than a millisecond, and some of them where code runs for the first time. */
const STEP_WORK = 1 << 18;

export class BatchFrame implements Frame {
  readonly length: number;
  readonly memory: BatchMemory;
  readonly meter: StepMeter = new StepMeter();
  readonly scale: number;
  readonly #source: ColumnSource;
  readonly #context: EvaluationContext;
  readonly #columns = new Map<string, Column>();
  readonly #dictionaries = new Map<string, { values: Column; rows: Uint32Array } | null>();

  constructor(source: ColumnSource, context: EvaluationContext) {
    this.#source = source;
    this.#context = context;
    this.length = source.numRows;
    this.scale = context.scale ?? 1;
    this.memory = (context.memory ?? new RequestMemory()).batch();
  }

  column(bound: BoundColumn): Column {
    const key = `${bound.index}/${bound.path.join('/')}`;
    let column = this.#columns.get(key) ?? this.#context.computed?.get(bound.names[0] ?? '');
    if (column === undefined) {
      const pieces = this.#data(bound).map((data) => loadPath(data, bound.path));
      column = pieces.length === 0 ? constantColumn(bound.type, null, 0) : concatenate(pieces);
      if (column.length !== this.length) {
        throw new DirspaceError(
          'Internal',
          `Column ${bound.names[0]} has ${column.length} rows, the batch ${this.length}`,
        );
      }
      this.#columns.set(key, column);
    }
    return column;
  }

  dictionary(bound: BoundColumn): { values: Column; rows: Uint32Array } | null {
    if (this.#context.computed?.has(bound.names[0] ?? '') === true) return null;
    const key = String(bound.index);
    let parts = this.#dictionaries.get(key);
    if (parts === undefined) {
      const [data, ...more] = this.#data(bound);
      const entries = data?.dictionary?.length ?? 0;
      const useful =
        data !== undefined &&
        more.length === 0 &&
        DataType.isDictionary(data.type) &&
        entries < data.length;
      parts = useful ? dictionaryParts(data) : null;
      this.#dictionaries.set(key, parts);
    }
    return parts;
  }

  virtual(name: '_rowid' | '_rowoffset'): Column {
    const numbers = name === '_rowid' ? this.#context.rowIds : this.#context.rowOffsets;
    if (numbers === undefined) {
      throw new DirspaceError(
        'InvalidInput',
        `${name} is not known here; it exists only when a table is read`,
      );
    }
    const { length } = this;
    if (numbers instanceof BigUint64Array) {
      if (numbers.length !== length) {
        throw new DirspaceError(
          'Internal',
          `${numbers.length} values of ${name} for ${length} rows`,
        );
      }
      return { form: 'wide', type: UINT64, length, values: numbers, valid: null };
    }
    const start = Number(numbers.start);
    if (Number.isSafeInteger(start + length)) {
      const values = new Float64Array(length);
      for (let i = 0; i < length; i++) values[i] = start + i;
      return { form: 'number', type: UINT64, length, values, valid: null };
    }
    const first = BigInt(numbers.start);
    const values = BigUint64Array.from({ length }, (_, i) => first + BigInt(i));
    return { form: 'wide', type: UINT64, length, values, valid: null };
  }

  #data(bound: BoundColumn): readonly Data[] {
    const name = bound.names[0] ?? '';
    const vector = this.#source.getChild(name);
    if (vector === null || vector === undefined) {
      throw new DirspaceError(
        'Internal',
        `The batch has no column ${name}, which the expression needs`,
      );
    }
    return vector.data.length > 1 ? vector.data.filter((data) => data.length > 0) : vector.data;
  }
}

/** A member of a struct is null wherever the struct is. */
function loadPath(data: Data, path: readonly number[]): Column {
  let valid: Validity = null;
  let current = data;
  for (const position of path) {
    valid = bothValid(valid, loadValidity(current));
    const child = current.children[position];
    if (child === undefined) throw new DirspaceError('Internal', 'The batch lacks a nested column');
    current = child;
  }
  const column = loadColumn(current);
  return valid === null ? column : withValidity(column, valid);
}

/** `column`, null also where `valid` is 0. */
export function withValidity(column: Column, valid: Validity): Column {
  if (valid === null) return column;
  switch (column.form) {
    case 'truth': {
      const values = column.values.map((value, i) => (valid[i] === 0 ? 1 : value));
      return { ...column, values };
    }
    case 'values':
      return {
        ...column,
        values: column.values.map((value, i) => (valid[i] === 0 ? null : value)),
      };
    case 'constant': {
      const { value, type, length } = column;
      if (value === null) return column;
      const values = Array.from({ length }, (_, i) => (valid[i] === 0 ? null : value));
      return withValidity({ form: 'values', type, length, values }, null);
    }
    default:
      return { ...column, valid: bothValid(column.valid, valid) };
  }
}

/** Some rows of another frame, in order. */
export class NarrowFrame implements Frame {
  readonly length: number;
  readonly memory: BatchMemory;
  readonly meter: StepMeter;
  readonly scale: number;
  readonly #outer: Frame;
  readonly #rows: Uint32Array;
  readonly #columns = new Map<string, Column>();

  constructor(outer: Frame, rows: Uint32Array) {
    this.#outer = outer;
    this.#rows = rows;
    this.length = rows.length;
    this.memory = outer.memory;
    this.meter = outer.meter;
    this.scale = outer.scale;
  }

  column(bound: BoundColumn): Column {
    const key = `${bound.index}/${bound.path.join('/')}`;
    let column = this.#columns.get(key);
    if (column === undefined) {
      column = gather(this.#outer.column(bound), this.#rows);
      this.#columns.set(key, column);
    }
    return column;
  }

  virtual(name: '_rowid' | '_rowoffset'): Column {
    return gather(this.#outer.virtual(name), this.#rows);
  }

  dictionary(bound: BoundColumn): { values: Column; rows: Uint32Array } | null {
    const outer = this.#outer.dictionary(bound);
    if (outer === null || outer.values.length > this.length) return null;
    return { values: outer.values, rows: this.#rows.map((row) => outer.rows[row] ?? 0) };
  }
}

/** A constant that takes more, of memory or of steps, is left to be computed with the rows. */
const CONSTANT_MEMORY = 4 * 1024 * 1024;
const CONSTANT_REGEXP_STEPS = 1 << 20;

const constantMemory = (): BatchMemory =>
  new RequestMemory(CONSTANT_MEMORY, undefined, new RegexpBudget(CONSTANT_REGEXP_STEPS)).batch();

/** One row without columns: what a constant is folded over. */
export const noColumns = (memory = constantMemory()): Frame => ({
  length: 1,
  memory,
  meter: new StepMeter(),
  scale: 1,
  column: () => {
    throw new DirspaceError('Internal', 'A constant has no columns');
  },
  virtual: () => {
    throw new DirspaceError('Internal', 'A constant has no row id');
  },
  dictionary: () => null,
});

/** A single column in place of all: the dictionary an expression is evaluated over once. */
export function dictionaryFrame(values: Column, memory: BatchMemory): Frame {
  return { ...noColumns(memory), length: values.length, column: () => values };
}
