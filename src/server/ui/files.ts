/**
 * `pageFile` reads a file of the browser page from `dist/ui` on its first request, and keeps it, also
 * compressed. It reads only the names in `PAGE_FILES`, so no path of a request reaches the disk. It throws
 * Internal if the build lacks the page, and looks again the next time.
 */
import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import { DirspaceError } from '../../errors.ts';

/** The files of the page, by the name in their address, and what they are. */
export const PAGE_FILES: Readonly<Record<string, string>> = {
  'index.html': 'text/html; charset=utf-8',
  'app.js': 'text/javascript; charset=utf-8',
  'app.css': 'text/css; charset=utf-8',
  'icon.svg': 'image/svg+xml',
};

export interface PageFile {
  readonly type: string;
  readonly text: string;
  readonly etag: string;
  /** The text by gzip. */
  readonly zipped: Uint8Array;
}

const read = new Map<string, Promise<PageFile>>();

/** One of `PAGE_FILES`. @throws Internal where the build lacks the page */
export function pageFile(name: string): Promise<PageFile> {
  const known = read.get(name);
  if (known !== undefined) return known;
  const reading = readPageFile(name);
  read.set(name, reading);
  // A build that is made later is found then.
  reading.catch(() => read.delete(name));
  return reading;
}

async function readPageFile(name: string): Promise<PageFile> {
  const type = Object.hasOwn(PAGE_FILES, name) ? PAGE_FILES[name] : undefined;
  const folder = pageFolder();
  if (type === undefined || folder === undefined) {
    throw new DirspaceError(
      'Internal',
      'The files of the page are missing beside the server (dist/ui). Install the package again, or run "npm run build" in a checkout.',
    );
  }
  const text = await readFile(join(folder, name), 'utf8');
  const sum = createHash('sha256').update(text).digest('base64url').slice(0, 22);
  return { type, text, etag: `"${sum}"`, zipped: await promisify(gzip)(text, { level: 9 }) };
}

/** This module is in `dist`, in a folder of it, or, where tests run the sources, in `src/server/ui`. */
function pageFolder(): string | undefined {
  let folder = dirname(fileURLToPath(import.meta.url));
  for (let up = 0; up < 5; up++) {
    for (const place of [join(folder, 'ui'), join(folder, 'dist', 'ui')]) {
      if (Object.keys(PAGE_FILES).every((name) => existsSync(join(place, name)))) return place;
    }
    folder = dirname(folder);
  }
  return undefined;
}
