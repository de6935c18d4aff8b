/**
 * Computes json_extract, json_extract_string, json_type, json_array_length, json_keys and json_valid
 * (`JSON_FUNCTIONS`) of texts that hold JSON, and the operators `->` and `->>` under their own names,
 * so that errors say what was written. The second argument is a path, and may be left out where the
 * whole value is meant; where nothing stands at it the result is null. A path that cannot be read
 * throws InvalidInput. So does a text that is not JSON, with the place of the fault, but json_valid
 * is false for it. Texts are read in steps, also in the smallest batch.
 */
import { DirspaceError } from '../../errors.ts';
import type { BatchMemory } from '../../request-memory.ts';
import { LISTED_TEXT_BYTES, strictInSteps, TEXT_LIST_BYTES } from '../functions/index.ts';
import type { RowFunction, Value } from '../typed/index.ts';
import { jsonFault } from './json-check.ts';
import { type JsonStep, jsonPath } from './json-path.ts';
import { eachName, findJson, plainText, type Span, shortJson, sizeOf } from './json-values.ts';

/** What a function gives for the value at a place; where that may take long, in steps. */
type OfValue = (text: string, value: Span, memory: BatchMemory) => Value | Generator<void, Value>;

const isSteps = (made: Value | Generator<void, Value>): made is Generator<void, Value> =>
  typeof made === 'object' && made !== null && 'next' in made;

/** A function of the value at the path, or of the whole value without one. */
function ofValue(name: string, compute: OfValue): RowFunction {
  const steps = pathReader();
  const run = strictInSteps(name, function* ([given, path], _type, memory) {
    const text = given as string;
    yield* checkJson(name, text);
    const to = path === undefined ? [] : steps(path as string | bigint);
    const value = yield* findJson(text, to);
    if (value === undefined) return null;
    const made = compute(text, value, memory);
    return isSteps(made) ? yield* made : made;
  });
  return { ...run, takesAnyTime: true };
}

/** Longer paths are parsed for each row rather than kept. */
const MOST_KEPT = 1_000;

/** Parses a path once while it stays the same from row to row. */
function pathReader(): (path: string | bigint) => readonly JsonStep[] {
  let last: string | bigint | undefined;
  let steps: readonly JsonStep[] = [];
  return (path) => {
    if (typeof path === 'string' && path.length > MOST_KEPT) return jsonPath(path);
    if (path !== last) {
      steps = jsonPath(path);
      last = path;
    }
    return steps;
  };
}

function* checkJson(name: string, text: string): Generator<void, void> {
  const fault = yield* jsonFault(text);
  if (fault === undefined) return;
  const { at, wanted } = fault;
  const found = at < text.length ? `"${text.slice(at, at + 20)}"` : 'the end of the text';
  throw new DirspaceError(
    'InvalidInput',
    `${name} was given a text that is not JSON: at character ${at + 1} stands ${found}, and ${wanted} was expected. Leave such texts out with CASE WHEN json_valid(..) THEN .. END`,
  );
}

const json: OfValue = function* (text, value, memory) {
  memory.text(value.end - value.start);
  return yield* shortJson(text, value);
};

const asText: OfValue = (text, value, memory) => {
  const sign = text[value.start];
  if (sign === 'n') return null;
  if (sign !== '"') return json(text, value, memory);
  memory.text(value.end - value.start);
  return plainText(text, value);
};

const WORDS: Readonly<Record<string, string>> = {
  '{': 'OBJECT',
  '[': 'ARRAY',
  '"': 'VARCHAR',
  t: 'BOOLEAN',
  f: 'BOOLEAN',
  n: 'NULL',
};
const MOST_UNSIGNED = 2n ** 64n;
const LEAST = -(2n ** 63n);

const typeOf: OfValue = (text, { start, end }) => {
  const word = WORDS[text[start] as string];
  if (word !== undefined) return word;
  // As many digits as no integer has are not worth a bigint.
  if (end - start > 20 || /[.eE]/.test(text.slice(start, end))) return 'DOUBLE';
  const number = BigInt(text.slice(start, end));
  if (text[start] === '-') return number >= LEAST ? 'BIGINT' : 'DOUBLE';
  return number < MOST_UNSIGNED ? 'UBIGINT' : 'DOUBLE';
};

const arrayLength: OfValue = function* (text, value) {
  return text[value.start] === '[' ? BigInt(yield* sizeOf(text, value.start)) : 0n;
};

const keys: OfValue = function* (text, value, memory) {
  memory.take(TEXT_LIST_BYTES);
  const names: string[] = [];
  if (text[value.start] !== '{') return names;
  yield* eachName(text, value.start, (name) => {
    memory.take(LISTED_TEXT_BYTES + 2 * name.length);
    names.push(name);
  });
  return names;
};

export const JSON_FUNCTIONS: Readonly<Record<string, RowFunction>> = {
  json_extract: ofValue('json_extract', json),
  '->': ofValue('->', json),
  json_extract_string: ofValue('json_extract_string', asText),
  '->>': ofValue('->>', asText),
  json_type: ofValue('json_type', typeOf),
  json_array_length: ofValue('json_array_length', arrayLength),
  json_keys: ofValue('json_keys', keys),
  json_valid: {
    ...strictInSteps('json_valid', function* ([text]) {
      return (yield* jsonFault(text as string)) === undefined;
    }),
    fallible: false,
    takesAnyTime: true,
  },
};
