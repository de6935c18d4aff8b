/**
 * `scanned` reads the table of a scan step. It asks the table's source for the columns, conditions,
 * order, limit and offset of the step, in the table's own names. The batches have the types that
 * the source gives, which may be dictionaries. `filterText` formats the conditions as SQL in these
 * names, and returns undefined if there are none.
 */
import { columnsAt, type RecordBatch, Schema } from '../../arrow/index.ts';
import { type Expression, formatExpression } from '../../sql/index.ts';
import { ROW_ID } from '../plan/index.ts';
import { joined, rewritten, type ScanStep, type SourceRequest } from '../steps/index.ts';
import type { Relation } from './relation.ts';

/** The conditions as SQL in the table's own names. */
export function filterText({ filters, columns }: ScanStep): string | undefined {
  const filter = joined(filters);
  if (filter === undefined) return undefined;
  return formatExpression(
    rewritten(filter, (part): Expression | undefined => {
      if (part.kind !== 'column') return undefined;
      const [internal = '', ...members] = part.path;
      return { ...part, path: [columns.get(internal) ?? internal, ...members] };
    }),
  );
}

function sourceRequest(step: ScanStep): SourceRequest {
  const { schema, columns, orderBy, limit, offset } = step;
  const nameOf = (internal: string): string => columns.get(internal) ?? internal;
  const isRowId = (internal: string): boolean =>
    nameOf(internal) === ROW_ID && !step.source.schema.fields.some(({ name }) => name === ROW_ID);
  const names = schema.fields.map(({ name }) => name);
  const filter = filterText(step);
  return {
    columns: names.filter((name) => !isRowId(name)).map(nameOf),
    withRowId: names.some(isRowId),
    ...(filter === undefined ? {} : { filter }),
    ...(limit === undefined ? {} : { limit }),
    ...(offset === undefined ? {} : { offset }),
    orderBy: orderBy.map(({ value, ascending, nullsFirst }) => ({
      column: nameOf(value.kind === 'column' ? (value.path[0] ?? '') : ''),
      ascending,
      nullsFirst,
    })),
  };
}

/** @param isEncoded whether texts may come as indices of a dictionary */
export function scanned(step: ScanStep, isEncoded = false): Relation {
  const { schema, source, columns } = step;
  return {
    schema,
    async *batches(): AsyncGenerator<RecordBatch> {
      const stream = await source.read({
        ...sourceRequest(step),
        ...(isEncoded && step.filters.length > 0 ? { indexesTexts: true } : {}),
      });
      const places = schema.fields.map(({ name }) =>
        stream.schema.fields.findIndex((field) => field.name === columns.get(name)),
      );
      // The types are those that come: the table's own.
      const own = new Schema(
        schema.fields.map((field, at) => {
          const { type } = stream.schema.fields[places[at] as number] ?? field;
          return type === field.type ? field : field.clone({ type });
        }),
      );
      for await (const batch of stream) yield columnsAt(batch, own, places);
    },
  };
}
