/** SELECT statements on 1,000,000 rows, beside DuckDB on its own file and on Parquet. */
import { arrowTable, texts } from '../harness/data.mjs';
import { Stores } from '../harness/stores.mjs';
import { random } from './random.mjs';
import { ROWS } from './reads.mjs';

const SAMPLES = { samples: 9, warmups: 2 };

/** Whole numbers of 64 bits, 1,000 texts, 4 texts, and a key of 10,000 rows of another table. */
function sales(rows) {
  const next = random(7);
  const int = (below) => Math.floor(next() * below);
  const places = ['north', 'south', 'east', 'west'];
  return {
    id: BigInt64Array.from({ length: rows }, () => BigInt(int(2 ** 31)) * BigInt(int(2 ** 20))),
    price: Float64Array.from({ length: rows }, () => int(1e6) / 100),
    quantity: Int32Array.from({ length: rows }, () => int(100)),
    item: Int32Array.from({ length: rows }, () => int(10_000)),
    category: texts(rows, () => `category-${int(1_000)}`),
    place: texts(rows, () => places[int(4)]),
  };
}

const utf8 = (arrow, { offsets, bytes }) => [
  new arrow.Utf8(),
  { valueOffsets: offsets, data: bytes },
];

const salesTable = (arrow, { id, price, quantity, item, category, place }) =>
  arrowTable(arrow, id.length, {
    id: [new arrow.Int64(), { data: id }],
    price: [new arrow.Float64(), { data: price }],
    quantity: [new arrow.Int32(), { data: quantity }],
    item: [new arrow.Int32(), { data: item }],
    category: utf8(arrow, category),
    place: utf8(arrow, place),
  });

function itemsTable(arrow) {
  const rows = 10_000;
  return arrowTable(arrow, rows, {
    number: [new arrow.Int32(), { data: Int32Array.from({ length: rows }, (_, row) => row) }],
    weight: [
      new arrow.Float64(),
      { data: Float64Array.from({ length: rows }, (_, row) => row / 7) },
    ],
    label: utf8(
      arrow,
      texts(rows, (row) => `label ${row % 50}`),
    ),
  });
}

const TYPES = {
  id: 'BIGINT',
  price: 'DOUBLE',
  quantity: 'INTEGER',
  item: 'INTEGER',
  category: 'VARCHAR',
  place: 'VARCHAR',
};
const ITEM_TYPES = { number: 'INTEGER', weight: 'DOUBLE', label: 'VARCHAR' };

/** At most three times DuckDB's time, warm. */
const NEAR = { times: 1 / 3, against: 'duckdb' };
const STATEMENTS = [
  ['group by 1,000 texts, avg', 'SELECT category, avg(price) FROM sales GROUP BY category', 40],
  [
    'filtered sum by 4 groups',
    'SELECT place, sum(price) FROM sales WHERE quantity < 50 GROUP BY place',
    15,
  ],
  ['count distinct of int64', 'SELECT count(DISTINCT id) FROM sales', 60],
  [
    'join with 10,000 rows, sum by 50 labels',
    'SELECT i.label, sum(s.price) FROM sales s JOIN items i ON s.item = i.number GROUP BY i.label',
    120,
  ],
  [
    'join with 10,000 rows, count',
    'SELECT count(*) FROM sales s JOIN items i ON s.item = i.number WHERE i.weight > 100',
  ],
  [
    'group by two keys',
    'SELECT place, quantity, count(*), max(price) FROM sales GROUP BY place, quantity',
  ],
  [
    'top 10 groups',
    'SELECT category, sum(price) AS s FROM sales GROUP BY category ORDER BY s DESC LIMIT 10',
  ],
  ['sums of integers', 'SELECT sum(quantity), avg(id) FROM sales'],
  ['bounds of four columns', 'SELECT min(price), max(id), min(category), max(place) FROM sales'],
  [
    'group by an expression',
    'SELECT quantity % 10, avg(price * 1.1) FROM sales WHERE price > 100 GROUP BY quantity % 10',
  ],
  ['distinct texts', 'SELECT DISTINCT category FROM sales'],
  [
    'row numbers of partitions',
    'SELECT max(r) FROM (SELECT row_number() OVER (PARTITION BY category ORDER BY price) AS r FROM sales) q',
  ],
];

export async function* sqlWorkloads(ctx) {
  const stores = await Stores.open({ ...ctx, peers: { ...ctx.peers, lancedb: undefined } }, 'sql');
  const columns = sales(ctx.size(ROWS));
  await stores.create('sales', (arrow) => salesTable(arrow, columns));
  await stores.create('items', (arrow) => itemsTable(arrow));
  await stores.toDuck('sales', TYPES);
  await stores.toDuck('items', ITEM_TYPES);
  for (const [name, sql, atMost] of STATEMENTS) {
    const sides = stores.reads(
      { ours: stores.ours },
      (db) => db.sql(sql).toArrow(),
      () => sql,
    );
    const goals = atMost === undefined ? [NEAR] : [{ atMost }, NEAR];
    yield { name, goals, ...SAMPLES, sides };
  }
  stores.close();
}
