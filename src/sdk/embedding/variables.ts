/**
 * Holds the variables of embedding functions, which keep secrets out of tables. An option has the
 * form `$var:name` or `$var:name:default`, and each process sets the value of the variable
 * (`setVariable`, which throws InvalidInput for a name with a colon). `getVariable` returns
 * undefined for a variable without a value. `variable` resolves an option of that form, and throws
 * InvalidInput if there is neither a value nor a default.
 */
import { DirspaceError } from '../../errors.ts';

const variables = new Map<string, string>();

/** @throws InvalidInput for a name with a colon */
export function setVariable(name: string, value: string): void {
  if (name.includes(':')) {
    throw new DirspaceError(
      'InvalidInput',
      `The name of a variable has no colon; it is ${JSON.stringify(name)}.`,
    );
  }
  variables.set(name, value);
}

export const getVariable = (name: string): string | undefined => variables.get(name);

/** The value that `$var:name[:default]` stands for. @throws InvalidInput where it is not set */
export function variable(reference: string): string {
  const [, name = '', ...rest] = reference.split(':');
  const value = variables.get(name) ?? (rest.length === 0 ? undefined : rest.join(':'));
  if (value !== undefined) return value;
  throw new DirspaceError(
    'InvalidInput',
    `Variable ${JSON.stringify(name)} not found: set it with getRegistry().setVar(${JSON.stringify(name)}, value).`,
    { details: { variable: name } },
  );
}
