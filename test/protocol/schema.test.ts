import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  type DataType,
  Decimal,
  Dictionary,
  Field,
  FixedSizeList,
  Float32,
  Int8,
  Int16,
  Int32,
  LargeList,
  List,
  Map_,
  Schema,
  Struct,
  Time,
  Timestamp,
  TimeUnit,
  Union,
  Utf8,
  Utf8View,
} from '../../src/arrow/apache.ts';
import { describeType, schemasEqual, typesEqual } from '../../src/arrow/schema-equality.ts';
import { isDirspaceError } from '../../src/errors.ts';
import {
  MAX_SCHEMA_DEPTH,
  MAX_SCHEMA_FIELDS,
  schemaFromJson,
  schemaToJson,
  schemaToLanceJson,
  typeFromJson,
  typeToJson,
} from '../../src/protocol/types/schema.ts';
import { arbitrarySchema, LEAVES } from '../helpers/arrow-types.ts';

const item = (type: DataType): Field => new Field('item', type, true);
const jsonItem = (type: string) => ({ name: 'item', nullable: true, type: { type } });
const entries = (key: DataType, value: DataType): Field<Struct> =>
  new Field('entries', new Struct([new Field('key', key), new Field('value', value, true)]));
const lance = (type: DataType): unknown =>
  schemaToLanceJson(new Schema([new Field('a', type)])).fields[0]?.type;

describe('the JSON of a schema', () => {
  it('survives the way there and back, whatever the schema', () => {
    fc.assert(
      fc.property(arbitrarySchema, (schema) => {
        const json = schemaToJson(schema);
        const back = schemaFromJson(JSON.parse(JSON.stringify(json)));
        expect(schemasEqual(schema, back, { metadata: true })).toBe(true);
        // Equality is blind to the names inside lists; the JSON is not.
        expect(JSON.stringify(schemaToJson(back))).toBe(JSON.stringify(json));
        // Lance's names lead to the same types.
        expect(schemasEqual(schema, schemaFromJson(schemaToLanceJson(schema)))).toBe(true);
      }),
      { numRuns: 500 },
    );
    expect(({} as Record<string, unknown>).polluted).toBeUndefined();
  });

  for (const [type, name, length] of LEAVES) {
    it(`names ${String(type)} as ${name}`, () => {
      const json = length === undefined ? { type: name } : { type: name, length };
      expect(typeToJson(type)).toEqual(json);
      expect(typesEqual(typeFromJson(json), type)).toBe(true);
    });
  }

  it.each([
    [new List(item(new Utf8())), { type: 'list', fields: [jsonItem('utf8')] }],
    [new LargeList(item(new Utf8())), { type: 'large_list', fields: [jsonItem('utf8')] }],
    [
      new FixedSizeList(3, item(new Float32())),
      { type: 'fixed_size_list', length: 3, fields: [jsonItem('float32')] },
    ],
    [new Struct([]), { type: 'struct', fields: [] }],
    [
      new Union(1, [5, 0], [item(new Utf8()), item(new Int8())]),
      {
        type: 'dense_union:5,0',
        fields: [jsonItem('utf8'), jsonItem('int8')],
      },
    ],
    [new Union(0, [0], [item(new Utf8())]), { type: 'sparse_union:0', fields: [jsonItem('utf8')] }],
    [new Dictionary(new Utf8(), new Int32()), { type: 'dictionary:int32:utf8' }],
    [new Dictionary(new Utf8(), new Int8(), 7, true), { type: 'dictionary:int8:ordered:utf8' }],
    [
      new Dictionary(new Timestamp(TimeUnit.SECOND, 'ordered'), new Int16()),
      {
        type: 'dictionary:int16:timestamp:s:ordered',
      },
    ],
    [
      new Dictionary(new FixedSizeList(2, item(new Int8())), new Int16()),
      {
        type: 'dictionary:int16:fixed_size_list',
        length: 2,
        fields: [jsonItem('int8')],
      },
    ],
  ] as const)('describes %s', (type, json) => {
    expect(typeToJson(type)).toEqual(json);
    expect(typesEqual(typeFromJson(json), type, {})).toBe(true);
  });

  it('keeps whether the keys of a map are sorted, and does not touch the fields it is given', () => {
    const json = typeToJson(new Map_(entries(new Utf8(), new Int8()), true));
    expect(json.type).toBe('map:keys_sorted');
    expect((typeFromJson(json) as Map_).keysSorted).toBe(true);
    expect(typeToJson(new Map_(entries(new Utf8(), new Int8()))).type).toBe('map');
  });

  it('keeps the metadata, with keys that mean something to JavaScript', () => {
    const schema = new Schema(
      [new Field('__proto__', new Utf8(), false, new Map([['__proto__', 'x']]))],
      new Map([['constructor', '1']]),
    );
    const text = JSON.stringify(schemaToJson(schema));
    const back = schemaFromJson(JSON.parse(text));
    expect([...back.metadata]).toEqual([['constructor', '1']]);
    expect([...(back.fields[0]?.metadata ?? [])]).toEqual([['__proto__', 'x']]);
    expect(({} as Record<string, unknown>).x).toBeUndefined();
    expect(schemaToJson(new Schema([]))).toEqual({ fields: [] });
  });

  it('reads and writes single fields', () => {
    const field = new Field('a', new Utf8(), true, new Map([['k', 'v']]));
    const json = schemaToJson(new Schema([field]));
    expect(json.fields[0]).toEqual({
      name: 'a',
      nullable: true,
      type: { type: 'utf8' },
      metadata: { k: 'v' },
    });
    expect(schemaFromJson(json).fields.map(String)).toEqual([field.toString()]);
  });
});

describe('the names of Lance', () => {
  it.each([
    ['halffloat', 'float16'],
    ['float', 'float32'],
    ['double', 'float64'],
    ['string', 'utf8'],
    ['large_string', 'large_utf8'],
    ['string_view', 'utf8_view'],
    ['date32:day', 'date32'],
    ['date64:ms', 'date64'],
    ['timestamp:us:-', 'timestamp:us'],
    ['timestamp:ns:+05:30', 'timestamp:ns:+05:30'],
    ['decimal:128:38:10', 'decimal128:38:10'],
    ['decimal:256:76:-1', 'decimal256:76:-1'],
    ['dict:string:int32:false', 'dictionary:int32:utf8'],
    ['dict:timestamp:us:+05:30:int8:true', 'dictionary:int8:ordered:timestamp:us:+05:30'],
    ['dict:decimal:128:38:10:uint16:false', 'dictionary:uint16:decimal128:38:10'],
  ])('%s is read as %s', (name, arrow) => {
    expect(typeToJson(typeFromJson({ type: name }))).toEqual({ type: arrow });
  });

  it('are read in their older forms', () => {
    expect(typeToJson(typeFromJson({ type: 'fixed_size_list:float:4' }))).toEqual({
      type: 'fixed_size_list',
      length: 4,
      fields: [jsonItem('float32')],
    });
    expect(typeToJson(typeFromJson({ type: 'fixed_size_binary:16' }))).toEqual({
      type: 'fixed_size_binary',
      length: 16,
    });
  });

  it('are read as a list of structs is said within Lance', () => {
    const fields = [
      { name: 'item', nullable: true, type: { type: 'struct', fields: [jsonItem('float')] } },
    ];
    for (const list of ['list', 'large_list']) {
      const read = typeFromJson({ type: `${list}.struct`, fields });
      expect(typeToJson(read)).toEqual(typeToJson(typeFromJson({ type: list, fields })));
    }
    expect(() => typeFromJson({ type: 'list.struct', fields: [jsonItem('float')] })).toThrow(
      'struct',
    );
  });

  it('are written for a dialect', () => {
    expect(lance(new Utf8())).toEqual({ type: 'string' });
    expect(lance(new Timestamp(TimeUnit.MICROSECOND))).toEqual({ type: 'timestamp:us:-' });
    expect(lance(new Timestamp(TimeUnit.MICROSECOND, 'UTC'))).toEqual({ type: 'timestamp:us:UTC' });
    expect(lance(new Decimal(10, 38, 128))).toEqual({ type: 'decimal:128:38:10' });
    expect(lance(new Dictionary(new Utf8(), new Int32()))).toEqual({
      type: 'dict:string:int32:false',
    });
    expect(lance(new FixedSizeList(2, item(new Float32())))).toEqual({
      type: 'fixed_size_list',
      length: 2,
      fields: [jsonItem('float')],
    });
    // Lance has no name for these.
    expect(lance(new Utf8View())).toEqual({ type: 'utf8_view' });
    expect(lance(new Decimal(2, 9, 32))).toEqual({ type: 'decimal32:9:2' });
    expect(lance(new Dictionary(new List(item(new Utf8())), new Int32()))).toEqual({
      type: 'dictionary:int32:list',
      fields: [jsonItem('string')],
    });
  });
});

describe('what is refused', () => {
  const field = (type: unknown) => ({ fields: [{ name: 'a', nullable: true, type }] });
  it.each<[unknown, string, RegExp]>([
    [null, 'InvalidInput', /schema: expected an object, not null/],
    [[], 'InvalidInput', /expected an object, not a list/],
    [{}, 'InvalidInput', /fields: expected a list, not nothing/],
    [{ fields: [{ nullable: true, type: { type: 'utf8' } }] }, 'InvalidInput', /fields\[0\]\.name/],
    [{ fields: [{ name: 'a', type: { type: 'utf8' } }] }, 'InvalidInput', /fields\[0\]\.nullable/],
    [
      { fields: [], metadata: { k: 1 } },
      'InvalidInput',
      /metadata\["k"\]: expected a string, not 1/,
    ],
    [field('utf8'), 'InvalidInput', /fields\[0\]\.type: expected an object, not "utf8"/],
    [field({ type: 7 }), 'InvalidInput', /fields\[0\]\.type\.type/],
    [field({ type: 'utf8', length: 1.5 }), 'InvalidInput', /type\.length/],
    [field({ type: 'list', fields: [{}] }), 'InvalidInput', /fields\[0\]\.type\.fields\[0\]\.name/],
    [field({ type: 'text' }), 'TableSchemaValidation', /"text" is no type/],
    [field({ type: 'toString' }), 'TableSchemaValidation', /is no type/],
    [field({ type: 'utf8', length: 1 }), 'TableSchemaValidation', /takes no "length"/],
    [field({ type: 'utf8', fields: [jsonItem('utf8')] }), 'TableSchemaValidation', /no "fields"/],
    [field({ type: 'timestamp' }), 'TableSchemaValidation', /one of s, ms, us, ns/],
    [field({ type: 'time32:us' }), 'TableSchemaValidation', /no time of 32 bits/],
    [field({ type: 'decimal128' }), 'TableSchemaValidation', /precision and scale/],
    [field({ type: 'decimal128:39:0' }), 'TableSchemaValidation', /from 1 to 38, not 39/],
    [field({ type: 'decimal:100:3:0' }), 'TableSchemaValidation', /no width of "100"/],
    [field({ type: 'decimal:0x80:3:0' }), 'TableSchemaValidation', /no width of "0x80"/],
    [
      field({ type: 'fixed_size_list', fields: [jsonItem('int8')] }),
      'TableSchemaValidation',
      /"length"/,
    ],
    [field({ type: 'fixed_size_binary', length: 2 ** 31 }), 'TableSchemaValidation', /"length"/],
    [field({ type: 'list' }), 'TableSchemaValidation', /needs "fields"/],
    [field({ type: 'list', fields: [] }), 'TableSchemaValidation', /exactly one field/],
    [
      field({ type: 'list:x', fields: [jsonItem('int8')] }),
      'TableSchemaValidation',
      /no parameters/,
    ],
    [field({ type: 'map', fields: [jsonItem('int8')] }), 'TableSchemaValidation', /two fields/],
    [
      field({ type: 'dense_union:1,1', fields: [jsonItem('int8'), jsonItem('int8')] }),
      'TableSchemaValidation',
      /different integers/,
    ],
    [
      field({ type: 'dense_union:128', fields: [jsonItem('int8')] }),
      'TableSchemaValidation',
      /0 to 127/,
    ],
    [
      field({ type: 'dense_union:0,1', fields: [jsonItem('int8')] }),
      'TableSchemaValidation',
      /2 type ids/,
    ],
    [field({ type: 'dictionary:int32' }), 'TableSchemaValidation', /indices and values/],
    [field({ type: 'dictionary:utf8:utf8' }), 'TableSchemaValidation', /indices of type "utf8"/],
    [
      field({ type: 'dictionary:int8:dictionary:int8:utf8' }),
      'TableSchemaValidation',
      /cannot hold dictionaries/,
    ],
    [field({ type: 'dict:string:int32' }), 'TableSchemaValidation', /dict:string:int32:false/],
    [field({ type: `timestamp:us:${'x'.repeat(2000)}` }), 'TableSchemaValidation', /characters/],
  ])('%j', (json, code, message) => {
    let error: unknown;
    try {
      schemaFromJson(json);
    } catch (thrown) {
      error = thrown;
    }
    expect(isDirspaceError(error) && error.code).toBe(code);
    expect((error as Error).message).toMatch(message);
  });

  it('types nested without end, and fields without number', () => {
    let type: unknown = { type: 'utf8' };
    for (let depth = 0; depth < MAX_SCHEMA_DEPTH; depth += 1) {
      type = { type: 'list', fields: [{ name: 'item', nullable: true, type }] };
    }
    expect(() => schemaFromJson(field(type))).not.toThrow();
    for (let depth = 0; depth < 100_000; depth += 1) {
      type = { type: 'list', fields: [{ name: 'item', nullable: true, type }] };
    }
    expect(() => schemaFromJson(field(type))).toThrow(/nest deeper than 64/);
    const many = new Array(MAX_SCHEMA_FIELDS + 1).fill(jsonItem('utf8'));
    expect(() => schemaFromJson({ fields: many })).toThrow(/at most 65536 fields/);
    // Shared objects multiply without taking memory.
    let shared: unknown = { type: 'struct', fields: [] };
    for (let depth = 0; depth < 30; depth += 1) {
      const twice = { name: 'x', nullable: true, type: shared };
      shared = { type: 'struct', fields: [twice, twice] };
    }
    expect(() => schemaFromJson(field(shared))).toThrow(/at most 65536 fields/);
  });

  it('types in memory that Arrow does not have', () => {
    expect(() => typeToJson(new Time(TimeUnit.SECOND, 64))).toThrow(/no time of 64 bits in "s"/);
    expect(() => typeToJson(new Decimal(0, 0))).toThrow(/from 1 to 38/);
    expect(() => typeToJson(new Timestamp(TimeUnit.SECOND, '-'))).toThrow(/no time zone/);
  });
});

describe('equality', () => {
  const schema = (nullable: boolean, metadata?: Map<string, string>) =>
    new Schema([new Field('a', new Utf8(), nullable, metadata)]);

  it('compares what it is asked to', () => {
    expect(schemasEqual(schema(true), schema(false))).toBe(false);
    expect(schemasEqual(schema(true), schema(false), { nullability: false })).toBe(true);
    expect(schemasEqual(schema(true), schema(true, new Map([['a', 'b']])))).toBe(true);
    expect(
      schemasEqual(schema(true), schema(true, new Map([['a', 'b']])), { metadata: true }),
    ).toBe(false);
    expect(schemasEqual(schema(true), new Schema([new Field('b', new Utf8(), true)]))).toBe(false);
  });

  it('tells every two types apart', () => {
    for (const [a, nameA] of LEAVES) {
      for (const [b, nameB] of LEAVES) expect(typesEqual(a, b)).toBe(nameA === nameB);
    }
    expect(typesEqual(new Struct([item(new Int8())]), new Struct([]))).toBe(false);
    expect(
      typesEqual(new FixedSizeList(2, item(new Int8())), new FixedSizeList(3, item(new Int8()))),
    ).toBe(false);
    expect(
      typesEqual(new Dictionary(new Utf8(), new Int8()), new Dictionary(new Utf8(), new Int16())),
    ).toBe(false);
    expect(
      typesEqual(
        new Dictionary(new Utf8(), new Int8()),
        new Dictionary(new Utf8(), new Int8(), null, true),
      ),
    ).toBe(false);
  });

  it('does not mind the names inside lists, nor the ids of dictionaries', () => {
    expect(
      typesEqual(new List(item(new Int8())), new List(new Field('element', new Int8(), true))),
    ).toBe(true);
    expect(
      typesEqual(
        new Dictionary(new Utf8(), new Int8(), 1),
        new Dictionary(new Utf8(), new Int8(), 2),
      ),
    ).toBe(true);
    expect(
      typesEqual(new Struct([item(new Int8())]), new Struct([new Field('b', new Int8(), true)])),
    ).toBe(false);
  });
});

describe('describeType', () => {
  it.each<[DataType, string]>([
    [new Timestamp(TimeUnit.MICROSECOND, 'UTC'), 'timestamp(us, UTC)'],
    [new Timestamp(TimeUnit.MICROSECOND, '+05:30'), 'timestamp(us, +05:30)'],
    [new Timestamp(TimeUnit.MICROSECOND), 'timestamp(us)'],
    [new Decimal(10, 38, 128), 'decimal128(38, 10)'],
    [new FixedSizeList(128, item(new Float32())), 'fixed_size_list<float32>[128]'],
    [new List(item(new Utf8())), 'list<utf8>'],
    [
      new Struct([new Field('a', new Int8()), new Field('b', new Utf8())]),
      'struct<a: int8, b: utf8>',
    ],
    [new Map_(entries(new Utf8(), new Int8())), 'map<utf8, int8>'],
    [new Dictionary(new Utf8(), new Int32()), 'dictionary<int32, utf8>'],
    [new Union(1, [5], [item(new Utf8())]), 'dense_union<5: utf8>'],
    [new Time(TimeUnit.SECOND, 64), 'Time64<SECOND>'],
  ])('%s is %s', (type, text) => expect(describeType(type)).toBe(text));
});
