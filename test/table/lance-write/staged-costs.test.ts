/** Small staged files whose rows would take far more bytes here. */
import { beforeEach, expect, test } from 'vitest';
import {
  Field,
  Float64,
  type RecordBatchStream,
  recordBatchStream,
  Struct,
  Table,
  vectorFromArray,
} from '../../../src/arrow/apache.ts';
import { fieldMembers } from '../../../src/format/lance/lance-fields.ts';
import type { ParsedField } from '../../../src/format/lance/parsed-fragment.ts';
import type { CreateTableVersionRequest } from '../../../src/protocol/index.ts';
import { connect } from '../../../src/sdk/connect.ts';
import { filesOf } from '../../helpers/catalog-files.ts';
import { memoryFs } from '../../helpers/catalogs.ts';
import { fragmentMembers, LanceClient } from '../../helpers/lance-client.ts';
import { repeatedText } from '../../helpers/lance-pages.ts';
import { people } from '../../helpers/people.ts';

let db: Awaited<ReturnType<typeof connect>>;
let client: LanceClient;

beforeEach(async () => {
  const fs = memoryFs();
  db = await connect('/c', { fs, lance: 'write' });
  await db.namespace.createTable({ id: ['t'] }, people(5));
  client = new LanceClient(filesOf(fs, '/c'), 'data/t.table');
});

const create = (request: CreateTableVersionRequest): Promise<unknown> =>
  db.namespace.createTableVersion({ id: ['t'], ...request });

/** Replaces the table by fragments of one text in every row. */
function repeated(length: number, ...counts: readonly number[]): CreateTableVersionRequest {
  const { manifest } = client;
  const [first] = manifest.fields as [LanceClient['manifest']['fields'][number]];
  manifest.fields = [{ ...first, name: 'c0', logicalType: 'string', nullable: true }];
  manifest.fragments = counts.map((rows) => ({
    id: ++manifest.maxFragmentId,
    files: [client.dataFileOf(repeatedText(length, rows), [0], [0])],
    deletion: undefined,
    physicalRows: rows,
  }));
  return client.stage([
    102,
    (into) => {
      for (const each of manifest.fragments) into.message(1, fragmentMembers(each));
      for (const each of manifest.fields) into.message(2, fieldMembers(each));
    },
  ]);
}

test('texts of a dictionary are written out, up to a bound for all fragments', async () => {
  await create(repeated(10_000, 50, 60));
  const rows = await (await db.openTable('t')).query().toArray();
  expect(rows.map(({ c0 }) => String(c0).length)).toEqual(Array(110).fill(10_000));
  client.open();
  await expect(create(repeated(100_000, 100, 2600))).rejects.toThrow(
    /with fragment 4 its rows take \d+ bytes at least, and 268435456 may come from data files of 20\d{4} bytes/,
  );
  expect((await db.namespace.verify?.({}))?.problems).toEqual([]);
}, 60_000);

test('members that a struct gets are nulls, written out where its fragment is', async () => {
  const type = new Struct([new Field('a', new Float64(), true)]);
  const stream = (table: Table): RecordBatchStream =>
    recordBatchStream(table.schema, table.batches);
  const rows = [{ a: 1 }, { a: 2 }, { a: 3 }];
  await db.createTable('s', stream(new Table({ s: vectorFromArray(rows, type) })));
  client = new LanceClient(client.files, 'data/s.table');
  const [, inner] = client.manifest.fields as [ParsedField, ParsedField];
  const merged = async (dimension: number): Promise<unknown> => {
    client.open();
    const { fields, fragments } = client.manifest;
    fields.push({ ...inner, id: 2, name: 'w', logicalType: `fixed_size_list:float:${dimension}` });
    fields.push({ ...inner, id: 3, name: 'x', parent: -1 });
    const x = new Table({ x: vectorFromArray([4, 5, 6], new Float64()) });
    fragments[0]?.files.push(await client.dataFile(stream(x), [3]));
    const request = client.stage([
      105,
      (into) => {
        for (const each of fragments) into.message(1, fragmentMembers(each));
        for (const each of fields) into.message(2, fieldMembers(each));
      },
    ]);
    return db.namespace.createTableVersion({ id: ['s'], ...request });
  };
  await expect(merged(30_000_000)).rejects.toThrow('with fragment 0 its rows take');
  await merged(2);
  const found = await (await db.openTable('s')).query().toArray();
  expect(found.map(({ s, x }) => [s.a, s.w, x])).toEqual([
    [1, null, 4],
    [2, null, 5],
    [3, null, 6],
  ]);
});
