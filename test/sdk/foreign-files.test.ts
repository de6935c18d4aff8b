/** Arrow files of other writers become tables: through the SDK, over REST and by the CLI. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import {
  type Data,
  Field,
  makeData,
  Null,
  Schema,
  Struct,
  Table,
  tableToIPC,
  vectorFromArray,
} from '../../src/arrow/apache.ts';
import { recordBatch } from '../../src/arrow/arrow-data.ts';
import { openDirectoryNamespace } from '../../src/directory/directory-namespace.ts';
import { connect } from '../../src/index.ts';
import { createServer } from '../../src/server.ts';
import { callCli } from '../helpers/cli.ts';
import { found, NOT_HELD, type Readable, readable, wanted } from '../helpers/foreign-corpus.ts';
import { casesOf, LONG } from '../helpers/long.ts';
import { memoryFs } from '../helpers/memory-fs.ts';
import { temporaryFolder } from '../helpers/temporary.ts';

/** What a table holds keeps every value; of the schema, names and nullability are looked at. */
type Held = Pick<ReturnType<typeof found>, 'rows' | 'fields' | 'columns'>;

const held = ({ rows, fields, columns }: ReturnType<typeof found>): Held => ({
  rows,
  fields,
  columns,
});

const twice = ({ rows, fields, columns }: Held): Held => ({
  rows: 2 * rows,
  fields,
  columns: columns.map((column) => column && [...column, ...column]),
});

const memory = (): { fs: ReturnType<typeof memoryFs>; durability: 'relaxed' } => ({
  fs: memoryFs(),
  durability: 'relaxed',
});

async function heldBy(
  connection: Awaited<ReturnType<typeof connect>>,
  expected: Readable,
): Promise<Held> {
  const table = await (await connection.openTable('t')).query().toArrow();
  return held(found(table.schema, table.batches, expected));
}

const refusalOf = (name: string): RegExp | undefined =>
  NOT_HELD.find(([pattern]) => pattern.test(name))?.[1];

const stored = readable.filter(({ name }) => refusalOf(name) === undefined);

/** Compression is the reader's matter, which is tested with every file. */
const uncompressed = stored.filter(({ name }) => !/-(lz4|zstd)\./.test(name));

describe('files of other writers', () => {
  it('are created and added to by the SDK', async () => {
    const connection = await connect('/c', memory());
    expect(uncompressed.length).toBeGreaterThan(250);
    for (const { name, bytes, expected } of uncompressed.filter((_, at) => LONG || at % 4 === 0)) {
      const table = await connection.createTable('t', bytes, { mode: 'overwrite' });
      const once = held(wanted(expected));
      expect(await heldBy(connection, expected), name).toEqual(once);
      await table.add(bytes);
      expect(await heldBy(connection, expected), `${name}, added`).toEqual(twice(once));
    }
    await connection.close();
  });

  it('are created and inserted over REST', async () => {
    const options = memory();
    const namespace = await openDirectoryNamespace({ root: '/c', ...options });
    const server = await createServer({ namespace, limits: { maxEventLoopDelayMs: 0 } });
    const connection = await connect('/c', options);
    const post = async (path: string, name: string, bytes: Uint8Array): Promise<void> => {
      const form = name.endsWith('.arrow') ? 'file' : 'stream';
      const answer = await server.fetch(`http://server.test/v1/table/t/${path}`, {
        method: 'POST',
        headers: { 'content-type': `application/vnd.apache.arrow.${form}` },
        body: bytes as Uint8Array<ArrayBuffer>,
      });
      expect(answer.status, `${name}: ${await answer.text()}`).toBe(200);
    };
    for (const { name, bytes, expected } of uncompressed.filter(
      (_, at) => at % casesOf(5, 3) === 1,
    )) {
      await post('create?mode=overwrite', name, bytes);
      await post('insert', name, bytes);
      const once = held(wanted(expected));
      expect(await heldBy(connection, expected), name).toEqual(twice(once));
    }
    await connection.close();
    await server.close();
  });

  it('are imported by the CLI', async () => {
    const folder = temporaryFolder();
    const root = join(folder, 'catalog');
    const files = stored.filter(({ name }) =>
      /(plain|nested|types|older-footer)\.arrows?$/.test(name),
    );
    expect(files.length).toBeGreaterThan(20);
    for (const [at, { name, bytes, expected }] of files.entries()) {
      if (!LONG && at % 3 > 0) continue;
      const path = join(folder, name.replace('/', '-'));
      writeFileSync(path, bytes);
      const mode = at === 0 ? 'create' : 'overwrite';
      const args = ['import', path, 't', '--mode', mode, '--root', root];
      expect(await callCli(args), name).toMatchObject({ code: 0 });
      const connection = await connect(root);
      expect(await heldBy(connection, expected), name).toEqual(held(wanted(expected)));
      await connection.close();
    }
  });

  it('are refused by name where tables cannot hold them, and leave nothing', async () => {
    const connection = await connect('/c', memory());
    let tried = 0;
    for (const { name, bytes } of readable) {
      const message = refusalOf(name);
      if (message === undefined) continue;
      await expect(connection.createTable('t', bytes), name).rejects.toThrow(message);
      expect(await connection.tableNames()).toEqual([]);
      tried += 1;
    }
    expect(tried).toBeGreaterThan(5);
    await connection.close();
  });

  it('have columns of the null type that they call required, as apache-arrow tables do', async () => {
    const field = new Field('n', new Null(), false);
    const schema = new Schema([field, new Field('s', new Struct([field]), true)]);
    const nothing = vectorFromArray([null, null], new Null()).data[0] as Data;
    const struct = makeData({
      type: schema.fields[1]?.type as Struct,
      length: 2,
      children: [nothing],
    });
    const table = new Table(schema, [recordBatch(schema, [nothing, struct], 2)]);
    const connection = await connect('/c', memory());
    const made = await connection.createTable('t', table);
    await made.add(tableToIPC(table));
    expect(await made.countRows('n IS NULL')).toBe(4);
    await connection.close();
  });
});
