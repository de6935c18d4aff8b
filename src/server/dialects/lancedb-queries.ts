/**
 * `plainQuery` translates a query body of LanceDB's clients to the plain protocol's form. It covers
 * vectors, columns, full-text queries and the number of partitions to search. It checks nothing: a
 * value of an unexpected form is passed on, and the protocol's validation refuses it.
 */

type Members = Readonly<Record<string, unknown>>;

export function plainQuery(body: Members): Members {
  const { vector, columns, full_text_query: text, maximum_nprobes: most, ...rest } = body;
  return {
    ...rest,
    // 0 says here that all partitions may be searched, which the protocol says by leaving it out.
    ...member('maximum_nprobes', most === 0 || isUsual(body) ? undefined : most),
    ...member('vector', plainVector(vector)),
    ...member('columns', plainColumns(columns)),
    ...member('full_text_query', plainText(text)),
  };
}

/** What clients send of which nothing was asked: then a search takes as many partitions as it needs. */
const USUAL_PROBES = 20;
const isUsual = (body: Members): boolean =>
  [body.nprobes, body.minimum_nprobes, body.maximum_nprobes].every(
    (probes) => probes === USUAL_PROBES,
  );

const member = (name: string, value: unknown): Members =>
  value === undefined ? {} : { [name]: value };

/** An array of numbers, of arrays of numbers, or of nothing where no vector is searched. */
function plainVector(vector: unknown): unknown {
  if (!Array.isArray(vector)) return vector ?? undefined;
  if (vector.length === 0) return undefined;
  return Array.isArray(vector[0]) ? { multi_vector: vector } : { single_vector: vector };
}

/** An array of names, or an object of expressions by name. */
function plainColumns(columns: unknown): unknown {
  if (Array.isArray(columns)) return { column_names: columns };
  if (typeof columns !== 'object' || columns === null) return columns ?? undefined;
  // The plain protocol's own shape comes through.
  if ('column_names' in columns || 'column_aliases' in columns) return columns;
  return { column_aliases: columns };
}

/** `{columns, query: "text"}`, or `{query: {match: ...}}`. */
function plainText(text: unknown): unknown {
  if (typeof text !== 'object' || text === null) return text ?? undefined;
  const { query } = text as { query?: unknown };
  if (typeof query === 'string') return { string_query: text };
  if (typeof query !== 'object' || query === null) return text;
  return { structured_query: { ...text, query: plainTree(query as Members, 0) } };
}

/** Deeper trees are refused as they are. */
const MOST_DEPTH = 64;

/** Its multi_match has one text and several columns, where the plain protocol has several matches. */
function plainTree(query: unknown, depth: number): unknown {
  if (depth > MOST_DEPTH || typeof query !== 'object' || query === null) return query;
  if (Array.isArray(query)) return query.map((part) => plainTree(part, depth + 1));
  return Object.fromEntries(
    Object.entries(query).map(([name, value]) => {
      if (name === 'multi_match') return [name, plainMultiMatch(value)];
      const isTree = name === 'boost' || name === 'boolean' || TREES.has(name);
      return [name, isTree ? plainTree(value, depth + 1) : value];
    }),
  );
}

const TREES: ReadonlySet<string> = new Set(['positive', 'negative', 'must', 'must_not', 'should']);

function plainMultiMatch(value: unknown): unknown {
  if (typeof value !== 'object' || value === null || 'match_queries' in value) return value;
  const { query, columns, boost, ...rest } = value as Members;
  if (!Array.isArray(columns)) return value;
  const boosts: readonly unknown[] = Array.isArray(boost) ? boost : [];
  return {
    match_queries: columns.map((column, at) => ({
      ...rest,
      terms: query,
      column,
      ...member('boost', boosts[at]),
    })),
  };
}
