/**
 * `plainQuery`: translates a query body of LanceDB's clients (vector, columns, full-text query) to
 * the plain protocol's form.
 */

type Members = Readonly<Record<string, unknown>>;

export function plainQuery(body: Members): Members {
  const { vector, columns, full_text_query: text, maximum_nprobes: most, ...rest } = body;
  return {
    ...rest,
    // 0 says here that all partitions may be searched, which the protocol says by leaving it out.
    ...member('maximum_nprobes', most === 0 ? undefined : most),
    ...member('vector', plainVector(vector)),
    ...member('columns', plainColumns(columns)),
    ...member('full_text_query', plainText(text)),
  };
}

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
  return typeof query === 'object' && query !== null ? { structured_query: text } : text;
}
