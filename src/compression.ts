/**
 * Defines the modes in which the fragments of a table may be compressed (`Compression`). `zstd`
 * compresses buffers of values of 4 KiB or more where that saves 15 %. `auto` (the default)
 * compresses only those of texts and binaries of 8 bytes or more on average that shrink to 40 % or
 * less, and `none` nothing. A table may name its mode in its properties: `compressionProperty`
 * returns it, or undefined. `checkCompression` throws InvalidInput for a value that is no mode;
 * `isCompression` only tells.
 */
import { DirspaceError } from './errors.ts';

/**
 * `zstd`: values are compressed where that saves 15 %. `auto`: texts and binaries of 8 bytes and more, on
 * average, that get smaller than two fifths. `none`: fragments are stored as they are.
 */
export type Compression = 'auto' | 'zstd' | 'none';

export const COMPRESSIONS = ['auto', 'zstd', 'none'] as const satisfies Compression[];

/** The mode of tables whose properties name none. */
export const DEFAULT_COMPRESSION: Compression = 'auto';

export const isCompression = (value: unknown): value is Compression =>
  typeof value === 'string' && (COMPRESSIONS as readonly string[]).includes(value);

/** What these properties of a table say; undefined where they say nothing. @throws InvalidInput */
export function compressionProperty(
  properties: Readonly<Record<string, string>>,
): Compression | undefined {
  const { compression } = properties;
  return compression === undefined ? undefined : checkCompression(compression);
}

/** @throws InvalidInput */
export function checkCompression(value: unknown): Compression {
  if (isCompression(value)) return value;
  throw new DirspaceError(
    'InvalidInput',
    `compression is ${JSON.stringify(value)?.slice(0, 80)}; it is one of ${COMPRESSIONS.join(', ')}.`,
    { details: { property: 'compression' } },
  );
}
