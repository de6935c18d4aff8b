/** Sources of rows that are left before they are read: they are let go, whatever refused them. */
import { beforeEach, describe, expect, test } from 'vitest';
import { type RecordBatchStream, recordBatchStream } from '../../src/arrow/index.ts';
import { connect } from '../../src/sdk/connect.ts';
import type { Connection } from '../../src/sdk/connection.ts';
import { batchRows, toRecordBatchStream } from '../../src/sdk/convert/index.ts';
import { embedding, toEmbeddedStream } from '../../src/sdk/embedding/index.ts';
import { Exportable, fromFile } from '../../src/sdk/files/index.ts';
import { Lifetime } from '../../src/sdk/handles/index.ts';
import { RunnableQuery } from '../../src/sdk/query/index.ts';
import type { Table } from '../../src/sdk/table/index.ts';

let db: Connection;
let table: Table;
let open = 0;

beforeEach(async () => {
  db = await connect('memory://');
  table = await db.createTable('t', [{ a: 1 }]);
  open = 0;
});

/** Rows, one by one, of something that is open until its last row or its end. */
async function* rows(): AsyncGenerator<{ a: number }> {
  open += 1;
  try {
    for (let a = 0; a < 20_000; a++) yield { a };
  } finally {
    open -= 1;
  }
}

async function* batches() {
  for await (const batch of await toRecordBatchStream(rows())) yield batch;
}

test.each([
  ['rows', rows],
  ['batches', batches],
])('%s are let go by a write that does not read them', async (_, source) => {
  await expect(db.createTable('t', source() as never)).rejects.toThrow('already exists');
  expect(open).toBe(0);
  await db.createTable('t', source() as never, [], { mode: 'exist_ok' });
  expect(open).toBe(0);
  await db.dropTable('t');
  await expect(table.add(source() as never)).rejects.toMatchObject({ code: 'TableNotFound' });
  expect(open).toBe(0);
});

test('a merge that is refused lets its rows go', async () => {
  const merge = table.mergeInsert('no such key').whenNotMatchedInsertAll();
  await expect(merge.execute(rows())).rejects.toThrow('no such key');
  expect(open).toBe(0);
});

test('rows whose vectors are computed are let go', async () => {
  class Lengths extends embedding.TextEmbeddingFunction {
    override ndims = () => 1;
    override generateEmbeddings = async (texts: string[]) => texts.map(({ length }) => [length]);
  }
  const made = new Lengths();
  const config = { sourceColumn: 'text', function: made };
  embedding.getRegistry().setBuiltIn('lengths of left rows', Lengths);
  const schema = embedding.LanceSchema({ text: made.sourceField(), vector: made.vectorField() });
  const texts = async function* () {
    for await (const { a } of rows()) yield { text: String(a) };
  };
  const stream = await toEmbeddedStream(texts(), { schema, partial: true }, config);
  expect(open).toBe(1);
  await stream[Symbol.asyncIterator]().return?.();
  expect(open).toBe(0);
});

test('a stream that is left before its first step closes its source', async () => {
  const stream = await toRecordBatchStream(rows());
  expect(open).toBe(1);
  await stream[Symbol.asyncIterator]().return?.();
  expect(open).toBe(0);
});

test('rows that are read come whole, and their source ends', async () => {
  const made = await db.createTable('u', rows());
  expect([await made.countRows(), open]).toEqual([20_000, 0]);
  for await (const batch of await toRecordBatchStream(rows())) {
    expect(batchRows(batch)[0]).toEqual({ a: 0 });
    break;
  }
  expect(open).toBe(0);
});

/** A stream that is open until its iterator is returned. */
function held(stream: RecordBatchStream): RecordBatchStream {
  open += 1;
  return {
    schema: stream.schema,
    [Symbol.asyncIterator]: () => ({
      next: async () => ({ done: true, value: undefined }),
      return: async () => {
        open = 0;
        return { done: true, value: undefined };
      },
    }),
  };
}

test('bytes that cannot be written let the query go', async () => {
  const { schema } = await toRecordBatchStream([{ a: 1 }]);
  class Held extends Exportable {
    override stream = async () => held(recordBatchStream(schema, []));
  }
  const bytes = new Held().toBytes('csv', { csv: { delimiter: 'too long' } });
  await expect(bytes.next()).rejects.toMatchObject({ code: 'InvalidInput' });
  expect(open).toBe(0);
});

describe('files', () => {
  /** Three megabytes of CSV or of lines of JSON, open until they are read or left. */
  async function* file(isJson: boolean): AsyncGenerator<Uint8Array> {
    open += 1;
    try {
      if (!isJson) yield Buffer.from('a,b\n');
      const text = 'x'.repeat(200);
      const row = isJson ? `{"a":1,"b":"${text}"}\n` : `1,${text}\n`;
      for (let at = 0; at < 3; at++) yield Buffer.from(row.repeat(2 ** 20 / row.length));
    } finally {
      open -= 1;
    }
  }

  test.each([['csv'], ['ndjson']])(
    'of %s are closed by an import that is refused',
    async (format) => {
      const made = () => file(format === 'ndjson');
      const bogus = { format, lance: 'bogus' } as never;
      await expect(db.importFile([made(), made()], 'u', [], bogus)).rejects.toThrow('lance');
      expect(open).toBe(0);
      await expect(db.importFile(made(), 'u', [], bogus)).rejects.toThrow('lance');
      expect(open).toBe(0);
      await expect(db.importFile([made(), made()], 't', [], { format })).rejects.toThrow('exists');
      expect(open).toBe(0);
      const imported = await db.importFile([made(), made()], 'u', [], { format });
      expect([imported.rows > 20_000, open]).toEqual([true, 0]);
    },
  );

  test.each([['csv'], ['ndjson']])(
    'of %s are closed with a stream that is left',
    async (format) => {
      const made = () => file(format === 'ndjson');
      const stream = await fromFile([made(), made()], { format });
      const batches = stream[Symbol.asyncIterator]();
      await batches.next();
      expect(open).toBeGreaterThan(0);
      await batches.return?.();
      expect(open).toBe(0);
      const types = { c: 'int64' };
      await expect(fromFile([made(), made()], { format, types })).rejects.toThrow('"c"');
      expect(open).toBe(0);
    },
  );
});

test('a batch length that there cannot be sends no query', async () => {
  let sent = 0;
  class Counted extends RunnableQuery {
    protected override async answer(): Promise<RecordBatchStream> {
      sent += 1;
      return toRecordBatchStream([{ a: 1 }]);
    }
  }
  const query = new Counted(new Lifetime(() => 'It'));
  await expect(query.stream({ maxBatchLength: 0 })).rejects.toThrow('maxBatchLength is 0');
  expect(sent).toBe(0);
  await query.stream({ maxBatchLength: 1 });
  expect(sent).toBe(1);
});
