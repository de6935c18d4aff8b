/**
 * Programs as users of LanceDB's SDK write them, run with LanceDB and with dirspace in its place: what they show has to
 * be the same. Each program is given the library and a folder of its own, and nothing else.
 */
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import * as lancedb from '@lancedb/lancedb';
import * as arrow from 'apache-arrow';
import * as dirspace from '../../../dist/index.js';
import { folder } from './harness.mjs';

/** Of rows and results what can be compared: plain values, numbers rounded as float32 has them. */
function plain(value) {
  if (typeof value === 'bigint') return Number(value);
  if (typeof value === 'number') return Math.fround(value);
  if (typeof value !== 'object' || value === null) return value ?? null;
  if (value instanceof Date) return value.getTime();
  if (Array.isArray(value)) return value.map(plain);
  if (ArrayBuffer.isView(value)) return Array.from(value, plain);
  const json = typeof value.toJSON === 'function' ? value.toJSON() : value;
  if (json !== value) return plain(json);
  return Object.fromEntries(Object.entries(value).map(([name, item]) => [name, plain(item)]));
}

/** The words that a program may look for in the message of an error. */
const WORDS = ['was not found', 'already exists', 'cannot be modified', 'is closed'];

async function refusal(promise) {
  const message = await promise.then(
    () => 'no error',
    (error) => String(error.message),
  );
  return WORDS.find((word) => message.includes(word)) ?? message;
}

const outcomes = [];

function program(name, run) {
  test(name, async () => {
    const shown = async (library) => plain(await run(library, folder()));
    const theirs = await shown(lancedb);
    let ours;
    try {
      ours = await shown(dirspace);
      assert.deepEqual(ours, theirs);
      outcomes.push([name, 'same']);
    } catch (error) {
      outcomes.push([name, 'DIFFERS']);
      throw error;
    }
  });
}

after(() => {
  const same = outcomes.filter(([, outcome]) => outcome === 'same').length;
  console.log(`\n${same} of ${outcomes.length} programs show the same with their import changed:`);
  for (const [name, outcome] of outcomes) console.log(`  ${outcome.padEnd(8)} ${name}`);
});

const people = [
  { id: 1, name: 'Ada', age: 36, vector: [1, 0] },
  { id: 2, name: 'Grace', age: 85, vector: [0, 1] },
  { id: 3, name: 'Alan', age: 41, vector: [0.5, 0.5] },
];

program('make a table, search it, and count', async ({ connect }, at) => {
  const db = await connect(at);
  const table = await db.createTable('people', people);
  const near = await table.search([1, 0]).limit(2).toArray();
  const older = await table.query().where('age > 40').select(['name']).toArray();
  return [
    await db.tableNames(),
    near,
    older,
    await table.countRows(),
    await table.countRows('id = 2'),
  ];
});

program('open, add, update and delete', async ({ connect }, at) => {
  const db = await connect(at);
  await db.createTable({ name: 'people', data: people });
  const table = await db.openTable('people');
  await table.add([{ id: 4, name: 'Edsger', age: 72, vector: [1, 1] }]);
  await table.update({ where: 'id = 1', values: { age: 37 } });
  await table.update({ where: 'id = 2', valuesSql: { age: 'age + 1' } });
  await table.delete('id = 3');
  const rows = await table.query().toArray();
  return [
    rows.sort((a, b) => a.id - b.id),
    await table.version(),
    (await table.listVersions()).length,
  ];
});

program('insert what is new and replace what is there', async ({ connect }, at) => {
  const db = await connect(at);
  const table = await db.createTable('people', people);
  const { numInsertedRows, numUpdatedRows, numDeletedRows, numAttempts, numRows } = await table
    .mergeInsert('id')
    .whenMatchedUpdateAll()
    .whenNotMatchedInsertAll()
    .execute([
      { id: 3, name: 'Alan T.', age: 42, vector: [0, 0] },
      { id: 9, name: 'Barbara', age: 30, vector: [1, 1] },
    ]);
  const rows = (await table.query().toArray()).sort((a, b) => a.id - b.id);
  return [numInsertedRows, numUpdatedRows, numDeletedRows, numAttempts, numRows, rows];
});

program(
  'a schema of Arrow, and one whose types are names',
  async ({ connect, makeArrowTable }, at) => {
    const db = await connect(at);
    const { Field, FixedSizeList, Float32, Int32, Schema, Utf8 } = arrow;
    const schema = new Schema([
      new Field('id', new Int32(), false),
      new Field('vector', new FixedSizeList(2, new Field('item', new Float32(), true)), true),
      new Field('text', new Utf8(), true),
    ]);
    const table = await db.createEmptyTable('one', schema);
    await table.add([{ id: 1, vector: [1, 2], text: 'x' }, { id: 2 }]);
    const fields = ['id', 'text'].map((name, i) => ({
      name,
      type: ['int64', 'Utf8'][i],
      nullable: true,
    }));
    const named = await db.createEmptyTable('two', {
      fields,
      metadata: new Map(),
      names: ['id', 'text'],
    });
    const made = makeArrowTable([{ a: 1, b: 'x', vector: [1, 2] }]);
    const shown = async (from) =>
      (await from.schema()).fields.map((one) => `${one}${one.nullable}`);
    return [
      await shown(table),
      await shown(named),
      made.schema.fields.map(String),
      await table.query().toArray(),
      await (await db.createTable('three', made)).countRows(),
    ];
  },
);

program('versions, tags and branches', async ({ connect }, at) => {
  const db = await connect(at);
  const table = await db.createTable('people', people);
  const tags = await table.tags();
  await tags.create('first', 1);
  await table.add([{ id: 5, name: 'x', age: 1, vector: [0, 0] }]);
  await table.checkout('first');
  const old = await table.countRows();
  const refused = await refusal(table.add(people));
  await table.checkoutLatest();
  const branch = await (await table.branches()).create('trial');
  await branch.add([{ id: 6, name: 'y', age: 1, vector: [0, 0] }]);
  const listed = (await (await table.branches()).list()).trial;
  await table.checkout(1);
  await table.restore();
  return [
    old,
    refused,
    await tags.getVersion('first'),
    [listed.parentBranch, listed.parentVersion, branch.currentBranch(), await branch.countRows()],
    [await table.version(), await table.countRows(), table.currentBranch()],
  ];
});

program('columns come, change and go', async ({ connect }, at) => {
  const db = await connect(at);
  const table = await db.createTable('people', people);
  await table.addColumns([{ name: 'half', valueSql: 'age / 2' }]);
  await table.alterColumns([{ path: 'half', rename: 'halved' }]);
  await table.dropColumns(['vector']);
  const { fields } = await table.schema();
  return [fields.map(String), await table.query().toArray()];
});

program('queries: limits, offsets, orders, expressions, row ids', async ({ connect }, at) => {
  const db = await connect(at);
  const table = await db.createTable('people', people);
  const ordered = { columnName: 'age', ascending: false };
  return [
    await table.query().orderBy(ordered).limit(2).toArray(),
    await table.query().limit(1).offset(1).toArray(),
    await table.query().select({ twice: 'age * 2', name: 'upper(name)' }).toArray(),
    await table.query().select({ small: "arrow_cast(age, 'Int32')" }).toArray(),
    await table.takeOffsets([0, 2]).toArray(),
    await table.search([1, 0]).distanceType('cosine').distanceRange(0, 0.5).toArray(),
    await table.search([1, 0]).where("name <> 'Ada'").postfilter().limit(2).toArray(),
    (await table.query().withRowId().toArray()).every((row) => row._rowid !== undefined),
    (await table.query().toArrow()).numRows,
  ];
});

program('rows become JSON', async ({ connect }, at) => {
  const db = await connect(at);
  const table = await db.createTable('people', [{ id: 1, vector: [1, 2], at: { x: 1, y: ['a'] } }]);
  const [row] = await table.query().toArray();
  return [JSON.parse(JSON.stringify(row)), Object.keys(row.toJSON())];
});

program('messages that programs look for', async ({ connect }, at) => {
  const db = await connect(at);
  const table = await db.createTable('people', people);
  const found = [
    await refusal(db.openTable('none')),
    await refusal(db.dropTable('none')),
    await refusal(db.createTable('people', people)),
    await refusal(table.checkout(99)),
    await (await db.createTable('people', people, { existOk: true })).countRows(),
    await (await db.createTable('people', people.slice(1), { mode: 'overwrite' })).countRows(),
  ];
  table.close();
  found.push(await refusal(Promise.resolve().then(() => table.countRows())));
  await db.close();
  found.push(await refusal(Promise.resolve().then(() => db.tableNames())));
  return found;
});

program('a table in memory', async ({ connect }) => {
  const db = await connect('memory://');
  const table = await db.createTable('people', people);
  return [await table.countRows(), await (await connect('memory://')).tableNames()];
});

program('an embedding function fills and searches', async ({ connect, embedding }, at) => {
  class Lengths extends embedding.TextEmbeddingFunction {
    ndims() {
      return 2;
    }
    async generateEmbeddings(texts) {
      return texts.map((text) => [text.length, 1]);
    }
  }
  const registry = embedding.getRegistry();
  registry.register('lengths')(Lengths);
  const own = registry.get('lengths').create();
  const schema = embedding.LanceSchema({
    id: new arrow.Int32(),
    text: own.sourceField(),
    vector: own.vectorField(),
  });
  const db = await connect(at);
  const table = await db.createTable(
    'notes',
    [
      { id: 1, text: 'one' },
      { id: 2, text: 'three' },
    ],
    { schema },
  );
  await table.add([{ id: 3, text: 'sevenths' }]);
  const other = await db.createTable('more', [{ text: 'ab' }], {
    embeddingFunction: { sourceColumn: 'text', function: own },
  });
  return [
    await table.search('12345').limit(2).toArray(),
    await table.search('12345', 'vector').limit(1).toArray(),
    (await table.schema()).metadata.get('embedding_functions'),
    (await other.schema()).metadata.get('embedding_functions'),
    await other.query().toArray(),
  ];
});

program('splits of a table', async ({ connect, permutationBuilder }, at) => {
  const db = await connect(at);
  const rows = Array.from({ length: 10 }, (_, id) => ({ id }));
  const table = await db.createTable('numbers', rows);
  const shown = async (builder) => {
    const made = await builder.execute();
    const { metadata } = await made.schema();
    return [
      made.name,
      [...metadata].sort(),
      await made.query().select(['row_id', 'split_id']).toArray(),
    ];
  };
  return [
    await shown(permutationBuilder(table).splitSequential({ ratios: [0.7, 0.3] })),
    await shown(
      permutationBuilder(table).splitSequential({ fixed: 3, splitNames: ['a', 'b', 'c'] }),
    ),
    await shown(
      permutationBuilder(table)
        .splitSequential({ counts: [2, 3] })
        .filter('id > 3'),
    ),
    (await shown(permutationBuilder(table).shuffle({ seed: 1 })))[2].length,
  ];
});

program('small helpers', async ({ connect, packBits, Session }, at) => {
  const db = await connect(at, {}, new Session(1_000_000n, 1_000_000n));
  const table = await db.createTable('people', people);
  return [
    packBits([1, 0, 1, 1, 0, 0, 0, 0, 1]),
    await table.initialStorageOptions(),
    await table.latestStorageOptions(),
    await table.getLsmWriteSpec(),
    await table.indexStats('none'),
    await table.listIndices(),
    table.isOpen(),
  ];
});

program('rows of several vectors each', async ({ connect }, at) => {
  const db = await connect(at);
  const { Field, FixedSizeList, Float32, Int32, List, Schema } = arrow;
  const vector = new FixedSizeList(4, new Field('item', new Float32(), true));
  const schema = new Schema([
    new Field('id', new Int32(), true),
    new Field('parts', new List(new Field('item', vector, true)), true),
  ]);
  // Irregular numbers, so that no two rows are equally near.
  const number = (seed) => Math.fround(Math.sin(seed * 12.9898) * 43758.5453) % 1;
  const rows = Array.from({ length: 60 }, (_, id) => ({
    id,
    parts: Array.from({ length: id % 5 }, (_, part) =>
      Array.from({ length: 4 }, (_, axis) => number(1 + id * 50 + part * 7 + axis)),
    ),
  }));
  const table = await db.createTable('parts', rows, { schema });
  const queries = [1, 2, 3].map((seed) => [0, 1, 2, 3].map((axis) => number(seed * 31 + axis)));
  const near = async (query) => {
    const found = await query.select(['id', '_distance']).toArray();
    return found.map((row) => [row.id, row._distance.toFixed(3)]);
  };
  const found = [];
  for (const metric of ['cosine', 'l2', 'dot']) {
    found.push(await near(table.search(queries).distanceType(metric).limit(12)));
    found.push(await near(table.search(queries[0]).distanceType(metric).limit(5)));
    found.push(await near(table.search(queries).distanceType(metric).where('id % 3 = 0').limit(4)));
  }
  return found;
});

program('a clone of a table, of its versions and tags', async ({ connect }, at) => {
  const db = await connect(at);
  const table = await db.createTable('people', people);
  await (await table.tags()).create('first', 1);
  await table.add([{ id: 4, name: 'Edsger', age: 72, vector: [1, 1] }]);
  const uri = `${at}/people.lance`;
  const clone = await db.cloneTable('clone', uri);
  await clone.add([{ id: 5, name: 'x', age: 1, vector: [0, 0] }]);
  const old = await db.cloneTable('old', uri, { sourceVersion: 1 });
  const tagged = await db.cloneTable('tagged', uri, { sourceTag: 'first' });
  return [
    await clone.countRows(),
    await table.countRows(),
    await old.countRows(),
    await tagged.countRows(),
    await db.tableNames(),
    await clone.search([1, 0]).limit(1).toArray(),
  ];
});
