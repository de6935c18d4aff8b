/** Versions in which writers of Lance give fragments new files for some columns (`DataReplacement`). */
import { beforeEach, expect, test } from 'vitest';
import {
  Int32,
  type RecordBatchStream,
  recordBatchStream,
  Table,
  Utf8,
  vectorFromArray,
} from '../../../src/arrow/apache.ts';
import { fieldMembers } from '../../../src/format/lance/lance-fields.ts';
import type { ParsedDataFile } from '../../../src/format/lance/parsed-fragment.ts';
import type { CreateTableVersionRequest } from '../../../src/protocol/index.ts';
import { connect } from '../../../src/sdk/connect.ts';
import { filesOf } from '../../helpers/catalog-files.ts';
import { memoryFs } from '../../helpers/catalogs.ts';
import {
  type ClientFragment,
  fragmentMembers,
  LanceClient,
  type Operation,
} from '../../helpers/lance-client.ts';

let db: Awaited<ReturnType<typeof connect>>;
let client: LanceClient;

/** Fragments 0 and 1 with the ids 0 to 2 and 3 to 4, of which row 1 is deleted. */
beforeEach(async () => {
  const fs = memoryFs();
  db = await connect('/c', { fs, lance: 'write' });
  await db.namespace.createTable({ id: ['t'] }, people([0, 1, 2]));
  client = new LanceClient(filesOf(fs, '/c'), 'data/t.table');
  await create(await client.append(people([3, 4]), 2));
  await create(client.delete(new Map([[0, [1]]])));
});

const create = (request: CreateTableVersionRequest): Promise<unknown> =>
  db.namespace.createTableVersion({ id: ['t'], ...request });
const at = (place: number): ClientFragment => client.manifest.fragments[place] as ClientFragment;
const rowsOf = async (): Promise<unknown[]> =>
  (await (await db.openTable('t')).query().toArray()).map((row) => Object.values({ ...row }));

function streamOf(columns: Record<string, readonly (string | number)[]>): RecordBatchStream {
  const vectors = Object.entries(columns).map(([name, values]) => {
    const type = typeof values[0] === 'string' ? new Utf8() : new Int32();
    return [name, vectorFromArray(values, type)] as const;
  });
  const table = new Table(Object.fromEntries(vectors));
  return recordBatchStream(table.schema, table.batches);
}
const people = (ids: readonly number[]): RecordBatchStream =>
  streamOf({ id: ids, name: ids.map((id) => `name ${id}`) });

type Replacement = readonly [fragment: number, file: ParsedDataFile];

const replace = (...replacements: readonly Replacement[]): Operation => [
  111,
  (into) => {
    for (const [fragment, file] of replacements) {
      into.message(1, (group) => {
        group.integer(1, fragment).message(2, (data) => {
          data
            .text(1, file.path)
            .packed(2, file.fields)
            .packed(3, file.columns)
            .integer(4, file.majorVersion)
            .integer(5, file.minorVersion)
            .integer(6, file.fileSize);
        });
      });
    }
  },
];

/** What Lance does to the manifest: the fields are gone from the files that held them. */
function put([id, file]: Replacement): void {
  const fragment = client.manifest.fragments.find((each) => each.id === id) as ClientFragment;
  fragment.files = fragment.files.map((each) => ({
    ...each,
    fields: each.fields.map((field) => (file.fields.includes(field) ? -2 : field)),
  }));
  fragment.files.push(file);
}

async function addColumnOfNulls(): Promise<void> {
  client.manifest.fields.push({
    id: 2,
    name: 'age',
    logicalType: 'int32',
    parent: -1,
    nullable: true,
    metadata: new Map(),
    dictionary: false,
    primaryKey: false,
  });
  const merge: Operation = [
    105,
    (into) => {
      for (const each of client.manifest.fragments) into.message(1, fragmentMembers(each));
      for (const each of client.manifest.fields) into.message(2, fieldMembers(each));
    },
  ];
  await create(client.stage(merge));
}

const ages = async (fragment: number, values: readonly number[]): Promise<Replacement> => [
  fragment,
  await client.dataFile(streamOf({ age: values }), [2]),
];

test('a column of nulls is filled fragment by fragment, and replaced', async () => {
  await addColumnOfNulls();
  const first = await ages(1, [30, 40]);
  put(first);
  await create(client.stage(replace(first)));
  expect(await rowsOf()).toEqual([
    [0, 'name 0', null],
    [2, 'name 2', null],
    [3, 'name 3', 30],
    [4, 'name 4', 40],
  ]);
  // By a client that goes on with its own files, of which one holds nothing else.
  const [other, again] = [await ages(0, [0, 10, 20]), await ages(1, [31, 41])];
  put(other);
  at(1).files.pop();
  put(again);
  await create(client.stage(replace(other, again)));
  expect(await rowsOf()).toEqual([
    [0, 'name 0', 0],
    [2, 'name 2', 20],
    [3, 'name 3', 31],
    [4, 'name 4', 41],
  ]);
  expect((await db.namespace.verify?.({}))?.problems).toEqual([]);
});

test('one column of a file of the table gets other values, and all of a fragment do', async () => {
  client.open();
  const names: Replacement = [0, await client.dataFile(streamOf({ name: ['a', 'b', 'c'] }), [1])];
  put(names);
  await create(client.stage(replace(names)));
  const whole: Replacement = [1, await client.dataFile(people([8, 9]), [0, 1])];
  at(1).files = [whole[1]];
  await create(client.stage(replace(whole)));
  const rows = [
    [0, 'a'],
    [2, 'c'],
    [8, 'name 8'],
    [9, 'name 9'],
  ];
  expect(await rowsOf()).toEqual(rows);
  client.open();
  await create(client.delete(new Map([[1, [0]]])));
  expect(await rowsOf()).toEqual(rows.filter(([id]) => id !== 8));
});

test('refused: files that the transaction does not list, and listed ones that are not there', async () => {
  await addColumnOfNulls();
  const attempts: [string, () => Promise<readonly Replacement[]>][] = [
    [
      'fragment 0 does not have the file',
      async () => {
        const [zero, one] = [await ages(0, [1, 2, 3]), await ages(1, [4, 5])];
        put(one);
        return [zero, one];
      },
    ],
    [
      'the files of fragment 1 are others',
      async () => {
        const [zero, one] = [await ages(0, [1, 2, 3]), await ages(1, [4, 5])];
        put(zero);
        put(one);
        return [zero];
      },
    ],
    [
      'fragment 1 has other values of the column "name"',
      async () => {
        const one = await ages(1, [4, 5]);
        put(one);
        put([1, await client.dataFile(streamOf({ name: ['x', 'y'] }), [1])]);
        return [one];
      },
    ],
    [
      'fragment 1 has other values of the column "id"',
      async () => {
        const one = await ages(1, [4, 5]);
        at(1).files = [one[1]];
        return [one];
      },
    ],
    [
      'fragment 0 has lost rows',
      async () => {
        const zero = await ages(0, [1, 2, 3]);
        put(zero);
        at(0).deletion = client.deletion(at(0), [1, 2]);
        return [zero];
      },
    ],
    [
      'has 1 rows',
      async () => {
        const one = await ages(1, [4]);
        put(one);
        return [one];
      },
    ],
    [
      'fragment 7 does not have the file',
      async () => [[7, await client.dataFile(streamOf({ age: [1] }), [2])]],
    ],
  ];
  for (const [says, change] of attempts) {
    client.open();
    const request = client.stage(replace(...(await change())));
    await expect(create(request), says).rejects.toMatchObject({
      code: 'InvalidInput',
      message: expect.stringContaining(says),
    });
  }
  expect(await rowsOf()).toHaveLength(4);
});

test('refused: values of a column that a computed one reads, and of the computed one', async () => {
  const table = await db.openTable('t');
  await table.addColumns({ computed: [{ name: 'twice', valueSql: 'id * 2' }] });
  client.open();
  const fields = client.manifest.fields.filter(({ name }) => name !== 'name');
  for (const { id, name } of fields) {
    client.open();
    const one: Replacement = [1, await client.dataFile(streamOf({ [name]: [4, 5] }), [id])];
    put(one);
    await expect(create(client.stage(replace(one)))).rejects.toMatchObject({
      code: 'Unsupported',
      message: expect.stringContaining('computed column "twice"'),
    });
  }
});
