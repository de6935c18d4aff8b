/**
 * Turns the arguments of the commands `query` and `export` into a query (`askedRows`): the
 * predicate, the columns, the order and a limit; it also returns the names of the columns. It
 * throws TableColumnNotFound for an unknown column to order by, and UsageError for malformed
 * options. `tableOf` parses the id of the table, and its error says so if id and predicate are
 * swapped.
 */
import type { Query, Table } from '../../sdk/index.ts';
import { type Call, parseObject, UsageError } from '../terminal/index.ts';
import { orderings, selectedColumns } from './query-columns.ts';

/** The query, and the names of its columns in their order. */
export async function askedRows(
  { arguments: [, predicate], options, signal }: Call,
  table: Table,
  limit: number,
): Promise<{ readonly asked: Query; readonly columns: readonly string[] }> {
  const names = fieldNames(table, signal);
  const selected = await selectedColumns(options.texts('select'), names);
  if (selected.includes('*')) {
    throw new UsageError('-s takes names of columns; without -s all of them are there.');
  }
  const columns = selected.length > 0 ? selected : await names();
  const asked = table.query().limit(limit);
  if (selected.length > 0) asked.select(selected);
  if (predicate !== undefined) asked.where(predicate);
  const ordering = await orderings(options.texts('sort'), names);
  if (ordering.length > 0) asked.orderBy(ordering);
  return { asked, columns };
}

/** The other order of the arguments is told as such. */
export function tableOf(call: Call, command: string): ReturnType<typeof parseObject> {
  const [id = '', predicate] = call.arguments;
  try {
    return parseObject(id);
  } catch (error) {
    if (predicate === undefined || !/^[\w./$-]+$/.test(predicate)) throw error;
    throw new UsageError(
      `The table comes first: dirspace ${command} ${predicate} ${JSON.stringify(id)}.`,
    );
  }
}

/** Reads the schema once, when it is first asked for. */
function fieldNames(table: Table, signal: AbortSignal): () => Promise<readonly string[]> {
  let names: Promise<readonly string[]> | undefined;
  return () => {
    names ??= table.schema({ signal }).then(({ fields }) => fields.map(({ name }) => name));
    return names;
  };
}
