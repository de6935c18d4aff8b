/**
 * `transactionTables` reads the ids of a transaction's tables from its properties.
 * `respelledTransaction` replaces each id by the one that a caller sees, and drops hidden ids; it
 * returns undefined if all of them are hidden, and a transaction that names no tables as it is.
 * permissions.ts and scope.ts decide which tables are shown.
 */
import type { DescribeTransactionResponse } from '../../protocol/index.ts';

/** Full string ids; none where the properties do not tell. */
export function transactionTables({ properties }: DescribeTransactionResponse): readonly string[] {
  const { table, tables } = properties ?? {};
  if (table !== undefined) return [table];
  return tables === undefined || tables === '' ? [] : tables.split(',');
}

/** The answer with `shown` of each id in place of it; undefined where none of them is shown. */
export function respelledTransaction<Answer extends DescribeTransactionResponse>(
  answer: Answer,
  shown: (id: string) => string | undefined,
): Answer | undefined {
  const ids = transactionTables(answer);
  if (ids.length === 0) return answer;
  const spelled = ids.flatMap((id) => shown(id) ?? []);
  if (spelled.length === 0) return undefined;
  const isOne = answer.properties?.table !== undefined;
  const named = isOne ? { table: spelled.join() } : { tables: spelled.join() };
  return { ...answer, properties: { ...answer.properties, ...named } };
}
