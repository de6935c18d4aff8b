/** Types that nest as deep as they may: stored, read, and kept by files of other programs. Deeper ones are refused. */
import { type DataType, Field, Int32, List, Map_, Schema, Struct, Utf8 } from 'apache-arrow';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Connection, connect } from '../../src/index.ts';

let db: Connection;
beforeAll(async () => {
  db = await connect('memory://');
});
afterAll(() => db.close());

type Around = (type: DataType, value: unknown) => [DataType, unknown];
const AROUND: Readonly<Record<string, Around>> = {
  list: (type, value) => [new List(new Field('item', type, true)), [value, null]],
  struct: (type, value) => [new Struct([new Field('a', type, true)]), { a: value }],
  map: (type, value) => {
    const key = new Field('key', new Utf8(), false);
    const entries = new Struct<never>([key, new Field('value', type, true)] as never);
    return [new Map_(new Field('entries', entries, false) as never), new Map([['k', value]])];
  },
};

function deep(kind: string, times: number): { schema: Schema; rows: object[] } {
  let [type, value]: [DataType, unknown] = [new Int32(), 5];
  for (let at = 0; at < times; at++) [type, value] = (AROUND[kind] as Around)(type, value);
  return {
    schema: new Schema([new Field('deep', type, true)]),
    rows: [{ deep: value }, { deep: null }],
  };
}

/** Maps as objects, as rows have them. */
const textOf = (rows: unknown): string =>
  JSON.stringify(rows, (_, value) => (value instanceof Map ? Object.fromEntries(value) : value));

// A map has two levels: its entries are a list of structs.
test.each([
  ['list', 64],
  ['struct', 64],
  ['map', 32],
])('%s of 64 levels are stored, and read back from Parquet', async (kind, times) => {
  const { schema, rows } = deep(kind, times);
  const table = await db.createTable(kind, rows, [], { schema });
  expect(textOf(await table.query().toArray())).toBe(textOf(rows));
  const pieces: Uint8Array[] = [];
  for await (const piece of table.query().toBytes('parquet')) pieces.push(piece);
  const file = Buffer.concat(pieces);
  const back = await db.importFile(file, `${kind}_back`, [], { format: 'parquet' });
  expect(textOf(await back.table.query().toArray())).toBe(textOf(rows));
});

test.each([
  ['list', 65],
  ['struct', 65],
  ['map', 33],
  ['list', 200],
])('%s of more are refused: %d of them', async (kind, times) => {
  const { schema, rows } = deep(kind, times);
  const name = `${kind}_${times}`;
  const refused = {
    code: 'TableSchemaValidation',
    message: expect.stringMatching(/types (nest )?deeper than 64/),
  };
  await expect(db.createTable(name, rows, [], { schema })).rejects.toMatchObject(refused);
  await expect(db.createTable(name, [], [], { schema })).rejects.toMatchObject(refused);
  expect(await db.tableNames()).not.toContain(name);
});
