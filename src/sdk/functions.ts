/**
 * `registerFunction` lets SQL expressions of this process call a synchronous function of the
 * program, until the function that it returns is called. The function is not called for null
 * arguments: the result is null then. The signature gives the types of the arguments and of the
 * result, by name or as Arrow types. Arguments of a wrong kind, a name that is taken, and types
 * without plain values throw InvalidInput; sql/register.ts checks the name.
 */
import type { DataType } from '../arrow/index.ts';
import { DirspaceError, isDirspaceError } from '../errors.ts';
import { typeFromJson } from '../protocol/index.ts';
import { registerFunction as register, type UserFunction } from '../sql/index.ts';
import type { TypeLike } from './convert/index.ts';
import { onlyOptions, showKind } from './handles/index.ts';
import { dataTypeJson } from './table/index.ts';

/** A type by its name, as `double`, `int64` or `string`, or as Arrow has it. */
export type FunctionType = string | DataType | TypeLike;

/** What a registered function takes and answers. */
export interface FunctionTypes {
  readonly args: readonly FunctionType[];
  readonly returns: FunctionType;
}

/**
 * Lets the SQL of this process call `call` as `name`: in filters, selected columns, updates, and the
 * expressions of computed columns. It is called with one value for each argument (64-bit integers are
 * bigints, lists arrays, binary columns `Uint8Array`), never with null: where an argument is null, so is
 * the result. It has to answer at once, and the same for the same values.
 *
 * Other processes do not know it: a server refuses expressions with its name, unless its own
 * program registers it too.
 * @returns a function that ends it
 * @throws InvalidInput for a name that is taken, and for types without plain values
 */
export function registerFunction(
  name: string,
  call: UserFunction,
  signature: FunctionTypes,
): () => void {
  const sound =
    typeof name === 'string' && typeof call === 'function' && Array.isArray(signature?.args);
  if (!sound) {
    throw new DirspaceError(
      'InvalidInput',
      `registerFunction takes a name, a function and its types, as ("double_it", (x) => x * 2, {args: ["double"], returns: "double"}), and was given ${showKind(name)}, ${showKind(call)} and ${showKind(signature)}.`,
    );
  }
  onlyOptions(signature, ['args', 'returns'], 'the types of a function');
  const typeOf = (type: FunctionType, what: string): DataType => {
    try {
      return typeFromJson(dataTypeJson(type), `${what} of ${name}`);
    } catch (error) {
      if (!isDirspaceError(error, 'TableSchemaValidation')) throw error;
      throw new DirspaceError('InvalidInput', error.message, { cause: error });
    }
  };
  return register(name, call, {
    args: signature.args.map((type) => typeOf(type, 'an argument')),
    returns: typeOf(signature.returns, 'the result'),
  });
}
