/**
 * `registerFunction` registers a function of the program for the SQL expressions of its process,
 * and returns a function that ends the registration. It throws InvalidInput for a name that is
 * taken or cannot be called, and for types without plain values. functions/registered.ts keeps the
 * functions.
 */
import { DirspaceError } from '../errors.ts';
import { isBuiltIn } from './bind/index.ts';
import { addFunction, type FunctionSignature, type UserFunction } from './functions/index.ts';
import { CLOCK_FUNCTIONS, parseExpression, WINDOW_FUNCTIONS } from './parse/index.ts';

/**
 * @returns a function that ends it
 * @throws InvalidInput for a name that is taken or no name, and for types without plain values
 */
export function registerFunction(
  name: string,
  call: UserFunction,
  signature: FunctionSignature,
): () => void {
  const real = name.toLowerCase();
  if (!readsAsCall(real, signature.args.length)) {
    throw new DirspaceError(
      'InvalidInput',
      `${JSON.stringify(name)} cannot be the name of a function: names begin with a letter, have letters, digits and _, and are no words of SQL.`,
    );
  }
  if (isBuiltIn(real) || WINDOW_FUNCTIONS.has(real) || CLOCK_FUNCTIONS.has(real)) {
    throw new DirspaceError('InvalidInput', `${name} is a function of SQL already.`);
  }
  return addFunction(real, call, signature);
}

function readsAsCall(name: string, args: number): boolean {
  if (!/^[a-z_][a-z0-9_]{0,99}$/.test(name)) return false;
  try {
    const tree = parseExpression(`${name}(${Array(args).fill('NULL').join()})`);
    return tree.kind === 'call' && tree.name === name;
  } catch {
    return false;
  }
}
