/**
 * `knownRow` answers a group step without GROUP BY from statistics and indexes if they suffice, and
 * otherwise by reading rows. The step must read one table without LIMIT, and each of its aggregates
 * must be count(*), or min or max of a column, without FILTER. A WHERE is allowed only if all of
 * them are count(*). For any other group step it returns undefined.
 */
import {
  type Data,
  type DataType,
  plainType,
  type RecordBatch,
  recordBatch,
} from '../../arrow/index.ts';
import { type AggregateExpression, columnOf, toVector, type Value } from '../../sql/index.ts';
import type { GroupStep, ScanStep } from '../steps/index.ts';
import type { Relation, Work } from './relation.ts';
import { filterText } from './scan.ts';

/**
 * The one row of a statement that counts rows, or looks for bounds; undefined for other groups.
 * @param read reads the rows, where statistics do not tell
 */
export function knownRow(step: GroupStep, work: Work, read: () => Relation): Relation | undefined {
  const { keys, aggregates, input, schema } = step;
  if (
    keys.length > 0 ||
    step.sets !== undefined ||
    input.kind !== 'scan' ||
    input.limit !== undefined
  )
    return undefined;
  if (aggregates.length === 0 || !aggregates.every((call) => mayBeKnown(call, input))) {
    return undefined;
  }
  return {
    schema,
    async *batches(): AsyncGenerator<RecordBatch> {
      const known = await valuesOf(aggregates, input);
      if (known === undefined) {
        yield* read().batches();
        return;
      }
      const memory = work.memory.batch();
      const data = known.map((value, at) => {
        const type = plainType(schema.fields[at]?.type as DataType);
        return toVector(columnOf(type, [value]), type, memory).data[0] as Data;
      });
      yield recordBatch(schema, data, 1);
    },
  };
}

function mayBeKnown(call: AggregateExpression, { filters }: ScanStep): boolean {
  if (call.filter !== undefined) return false;
  return call.star || (filters.length === 0 && columnOfBound(call) !== undefined);
}

/** The column that a call looks for the least or the greatest value of. */
function columnOfBound({ name, args: [argument] }: AggregateExpression): string | undefined {
  const isBound = name === 'min' || name === 'max';
  return isBound && argument?.kind === 'column' && argument.path.length === 1
    ? argument.path[0]
    : undefined;
}

async function valuesOf(
  aggregates: readonly AggregateExpression[],
  scan: ScanStep,
): Promise<Value[] | undefined> {
  const names = aggregates.map((call) => scan.columns.get(columnOfBound(call) ?? ''));
  const columns = [...new Set(names.filter((name) => name !== undefined))];
  const bounds = columns.length === 0 ? [] : await scan.source.bounds(columns);
  const hasCount = aggregates.some(({ star }) => star);
  const count = hasCount ? await scan.source.count(filterText(scan)) : 0;
  const values: Value[] = [];
  for (const [at, { star, name }] of aggregates.entries()) {
    if (star) {
      values.push(BigInt(count));
      continue;
    }
    const found = bounds[columns.indexOf(names[at] as string)];
    if (found === undefined) return undefined;
    // NaN is above all other numbers.
    const isNaNMax = name === 'max' && found.hasNaN;
    values.push(isNaNMax ? Number.NaN : found[name as 'min' | 'max']);
  }
  return values;
}
