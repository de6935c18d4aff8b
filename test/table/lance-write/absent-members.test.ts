/**
 * Writers of Lance append rows without members of a struct, as LanceDB does with objects that leave them out: no file
 * holds the members, and they are null.
 */
import { beforeEach, expect, test } from 'vitest';
import {
  type DataType,
  Field,
  Int32,
  List,
  type RecordBatchStream,
  recordBatchStream,
  Struct,
  Table,
  vectorFromArray,
} from '../../../src/arrow/apache.ts';
import { fieldMembers } from '../../../src/format/lance/lance-fields.ts';
import { connect } from '../../../src/sdk/connect.ts';
import { filesOf } from '../../helpers/catalog-files.ts';
import { memoryFs } from '../../helpers/catalogs.ts';
import { type ClientFragment, fragmentMembers, LanceClient } from '../../helpers/lance-client.ts';

const member = (name: string, type: DataType, nullable = true): Field =>
  new Field(name, type, nullable);
const INNER = new Struct([member('d', new Int32()), member('e', new Int32())]);
const POINT = new Struct([
  member('x', new Int32()),
  member('y', new Int32()),
  member('inner', INNER),
]);
const ITEMS = new List(
  member('item', new Struct([member('p', new Int32()), member('q', new Int32())])),
);
const NAMES = ['id', 'point', 'x', 'y', 'inner', 'd', 'e', 'items', 'item', 'p', 'q'];

let db: Awaited<ReturnType<typeof connect>>;
let client: LanceClient;

function streamOf(rows: readonly Row[], point: DataType, items: DataType): RecordBatchStream {
  const table = new Table({
    id: vectorFromArray(
      rows.map(({ id }) => id),
      new Int32(),
    ),
    point: vectorFromArray(
      rows.map((row) => row.point),
      point,
    ),
    items: vectorFromArray(
      rows.map((row) => row.items),
      items,
    ),
  });
  return recordBatchStream(table.schema, table.batches);
}

interface Row {
  readonly id: number;
  readonly point: unknown;
  readonly items: readonly unknown[];
}

const FIRST: Row = { id: 0, point: { x: 1, y: 2, inner: { d: 3, e: 4 } }, items: [{ p: 5, q: 6 }] };

beforeEach(async () => {
  const fs = memoryFs();
  db = await connect('/c', { fs, lance: 'write' });
  await db.namespace.createTable({ id: ['t'] }, streamOf([FIRST], POINT, ITEMS));
  client = new LanceClient(filesOf(fs, '/c'), 'data/t.table');
});

/** A type without members of these names. */
function without(type: DataType, names: readonly string[]): DataType {
  const children = (type.children ?? []) as readonly Field[];
  const kept = children
    .filter(({ name }) => !names.includes(name))
    .map(({ name, type: of }) => member(name, without(of as DataType, names)));
  if (type instanceof Struct) return new Struct(kept);
  return type instanceof List ? new List(kept[0] as Field) : type;
}

/** Appends rows whose files hold no fields of these names. */
async function append(rows: readonly Row[], ...names: readonly string[]): Promise<void> {
  const { manifest } = client;
  const { fields } = manifest;
  manifest.fields = fields.filter(({ name }) => NAMES.includes(name) && !names.includes(name));
  const stream = streamOf(rows, without(POINT, names), without(ITEMS, names));
  const staged = client.append(stream, rows.length);
  manifest.fields = fields;
  await db.namespace.createTableVersion({ id: ['t'], ...(await staged) });
}

const rowsOf = async (): Promise<unknown[]> =>
  (await (await db.openTable('t')).query().toArray()).map((row) => JSON.parse(JSON.stringify(row)));
const opens = async (): Promise<unknown> =>
  (
    (await db.namespace.describeTable({ id: ['t'], load_detailed_metadata: true })) as {
      lance?: unknown;
    }
  ).lance;

const SECOND: Row = { id: 1, point: { x: 7, inner: { e: 8 } }, items: [{ q: 9 }, { q: 10 }] };
const SECOND_READ: Row = {
  id: 1,
  point: { x: 7, y: null, inner: { d: null, e: 8 } },
  items: [
    { p: null, q: 9 },
    { p: null, q: 10 },
  ],
};

test('members that no file of an append holds are null, in structs, their structs and in lists', async () => {
  await append([SECOND], 'y', 'd', 'p');
  expect(await rowsOf()).toEqual([FIRST, SECOND_READ]);
  expect(await opens()).toEqual({ opens: true });
});

test('a client goes on with its own files, which lack the members', async () => {
  await append([SECOND, { ...SECOND, id: 2 }], 'y', 'd', 'p');
  const read = [FIRST, SECOND_READ, { ...SECOND_READ, id: 2 }];
  expect(await rowsOf()).toEqual(read);
  const { manifest } = client;
  await db.namespace.createTableVersion({ id: ['t'], ...client.delete(new Map([[1, [0]]])) });
  expect(await rowsOf()).toEqual([FIRST, read[2]]);
  // A column of another file beside those.
  const added = manifest.fragments[1] as ClientFragment;
  const [first] = manifest.fields as [(typeof manifest.fields)[number]];
  manifest.fields.push({ ...first, id: 20, name: 'n' });
  const numbers = new Table({ n: vectorFromArray([30, 31], new Int32()) });
  added.files.push(await client.dataFile(recordBatchStream(numbers.schema, numbers.batches), [20]));
  const merged = client.stage([
    105,
    (into) => {
      for (const each of manifest.fragments) into.message(1, fragmentMembers(each));
      for (const each of manifest.fields) into.message(2, fieldMembers(each));
    },
  ]);
  await db.namespace.createTableVersion({ id: ['t'], ...merged });
  const rows = [
    { ...FIRST, n: null },
    { ...read[2], n: 31 },
  ];
  expect(await rowsOf()).toEqual(rows);
  // One that opens the table finds the table's files, which have them all.
  client.open();
  await append([{ ...SECOND, id: 3 }], 'y', 'd', 'p');
  await (await db.openTable('t')).optimize();
  expect(await rowsOf()).toEqual([...rows, { ...SECOND_READ, id: 3, n: null }]);
  expect((await db.namespace.verify?.({}))?.problems).toEqual([]);
});

test('refused: members that are structs, without which Lance reads a null struct', async () => {
  const refused = 'the column "point", of which only parts stand in new files';
  await expect(append([{ ...SECOND, point: { x: 7 } }], 'inner', 'd', 'e')).rejects.toThrow(
    refused,
  );
  expect(await rowsOf()).toEqual([FIRST]);
});
