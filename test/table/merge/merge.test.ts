/** MERGE: every clause, exact counts, keys of all kinds, one version or none. */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  Binary,
  Dictionary,
  Field,
  Float64,
  Int32,
  Int64,
  Schema,
  Struct,
  Uint32,
  Utf8,
} from '../../../src/arrow/apache.ts';
import { openDirectoryNamespace } from '../../../src/directory/directory-namespace.ts';
import { toRecordBatchStream } from '../../../src/sdk/convert/data.ts';
import { collectRows, type Row } from '../../../src/sdk/convert/rows.ts';
import { filesOf, memoryFs } from '../../helpers/catalogs.ts';

const t = ['t'];
const schema = new Schema([
  new Field('id', new Int64(), true),
  new Field('name', new Utf8(), true),
  new Field('x', new Float64(), true),
]);
const row = (id: number | null, name = `n${id}`, x = 0): Row => ({
  id: id === null ? null : BigInt(id),
  name,
  x,
});

async function setUp(rows: Row[], options: { schema?: Schema; limits?: object } = {}) {
  const fs = memoryFs();
  const catalog = await openDirectoryNamespace({
    root: '/c',
    fs,
    limits: { batchRows: 3, fragmentRows: 6, ...options.limits },
  });
  await catalog.createTable({ id: t }, await data(rows, options.schema));
  return { catalog, fs };
}
type Catalog = Awaited<ReturnType<typeof setUp>>['catalog'];

const data = (rows: Row[], as = schema) => toRecordBatchStream(rows, { schema: as });

const read = async (catalog: Catalog, version?: number): Promise<Row[]> =>
  collectRows(
    await catalog.queryTable({ id: t, k: 1e9, ...(version === undefined ? {} : { version }) }),
  );

const text = (rows: readonly Row[]): string[] =>
  rows.map(({ id, name, x }) => `${id}:${name}:${x}`).sort();

const BOTH = { when_matched_update_all: true, when_not_matched_insert_all: true } as const;

describe('merge', () => {
  const ten = Array.from({ length: 10 }, (_, id) => row(id));

  test('updates what matches and inserts the rest', async () => {
    const { catalog } = await setUp(ten);
    const answer = await catalog.mergeInsertIntoTable(
      { id: t, on: 'id', ...BOTH },
      await data([row(8, 'new', 1), row(12, 'new', 2), row(0, 'new', 3)]),
    );
    expect(answer).toMatchObject({
      num_updated_rows: 2,
      num_inserted_rows: 1,
      num_deleted_rows: 0,
      version: 2,
    });
    const expected = [...ten.slice(1, 8), ten[9] as Row];
    expect(text(await read(catalog))).toEqual(
      text([...expected, row(8, 'new', 1), row(12, 'new', 2), row(0, 'new', 3)]),
    );
    expect(text(await read(catalog, 1))).toEqual(text(ten));
  });

  test('a condition compares source and target; what it refuses is not inserted', async () => {
    const { catalog } = await setUp(ten.map((each, at) => ({ ...each, x: at })));
    const answer = await catalog.mergeInsertIntoTable(
      {
        id: t,
        on: 'id',
        ...BOTH,
        when_matched_update_all_filt: "source.x > target.x AND target.name <> 'n1'",
      },
      await data([row(0, 'a', 5), row(1, 'b', 5), row(7, 'c', 5), row(20, 'd', 5)]),
    );
    expect(answer).toMatchObject({ num_updated_rows: 1, num_inserted_rows: 1 });
    const found = await read(catalog);
    expect(found.filter(({ name }) => ['a', 'b', 'c', 'd'].includes(String(name)))).toHaveLength(2);
    expect(found).toHaveLength(11);
  });

  test('only inserting leaves matches alone, and repeats of them too', async () => {
    const { catalog } = await setUp(ten);
    const answer = await catalog.mergeInsertIntoTable(
      { id: t, on: 'id', when_not_matched_insert_all: true },
      await data([row(3, 'no'), row(3, 'no'), row(11, 'yes'), row(11, 'yes too')]),
    );
    expect(answer).toMatchObject({ num_updated_rows: 0, num_inserted_rows: 2 });
    expect((await read(catalog)).filter(({ name }) => name === 'no')).toEqual([]);
  });

  test('rows that did not come are deleted, those the filter names only', async () => {
    const { catalog } = await setUp(ten);
    const request = { id: t, on: 'id', when_not_matched_by_source_delete: true };
    const filtered = await catalog.mergeInsertIntoTable(
      { ...request, when_not_matched_by_source_delete_filt: 'id < 5' },
      await data([row(1), row(7)]),
    );
    expect(filtered).toMatchObject({ num_deleted_rows: 4, num_inserted_rows: 0 });
    expect((await read(catalog)).map(({ id }) => Number(id))).toEqual([1, 5, 6, 7, 8, 9]);
    const rest = await catalog.mergeInsertIntoTable(
      { ...request, ...BOTH },
      await data([row(7, 'z'), row(70)]),
    );
    expect(rest).toMatchObject({ num_deleted_rows: 5, num_updated_rows: 1, num_inserted_rows: 1 });
    expect(text(await read(catalog))).toEqual(['70:n70:0', '7:z:0']);
    const none = await catalog.mergeInsertIntoTable(request, await data([]));
    expect(none).toMatchObject({ num_deleted_rows: 2 });
    expect(await read(catalog)).toEqual([]);
  });

  test('two source rows for one row are refused by name of the key', async () => {
    const { catalog, fs } = await setUp(ten);
    const before = filesOf(fs, '/c').all();
    await expect(
      catalog.mergeInsertIntoTable(
        { id: t, on: 'id', ...BOTH },
        await data([row(50), row(4, 'a'), row(50), row(4, 'b')]),
      ),
    ).rejects.toMatchObject({ code: 'InvalidInput', message: expect.stringContaining('id = 4') });
    expect(filesOf(fs, '/c').all()).toEqual(before);
    const answer = await catalog.mergeInsertIntoTable(
      { id: t, on: 'id', ...BOTH },
      await data([row(50), row(50)]),
    );
    expect(answer.num_inserted_rows).toBe(2);
  });

  test('null keys match nothing', async () => {
    const { catalog } = await setUp([...ten, row(null, 'old')]);
    const answer = await catalog.mergeInsertIntoTable(
      { id: t, on: 'id', ...BOTH },
      await data([row(null, 'new'), row(null, 'new')]),
    );
    expect(answer).toMatchObject({ num_updated_rows: 0, num_inserted_rows: 2 });
    expect(await read(catalog)).toHaveLength(13);
  });

  test('several keys, and rows of the table that share one', async () => {
    const { catalog } = await setUp([
      row(1, 'a', 1),
      row(1, 'b', 2),
      row(1, 'a', 3),
      row(2, 'a', 4),
    ]);
    const answer = await catalog.mergeInsertIntoTable(
      { id: t, on: ['id', 'name'], ...BOTH },
      await data([row(1, 'a', 9), row(2, 'b', 9)]),
    );
    expect(answer).toMatchObject({ num_updated_rows: 2, num_inserted_rows: 1 });
    expect(text(await read(catalog))).toEqual(['1:a:9', '1:a:9', '1:b:2', '2:a:4', '2:b:9']);
  });

  test('columns that do not come keep their values, or are null in new rows', async () => {
    const { catalog } = await setUp(ten.map((each) => ({ ...each, x: 7 })));
    const narrow = new Schema([
      new Field('name', new Utf8(), true),
      new Field('id', new Int32(), true),
    ]);
    const answer = await catalog.mergeInsertIntoTable(
      { id: t, on: 'id', ...BOTH },
      await data(
        [
          { id: 3, name: 'three' },
          { id: 30, name: 'thirty' },
        ],
        narrow,
      ),
    );
    expect(answer).toMatchObject({ num_updated_rows: 1, num_inserted_rows: 1 });
    const found = text(await read(catalog));
    expect(found).toContain('3:three:7');
    expect(found).toContain('30:thirty:null');
  });

  test('nothing to change makes no version', async () => {
    const { catalog } = await setUp(ten);
    const answer = await catalog.mergeInsertIntoTable(
      { id: t, on: 'id', when_matched_update_all: true },
      await data([row(100)]),
    );
    expect(answer).toEqual({
      num_updated_rows: 0,
      num_inserted_rows: 0,
      num_deleted_rows: 0,
      num_attempts: 1,
      version: 1,
    });
  });

  test.each([
    [{ on: 'id' }, 'InvalidInput', 'has no action'],
    [{ on: 'nope', ...BOTH }, 'TableColumnNotFound', 'nope'],
    [{ on: ['id', 'id'], ...BOTH }, 'InvalidInput', 'twice'],
    [{ on: 'id', ...BOTH, when_matched_update_all_filt: 'x > 1' }, 'TableColumnNotFound', 'x'],
    [
      { on: 'id', when_not_matched_insert_all: true, when_matched_update_all_filt: 'TRUE' },
      'InvalidInput',
      'without',
    ],
    [{ on: 'id', ...BOTH, timeout: 'soon' }, 'InvalidInput', 'timeout'],
  ])('refuses %j', async (request, code, message) => {
    const { catalog } = await setUp(ten);
    await expect(
      catalog.mergeInsertIntoTable({ id: t, ...request }, await data([row(1)])),
    ).rejects.toMatchObject({ code, message: expect.stringContaining(message) });
  });

  test('a time that is over changes nothing', async () => {
    const { catalog } = await setUp(ten);
    await expect(
      catalog.mergeInsertIntoTable(
        { id: t, on: 'id', ...BOTH, timeout: '0ms' },
        {
          schema,
          async *[Symbol.asyncIterator]() {
            await new Promise((resolve) => setTimeout(resolve, 20));
            yield* await data([row(1)]);
          },
        },
      ),
    ).rejects.toMatchObject({ code: 'ServiceUnavailable' });
    const answer = await catalog.mergeInsertIntoTable(
      { id: t, on: 'id', ...BOTH, timeout: '1m' },
      await data([row(1)]),
    );
    expect(answer).toMatchObject({ version: 2 });
  });

  test('a timeout of months is not over at once', async () => {
    const { catalog } = await setUp(ten);
    const request = { id: t, on: 'id', ...BOTH, timeout: '1000h' };
    const answer = await catalog.mergeInsertIntoTable(request, {
      schema,
      async *[Symbol.asyncIterator]() {
        await new Promise((resolve) => setTimeout(resolve, 20));
        yield* await data([row(1)]);
      },
    });
    expect(answer).toMatchObject({ version: 2 });
  });

  test('the same key merges once', async () => {
    const { catalog } = await setUp(ten);
    const merge = async () =>
      catalog.mergeInsertIntoTable(
        { id: t, on: 'id', when_not_matched_insert_all: true },
        await data([row(null)]),
        {
          idempotencyKey: 'k',
        },
      );
    const first = await merge();
    expect(first.num_inserted_rows).toBe(1);
    expect(await merge()).toEqual(first);
    expect(await read(catalog)).toHaveLength(11);
  });

  test('lists and members of structs are no keys', async () => {
    const nested = new Schema([
      new Field('s', new Struct([new Field('a', new Int32(), true)]), true),
    ]);
    const { catalog } = await setUp([{ s: { a: 1 } }], { schema: nested });
    for (const on of ['s', 's.a']) {
      await expect(
        catalog.mergeInsertIntoTable({ id: t, on, ...BOTH }, await data([{ s: { a: 1 } }], nested)),
      ).rejects.toMatchObject({ code: 'InvalidInput' });
    }
  });
});

describe('keys of every kind match as a map of their values does', () => {
  const kinds: [string, Field['type'], fc.Arbitrary<unknown>][] = [
    ['int64', new Int64(), fc.bigInt({ min: -3n, max: 3n }).map((n) => n << 40n)],
    ['int32', new Int32(), fc.integer({ min: -4, max: 4 })],
    ['uint32', new Uint32(), fc.constantFrom(0, 1, 2 ** 31, 2 ** 32 - 1)],
    ['float64', new Float64(), fc.constantFrom(0, 1.5, -2, 1e300)],
    ['utf8', new Utf8(), fc.constantFrom('', 'a', 'ä', 'ab', '😀', 'a'.repeat(70))],
    ['binary', new Binary(), fc.constantFrom('', 'a', 'b').map((value) => Buffer.from(value))],
    ['dictionary', new Dictionary(new Utf8(), new Int32()), fc.constantFrom('x', 'y', 'z')],
  ];
  test.each(kinds)('%s', async (_, type, values) => {
    const own = new Schema([new Field('k', type, true), new Field('n', new Int32(), true)]);
    const key = fc.option(values, { nil: null, freq: 6 });
    await fc.assert(
      fc.asyncProperty(
        fc.array(key, { minLength: 1, maxLength: 14 }),
        fc.array(key, { maxLength: 6 }),
        async (old, came) => {
          const seen = new Set<string>();
          const show = (value: unknown): string =>
            value === null
              ? 'null'
              : value instanceof Uint8Array
                ? `h${Buffer.from(value).toString('hex')}`
                : `v${value}`;
          const fresh = came.filter(
            (value) => value === null || (!seen.has(show(value)) && seen.add(show(value))),
          );
          const { catalog } = await setUp(
            old.map((k, n) => ({ k, n })),
            { schema: own },
          );
          const answer = await catalog.mergeInsertIntoTable(
            { id: t, on: 'k', ...BOTH },
            await data(
              fresh.map((k) => ({ k, n: -1 })),
              own,
            ),
          );
          const known = new Set(old.filter((k) => k !== null).map(show));
          const updated = old.filter((k) => k !== null && seen.has(show(k))).length;
          const inserted = fresh.filter((k) => k === null || !known.has(show(k))).length;
          expect(answer).toMatchObject({ num_updated_rows: updated, num_inserted_rows: inserted });
          const expected = [
            ...old.map((k, n) => `${show(k)} ${k !== null && seen.has(show(k)) ? -1 : n}`),
            ...fresh.filter((k) => k === null || !known.has(show(k))).map((k) => `${show(k)} -1`),
          ];
          const found = (await read(catalog)).map(({ k, n }) => `${show(k)} ${n}`);
          expect(found.sort()).toEqual(expected.sort());
        },
      ),
      { numRuns: 25 },
    );
  });
});
