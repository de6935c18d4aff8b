/**
 * Converts paths and URLs that users pass for a directory or a file to local paths. `directoryOf`
 * takes a directory as a path, which it returns unchanged, or as a `file:` URL. `fileOf` takes a
 * `file:` URL. Both throw InvalidInput for a URL of another scheme, and for a `file:` URL that
 * cannot name a place on this machine; `directoryOf` also for a NUL character. Neither checks
 * whether anything exists at the path.
 */
import { fileURLToPath } from 'node:url';
import { DirspaceError } from './errors.ts';

// Any other colon is part of a name, or ends a drive's.
const SCHEME = /^(?:(file):|([a-z][a-z0-9+.-]+):\/\/)/i;

/**
 * The path that a root names.
 * @throws InvalidInput for a URL of anything but a local directory, and for a NUL character
 */
export function directoryOf(root: string): string {
  const [match, file, scheme] = SCHEME.exec(root) ?? [];
  if (match !== undefined && file === undefined) {
    throw new DirspaceError(
      'InvalidInput',
      `A directory catalog is opened by a path or a "file:" URL, not by ${JSON.stringify(`${scheme}:`)}. ${/^https?$/i.test(scheme ?? '') ? "Use connectNamespace('rest', { uri }) for a server" : 'Use connectNamespace(name, properties) for other catalogs'}.`,
      { details: { scheme } },
    );
  }
  if (root.includes('\0')) throw notLocal(root, 'directory');
  return match === undefined ? root : localPath(root, 'directory');
}

/**
 * The path that a `file:` URL names.
 * @throws InvalidInput for a URL of another host, and for one whose path has an escaped separator
 */
export const fileOf = (url: string | URL): string => localPath(url, 'file');

function localPath(url: string | URL, what: 'file' | 'directory'): string {
  try {
    return fileURLToPath(url);
  } catch (cause) {
    // The query of an address may be a secret.
    const shown = String(url).replace(/\?.*$/s, '');
    throw notLocal(shown, what, cause);
  }
}

const notLocal = (url: string, what: 'file' | 'directory', cause?: unknown): DirspaceError =>
  new DirspaceError('InvalidInput', `${JSON.stringify(url)} names no ${what} of this machine.`, {
    cause,
  });
