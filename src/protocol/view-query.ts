/**
 * `parseViewQuery` parses the query that defines a materialized view: JSON text of at most
 * 1,048,576 characters, as LanceDB writes it. `viewSource` returns the id of the source table of a
 * request: its `source_id`, or else the namespace and table that the query names. Both throw
 * InvalidInput for any other text.
 */
import { DirspaceError } from '../errors.ts';
import type { CreateMaterializedViewRequest, ViewQuery } from './models/index.ts';
import { normalize } from './normalize.ts';
import { refuseUnknownMembers } from './unknown-members.ts';

const LONGEST = 1 << 20;

/** @throws InvalidInput for a text that is no such query */
export function parseViewQuery(text: string): ViewQuery {
  if (text.length > LONGEST)
    throw noQuery(`has ${text.length} characters, and may have at most ${LONGEST}`);
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    throw noQuery(`is ${JSON.stringify(text.slice(0, 80))}`);
  }
  refuseUnknownMembers('ViewQuery', value);
  return normalize('ViewQuery', value);
}

/** The id of the source table. @throws InvalidInput */
export function viewSource(
  request: Pick<CreateMaterializedViewRequest, 'source_query' | 'source_id'>,
): readonly string[] {
  const { source_table: table, source_namespace: namespace = [] } = parseViewQuery(
    request.source_query,
  );
  return request.source_id ?? [...namespace, table];
}

const noQuery = (what: string): DirspaceError =>
  new DirspaceError(
    'InvalidInput',
    `source_query ${what}. It is JSON, as {"source_table": "orders", "projections": [{"output": "id", "expression": "id"}], "filter": "total > 10"}.`,
    { details: { member: 'source_query' } },
  );
