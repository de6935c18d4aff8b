/**
 * `KEYWORDS` lists the keywords, in lower case, that PostgreSQL restricts as names. Each maps to
 * the kind of object that it may still name: a column (`COLUMN_NAME`), a function or type
 * (`FUNCTION_NAME`), or none (`RESERVED`).
 */

/** May stand for nothing but itself. */
export const RESERVED = 1;
/** May name a column, but no function and no type. */
export const COLUMN_NAME = 2;
/** May name a function or a type, but no column. */
export const FUNCTION_NAME = 3;

const RESERVED_WORDS =
  'all analyse analyze and any array as asc asymmetric both case cast check collate column ' +
  'constraint create current_catalog current_date current_role current_time current_timestamp ' +
  'current_user default deferrable desc distinct do else end except false fetch for foreign from ' +
  'grant group having in initially intersect into lateral leading limit localtime localtimestamp ' +
  'not null offset on only or order placing primary references returning select session_user some ' +
  'symmetric system_user table then to trailing true union unique user using variadic when where ' +
  'window with';
const FUNCTION_NAMES =
  'authorization binary collation concurrently cross current_schema freeze full ilike inner is ' +
  'isnull join left like natural notnull outer overlaps right similar tablesample verbose';
const COLUMN_NAMES =
  'between bigint bit boolean char character coalesce dec decimal exists extract float greatest ' +
  'grouping inout int integer interval json json_array json_arrayagg json_exists json_object ' +
  'json_objectagg json_query json_scalar json_serialize json_table json_value least merge_action ' +
  'national nchar none normalize nullif numeric out overlay position precision real row setof ' +
  'smallint substring time timestamp treat trim values varchar xmlattributes xmlconcat xmlelement ' +
  'xmlexists xmlforest xmlnamespaces xmlparse xmlpi xmlroot xmlserialize xmltable';

function entries(words: string, category: number): [string, number][] {
  return words.split(' ').map((word) => [word, category]);
}

/** Lower-case keyword -> what it may name. */
export const KEYWORDS: ReadonlyMap<string, number> = new Map([
  ...entries(RESERVED_WORDS, RESERVED),
  ...entries(FUNCTION_NAMES, FUNCTION_NAME),
  ...entries(COLUMN_NAMES, COLUMN_NAME),
]);
