/** Sources of rows that are left before they are read: they are let go, whatever refused them. */
import { readdirSync, readlinkSync } from 'node:fs';
import { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { gzipSync } from 'node:zlib';
import { beforeEach, describe, expect, onTestFinished, test, vi } from 'vitest';
import { type RecordBatchStream, recordBatchStream } from '../../src/arrow/index.ts';
import { DirspaceError } from '../../src/errors.ts';
import { connect, connectNamespace } from '../../src/sdk/connect.ts';
import type { Connection } from '../../src/sdk/connection.ts';
import { batchRows, toRecordBatchStream } from '../../src/sdk/convert/index.ts';
import { embedding, toEmbeddedStream } from '../../src/sdk/embedding/index.ts';
import { Exportable, fromFile } from '../../src/sdk/files/index.ts';
import { Lifetime } from '../../src/sdk/handles/index.ts';
import { RunnableQuery } from '../../src/sdk/query/index.ts';
import type { Table } from '../../src/sdk/table/index.ts';
import { startServer } from '../../src/server.ts';
import { temporaryFolder } from '../helpers/temporary.ts';

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

  /** Batches of CSV or of lines of JSON, after which no more ever comes. */
  async function* endless(format: string, asked = () => {}) {
    const [head, row] = format === 'csv' ? ['a,b\n', '1,2\n'] : ['', '{"a":1}\n'];
    yield Buffer.from(head + row.repeat(300_000));
    asked();
    await new Promise(() => {});
  }

  test.each([['csv'], ['ndjson']])(
    'of %s whose next piece never comes keep no refused import waiting',
    async (format) => {
      const auth = { apiKeys: [{ key: 'k', name: 'ada', grants: ['read:$'] as const }] };
      const { url, close } = await startServer({ root: temporaryFolder(), port: 0, auth });
      const remote = await connectNamespace('rest', { uri: url, 'headers.x-api-key': 'k' });
      const work = remote.importFile(endless(format), 'u', [], { format });
      // Under load the server may refuse it for that.
      await expect(work).rejects.toThrow(DirspaceError);
      await remote.close();
      await close();
    },
  );

  test.each([['csv'], ['ndjson']])(
    'of %s whose next piece never comes are left by an aborted import',
    async (format) => {
      const controller = new AbortController();
      const reason = new Error('left');
      const data = endless(format, () => controller.abort(reason));
      const work = db.importFile(data, 'u', [], { format, signal: controller.signal });
      await expect(work).rejects.toBe(reason);
    },
  );

  test('whose first rows never come are left by an aborted fromFile', async () => {
    const controller = new AbortController();
    const reason = new Error('left');
    async function* few() {
      yield Buffer.from('{"a":1}\n'.repeat(1000));
      controller.abort(reason);
      await new Promise(() => {});
    }
    const work = fromFile(few(), { format: 'ndjson', signal: controller.signal });
    await expect(work).rejects.toBe(reason);
  });

  test.each([
    ['nothing', undefined, []],
    ['nothing', 'csv', []],
    ['nothing', 'json', []],
    ['nothing', 'parquet', []],
    ['a line', 'csv', ['a,b\n']],
    ['some bytes', undefined, ['PAR1']],
    ['some bytes', 'arrow', ['ARROW1']],
    ['the head', 'csv', [gzipSync('a,b\n1,2\n'.repeat(99)).subarray(0, 40)]],
    ['the head of a file', 'parquet', ['PAR1'.repeat(500)]],
  ])('that give %s of %s, and then stand still, are left by an abort', async (_, format, first) => {
    const controller = new AbortController();
    const reason = new Error('left');
    async function* still() {
      for (const piece of first) yield Buffer.from(piece);
      setImmediate(() => controller.abort(reason));
      await new Promise(() => {});
    }
    const { signal } = controller;
    const options = format === undefined ? { signal } : { signal, format };
    await expect(fromFile(still(), options)).rejects.toBe(reason);
  });

  test.each([
    ['before its first bytes', ''],
    ['within its rows', `a,b\n${'1,2\n'.repeat(300_000)}`],
  ])('that stand still %s end their import when the connection is closed', async (_, text) => {
    const own = await connect('memory://');
    let ended = false;
    async function* still() {
      try {
        if (text !== '') yield Buffer.from(text);
        setImmediate(() => own.close());
        await new Promise(() => {});
      } finally {
        ended = true;
      }
    }
    const work = own.importFile(still(), 'u', [], { format: 'csv' });
    await expect(work).rejects.toMatchObject({ code: 'Closed' });
    // A generator ends after what it waits for alone.
    expect(ended).toBe(false);
    await own.close();
  });

  test('are closed with one that is refused by its first bytes', async () => {
    const arrow = Readable.from([await buffer(table.query().toBytes('arrow'))]);
    const work = fromFile(arrow, { csv: { delimiter: ';' } });
    await expect(work).rejects.toThrow('is read as arrow');
    expect(arrow.destroyed).toBe(true);
    const parquet = Readable.from([await buffer(table.query().toBytes('parquet'))]);
    const files = [file(false), parquet];
    await expect(fromFile(files, { csv: { delimiter: ';' } })).rejects.toThrow('as parquet');
    expect([parquet.destroyed, open]).toEqual([true, 0]);
  });

  test.runIf(process.platform === 'linux')(
    'of Parquet that come as a stream leave no copy on the disk',
    async () => {
      const folder = temporaryFolder();
      vi.stubEnv('TMPDIR', folder);
      // The other files of this worker have the folder of the system again.
      onTestFinished(() => void vi.unstubAllEnvs());
      const copies = () =>
        readdirSync('/proc/self/fd').filter((fd) => targetOf(fd).startsWith(folder));
      const bytes = await buffer(table.query().toBytes('parquet'));
      const made = () => Readable.from([bytes]);
      const bogus = { format: 'parquet', lance: 'bogus' } as never;
      await expect(db.importFile([made(), made()], 'u', [], bogus)).rejects.toThrow('lance');
      expect(copies()).toEqual([]);
      await expect(db.importFile(made(), 'u', [], bogus)).rejects.toThrow('lance');
      expect(copies()).toEqual([]);
      const types = { c: 'int64' };
      await expect(fromFile(made(), { format: 'parquet', types })).rejects.toThrow('"c"');
      expect(copies()).toEqual([]);
    },
  );
});

/** The file of a descriptor; none of one that was closed meanwhile. */
function targetOf(descriptor: string): string {
  try {
    return readlinkSync(`/proc/self/fd/${descriptor}`);
  } catch {
    return '';
  }
}

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
