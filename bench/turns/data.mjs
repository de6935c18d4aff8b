/** The catalogs that the requests meet: tables of about 1 GB each, in several shapes. */
import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { connect } from '../../dist/index.js';
import * as arrow from '../../node_modules/apache-arrow/Arrow.node.mjs';

const { Field, FixedSizeList, Float32, Float64, Int32, Int64, List, Utf8 } = arrow;
const { DateDay, Decimal, makeData, RecordBatch, Schema, Struct } = arrow;

export const DIMENSION = 1_536;

export const mixed = (row) => Math.imul(row ^ 0x5bd1e995, 2_654_435_761) >>> 0;

const field = (name, type) => new Field(name, type, true);

function batch(schema, rows, children) {
  const data = makeData({ type: new Struct(schema.fields), length: rows, children });
  return new RecordBatch(schema, data);
}

const numbers = (type, data) => makeData({ type, length: data.length, data });

/** `most` bytes of room; `write(bytes, at, row)` gives where the text of the row ends. */
function texts(rows, most, write) {
  const bytes = Buffer.allocUnsafeSlow(most);
  const offsets = new Int32Array(rows + 1);
  for (let row = 0; row < rows; row++) offsets[row + 1] = write(bytes, offsets[row], row);
  const data = new Uint8Array(bytes.buffer, 0, offsets[rows]);
  return makeData({ type: new Utf8(), length: rows, valueOffsets: offsets, data });
}

const narrowSchema = new Schema([
  field('id', new Int32()),
  field('x', new Float64()),
  field('s', new Utf8()),
  field('day', new DateDay()),
]);

function* narrow(rows) {
  const size = 100_000;
  for (let first = 0; first < rows; first += size) {
    const count = Math.min(size, rows - first);
    const ids = Int32Array.from({ length: count }, (_, row) => first + row);
    yield batch(narrowSchema, count, [
      numbers(new Int32(), ids),
      numbers(
        new Float64(),
        Float64Array.from(ids, (id) => mixed(id) / 7),
      ),
      texts(
        count,
        count * 16,
        (bytes, at, row) => at + bytes.write(`t${mixed(first + row).toString(36)} z`, at),
      ),
      numbers(
        new DateDay(),
        Int32Array.from(ids, (id) => mixed(id) % 20_000),
      ),
    ]);
  }
}

const decimalType = new Decimal(2, 20, 128);
const moneySchema = new Schema([
  field('id', new Int64()),
  field('price', decimalType),
  field('tags', new List(field('item', new Int32()))),
]);

function* money(rows) {
  const size = 50_000;
  for (let first = 0; first < rows; first += size) {
    const count = Math.min(size, rows - first);
    const words = new Uint32Array(count * 4);
    for (let row = 0; row < count; row++) words[4 * row] = mixed(first + row) % 1_000_000;
    const offsets = Int32Array.from({ length: count + 1 }, (_, row) => row * 4);
    const tags = Int32Array.from({ length: count * 4 }, (_, at) => mixed(at) % 1_000);
    const type = moneySchema.fields[2].type;
    yield batch(moneySchema, count, [
      numbers(
        new Int64(),
        BigInt64Array.from({ length: count }, (_, row) => BigInt(first + row)),
      ),
      makeData({ type: decimalType, length: count, data: words }),
      makeData({ type, length: count, valueOffsets: offsets, child: numbers(new Int32(), tags) }),
    ]);
  }
}

const vectorType = new FixedSizeList(DIMENSION, field('item', new Float32()));
const vectorSchema = new Schema([field('id', new Int32()), field('vector', vectorType)]);

function* vectors(rows) {
  const size = 2_000;
  for (let first = 0; first < rows; first += size) {
    const count = Math.min(size, rows - first);
    const values = new Float32Array(count * DIMENSION);
    for (let at = 0; at < values.length; at++)
      values[at] = (mixed(first * 31 + at) % 2_000) / 1_000 - 1;
    yield batch(vectorSchema, count, [
      numbers(
        new Int32(),
        Int32Array.from({ length: count }, (_, row) => first + row),
      ),
      makeData({ type: vectorType, length: count, child: numbers(new Float32(), values) }),
    ]);
  }
}

const textSchema = new Schema([field('id', new Int32()), field('s', new Utf8())]);

function* longTexts(rows, length) {
  const size = Math.max(1, Math.floor(16_000_000 / length));
  const block = Buffer.from(
    Array.from({ length: 4_096 }, (_, at) => mixed(at).toString(36)).join(' '),
  );
  for (let first = 0; first < rows; first += size) {
    const count = Math.min(size, rows - first);
    yield batch(textSchema, count, [
      numbers(
        new Int32(),
        Int32Array.from({ length: count }, (_, row) => first + row),
      ),
      texts(count, count * length, (bytes, at, row) => {
        for (let done = 0; done < length; done += block.length) {
          block.copy(bytes, at + done, 0, Math.min(block.length, length - done));
        }
        bytes.write(String(first + row), at);
        return at + length;
      }),
    ]);
  }
}

const listSchema = new Schema([
  field('id', new Int32()),
  field('l', new List(field('item', new Int32()))),
]);

/** A list of very many values in each row. */
function* longLists(rows, length) {
  for (let row = 0; row < rows; row++) {
    const values = Int32Array.from({ length }, (_, at) => mixed(at + row));
    const type = listSchema.fields[1].type;
    yield batch(listSchema, 1, [
      numbers(new Int32(), Int32Array.of(row)),
      makeData({
        type,
        length: 1,
        valueOffsets: Int32Array.of(0, length),
        child: numbers(new Int32(), values),
      }),
    ]);
  }
}

const wideSchema = new Schema(
  Array.from({ length: 1_000 }, (_, at) => field(`c${at}`, new Float64())),
);

function* wide(rows) {
  const size = 8_192;
  for (let first = 0; first < rows; first += size) {
    const count = Math.min(size, rows - first);
    yield batch(
      wideSchema,
      count,
      wideSchema.fields.map((_, column) =>
        numbers(
          new Float64(),
          Float64Array.from({ length: count }, (__, row) => mixed(first + row + column)),
        ),
      ),
    );
  }
}

async function fragments(db, name, schema, count, rows, make) {
  const table = await db.createTable(name, [], undefined, { schema });
  for (let at = 0; at < count; at++) await table.add([make(at, rows)]);
}

function narrowAt(first, rows) {
  const ids = Int32Array.from({ length: rows }, (_, row) => first + row);
  return batch(narrowSchema, rows, [
    numbers(new Int32(), ids),
    numbers(
      new Float64(),
      Float64Array.from(ids, (id) => mixed(id) / 7),
    ),
    texts(
      rows,
      rows * 16,
      (bytes, at, row) => at + bytes.write(`t${mixed(first + row).toString(36)} z`, at),
    ),
    numbers(
      new DateDay(),
      Int32Array.from(ids, (id) => mixed(id) % 20_000),
    ),
  ]);
}

/** Name -> how it is made, of a scale where 1 is about 1 GB. */
const TABLES = {
  narrow: (db, scale) => db.createTable('narrow', narrow(24e6 * scale)),
  money: (db, scale) => db.createTable('money', money(10e6 * scale)),
  vectors: (db, scale) => db.createTable('vectors', vectors(200e3 * scale)),
  texts: (db, scale) => db.createTable('texts', longTexts(50_000 * scale, 20_000)),
  huge: (db, scale) => db.createTable('huge', longTexts(3, Math.floor(100e6 * scale))),
  lists: (db, scale) => db.createTable('lists', longLists(3, Math.floor(10e6 * scale))),
  wide: (db, scale) => db.createTable('wide', wide(120e3 * scale)),
  many: (db, scale) =>
    fragments(db, 'many', narrowSchema, 10_000 * scale, 50, (at, rows) =>
      narrowAt(at * rows, rows),
    ),
  widemany: (db, scale) =>
    fragments(db, 'widemany', wideSchema, 1_000 * scale, 8, (at, rows) =>
      batch(
        wideSchema,
        rows,
        wideSchema.fields.map((_, column) =>
          numbers(new Float64(), new Float64Array(rows).fill(at + column)),
        ),
      ),
    ),
};

/** Makes those that are not there. */
export async function makeTables(folder, names, scale) {
  mkdirSync(folder, { recursive: true });
  const db = await connect(folder, { durability: 'relaxed' });
  for (const name of names ?? Object.keys(TABLES)) {
    const done = join(folder, `${name}.made`);
    if (existsSync(done)) continue;
    await db.dropTable(name).catch(() => {});
    const began = performance.now();
    await TABLES[name](db, scale);
    writeFileSync(done, '');
    console.log(`made ${name} in ${((performance.now() - began) / 1_000).toFixed(1)} s`);
  }
  await db.close();
}

export { arrow, batch, field, longTexts, narrowAt, narrowSchema, numbers, wideSchema };
