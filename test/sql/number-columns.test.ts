/** Numbers, decimals, dates and choices over whole columns: as BigInt, Date and plain rows have them. */
import { describe, expect, test } from 'vitest';
import {
  type DataType,
  DateDay,
  Decimal,
  Field,
  Float64,
  Int32,
  Int64,
  makeData,
  Schema,
  TimestampMicrosecond,
  TimestampMillisecond,
  TimestampSecond,
  Uint64,
  Utf8,
  vectorFromArray,
} from '../../src/arrow/apache.ts';
import { recordBatch } from '../../src/arrow/arrow-data.ts';
import { compileExpression } from '../../src/sql/expression.ts';
import { casesOf } from '../helpers/long.ts';
import { expectSame } from '../helpers/same.ts';
import { seeded } from '../helpers/seeded.ts';

type Plain = bigint | number | string | boolean | null;

interface Given {
  readonly type: DataType;
  readonly values: readonly Plain[];
}

/** Columns by name, and a way to evaluate over them. */
function over(columns: Readonly<Record<string, Given>>) {
  const entries = Object.entries(columns);
  const schema = new Schema(entries.map(([name, { type }]) => new Field(name, type, true)));
  const length = entries[0]?.[1].values.length ?? 0;
  const data = entries.map(([, { type, values }]) => dataOf(type, values));
  const batch = recordBatch(schema, data as never, length);
  return async (sql: string): Promise<Plain[]> => {
    const expression = await compileExpression(sql, schema);
    const vector = expression.evaluate(batch);
    return Array.from({ length }, (_, row) => plain(vector.get(row), expression.type));
  };
}

function dataOf(type: DataType, values: readonly Plain[]) {
  if (type instanceof Utf8) return vectorFromArray(values as string[], type).data[0];
  const nullBitmap = new Uint8Array((values.length >> 3) + 1);
  values.forEach((value, row) => {
    if (value !== null) nullBitmap[row >> 3] = (nullBitmap[row >> 3] as number) | (1 << (row & 7));
  });
  const present = values.map((value) => value ?? 0);
  let data: unknown;
  if (type instanceof Decimal) {
    const words = new Uint32Array(values.length * 4);
    present.forEach((value, row) => {
      for (let k = 0; k < 4; k++) {
        words[row * 4 + k] = Number((BigInt(value as bigint) >> BigInt(32 * k)) & 0xffffffffn);
      }
    });
    data = words;
  } else if (type instanceof Float64) data = Float64Array.from(present, Number);
  else if (type instanceof Int32 || type instanceof DateDay)
    data = Int32Array.from(present, Number);
  else if (type instanceof Uint64)
    data = BigUint64Array.from(present, (value) => BigInt(value ?? 0));
  else data = BigInt64Array.from(present, (value) => BigInt(value ?? 0));
  const nullCount = values.filter((value) => value === null).length;
  return makeData({ type, length: values.length, data, nullBitmap, nullCount } as never);
}

/** A value of a vector as the columns have it: a decimal unscaled, a time in its unit. */
function plain(value: unknown, type: DataType): Plain {
  if (value === null || value === undefined) return null;
  if (type instanceof Decimal) {
    return [...(value as Uint32Array)].reduceRight(
      (sum, word, k) => (k === 3 ? BigInt(word | 0) : (sum << 32n) | BigInt(word)),
      0n,
    );
  }
  return value as Plain;
}

const random = seeded(7);
const pick = <Item>(items: readonly Item[]): Item =>
  items[Math.floor(random() * items.length)] as Item;
const some = <Item extends Plain>(rows: number, nulls: number, make: () => Item): Plain[] =>
  Array.from({ length: rows }, () => (random() < nulls ? null : make()));

const DOUBLES = [
  0,
  -0,
  0.5,
  -0.5,
  1.5,
  2.5,
  -2.5,
  0.49999999999999994,
  1e300,
  -1e300,
  2 ** 53,
  7,
  -7,
];
const SPECIAL = [...DOUBLES, Number.NaN, Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY];

describe('functions of numbers', () => {
  const away = (value: number): number =>
    Number.isFinite(value) ? Math.sign(value) * Math.round(Math.abs(value)) : value;
  const cases: Readonly<Record<string, (x: number) => number>> = {
    'abs(x)': Math.abs,
    '-x': (x) => -x,
    'sign(x)': Math.sign,
    'floor(x)': Math.floor,
    'ceil(x)': Math.ceil,
    'trunc(x)': Math.trunc,
    'round(x)': away,
    'sqrt(x)': Math.sqrt,
    'sin(x)': Math.sin,
    'power(x, 2)': (x) => x ** 2,
    'power(2, x)': (x) => 2 ** x,
    'atan2(x, x)': (x) => Math.atan2(x, x),
  };

  test.each(Object.entries(cases))('%s', async (sql, of) => {
    const values = some(60, 0.2, () => pick(SPECIAL)) as (number | null)[];
    const expected = values.map((value) => (value === null ? null : of(value)));
    expectSame(await over({ x: { type: new Float64(), values } })(sql), expected);
  });

  test('of whole numbers, also beyond what doubles hold', async () => {
    const near = [0n, 1n, -1n, 5n, -(2n ** 53n), 2n ** 40n];
    for (const pool of [near, [...near, 2n ** 53n + 1n, -(2n ** 60n) - 1n]]) {
      const values = some(40, 0.2, () => pick(pool));
      const evaluate = over({ n: { type: new Int64(), values } });
      const map = (of: (n: bigint) => bigint) =>
        values.map((value) => (value === null ? null : of(value as bigint)));
      const size = (n: bigint): bigint => (n < 0n ? -n : n);
      expect(await evaluate('abs(n)')).toEqual(map(size));
      expect(await evaluate('-n')).toEqual(map((n) => -n));
      expect(await evaluate('sign(n)')).toEqual(map((n) => (n > 0n ? 1n : n < 0n ? -1n : 0n)));
      expect(await evaluate('floor(n)')).toEqual(map((n) => n));
    }
    const least = over({ n: { type: new Int64(), values: [-(2n ** 63n)] } });
    await expect(least('-n')).rejects.toThrow('does not fit');
  });

  test('greatest and least pass over null, and NaN is the greatest', async () => {
    const values = some(80, 0.3, () => pick([...SPECIAL, 3])) as (number | null)[];
    const other = some(80, 0.3, () => pick([1, -4, 2.5, Number.NaN])) as (number | null)[];
    const type = new Float64();
    const evaluate = over({ x: { type, values }, y: { type, values: other } });
    const order = (a: number, b: number): number =>
      Number.isNaN(a) ? (Number.isNaN(b) ? 0 : 1) : Number.isNaN(b) ? -1 : a - b;
    for (const [name, sign] of [['greatest', 1] as const, ['least', -1] as const]) {
      const expected = values.map((value, row) =>
        [value, other[row] ?? null, 2].reduce<number | null>((best, next) => {
          if (next === null) return best;
          return best === null || order(next, best) * sign > 0 ? next : best;
        }, null),
      );
      expectSame(await evaluate(`${name}(x, y, 2)`), expected);
    }
  });
});

describe('arithmetic of whole numbers', () => {
  const POOLS: readonly (readonly [string, DataType, readonly bigint[]])[] = [
    ['int32', new Int32(), [0n, 1n, -1n, 7n, -7n, 2n ** 31n - 1n, -(2n ** 31n)]],
    ['int64', new Int64(), [0n, 3n, -3n, 2n ** 50n + 1n, 2n ** 53n - 1n, -(2n ** 52n) - 3n]],
    ['large int64', new Int64(), [2n ** 53n + 1n, -(2n ** 61n), 5n]],
    ['uint64', new Uint64(), [0n, 9n, 2n ** 32n + 1n, 2n ** 53n - 1n]],
    ['uint64 just beyond doubles', new Uint64(), [2n ** 53n + 1n, 2n ** 53n + 3n, 5n]],
    ['large uint64', new Uint64(), [2n ** 63n + 5n, 2n ** 53n + 1n, 8n]],
  ];
  const compute: Readonly<Record<string, (a: bigint, b: bigint) => bigint>> = {
    '+': (a, b) => a + b,
    '-': (a, b) => a - b,
    '*': (a, b) => a * b,
    '/': (a, b) => a / b,
    '%': (a, b) => a % b,
  };

  test.each(POOLS)('%s', async (_, type, pool) => {
    const isUnsigned = type instanceof Uint64;
    const [least, greatest] = isUnsigned ? [0n, 2n ** 64n - 1n] : [-(2n ** 63n), 2n ** 63n - 1n];
    for (let round = 0; round < casesOf(6, 60); round++) {
      // Long enough for the kernels, now and then.
      const rows = round === 0 ? 1_100 : 30;
      const values = some(rows, 0.3, () => pick(pool));
      const own =
        type instanceof Int32 ? values.map((n) => (n === null ? null : Number(n))) : values;
      const evaluate = over({ n: { type, values: own } });
      for (const op of Object.keys(compute)) {
        for (const by of [1n, 2n, 7n, 1_000_003n, ...(isUnsigned ? [] : [-3n, -7n])]) {
          const expected = values.map((n) =>
            n === null ? null : (compute[op] as (a: bigint, b: bigint) => bigint)(n as bigint, by),
          );
          const fits = expected.every((n) => n === null || (n >= least && n <= greatest));
          const found = evaluate(`n ${op} ${by < 0n ? `(${by})` : by}`);
          if (fits)
            expect((await found).map((n) => (n === null ? null : BigInt(n as bigint)))).toEqual(
              expected,
            );
          else await expect(found, `${op} ${by}`).rejects.toThrow('does not fit');
        }
      }
      await expect(evaluate('n % (n - n)')).rejects.toThrow(/Division by zero|does not fit/);
    }
  });

  test('has no negative zero', async () => {
    const evaluate = over({ n: { type: new Int32(), values: [0, -7, 7] } });
    for (const sql of ['n * -1 * 0', 'n % 7', '-(n * 0)', 'n / 8', 'CAST(n / -8.0 AS int)']) {
      // What divides by it tells one zero from the other.
      const found = await evaluate(`1.0 / CAST(${sql} AS double)`);
      expect(found, sql).toEqual([Infinity, Infinity, Infinity]);
    }
  });

  test('compares unsigned numbers with what they can be', async () => {
    const values = [0n, 5n, 2n ** 53n - 1n, null, 2n ** 63n, 2n ** 64n - 1n];
    for (const rows of [values, Array.from({ length: 300 }, () => values.slice(0, 4)).flat()]) {
      const evaluate = over({ n: { type: new Uint64(), values: rows } });
      for (const c of [0n, 5n, 6n, 2n ** 53n - 1n, 2n ** 63n]) {
        expect(await evaluate(`n > ${c}`)).toEqual(rows.map((n) => (n === null ? null : n > c)));
      }
    }
  });
});

describe('casts', () => {
  test('of doubles to whole numbers', async () => {
    const fitting = [0, -0.7, 0.7, 2.5, -3.9, 2 ** 31 - 0.5, -(2 ** 31)];
    const values = some(50, 0.3, () => pick(fitting)) as (number | null)[];
    const evaluate = over({ x: { type: new Float64(), values } });
    const whole = values.map((x) => (x === null ? null : Math.trunc(x) + 0));
    expectSame(await evaluate('CAST(x AS int)'), whole);
    const wide = (await evaluate('CAST(x AS bigint)')) as (bigint | null)[];
    expect(wide).toEqual(whole.map((x) => (x === null ? null : BigInt(x))));
    for (const misfit of [2 ** 31, -(2 ** 31) - 1, Number.NaN, Number.POSITIVE_INFINITY]) {
      const one = over({ x: { type: new Float64(), values: [1.5, misfit, null] } });
      await expect(one('CAST(x AS int)')).rejects.toThrow('does not fit');
      expect(await one('TRY_CAST(x AS int)')).toEqual([1, null, null]);
    }
    const large = over({ x: { type: new Float64(), values: [2 ** 60, -1, null] } });
    expect(await large('TRY_CAST(x AS bigint)')).toEqual([2n ** 60n, -1n, null]);
  });

  test('of decimals to doubles, and of timestamps to dates', async () => {
    const type = new Decimal(3, 20, 128);
    const pool = [0n, 1n, -1n, 123456n, -999n, 2n ** 53n - 1n];
    const values = some(40, 0.2, () => pick(pool));
    const evaluate = over({ d: { type, values } });
    expectSame(
      await evaluate('CAST(d AS double)'),
      values.map((d) => (d === null ? null : Number(`${d}e-3`))),
    );
    const times = some(60, 0.2, () => BigInt(Math.floor((random() - 0.5) * 4e15)));
    times.push(-1n, 0n, 86_399_999_999n, 86_400_000_000n, -86_400_000_000n);
    const days = over({ t: { type: new TimestampMicrosecond(), values: times } });
    const day = (t: bigint): number => Number((t - (((t % DAY) + DAY) % DAY)) / DAY);
    expect(await days('CAST(CAST(t AS date) AS int)')).toEqual(
      times.map((t) => (t === null ? null : day(t as bigint))),
    );
  });
});

const DAY = 86_400_000_000n;

test('arithmetic of decimals', async () => {
  const type = new Decimal(2, 12, 128);
  for (const rows of [40, 1_100]) {
    const values = some(rows, 0.3, () => pick([0n, 5n, -5n, 333n, -12_345n, 999_999_999_999n]));
    const other = some(rows, 0.2, () => pick([1n, 7n, -300n, 1_000n]));
    const evaluate = over({ d: { type, values }, e: { type, values: other } });
    const both = (of: (d: bigint, e: bigint) => bigint) =>
      values.map((d, row) => {
        const e = other[row] ?? null;
        return d === null || e === null ? null : of(d as bigint, e as bigint);
      });
    expect(await evaluate('CAST(d + e AS decimal(20, 2))')).toEqual(both((d, e) => d + e));
    expect(await evaluate('CAST(d - 1.5 AS decimal(20, 2))')).toEqual(
      values.map((d) => (d === null ? null : (d as bigint) - 150n)),
    );
    expect(await evaluate('CAST(d * e AS decimal(30, 4))')).toEqual(both((d, e) => d * e));
    const rounded = (d: bigint, e: bigint): bigint => {
      // d / e at six digits, cut at the seventh and rounded half away from zero.
      const cut = (d * 10n ** 7n) / e;
      return (cut + (cut < 0n ? -5n : 5n)) / 10n;
    };
    expect(await evaluate('CAST(d / e AS decimal(30, 6))')).toEqual(both(rounded));
    await expect(evaluate('d / (e - e)')).rejects.toThrow('Division by zero');
  }
});

describe('dates and timestamps', () => {
  const fields: Readonly<Record<string, (at: Date) => number>> = {
    year: (at) => at.getUTCFullYear(),
    quarter: (at) => Math.floor(at.getUTCMonth() / 3) + 1,
    month: (at) => at.getUTCMonth() + 1,
    day: (at) => at.getUTCDate(),
    dow: (at) => at.getUTCDay(),
    doy: (at) =>
      (Date.UTC(at.getUTCFullYear(), at.getUTCMonth(), at.getUTCDate()) -
        Date.UTC(at.getUTCFullYear(), 0, 1)) /
        86_400_000 +
      1,
    hour: (at) => at.getUTCHours(),
    minute: (at) => at.getUTCMinutes(),
    second: (at) => at.getUTCSeconds() + at.getUTCMilliseconds() / 1e3,
    millisecond: (at) => at.getUTCSeconds() * 1e3 + at.getUTCMilliseconds(),
  };
  const cut: Readonly<Record<string, (at: Date) => number>> = {
    second: (at) => Math.floor(at.getTime() / 1e3) * 1e3,
    hour: (at) => Math.floor(at.getTime() / 36e5) * 36e5,
    day: (at) => Math.floor(at.getTime() / 864e5) * 864e5,
    month: (at) => Date.UTC(at.getUTCFullYear(), at.getUTCMonth(), 1),
    year: (at) => Date.UTC(at.getUTCFullYear(), 0, 1),
  };
  const moved = (at: Date, months: number, days: number): number => {
    const first = new Date(Date.UTC(at.getUTCFullYear(), at.getUTCMonth() + months, 1));
    const last = new Date(
      Date.UTC(first.getUTCFullYear(), first.getUTCMonth() + 1, 0),
    ).getUTCDate();
    const day = first.getTime() + (Math.min(at.getUTCDate(), last) - 1 + days) * 864e5;
    return day + (((at.getTime() % 864e5) + 864e5) % 864e5);
  };
  const UNITS: readonly (readonly [string, DataType, number])[] = [
    ['seconds', new TimestampSecond(), 1e-3],
    ['milliseconds', new TimestampMillisecond(), 1],
    ['microseconds', new TimestampMicrosecond(), 1e3],
  ];

  test.each(UNITS)('in %s', async (_, type, perMilli) => {
    // Years 1910 to 2230, days that share a slot of the memory, and the borders of days.
    const millis = some(150, 0.2, () => Math.floor((random() * 1e13 - 1.9e12) / 1e3) * 1e3);
    millis.push(0, -1e3, 864e5 - 1e3, 864e5, -864e5, 4096 * 864e5, -4096 * 864e5);
    const values = millis.map((at) => (at === null ? null : BigInt((at as number) * perMilli)));
    const evaluate = over({ t: { type, values } });
    const map = (of: (at: Date) => number) =>
      millis.map((at) => (at === null ? null : of(new Date(at as number))));
    for (const [field, of] of Object.entries(fields)) {
      expectSame(await evaluate(`extract(${field} FROM t)`), map(of));
    }
    expectSame(
      await evaluate('extract(epoch FROM t)'),
      map((at) => at.getTime() / 1e3),
    );
    const same = async (sql: string, of: (at: Date) => number, per: number) => {
      const found = (await evaluate(`CAST(${sql} AS bigint)`)) as (bigint | null)[];
      expect(found, sql).toEqual(map(of).map((at) => (at === null ? null : BigInt(at * per))));
    };
    for (const [unit, of] of Object.entries(cut))
      await same(`date_trunc('${unit}', t)`, of, perMilli);
    // A time of day moves in microseconds.
    await same("t + interval '1 day 2 hours'", (at) => at.getTime() + 26 * 36e5, 1e3);
    await same("t - interval '3 days'", (at) => at.getTime() - 3 * 864e5, perMilli);
    await same("t + interval '13 months 1 day'", (at) => moved(at, 13, 1), perMilli);
  });

  test('in days, and beyond what a double holds', async () => {
    const values = some(100, 0.2, () => Math.floor(random() * 60_000 - 20_000)) as (
      | number
      | null
    )[];
    const evaluate = over({ d: { type: new DateDay(), values } });
    const map = (of: (at: Date) => number) =>
      values.map((day) => (day === null ? null : of(new Date(day * 864e5))));
    for (const field of ['year', 'month', 'dow', 'doy', 'hour'] as const) {
      expectSame(await evaluate(`extract(${field} FROM d)`), map(fields[field] as never));
    }
    expectSame(
      await evaluate("CAST(date_trunc('month', d) AS int)"),
      map((at) => (cut.month as (at: Date) => number)(at) / 864e5),
    );
    expectSame(
      await evaluate("CAST(CAST(d + interval '1 month' AS date) AS int)"),
      map((at) => moved(at, 1, 0) / 864e5),
    );
    const far = [2n ** 60n, null, 1n];
    const times = over({ t: { type: new TimestampMicrosecond(), values: far } });
    expect(await times("CAST(date_trunc('second', t) AS bigint)")).toEqual([
      (2n ** 60n / 1_000_000n) * 1_000_000n,
      null,
      0n,
    ]);
    await expect(
      over({ t: { type: new TimestampMicrosecond(), values: [2n ** 63n - 1n] } })(
        "t + interval '1 day'",
      ),
    ).rejects.toThrow('out of range');
  });
});

test('CASE, COALESCE and NULLIF choose of columns, constants and null, of every form', async () => {
  for (let round = 0; round < casesOf(5, 50); round++) {
    const rows = 40;
    const n = some(rows, 0.3, () => pick([0, 1, 5, -3])) as (number | null)[];
    const w = some(rows, 0.3, () => pick(round % 2 === 0 ? [1n, 7n] : [2n ** 60n, -1n]));
    const x = some(rows, 0.3, () => pick([0.5, -0, Number.NaN])) as (number | null)[];
    const s = some(rows, 0.3, () => pick(['', 'ab', 'é', 'none']));
    const u = some(rows, 0.3, () => pick(round % 3 === 0 ? [2n ** 63n] : [4n]));
    const evaluate = over({
      n: { type: new Int32(), values: n },
      w: { type: new Int64(), values: w },
      x: { type: new Float64(), values: x },
      s: { type: new Utf8(), values: s },
      u: { type: new Uint64(), values: u },
    });
    const of = (make: (row: number) => unknown) =>
      Array.from({ length: rows }, (_, row) => make(row));
    const wide = (value: unknown) => (value === null ? null : BigInt(value as number));
    const over0 = (row: number) => n[row] !== null && (n[row] as number) > 0;
    expect(await evaluate('coalesce(w, n, 9)')).toEqual(of((i) => wide(w[i] ?? n[i] ?? 9)));
    expect(await evaluate('coalesce(n, 9)')).toEqual(of((i) => n[i] ?? 9));
    expectSame(await evaluate('coalesce(x, 2.5)'), of((i) => x[i] ?? 2.5) as number[]);
    expect(await evaluate("coalesce(s, 'é-')")).toEqual(of((i) => s[i] ?? 'é-'));
    expect(await evaluate('coalesce(u, u)')).toEqual(of((i) => u[i]));
    expect(await evaluate("nullif(s, 'ab')")).toEqual(of((i) => (s[i] === 'ab' ? null : s[i])));
    expect(await evaluate('nullif(n, 1)')).toEqual(of((i) => (n[i] === 1 ? null : n[i])));
    expect(await evaluate("CASE WHEN n > 0 THEN s WHEN n = 0 THEN 'zero' END")).toEqual(
      of((i) => (over0(i) ? s[i] : n[i] === 0 ? 'zero' : null)),
    );
    expect(await evaluate('CASE WHEN n > 0 THEN upper(s) ELSE left(s, 1) END')).toEqual(
      of((i) =>
        s[i] === null ? null : over0(i) ? String(s[i]).toUpperCase() : String(s[i]).slice(0, 1),
      ),
    );
    expect(await evaluate('CASE WHEN n > 0 THEN w ELSE NULL END')).toEqual(
      of((i) => (over0(i) ? w[i] : null)),
    );
    expect(await evaluate("CASE WHEN s = 'ab' THEN n > 0 ELSE TRUE END")).toEqual(
      of((i) => (s[i] === 'ab' ? (n[i] === null ? null : over0(i)) : true)),
    );
  }
});

test('a comparison of a result is that of its values, in short columns and long ones', async () => {
  for (const rows of [30, 1_100, 8_195]) {
    const x = some(rows, 0.2, () => pick([...SPECIAL, 0.3])) as (number | null)[];
    const y = some(rows, 0.1, () => pick([0.3, -2, Number.NaN, 0])) as (number | null)[];
    const n = some(rows, 0.2, () => pick([0n, 7n, -7n, 2n ** 40n, -(2n ** 33n)])) as (
      | bigint
      | null
    )[];
    const evaluate = over({
      x: { type: new Float64(), values: x },
      y: { type: new Float64(), values: y },
      n: { type: new Int64(), values: n },
    });
    const same = async (sql: string, of: (row: number) => boolean | null) => {
      const expected = Array.from({ length: rows }, (_, row) => of(row));
      expectSame(await evaluate(sql), expected, () => `${sql} of ${rows} rows`);
    };
    // NaN is the greatest number.
    const above = (a: number | null, c: number) => a === null || Number.isNaN(a) || a > c;
    await same('x * 2 > 0.5', (i) => (x[i] === null ? null : above((x[i] as number) * 2, 0.5)));
    await same('1 - x <= 0.7', (i) => (x[i] === null ? null : !above(1 - (x[i] as number), 0.7)));
    await same('x + y > 0', (i) =>
      x[i] === null || y[i] === null ? null : above((x[i] as number) + (y[i] as number), 0),
    );
    await same('n % 7 = 0', (i) => (n[i] === null ? null : (n[i] as bigint) % 7n === 0n));
    await same('n * 3 - 11 >= 10', (i) =>
      n[i] === null ? null : (n[i] as bigint) * 3n - 11n >= 10n,
    );
    await same('n / -7 <> 1', (i) => (n[i] === null ? null : (n[i] as bigint) / -7n !== 1n));
    await expect(evaluate(`n * ${2n ** 55n} > 0`)).rejects.toThrow('does not fit');
    await expect(evaluate('100 / n > 1')).rejects.toThrow('Division by zero');
  }
});

test('whole numbers become texts as String writes them', async () => {
  const random = seeded(4711);
  const near = [0n, 9n, 10n, 99n, 1_000n, 999_999_999n, 10n ** 9n, 10n ** 9n + 1n, 10n ** 15n];
  const ints = [...near, 2n ** 31n, 2n ** 32n, 2n ** 53n - 1n].flatMap((value) => [value, -value]);
  const drawn = Array.from({ length: casesOf(500, 50_000) }, () =>
    BigInt(Math.trunc((random() - 0.5) * 2 ** (54 * random()))),
  );
  const small = [...ints, ...drawn, null];
  const wide = [...small, 2n ** 63n - 1n, -(2n ** 63n)];
  const text = (value: bigint | null): string | null => (value === null ? null : String(value));
  expect(await over({ n: { type: new Int64(), values: small } })('CAST(n AS string)')).toEqual(
    small.map(text),
  );
  expect(await over({ n: { type: new Int64(), values: wide } })('CAST(n AS string)')).toEqual(
    wide.map(text),
  );
  const whole = small.map((value) => (value === null ? null : Number(BigInt.asIntN(32, value))));
  expect(await over({ n: { type: new Int32(), values: whole } })('CAST(n AS string)')).toEqual(
    whole.map((value) => (value === null ? null : String(value))),
  );
});

test('days beyond 32 bits are not taken for those that they are when cut', async () => {
  const day = 86_400n;
  const values = [5n + 2n ** 32n, 5n, 5n - 2n ** 32n, 5n, 0n].map((days) => days * day);
  const dates = over({ t: { type: new TimestampSecond(), values } });
  const years = (await dates("date_part('year', t)")) as number[];
  expect(years[1]).toBe(1970);
  expect(years[3]).toBe(1970);
  expect(years[4]).toBe(1970);
  expect(years[0]).toBeGreaterThan(1_000_000);
  expect(years[2]).toBeLessThan(-1_000_000);
});
