/**
 * This package's side of stale_clients.py: `stale-own.mjs PACKAGE ROOT` does what each line of its input asks for,
 * as JSON, and answers with a line: the newest version, and its rows and columns.
 */
import { createInterface } from 'node:readline';
import { pathToFileURL } from 'node:url';
import { Field, FixedSizeList, Float32, Int64, Schema } from 'apache-arrow';

const [entry, root] = process.argv.slice(2);
const { connect } = await import(pathToFileURL(entry).href);
const db = await connect(root, { lance: 'write' });

/** Tables with a vector that follows from the id: so large that columns which change lie beside fragments. */
const wide = new Set();
const DIMENSIONS = 1700;
const vectorOf = (id) =>
  Float32Array.from({ length: DIMENSIONS }, (_, at) => (id * 31 + at * 7) % 997);

/** Numbers of the model as the columns hold them. */
const stored = (name, rows) =>
  rows.map((row) => ({
    ...Object.fromEntries(
      Object.entries(row).map(([name, value]) => [name, value === null ? null : BigInt(value)]),
    ),
    ...(wide.has(name) ? { vec: vectorOf(row.id) } : {}),
  }));

const fields = [new Field('id', new Int64(), false), new Field('v', new Int64(), true)];
const vector = new Field(
  'vec',
  new FixedSizeList(DIMENSIONS, new Field('item', new Float32(), true)),
  true,
);
const schemaOf = (name) => new Schema(wide.has(name) ? [...fields, vector] : fields);

const DOES = {
  make: (name, { rows, isWide = false, compression }) => {
    if (isWide) wide.add(name);
    return db.createTable(name, stored(name, rows), [], { schema: schemaOf(name), compression });
  },
  overwrite: (name, { rows }) =>
    db.createTable(name, stored(name, rows), [], { schema: schemaOf(name), mode: 'overwrite' }),
  add: async (name, { rows }) => (await db.openTable(name)).add(stored(name, rows)),
  delete: async (name, { where }) => (await db.openTable(name)).delete(where),
  update: async (name, { where, valuesSql }) =>
    (await db.openTable(name)).update({ where, valuesSql }),
  merge: async (name, { rows }) =>
    (await db.openTable(name))
      .mergeInsert('id')
      .whenMatchedUpdateAll()
      .whenNotMatchedInsertAll()
      .execute(stored(name, rows)),
  compact: async (name, { targetRows }) =>
    (await db.openTable(name)).optimize({ compaction: { targetRows }, cleanupOlderThan: false }),
  addColumn: async (name, { column, valueSql }) =>
    (await db.openTable(name)).addColumns([{ name: column, valueSql }]),
  drop: async (name, { column }) => (await db.openTable(name)).dropColumns([column]),
  rename: async (name, { column, to }) =>
    (await db.openTable(name)).alterColumns([{ path: column, rename: to }]),
  metadata: async (name, { key }) =>
    db.namespace.updateTableSchemaMetadata({ id: [name], metadata: { [key]: key } }),
  restore: async (name, { version }) => db.namespace.restoreTable({ id: [name], version }),
  dropTable: (name) => db.dropTable(name),
  read: async () => {},
  verify: async () => {},
};

for await (const line of createInterface({ input: process.stdin })) {
  const { does, table: name, ...given } = JSON.parse(line);
  let answer;
  try {
    await DOES[does](name, given);
    if (does === 'dropTable') {
      process.stdout.write('{}\n');
      continue;
    }
    const table = await db.openTable(name);
    const found = await table.query().toArrow();
    const columns = found.schema.fields.flatMap((field) =>
      field.name === 'vec' ? [] : field.name,
    );
    for (const { id, vec } of wide.has(name) ? found : []) {
      const wanted = vectorOf(Number(id));
      if (!wanted.every((value, at) => vec.get(at) === value))
        throw new Error(`row ${id} has another vector`);
    }
    const rows = found
      .toArray()
      .map((row) => columns.map((column) => (row[column] === null ? null : Number(row[column]))));
    const { problems = [] } = does === 'verify' ? ((await db.namespace.verify({})) ?? {}) : {};
    answer = { version: await table.version(), columns, rows, problems };
  } catch (error) {
    answer = { error: `${error.code}: ${error.message}` };
  }
  process.stdout.write(`${JSON.stringify(answer)}\n`);
}
await db.close();
