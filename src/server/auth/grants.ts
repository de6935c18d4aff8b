/**
 * Defines `Grant`, a permission on a namespace and all below it, in one database or in all.
 * `parseGrant` converts a grant from a program, the configuration or a token to this form. It
 * returns undefined for anything malformed, because a misspelt grant could allow more than was
 * meant. `checkGrants` converts a list and throws InvalidInput instead. permissions.ts decides what
 * a grant allows.
 */
import { DirspaceError } from '../../errors.ts';
import { checkPath, type ObjectPath, type Permission, parseId } from '../../protocol/index.ts';

/** `admin` includes `write`, which includes `read`. */
export interface Grant {
  /** The database it is for; every one if absent. */
  readonly database?: string;
  /** Everything at or below this path; the whole catalog if it is empty. */
  readonly namespace: ObjectPath;
  readonly permission: Permission;
}

/** A grant, the same with the namespace as an id, or a text such as `read:prod$search` or `admin:$`. */
export type GrantInput =
  | Grant
  | (Omit<Grant, 'namespace'> & { readonly namespace: string })
  | `${Permission}:${string}`;

/** The grants in their one form. @throws InvalidInput that names whose grants they are */
export function checkGrants(grants: readonly GrantInput[], whose: string): readonly Grant[] {
  const parsed = Array.isArray(grants) ? grants.map(parseGrant) : [undefined];
  if (!parsed.includes(undefined)) return parsed as Grant[];
  throw new DirspaceError(
    'InvalidInput',
    `The grants of ${whose} are not a list as of ["read:prod$search"] or [{ namespace: ['prod', 'search'], permission: 'read' }].`,
  );
}

const GRANT_MEMBERS = new Set(['namespace', 'permission', 'database']);

/**
 * A grant from configuration or a claim: `{namespace, permission, database?}`, the namespace as an
 * id or an array, or the word `permission:id`. Undefined where it is none: a misspelt member would
 * grant more than was meant.
 */
export function parseGrant(value: unknown): Grant | undefined {
  if (typeof value === 'string') {
    const [permission, ...id] = value.split(':');
    return parseGrant({ permission, namespace: id.join(':') });
  }
  if (typeof value !== 'object' || value === null) return undefined;
  if (!Object.keys(value).every((name) => GRANT_MEMBERS.has(name))) return undefined;
  const { namespace, permission, database } = value as Readonly<Record<string, unknown>>;
  if (permission !== 'read' && permission !== 'write' && permission !== 'admin') return undefined;
  if (database !== undefined && typeof database !== 'string') return undefined;
  const isList = Array.isArray(namespace) && namespace.every((part) => typeof part === 'string');
  if (!isList && typeof namespace !== 'string') return undefined;
  try {
    const path = isList ? checkPath(namespace) : parseId(namespace);
    return { namespace: path, permission, ...(database === undefined ? {} : { database }) };
  } catch {
    return undefined;
  }
}
