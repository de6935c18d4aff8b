/**
 * `searchOf` builds the query that `Table.search` returns: a search by a vector, by words, or by
 * the vector that the table's embedding function computes for a text. For a text, the type `auto`,
 * which is the default, leaves the choice to AutoQuery. The type `vector` computes the vector at
 * once; if the table has no embedding function, the query fails when it runs. A text with an
 * unknown query type, and a vector with the type `fts`, throw InvalidInput. An object such as a
 * MatchQuery is a full-text search, whatever the type.
 */
import { DirspaceError } from '../../errors.ts';
import type { CallOptions } from '../../protocol/index.ts';
import { queryVector } from '../embedding/index.ts';
import { defined } from '../handles/index.ts';
import {
  AutoQuery,
  type FullTextQuery,
  isFullTextQuery,
  Query,
  type QueryVectors,
  type Vector,
  type VectorQuery,
} from '../query/index.ts';
import type { TablePosition } from './position.ts';

/** @throws InvalidInput where the type of the query does not fit what is searched for */
export function searchOf<RowType>(
  at: TablePosition,
  query: string | FullTextQuery | QueryVectors,
  queryType = 'auto',
  columns?: string | readonly string[],
): Query<RowType> | VectorQuery<RowType> | AutoQuery<RowType> {
  at.lifetime.enter();
  const made = new Query<RowType>(at.target);
  if (isFullTextQuery(query)) return made.fullTextSearch(query, defined({ columns }));
  if (typeof query !== 'string') {
    if (queryType !== 'fts') return made.nearestTo(query);
    throw new DirspaceError(
      'InvalidInput',
      'A vector cannot be searched for as text; leave queryType "fts" out.',
    );
  }
  const vectorOf = async (options: CallOptions): ReturnType<typeof queryVector> =>
    queryVector(at.knownSchema ?? (await at.schema(options)), query);
  switch (queryType) {
    case 'fts':
      return made.fullTextSearch(query, defined({ columns }));
    case 'auto':
      return new AutoQuery<RowType>(at.target, query, columns, vectorOf);
    case 'vector':
      return made.nearestTo(vectorOf({}).then(requiredVector));
    default:
      throw new DirspaceError(
        'InvalidInput',
        `A text is searched for with queryType "auto", "fts" or "vector", not with ${JSON.stringify(queryType)}.`,
      );
  }
}

function requiredVector(found: Awaited<ReturnType<typeof queryVector>>): Vector {
  if (found !== undefined) return Array.from(found.vector);
  throw new DirspaceError(
    'InvalidInput',
    'No embedding functions are defined in the table, so no vector can be made of a text. Give a vector, or search with queryType "fts".',
  );
}
