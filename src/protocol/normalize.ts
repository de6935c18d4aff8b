/**
 * `normalize` validates untrusted JSON against a model and returns it as the model's type. A value
 * that does not fit throws InvalidInput, or the code that the caller gives, with the member, what
 * was found and what was expected; models nest at most 64 deep. Nulls of optional members are
 * dropped, unless the model allows null. Members that are `wideInteger` in the model become
 * bigints; they may be given as digits in text or as numbers below 2^53. Other integers stay
 * numbers below 2^53. Members that the model does not have are kept. `wideListsInSteps` converts a
 * request's lists of more than 8,192 wide integers beforehand, in steps; it returns undefined if
 * there are none.
 */
import { DirspaceError, type ErrorCode } from '../errors.ts';
import { type JsonSchema, MODELS, type Model, type ModelName } from './models/index.ts';

/** Models nest at most this deep in a value; only the recursive ones could go further. */
const MAX_DEPTH = 64;

class Mismatch {
  /** From the innermost member outwards. */
  readonly path: (string | number)[] = [];
  readonly expected: string;
  readonly found: string;

  constructor(expected: string, found: string) {
    this.expected = expected;
    this.found = found;
  }

  within(member: string | number): this {
    this.path.push(member);
    return this;
  }
}

type Check = (value: unknown, depth: number) => unknown;

const compiled = new Map<string, Check>();

/**
 * Validates `value` as the model of that name.
 * Throws `code` with a message that names the member, what was found and what is expected.
 */
export function normalize<Name extends ModelName>(
  model: Name,
  value: unknown,
  code: ErrorCode = 'InvalidInput',
): Model<Name> {
  const result = modelCheck(model)(value, 0);
  if (result instanceof Mismatch) throw refusal(code, model, result);
  return result as Model<Name>;
}

/** Items of a list that are gone through at once. */
const ITEMS_AT_ONCE = 1 << 13;

/**
 * Steps that convert long lists of row ids to bigints, which takes most of the time of checking a
 * request with such a list; undefined if it has none. Items that are no such integers are left as
 * they are, for `normalize` to refuse.
 */
export function wideListsInSteps(
  model: ModelName,
  request: object,
): Generator<undefined, Readonly<Record<string, unknown>>> | undefined {
  const { properties } = MODELS[model] as JsonSchema;
  let lists: [string, readonly unknown[]][] | undefined;
  for (const [name, value] of Object.entries(request)) {
    if (!Array.isArray(value) || value.length <= ITEMS_AT_ONCE) continue;
    if (properties?.[name]?.items?.format !== 'int64') continue;
    lists ??= [];
    lists.push([name, value]);
  }
  return lists === undefined ? undefined : widened(request, lists);
}

/** Lists that hold such integers and nothing else, as they were made so here. */
const wideLists = new WeakSet<readonly unknown[]>();

function* widened(
  request: object,
  lists: readonly [string, readonly unknown[]][],
): Generator<undefined, Readonly<Record<string, unknown>>> {
  const result: Record<string, unknown> = { ...request };
  for (const [name, values] of lists) {
    const wide: unknown[] = [];
    let isSound = true;
    for (let from = 0; from < values.length; from += ITEMS_AT_ONCE) {
      for (const value of values.slice(from, from + ITEMS_AT_ONCE)) {
        const item = wideInteger(value);
        const isWide = !(item instanceof Mismatch);
        isSound &&= isWide;
        wide.push(isWide ? item : value);
      }
      yield;
    }
    if (isSound) wideLists.add(wide);
    result[name] = wide;
  }
  return result;
}

function refusal(
  code: ErrorCode,
  model: string,
  { path, expected, found }: Mismatch,
): DirspaceError {
  const member = pathText(path);
  const subject = member === '' ? model : `${model}: ${member}`;
  return new DirspaceError(code, `${subject} is ${found}; expected ${expected}.`, {
    details: { model, member, expected },
  });
}

/** `a.b[2]`, with keys that are not plain names quoted, and cut where it is long. */
function pathText(path: readonly (string | number)[]): string {
  let text = '';
  for (const member of path.toReversed()) {
    if (typeof member === 'number') text += `[${member}]`;
    else if (!/^\w+$/.test(member)) text += `[${JSON.stringify(member.slice(0, 80))}]`;
    else text += text === '' ? member.slice(0, 80) : `.${member.slice(0, 80)}`;
  }
  return text.length > 240 ? `${text.slice(0, 240)}...` : text;
}

function describe(value: unknown): string {
  if (value === undefined) return 'missing';
  if (Array.isArray(value)) return `an array of ${value.length}`;
  if (typeof value === 'string') {
    return JSON.stringify(value.length > 60 ? `${value.slice(0, 60)}...` : value);
  }
  if (typeof value === 'object' && value !== null) return 'an object';
  return String(value);
}

function modelCheck(name: ModelName): Check {
  let check = compiled.get(name);
  if (check === undefined) {
    check = compile(MODELS[name] as JsonSchema);
    compiled.set(name, check);
  }
  return check;
}

function compile(schema: JsonSchema): Check {
  if (schema.$ref !== undefined) return compileRef(schema.$ref);
  if (schema.anyOf !== undefined) return compileAnyOf(schema.anyOf);
  switch (schema.type) {
    case 'string':
      return schema.format === 'int64' ? wideInteger : compileString(schema);
    case 'integer':
      return compileInteger(schema);
    case 'number':
      return (value) => (Number.isFinite(value) ? value : mismatch('a finite number', value));
    case 'boolean':
      return compileBoolean(schema);
    case 'null':
      return (value) => (value === null ? value : mismatch('null', value));
    case 'array':
      return compileArray(schema);
    default:
      return compileObject(schema);
  }
}

const mismatch = (expected: string, value: unknown): Mismatch =>
  new Mismatch(expected, describe(value));

function compileRef(reference: string): Check {
  const name = reference.slice(reference.lastIndexOf('/') + 1) as ModelName;
  return (value, depth) => {
    if (depth >= MAX_DEPTH) return new Mismatch(`at most ${MAX_DEPTH} levels`, 'nested deeper');
    return modelCheck(name)(value, depth + 1);
  };
}

function compileAnyOf(schemas: readonly JsonSchema[]): Check {
  const checks = schemas.map(compile);
  return (value, depth) => {
    const expected: string[] = [];
    for (const check of checks) {
      const result = check(value, depth);
      if (!(result instanceof Mismatch)) return result;
      if (result.path.length > 0) return result;
      expected.push(result.expected);
    }
    return mismatch(expected.join(' or '), value);
  };
}

function compileBoolean({ const: only }: JsonSchema): Check {
  const expected = only === undefined ? 'true or false' : String(only);
  return (value) =>
    typeof value === 'boolean' && value === (only ?? value) ? value : mismatch(expected, value);
}

const MIN_WIDE = -(2n ** 63n);
const MAX_WIDE = 2n ** 64n - 1n;

const BEYOND_EXACT = 'a number beyond 2^53, which JSON numbers do not hold exactly';

/** A bigint, from what JSON can hold of one. */
function wideInteger(value: unknown): unknown {
  const readable =
    typeof value === 'bigint' ||
    Number.isSafeInteger(value) ||
    (typeof value === 'string' && /^-?\d{1,20}$/.test(value));
  const wide = readable ? BigInt(value as string) : undefined;
  if (wide !== undefined && wide >= MIN_WIDE && wide <= MAX_WIDE) return wide;
  // Its digits were rounded as the JSON was read, and must not be told as those that were sent.
  return Number.isInteger(value)
    ? new Mismatch('a string of its digits, such as "9007199254740993"', BEYOND_EXACT)
    : mismatch('the digits of an integer of 64 bits', value);
}

function compileString({ minLength = 0, enum: words }: JsonSchema): Check {
  if (words !== undefined) {
    const expected = `one of ${words.join(', ')}`;
    return (value) =>
      typeof value === 'string' && words.includes(value) ? value : mismatch(expected, value);
  }
  const expected = minLength === 0 ? 'a string' : 'a string that is not empty';
  return (value) =>
    typeof value === 'string' && value.length >= minLength ? value : mismatch(expected, value);
}

function compileInteger({ minimum, format }: JsonSchema): Check {
  const lowest = minimum ?? Number.MIN_SAFE_INTEGER;
  const clamped = format === 'uint64';
  const expected = minimum === undefined ? 'an integer' : `an integer >= ${minimum}`;
  const within = clamped ? expected : `${expected} and at most ${Number.MAX_SAFE_INTEGER}`;
  return (value) => {
    if (typeof value !== 'number' || !Number.isInteger(value)) return mismatch(expected, value);
    if (value < lowest) return mismatch(expected, value);
    if (value <= Number.MAX_SAFE_INTEGER) return value;
    return clamped && value <= 2 ** 63 ? Number.MAX_SAFE_INTEGER : mismatch(within, value);
  };
}

/**
 * How many items at the front pass as they are. Vectors and lists of row ids are long and hold
 * nothing else, and one loop over them takes a tenth of the time of a check for each.
 */
type Front = (items: readonly unknown[]) => number;

const NO_FRONT: Front = () => 0;

const finiteNumbers: Front = (items) => {
  let at = 0;
  while (at < items.length) {
    const item = items[at];
    if (typeof item !== 'number' || item - item !== 0) break;
    at++;
  }
  return at;
};

/** Negative ones are not counted, though they may pass: they are rare, and this is fastest. */
const wideIntegers: Front = (items) => {
  if (wideLists.has(items)) return items.length;
  let at = 0;
  while (at < items.length) {
    const item = items[at];
    if (typeof item !== 'bigint' || BigInt.asUintN(64, item) !== item) break;
    at++;
  }
  return at;
};

function frontOf({ type, format }: JsonSchema): Front {
  if (type === 'number') return finiteNumbers;
  return type === 'string' && format === 'int64' ? wideIntegers : NO_FRONT;
}

function compileArray({ items, minItems = 0, maxItems = Infinity }: JsonSchema): Check {
  if (items === undefined) throw new DirspaceError('Internal', 'An array model without items.');
  const check = compile(items);
  const front = frontOf(items);
  const expected =
    minItems === maxItems
      ? `an array of ${minItems}`
      : minItems === 0
        ? 'an array'
        : `an array of at least ${minItems}`;
  return (value, depth) => {
    if (!Array.isArray(value)) return mismatch(expected, value);
    if (value.length < minItems || value.length > maxItems) return mismatch(expected, value);
    let result: unknown[] = value;
    for (let at = front(value); at < value.length; at++) {
      const item = check(value[at], depth);
      if (item === value[at]) continue;
      if (item instanceof Mismatch) return item.within(at);
      if (result === value) result = value.slice();
      result[at] = item;
    }
    return result;
  };
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function compileObject({ properties, required = [], additionalProperties }: JsonSchema): Check {
  if (additionalProperties !== undefined) return compileMap(compile(additionalProperties));
  if (properties === undefined) {
    return (value) => (isObject(value) ? value : mismatch('an object', value));
  }
  const members = Object.entries(properties).map(([name, schema]) => ({
    name,
    optional: !required.includes(name),
    hasNull: schema.anyOf?.some(({ type }) => type === 'null') === true,
    check: compile(schema),
  }));
  return (value, depth) => {
    if (!isObject(value)) return mismatch('an object', value);
    let result: Record<string, unknown> | undefined;
    for (const { name, optional, hasNull, check } of members) {
      const found = value[name];
      if (found === undefined && optional) continue;
      if (found === null && optional && !hasNull) {
        result ??= { ...value };
        delete result[name];
        continue;
      }
      const member = check(found, depth);
      if (member === found) continue;
      if (member instanceof Mismatch) return member.within(name);
      result ??= { ...value };
      result[name] = member;
    }
    return result ?? value;
  };
}

/** Maps have no prototype, so that a key such as `constructor` is present only if it was sent. */
function compileMap(check: Check): Check {
  return (value, depth) => {
    if (!isObject(value)) return mismatch('an object', value);
    const result: Record<string, unknown> = Object.create(null);
    for (const key of Object.keys(value)) {
      const item = check(value[key], depth);
      if (item instanceof Mismatch) return item.within(key);
      result[key] = item;
    }
    return result;
  };
}
