/**
 * Builds the catalog that the browser tests and the screenshots look at: a table of people with
 * vectors, texts, versions, tags and a branch; 10 million rows; names and values that are markup;
 * and, where asked for, ten thousand tables.
 */
import { connect, Index } from '../../../dist/index.js';
import * as arrow from '../../../node_modules/apache-arrow/Arrow.node.mjs';

const { Field, FixedSizeList, Float32, Float64, Int32, Int64, Schema, Struct, Utf8, makeData } =
  arrow;

/** Text that would run, or break out of an attribute, where it were taken for markup. */
export const HOSTILE = [
  '<img src=x onerror="window.pwned=1">',
  '"><script>window.pwned=2</script>',
  "' onmouseover='window.pwned=3",
  'javascript:window.pwned=4',
  '{{constructor.constructor("window.pwned=5")()}}',
  '\u202e\u0000\ud800 control\r\nlines',
];
/** Every character that a component of an id may have. */
export const EVERY_CHARACTER =
  '__proto__.-ABCDEFGHIJKLMNOPQRSTUVWXYZ_abcdefghijklmnopqrstuvwxyz.0123456789-';

const WORDS = ['catalog', 'vector', 'index', 'branch', 'snapshot', 'manifest', 'query', 'batch'];
const NAMES = ['Ada', 'Grace', 'Edsger', 'Barbara', 'Donald', 'Katherine', 'Alan', 'Radia'];
const CITIES = ['London', 'New York', 'Rotterdam', 'Los Angeles', 'Milwaukee', null];

/** Numbers that are the same in each run. */
function random(seed) {
  let state = seed;
  return () => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return state / 2 ** 32;
  };
}

export async function buildCatalog(root, { tenMillion = 10_000_000, tables = 0 } = {}) {
  const db = await connect(root);
  await db.createNamespace(['prod'], { properties: { owner: 'search team' } });
  await db.createNamespace(['prod', 'search']);
  await buildPeople(db);
  await buildHostile(db);
  const columns = (of) =>
    Object.fromEntries(Array.from({ length: 40 }, (_, at) => [`c${at}`, of + at]));
  await db.createTable('many-columns', [1000, 0, 2000].map(columns));
  if (tenMillion > 0) await db.createTable('events', numberRows(tenMillion), ['prod']);
  if (tables > 0) {
    await db.createNamespace(['many']);
    for (let at = 0; at < tables; at += 50) {
      const names = Array.from({ length: 50 }, (_, i) => `t${String(at + i).padStart(5, '0')}`);
      await Promise.all(names.map((name) => db.createTable(name, [{ id: at }], ['many'])));
    }
  }
  await db.close();
}

async function buildPeople(db) {
  const next = random(7);
  const person = (id) => {
    const group = Math.floor(next() * 3);
    return {
      id: BigInt(id),
      name: NAMES[Math.floor(next() * NAMES.length)],
      age: 18 + Math.floor((next() + next() + next()) * 24),
      city: CITIES[Math.floor(next() * CITIES.length)],
      score: Math.round(next() ** 3 * 1000) / 10,
      joined: new Date(Date.UTC(2020, 0, 1) + Math.floor(next() * 2000) * 86_400_000),
      bio: Array.from({ length: 6 }, () => WORDS[Math.floor(next() * WORDS.length)]).join(' '),
      vector: Array.from({ length: 32 }, (_, d) => (d % 3 === group ? 2 : 0) + next() - 0.5),
    };
  };
  const vector = new FixedSizeList(32, new Field('item', new Float32(), true));
  const rows = Array.from({ length: 20_000 }, (_, id) => person(id));
  const schema = new Schema([
    new Field('id', new Int64(), false),
    new Field('name', new Utf8(), true),
    new Field('age', new Int32(), true),
    new Field('city', new Utf8(), true),
    new Field('score', new Float64(), true),
    new Field('joined', new arrow.DateDay(), true),
    new Field('bio', new Utf8(), true),
    new Field('vector', vector, true),
  ]);
  const users = await db.createTable('user', rows, ['prod', 'search'], { schema });
  await users.createIndex('bio', { config: Index.fts() });
  await (await users.tags()).create('first', 1);
  await users.delete('age < 20');
  await users.add(Array.from({ length: 500 }, (_, id) => person(20_000 + id)));
  await (await users.branches()).create('trial');
  await users.update({ where: 'city IS NULL', values: { city: 'unknown' } });
}

async function buildHostile(db) {
  await db.createNamespace([EVERY_CHARACTER]);
  const rows = HOSTILE.map((text, id) => ({ id, [HOSTILE[0]]: text, [HOSTILE[1]]: [text] }));
  const table = await db.createTable(EVERY_CHARACTER, rows.slice(0, 5), [EVERY_CHARACTER]);
  await table.add(rows.slice(5));
}

/** Rows of an int64 and a float64, made batch by batch: `id` is the number of the row. */
export function numberRows(count, batchRows = 1 << 18) {
  const schema = new Schema([
    new Field('id', new Int64(), false),
    new Field('value', new Float64(), true),
  ]);
  function* batches() {
    for (let from = 0; from < count; from += batchRows) {
      const length = Math.min(batchRows, count - from);
      const ids = new BigInt64Array(length);
      const values = new Float64Array(length);
      for (let at = 0; at < length; at++) {
        ids[at] = BigInt(from + at);
        values[at] = ((from + at) * 7919) % 1000;
      }
      const children = [
        makeData({ type: new Int64(), data: ids }),
        makeData({ type: new Float64(), data: values }),
      ];
      const data = makeData({ type: new Struct(schema.fields), length, children });
      yield new arrow.RecordBatch(schema, data);
    }
  }
  return {
    schema,
    [Symbol.asyncIterator]: async function* () {
      yield* batches();
    },
  };
}
