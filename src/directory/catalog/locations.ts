/**
 * `folderAt` resolves a location that a caller gives to a folder below the catalog's root. The
 * location may be relative to the root, an absolute path or a `file:` URI. It throws InvalidInput
 * for locations outside the root and for folders of the engine itself, except those of deregistered
 * tables and those reserved for other programs. Symbolic links are refused later, when the folder
 * is entered. `tableIdAt` returns the id of the table that belongs at a folder, or undefined if
 * none does. `liesOutside` tells whether a location that a table has is outside the root.
 */
import { fileURLToPath } from 'node:url';
import { DirspaceError } from '../../errors.ts';
import {
  DETACHED_FOLDER,
  isOutside,
  isReservedFolder,
  PRIVATE_FOLDER,
} from '../../format/index.ts';
import type { ObjectPath } from '../../protocol/index.ts';
import { type Catalog, locationOf } from './catalog.ts';

/**
 * The folder that a location names, relative to the root. Of the engine's folders, those of
 * deregistered tables and of places reserved for other programs are allowed. @throws InvalidInput
 * for one outside the root, or one that is the engine's own
 */
export function folderAt(catalog: Catalog, location: string): string {
  const folder = folded(catalog, relativeTo(catalog, location).replace(/\/$/, ''));
  const parts = folder.split('/');
  if (parts.some((part) => part === '' || part === '.' || part === '..') || ILLEGAL.test(folder)) {
    throw unusable(location, 'it is no plain path of a folder below the root of the catalog');
  }
  const isOpen = folder.startsWith(`${DETACHED_FOLDER}/`) || isReservedFolder(folder);
  if (parts[0] === PRIVATE_FOLDER && !isOpen) {
    throw unusable(location, `${PRIVATE_FOLDER} belongs to the engine itself`);
  }
  return folder;
}

/** Whether a location that `tablePlace` gave is outside the root; those in memory are URIs too. */
export const liesOutside = (catalog: Catalog, location: string): boolean =>
  isOutside(location) && !location.startsWith(locationOf(catalog, ''));

/** The table that has its place in the tree at `folder`, whether it is there or not. */
export const tableIdAt = ({ engine }: Catalog, folder: string): ObjectPath | undefined =>
  engine.names.tableIdAt(folder);

/** `location` cannot be used, and why. */
const unusable = (location: string, why: string): DirspaceError =>
  new DirspaceError(
    'InvalidInput',
    `The location ${JSON.stringify(location.slice(0, 200))} cannot be used: ${why}. Give the path of a folder below the root: relative to it, absolute, or as a file: URI.`,
    { details: { member: 'location' } },
  );

/** Where the disk folds case, folders of the engine are told apart from others in small letters. */
const folded = ({ engine }: Catalog, folder: string): string =>
  engine.names.foldsCase ? folder.replace(/[A-Z]/g, (letter) => letter.toLowerCase()) : folder;

/** A colon names a drive or a scheme, and a backslash separates folders on Windows. */
const ILLEGAL = /[\\\0:]/;

/** The look at the prefixes came first. */
const NO_PREFIX = ', and below no prefix of the option `locations`';

const isUri = (location: string): boolean => /^[a-z][a-z0-9+.-]+:/i.test(location);

function relativeTo(catalog: Catalog, location: string): string {
  const root = portable(locationOf(catalog, ''));
  if (isUri(root) && location.startsWith(root)) return location.slice(root.length);
  const path = isUri(location) ? pathOfUri(location) : location;
  const given = portable(path);
  if (given.startsWith(root)) return given.slice(root.length);
  const isAbsolute = given.startsWith('/') || /^[a-z]:/i.test(given);
  if (isAbsolute) throw unusable(location, `it lies outside the root of the catalog${NO_PREFIX}`);
  return path;
}

/** With the separators of locations, which are those of URIs. */
const portable = (path: string): string =>
  process.platform === 'win32' ? path.replaceAll('\\', '/') : path;

function pathOfUri(location: string): string {
  try {
    const uri = new URL(location);
    if (uri.protocol === 'file:' && uri.search === '' && uri.hash === '') {
      return fileURLToPath(uri);
    }
  } catch {
    // Told below.
  }
  throw unusable(location, `it is not the file: URI of a local folder${NO_PREFIX}`);
}
