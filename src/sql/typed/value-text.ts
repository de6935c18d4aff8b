/**
 * `exactText` writes a value, such as a list, struct or map, as JSON text, so that texts can be
 * compared in place of values. Equal values of one type have equal texts, and different values
 * different ones. Both zeros count as one value, and so do all NaNs.
 */
import type { Value } from './column.ts';

export const exactText = (value: Value): string => JSON.stringify(plain(value));

/** Made before JSON is, which would ask a Buffer for another form than a Uint8Array has. */
function plain(value: unknown): unknown {
  if (typeof value === 'bigint') return { int: String(value) };
  if (typeof value === 'number') return Number.isFinite(value) ? value : { float: String(value) };
  if (typeof value !== 'object' || value === null) return value;
  if (value instanceof Uint8Array) {
    return { bytes: Buffer.from(value.buffer, value.byteOffset, value.length).toString('latin1') };
  }
  if (Array.isArray(value)) return value.map(plain);
  return Object.entries(value).map(([name, part]) => [name, plain(part)]);
}
