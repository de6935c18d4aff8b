/**
 * Reads the values of a configuration and checks their types. There is one function for each type
 * (`text`, `flag`, `count`, `portNumber`, `list`, `texts`, `mapOf`, and `object`, which refuses
 * unknown members); `optional` allows a value to be absent or null. A wrong value throws
 * InvalidInput (`invalid`), which names the member and the kind of value found (`kindOf`). The
 * error does not show the value, which may be a secret, except for numbers of ports.
 */
import { DirspaceError } from '../../errors.ts';

export type Members = Readonly<Record<string, unknown>>;

export function invalid(message: string, cause?: unknown): DirspaceError {
  return new DirspaceError('InvalidInput', message, cause === undefined ? {} : { cause });
}

/** The kind of a value, for messages that must not show the value. */
export function kindOf(value: unknown): string {
  if (value === undefined) return 'missing';
  if (value === null) return 'null';
  if (value === '') return 'an empty text';
  if (Array.isArray(value)) return 'a list';
  const kinds: Readonly<Record<string, string>> = {
    string: 'a text',
    number: 'a number',
    boolean: 'a boolean',
    object: 'an object',
  };
  return kinds[typeof value] ?? `of type ${typeof value}`;
}

/** `{name: read(value)}`, or nothing where the value is absent. */
export function optional<Name extends string, Value>(
  name: Name,
  value: unknown,
  read: (value: unknown, member: string) => Value,
  member: string = name,
): { [Member in Name]?: Value } {
  return (value === undefined || value === null ? {} : { [name]: read(value, member) }) as {
    [Member in Name]?: Value;
  };
}

export function text(value: unknown, member: string): string {
  if (typeof value === 'string' && value !== '') return value;
  throw invalid(`${member} is ${kindOf(value)}; give a text that is not empty.`);
}

export function flag(value: unknown, member: string): boolean {
  if (typeof value === 'boolean') return value;
  throw invalid(`${member} is ${kindOf(value)}; give true or false.`);
}

export function count(value: unknown, member: string): number {
  if (Number.isSafeInteger(value) && (value as number) >= 0) return value as number;
  throw invalid(`${member} is ${kindOf(value)}; give a whole number from 0 on.`);
}

export function portNumber(value: unknown, member: string): number {
  if (count(value, member) < 65_536) return value as number;
  throw invalid(`${member} is ${String(value)}; expected 0 to 65535.`);
}

export function list(value: unknown, member: string): readonly unknown[] {
  if (Array.isArray(value)) return value;
  throw invalid(`${member} is ${kindOf(value)}; give a list.`);
}

export function texts(value: unknown, member: string): readonly string[] {
  return list(value, member).map((item, at) => text(item, `${member}[${at}]`));
}

/** An object used as a map: `read` is called for each of its members. */
export function mapOf<Value>(
  value: unknown,
  member: string,
  read: (value: unknown, member: string) => Value,
): Readonly<Record<string, Value>> {
  return Object.fromEntries(
    Object.entries(object(value, member)).map(([name, item]) => [
      name,
      read(item, `${member}.${name}`),
    ]),
  );
}

/** A misspelt member would leave a server open, so those that are not `known` are refused. */
export function object(value: unknown, member: string, known?: readonly string[]): Members {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    throw invalid(`${member} is ${kindOf(value)}; give an object.`);
  }
  for (const name of known === undefined ? [] : Object.keys(value)) {
    if (known?.includes(name)) continue;
    throw invalid(`${member} has ${JSON.stringify(name)}; it takes ${known?.join(', ')}.`);
  }
  return value as Members;
}
