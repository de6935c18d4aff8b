/**
 * Full ids of tables in a list: catalogs join them with `$`, whatever the delimiter of a request.
 * Both sides of the wire put them into the request's spelling and back.
 */

import type { AnyOperation } from '../protocol/every-operation.ts';
import { formatId, parseId } from '../protocol/ident.ts';

/** `answer` with its table ids joined by another delimiter, where the operation lists ids. */
export function respellIds<Answer>(
  operation: AnyOperation,
  answer: Answer,
  from: string,
  to: string,
): Answer {
  if (operation !== 'ListAllTables' || from === to) return answer;
  const { tables } = answer as { readonly tables: readonly string[] };
  return { ...answer, tables: tables.map((id) => formatId(parseId(id, from), to)) };
}
