/** A null in a nested field that may not be null is refused wherever rows are written. */
import { describe, expect, test } from 'vitest';
import {
  Data,
  type DataType,
  DenseUnion,
  Dictionary,
  Field,
  FixedSizeList,
  Int8,
  Int16,
  Int32,
  LargeList,
  List,
  Map_,
  makeData,
  RecordBatch,
  type RecordBatchStream,
  recordBatchStream,
  Schema,
  SparseUnion,
  Struct,
  Utf8,
  vectorFromArray,
} from '../../../src/arrow/apache.ts';
import { sliceData } from '../../../src/arrow/index.ts';
import { openDirectoryNamespace } from '../../../src/directory/directory-namespace.ts';
import {
  decodeVersion,
  encodeManifest,
  type Manifest,
} from '../../../src/format/catalog/manifest.ts';
import { schemaToJson } from '../../../src/protocol/index.ts';
import { collectRows } from '../../../src/sdk/convert/rows.ts';
import { RequiredValues, refuseNulls } from '../../../src/table/write/required-values.ts';
import { filesOf } from '../../helpers/catalog-files.ts';
import { memoryFs } from '../../helpers/catalogs.ts';

const item = (type: DataType = new Int32(), nullable = false): Field =>
  new Field('item', type, nullable);
/** A bitmap of a few values. */
const bits = (valid: readonly boolean[]): Uint8Array => {
  const bitmap = new Uint8Array(64);
  valid.forEach((isValid, at) => {
    if (isValid) bitmap[at >> 3] = (bitmap[at >> 3] as number) | (1 << (at & 7));
  });
  return bitmap;
};
const ints = (values: readonly (number | null)[]): Data =>
  makeData({
    type: new Int32(),
    length: values.length,
    nullCount: values.filter((value) => value === null).length,
    nullBitmap: bits(values.map((value) => value !== null)),
    data: Int32Array.from(values, (value) => value ?? 0),
  });
type Rows = readonly boolean[] | undefined;
const nulls = (rows: number, valid: Rows) => ({
  length: rows,
  nullCount: valid?.filter((isValid) => !isValid).length ?? 0,
  nullBitmap: valid && bits(valid),
});
const listOf = (offsets: readonly number[], child: Data, valid?: Rows, field = item(child.type)) =>
  makeData({
    type: new List(field),
    ...nulls(offsets.length - 1, valid),
    // As a reader of IPC leaves them: padded with zeros.
    valueOffsets: Int32Array.from([...offsets, ...new Array<number>(16).fill(0)]),
    child,
  } as never) as unknown as Data;
const largeListOf = (offsets: readonly number[], child: Data) =>
  makeData({
    type: new LargeList(item(child.type)),
    length: offsets.length - 1,
    nullCount: 0,
    valueOffsets: BigInt64Array.from(offsets, BigInt),
    child,
  } as never) as unknown as Data;
const pairOf = (rows: number, child: Data, valid?: Rows) =>
  makeData({
    type: new FixedSizeList(2, item(child.type)),
    ...nulls(rows, valid),
    child,
  } as never) as unknown as Data;
const structOf = (child: Data, valid?: Rows, nullable = false) =>
  makeData({
    type: new Struct([new Field('a', child.type, nullable)]),
    ...nulls(child.length, valid),
    children: [child],
  } as never) as unknown as Data;

const streamOf = (column: Data, nullable = true): RecordBatchStream => {
  const schema = new Schema([new Field('c', column.type, nullable)]);
  const data = makeData({
    type: new Struct(schema.fields),
    length: column.length,
    children: [column],
  });
  return recordBatchStream(schema, [new RecordBatch(schema, data)]);
};

async function catalog(options: { lance?: 'off'; limits?: { batchRows: number } } = {}) {
  const namespace = await openDirectoryNamespace({ root: '/c', fs: memoryFs(), ...options });
  const id = ['t'];
  return {
    namespace,
    create: (column: Data) => namespace.createTable({ id }, streamOf(column)),
    add: (column: Data) => namespace.insertIntoTable({ id }, streamOf(column)),
    values: async () =>
      (await collectRows(await namespace.queryTable({ id, k: 1000 } as never))).map(({ c }) => c),
  };
}

const words = (of: readonly (string | null)[], ...indices: number[]): Data => {
  const data = makeData({
    type: new Dictionary(new Utf8(), new Int8()),
    length: indices.length,
    data: Int8Array.from(indices),
    dictionary: vectorFromArray(of, new Utf8()),
  });
  return data as unknown as Data;
};

const REFUSED: readonly (readonly [string, Data, string, number])[] = [
  ['an item of a list', listOf([0, 1, 3], ints([1, 2, null])), 'c[1]', 1],
  ['an item of a large list', largeListOf([0, 1, 1, 3], ints([1, null, 3])), 'c[0]', 2],
  ['an item of a vector', pairOf(2, ints([1, 2, 3, null])), 'c[1]', 1],
  ['a member of a struct', structOf(ints([1, null])), 'c.a', 1],
  [
    'a member of a struct in a list',
    listOf([0, 2, 3], structOf(ints([1, 2, null]), undefined)),
    'c[0].a',
    1,
  ],
  [
    'an item in a list of a struct that may be null',
    structOf(listOf([0, 1, 2, 3], ints([1, 2, null])), [true, false, true], true),
    'c.a[0]',
    2,
  ],
  ['a null value of a dictionary', structOf(words(['a', null], 0, 0, 1)), 'c.a', 2],
  ['the ninth of many', structOf(ints([1, 2, 3, 4, 5, 6, 7, 8, null, 10])), 'c.a', 8],
];

describe('a null in a required nested field', () => {
  test.each(REFUSED)('%s is refused by create and add', async (_, column, path, row) => {
    const { create, add, values } = await catalog();
    const refused = {
      code: 'TableSchemaValidation',
      message: expect.stringMatching(/^Row \d+, column ".*": found null, expected .* \(not null\)/),
      details: expect.objectContaining({ row, column: path }),
    };
    await expect(create(column)).rejects.toMatchObject(refused);
    await create(sliceData(column, 0, 0));
    await expect(add(column)).rejects.toMatchObject(refused);
    expect(await values()).toEqual([]);
  });

  test('is known in later batches by the row of the whole data', async () => {
    const { namespace } = await catalog({ limits: { batchRows: 3 } });
    const good = structOf(ints([1, 2, 3]));
    const bad = structOf(ints([1, null]));
    const schema = new Schema([new Field('c', good.type, true)]);
    const batches = [good, bad].map(
      (column) =>
        new RecordBatch(
          schema,
          makeData({ type: new Struct(schema.fields), length: column.length, children: [column] }),
        ),
    );
    await expect(
      namespace.createTable({ id: ['t'] }, recordBatchStream(schema, batches)),
    ).rejects.toMatchObject({ details: { row: 4, column: 'c.a' } });
  });

  test('counts where the data says that there may be nulls and the table does not', async () => {
    const { create, add, values } = await catalog();
    await create(listOf([0, 1], ints([1])));
    const loose = listOf([0, 2], ints([2, null]), undefined, item(new Int32(), true));
    await expect(add(loose)).rejects.toMatchObject({ details: { row: 0, column: 'c[1]' } });
    await add(listOf([0, 2], ints([2, 3]), undefined, item(new Int32(), true)));
    expect((await values()).map((list) => [...(list as Iterable<number>)])).toEqual([[1], [2, 3]]);
  });

  test('counts in narrower data that is stored as it comes', async () => {
    const { create, add } = await catalog({ lance: 'off' });
    await create(listOf([0, 1], ints([1])));
    const small = makeData({
      type: new Int16(),
      length: 2,
      nullCount: 1,
      nullBitmap: bits([true, false]),
      data: Int16Array.from([1, 0]),
    });
    const narrow = listOf([0, 2], small, undefined, item(new Int16(), true));
    await expect(add(narrow)).rejects.toMatchObject({ details: { row: 0, column: 'c[1]' } });
  });

  test('is refused by update', async () => {
    const { namespace, create, values } = await catalog();
    const id = ['t'];
    await create(listOf([0, 1, 2], ints([1, 2])));
    const before = JSON.stringify(await values());
    await expect(
      namespace.updateTable({ id, updates: [['c', '[1, NULL]']] }),
    ).rejects.toMatchObject({
      code: 'TableSchemaValidation',
      details: { row: 0, column: 'c[1]', found: 'null' },
    });
    expect(JSON.stringify(await values())).toBe(before);
  });

  test('is refused by merge', async () => {
    const { namespace } = await catalog();
    const id = ['m'];
    const rows = (column: Data): RecordBatchStream => {
      const key = ints(Array.from({ length: column.length }, (_, at) => at));
      const schema = new Schema([
        new Field('k', key.type, true),
        new Field('c', column.type, true),
      ]);
      const length = column.length;
      const data = makeData({ type: new Struct(schema.fields), length, children: [key, column] });
      return recordBatchStream(schema, [new RecordBatch(schema, data)]);
    };
    await namespace.createTable({ id }, rows(structOf(ints([1]))));
    const merge = (column: Data) =>
      namespace.mergeInsertIntoTable(
        { id, on: 'k', when_matched_update_all: true, when_not_matched_insert_all: true },
        rows(column),
      );
    await expect(merge(structOf(ints([2, null])))).rejects.toMatchObject({
      code: 'TableSchemaValidation',
      details: { column: 'c.a', found: 'null' },
    });
    expect(await merge(structOf(ints([2, 3])))).toMatchObject({ num_inserted_rows: 1 });
  });

  test('is refused by the members of structs that update sets', async () => {
    const { namespace, create, values } = await catalog();
    await create(structOf(listOf([0, 1], ints([1]))));
    await expect(
      namespace.updateTable({ id: ['t'], updates: [['c.a', '[NULL]']] }),
    ).rejects.toMatchObject({ details: { row: 0, column: 'c.a[0]' } });
    expect(await values()).toHaveLength(1);
  });

  test('ends an add during which the field was made required', async () => {
    const { namespace, create, values } = await catalog();
    const id = ['t'];
    await create(structOf(ints([1]), undefined, true));
    const given = structOf(ints([2, null]), undefined, true);
    const { schema } = streamOf(given);
    const altering = async function* () {
      await namespace.alterTableAlterColumns({
        id,
        alterations: [{ path: 'c.a', nullable: false }],
      } as never);
      yield* streamOf(given);
    };
    await expect(
      namespace.insertIntoTable({ id }, recordBatchStream(schema, altering())),
    ).rejects.toMatchObject({ code: 'ConcurrentModification' });
    expect(await values()).toHaveLength(1);
    await expect(namespace.insertIntoTable({ id }, streamOf(given))).rejects.toMatchObject({
      details: { row: 1, column: 'c.a' },
    });
  });
});

describe('a null in a required dictionary column', () => {
  const type = new Dictionary(new Utf8(), new Int8());
  const rows = (of: readonly (string | null)[], indices: Data): RecordBatchStream => {
    const dictionary = vectorFromArray(of, new Utf8());
    const data = indices.clone(type, 0, indices.length, indices.nullCount);
    data.dictionary = dictionary;
    const schema = new Schema([new Field('c', type, false)]);
    const children = makeData({ type: new Struct(schema.fields), children: [data] });
    return recordBatchStream(schema, [new RecordBatch(schema, children)]);
  };
  const positions = (valid: Rows, ...indices: number[]): Data =>
    makeData({ type: new Int8(), ...nulls(indices.length, valid), data: Int8Array.from(indices) });
  const refusal = {
    code: 'TableSchemaValidation',
    message: expect.stringContaining('column "c" is required and null in 1 rows'),
  };

  test.each([
    ['without an index', ['a'], positions([true, false], 0, 0)],
    ['that points at a null value', ['a', null], positions(undefined, 0, 1)],
  ] as const)('%s is refused by create, overwrite and add', async (_, of, indices) => {
    const { namespace } = await catalog();
    const id = ['t'];
    await expect(namespace.createTable({ id }, rows(of, indices))).rejects.toMatchObject(refusal);
    await namespace.createTable({ id }, rows(['a'], positions(undefined, 0)));
    const replaced = namespace.createTable({ id, mode: 'overwrite' }, rows(of, indices));
    await expect(replaced).rejects.toMatchObject(refusal);
    const added = namespace.insertIntoTable({ id }, rows(of, indices));
    await expect(added).rejects.toMatchObject(refusal);
    expect(await namespace.countTableRows({ id })).toMatchObject({ count: 1 });
    await namespace.insertIntoTable({ id }, rows(['b', null], positions(undefined, 0)));
    const found = await namespace.countTableRows({ id, predicate: "c = 'b'" });
    expect(found).toMatchObject({ count: 1 });
  });
});

describe('nulls that the table holds in required dictionaries', () => {
  const id = ['t'];
  const null1 = words(['a', null], 0, 1);
  /** A required word, and a number beside it that may be null. */
  const pairType = (nullable: boolean) =>
    new Struct([new Field('a', null1.type, nullable), new Field('b', new Int32(), true)]);
  const pair = (word: Data, number: Data) =>
    makeData({
      type: pairType(true),
      length: word.length,
      children: [word, number],
    } as never) as unknown as Data;
  const streamOfAll = (fields: Field[], columns: Data[]): RecordBatchStream => {
    const schema = new Schema(fields);
    const length = columns[0]?.length ?? 0;
    const children = makeData({ type: new Struct(schema.fields), length, children: columns });
    return recordBatchStream(schema, [new RecordBatch(schema, children)]);
  };

  /** Columns `i`, `c` and `s.a`, both required and null in the second row, `s.b` and `n`. */
  async function withNulls(limits = {}) {
    const fs = memoryFs();
    const open = () => openDirectoryNamespace({ root: '/c', fs, lance: 'off', limits });
    const columns = [ints([1, 2]), null1, pair(null1, ints([1, 2])), null1];
    const fieldsOf = (nullable: boolean) => [
      new Field('i', new Int32(), true),
      new Field('c', null1.type, nullable),
      new Field('s', pairType(nullable), true),
      new Field('n', null1.type, true),
    ];
    await (await open()).createTable({ id }, streamOfAll(fieldsOf(true), columns));
    // As earlier releases took such rows.
    const files = filesOf(fs, '/c');
    const path = files.all().find((each) => /versions-.*\/0*1\.json$/.test(each)) as string;
    const found = decodeVersion(files.read(path), path) as { manifest: Manifest };
    const required = schemaToJson(new Schema(fieldsOf(false)));
    files.write(path, encodeManifest({ ...found.manifest, schema: required }).bytes);
    return open();
  }

  test.each([
    ['moves rows', {}],
    ['writes beside them', { overlayBytes: 0 }],
  ])('are in the way of no update of others that %s', async (_, limits) => {
    const namespace = await withNulls(limits);
    const update = (...updates: [string, string][]) =>
      namespace.updateTable({ id, predicate: 'i >= 2', updates });
    expect(await update(['s.b', 's.b + 10'])).toMatchObject({ updated_rows: 1 });
    expect(await update(['i', 'i + 10'])).toMatchObject({ updated_rows: 1 });
    for (const column of ['c', 's.a'])
      await expect(update([column, 'n'])).rejects.toMatchObject({ code: 'TableSchemaValidation' });
    await expect(update(['s', 's'])).rejects.toMatchObject({ details: { column: 's.a' } });
    expect(await update(['c', "'b'"], ['s.a', "'b'"])).toMatchObject({ updated_rows: 1 });
  });

  test('are in the way of no merge that leaves them as they are', async () => {
    const namespace = await withNulls();
    const merge = (column: string, values: Data, inserts = false) =>
      namespace.mergeInsertIntoTable(
        { id, on: 'i', when_matched_update_all: true, when_not_matched_insert_all: inserts },
        streamOfAll(
          [new Field('i', new Int32(), true), new Field(column, values.type, true)],
          [ints([2]), values],
        ),
      );
    const number = makeData({
      type: new Struct([new Field('b', new Int32(), true)]),
      length: 1,
      children: [ints([7])],
    } as never) as unknown as Data;
    expect(await merge('n', words(['x'], 0))).toMatchObject({ num_updated_rows: 1 });
    const refusal = { code: 'TableSchemaValidation' };
    await expect(merge('c', words(['a', null], 1))).rejects.toMatchObject(refusal);
    const nullInside = merge('s', pair(words(['a', null], 1), ints([3])));
    await expect(nullInside).rejects.toMatchObject({ ...refusal, details: { column: 's.a' } });
    expect(await merge('s', pair(words(['y'], 0), ints([3])))).toMatchObject({
      num_updated_rows: 1,
    });
    // A struct may come without members that may be null alone.
    await expect(merge('s', number)).rejects.toMatchObject(refusal);
    // Rows that are inserted lack the column.
    await expect(merge('n', words(['x'], 0), true)).rejects.toMatchObject(refusal);
    const rows = await collectRows(await namespace.queryTable({ id, k: 9 } as never));
    expect(rows.find(({ i }) => i === 2)).toMatchObject({ c: null, s: { a: 'y', b: 3 }, n: 'x' });
  });
});

test.each([
  ['in the order of the table', (id: number) => id],
  ['in another order', (id: number, count: number) => count - 1 - id],
])('columns of a fragment %s are found without a search for each', (_, order) => {
  const count = 1000;
  const fields = Array.from({ length: count }, (__, id) => ({
    id,
    field: new Field(`c${id}`, new Int32(), false),
  }));
  let looks = 0;
  const ids = new Proxy(
    fields.map(({ id }) => order(id, count)),
    {
      get: (of, key) => {
        looks += 1;
        return Reflect.get(of, key);
      },
    },
  );
  const nulls = (column: number) => ids.map((id) => [5, id === column ? 2 : 0]);
  const fragment = { fields: ids, rows: 5 };
  const [none, some] = [nulls(-1), nulls(990)];
  looks = 0;
  refuseNulls(fields, [{ ...fragment, statistics: none }]);
  expect(looks).toBeLessThan(10 * count);
  expect(() => refuseNulls(fields, [{ ...fragment, statistics: some }])).toThrow(
    'column "c990" is required and null in 2 rows',
  );
});

describe('does not count', () => {
  const HIDDEN: readonly (readonly [string, Data])[] = [
    ['below a null struct', structOf(ints([1, null, 3]), [true, false, true])],
    ['below a null vector', pairOf(2, ints([1, 2, null, null]), [true, false])],
    ['below a null list', listOf([0, 1, 3], ints([1, 2, null]), [true, false])],
    ['outside of all lists', listOf([1, 2], ints([null, 2, null]))],
    [
      'below a null struct two levels up',
      structOf(pairOf(2, ints([1, 2, 3, null])), [true, false]),
    ],
    ['in a field that may be null', structOf(ints([1, null]), undefined, true)],
    [
      'in a dictionary below a null struct',
      structOf(words(['a', null], 0, 1, 0), [true, false, true]),
    ],
    ['in a dictionary where no row points', structOf(words(['a', null], 0, 0))],
    [
      'in a dictionary before the first row',
      sliceData(structOf(words(['a', null], 1, 0, 0)), 1, 2),
    ],
    ['past the last row', sliceData(structOf(ints([1, 2, null])), 0, 2)],
    ['before the first row', sliceData(structOf(ints([null, 2, 3])), 1, 2)],
    ['in lists before the first', sliceData(listOf([0, 1, 2], ints([null, 2])), 1, 1)],
  ];
  test.each(HIDDEN)('what lies %s', async (_, column) => {
    const { create, add, values } = await catalog();
    await create(column);
    await add(column);
    expect((await values()).length).toBe(2 * column.length);
  });
});

describe('in types that catalogs seldom hold', () => {
  const check = (column: Data): void => {
    let id = 0;
    const identify = (field: Field): never =>
      ({ id: id++, field, children: (field.type.children ?? []).map(identify) }) as never;
    const { schema } = streamOf(column);
    const rules = RequiredValues.of(schema.fields.map(identify));
    const batch = new RecordBatch(
      schema,
      makeData({ type: new Struct(schema.fields), length: column.length, children: [column] }),
    );
    rules?.check(batch, 10);
  };
  const members = (nullable: boolean) => [
    new Field('i', new Int32(), nullable),
    new Field('j', new Int32(), nullable),
  ];

  test('a sparse union takes the member that a row names', () => {
    const union = (ids: readonly number[]) =>
      new Data(
        new SparseUnion([5, 7], members(false)),
        0,
        3,
        0,
        [undefined, undefined, undefined, Int8Array.from(ids)] as never,
        [ints([1, null, 3]), ints([1, 2, null])],
      );
    expect(() => check(union([5, 7, 5]))).not.toThrow();
    expect(() => check(union([5, 5, 5]))).toThrow(/^Row 11, column "c\.i": found null/);
    expect(() => check(union([5, 7, 7]))).toThrow(/^Row 12, column "c\.j": found null/);
  });

  test('a dense union takes the values that its rows point at', () => {
    const union = (ids: readonly number[], offsets: readonly number[]) =>
      new Data(
        new DenseUnion([5, 7], members(false)),
        0,
        ids.length,
        0,
        [Int32Array.from(offsets), undefined, undefined, Int8Array.from(ids)] as never,
        [ints([1, null]), ints([null, 2])],
      );
    expect(() => check(union([5, 7], [0, 1]))).not.toThrow();
    expect(() => check(union([5, 7, 5], [0, 1, 1]))).toThrow(/^Row 12, column "c\.i"/);
  });

  test('a key of a map', () => {
    const entries = makeData({
      type: new Struct([
        new Field('key', new Int32(), false),
        new Field('value', new Utf8(), true),
      ]),
      length: 2,
      children: [
        ints([1, null]),
        makeData({
          type: new Utf8(),
          length: 2,
          nullCount: 2,
          nullBitmap: bits([]),
          valueOffsets: new Int32Array(3),
          data: new Uint8Array(8),
        }),
      ],
    } as never) as unknown as Data;
    const map = new Data(
      new Map_(new Field('entries', entries.type, false) as never),
      0,
      2,
      0,
      [Int32Array.from([0, 1, 2])] as never,
      [entries],
    );
    expect(() => check(map)).toThrow(/^Row 11, column "c\[0\]\.key": found null/);
    expect(() => check(sliceData(map, 0, 1))).not.toThrow();
  });

  test('only the rows of a slice count', () => {
    const column = structOf(ints([null, 2, null, 4, null]), [true, true, false, true, true]);
    expect(() => check(sliceData(column, 1, 3))).not.toThrow();
    expect(() => check(sliceData(column, 1, 4))).toThrow(/^Row 13, column "c\.a"/);
    expect(() => check(sliceData(column, 0, 3))).toThrow(/^Row 10, column "c\.a"/);
  });

  test('nothing is checked where no nested field is required', () => {
    const field = new Field('c', new List(item(new Int32(), true)), false);
    const child = { id: 1, field: item(new Int32(), true), children: [] };
    expect(RequiredValues.of([{ id: 0, field, children: [child] }])).toBeUndefined();
  });
});
