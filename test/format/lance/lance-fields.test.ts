/** Columns on which Lance's readers fail or crash have no form in Lance; the same below structs has one. */
import { expect, test } from 'vitest';
import {
  Bool,
  type DataType,
  Dictionary,
  Field,
  FixedSizeBinary,
  FixedSizeList,
  Int8,
  Int16,
  Int32,
  LargeBinary,
  List,
  Schema,
  Struct,
  Uint8,
  Utf8,
} from '../../../src/arrow/apache.ts';
import {
  type LanceField,
  lanceExportSchema,
  lanceFields,
} from '../../../src/format/lance/index.ts';
import { fieldMembers, manifestFieldMembers } from '../../../src/format/lance/lance-fields.ts';
import { ProtoFile } from '../../../src/format/lance/proto-reader.ts';
import { message } from '../../../src/format/lance/protobuf.ts';

type Metadata = Record<string, string>;

const field = (name: string, type: DataType, metadata: Metadata = {}, nullable = true): Field =>
  new Field(name, type, nullable, new Map(Object.entries(metadata)));

/** The problem of a column, beside a plain one. */
function problemOf(column: Field): string | undefined {
  const fields = [field('id', new Int32()), column];
  const found = lanceFields(fields, [0, 1, 2, 3, 4]);
  const schema = new Schema(fields);
  if ('problem' in found) {
    expect(() => lanceExportSchema(schema)).toThrow(found.problem);
    return found.problem;
  }
  expect(lanceExportSchema(schema).fields).toHaveLength(found.fields.length);
  return undefined;
}

const OWN = 'has the name of a column that Lance makes itself';

test.each([
  ['', 'has an empty name'],
  ['a.b', 'has a name with a period'],
  ['.', 'has a name with a period'],
  ['a`b', 'has a name with a backtick'],
  ['_rowid', OWN],
  ['_rowaddr', OWN],
  ['_rowoffset', OWN],
  ['_row_created_at_version', OWN],
  ['_row_last_updated_at_version', OWN],
])('a column named %j is not read, and a member of a struct is', (name, what) => {
  expect(problemOf(field(name, new Int32()))).toBe(`column ${JSON.stringify(name)} ${what}`);
  expect(problemOf(field('s', new Struct([field(name, new Int32())])))).toBe(undefined);
});

test.each(['_rowID', '_ROWID', '_rowids', '_distance', '_score', 'a b', 'x$y', '"q"', '😀'])(
  'a column named %j is read',
  (name) => {
    expect(problemOf(field(name, new Int32()))).toBe(undefined);
  },
);

test('a NUL in any name aborts the reader', () => {
  const what = 'has a name with a NUL character';
  expect(problemOf(field('\0z', new Int32()))).toBe(`column "\\u0000z" ${what}`);
  const nested = field('s', new Struct([field('x\0', new Int32())]));
  expect(problemOf(nested)).toBe(`column "s.x\\u0000" ${what}`);
  // The items of a vector are no field of Lance's.
  const vector = new FixedSizeList(2, field('\0', new Int32()));
  expect(problemOf(field('v', vector))).toBe(undefined);
});

test.each(['arrow.json', 'lance.blob.v2'])('the extension type %s, wherever it is', (name) => {
  const metadata = { 'ARROW:extension:name': name };
  const what = `has the extension type ${name}`;
  expect(problemOf(field('c', new Utf8(), metadata))).toBe(`column "c" ${what}`);
  const nested = field('s', new List(field('item', new LargeBinary(), metadata)));
  expect(problemOf(nested)).toBe(`column "s.item" ${what}`);
});

test.each(['lance.json', 'lance.bfloat16', 'arrow.parquet.variant'])(
  'the extension type %s is read',
  (name) => {
    expect(problemOf(field('c', new LargeBinary(), { 'ARROW:extension:name': name }))).toBe(
      undefined,
    );
  },
);

test.each<[string, string, DataType, boolean, string?]>([
  ['arrow.uuid', 'fixed_size_binary[16] without metadata of it', new FixedSizeBinary(16), true],
  ['arrow.uuid', 'fixed_size_binary[16] without metadata of it', new FixedSizeBinary(16), true, ''],
  [
    'arrow.uuid',
    'fixed_size_binary[16] without metadata of it',
    new FixedSizeBinary(16),
    false,
    '{}',
  ],
  ['arrow.uuid', 'fixed_size_binary[16] without metadata of it', new FixedSizeBinary(8), false],
  ['arrow.uuid', 'fixed_size_binary[16] without metadata of it', new Utf8(), false],
  ['arrow.bool8', 'int8 without metadata of it', new Int8(), true],
  ['arrow.bool8', 'int8 without metadata of it', new Int8(), false, '{}'],
  ['arrow.bool8', 'int8 without metadata of it', new Uint8(), false],
  ['arrow.bool8', 'int8 without metadata of it', new Int16(), false],
  ['arrow.bool8', 'int8 without metadata of it', new Bool(), false],
])(
  'the extension type %s of %s, which pyarrow checks, on %s',
  (name, storage, type, isIt, given) => {
    const metadata = {
      'ARROW:extension:name': name,
      ...(given === undefined ? {} : { 'ARROW:extension:metadata': given }),
    };
    const what = `has the extension type ${name} and is not ${storage}`;
    expect(problemOf(field('c', type, metadata))).toBe(isIt ? undefined : `column "c" ${what}`);
    const nested = field('s', new List(field('item', type, metadata)));
    expect(problemOf(nested)).toBe(isIt ? undefined : `column "s.item" ${what}`);
  },
);

const item = (type: DataType): Field => field('item', type);
const vector = new FixedSizeList(4, item(new Int32()));
const ragged = (data: DataType, shape: DataType): Struct =>
  new Struct([field('data', data), field('shape', shape)]);
const shaped = ragged(new List(item(new Int32())), new FixedSizeList(2, item(new Int32())));
const OPAQUE = 'described by a type_name and a vendor_name';
const TENSOR = 'a vector described by a shape of as many items';
const RAGGED = 'a struct of a list and a vector of int32, its shape, described by an object';

// As pylance 14.0.2 with pyarrow 26.0.1 opens a table of them, or does not.
test.each<[string, string, DataType, readonly string[], readonly string[]]>([
  [
    'arrow.opaque',
    OPAQUE,
    new Int32(),
    ['{"type_name":"a","vendor_name":"b"}', ' {"type_name":"","vendor_name":"","x":1} '],
    [
      '',
      'x',
      '["a"]',
      '{"vendor_name":"b"}',
      '{"type_name":"a"}',
      '{"type_name":1,"vendor_name":"b"}',
    ],
  ],
  [
    'arrow.fixed_shape_tensor',
    TENSOR,
    vector,
    [
      ...['{"shape":[4]}', '{"shape":[2,2,1],"x":1}', '{"shape":[2,2],"dim_names":["a","b"]}'],
      ...['{"shape":[2,2],"permutation":[1,0]}', '{"shape":[2,2],"uniform_shape":[1]}'],
    ],
    [
      ...['', '[4]', '{}', '{"shape":4}', '{"shape":[]}', '{"shape":[3,2]}', '{"shape":[2.0,2]}'],
      ...['{"shape":["2",2]}', '{"shape":[-2,-2]}', '{"shape":[2,2],"dim_names":["a"]}'],
      ...['{"shape":[2,2],"dim_names":[1,2]}', '{"shape":[2,2],"dim_names":null}'],
      ...['{"shape":[2,2],"permutation":[0]}', '{"shape":[2,2],"permutation":[0,2]}'],
      ...['{"shape":[2,2],"permutation":[1,1]}', '{"shape":[2,2]}x'],
    ],
  ],
  ['arrow.fixed_shape_tensor', TENSOR, new Int32(), [], ['{"shape":[1]}']],
  [
    'arrow.variable_shape_tensor',
    RAGGED,
    shaped,
    [
      ...['{}', '{"x":1}', '{"permutation":[1,0]}', '{"dim_names":["a","b"]}'],
      ...['{"uniform_shape":[2,null]}'],
    ],
    [
      ...['', '[]', 'null', '{"permutation":[0]}', '{"permutation":[0,0]}', '{"permutation":null}'],
      ...['{"dim_names":["a"]}', '{"uniform_shape":[2]}', '{"uniform_shape":["a",null]}'],
      ...['{"uniform_shape":[-1,null]}'],
    ],
  ],
  ['arrow.variable_shape_tensor', RAGGED, new Int32(), [], ['{}']],
  [
    'arrow.variable_shape_tensor',
    RAGGED,
    ragged(new List(item(new Int32())), new List(item(new Int32()))),
    [],
    ['{}'],
  ],
  [
    'arrow.variable_shape_tensor',
    RAGGED,
    ragged(vector, new FixedSizeList(2, item(new Int32()))),
    [],
    ['{}'],
  ],
  [
    'arrow.variable_shape_tensor',
    RAGGED,
    ragged(new List(item(new Int32())), new FixedSizeList(2, item(new Int16()))),
    [],
    ['{}'],
  ],
  [
    'arrow.variable_shape_tensor',
    RAGGED,
    new Struct([...shaped.children, field('more', new Int32())]),
    [],
    ['{}'],
  ],
])('the extension type %s, of which pyarrow wants %s, on %s', (name, what, type, fine, wrong) => {
  const problem = `column "c" has the extension type ${name} and is not ${what}`;
  const find = (given: string): string | undefined =>
    problemOf(
      field('c', type, { 'ARROW:extension:name': name, 'ARROW:extension:metadata': given }),
    );
  for (const given of fine) expect([given, find(given)]).toEqual([given, undefined]);
  for (const given of wrong) expect([given, find(given)]).toEqual([given, problem]);
});

const KEY = 'lance-schema:unenforced-primary-key';

test.each<Metadata>([
  { [KEY]: 'true' },
  { [KEY]: 'YES' },
  { [KEY]: '1' },
  { [`${KEY}:position`]: '1' },
])('a primary key %j is read where nothing may be null', (metadata) => {
  const what =
    'has metadata that makes it a primary key, and it is in a list, holds others, or may be null';
  const required = field('k', new Int32(), metadata, false);
  expect(problemOf(required)).toBe(undefined);
  expect(problemOf(field('s', new Struct([required]), {}, false))).toBe(undefined);
  expect(problemOf(field('s', new Struct([required])))).toBe(`column "s.k" ${what}`);
  expect(problemOf(field('s', new List(required), {}, false))).toBe(`column "s.k" ${what}`);
  expect(problemOf(field('k', new Int32(), metadata))).toBe(`column "k" ${what}`);
  const struct = new Struct([field('x', new Int32(), {}, false)]);
  expect(problemOf(field('k', struct, metadata, false))).toBe(`column "k" ${what}`);
});

test.each<[Metadata, number[]]>([
  [{ [KEY]: 'true' }, [12, 1]],
  [{ [KEY]: 'no' }, []],
  [{ [`${KEY}:position`]: '2' }, [12, 1, 13, 2]],
  [{ [KEY]: 'true', [`${KEY}:position`]: '300' }, [12, 1, 13, 300]],
  [{ [KEY]: 'true', [`${KEY}:position`]: '0' }, [12, 1]],
  [{ [`${KEY}:position`]: '99999999999' }, []],
])('files tell the place in a primary key, %j, in members of their own', (metadata, members) => {
  const found = lanceFields(
    [new Field('k', new Int32(), false, new Map(Object.entries(metadata)))],
    [0],
  );
  if ('problem' in found) throw new Error(found.problem);
  const field = message();
  fieldMembers(found.fields[0] as LanceField)(field);
  const bytes = field.finish();
  const reader = new ProtoFile(bytes, 'a file').message('Field', 0, bytes.length);
  const told: number[] = [];
  while (reader.next()) {
    if (reader.member === 12 || reader.member === 13) told.push(reader.member, reader.uint());
    else reader.skip();
  }
  expect(told).toEqual(members);
});

test.each<Metadata>([
  { [KEY]: 'false' },
  { [`${KEY}:position`]: 'x' },
  { 'lance-encoding:blob': 'true' },
  { 'lance-encoding:compression': 'nonsense' },
  { 'lance-encoding:structural-encoding': 'fullzip' },
])('the metadata %j are read', (metadata) => {
  expect(problemOf(field('c', new LargeBinary(), metadata))).toBe(undefined);
});

test.each<[DataType, readonly (number | undefined)[]]>([
  [new Int32(), [1]],
  [new Bool(), [1]],
  [new FixedSizeBinary(2), [1]],
  [new FixedSizeList(2, field('item', new Int8())), [1]],
  [new Utf8(), [2]],
  [new LargeBinary(), [2]],
  [new Dictionary(new Utf8(), new Int32()), [3]],
  [new List(field('item', new Utf8())), [1, 2]],
  [new Struct([field('a', new Int16())]), [undefined, 1]],
  [new List(field('item', new Struct([field('a', new Utf8())]))), [1, undefined, 2]],
])('a manifest says how %s is encoded, as Lance does', (type, encodings) => {
  const found = lanceFields([field('c', type)], [0, 1, 2]);
  const fields = 'fields' in found ? found.fields : [];
  // The member 7 is written last.
  const encodingOf = (bytes: Uint8Array): number | undefined =>
    bytes.at(-2) === 7 << 3 ? bytes.at(-1) : undefined;
  const written = fields.map((each) => {
    const into = message();
    manifestFieldMembers(each)(into);
    return encodingOf(into.finish());
  });
  expect(written).toEqual(encodings);
});
