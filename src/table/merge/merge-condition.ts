/**
 * `compileCondition` compiles the SQL condition of a merge, which compares a row of the table
 * (`target.x`) with its row of the source (`source.x`). The result lists the columns it reads of
 * either side, and selects in steps the pairs of rows for which it is true. SQL that is wrong or
 * no condition throws InvalidInput, and an unknown column TableColumnNotFound.
 */
import { type Data, dataOf, Field, Schema, Struct, Vector } from '../../arrow/index.ts';
import type { RequestMemory } from '../../request-memory.ts';
import { type ColumnSource, type CompiledExpression, compilePredicate } from '../../sql/index.ts';

export interface PairCondition {
  /** Names of the columns to read of either side. */
  readonly target: readonly string[];
  readonly source: readonly string[];
  readonly weight: number;
  /** Numbers of the pairs for which it is true; the columns are in the order of the names. */
  select(
    target: readonly Data[],
    source: readonly Data[],
    pairs: number,
    memory: RequestMemory,
  ): Generator<void, Uint32Array>;
}

/** @throws InvalidInput, TableColumnNotFound naming the place in the SQL text */
export async function compileCondition(
  sql: string,
  target: readonly Field[],
  source: readonly Field[],
): Promise<PairCondition> {
  const all = await compilePredicate(sql, schemaOf(target, source));
  const [left, right] = [needed(all, 'target', target), needed(all, 'source', source)];
  const condition = await compilePredicate(sql, schemaOf(left, right));
  const [targetType, sourceType] = [new Struct([...left]), new Struct([...right])];
  return {
    target: left.map(({ name }) => name),
    source: right.map(({ name }) => name),
    weight: condition.weight,
    select: (targetColumns, sourceColumns, pairs, memory) => {
      const sides = new Map([
        ['target', dataOf(targetType, pairs, { children: [...targetColumns] })],
        ['source', dataOf(sourceType, pairs, { children: [...sourceColumns] })],
      ]);
      const source: ColumnSource = {
        numRows: pairs,
        getChild: (name) => {
          const side = sides.get(name);
          return side === undefined ? null : new Vector([side]);
        },
      };
      return condition.selectInSteps(source, { memory });
    },
  };
}

const schemaOf = (target: readonly Field[], source: readonly Field[]): Schema =>
  new Schema([
    new Field('target', new Struct([...target]), false),
    new Field('source', new Struct([...source]), false),
  ]);

/** The members of one side that the condition names; all of them where it names the side itself. */
function needed(
  condition: CompiledExpression,
  side: string,
  fields: readonly Field[],
): readonly Field[] {
  const paths = condition.paths.filter(([first]) => first === side);
  if (paths.some((path) => path.length === 1)) return fields;
  const names = new Set(paths.map(([, name]) => name));
  return fields.filter(({ name }) => names.has(name));
}
