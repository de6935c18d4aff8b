/**
 * `SharedColumns` computes the values that a step notes as used several times (`withShared` of
 * steps/), once for each batch (`of`). The expressions of the step read them as columns by names:
 * the caller puts the names in with `rewrite`, compiles the result with `schema`, and passes what
 * `of` returns when it evaluates. It goes through a batch in `parts`, and counts `bytesOf` each as
 * memory before it calls `of`.
 */
import { type RecordBatch, type Schema, splitBatch } from '../../arrow/index.ts';
import { type Column, compileTree, type Expression, familyOf } from '../../sql/index.ts';
import { NamedOnce } from '../steps/index.ts';
import { BATCH_BYTES, run, type Work } from './relation.ts';

/** Bytes of a value at most, as expressions compute it. */
const VALUE_BYTES = 48;
/** The columns of one part of a batch take at most this share of the request's memory. */
const SHARE = 1 / 8;

export class SharedColumns {
  /** That of the batches, with the columns that are computed. */
  readonly schema: Schema;
  readonly #named: NamedOnce;
  readonly #work: Work;
  readonly #compiled: readonly (readonly [string, ReturnType<typeof compileTree>])[];
  constructor(trees: readonly Expression[] = [], schema: Schema, work: Work) {
    this.#named = new NamedOnce(trees, schema);
    this.#work = work;
    this.schema = this.#named.schema;
    this.#compiled = this.#named.values.map(({ name, value }) => [
      name,
      compileTree(value, this.schema),
    ]);
  }

  rewrite(tree: Expression): Expression {
    return this.#named.rewrite(tree);
  }

  /** Slices of a batch, so that the columns of each take a bounded part of the memory. */
  parts(batch: RecordBatch): readonly RecordBatch[] {
    const most = Math.min(BATCH_BYTES, this.#work.memory.limit * SHARE);
    const rows = most / (this.#compiled.length * VALUE_BYTES);
    return splitBatch(batch, Math.max(1, Math.floor(rows)));
  }

  /** What the columns of a part take at most; callers count it as memory while they keep them. */
  bytesOf({ numRows }: RecordBatch): number {
    return this.#compiled.length * numRows * VALUE_BYTES;
  }

  async of(batch: RecordBatch): Promise<ReadonlyMap<string, Column>> {
    const computed = new Map<string, Column>();
    const { memory } = this.#work;
    for (const [name, tree] of this.#compiled) {
      const column = await run(this.#work, tree.columnInSteps(batch, { memory, computed }));
      const isTyped = column.type === tree.type || familyOf(tree.type) === 'bool';
      computed.set(name, isTyped ? column : { ...column, type: tree.type });
    }
    return computed;
  }
}
