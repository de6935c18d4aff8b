/**
 * `otherFunction` returns what to write in place of a function of another database that this engine
 * does not have, for the message that refuses it; undefined for a name that it does not know. Its
 * table must not name a function that this engine has.
 */

const OTHERS: Readonly<Record<string, string>> = {
  ...entries('array_agg(x)', ['collect_list', 'collect_set', 'group_array']),
  ...entries("string_agg(x, ',')", ['group_concat', 'listagg']),
  ...entries('count(*) FILTER (WHERE ..)', ['count_if', 'countif']),
  ...entries('sum(x) FILTER (WHERE ..)', ['sum_if', 'sumif']),
  ...entries('stddev(x)', ['std']),
  ...entries('variance(x)', ['var']),
  ...entries('quantile_cont(x, 0.5)', ['percentile', 'approx_percentile', 'approx_quantile']),
  ...entries('CASE WHEN .. THEN .. ELSE .. END', ['iif', 'iff', 'decode']),
  ...entries('coalesce(x, y)', ['isnull', 'zeroifnull']),
  ...entries('upper(x)', ['ucase']),
  ...entries('lower(x)', ['lcase']),
  ...entries('length(x)', ['strlen']),
  ...entries('regexp_match(x, pattern)', ['regexp_substr']),
  ...entries('CAST(x AS date)', ['to_date']),
  ...entries("strftime(x, '%Y-%m-%d')", ['to_char', 'date_format']),
  ...entries('CAST(x AS text)', ['tostring']),
  ...entries("time + INTERVAL '1 day'", ['date_add', 'dateadd', 'date_sub']),
  ...entries('FROM .., unnest(x) AS u(item)', ['unnest', 'explode', 'flatten']),
  ...entries('FROM .., unnest(x) AS u(item), as there are no lambdas', [
    ...['list_transform', 'list_filter', 'list_reduce', 'list_apply', 'list_any_value'],
    ...['array_transform', 'array_filter', 'array_apply', 'array_reduce', 'transform', 'filter'],
  ]),
  ...entries('FROM generate_series(1, 10) AS s(n)', ['generate_series', 'sequence']),
  ...entries("a literal, such as TIMESTAMP '2026-01-31 12:00'", [
    'now',
    'getdate',
    'sysdate',
    'today',
  ]),
};

function entries(instead: string, names: readonly string[]): Record<string, string> {
  return Object.fromEntries(names.map((name) => [name, instead]));
}

/** Undefined for a name that no database is known to have. */
export const otherFunction = (name: string): string | undefined =>
  Object.hasOwn(OTHERS, name) ? OTHERS[name] : undefined;
