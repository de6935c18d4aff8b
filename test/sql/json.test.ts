/** Functions of JSON texts beside JSON.parse, what DuckDB answers, and texts that are not JSON. */
import fc from 'fast-check';
import { describe, expect, it, test } from 'vitest';
import { Field, Schema, Utf8, vectorFromArray } from '../../src/arrow/apache.ts';
import { recordBatch } from '../../src/arrow/arrow-data.ts';
import { RequestMemory } from '../../src/request-memory.ts';
import { compileExpression } from '../../src/sql/expression.ts';
import { jsonFault } from '../../src/sql/json/json-check.ts';
import { JSON_FUNCTIONS } from '../../src/sql/json/json-functions.ts';
import { jsonPath } from '../../src/sql/json/json-path.ts';
import { JsonPlaces, jsonOf, textsOf } from '../../src/sql/json/json-places.ts';
import { reader } from '../../src/sql/typed/column.ts';
import { drained } from '../../src/steps.ts';

const none = new Schema([]);
const rows = new Schema([new Field('t', new Utf8(), true)]);

async function resultOf(sql: string): Promise<unknown> {
  const expression = await compileExpression(sql, none);
  const value: unknown = expression.evaluate(recordBatch(none, [], 1)).get(0);
  return typeof value === 'object' && value !== null ? [...(value as Iterable<unknown>)] : value;
}

/** Values of `sql` for each text of a column. */
async function columnOf(sql: string, texts: readonly (string | null)[]): Promise<unknown[]> {
  const expression = await compileExpression(sql, rows);
  const data = vectorFromArray(texts, new Utf8()).data[0];
  return [...expression.evaluate(recordBatch(rows, data ? [data] : [], texts.length))];
}

// What DuckDB 1.5 answers to the same.
it.each([
  [`'{"a.b": 1, "a": {"b": 2}}' -> 'a.b'`, '1'],
  [`'{"a.b": 1, "a": {"b": 2}}' -> '$.a.b'`, '2'],
  [`'{"a": [1, 2, 3]}' -> 'a[1]'`, null],
  [`'[1, 2, 3]' -> -1`, '3'],
  [`'[1, 2, 3]' -> 3`, null],
  [`'[1, 2, 3]' -> -4`, null],
  [`'[1, 2, 3]'->'$[#-1]'`, '3'],
  [`'{"a": 1}' ->> '/a'`, '1'],
  [`'[1, [5, 6]]' ->> '/1/0'`, '5'],
  [`'{"a/b~": [1]}' -> '/a~1b~0/0'`, '1'],
  [`'{"a": [1 , {"b" : "x  y"} ]}' -> 'a'`, '[1,{"b":"x  y"}]'],
  [`'{"id": 12345678901234567890123}' -> 'id'`, '12345678901234567890123'],
  [`'{"a": null}' ->> 'a'`, null],
  [`'{"a": null}' -> 'a'`, 'null'],
  [`'{"a": 1, "a": 2}' -> 'a'`, '1'],
  [`'{"a": "x\\u00e9\\n\\"\\ud83d\\ude00"}' ->> 'a'`, 'xé\n"😀'],
  [`'{"a": "x\\u00e9"}' -> 'a'`, '"x\\u00e9"'],
  [`'{"a b": 1}' -> '$."a b"'`, '1'],
  [`'{"a b": 1}' -> '$.a b'`, '1'],
  [`'{"a": 1}' -> '$'`, '{"a":1}'],
  [`' 1 ' -> '$'`, '1'],
  [`'[1]' -> '0'`, null],
  [`'{"0": 5}' -> 0`, null],
  [`'1' -> 'a'`, null],
  [`NULL -> 'a'`, null],
  [`'{}' -> NULL`, null],
  [`json_array_length('{"a": 1}')`, 0n],
  [`json_array_length(' [1, [2, 3], {"x": [4]}] ')`, 3n],
  [`json_array_length('[ ]')`, 0n],
  [`json_array_length('{"a": [1]}', '$.a')`, 1n],
  [`json_array_length('{"a": [1]}', 'b')`, null],
  [`json_type('1')`, 'UBIGINT'],
  [`json_type('-1')`, 'BIGINT'],
  [`json_type('18446744073709551615')`, 'UBIGINT'],
  [`json_type('18446744073709551616')`, 'DOUBLE'],
  [`json_type('-9223372036854775808')`, 'BIGINT'],
  [`json_type('-9223372036854775809')`, 'DOUBLE'],
  [`json_type('1.5')`, 'DOUBLE'],
  [`json_type('"a"')`, 'VARCHAR'],
  [`json_type('null')`, 'NULL'],
  [`json_type('false')`, 'BOOLEAN'],
  [`json_type('[]')`, 'ARRAY'],
  [`json_type('{"a": {}}', 'a')`, 'OBJECT'],
  [`json_type('{"a": 1}', 'b')`, null],
  [`json_keys('{"a": 1, "b": {"c": 2}, "a": 3}')`, ['a', 'b', 'a']],
  [`json_keys('[1]')`, []],
  [`json_valid('{bad')`, false],
  [`json_valid('1')`, true],
  [`json_valid('')`, false],
  [`json_valid('"\\ud800"')`, false],
  [`json_valid(NULL)`, null],
  // Tighter than comparisons and words, as in PostgreSQL, and from left to right.
  [`'{"a": {"b": "x"}}' -> 'a' ->> 'b' = 'x' AND true`, true],
  [`'{"a": 7}' ->> 'a' || 'b'`, '7b'],
  [`('{"a": 7}' ->> 'a')::int + 1`, 8n],
])('%s', async (sql, value) => {
  expect(await resultOf(sql)).toEqual(value);
});

it.each([
  [`'{"a":[{"b":1},{"b":2},{"c":3}]}' -> '$.a[*].b'`, ['1', '2']],
  [`'{"a":[{"b":1},{"b": null},{"b":"x\u00e9"}]}' ->> '$.a[*].b'`, ['1', null, 'xé']],
  [`'{"a":[{"b":1},{"b": null},{"b":"x"}]}' -> '$.a[*].b'`, ['1', 'null', '"x"']],
  [`'{"a":1, "b":[2, 3], "a":3}' -> '$.*'`, ['1', '[2,3]', '3']],
  [`'{"a":1}' -> '$[*]'`, []],
  [`'[1]' -> '$.*'`, []],
  [`'7' -> '$.*'`, []],
  [`'{"a":[[1, 2],[3]]}' -> '$.a[*][*]'`, ['1', '2', '3']],
  [`'[[1, 2],[3]]' -> '$[*][#-1]'`, ['2', '3']],
  [`'{"a":[{"b":1, "b":5},{"b":2}]}' -> '$.*[*]'`, ['{"b":1,"b":5}', '{"b":2}']],
  [`json_type('[1,"a",null]', '$[*]')`, ['UBIGINT', 'VARCHAR', 'NULL']],
  [`json_array_length('[[1],[2,3],4]', '$[*]')`, [1n, 2n, 0n]],
  [`len('[[1],[2,3],4]' -> '$[*]')`, 3n],
  [`'{"*":1, "b": 2}' -> '$."*"'`, '1'],
  [`'{"a*":1}' -> '$.a*'`, '1'],
  [`NULL -> '$.*'`, null],
])('%s, of several values, as DuckDB has it but for a name in quotes', async (sql, value) => {
  expect(await resultOf(sql)).toEqual(value);
});

test('a path of several values is a constant, and gives a list for each row', async () => {
  const texts = ['{"a": [1, "x"]}', null, '{}', '{"a": [ ]}', '{"a": [{"b": [1 , 2]}]}'];
  const lists = async (sql: string): Promise<unknown[]> =>
    (await columnOf(sql, texts)).map((list) => list && [...(list as Iterable<unknown>)]);
  expect(await lists("t ->> '$.a[*]'")).toEqual([['1', 'x'], null, [], [], ['{"b":[1,2]}']]);
  const keys = await lists("json_keys(t, '$.a[*]')");
  expect(keys.map((list) => list && (list as Iterable<string>[]).map((one) => [...one]))).toEqual([
    [[], []],
    null,
    [],
    [],
    [['b']],
  ]);
  // One that is computed of constants is known too late.
  for (const sql of [`json_extract('{"a": 1}', t)`, "json_keys('{}', concat('$', '.*'))"]) {
    await expect(columnOf(sql, ['$.*'])).rejects.toThrow(
      'The JSON path $.* gives a list, so that it has to be a constant',
    );
  }
});

it('is computed for each row, with the path of the row', async () => {
  const texts = ['{"a": {"b": 1}}', null, '{"a": [2, 3]}', '[]', '"a"'];
  expect(await columnOf("t -> 'a'", texts)).toEqual(['{"b":1}', null, '[2,3]', null, null]);
  expect(
    await columnOf('json_extract_string(\'{"a": 1, "b": 2}\', t)', ['b', 'a', null, '$.b']),
  ).toEqual(['2', '1', null, '2']);
});

describe('what is no JSON', () => {
  it('is named with its place, unless a condition leaves it out', async () => {
    const texts = ['{"a": 1}', '{"a": tru}'];
    await expect(columnOf("t -> 'a'", texts)).rejects.toThrow(
      '-> was given a text that is not JSON: at character 7 stands "tru}", and a value was expected.',
    );
    await expect(columnOf("json_type('[1')", texts)).rejects.toThrow('stands the end of the text');
    const guarded = "CASE WHEN json_valid(t) THEN t -> 'a' END";
    expect(await columnOf(guarded, texts)).toEqual(['1', null]);
  });

  it.each([
    ["t -> '$.a.**.b'", '** and .. are not supported'],
    ["t -> '$..b'", '** and .. are not supported'],
    ["t -> '$.*b'", 'is neither .name'],
    ["t -> '$[*'", 'is neither .name'],
    ["t -> '$a'", '"a" is neither .name'],
    ["t -> '$.'", 'is neither .name'],
    ["t -> '$[#-0]'", 'is neither .name'],
    ['t -> \'$."\\x"\'', 'is neither .name'],
    ["t -> '$[01'", 'is neither .name'],
    [`t -> '$${'.a'.repeat(101)}'`, 'A JSON path has 101 steps, and may have 100'],
    [`t -> '${'/0'.repeat(101)}'`, 'A JSON path has 101 steps, and may have 100'],
    ['list_transform([1], x -> x + 1)', 'list_transform is not known; write FROM .., unnest(x)'],
    ['t -> 1.5', '-> takes a path, which is a text or a whole number, not 1.5'],
    ['1 -> 2', '-> takes text here, not 1'],
    ['json_valid(t, t)', 'json_valid takes one text, not 2 arguments'],
    ['json_extract(t)', 'json_extract takes a text and a path, not 1 arguments'],
    ["json_keys(t, 'a', 'b')", 'takes a text and a path, or a text alone, not 3 arguments'],
  ])('refuses %s before any row is read', async (sql, message) => {
    await expect(compileExpression(sql, rows)).rejects.toThrow(message);
  });
});

const faultOf = (text: string) => drained(jsonFault(Buffer.from(text)));

/** The JSON of the value at a path, without blanks; null for none. */
function found(text: string, path: string): unknown {
  const data = Buffer.from(text);
  const places = new JsonPlaces(data, 1, new RequestMemory().batch());
  const take = places.add.bind(places);
  drained(places.walk.find(0, data.length, jsonPath(path), take));
  return reader(drained(jsonOf(places, new Utf8())))(0) ?? null;
}

const parses = (text: string): boolean => {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
};

const HALF = /\\u[dD][89a-fA-F]/;

/** JSON with blanks at random between its tokens. */
const documents = fc
  .tuple(
    fc.json({ maxDepth: 4 }),
    fc.array(fc.constantFrom('', ' ', '\n', '\t \r'), { minLength: 1 }),
  )
  .map(([text, blanks]) => {
    let at = 0;
    const blank = (): string => blanks[at++ % blanks.length] as string;
    return text.replace(/"(?:[^"\\]|\\.)*"|[[\]{},:]/g, (token) => `${blank()}${token}${blank()}`);
  });

test('a text is JSON where JSON.parse takes it, whatever is changed in it', () => {
  const signs = fc.constantFrom(...'{}[]",:\\u0e+-.tfn1 \n\u0001', 'null', '\\ud83d\\ude00');
  fc.assert(
    fc.property(
      documents,
      fc.array(fc.tuple(fc.nat(), fc.nat(2), signs), { maxLength: 3 }),
      (text, edits) => {
        let changed = text;
        for (const [place, length, sign] of edits) {
          const at = place % (changed.length + 1);
          changed = changed.slice(0, at) + sign + changed.slice(at + length);
        }
        const isJson = faultOf(changed) === undefined;
        // JSON.parse takes halves of surrogate pairs, which are a fault here.
        if (HALF.test(changed) && !isJson) return;
        expect([changed, isJson]).toEqual([changed, parses(changed)]);
      },
    ),
    { numRuns: 2_000 },
  );
});

test('each value is found at its path, and its JSON is that of JSON.stringify', () => {
  fc.assert(
    fc.property(documents, (text) => {
      const seen = (path: string, value: unknown): void => {
        const short = String(found(text, path));
        expect(JSON.parse(short)).toEqual(value);
        expect(short.replaceAll(/"(?:[^"\\]|\\.)*"/g, '')).not.toMatch(/\s/);
        if (Array.isArray(value)) {
          for (const [at, item] of value.entries()) {
            seen(`${path}[${at}]`, item);
            seen(`${path}[#-${value.length - at}]`, item);
          }
        } else if (typeof value === 'object' && value !== null) {
          for (const [name, member] of Object.entries(value))
            seen(`${path}.${JSON.stringify(name)}`, member);
        }
      };
      seen('$', JSON.parse(text));
    }),
    { numRuns: 500 },
  );
});

test('long texts are read in steps, whatever they are made of', () => {
  const long = 1 << 20;
  const texts = [
    `"${'x'.repeat(long)}"`,
    `"${'\\n'.repeat(long)}"`,
    `[${'1,'.repeat(long)}1]`,
    `{"a":${' '.repeat(long)}1}`,
    `[${'{"a":[]},'.repeat(long >> 3)}0]`,
  ];
  for (const text of texts) {
    const steps = jsonFault(Buffer.from(text));
    let count = 0;
    let step = steps.next();
    for (; step.done !== true; step = steps.next()) count++;
    expect([text.slice(0, 20), step.value, count >= 4]).toEqual([
      text.slice(0, 20),
      undefined,
      true,
    ]);
  }
});

test.each(['json_valid(t)', "t -> 'b'", 'json_array_length(t)', "t ->> '$[#-1]'"])(
  '%s of one long text is computed in steps',
  async (sql) => {
    const expression = await compileExpression(sql, rows);
    const data = vectorFromArray([`[${'1 , '.repeat(1 << 18)}1]`], new Utf8()).data[0];
    const steps = expression.evaluateInSteps(recordBatch(rows, data ? [data] : [], 1));
    let count = 0;
    for (let step = steps.next(); step.done !== true; step = steps.next()) count++;
    expect(count).toBeGreaterThan(12);
  },
);

const countOf = (steps: Generator<void>): number => {
  let count = 0;
  while (steps.next().done !== true) count++;
  return count;
};

test('values are looked for, and looked at, in steps', () => {
  const long = 1 << 18;
  const data = Buffer.from(`[${'{"a":1},'.repeat(long >> 3)}{}]`);
  for (const path of ['$', '$[#-1]', '$[32768]', '$[*].a']) {
    const { walk } = new JsonPlaces(data, 1, new RequestMemory().batch());
    const steps = walk.find(0, data.length, jsonPath(path), () => {});
    expect([path, countOf(steps) >= 4]).toEqual([path, true]);
  }
  const { walk } = new JsonPlaces(data, 1, new RequestMemory().batch());
  expect(countOf(walk.sizeOf(0, data.length))).toBeGreaterThanOrEqual(4);
  for (const of of [jsonOf, textsOf]) {
    const places = new JsonPlaces(data, 1, new RequestMemory().batch());
    for (let at = 1; at + 8 < data.length; at += 8) places.add(at, at + 7, false);
    expect(countOf(of(places, new Utf8()))).toBeGreaterThanOrEqual(4);
  }
});

test('a text with blanks between many items is joined', () => {
  const items = Array.from({ length: 10_000 }, (_, at) => at);
  const text = `[${items.join(' , ')}]`;
  expect(found(text, '$')).toBe(JSON.stringify(items));
});

test('levels are bounded', () => {
  const nested = (levels: number): string => '['.repeat(levels) + ']'.repeat(levels);
  expect(faultOf(nested(1_000))).toBeUndefined();
  expect(faultOf(nested(1_001))).toEqual({ at: 1_000, wanted: 'at most 1000 levels' });
});

test('those that can fail are known to the planner', () => {
  const fallible = Object.entries(JSON_FUNCTIONS).map(([name, { fallible }]) => [name, fallible]);
  expect(Object.fromEntries(fallible)).toEqual({
    ...{ json_extract: true, '->': true, json_extract_string: true, '->>': true, json_type: true },
    ...{ json_array_length: true, json_keys: true, json_valid: false },
  });
});

test('a path may have a name of many megabytes', () => {
  const name = 'a'.repeat(20_000_000);
  const [step] = jsonPath(`$."${name}"`);
  expect(step?.member).toHaveLength(name.length);
});
