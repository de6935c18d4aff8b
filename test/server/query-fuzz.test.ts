/**
 * Random query bodies, structured and in the flat form of LanceDB's clients, over REST and in process:
 * each is answered or refused by name, in the same way on both, and queries go on as before. `npm run
 * test:long` sends 100,000 of them; `SEED=7` others.
 */
import { afterAll, beforeAll, expect, test } from 'vitest';
import {
  type DirectoryNamespace,
  openDirectoryNamespace,
} from '../../src/directory/directory-namespace.ts';
import { DirspaceError } from '../../src/errors.ts';
import { toRecordBatchStream } from '../../src/sdk/convert/data.ts';
import { casesOf } from '../helpers/long.ts';
import { memoryFs } from '../helpers/memory-fs.ts';
import { ask, type Pair, restPair } from '../helpers/rest-pair.ts';
import { seeded } from '../helpers/seeded.ts';

const SEED = Number(process.env.SEED ?? 51);
const CASES = casesOf(150, 100_000);
const id = ['t'];

let catalog: DirectoryNamespace;
let pair: Pair;
beforeAll(async () => {
  catalog = await openDirectoryNamespace({
    root: '/c',
    fs: memoryFs(),
    durability: 'relaxed',
    limits: { indexedRows: 0, indexedShare: 8, batchRows: 16 },
  });
  const rows = Array.from({ length: 60 }, (_, at) => ({
    id: at,
    text: at % 9 === 0 ? null : `apple w${at % 7} ${'banana '.repeat(at % 3)}`,
    title: `title ${at % 5}`,
    vector: [at, at % 4, 1],
  }));
  await catalog.createTable({ id }, await toRecordBatchStream(rows));
  await catalog.createTableIndex({ id, column: 'text', index_type: 'FTS', with_position: true });
  await catalog.createTableIndex({ id, column: 'id', index_type: 'BTREE' });
  await catalog.insertIntoTable({ id }, await toRecordBatchStream(rows.slice(0, 9)));
  pair = await restPair({ namespace: catalog });
});
afterAll(() => catalog.close());

type Json = null | boolean | number | string | readonly Json[] | { readonly [name: string]: Json };

const unit = seeded(SEED);
const below = (most: number): number => Math.floor(unit() * most);
const pick = <Value>(values: readonly Value[]): Value => values[below(values.length)] as Value;
const some = (most: number, make: () => Json, least = 0): Json[] =>
  Array.from({ length: least + below(most) }, make);

const terms = (): Json =>
  some(4, () => pick(['apple', 'w3', 'banan', 'titel', 'w', '']), 1).join(' ');
const maybe = (name: string, make: () => Json): { [name: string]: Json } =>
  below(3) === 0 ? { [name]: make() } : {};
const column = (): { [name: string]: Json } =>
  maybe('column', () => pick(['text', 'title', 'Text', '`text`', 'id', 'nothing']));

const match = (): Json => ({
  terms: terms(),
  ...column(),
  ...maybe('fuzziness', () => pick([0, 1, 2])),
  ...maybe('boost', () => pick([0, 1, 2.5])),
  ...maybe('operator', () => pick(['And', 'or'])),
  ...maybe('max_expansions', () => below(60)),
  ...maybe('prefix_length', () => below(3)),
});

function tree(depth = 0, isFlat = false): Json {
  switch (depth > 2 ? below(3) : below(6)) {
    case 0:
      return { match: match() };
    case 1:
      return { phrase: { terms: terms(), ...column(), ...maybe('slop', () => below(4)) } };
    case 2:
      return {
        prefix: { terms: terms(), ...column(), ...maybe('max_expansions', () => below(9)) },
      };
    case 3:
      return isFlat
        ? {
            multi_match: {
              query: terms(),
              columns: ['text', 'title'],
              ...maybe('boost', () => [1, 2]),
            },
          }
        : { multi_match: { match_queries: some(3, match, 1) } };
    case 4:
      return {
        boost: {
          positive: tree(depth + 1, isFlat),
          negative: tree(depth + 1, isFlat),
          ...maybe('negative_boost', () => unit()),
        },
      };
    default: {
      const parts = (least: number): Json => some(2, () => tree(depth + 1, isFlat), least);
      return { boolean: { must: parts(0), should: parts(1), must_not: parts(0) } };
    }
  }
}

function body(isFlat: boolean): Json {
  const query = {
    k: pick([1, 5, 10, 1000]),
    ...maybe('offset', () => below(5)),
    ...maybe('with_row_id', () => true),
    ...maybe('prefilter', () => below(2) === 0),
    ...maybe('filter', () =>
      pick(['id > 5', "title LIKE 't%'", 'text IS NULL', 'nothing = 1', 'id']),
    ),
    ...maybe('order_by', () => [
      {
        column_name: pick(['id', 'title', '_score', '_distance', 'vector']),
        ascending: below(2) === 0,
      },
    ]),
  };
  const aliases = { x: pick(['id + 1', '_score * 2', '_distance', '(', 'upper(text)']) };
  if (isFlat) {
    return {
      ...query,
      vector: pick<Json>([[], [1, 2, 3], [[1, 2, 3]]]),
      ...maybe('columns', () => pick<Json>([['id'], [['x', 'id + 1']], aliases])),
      ...(below(4) > 0
        ? { full_text_query: { query: below(3) === 0 ? terms() : tree(0, true) } }
        : {}),
    };
  }
  const text: Json =
    below(3) === 0
      ? { string_query: { query: terms(), ...maybe('columns', () => ['text']) } }
      : { structured_query: { query: tree() } };
  return {
    ...query,
    ...maybe('columns', () =>
      pick<Json>([
        { column_names: ['id'] },
        { column_aliases: aliases },
        { column_names: ['_score'] },
      ]),
    ),
    ...(below(4) > 0 ? { full_text_query: text } : { vector: { single_vector: [1, 2, 3] } }),
  };
}

const deep = (): Json => {
  let value: Json = { match: { terms: 'apple' } };
  for (let at = below(200); at > 0; at--) {
    value = below(2) === 0 ? [value] : { boolean: { must: [value], should: [], must_not: [] } };
  }
  return value;
};

const JUNK: readonly (() => Json)[] = [
  () => null,
  () => pick([true, false, -1, 0.5, 2 ** 31, 2 ** 53, 2 ** 64, -(2 ** 63), 1e308, 16, 17]),
  () => pick(['', 'x', '"', '"apple w3"', '\0', '\uD800', '\u202E', '日本', 'And', 'null']),
  () => 'long '.repeat(below(2_000)),
  () => [],
  () => ({}),
  () => some(5, () => pick<Json>([1, 'a', null])),
  () => JSON.parse('{"__proto__": {"match": 1}, "constructor": 2}') as Json,
  deep,
  () => tree(1),
  () => match(),
];

/** The same value with one of its parts changed, left out, or given another name. */
function broken(value: Json): Json {
  if (typeof value !== 'object' || value === null || below(5) === 0) return pick(JUNK)();
  if (Array.isArray(value)) {
    if (value.length === 0) return [pick(JUNK)()];
    const at = below(value.length);
    return value.map((part, place) => (place === at ? broken(part) : part));
  }
  const members = Object.entries(value);
  if (members.length === 0) return pick(JUNK)();
  const at = below(members.length);
  const changed = members.flatMap(([name, part], place): [string, Json][] => {
    if (place !== at) return [[name, part]];
    switch (below(6)) {
      case 0:
        return [];
      case 1:
        return [[pick(['match', 'phrase', 'terms', 'column', 'x', '__proto__', 'query']), part]];
      case 2:
        return [
          [name, part],
          [pick(['boost', 'match', 'k', 'vector', 'full_text_query']), pick(JUNK)()],
        ];
      default:
        return [[name, broken(part)]];
    }
  });
  return Object.fromEntries(changed);
}

const DEEPEST = 60;
const depthOf = (value: Json): number =>
  typeof value === 'object' && value !== null
    ? 1 + Object.values(value).reduce<number>((most, part) => Math.max(most, depthOf(part)), 0)
    : 0;

/** What comes of a query in process: the number of its rows, or the code of the error. */
async function asked(request: Json): Promise<string> {
  try {
    const plain = JSON.parse(JSON.stringify(request));
    let rows = 0;
    for await (const batch of await catalog.queryTable({ ...plain, id })) rows += batch.numRows;
    return `${rows} rows`;
  } catch (error) {
    if (error instanceof DirspaceError && error.code !== 'Internal') return error.code;
    throw error;
  }
}

const FLAT = { 'user-agent': 'LanceDB-Node-Client/0.39.0', 'x-lancedb-database': 'db' };

/** The same over REST; of rows only that there are some. */
async function sent(request: Json, isFlat: boolean): Promise<string> {
  const path = isFlat ? '/v1/table/t/query/' : '/v1/table/t/query';
  const { status, json, text } = await ask(pair, 'POST', path, request, isFlat ? FLAT : {});
  if (status === 200) return 'rows';
  expect([status, json?.error ?? json?.code, text.slice(0, 300)]).toEqual([
    expect.toSatisfy((code: number) => code < 500 || code === 501),
    expect.anything(),
    expect.any(String),
  ]);
  return String(status);
}

test('every body is answered or refused, over REST as in process', async () => {
  const usual = { k: 9, full_text_query: { string_query: { query: 'apple w3' } } };
  const before = await asked(usual);
  let answered = 0;
  let refused = 0;
  for (let at = 0; at < CASES; at++) {
    const isFlat = below(3) === 0;
    let request = body(isFlat);
    for (let change = below(3); change > 0; change--) request = broken(request);
    const shown = JSON.stringify(request).slice(0, 2_000);
    try {
      const status = await sent(request, isFlat);
      if (isFlat || typeof request !== 'object' || request === null || Array.isArray(request)) {
        if (status === 'rows') answered += 1;
        else refused += 1;
        continue;
      }
      const outcome = await asked(request);
      if (outcome.endsWith(' rows')) answered += 1;
      else refused += 1;
      // The server takes no body that nests deeper, whatever is in there.
      if (status !== 'rows' && depthOf(request) > DEEPEST) continue;
      expect([status === 'rows', outcome]).toEqual([outcome.endsWith(' rows'), outcome]);
    } catch (error) {
      expect.fail(`case ${at} of seed ${SEED}: ${shown}\n${String((error as Error).stack)}`);
    }
  }
  expect(await asked(usual)).toBe(before);
  expect(answered).toBeGreaterThan(CASES / 10);
  expect(refused).toBeGreaterThan(CASES / 10);
}, 900_000);
