/**
 * Gets JSON Web Key Sets for jwt.ts. `readKeySet` reads a set from a file, and throws InvalidInput
 * if the file has none. `fetchKeySet` requests a set from an address for the package jose. It
 * rejects if the answer has more than 1 MiB, because the answer is held in memory.
 */
import { readFileSync } from 'node:fs';
import { DirspaceError } from '../../errors.ts';

const MOST_KEY_SET_BYTES = 1_048_576;

export interface KeySet {
  readonly keys: readonly object[];
}

/** @throws InvalidInput naming a file that cannot be read, or has no list of keys */
export function readKeySet(file: string): KeySet {
  let set: { readonly keys?: unknown } | null;
  try {
    set = JSON.parse(readFileSync(file, 'utf8'));
  } catch (cause) {
    const what = cause instanceof SyntaxError ? 'is not valid JSON' : 'cannot be read';
    throw new DirspaceError('InvalidInput', `jwksFile: ${file} ${what}.`, { cause });
  }
  if (Array.isArray(set?.keys) && set.keys.every(isObject)) return set as KeySet;
  throw new DirspaceError(
    'InvalidInput',
    `jwksFile: ${file} is JSON without a list "keys" of objects; give a JSON Web Key Set, {"keys": [...]}.`,
  );
}

const isObject = (value: unknown): boolean =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** As `fetch`, with the whole body read. Rejects where that is too long. */
export async function fetchKeySet(url: string, options: RequestInit): Promise<Response> {
  const response = await fetch(url, options);
  const reader = response.body?.getReader();
  if (reader === undefined) return response;
  const parts: Uint8Array[] = [];
  let bytes = 0;
  for (;;) {
    const { done, value } = await reader.read();
    if (done) break;
    bytes += value.length;
    if (bytes > MOST_KEY_SET_BYTES) {
      await reader.cancel();
      throw new Error(`The key set has more than ${MOST_KEY_SET_BYTES} bytes.`);
    }
    parts.push(value);
  }
  return new Response(Buffer.concat(parts), { status: response.status });
}
