/**
 * Checks ids (`checkPath`, `checkComponent`), compares them (`equalPaths`), and converts them
 * between a list of names (`['prod', 'user']`) and text (`prod$user`, by `formatId` and `parseId`).
 * A name has ASCII letters, digits, `_`, `-` and `.`; other names throw InvalidInput, as does a
 * delimiter that makes an id read as another one. The delimiter alone stands for the root.
 * `errorNaming` makes errors whose message names objects by their ids, and `namedBy` makes the same
 * error with other names, for example as SQL writes them. exchange.ts does the percent-encoding.
 */
import {
  DirspaceError,
  type DirspaceErrorOptions,
  type ErrorCode,
  isDirspaceError,
} from '../errors.ts';

/** The components from the root down; `[]` is the root namespace. */
export type ObjectPath = readonly string[];

/** What joins the components of an id in text: `prod$search$user`. */
export const DEFAULT_DELIMITER = '$';

const COMPONENT = /^[A-Za-z0-9_.-]+$/;
const ILLEGAL = /[^A-Za-z0-9_.-]/u;
const RULE = 'a component has one or more letters (a-z), digits, "_", "-" or "."';

/** For messages: as JSON, cut where it is long. */
function quoted(text: string): string {
  return JSON.stringify(text.length > 80 ? `${text.slice(0, 80)}...` : text);
}

/** Passes a legal component through; `position` counts from 0 within its path. */
export function checkComponent(component: string, position = 0): string {
  if (COMPONENT.test(component)) return component;
  const details = { component: component.slice(0, 256), position };
  const subject = `Component ${position + 1}, ${quoted(component)},`;
  if (component === '') {
    throw new DirspaceError('InvalidInput', `${subject} is empty; ${RULE}.`, { details });
  }
  const offset = component.search(ILLEGAL);
  const found = quoted(String.fromCodePoint(component.codePointAt(offset) as number));
  throw new DirspaceError('InvalidInput', `${subject} has ${found} at offset ${offset}; ${RULE}.`, {
    details: { ...details, offset },
  });
}

/** Passes a path of legal components through. */
export function checkPath<Path extends ObjectPath>(path: Path): Path {
  for (const [position, component] of path.entries()) checkComponent(component, position);
  return path;
}

function checkDelimiter(delimiter: string): void {
  if (delimiter !== '') return;
  throw new DirspaceError('InvalidInput', 'The delimiter is empty; it has one character or more.');
}

/** Whether a component may contain it, so that ids joined by it may read as other paths. */
export const isComponentText = (delimiter: string): boolean => COMPONENT.test(delimiter);

/** The path a string id stands for. An id equal to the delimiter is the root. */
export function parseId(id: string, delimiter: string = DEFAULT_DELIMITER): string[] {
  checkDelimiter(delimiter);
  return id === delimiter ? [] : checkPath(id.split(delimiter));
}

/** The inverse of `parseId`: fails where the delimiter makes the id read as another path. */
export function formatId(path: ObjectPath, delimiter: string = DEFAULT_DELIMITER): string {
  checkDelimiter(delimiter);
  checkPath(path);
  if (path.length === 0) return delimiter;
  const id = path.join(delimiter);
  // Only a delimiter of legal characters can occur in a component, or across its edge.
  if (isComponentText(delimiter) && !equalPaths(id.split(delimiter), path)) {
    const position = path.findIndex((component) => component.includes(delimiter));
    throw new DirspaceError(
      'InvalidInput',
      position < 0
        ? `The delimiter ${quoted(delimiter)} makes ${quoted(id)} read as another path; use another one.`
        : `Component ${position + 1}, ${quoted(path[position] as string)}, contains the delimiter ${quoted(delimiter)}; use another one.`,
      { details: { path, delimiter, position } },
    );
  }
  return id;
}

export function equalPaths(left: ObjectPath, right: ObjectPath): boolean {
  return left.length === right.length && left.every((component, at) => component === right[at]);
}

/** How a message names an object. */
export type ShowId = (id: ObjectPath) => string;

/** A message by how it names objects. */
export type Wording = (show: ShowId) => string;

const wordings = new WeakMap<DirspaceError, Wording>();

/** An error whose message names objects by their ids; `namedBy` words it with other names. */
export function errorNaming(
  code: ErrorCode,
  wording: Wording,
  options: DirspaceErrorOptions,
): DirspaceError {
  const error = new DirspaceError(
    code,
    wording((id) => formatId(id)),
    options,
  );
  wordings.set(error, wording);
  return error;
}

/** The same error with other names in its message; one that `errorNaming` did not make stays. */
export function namedBy(error: unknown, show: ShowId): unknown {
  const wording = isDirspaceError(error) ? wordings.get(error) : undefined;
  if (wording === undefined) return error;
  const { code, details, cause } = error as DirspaceError;
  return new DirspaceError(code, wording(show), { details, cause });
}
