/** What each feature of expressions gives, row by row; the third row is null throughout. */
import { describe, expect, it } from 'vitest';
import {
  Field,
  makeData,
  makeVector,
  Schema,
  type Time,
  TimestampNanosecond,
  type Vector,
} from '../../src/arrow/apache.ts';
import { compileExpression } from '../../src/sql/expression.ts';
import { rows, values } from '../helpers/expression-rows.ts';

const N = null;

const CONDITIONS: readonly (readonly [sql: string, selected: readonly number[]])[] = [
  // comparison, exact across types
  ['x > 0.4', [0, 1]],
  ['x = x', [0, 1, 3]],
  ['x = 0', [3]],
  ['f32 = 0.1', [0]],
  ['f16 = 0.5', [0]],
  ['id = 9223372036854775807', [3]],
  ['id = 9223372036854775806', []],
  ['id > 9223372036854775806.5', [3]],
  ['id < 9223372036854775808', [0, 1, 3]],
  ['u64 > 18446744073709551614', [3]],
  ['u64 > -1', [0, 1, 3]],
  ['id > x', [0, 3]],
  ['u64 > id', [1, 3]],
  ['i32 = 1.5', []],
  ['i32 <> 1.5', [0, 1, 3]],
  ['i32 < 1.5', [0, 1]],
  ['i32 >= 0.5', [0, 3]],
  ['1.5 > i32', [0, 1]],
  ['i8 < 200', [0, 1, 3]],
  ['i8 = 384', []],
  ['u8 = 200', [1]],
  ['i32 == 7', [3]],
  ['i32 != 7', [0, 1]],
  ['dec = 1.25', [0]],
  ['dec = 1.251', []],
  ['dec < 1.255', [0, 1]],
  ['dec = 10', [3]],
  ['dec > x', [0, 3]],
  ['dec = i32 * 1.25', [0]],
  ['large = s', [0, 3]],
  // logic of three values
  ['b', [0, 3]],
  ['NOT b', [1]],
  ['b IS NOT TRUE', [1, 2]],
  ['b IS UNKNOWN', [2]],
  ['b IS NOT FALSE', [0, 2, 3]],
  ['b OR i32 IS NULL', [0, 2, 3]],
  ['NOT (b AND i32 > 0)', [1]],
  ['i32 IS DISTINCT FROM 7', [0, 1, 2]],
  ['i32 IS NOT DISTINCT FROM NULL', [2]],
  ['i32 IN (1, NULL)', [0]],
  ['i32 NOT IN (1, NULL)', []],
  ['i32 NOT IN (1, 2.5)', [1, 3]],
  ['(i32 > 0) = b', [0, 1, 3]],
  ['NULL', []],
  ['i32 BETWEEN -5 AND 1', [0, 1]],
  ['i32 NOT BETWEEN -5 AND 1', [3]],
  ["s BETWEEN 'a' AND 'b'", [0]],
  // constants of one type where another is wanted, nothing of which is lost
  ['x = ANY([1, 0])', [3]],
  ['x = ANY(ARRAY[0, 7])', [3]],
  ['x = ANY([0, NULL])', [3]],
  ['i32 = 1 AND -coalesce(CAST(NULL AS int), -7) = 7', [0]],
  ['i32 = 1 AND coalesce(CAST(NULL AS int), 9) + 1 = 10', [0]],
  ['abs(coalesce(CAST(-1 AS smallint), i32)) = i32', [0]],
  ['coalesce(CAST(1 AS int), x) = 1 AND i32 = 1', [0]],
  ['i32 = 1 AND coalesce(0 + 0, 2.5) = 0', [0]],
  // NULL that has no type yet
  ['coalesce(nullif(NULL, 0), i32) = 1', [0]],
  ['coalesce(NULL, nullif(NULL, 1)) + i32 IS NULL', [0, 1, 2, 3]],
  ['(nullif(NULL, 1) + i32) IS NULL', [0, 1, 2, 3]],
  // text
  ["s = 'abc'", [0]],
  ["s > 'abd'", [1]],
  ["s LIKE 'a%'", [0]],
  ["s LIKE '%e%'", [1]],
  ["s LIKE '_ber'", [1]],
  ["s LIKE ''", [3]],
  ["s ILIKE 'über'", [1]],
  ["s ILIKE 'A_C'", [0]],
  ["s NOT LIKE '%b%'", [3]],
  ["'50%' LIKE '50!%' ESCAPE '!'", [0, 1, 2, 3]],
  ["'50x' LIKE '50\\%'", []],
  // PostgreSQL: an empty ESCAPE turns escaping off.
  ["'a\\b' LIKE 'a\\_' ESCAPE ''", [0, 1, 2, 3]],
  ["'a\\' LIKE 'a\\' ESCAPE ''", [0, 1, 2, 3]],
  ["'A\\B' ILIKE 'a\\%' ESCAPE ''", [0, 1, 2, 3]],
  ["'50%' LIKE '50\\%' ESCAPE ''", []],
  ["s LIKE 'ab%' ESCAPE ''", [0]],
  ["s IN ('abc', '', 'q')", [0, 3]],
  ["large LIKE '%y%'", [1]],
  ["dict = 'k1'", [0, 3]],
  ['dict IS NULL', [2]],
  ["upper(dict) = 'K2'", [1]],
  ["regexp_like(s, '^a.c$')", [0]],
  ["regexp_match(s, 'b')", [0, 1]],
  ["s ~* 'ÜB'", [1]],
  ["s !~ 'b'", [3]],
  ["starts_with(s, 'ab')", [0]],
  ["ends_with(s, 'r')", [1]],
  ["contains(s, 'be')", [1]],
  ["bin = X'00ff'", [0]],
  ["bin > X'00'", [0, 3]],
  ["fixed = X'0203'", [1]],
  // dates and times
  ["d > date '2000-01-01'", [1]],
  ["d = '2020-02-29'", [1]],
  ['d64 = d', [0, 1, 3]],
  ['d < ts', [3]],
  ["ts = timestamp '2020-01-01 00:00:00.123456'", [1]],
  ["ts < '2020-01-01'", [0, 3]],
  ["ts > timestamp '2020-01-01 00:00:00.123455999'", [1]],
  ["ts = timestamp '2020-01-01 00:00:00.123456001'", []],
  ["ts < timestamp '2020-01-01 00:00:00.123456001' and ts > '2020-01-01'", [1]],
  ["ts >= '1970-01-01T00:00:00Z'", [0, 1]],
  ["tz = '1969-12-31 19:00:00'", [0]],
  ["tz = timestamp '1970-01-01T00:00:00Z'", [0]],
  ["t >= time '01:00:00'", [1, 3]],
  ["t >= time '01:00:00.0000001'", [3]],
  ["ts IN ('1970-01-01', '2020-01-01 00:00:00.123456')", [0, 1]],
  ["d BETWEEN '2020-01-01' AND '2020-12-31'", [1]],
  // lists, structs, names
  ["array_has(tags, 'a')", [0]],
  ["array_has_any(tags, ['a', 'c'])", [0, 3]],
  ['array_has_all(nums, [1, 2])', [0]],
  ['array_length(tags) = 2', [0, 3]],
  ['7 = ANY([1, i32])', [3]],
  ['array_has(pair, 4.0)', [1]],
  ["tags = ['a', 'b']", [0]],
  ['st.a = 1', [0]],
  ["st.in.b = 'y'", [1]],
  ["ST.IN.B = 'y'", [1]],
  ["st['in']['b'] = 'x'", [0]],
  ['(st).a IS NULL', [1, 2]],
  ['st IS NULL', [2]],
  ['MixedCase = 2', [1]],
  ['mixedcase = 2', [1]],
  ['`two words` = 2', [1]],
  ['"two words" = 2', [1]],
  ['a.dot = 2', [1]],
  ["user = 'v'", [1]],
  ['_rowid = 11', [1]],
  ['_rowoffset IN (0, 3)', [0, 3]],
  ['_ROWID >= 12', [2, 3]],
  // guards come first
  ['i32 <> 7 AND 10 / (i32 - 7) < 0', [0]],
  ['i32 = 7 OR 10 / (i32 - 7) = 0', [1, 3].slice(0, 2)],
];

const VALUES: readonly (readonly [sql: string, values: readonly unknown[]])[] = [
  ['i32 * 2 + 1', [3n, -9n, N, 15n]],
  ['i32 / 2', [0n, -2n, N, 3n]],
  ['i32 % 3', [1n, -2n, N, 1n]],
  ['-i32', [-1n, 5n, N, -7n]],
  ['id - 1', [0n, 1n, N, 2n ** 63n - 2n]],
  ['x * 2 + 1', [2, Number.NaN, N, 1]],
  ['i32 / 0.5', [2, -10, N, 14]],
  ['i32 + f16', [1.5, -7, N, 8]],
  ['abs(i32)', [1n, 5n, N, 7n]],
  ['round(f32 * 10)', [1, 25, N, 10]],
  ['floor(-0.5)', [-1, -1, -1, -1]],
  ['ceil(f32)', [1, 3, N, 1]],
  ['round(2.345, 2)', [2.35, 2.35, 2.35, 2.35]],
  ['round(id, -1)', [0n, 0n, N, 2n ** 63n - 8n].slice(0, 2).concat([])],
  ['coalesce(i32, 0)', [1, -5, 0, 7]],
  ['nullif(i32, 7)', [1, -5, N, N]],
  ['greatest(i32, 3)', [3, 3, 3, 7]],
  ['CASE WHEN b THEN 1 ELSE 2.5 END', [1, 2.5, 2.5, 1]],
  ["CASE i32 WHEN 1 THEN 'one' END", ['one', N, N, N]],
  ['CASE WHEN i32 <> 7 THEN 12 / (i32 - 7) ELSE 0 END', [-2n, -1n, 0n, 0n]],
  ["s || '!'", ['abc!', 'Über!', N, '!']],
  ['concat(s, NULL, i32)', ['abc1', 'Über-5', '', '7']],
  ['lower(s)', ['abc', 'über', N, '']],
  ['upper(s)', ['ABC', 'ÜBER', N, '']],
  ['length(s)', [3n, 4n, N, 0n]],
  ['substr(s, 2)', ['bc', 'ber', N, '']],
  ['substring(s from 1 for 2)', ['ab', 'Üb', N, '']],
  ["trim('  x ')", ['x', 'x', 'x', 'x']],
  ["trim(leading 'a' from s)", ['bc', 'Über', N, '']],
  ["position('b' in s)", [2n, 2n, N, 0n]],
  ["regexp_match(s, '(b)(c)?')", [['b', 'c'], ['b', N], N, N]],
  ["regexp_replace(s, '([bc])', '<$1>', 'g')", ['a<b><c>', 'Ü<b>er', N, '']],
  ['CAST(x AS text)', ['0.5', 'NaN', N, '-0.0']],
  ['CAST(f32 * 10 AS int)', [1, 25, N, 10]],
  ['CAST(f32 AS text)', ['0.1', '2.5', N, '1.0']],
  ["CAST(CAST('16777217' AS real) / 3 AS real) || ''", Array(4).fill('5592405.5')],
  ["CAST(arrow_cast(0.1, 'Float16') AS text)", Array(4).fill('0.1')],
  ["CAST(arrow_cast(2049.5, 'Float16') AS text)", Array(4).fill('2050.0')],
  ['array_position(tags, NULL)', [N, N, N, 2n]],
  ['array_position(tags, nullif(CAST(f32 AS text), CAST(f32 AS text)))', [N, N, N, 2n]],
  ["array_position(tags, 'b')", [2n, N, N, N]],
  ['array_position(NULL, 1)', Array(4).fill(N)],
  ['TRY_CAST(s AS int)', [N, N, N, N]],
  ["'12'::int", [12, 12, 12, 12]],
  ['i32::smallint', [1, -5, N, 7]],
  [
    'CAST(ts AS text)',
    ['1970-01-01T00:00:00', '2020-01-01T00:00:00.123456', N, '1969-12-31T23:59:59.999999'],
  ],
  [
    'CAST(tz AS text)',
    ['1969-12-31T19:00:00-05:00', '2020-03-08T03:00:00-04:00', N, '1969-12-31T18:59:59.999-05:00'],
  ],
  ['CAST(dec AS text)', ['1.25', '-1.25', N, '10.00']],
  ["CAST(decimal(8,3) '1.25' + dec AS text)", ['2.500', '0.000', N, '11.250']],
  ['CAST(dec * dec AS text)', ['1.5625', '1.5625', N, '100.0000']],
  ['CAST(round(dec, 1) AS text)', ['1.30', '-1.30', N, '10.00']],
  ['extract(year from ts)', [1970, 2020, N, 1969]],
  ['extract(second from ts)', [0, 0.123456, N, 59.999999]],
  ['extract(hour from tz)', [19, 3, N, 18]],
  ["date_part('week', d)", [1, 9, N, 1]],
  ['extract(dow from d)', [4, 6, N, 3]],
  [
    "CAST(date_trunc('month', ts) AS text)",
    ['1970-01-01T00:00:00', '2020-01-01T00:00:00', N, '1969-12-01T00:00:00'],
  ],
  [
    "CAST(date_trunc('day', tz) AS text)",
    ['1969-12-31T00:00:00-05:00', '2020-03-08T00:00:00-05:00', N, '1969-12-31T00:00:00-05:00'],
  ],
  ["CAST(d + interval '1 month' AS text)", ['1970-02-01', '2020-03-29', N, '1970-01-31']],
  [
    "CAST(d - interval '1 hour' AS text)",
    ['1969-12-31T23:00:00', '2020-02-28T23:00:00', N, '1969-12-30T23:00:00'],
  ],
  ["CAST(ts + interval '1' day AS date)", [86400000, 1577923200000, N, 0]],
  ["d - date '1970-01-01'", [0n, 18321n, N, -1n]],
  ['tags', [['a', 'b'], [], N, ['c', N]]],
  ['tags[1]', ['a', N, N, 'c']],
  ['nums[-1]', [2, N, N, 3]],
  ["['a', 'b']", Array(4).fill(['a', 'b'])],
  ['st.a', [1, N, N, 3]],
  ['st.in.b', ['x', 'y', N, N]],
  ['dict', ['k1', 'k2', N, 'k1']],
  ["coalesce(dict, 'z')", ['k1', 'k2', 'z', 'k1']],
  ['_rowid', [10n, 11n, 12n, 13n]],
  ['_rowoffset * 2', [0n, 2n, 4n, 6n]],
  ['b AND NULL', [N, false, N, N]],
  ['b OR NULL', [true, N, N, true]],
  ["arrow_cast(i32, 'Int8')", [1, -5, N, 7]],
  [
    "CAST(arrow_cast(1.12345678901234567890123, 'Decimal128(38, 30)') AS text)",
    Array(4).fill('1.123456789012345678901230000000'),
  ],
  ["arrow_cast(X'00ff', 'FixedSizeBinary(2)')", Array(4).fill(new Uint8Array([0, 255]))],
  ["arrow_cast('ab', 'FixedSizeBinary(2)')", Array(4).fill(new Uint8Array([97, 98]))],
  ["X'00ff'", Array(4).fill(new Uint8Array([0, 255]))],
  ['octet_length(bin)', [2n, 0n, N, 1n]],
];

describe('conditions select', () => {
  it.each(CONDITIONS)('%s', async (sql, selected) => {
    expect(await rows(sql)).toEqual(selected);
  });
});

describe('expressions give', () => {
  it.each(VALUES.filter(([, expected]) => expected.length === 4))('%s', async (sql, expected) => {
    expect(await values(sql)).toEqual(expected);
  });
});

it('a byte order mark of binary is a character of its text', async () => {
  expect(await values("octet_length(CAST(X'EFBBBF61' AS text))")).toEqual(Array(4).fill(4n));
});

it('date_trunc refuses what its type does not hold', async () => {
  const first = "arrow_cast(-9223372036854775807, 'Timestamp(Microsecond, None)')";
  await expect(values(`date_trunc('day', ${first})`)).rejects.toThrow(/date_trunc.*out of range/);
  expect(await values(`CAST(date_trunc('microsecond', ${first}) AS text)`)).toHaveLength(4);
  const day = "arrow_cast(-2147483648 + octet_length(bin), 'Date32')";
  await expect(values(`date_trunc('year', ${day})`)).rejects.toThrow(/date_trunc.*out of range/);
});

it('moves nanoseconds by intervals of more than a double counts in them', async () => {
  const type = new TimestampNanosecond();
  const at = makeVector(
    makeData({ type, length: 1, nullCount: 0, data: BigInt64Array.of(1n) } as never),
  );
  const before = makeVector(
    makeData({
      type,
      length: 1,
      nullCount: 0,
      data: BigInt64Array.of(-8_640_000_000_000_000n),
    } as never),
  );
  const vectors: Readonly<Record<string, Vector>> = { at, before };
  const schema = new Schema(Object.keys(vectors).map((name) => new Field(name, type, true)));
  for (const [sql, moved] of [
    ["at + INTERVAL '1 year -360 days'", 432_000_000_000_001n],
    ["before + INTERVAL '150 days 1 nanosecond'", 4_320_000_000_000_001n],
    ["at - INTERVAL '100 days'", -8_639_999_999_999_999n],
  ] as const) {
    const compiled = await compileExpression(`CAST(${sql} AS bigint)`, schema);
    const source = { numRows: 1, getChild: (name: string) => vectors[name] ?? null };
    expect(compiled.evaluate(source).get(0), sql).toBe(moved);
  }
});

it('a column of texts is no time beside one', async () => {
  for (const sql of ['s + d', 's - ts', 'd + s']) {
    await expect(values(sql)).rejects.toThrow('does not work on');
  }
});

it('a time of day has the unit that its digits ask for', async () => {
  const schema = new Schema([]);
  for (const [digits, unit] of [
    ['(0)', 's'],
    ['(3)', 'ms'],
    ['', 'us'],
    ['(6)', 'us'],
    ['(9)', 'ns'],
  ]) {
    const cast = `CAST(NULL AS time${digits})`;
    const { type, typeName } = await compileExpression(cast, schema);
    expect(typeName).toBe(`time(${unit})`);
    expect((type as Time).bitWidth).toBe(unit === 's' || unit === 'ms' ? 32 : 64);
  }
  expect(await values("CAST(TIME '10:00:00.123456' AS time(3)) = TIME '10:00:00.123'")).toEqual(
    Array(4).fill(true),
  );
});

it('the text of a time in a zone is read as the same time, when its offset has seconds too', async () => {
  const zoned = "CAST(TIMESTAMPTZ '1800-01-01 00:00:00Z' AS text)";
  expect(await values(zoned)).toEqual(Array(4).fill('1800-01-01T00:00:00Z'));
  const type = 'Timestamp(Second, Some("Europe/Berlin"))';
  const text = `CAST(arrow_cast(TIMESTAMPTZ '1800-01-01 00:00:00Z', '${type}') AS text)`;
  expect(await values(text)).toEqual(Array(4).fill('1800-01-01T00:53:28+00:53:28'));
  const again = `CAST(${text} AS timestamptz) = TIMESTAMPTZ '1800-01-01 00:00:00Z'`;
  expect(await values(again)).toEqual(Array(4).fill(true));
  const west = `CAST(arrow_cast(TIMESTAMPTZ '1800-01-01 12:00:00Z', '${type.replace('Europe/Berlin', 'America/New_York')}') AS text)`;
  expect(await values(west)).toEqual(Array(4).fill('1800-01-01T07:03:58-04:56:02'));
});
