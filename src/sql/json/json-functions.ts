/**
 * Computes json_extract, json_extract_string, json_type, json_array_length, json_keys and json_valid
 * (`JSON_FUNCTIONS`) of texts that hold JSON, and the operators `->` and `->>` under their own names,
 * so that errors say what was written. The second argument is a path, and may be left out where the
 * whole value is meant; where nothing stands at it the result is null. `JSON_LISTS` are those of
 * paths with `*`, which the binder found to be constants: they give a list of the results for all
 * values. Others refuse such a path, and a path that cannot be read throws InvalidInput too.
 * So does a text that is not JSON, with the place of the fault, but json_valid is false for it.
 * Texts are read as the UTF-8 that they are stored in, and in steps, also in the smallest batch.
 */
import type { DataType } from '../../arrow/index.ts';
import { DirspaceError } from '../../errors.ts';
import type { BatchMemory } from '../../request-memory.ts';
import { drained } from '../../steps.ts';
import { textBytes } from '../texts/index.ts';
import {
  type BytesColumn,
  type Column,
  constantColumn,
  elementType,
  FALSE,
  type RowFunction,
  reader,
  TRUE,
  truthColumn,
  UNKNOWN,
} from '../typed/index.ts';
import { JSON_STEP, JsonCheck, type JsonFault } from './json-check.ts';
import { isOfSeveral, type JsonStep, jsonPath } from './json-path.ts';
import {
  JsonPlaces,
  jsonOf,
  lengthsOf,
  namesOf,
  type OfPlaces,
  textsOf,
  typesOf,
} from './json-places.ts';

type InSteps = NonNullable<RowFunction['inSteps']>;

/** A function of one or two columns, computed once where all of them are constants. */
function stepped(name: string, fallible: boolean, overRows: InSteps): RowFunction {
  const inSteps: InSteps = function* (args, length, type, memory) {
    if (length === 0 || !args.every((arg) => arg.form === 'constant')) {
      return yield* overRows(args, length, type, memory);
    }
    const row = args.map((arg) => ({ ...arg, length: 1 }));
    const value = reader(yield* overRows(row, 1, type, memory))(0) ?? null;
    return constantColumn(type, value, length);
  };
  return {
    name,
    fallible,
    takesAnyTime: true,
    evaluate: (args, length, type, memory) => drained(inSteps(args, length, type, memory)),
    inSteps,
  };
}

/** A function of the value at the path, or of the whole value without one. */
const ofValue = (name: string, compute: OfPlaces): RowFunction =>
  stepped(name, true, function* ([given, path], _length, type, memory) {
    const texts = yield* textBytes(given as Column, memory);
    return yield* compute(yield* found({ name, texts, memory }, pathsOf(path)), type);
  });

/** A function of all values at a constant path of several: a list for each row. */
const ofValues = (name: string, compute: OfPlaces): RowFunction =>
  stepped(name, true, function* ([given, path], _length, type, memory) {
    const texts = yield* textBytes(given as Column, memory);
    const steps = jsonPath(reader(path as Column)(0) as string);
    return yield* lists({ name, texts, memory }, steps, compute, type);
  });

type PathOf = (row: number) => readonly JsonStep[] | null;

/** The path of each row; null where there is none. */
function pathsOf(path: Column | undefined): PathOf {
  if (path === undefined) return () => [];
  const readPath = reader(path);
  const steps = pathReader();
  const pathOf: PathOf = (row) => {
    const value = readPath(row) ?? null;
    return value === null ? null : steps(value as string | bigint);
  };
  if (path.form !== 'constant' || path.length === 0) return pathOf;
  const own = pathOf(0);
  return () => own;
}

/** Longer paths are parsed for each row rather than kept. */
const MOST_KEPT = 1_000;

/** Parses a path once while it stays the same from row to row. */
function pathReader(): (path: string | bigint) => readonly JsonStep[] {
  let last: string | bigint | undefined;
  let steps: readonly JsonStep[] = [];
  const parsed = (path: string | bigint): readonly JsonStep[] => {
    const made = jsonPath(path);
    if (!isOfSeveral(made)) return made;
    throw new DirspaceError(
      'InvalidInput',
      `The JSON path ${String(path).slice(0, 100)} gives a list, so that it has to be a constant: write it in quotes in the query, or take one value with [0] or .name`,
    );
  };
  return (path) => {
    if (typeof path === 'string' && path.length > MOST_KEPT) return parsed(path);
    if (path !== last) {
      steps = parsed(path);
      last = path;
    }
    return steps;
  };
}

/** What a row counts beside its bytes. */
const ROW_BYTES = 16;

interface Search {
  readonly name: string;
  readonly texts: BytesColumn;
  readonly memory: BatchMemory;
}

/**
 * Finds the values of each row at its path; `after` is called behind each row. A row without a text
 * or a path has none.
 */
function* search(
  { name, texts, memory }: Search,
  pathOf: PathOf,
  after: (row: number, places: JsonPlaces) => void,
): Generator<void, JsonPlaces> {
  const { data, starts, ends, valid, length } = texts;
  const check = new JsonCheck(data);
  const places = new JsonPlaces(data, length, memory);
  const take = places.add.bind(places);
  for (let row = 0, work = 0; row < length; row++) {
    const steps = valid !== null && valid[row] === 0 ? null : pathOf(row);
    if (steps !== null) {
      const [start, end] = [starts[row] as number, ends[row] as number];
      check.begin(start, end);
      while (!check.isDone()) yield;
      if (check.fault !== undefined) refuseText(name, data, start, end, check.fault);
      yield* places.walk.find(start, end, steps, take);
      work += end - start;
    }
    after(row, places);
    work += ROW_BYTES;
    if (work < JSON_STEP) continue;
    work = 0;
    yield;
  }
  return places;
}

/** One place for each row. */
const found = (whole: Search, pathOf: PathOf): Generator<void, JsonPlaces> =>
  search(whole, pathOf, (row, places) => {
    if (places.length === row) places.addNone();
  });

/** All places of each row, as lists of what the function gives for each. */
function* lists(
  whole: Search,
  steps: readonly JsonStep[],
  compute: OfPlaces,
  type: DataType,
): Generator<void, Column> {
  const { length, valid } = whole.texts;
  const borders = new Int32Array(length + 1);
  const places = yield* search(
    whole,
    () => steps,
    (row, { length: count }) => {
      borders[row + 1] = count;
    },
  );
  const child = yield* compute(places, elementType(type));
  const [starts, ends] = [borders.subarray(0, length), borders.subarray(1)];
  return { form: 'list', type, length, starts, ends, child, valid };
}

function* valid(texts: BytesColumn): Generator<void, Column> {
  const check = new JsonCheck(texts.data);
  const truth = new Uint8Array(texts.length).fill(UNKNOWN);
  for (let row = 0, work = 0; row < truth.length; row++) {
    if (texts.valid !== null && texts.valid[row] === 0) continue;
    const [start, end] = [texts.starts[row] as number, texts.ends[row] as number];
    check.begin(start, end);
    while (!check.isDone()) yield;
    truth[row] = check.fault === undefined ? TRUE : FALSE;
    work += end - start + ROW_BYTES;
    if (work < JSON_STEP) continue;
    work = 0;
    yield;
  }
  return truthColumn(truth);
}

function refuseText(
  name: string,
  data: Uint8Array,
  start: number,
  end: number,
  { at, wanted }: JsonFault,
): never {
  const text = Buffer.from(data.buffer, data.byteOffset, data.length);
  // A character takes four bytes at the most.
  const rest = text.toString('utf8', at, Math.min(end, at + 80)).slice(0, 20);
  const stands = at < end ? `"${rest}"` : 'the end of the text';
  const place = text.toString('utf8', start, at).length + 1;
  throw new DirspaceError(
    'InvalidInput',
    `${name} was given a text that is not JSON: at character ${place} stands ${stands}, and ${wanted} was expected. Leave such texts out with CASE WHEN json_valid(..) THEN .. END`,
  );
}

const COMPUTED: Readonly<Record<string, OfPlaces>> = {
  json_extract: jsonOf,
  '->': jsonOf,
  json_extract_string: textsOf,
  '->>': textsOf,
  json_type: typesOf,
  json_array_length: lengthsOf,
  json_keys: namesOf,
};

const functionsOf = (
  make: (name: string, compute: OfPlaces) => RowFunction,
): Record<string, RowFunction> =>
  Object.fromEntries(Object.entries(COMPUTED).map(([name, of]) => [name, make(name, of)]));

export const JSON_FUNCTIONS: Readonly<Record<string, RowFunction>> = {
  ...functionsOf(ofValue),
  json_valid: stepped('json_valid', false, function* ([given], _length, _type, memory) {
    return yield* valid(yield* textBytes(given as Column, memory));
  }),
};

/** The same for constant paths of several values. */
export const JSON_LISTS: Readonly<Record<string, RowFunction>> = functionsOf(ofValues);
