/**
 * Validates the properties that a catalog implementation is opened with. `checkProperties` throws
 * InvalidInput for a value that is not a string, and for a missing or unknown name. `checkStrings`
 * accepts any names. `flagProperty` reads `true` or `false`, returns undefined if the property is
 * absent, and throws InvalidInput for another text.
 */
import { DirspaceError } from '../../errors.ts';
import { nearest } from '../../known-names.ts';

/** What an implementation is opened with, such as `{root: './catalog'}`. */
export type Properties = Readonly<Record<string, string>>;

/** The names that an implementation takes. */
export interface PropertyRules {
  readonly required: readonly string[];
  readonly optional?: readonly string[];
  /** Any name that starts so, with more after it. */
  readonly prefixes?: readonly string[];
}

/**
 * Passes the properties through. Throws InvalidInput for a property that is missing, misspelt or
 * no string, and lists those that exist.
 */
export function checkProperties(
  implementation: string,
  properties: unknown,
  rules: PropertyRules,
): Properties {
  const { required, optional = [], prefixes = [] } = rules;
  const known = [...required, ...optional];
  const takes = `${implementation} takes ${listRules(rules)}`;
  const given = checkStrings(implementation, properties, takes);
  const fail = (message: string): never => {
    throw new DirspaceError('InvalidInput', message, {
      details: { implementation, required, optional, prefixes },
    });
  };
  for (const name of Object.keys(given)) {
    if (known.includes(name)) continue;
    if (prefixes.some((prefix) => name.startsWith(prefix) && name.length > prefix.length)) continue;
    const meant = nearest(name, known);
    const hint = meant === undefined ? '' : `; did you mean "${meant}"?`;
    fail(`${implementation} has no property ${JSON.stringify(name)}${hint || '.'} ${takes}.`);
  }
  for (const name of required) {
    if ((given[name] ?? '') === '') fail(`The property "${name}" is missing: ${takes}.`);
  }
  return given;
}

/** Passes strings by name through, whatever the names are. */
export function checkStrings(implementation: string, properties: unknown, takes = ''): Properties {
  const hint = takes === '' ? '' : ` ${takes}.`;
  if (typeof properties !== 'object' || properties === null || Array.isArray(properties)) {
    throw new DirspaceError(
      'InvalidInput',
      `The properties of ${implementation} are an object of strings.${hint}`,
      { details: { implementation } },
    );
  }
  for (const [name, value] of Object.entries(properties)) {
    if (typeof value === 'string') continue;
    throw new DirspaceError(
      'InvalidInput',
      `The property ${JSON.stringify(name)} of ${implementation} is of type ${typeof value}; properties are strings.${hint}`,
      { details: { implementation, property: name } },
    );
  }
  return properties as Properties;
}

/** True and false as a property spells them; undefined where it is not given. */
export function flagProperty(properties: Properties, name: string): boolean | undefined {
  const value = properties[name];
  if (value === undefined) return undefined;
  if (value === 'true') return true;
  if (value === 'false') return false;
  throw new DirspaceError(
    'InvalidInput',
    `The property "${name}" is ${JSON.stringify(value.slice(0, 80))}; it is "true" or "false".`,
    { details: { property: name } },
  );
}

function listRules({ required, optional = [], prefixes = [] }: PropertyRules): string {
  const names = [
    ...required.map((name) => `"${name}" (required)`),
    ...optional.map((name) => `"${name}"`),
    ...prefixes.map((prefix) => `"${prefix}<name>"`),
  ];
  return names.length === 0 ? 'none' : names.join(', ');
}
