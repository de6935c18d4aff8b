// Random rows of many types with nulls, as an Arrow table and as a table of DuckDB.
import { DuckDBInstance } from '@duckdb/node-api';
import * as arrow from 'apache-arrow';
import { quote, WORDS } from './predicates.mjs';

const DAY = 86_400_000;

/**
 * @param rng a generator of predicates.mjs
 * @returns columns: by name DuckDB's type, Arrow's type and the values; the same as an Arrow `table` and its
 * `schema`, as `vectors`, and as the table `t` of a connection `db` to DuckDB
 */
export async function randomRows({ random, int, pick }, ROWS) {
  const maybe = (make, nulls = 0.2) =>
    Array.from({ length: ROWS }, () => (random() < nulls ? null : make()));

  const struct = new arrow.Struct([
    new arrow.Field('a', new arrow.Int32(), true),
    new arrow.Field('b', new arrow.Utf8(), true),
  ]);
  // name -> DuckDB type, Arrow type, values as Arrow's builders take them, value as SQL
  const columns = {
    i8: ['TINYINT', new arrow.Int8(), maybe(() => int(256) - 128)],
    i32: [
      'INTEGER',
      new arrow.Int32(),
      maybe(() => (random() < 0.5 ? int(20) - 10 : int(2 ** 31) - 2 ** 30)),
    ],
    u32: ['UINTEGER', new arrow.Uint32(), maybe(() => (random() < 0.5 ? int(20) : int(2 ** 32)))],
    n64: ['BIGINT', new arrow.Int64(), maybe(() => BigInt(int(2000) - 1000))],
    i64: [
      'BIGINT',
      new arrow.Int64(),
      maybe(() =>
        pick([
          9007199254740993n,
          9007199254740992n,
          2n ** 63n - 1n,
          -(2n ** 63n),
          0n,
          1n,
          BigInt(int(1e9)),
        ]),
      ),
    ],
    f: [
      'DOUBLE',
      new arrow.Float64(),
      maybe(() => pick([0, -0, 0.1, 0.5, 1, -1, 100, random() * 200 - 100, random()])),
    ],
    g: [
      'DOUBLE',
      new arrow.Float64(),
      maybe(() =>
        random() < 0.1
          ? pick([Number.NaN, Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY])
          : Math.round(random() * 20) / 2,
      ),
    ],
    s: ['VARCHAR', new arrow.Utf8(), maybe(() => pick(WORDS))],
    c: ['VARCHAR', new arrow.Utf8(), maybe(() => `k0${int(5)}`, 0)],
    dict: [
      'VARCHAR',
      new arrow.Dictionary(new arrow.Utf8(), new arrow.Int32()),
      maybe(() => pick(WORDS.slice(0, 9))),
    ],
    b: ['BOOLEAN', new arrow.Bool(), maybe(() => random() < 0.5)],
    d: ['DATE', new arrow.DateDay(), maybe(() => new Date((int(30000) - 4000) * DAY))],
    ts: [
      'TIMESTAMP',
      new arrow.TimestampMicrosecond(),
      maybe(() => (int(30000) - 4000) * DAY + int(DAY)),
    ],
    dec: ['DECIMAL(8,2)', new arrow.Decimal(2, 8, 128), maybe(() => int(20000) - 10000)],
    l: [
      'VARCHAR[]',
      new arrow.List(new arrow.Field('item', new arrow.Utf8(), true)),
      maybe(() => Array.from({ length: int(4) }, () => (random() < 0.1 ? null : pick(WORDS)))),
    ],
    st: [
      'STRUCT(a INTEGER, b VARCHAR)',
      struct,
      maybe(() => ({ a: random() < 0.2 ? null : int(20), b: random() < 0.2 ? null : pick(WORDS) })),
    ],
  };

  const words128 = (values) => {
    const out = new Uint32Array(values.length * 4);
    values.forEach((value, i) => {
      let v = BigInt.asUintN(128, BigInt(value ?? 0));
      for (let k = 0; k < 4; k++) {
        out[i * 4 + k] = Number(v & 0xffffffffn);
        v >>= 32n;
      }
    });
    return out;
  };
  const bitmap = (values) => {
    const out = new Uint8Array(Math.ceil(values.length / 64) * 8);
    values.forEach((value, i) => {
      if (value !== null) out[i >> 3] |= 1 << (i & 7);
    });
    return out;
  };
  const vectors = {};
  for (const [name, [, type, values]] of Object.entries(columns)) {
    if (name === 'dec') {
      vectors[name] = arrow.makeVector(
        arrow.makeData({ type, length: ROWS, nullBitmap: bitmap(values), data: words128(values) }),
      );
    } else if (name === 'ts') {
      const data = BigInt64Array.from(values, (value) => BigInt(value ?? 0) * 1000n);
      vectors[name] = arrow.makeVector(
        arrow.makeData({ type, length: ROWS, nullBitmap: bitmap(values), data }),
      );
    } else vectors[name] = arrow.vectorFromArray(values, type);
  }
  const table = new arrow.Table(vectors);
  const schema = new arrow.Schema(
    Object.entries(columns).map(([name, [, type]]) => new arrow.Field(name, type, true)),
  );

  const sqlValue = (name, value) => {
    if (value === null) return 'NULL';
    if (name === 'st') return `{'a': ${sqlValue('a', value.a)}, 'b': ${sqlValue('b', value.b)}}`;
    if (name === 'l') return `[${value.map((item) => sqlValue('s', item)).join(', ')}]::VARCHAR[]`;
    if (name === 'd') return `DATE '${value.toISOString().slice(0, 10)}'`;
    if (name === 'ts')
      return `TIMESTAMP '${new Date(value).toISOString().replace('T', ' ').slice(0, -1)}'`;
    if (name === 'dec') return `CAST(${value} AS DECIMAL(18,0)) / 100`;
    if (
      typeof value === 'number' &&
      (!Number.isInteger(value) || Object.is(value, -0) || name === 'f' || name === 'g')
    ) {
      return `'${Object.is(value, -0) ? '-0' : value}'::DOUBLE`;
    }
    return typeof value === 'string' ? quote(value) : String(value);
  };
  const db = await (await DuckDBInstance.create(':memory:')).connect();
  await db.run(
    `CREATE TABLE t (${Object.entries(columns)
      .map(([name, [type]]) => `${name} ${type}`)
      .join(', ')})`,
  );
  const rows = Array.from(
    { length: ROWS },
    (_, i) =>
      `(${Object.entries(columns)
        .map(([name, [, , values]]) =>
          name === 'dec' && values[i] !== null
            ? `CAST('${(values[i] / 100).toFixed(2)}' AS DECIMAL(8,2))`
            : sqlValue(name, values[i]),
        )
        .join(', ')})`,
  );
  await db.run(`INSERT INTO t VALUES ${rows.join(',\n')}`);
  return { columns, vectors, table, schema, db };
}
