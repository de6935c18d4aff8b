/**
 * Expression tree -> SQL text, for plans and messages: parsing what it writes gives the same tree.
 * It knows the precedence of the grammar and when a name needs quotes, no types.
 */
import type { Expression, TypeName } from './tree.ts';

/** How tightly each form binds; an operand that binds less is put in parentheses. */
const OR = 1;
const AND = 2;
const NOT = 3;
const IS = 4;
const COMPARE = 5;
const RANGE = 6;
const CONCAT = 7;
const ADD = 8;
const MULTIPLY = 9;
const NEGATE = 10;
const ATOM = 11;

const BINARY: Readonly<Record<string, number>> = {
  '=': COMPARE,
  '<>': COMPARE,
  '<': COMPARE,
  '<=': COMPARE,
  '>': COMPARE,
  '>=': COMPARE,
  '||': CONCAT,
  '+': ADD,
  '-': ADD,
  '*': MULTIPLY,
  '/': MULTIPLY,
  '%': MULTIPLY,
};

/** SQL text of `tree`. */
export function formatExpression(tree: Expression): string {
  return write(tree)[0];
}

function at(tree: Expression, least: number): string {
  const [text, level] = write(tree);
  return level < least ? `(${text})` : text;
}

function write(tree: Expression): [text: string, level: number] {
  switch (tree.kind) {
    case 'column':
      return [tree.path.map(formatName).join('.'), ATOM];
    case 'number':
      return [tree.text, tree.text.startsWith('-') ? NEGATE : ATOM];
    case 'string':
      return [formatString(tree.value), ATOM];
    case 'boolean':
      return [tree.value ? 'TRUE' : 'FALSE', ATOM];
    case 'null':
      return ['NULL', ATOM];
    case 'bytes':
      return [`X'${tree.hex}'`, ATOM];
    case 'array':
      return [`ARRAY[${commas(tree.items)}]`, ATOM];
    case 'negate': {
      // `-1` would be read back as a constant, `--` as a comment.
      const [text, level] = write(tree.arg);
      const bare = level > NEGATE && tree.arg.kind !== 'number';
      return [bare ? `-${text}` : `-(${text})`, NEGATE];
    }
    case 'and':
    case 'or': {
      const level = tree.kind === 'and' ? AND : OR;
      const word = tree.kind === 'and' ? ' AND ' : ' OR ';
      return [tree.args.map((arg) => at(arg, level + 1)).join(word), level];
    }
    case 'not':
      return [`NOT ${at(tree.arg, NOT)}`, NOT];
    case 'binary': {
      const level = BINARY[tree.op] ?? COMPARE;
      // Comparisons do not chain; everything else leans left.
      const left = at(tree.left, level === COMPARE ? level + 1 : level);
      return [`${left} ${tree.op} ${at(tree.right, level + 1)}`, level];
    }
    case 'is':
      return [`${at(tree.arg, IS + 1)} IS ${not(tree.negated)}${tree.test.toUpperCase()}`, IS];
    case 'distinct': {
      const [left, right] = [at(tree.left, IS + 1), at(tree.right, IS + 1)];
      return [`${left} IS ${not(tree.negated)}DISTINCT FROM ${right}`, IS];
    }
    case 'between': {
      const bounds = `${at(tree.low, RANGE + 1)} AND ${at(tree.high, RANGE + 1)}`;
      return [`${at(tree.arg, RANGE + 1)} ${not(tree.negated)}BETWEEN ${bounds}`, RANGE];
    }
    case 'in':
      return [`${at(tree.arg, RANGE + 1)} ${not(tree.negated)}IN (${commas(tree.items)})`, RANGE];
    case 'like': {
      const word = tree.insensitive ? 'ILIKE' : 'LIKE';
      const escaping = tree.escape === undefined ? '' : ` ESCAPE ${formatString(tree.escape)}`;
      const pattern = at(tree.pattern, RANGE + 1);
      return [
        `${at(tree.arg, RANGE + 1)} ${not(tree.negated)}${word} ${pattern}${escaping}`,
        RANGE,
      ];
    }
    case 'case': {
      const operand = tree.operand === undefined ? '' : ` ${write(tree.operand)[0]}`;
      const whens = tree.whens.map(
        ({ when, value }) => ` WHEN ${write(when)[0]} THEN ${write(value)[0]}`,
      );
      const otherwise = tree.otherwise === undefined ? '' : ` ELSE ${write(tree.otherwise)[0]}`;
      return [`CASE${operand}${whens.join('')}${otherwise} END`, ATOM];
    }
    case 'cast': {
      const word = tree.lenient ? 'TRY_CAST' : 'CAST';
      return [`${word}(${write(tree.arg)[0]} AS ${formatTypeName(tree.type)})`, ATOM];
    }
    case 'call':
      return writeCall(tree.name, tree.args);
    case 'field':
      return [`(${write(tree.arg)[0]}).${formatName(tree.name)}`, ATOM];
    case 'element':
      return [`(${write(tree.arg)[0]})[${write(tree.index)[0]}]`, ATOM];
  }
}

/** Functions whose names the grammar keeps for itself are written quoted, or in its own syntax. */
function writeCall(name: string, args: readonly Expression[]): [string, number] {
  const plain = /^[a-z_][a-z0-9_]*$/.test(name);
  return [`${plain ? (OWN_SYNTAX[name] ?? name) : formatName(name)}(${commas(args)})`, ATOM];
}

const OWN_SYNTAX: Readonly<Record<string, string>> = {
  extract: 'pg_catalog.extract',
  position: 'pg_catalog.position',
  left: '"left"',
  right: '"right"',
};

function commas(items: readonly Expression[]): string {
  return items.map((item) => write(item)[0]).join(', ');
}

function not(negated: boolean): string {
  return negated ? 'NOT ' : '';
}

export function formatString(value: string): string {
  return `'${value.replaceAll("'", "''")}'`;
}

/** Everything but plain lower-case words is quoted, and every word the grammar may know. */
export function formatName(name: string): string {
  return /^[a-z_][a-z0-9_]*$/.test(name) && !RESERVED.has(name)
    ? name
    : `"${name.replaceAll('"', '""')}"`;
}

export function formatTypeName(type: TypeName): string {
  const args = type.args.length === 0 ? '' : `(${type.args.join(', ')})`;
  const plain = /^[a-z_][a-z0-9_]*$/.test(type.name);
  return `${plain ? type.name : formatName(type.name)}${args}`;
}

/** Words that cannot stand as a bare column name. */
const RESERVED = new Set(
  (
    'all analyse analyze and any array as asc asymmetric authorization between bigint binary bit ' +
    'boolean both case cast char character check coalesce collate collation column concurrently ' +
    'constraint create cross current_catalog current_date current_role current_schema current_time ' +
    'current_timestamp current_user dec decimal default deferrable desc distinct do else end except ' +
    'exists extract false fetch float for foreign freeze from full grant greatest group grouping ' +
    'having ilike in initially inner inout int integer intersect interval into is isnull join ' +
    'json json_array json_arrayagg json_exists json_object json_objectagg json_query json_scalar ' +
    'json_serialize json_table json_value lateral leading least left like limit localtime ' +
    'localtimestamp merge_action national natural nchar none normalize not notnull null nullif ' +
    'numeric offset on only or order out outer overlaps overlay placing position precision primary ' +
    'real references returning right row select session_user setof similar smallint some substring ' +
    'symmetric system_user table tablesample then time timestamp to trailing treat trim true union ' +
    'unique user using values varchar variadic verbose when where window with xmlattributes ' +
    'xmlconcat xmlelement xmlexists xmlforest xmlnamespaces xmlparse xmlpi xmlroot xmlserialize ' +
    'xmltable try_cast'
  ).split(' '),
);
