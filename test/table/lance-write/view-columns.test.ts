/** Clients of Lance write texts and bytes, which a table with columns of views reads as views. */
import { expect, test } from 'vitest';
import {
  BinaryView,
  type DataType,
  Field,
  FixedSizeList,
  Float32,
  Int32,
  List,
  type RecordBatch,
  type RecordBatchStream,
  recordBatchStream,
  Schema,
  Struct,
  Table,
  Utf8View,
  type Vector,
  vectorFromArray,
} from '../../../src/arrow/apache.ts';
import { connect } from '../../../src/sdk/connect.ts';
import { randomBatch, seeded } from '../../helpers/arrow-samples.ts';
import { filesOf, memoryFs } from '../../helpers/catalogs.ts';
import {
  type ClientFragment,
  fragmentMembers,
  LanceClient,
  type Operation,
} from '../../helpers/lance-client.ts';

const nullable = (name: string, type: DataType): Field => new Field(name, type, true);
const schema = new Schema([
  nullable('n', new Int32()),
  nullable('text', new Utf8View()),
  nullable('bytes', new BinaryView()),
  nullable('list', new List(nullable('item', new Utf8View()))),
  new Field('s', new Struct([nullable('a', new BinaryView()), nullable('b', new Int32())]), false),
]);
const batch = (rows: number, nulls: number, seed: number): RecordBatch =>
  randomBatch(schema, rows, seeded(seed), nulls) as never;
const stream = (...batches: RecordBatch[]): RecordBatchStream => recordBatchStream(schema, batches);
const valuesOf = (table: Table): unknown =>
  table.schema.fields.map(({ name }) => JSON.stringify([...(table.getChild(name) as Vector)]));

test.each([
  ['values', 0],
  ['some nulls', 0.3],
  ['nulls', 1],
])('appended, updated and compacted: %s', async (_, nulls) => {
  const fs = memoryFs();
  const db = await connect('/c', { fs, lance: 'write' });
  const [one, two, three] = [batch(5, nulls, 1), batch(40, nulls, 2), batch(1, nulls, 3)];
  const table = await db.createTable('t', new Table(schema, [one]) as never);
  const client = new LanceClient(filesOf(fs, '/c'), 'data/t.table');
  const create = (request: object): Promise<unknown> =>
    db.namespace.createTableVersion({ id: ['t'], ...request } as never);
  const expectRows = async (...batches: RecordBatch[]): Promise<void> => {
    const found = (await table.query().toArrow()) as unknown as Table;
    expect(String(found.schema)).toBe(String(schema));
    expect(found.getChild('text')?.type).toBeInstanceOf(Utf8View);
    expect(valuesOf(found)).toEqual(valuesOf(new Table(schema, batches)));
  };

  await create(await client.append(stream(two), 40));
  await expectRows(one, two);
  await create(await client.update(stream(three), 1, new Map([[0, [1, 2, 3, 4]]])));
  const first = one.slice(0, 1);
  await expectRows(first, two, three);

  const before = client.manifest.fragments;
  const joined: ClientFragment = {
    id: client.manifest.maxFragmentId + 1,
    files: [
      await client.dataFile(
        stream(first, two, three),
        client.manifest.fields.map(({ id }) => id),
      ),
    ],
    deletion: undefined,
    physicalRows: 42,
  };
  const rewrite: Operation = [
    104,
    (into) =>
      into.message(3, (group) => {
        for (const each of before) group.message(1, fragmentMembers(each));
        group.message(2, fragmentMembers(joined));
      }),
  ];
  client.manifest.maxFragmentId += 1;
  client.manifest.fragments = [joined];
  await create(client.stage(rewrite));
  await expectRows(first, two, three);
  expect((await db.namespace.verify?.({}))?.problems).toEqual([]);
});

test('refused: null items of vectors whose items are required, also beside a null vector', async () => {
  const fs = memoryFs();
  const db = await connect('/c', { fs, lance: 'write' });
  const vectors = (isRequired: boolean) =>
    new FixedSizeList(2, new Field('item', new Float32(), !isRequired));
  const of = (rows: readonly unknown[], isRequired: boolean): Table =>
    new Table({ v: vectorFromArray(rows as never, vectors(isRequired)) });
  await db.createTable('t', of([[1, 2], null], true) as never);
  const client = new LanceClient(filesOf(fs, '/c'), 'data/t.table');
  const append = async (...rows: unknown[]): Promise<unknown> =>
    db.namespace.createTableVersion({
      id: ['t'],
      ...(await client.append(
        recordBatchStream(of(rows, false).schema, of(rows, false).batches),
        rows.length,
      )),
    });
  await append([3, 4], null);
  await expect(append([5, null], null)).rejects.toThrow(
    'has nulls in "v[1]", which may not be null',
  );
  client.open();
  await expect(append([5, null], [6, 7])).rejects.toThrow('has nulls in "v[1]"');
});
