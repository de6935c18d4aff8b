/**
 * `directoryOf`: converts the root of a directory catalog, a path or a `file:` URL, to a local
 * path. Paths are returned unchanged, relative ones too. Throws InvalidInput for URLs of other
 * schemes or other hosts, and for paths with a NUL character.
 */
import { fileURLToPath } from 'node:url';
import { DirspaceError } from './errors.ts';

// Any other colon is part of a name, or ends a drive's.
const SCHEME = /^(?:(file):|([a-z][a-z0-9+.-]+):\/\/)/i;

/** The path that a root names. @throws InvalidInput for a URL of anything but a local directory */
export function directoryOf(root: string): string {
  const [match, file, scheme] = SCHEME.exec(root) ?? [];
  if (match !== undefined && file === undefined) {
    throw new DirspaceError(
      'InvalidInput',
      `A directory catalog is opened by a path or a "file:" URL, not by ${JSON.stringify(`${scheme}:`)}. Use connectNamespace(name, properties) for other catalogs.`,
      { details: { scheme } },
    );
  }
  const refuse = (cause?: unknown): never => {
    const message = `${JSON.stringify(root)} names no directory of this machine.`;
    throw new DirspaceError('InvalidInput', message, { cause });
  };
  if (root.includes('\0')) return refuse();
  if (match === undefined) return root;
  try {
    return fileURLToPath(root);
  } catch (cause) {
    return refuse(cause);
  }
}
