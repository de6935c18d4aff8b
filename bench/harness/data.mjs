/** The data of the bench, as plain buffers, so that both releases of Arrow wrap the same ones. */
import { random } from '../workloads/random.mjs';

const LETTERS = 'abcdefghijklmnopqrstuvwxyz012345';

/** Texts of one column as Arrow keeps them. */
export function texts(rows, make) {
  const encoder = new TextEncoder();
  const parts = [];
  const offsets = new Int32Array(rows + 1);
  for (let row = 0; row < rows; row++) {
    const bytes = encoder.encode(make(row));
    parts.push(bytes);
    offsets[row + 1] = offsets[row] + bytes.length;
  }
  return { offsets, bytes: Buffer.concat(parts) };
}

/** Rows of (id, x, category, text): whole numbers upwards, uniform in [0, 1), 20 texts, 36 to 44 letters. */
export function tabular(rows, firstId = 0) {
  const next = random(42);
  const ids = BigInt64Array.from({ length: rows }, (_, row) => BigInt(firstId + row));
  const x = Float64Array.from({ length: rows }, () => next());
  const category = texts(rows, () => `k${String(Math.floor(next() * 20)).padStart(2, '0')}`);
  const letter = () => LETTERS[Math.floor(next() * 32)];
  const text = texts(rows, () =>
    Array.from({ length: 36 + Math.floor(next() * 9) }, letter).join(''),
  );
  return { rows, ids, x, category, text };
}

/** The same rows with other ids. */
export function shifted(columns, firstId) {
  const ids = BigInt64Array.from({ length: columns.rows }, (_, row) => BigInt(firstId + row));
  return { ...columns, ids };
}

/** A table of `columns`: `{name: [type, data], ...}`, where data are parts of `makeData`. */
export function arrowTable(arrow, rows, columns) {
  const { Field, makeData, RecordBatch, Schema, Struct, Table } = arrow;
  const entries = Object.entries(columns);
  const schema = new Schema(entries.map(([name, [type]]) => new Field(name, type, true)));
  const children = entries.map(([, [type, data]]) => makeData({ type, length: rows, ...data }));
  const data = makeData({ type: new Struct(schema.fields), length: rows, children });
  return new Table(schema, [new RecordBatch(schema, data)]);
}

const utf8 = (arrow, { offsets, bytes }) => [
  new arrow.Utf8(),
  { valueOffsets: offsets, data: bytes },
];

export function tableOf(arrow, { rows, ids, x, category, text }) {
  return arrowTable(arrow, rows, {
    id: [new arrow.Int64(), { data: ids }],
    x: [new arrow.Float64(), { data: x }],
    category: utf8(arrow, category),
    text: utf8(arrow, text),
  });
}

/** (id, vector float32[dimension]) of `values`, whose ids begin at `firstId`. */
export function vectorTable(arrow, values, dimension, firstId = 0) {
  const { Field, FixedSizeList, Float32, Int64, makeData } = arrow;
  const rows = values.length / dimension;
  const type = new FixedSizeList(dimension, new Field('item', new Float32(), true));
  const ids = BigInt64Array.from({ length: rows }, (_, row) => BigInt(firstId + row));
  const child = makeData({ type: new Float32(), data: values });
  return arrowTable(arrow, rows, { id: [new Int64(), { data: ids }], vector: [type, { child }] });
}

/** `rows` of (id, c0, c1, ...), all float64 but the id. */
export function wideTable(arrow, rows, width) {
  const next = random(5);
  const ids = BigInt64Array.from({ length: rows }, (_, row) => BigInt(row));
  const columns = { id: [new arrow.Int64(), { data: ids }] };
  for (let column = 0; column < width; column++) {
    const data = Float64Array.from({ length: rows }, () => next());
    columns[`c${column}`] = [new arrow.Float64(), { data }];
  }
  return arrowTable(arrow, rows, columns);
}

const HOSTS = ['eu-west', 'eu-north', 'us-east', 'us-west', 'ap-south'];
const ROUTES = ['/v1/orders', '/v1/users', '/v1/search', '/health', '/v1/carts/items'];

/** Lines of a log: time, level, host, route, status, milliseconds and a message. */
export function logTable(arrow, rows) {
  const next = random(99);
  const pick = (list) => list[Math.floor(next() * list.length)];
  let now = 1_700_000_000_000;
  const at = BigInt64Array.from({ length: rows }, () => {
    now += Math.floor(next() * 40);
    return BigInt(now);
  });
  const status = Int32Array.from({ length: rows }, () => (next() < 0.97 ? 200 : 503));
  const took = Float64Array.from({ length: rows }, () => Math.round(next() * 1e4) / 100);
  const level = texts(rows, (row) => (status[row] === 200 ? 'INFO' : 'ERROR'));
  const host = texts(rows, () => `${pick(HOSTS)}-${Math.floor(next() * 40)}`);
  const route = texts(rows, () => pick(ROUTES));
  const message = texts(
    rows,
    (row) => `request ${Math.floor(next() * 1e6)} answered ${status[row]} in ${took[row]} ms`,
  );
  return arrowTable(arrow, rows, {
    at: [new arrow.TimestampMillisecond('UTC'), { data: at }],
    level: utf8(arrow, level),
    host: utf8(arrow, host),
    route: utf8(arrow, route),
    status: [new arrow.Int32(), { data: status }],
    took: [new arrow.Float64(), { data: took }],
    message: utf8(arrow, message),
  });
}
