/**
 * `otherFunction` returns what to write in place of a function that other databases have and this
 * one does not, for the message that refuses it. Its table must not name a function that this
 * engine has.
 */

const OTHERS: Readonly<Record<string, string>> = {
  ...entries('array_agg(x)', ['list', 'collect_list', 'collect_set', 'group_array']),
  ...entries("string_agg(x, ',')", ['group_concat', 'listagg', 'array_to_string']),
  ...entries('count(*) FILTER (WHERE ..)', ['count_if', 'countif']),
  ...entries('sum(x) FILTER (WHERE ..)', ['sum_if', 'sumif']),
  ...entries('avg(x)', ['mean']),
  ...entries('stddev(x)', ['std']),
  ...entries('variance(x)', ['var']),
  ...entries('median(x)', ['quantile', 'percentile', 'percentile_cont', 'approx_percentile']),
  ...entries('any_value(x), or first_value(x) OVER (..)', ['first', 'arbitrary']),
  ...entries('last_value(x) OVER (..)', ['last']),
  ...entries('(SELECT x FROM .. ORDER BY y DESC LIMIT 1)', ['max_by', 'arg_max', 'argmax']),
  ...entries('(SELECT x FROM .. ORDER BY y LIMIT 1)', ['min_by', 'arg_min', 'argmin']),
  ...entries('CASE WHEN .. THEN .. ELSE .. END', ['if', 'iif', 'decode']),
  ...entries('coalesce(x, y)', ['isnull', 'zeroifnull']),
  ...entries('upper(x)', ['ucase']),
  ...entries('lower(x)', ['lcase']),
  ...entries('length(x)', ['strlen']),
  ...entries('regexp_match(x, pattern)', ['regexp_extract', 'regexp_substr']),
  ...entries('CAST(x AS date)', ['to_date']),
  ...entries('CAST(x AS timestamp)', ['to_timestamp']),
  ...entries('CAST(x AS text)', ['to_char', 'date_format', 'strftime', 'tostring']),
  ...entries('extract(field FROM time)', ['year', 'month', 'day', 'hour', 'minute', 'second']),
  ...entries("time + INTERVAL '1 day'", ['date_add', 'dateadd', 'date_sub']),
  ...entries("a literal, such as TIMESTAMP '2026-01-31 12:00'", ['now', 'getdate', 'today']),
};

function entries(instead: string, names: readonly string[]): Record<string, string> {
  return Object.fromEntries(names.map((name) => [name, instead]));
}

/** Undefined for a name that no database is known to have. */
export const otherFunction = (name: string): string | undefined =>
  Object.hasOwn(OTHERS, name) ? OTHERS[name] : undefined;
