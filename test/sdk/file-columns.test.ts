/** Some columns of files alone, in the order in which they are asked for. */
import { beforeAll, describe, expect, test } from 'vitest';
import { type Data, recordBatchStream } from '../../src/arrow/index.ts';
import { memorySource } from '../../src/interchange/files/index.ts';
import { openParquet } from '../../src/interchange/parquet/index.ts';
import { connect } from '../../src/sdk/connect.ts';
import { toRecordBatchStream } from '../../src/sdk/convert/index.ts';
import { fromCsv, fromFile, fromJson, fromParquet } from '../../src/sdk/files/index.ts';
import { collectBatches } from '../helpers/batches.ts';
import { memoryFs } from '../helpers/catalogs.ts';

const ROWS = Array.from({ length: 3_000 }, (_, at) => ({
  id: at,
  list: at % 3 === 0 ? [] : [{ x: at, y: `y ${at}` }],
  text: `text ${at}`,
  flag: at % 2 === 0,
}));
const files: Record<string, Uint8Array> = {};

async function whole(pieces: AsyncIterable<Uint8Array>): Promise<Uint8Array> {
  const all: Uint8Array[] = [];
  for await (const piece of pieces) all.push(piece);
  return Buffer.concat(all);
}

beforeAll(async () => {
  const stream = await toRecordBatchStream(ROWS);
  const batches = await collectBatches(stream);
  const db = await connect('/c', { fs: memoryFs() });
  const table = await db.createTable('rows', recordBatchStream(stream.schema, batches));
  for (const format of ['parquet', 'arrow', 'arrow-stream', 'json', 'ndjson']) {
    files[format] = await whole(table.toBytes(format));
  }
  files.csv = await whole(table.query().select(['id', 'text', 'flag']).toBytes('csv'));
});

const plain = async (stream: Parameters<typeof collectBatches>[0]): Promise<unknown[]> =>
  (await collectBatches(stream)).flatMap((batch) =>
    batch.toArray().map((row) => ({ ...(row.toJSON() as object) })),
  );

test.each(['parquet', 'arrow', 'arrow-stream', 'json', 'ndjson', 'csv'])('%s', async (format) => {
  const given = files[format] as Uint8Array;
  const stream = await fromFile(given, { format, columns: ['text', 'id'] });
  expect(stream.schema.fields.map(({ name }) => name)).toEqual(['text', 'id']);
  const rows = (await plain(stream)) as { text: string; id: unknown }[];
  expect(rows.map(({ text, id }) => [text, Number(id)])).toEqual(
    ROWS.map(({ text, id }) => [text, id]),
  );
  const db = await connect('/c', { fs: memoryFs() });
  const types = { columns: ['flag'], types: { flag: 'bool' } } as const;
  const { table } = await db.importFile(given, 't', [], { format, ...types });
  expect((await table.schema()).fields.map(String)).toEqual(['flag: Bool']);
  expect(await table.countRows('flag')).toBe(1_500);
  const wrong = db.importFile(given, 'u', [], { format, columns: ['id', 'txet'] });
  await expect(wrong).rejects.toThrow(/no column "txet"|a column "txet"/);
  await expect(wrong).rejects.toThrow('Did you mean "text"?');
});

test('a schema is of the columns that are read', async () => {
  const schema = { fields: ['flag', 'id', 'text'].map((name) => ({ name, type: 'utf8' })) };
  for (const header of [true, false]) {
    const lines = `${header ? 'flag,id,text\n' : ''}a,1,x\nb,2,y\n`;
    const given = { schema, header, columns: ['text', 'flag'] } as never;
    expect(await plain(await fromCsv(Buffer.from(lines), given))).toEqual([
      { text: 'x', flag: 'a' },
      { text: 'y', flag: 'b' },
    ]);
  }
  const missing = { schema, columns: ['nope'] } as never;
  await expect(fromJson(Buffer.from('[{"id": "1"}]'), missing)).rejects.toThrow(
    'The schema has no column "nope".',
  );
});

test('fields of CSV that are not read may be anything', async () => {
  const csv = Buffer.from(`id,n\n${'1,2\n'.repeat(300_000)}3,x\n`);
  expect(await collectBatches(await fromCsv(csv, { columns: ['id'] }))).not.toEqual([]);
  await expect(
    fromCsv(csv, { columns: ['n'] }).then((stream) => collectBatches(stream)),
  ).rejects.toThrow('found "x"');
  const rejected: string[] = [];
  const onReject = ({ reason }: { reason: string }): unknown => rejected.push(reason);
  const ragged = Buffer.from('id,n\n1,2,3\n4\n5,x\n');
  const found = await fromCsv(ragged, { columns: ['n'], onReject, types: { n: 'int64' } });
  expect(await plain(found)).toEqual([]);
  expect(rejected).toHaveLength(3);
});

describe('Parquet', () => {
  /** The bytes that were read of a file. */
  async function readOf(columns: readonly string[] | undefined): Promise<[number, Data[][]]> {
    const source = memorySource(files.parquet as Uint8Array);
    let bytes = 0;
    const ranges = source.ranges as NonNullable<typeof source.ranges>;
    const counting = {
      ...source,
      ranges: {
        ...ranges,
        size: ranges.size,
        read: (from: number, to: number): ReturnType<typeof ranges.read> => {
          bytes += to - from;
          return ranges.read(from, to);
        },
      },
    };
    const batches = await collectBatches(await openParquet(counting, { columns }));
    return [bytes, batches.map(({ data }) => [...data.children] as Data[])];
  }

  test('pages of other columns are not read', async () => {
    const [all] = await readOf(undefined);
    const [one, batches] = await readOf(['flag']);
    expect(batches.map((columns) => columns.length)).toEqual(batches.map(() => 1));
    expect(one).toBeLessThan(all / 4);
  });

  test('columns behind nested ones are those that are asked for', async () => {
    const rows = (await plain(
      await fromParquet(files.parquet as Uint8Array, { columns: ['flag', 'list'] }),
    )) as { flag: boolean; list: { toJSON(): unknown }[] }[];
    expect(rows[4]?.flag).toBe(true);
    expect(JSON.stringify(rows[4]?.list)).toBe('[{"x":4,"y":"y 4"}]');
  });
});

test.each([[[]], [['id', 'id']], ['id'], [['']], [[1]]])(
  'columns: %j is refused',
  async (columns) => {
    await expect(fromParquet(files.parquet as Uint8Array, { columns } as never)).rejects.toThrow(
      'give names of columns, each once',
    );
  },
);

test('a column of JSON may be called __proto__', async () => {
  const given = Buffer.from('{"__proto__":1,"a":2}\n');
  const stream = await fromFile(given, { format: 'ndjson', columns: ['a', '__proto__'] });
  expect(stream.schema.fields.map(({ name }) => name)).toEqual(['a', '__proto__']);
  const [batch] = await collectBatches(stream);
  expect([Number(batch?.getChildAt(0)?.get(0)), Number(batch?.getChildAt(1)?.get(0))]).toEqual([
    2, 1,
  ]);
});
