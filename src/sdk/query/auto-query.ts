/**
 * `AutoQuery` is a search by text that chooses its kind on first use. If the caller names no
 * columns and the table has an embedding function, it searches by the vector of the text. In other
 * cases it is a full-text search. A table with several embedding functions throws InvalidInput
 * unless columns are named. Without a limit it returns 10 rows.
 */
import type { RecordBatchStream, Schema } from '../../arrow/index.ts';
import type { CallOptions } from '../../protocol/index.ts';
import type { AnyRow } from '../convert/index.ts';
import { defined, type TableTarget } from '../handles/index.ts';
import { BEST, FilteredQuery } from './query.ts';
import type { AnalyzePlanDistributedMetrics } from './query-base.ts';

/** The vector of the text and its column; undefined where the table has no embedding function. */
export type VectorOfText = (
  options: CallOptions,
) => Promise<{ readonly column: string; readonly vector: ArrayLike<number> } | undefined>;

/** A search by text: of vectors where the table has an embedding function, else of its texts. */
export class AutoQuery<RowType = AnyRow> extends FilteredQuery<RowType> {
  readonly #text: string;
  readonly #columns: string | readonly string[] | undefined;
  readonly #vectorOf: VectorOfText;
  #decided: Promise<void> | undefined;

  constructor(
    target: TableTarget,
    text: string,
    columns: string | readonly string[] | undefined,
    vectorOf: VectorOfText,
  ) {
    super(target);
    this.#text = text;
    this.#columns = columns;
    this.#vectorOf = vectorOf;
  }

  override async outputSchema(options: CallOptions = {}): Promise<Schema> {
    await this.#decide(options);
    return super.outputSchema(options);
  }

  override async explainPlan(verbose = false, options: CallOptions = {}): Promise<string> {
    await this.#decide(options);
    return super.explainPlan(verbose, options);
  }

  override async analyzePlan(
    options: CallOptions | AnalyzePlanDistributedMetrics = {},
  ): Promise<string> {
    await this.#decide(typeof options === 'string' ? {} : options);
    return super.analyzePlan(options);
  }

  protected override async answer(options: CallOptions): Promise<RecordBatchStream> {
    await this.#decide(options);
    return super.answer(options);
  }

  /** Once: what failed is tried again by the next run. */
  #decide(options: CallOptions): Promise<void> {
    this.#decided ??= this.#choose(options).catch((error: unknown) => {
      this.#decided = undefined;
      throw error;
    });
    return this.#decided;
  }

  async #choose(options: CallOptions): Promise<void> {
    const found = this.#columns === undefined ? await this.#vectorOf(options) : undefined;
    if (found === undefined) {
      this.fullTextSearch(this.#text, defined({ columns: this.#columns }));
      return;
    }
    this.request.vector = { single_vector: Array.from(found.vector) };
    this.request.vector_column = found.column;
    this.request.prefilter = true;
    if (this.request.k === Number.MAX_SAFE_INTEGER) this.request.k = BEST;
  }
}
