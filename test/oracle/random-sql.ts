/**
 * Random SQL for the parser: expressions of the whole grammar without regard to types, so that every
 * operator stands beside every other, and mutations of them.
 */
import type { Random } from '../helpers/random-expression.ts';

const NAMES = [
  ...['x', 'Y', 'a1', '_b', 'größe', '"q q"', '"A""b"', '"select"', 'name', 'type', 'date', 'user'],
  ...[
    'left',
    'interval',
    'timestamp',
    'values',
    'between',
    'double',
    'year',
    'over',
    'bigint',
    'row',
  ],
  ...[
    'st.a',
    'st . "B".c',
    'a.select',
    'x[1]',
    'x.y[2].z',
    'U&"d\\0061"',
    'char',
    'json',
    'exists',
  ],
];
const NUMBERS = [
  ...['0', '1', '7', '007', '25', '2147483647', '2147483648', '9223372036854775808', '1_000', '.5'],
  ...['1.', '1.5', '1e5', '1.5E-7', '0x1F', '0xFFFFFFFFFF', '0o17', '0b101', '0.0', '1_0.0_1e1_0'],
];
const STRINGS = [
  ...[
    "'s'",
    "'it''s'",
    "''",
    "E'a\\nb'",
    "E'\\x41\\101\\u00e9'",
    "e'it\\'s'",
    '$$d$$',
    '$t$a$$b$t$',
  ],
  ...[
    "U&'\\0041\\+00005A'",
    "U&'!0041' UESCAPE '!'",
    "'a'\n 'b'",
    "N'n'",
    "x'00fF'",
    "X''",
    "b'101'",
  ],
  ...["'größe😀'", "'%a_'", "'1 day'", "'2020-01-01'", "'-- no'", "'/* no */'"],
];
const BINARY = [
  ...[
    '+',
    '-',
    '*',
    '/',
    '%',
    '||',
    '=',
    '<>',
    '!=',
    '<',
    '<=',
    '>',
    '>=',
    'AND',
    'OR',
    'and',
    'or',
  ],
  ...['~', '~*', '!~', '!~*', 'LIKE', 'NOT LIKE', 'ILIKE', 'not ilike', 'IS DISTINCT FROM'],
  ...[
    'IS NOT DISTINCT FROM',
    '^',
    'SIMILAR TO',
    'AT TIME ZONE',
    '@>',
    '->>',
    '#-',
    '&',
    '|',
    '<<',
    '~~',
  ],
];
const WEIGHTED_BINARY = [
  ...BINARY,
  ...BINARY.slice(0, 31),
  ...BINARY.slice(0, 31),
  ...BINARY.slice(0, 31),
];
const POSTFIX = [
  ...['IS NULL', 'IS NOT NULL', 'ISNULL', 'NOTNULL', 'IS TRUE', 'IS NOT FALSE', 'is unknown'],
  ...['IS NOT UNKNOWN', 'COLLATE "C"', 'IS DOCUMENT', 'IS JSON', 'IS NORMALIZED'],
];
const TYPES = [
  ...[
    'int',
    'INTEGER',
    'bigint',
    'smallint',
    'int4',
    'float8',
    'real',
    'float',
    'float(10)',
    'float(30)',
  ],
  ...[
    'double precision',
    'double',
    'decimal',
    'decimal(8,3)',
    'numeric(5)',
    'dec(4, 2)',
    'boolean',
  ],
  ...[
    'bool',
    'text',
    'varchar',
    'varchar(3)',
    'char',
    'char(1)',
    'character varying',
    'national char',
  ],
  ...[
    'nchar varying(4)',
    'bit',
    'bit varying(3)',
    'date',
    'timestamp',
    'timestamp(3)',
    'timestamptz',
  ],
  ...[
    'timestamp with time zone',
    'timestamp(6) without time zone',
    'time',
    'time(3) with time zone',
  ],
  ...[
    'interval',
    'interval day',
    'interval year to month',
    'interval(3)',
    'pg_catalog.int4',
    '"Frob"(2)',
  ],
  ...['bytea', 'json', 'int[]', 'int array', 'text[3]', 'a.b', 'uint8', 'decimal(-1)', 'frob(x)'],
];
const FUNCTIONS = [
  ...[
    'lower',
    'abs',
    'f',
    'left',
    'right',
    '"left"',
    'pg_catalog.position',
    'date',
    'now',
    'count',
  ],
  ...['regexp_like', 'Upper', 's.f', 'sum', 'like', 'current_schema', 'year', 'over'],
];
const TYPED = [
  ...['date', 'timestamp', 'TIMESTAMP', 'time', 'interval', 'timestamptz', 'bytea', 'int', 'float'],
  ...[
    'timestamp with time zone',
    'time without time zone',
    'double precision',
    'decimal(3,1)',
    'numeric',
  ],
  ...[
    'char',
    'varchar(3)',
    'bit',
    'json',
    'pg_catalog.date',
    'timestamptz(3)',
    'interval(3)',
    'uuid',
  ],
];
const FIELDS = ['year', 'MONTH', 'dow', "'epoch'", 'second', '"week"', 'day'];
const INTERVALS = [
  '',
  '',
  ' day',
  ' HOUR',
  ' year',
  ' second(2)',
  ' day to hour',
  ' minute to second(3)',
];

/** Text of a random expression, in about `size` operands. */
export function randomSql(random: Random, size: number): string {
  const { int, pick, next } = random;
  const list = (n: number, d: number): string =>
    Array.from({ length: n }, () => chain(d)).join(pick([', ', ',', ' , ']));

  const operand = (d: number): string => {
    const choice = next();
    if (d <= 0 || choice < 0.5) {
      return pick([
        () => pick(NAMES),
        () => pick(NUMBERS),
        () => pick(STRINGS),
        () => pick(['NULL', 'true', 'FALSE']),
      ])();
    }
    return pick([
      () => `(${chain(d - 1)})`,
      () => `(${chain(d - 1)})`,
      () => `(${chain(d - 1)})`,
      () => `${pick(FUNCTIONS)}(${list(int(4), d - 1)})`,
      () => `${pick(FUNCTIONS)}(${list(1 + int(2), d - 1)})`,
      () => special(d - 1),
      () => special(d - 1),
      () => `${pick(TYPED)} ${pick(STRINGS)}`,
      () => `interval ${pick(STRINGS)}${pick(INTERVALS)}`,
      () => caseOf(d - 1),
      () => `CAST(${chain(d - 1)} AS ${pick(TYPES)})`,
      () => `ARRAY[${list(int(4), d - 1)}]`,
      () => `(${chain(d - 1)})${pick(['.m', '[1]', "['k']", '."M m"[2]', '.a.b', '[1:2]'])}`,
    ])();
  };

  const special = (d: number): string =>
    pick([
      () => `EXTRACT(${pick(FIELDS)} FROM ${chain(d)})`,
      () => `position(${operand(d)} IN ${operand(d)})`,
      () => `SUBSTRING(${chain(d)} FROM ${operand(d)} FOR ${operand(d)})`,
      () => `substring(${chain(d)} FOR ${operand(d)})`,
      () => `substring(${list(1 + int(3), d)})`,
      () =>
        `trim(${pick(['', 'BOTH ', 'leading ', 'trailing '])}${operand(d)} FROM ${list(1 + int(2), d)})`,
      () => `TRIM(${pick(['', 'BOTH ', 'both from ', 'from '])}${list(1 + int(2), d)})`,
      () => `overlay(${chain(d)} placing ${operand(d)} from ${operand(d)})`,
      () => `coalesce(${list(1 + int(3), d)})`,
      () => `${pick(['greatest', 'LEAST'])}(${list(1 + int(2), d)})`,
      () => `nullif(${list(1 + int(2), d)})`,
      () => `normalize(${chain(d)}${pick(['', ', NFC', ', nfkd'])})`,
      () =>
        pick(['current_date', 'CURRENT_TIMESTAMP(3)', 'session_user', 'current_schema', 'DEFAULT']),
      () =>
        pick([
          'count(*)',
          'count(DISTINCT x)',
          'f(ALL x)',
          'f(a => 1)',
          'f(VARIADIC x)',
          'f(x ORDER BY y)',
        ]),
      () =>
        pick(['sum(x) OVER ()', 'count(*) FILTER (WHERE x)', 'ROW(1, 2)', '(1, x)', 'grouping(x)']),
      () =>
        pick([
          '(SELECT 1)',
          'EXISTS (SELECT 1)',
          'ARRAY(SELECT 1)',
          '(VALUES (1))',
          'unique (select 1)',
        ]),
      () => pick(['xmlparse(document x)', 'json_object()', 'treat(x as int)', 'collation for (x)']),
    ])();

  const caseOf = (d: number): string => {
    const whens = Array.from({ length: 1 + int(2) }, () => `WHEN ${chain(d)} THEN ${chain(d)}`);
    const head = next() < 0.4 ? ` ${chain(d)}` : '';
    const last = next() < 0.5 ? ` ELSE ${chain(d)}` : '';
    return `CASE${head} ${whens.join(' ')}${last} END`;
  };

  const after = (d: number): string =>
    pick([
      () => ` ${pick(POSTFIX)}`,
      () => `::${pick(TYPES)}`,
      () => ` :: ${pick(TYPES)}`,
      () => ` ${pick(['IN', 'not in', 'NOT IN'])} (${list(1 + int(4), d)})`,
      () => ` ${pick(['BETWEEN', 'not between', 'NOT BETWEEN'])} ${bound(d)} AND ${operand(d)}`,
      () => ` BETWEEN ${pick(['SYMMETRIC', 'ASYMMETRIC'])} ${operand(d)} AND ${operand(d)}`,
      () =>
        ` ${pick(['LIKE', 'NOT ILIKE'])} ${operand(d)} ESCAPE ${pick(["'!'", "''", 'x', "'!!'"])}`,
      () =>
        ` ${pick(['=', '<>', '<', '>=', '~'])} ${pick(['ANY', 'some', 'ANY', 'ALL'])} (${chain(d)})`,
    ])();

  const bound = (d: number): string => {
    const more =
      next() < 0.3
        ? ` ${pick(['+', '-', '=', '<', '||', 'IS DISTINCT FROM', '%'])} ${operand(d)}`
        : '';
    return `${next() < 0.2 ? '- ' : ''}${operand(d)}${more}`;
  };

  const chain = (d: number): string => {
    let text = '';
    const count = 1 + int(d > 1 ? 4 : 2);
    for (let i = 0; i < count; i++) {
      if (i > 0) text += blank(pick(WEIGHTED_BINARY));
      if (next() < 0.2) text += pick(['NOT ', '- ', '-', '+ ', 'not ', '- - ', '~ ', '+']);
      text += operand(d - 1);
      while (next() < 0.2) text += after(d - 1);
    }
    return text;
  };

  const blank = (operator: string): string => {
    const tight = /^[^a-z]+$/i.test(operator) && next() < 0.2;
    return tight ? operator : ` ${operator} `;
  };

  return chain(size);
}

const TOKEN = /"(?:[^"]|"")*"|'(?:[^']|'')*'|[\w$]+|\s+|[^\w\s]/gu;
const WORDS =
  "( ) [ ] , . :: : + - * / % ^ < > = <= <> != || ~ AND OR NOT IS NULL TRUE IN LIKE BETWEEN CASE WHEN THEN ELSE END CAST AS ARRAY ANY ESCAPE DISTINCT FROM FOR 1 .5 'x' E'x' x \"y\" $$ -- /* */ SELECT interval date timestamp ROW COLLATE AT TIME ZONE WITH USER =- !=- := => ISNULL SYMMETRIC ORDER BY OVER precision varying _ 1a \\ { é \u00a0 \" '".split(
    ' ',
  );

/** One to three changes: tokens left out, doubled, swapped, put in, or characters replaced. */
export function mutated(random: Random, sql: string): string {
  const { int, pick, next } = random;
  const tokens = sql.match(TOKEN) ?? [];
  const changes = 1 + int(3);
  for (let n = 0; n < changes && tokens.length > 0; n++) {
    const at = int(tokens.length);
    const other = int(tokens.length);
    const choice = next();
    if (choice < 0.25) tokens.splice(at, 1);
    else if (choice < 0.4) tokens.splice(at, 0, tokens[at] as string);
    else if (choice < 0.6) {
      [tokens[at], tokens[other]] = [tokens[other] as string, tokens[at] as string];
    } else if (choice < 0.9) tokens.splice(at, choice < 0.75 ? 1 : 0, ` ${pick(WORDS)} `);
    else {
      const text = tokens[at] as string;
      const place = int(text.length);
      const character = String.fromCodePoint(1 + int(next() < 0.8 ? 126 : 0x2ff));
      tokens[at] = text.slice(0, place) + character + text.slice(place + 1);
    }
  }
  return tokens.join('');
}
