/**
 * Decides which tables may lie outside a catalog's root. `checkAllowedLocations` validates the
 * configured list of URI prefixes, and throws InvalidInput for a wrong one. `ruleOf` returns the
 * entry with the longest prefix of a location, or undefined. `outsideLocation` converts a caller's
 * location to a URI, or returns undefined if it is below no allowed prefix. It throws InvalidInput
 * for the prefix itself, for a location with escapes, `..` or the like, and for a `file:` location
 * whose symbolic links lead out of the prefix. The caller passes the function that resolves links,
 * so this file does no I/O.
 */
import { fileURLToPath, pathToFileURL } from 'node:url';
import { DirspaceError } from './errors.ts';

/** Tables may be declared and registered below this prefix. */
export interface AllowedLocation {
  /** A URI that ends in a slash, such as `s3://bucket/lake/` or `file:///data/lake/`. */
  readonly prefix: string;
  /** What clients are given to open tables there, unless they ask for none. */
  readonly storageOptions?: Readonly<Record<string, string>>;
  /** Asked in place of `storageOptions`, such as for credentials that expire. */
  readonly vendor?: (table: {
    readonly id: readonly string[];
    readonly location: string;
  }) => Promise<Readonly<Record<string, string>> | undefined>;
  /**
   * Of a prefix of `file:` alone: a table's folder is removed once its drop leaves the trash. False if
   * absent: files stay.
   */
  readonly dropFiles?: boolean;
}

const SCHEMES = ['s3', 'gs', 'az', 'abfss', 'file'];
const PREFIX = /^([a-z][a-z0-9+.-]*):\/\/(\/?[^/\s?#%\\]+\/)((?:[^/\s?#%\\]+\/)*)$/;
const MOST_BYTES = 2_048;

/** @throws InvalidInput that names the member */
export function checkAllowedLocations(value: unknown): readonly AllowedLocation[] {
  if (!Array.isArray(value)) throw wrong('locations is no list of objects with a prefix');
  return value.map((item: unknown, at) => {
    const name = `locations[${at}]`;
    if (typeof item !== 'object' || item === null) throw wrong(`${name} is no object`);
    const { prefix, storageOptions, vendor, dropFiles, ...others } = item as Record<
      string,
      unknown
    >;
    const [other] = Object.keys(others);
    if (other !== undefined) throw wrong(`${name} has the member ${JSON.stringify(other)}`);
    if (typeof prefix !== 'string') throw wrong(`${name}.prefix is no text`);
    const scheme = PREFIX.exec(prefix)?.[1];
    if (scheme === undefined || !SCHEMES.includes(scheme) || hasDots(prefix)) {
      throw wrong(
        `${name}.prefix is ${JSON.stringify(prefix.slice(0, 200))}; it is a URI of ${SCHEMES.join(', ')} that ends in a slash, without escapes`,
      );
    }
    if ((scheme === 'file') !== /^[a-z0-9]+:\/\/\//.test(prefix)) {
      throw wrong(
        `${name}.prefix is ${JSON.stringify(prefix)}; file: takes three slashes, others two`,
      );
    }
    if (dropFiles !== undefined && typeof dropFiles !== 'boolean') {
      throw wrong(`${name}.dropFiles is neither true nor false`);
    }
    if (dropFiles === true && scheme !== 'file') {
      throw wrong(
        `${name}.dropFiles is for prefixes of file: alone, because nothing here removes objects of ${scheme}`,
      );
    }
    if (storageOptions !== undefined && vendor !== undefined) {
      throw wrong(`${name} has both storageOptions and vendor; give one`);
    }
    if (vendor !== undefined && typeof vendor !== 'function') {
      throw wrong(`${name}.vendor is no function`);
    }
    if (storageOptions !== undefined && !isTextMap(storageOptions)) {
      throw wrong(`${name}.storageOptions is no object of texts`);
    }
    return item as AllowedLocation;
  });
}

const isTextMap = (value: unknown): boolean =>
  typeof value === 'object' &&
  value !== null &&
  !Array.isArray(value) &&
  Object.values(value).every((member) => typeof member === 'string');

const hasDots = (uri: string): boolean => /\/\.{1,2}(\/|$)/.test(uri);

const wrong = (what: string): DirspaceError =>
  new DirspaceError(
    'InvalidInput',
    `${what}. Locations are given as of [{ prefix: 's3://bucket/lake/', storageOptions: { region: 'eu-west-1' } }].`,
    { details: { member: 'locations' } },
  );

/** The rule that a location falls under: that of the longest prefix. */
export const ruleOf = (
  rules: readonly AllowedLocation[],
  location: string,
): AllowedLocation | undefined =>
  rules
    .filter(({ prefix }) => location.startsWith(prefix))
    .sort((left, right) => right.prefix.length - left.prefix.length)[0];

/**
 * The URI of a location outside the root, without the slash that it may end with; undefined where no
 * rule allows it. An absolute path counts as the `file:` URI of it.
 * @param realPath of an absolute path as far as it is there; throws where links cannot be followed
 * @throws InvalidInput for one below a prefix that is not spelt plainly, or that links lead out of its prefix
 */
export function outsideLocation(
  rules: readonly AllowedLocation[],
  given: string,
  realPath: (path: string) => string,
): string | undefined {
  const uri = given.startsWith('/') && rules.length > 0 ? pathToFileURL(given).href : given;
  const rule = ruleOf(rules, uri);
  if (rule === undefined) return undefined;
  const location = uri.replace(/\/$/, '');
  const below = location.slice(rule.prefix.length);
  const isPlain =
    location.length > rule.prefix.length &&
    Buffer.byteLength(location) <= MOST_BYTES &&
    below.split('/').every((part) => /^[^\s?#%\\\0]+$/.test(part)) &&
    !hasDots(location);
  if (isPlain && staysBelow(rule.prefix, location, realPath)) return location;
  if (isPlain) {
    throw new DirspaceError(
      'InvalidInput',
      `The location ${JSON.stringify(given.slice(0, 200))} cannot be used: a symbolic link leads elsewhere than below ${rule.prefix}, or cannot be followed. Give a location without the link, or allow the prefix where the link leads.`,
      { details: { member: 'location' } },
    );
  }
  throw new DirspaceError(
    'InvalidInput',
    `The location ${JSON.stringify(given.slice(0, 200))} cannot be used: below ${rule.prefix} it must name a folder in plain spelling, without empty parts, "..", escapes, queries and blanks, in ${MOST_BYTES} bytes.`,
    { details: { member: 'location' } },
  );
}

/** Whether links leave a location below its prefix; nothing is known of those in buckets. */
function staysBelow(prefix: string, location: string, realPath: (path: string) => string): boolean {
  if (!location.startsWith('file:')) return true;
  try {
    const above = realPath(fileURLToPath(prefix));
    const below = realPath(fileURLToPath(location));
    return below.startsWith(above.endsWith('/') ? above : `${above}/`);
  } catch {
    // A link to nothing, a ring of links, a folder that may not be entered: nobody can tell where it leads.
    return false;
  }
}
