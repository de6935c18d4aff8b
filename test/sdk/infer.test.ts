import { describe, expect, it } from 'vitest';
import { Float16, type Schema } from '../../src/arrow/apache.ts';
import { describeType } from '../../src/arrow/index.ts';
import { inferSchema } from '../../src/sdk/convert/infer.ts';

const types = (schema: Schema): Record<string, string> =>
  Object.fromEntries(schema.fields.map((field) => [field.name, describeType(field.type)]));

const inferred = (...values: unknown[]): string =>
  types(inferSchema(values.map((c) => ({ c })))).c ?? 'none';

const inferredVector = (...values: unknown[]): string =>
  types(inferSchema(values.map((vector) => ({ vector })))).vector ?? 'none';

describe('the inferred type', () => {
  it.each([
    ['float64', 1],
    ['bool', false],
    ['utf8', ''],
    ['int64', 5n],
    ['timestamp(ms)', new Date(0)],
    ['binary', Buffer.from('x')],
    ['binary', Uint8Array.of(1)],
    ['list<float64>', [1, 2]],
    ['list<utf8>', [null, 'a']],
    ['list<list<bool>>', [[], [true]]],
    ['list<struct<a: float64, b: utf8>>', [{ a: 1 }, { b: 'x' }]],
    ['struct<a: float64, b: struct<c: bool>>', { a: 1, b: { c: true } }],
    ['fixed_size_list<float32>[2]', Float32Array.of(1, 2)],
    ['fixed_size_list<float64>[1]', Float64Array.of(1)],
    ['fixed_size_list<int8>[3]', new Int8Array(3)],
    ['fixed_size_list<uint64>[1]', BigUint64Array.of(1n)],
  ])('is %s', (type, value) => {
    expect(inferred(value)).toBe(type);
  });

  it('comes from the first value that tells', () => {
    expect(inferred(null, undefined, [], [null], ['a'])).toBe('list<utf8>');
    expect(inferred(1, 'later values are the business of the builder')).toBe('float64');
  });

  it('has the keys of all rows, in the order they come up, all nullable', () => {
    const schema = inferSchema([
      { a: 1, s: { x: 1 } },
      { b: 'x', a: 2, s: { y: true } },
    ]);
    expect(types(schema)).toEqual({ a: 'float64', s: 'struct<x: float64, y: bool>', b: 'utf8' });
    expect(schema.fields.map((field) => field.name)).toEqual(['a', 's', 'b']);
    expect(schema.fields.every((field) => field.nullable)).toBe(true);
    const [x, y] = schema.fields[1]?.type.children ?? [];
    expect([x?.nullable, y?.nullable]).toEqual([true, true]);
  });

  it('skips keys whose values are undefined', () => {
    expect(types(inferSchema([{ a: 1, b: undefined }]))).toEqual({ a: 'float64' });
  });

  it('knows columns named like inherited members', () => {
    expect(types(inferSchema([JSON.parse('{"constructor":1,"toString":"x"}')]))).toEqual({
      constructor: 'float64',
      toString: 'utf8',
    });
    expect(inferSchema([JSON.parse('{"__proto__":1}')]).fields[0]?.name).toBe('__proto__');
  });
});

describe('vector columns', () => {
  it.each(['vector', 'Vector', 'my_vector', 'text_embedding', 'embeddings', 'vectors2'])(
    'are recognised by the name %s',
    (name) => {
      expect(types(inferSchema([{ [name]: [1, 2, 3] }]))).toEqual({
        [name]: 'fixed_size_list<float32>[3]',
      });
    },
  );

  it('are recognised in structs', () => {
    expect(types(inferSchema([{ doc: { vector: [1, 2] } }])).doc).toBe(
      'struct<vector: fixed_size_list<float32>[2]>',
    );
  });

  it('are made of the first array with numbers', () => {
    expect(inferredVector(null, [], [null, 2], [1, 2, 3])).toBe('fixed_size_list<float32>[2]');
  });

  it('have the length of an array without numbers where no other has any', () => {
    expect(inferredVector([], Array(3), null, [null])).toBe('fixed_size_list<float32>[3]');
    expect(inferredVector([null, null, null], [1, 2])).toBe('fixed_size_list<float32>[2]');
    expect(inferredVector([null], ['a'])).toBe('list<utf8>');
    const named = inferSchema([{ v: [null, null] }], { v: { type: new Float16() } });
    expect(types(named)).toEqual({ v: 'fixed_size_list<float16>[2]' });
  });

  it('keep the type of typed arrays', () => {
    expect(inferredVector(Float64Array.of(1, 2))).toBe('fixed_size_list<float64>[2]');
    expect(inferredVector(Uint8Array.of(1, 2))).toBe('fixed_size_list<uint8>[2]');
    expect(inferredVector(Buffer.of(1, 2))).toBe('binary');
  });

  it('may be lists of vectors', () => {
    expect(
      inferredVector([
        [1, 2],
        [3, 4],
      ]),
    ).toBe('list<fixed_size_list<float32>[2]>');
  });

  it('are only made of numbers', () => {
    expect(inferredVector(['a', 'b'])).toBe('list<utf8>');
    expect(inferredVector([1n])).toBe('list<int64>');
    expect(inferredVector('abc')).toBe('utf8');
  });

  it('can be named by option, with the type of their items', () => {
    const rows = [{ v: [1, 2], nested: { v: [1] } }];
    expect(types(inferSchema(rows, { v: { type: new Float16() } }))).toEqual({
      v: 'fixed_size_list<float16>[2]',
      nested: 'struct<v: list<float64>>',
    });
  });

  it('are lists where typed arrays of other columns differ in length', () => {
    expect(inferred(Int32Array.of(1), Int32Array.of(1, 2))).toBe('list<int32>');
    expect(inferredVector(Int32Array.of(1), Int32Array.of(1, 2))).toBe('fixed_size_list<int32>[1]');
  });
});

describe('inference gives up', () => {
  it.each([
    ['nulls', [{ a: 1, b: null }], /column "b" cannot be inferred.*Pass a schema/],
    ['nested nulls', [{ a: { b: null } }], /column "a.b" cannot be inferred/],
    ['empty arrays', [{ a: [] }, { a: [null] }], /column "a" cannot be inferred/],
    ['empty inner arrays', [{ a: [[]] }], /column "a\[\]" cannot be inferred/],
    ['empty objects', [{ a: {} }], /column "a" cannot be inferred.*objects without keys/],
    [
      'functions',
      [{ a: 1 }, { b: () => 1 }],
      /Row 1, column "b": no type can be inferred from function/,
    ],
    ['symbols', [{ a: Symbol('x') }], /symbol/],
    ['maps', [{ a: new Map() }], /Map of 0/],
    ['sets', [{ a: new Set([1]) }], /Set of 1/],
    ['regular expressions', [{ a: /x/ }], /RegExp/],
  ])('on %s', (_, rows, message) => {
    expect(() => inferSchema(rows)).toThrow(message);
  });

  it('on objects that contain themselves', () => {
    const loop: Record<string, unknown> = {};
    loop.self = loop;
    expect(() => inferSchema([loop])).toThrow(/no type can be inferred/);
    const list: unknown[] = [];
    list.push(list);
    expect(() => inferSchema([{ list }])).toThrow(/no type can be inferred/);
  });
});
