/**
 * Keeps the functions that a program registers for the SQL expressions of its own process;
 * `registeredFunction` finds one by its name in lower case. `addFunction` registers one and returns
 * a function that ends that; it throws InvalidInput for a name that is registered, more than 32
 * arguments, and types without plain values. A function is called once for each row, for each entry
 * of a dictionary, or for a record batch if all arguments are constants. It gets copies of lists
 * and bytes. A row with a null argument is null without a call. A result that does not fit the
 * declared type throws InvalidInput, and so does an error of the function that is not one of this
 * package. `functionsVersion` grows with each change.
 */
import { DataType, describeType } from '../../arrow/index.ts';
import { DirspaceError, isDirspaceError, isError } from '../../errors.ts';
import {
  elementType,
  familyOf,
  integerRange,
  isWide,
  type RowFunction,
  roundToFloat,
  type Value,
} from '../typed/index.ts';
import { strictInSteps } from './rows.ts';

/** Takes one value for each argument: see `registerFunction` for what values are. */
export type UserFunction = (...args: never[]) => unknown;

export interface FunctionSignature {
  readonly args: readonly DataType[];
  readonly returns: DataType;
}

export interface RegisteredFunction extends FunctionSignature {
  readonly run: RowFunction;
}

const registered = new Map<string, RegisteredFunction>();
let version = 0;

export const functionsVersion = (): number => version;
export const registeredFunction = (name: string): RegisteredFunction | undefined =>
  registered.get(name);
export const registeredNames = (): string[] => [...registered.keys()];

const MOST_ARGUMENTS = 32;

/**
 * Makes a function known to the SQL of this process, until the function that is returned is called.
 * @param name in lower case
 * @throws InvalidInput for a name that is taken, and for types that have no plain values
 */
export function addFunction(
  name: string,
  call: UserFunction,
  { args, returns }: FunctionSignature,
): () => void {
  if (registered.has(name)) {
    throw new DirspaceError(
      'InvalidInput',
      `A function ${name} is registered already; call what registerFunction returned for it first.`,
    );
  }
  if (args.length > MOST_ARGUMENTS) {
    throw new DirspaceError('InvalidInput', `${name} has more than ${MOST_ARGUMENTS} arguments.`);
  }
  for (const type of [...args, returns]) requirePlain(name, type);
  const own: RegisteredFunction = { args, returns, run: runOf(name, call, returns) };
  registered.set(name, own);
  version++;
  return () => {
    if (registered.get(name) !== own) return;
    registered.delete(name);
    version++;
  };
}

const PLAIN = ['bool', 'int', 'float', 'text', 'bytes'];

function requirePlain(name: string, type: DataType): void {
  const inner = familyOf(type) === 'list' ? elementType(type) : type;
  if (!DataType.isDictionary(type) && PLAIN.includes(familyOf(inner))) return;
  throw new DirspaceError(
    'InvalidInput',
    `The function ${name} cannot have the type ${describeType(type)}: arguments and results are booleans, integers, floats, texts, bytes, and lists of these.`,
  );
}

/** Bytes that a value of a list is counted with while it is held. */
const ITEM_BYTES = 16;

/**
 * If all arguments are constants, there is one call for each batch; in steps, one yields before
 * each call. What a call throws becomes InvalidInput, unless it is an error of this package. Of
 * results, null and undefined are null.
 */
function runOf(name: string, call: UserFunction, returns: DataType): RowFunction {
  const compute = call as (...args: readonly Value[]) => unknown;
  // Yields before each row, because a call may take any time.
  const steps = strictInSteps(name, function* (args, _, memory): Generator<void, Value> {
    yield;
    const value = canonical(name, returns, called(name, compute, args.map(copied)));
    if (typeof value === 'string') memory.text(value.length);
    else if (value instanceof Uint8Array) memory.take(value.length);
    else if (Array.isArray(value)) memory.take(ITEM_BYTES * value.length);
    return value;
  });
  return { ...steps, takesAnyTime: true, isOfProgram: true };
}

/** Its function may keep or change an argument, which lies in memory of the engine. */
function copied(value: Value): Value {
  if (value instanceof Uint8Array) return value.slice();
  return Array.isArray(value) ? value.map(copied) : value;
}

function called(
  name: string,
  compute: (...args: readonly Value[]) => unknown,
  args: readonly Value[],
): unknown {
  try {
    return compute(...args);
  } catch (error) {
    if (isDirspaceError(error)) throw error;
    const why = isError(error) ? error.message : String(error);
    throw new DirspaceError('InvalidInput', `The registered function ${name} failed: ${why}`, {
      cause: error,
      details: { function: name },
    });
  }
}

/** A value as expressions hold it. @throws InvalidInput unless it is one of the type */
function canonical(name: string, type: DataType, value: unknown): Value {
  if (value === null || value === undefined) return null;
  switch (familyOf(type)) {
    case 'bool':
      if (typeof value === 'boolean') return value;
      break;
    case 'text':
      if (typeof value === 'string') return value;
      break;
    case 'bytes':
      if (value instanceof Uint8Array && fitsWidth(type, value)) return value.slice();
      break;
    case 'float':
      if (typeof value === 'number') return roundToFloat(type, value);
      break;
    case 'int': {
      const whole = wholeNumber(value);
      const [least, most] = integerRange(type);
      if (whole === undefined || whole < least || whole > most) break;
      return isWide(type) ? whole : Number(whole);
    }
    case 'list':
      if (Array.isArray(value) || isNumberArray(value)) {
        const items = Array.from(value as ArrayLike<unknown>, (item) =>
          canonical(name, elementType(type), item),
        );
        if (DataType.isFixedSizeList(type) && items.length !== type.listSize) break;
        return items;
      }
  }
  const shown = value instanceof Promise ? 'a promise' : shownValue(value);
  throw new DirspaceError(
    'InvalidInput',
    `The registered function ${name} answered ${shown}, which is no ${describeType(type)}.${value instanceof Promise ? ' Functions of SQL answer at once: compute such values outside, and add them by mergeInsert.' : ''}`,
    { details: { function: name } },
  );
}

const fitsWidth = (type: DataType, value: Uint8Array): boolean =>
  !DataType.isFixedSizeBinary(type) || value.length === type.byteWidth;

function wholeNumber(value: unknown): bigint | undefined {
  if (typeof value === 'bigint') return value;
  return typeof value === 'number' && Number.isSafeInteger(value) ? BigInt(value) : undefined;
}

const isNumberArray = (value: unknown): boolean =>
  ArrayBuffer.isView(value) && !(value instanceof DataView) && !(value instanceof Uint8Array);

const shownValue = (value: unknown): string => {
  if (typeof value === 'string') return JSON.stringify(value.slice(0, 60));
  if (typeof value === 'object' || typeof value === 'function') {
    return `an ${Object.prototype.toString.call(value).slice(8, -1)}`;
  }
  return String(value);
};
