/**
 * `TakeQuery` reads rows by id or by offset, in the order asked for and with repeats; missing rows
 * are left out. If the catalog cannot take rows, it queries them by a predicate, and pick-rows.ts
 * restores the order. `explainPlan` and `analyzePlan` always describe that query by a predicate.
 * `rowNumbers` checks ids and offsets, and throws InvalidInput for anything but exact integers from
 * 0 to 2^64 - 1.
 */
import { handedOut, type RecordBatch, type RecordBatchStream } from '../../arrow/index.ts';
import { DirspaceError } from '../../errors.ts';
import type { CallOptions, QueryColumns } from '../../protocol/index.ts';
import type { AnyRow } from '../convert/index.ts';
import { atVersion, defined, ownOr, showKind, type TableTarget } from '../handles/index.ts';
import { pickRows } from './pick-rows.ts';
import { type AnalyzePlanDistributedMetrics, QueryBase } from './query-base.ts';

/** Rows named one by one: in the order asked for, repeats kept; those that are not there left out. */
export class TakeQuery<RowType = AnyRow> extends QueryBase<RowType> {
  readonly #source: TableTarget;
  readonly #column: '_rowid' | '_rowoffset';
  readonly #values: readonly bigint[];

  constructor(target: TableTarget, column: '_rowid' | '_rowoffset', values: readonly bigint[]) {
    super(target);
    this.#source = target;
    this.#column = column;
    this.#values = values;
  }

  override explainPlan(verbose = false, options: CallOptions = {}): Promise<string> {
    this.#filter();
    return super.explainPlan(verbose, options);
  }

  override analyzePlan(options: CallOptions | AnalyzePlanDistributedMetrics = {}): Promise<string> {
    this.#filter();
    return super.analyzePlan(options);
  }

  /** Names the rows by a predicate, for catalogs and operations that take no row numbers. */
  #filter(): void {
    const values = this.#values.join(', ');
    this.request.filter = values === '' ? 'FALSE' : `${this.#column} IN (${values})`;
  }

  protected override async answer(options: CallOptions): Promise<RecordBatchStream> {
    const { catalog } = this.#source;
    const { columns, with_row_id } = this.request;
    const rows = this.#column === '_rowid' ? { row_ids: this.#values } : { offsets: this.#values };
    const request = { ...atVersion(this.#source), ...rows, ...defined({ columns, with_row_id }) };
    return ownOr(catalog.takeRows?.(request, options), () => this.#pick(options));
  }

  /** A catalog that takes only predicates answers in its own order, and each row once. */
  async #pick(options: CallOptions): Promise<RecordBatchStream> {
    const { catalog } = this.#source;
    this.#filter();
    const request = { ...this.request, columns: await this.#withNumbers(options) };
    const stream = await catalog.queryTable(request, options);
    const batches: RecordBatch[] = [];
    for await (const batch of stream) batches.push(batch);
    return handedOut(
      pickRows(stream.schema, batches, this.#column, this.#values, this.#keepsNumbers()),
    );
  }

  #keepsNumbers(): boolean {
    const { column_names: names, column_aliases: aliases } = this.request.columns ?? {};
    if (this.#column === '_rowid' && this.request.with_row_id === true) return true;
    return [...(names ?? []), ...Object.keys(aliases ?? {})].includes(this.#column);
  }

  /** The columns asked for and the numbers the rows are told apart by. */
  async #withNumbers(options: CallOptions): Promise<QueryColumns> {
    const { column_names: names, column_aliases: aliases } = this.request.columns ?? {};
    if (aliases !== undefined)
      return { column_aliases: { ...aliases, [this.#column]: this.#column } };
    const all = names ?? (await this.outputSchema(options)).fields.map(({ name }) => name);
    return { column_names: [...new Set([...all, this.#column])] };
  }
}

/** Values of `_rowid`. */
export type RowIds = readonly (bigint | number)[];

/** Row ids and offsets may be given as numbers where these are exact. */
export function rowNumbers(values: readonly (bigint | number)[], name: string): bigint[] {
  if (!Array.isArray(values)) {
    throw new DirspaceError(
      'InvalidInput',
      `Rows are named by an array of integers >= 0, such as [0, 2]; the ${name.toLowerCase()} was given as ${showKind(values)}.`,
    );
  }
  return values.map((value) => rowNumber(value, name));
}

/** Programs search for the words of these errors, which are LanceDB's. */
function rowNumber(value: unknown, name: string): bigint {
  const refuse = (why: string): never => {
    throw new DirspaceError('InvalidInput', `${name} ${why}; it is ${String(value)}.`);
  };
  if (typeof value === 'bigint') {
    if (value < 0n) refuse('cannot be negative');
    if (value >= 1n << 64n) refuse('is too large: it has at most 64 bits');
    return value;
  }
  if (typeof value !== 'number' || !Number.isInteger(value)) {
    return refuse('must be an integer (or bigint)');
  }
  if (value < 0) refuse('cannot be negative');
  if (!Number.isSafeInteger(value)) refuse('is too large for number; use bigint instead');
  return BigInt(value);
}
