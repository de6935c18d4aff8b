/**
 * Makes texts of the keys of a merge: `keyTexts` for comparing them, where no form of numbers or bytes
 * fits, and `showKey` for messages.
 */
import type { Data } from '../../arrow/index.ts';
import { loadColumn, reader, type Value } from '../../sql/index.ts';

/** A text per row that differs where the keys differ; undefined where a part is null. */
export function keyTexts(columns: readonly Data[]): (row: number) => string | undefined {
  const readers = columns.map((column) => reader(loadColumn(column)));
  return (row) => {
    let key = '';
    for (const read of readers) {
      const value = read(row);
      if (value === null) return undefined;
      const part = partOf(value);
      key += `${part.length}:${part}`;
    }
    return key;
  };
}

/**
 * A text that is equal for values that SQL takes as equal: both zeros are one. NaN equals itself.
 */
function partOf(value: Value): string {
  if (typeof value === 'string') return value;
  if (value instanceof Uint8Array) return Buffer.from(value).toString('latin1');
  if (typeof value === 'number') return String(value + 0);
  if (typeof value === 'object')
    return JSON.stringify(value, (_, part) => (typeof part === 'bigint' ? String(part) : part));
  return String(value);
}

/** The key of one row of all chunks, for messages. */
export function showKey(
  names: readonly string[],
  chunks: readonly (readonly Data[])[],
  row: number,
): string {
  let within = row;
  let at = 0;
  const rowsOf = (chunk: number): number => chunks[chunk]?.[0]?.length ?? 0;
  while (at < chunks.length - 1 && within >= rowsOf(at)) within -= rowsOf(at++);
  const columns = chunks[at] as readonly Data[];
  return names
    .map((name, position) => {
      const value = reader(loadColumn(columns[position] as Data))(within);
      const shown = typeof value === 'string' ? JSON.stringify(value) : partOf(value);
      return `${name} = ${shown.length > 80 ? `${shown.slice(0, 77)}...` : shown}`;
    })
    .join(', ');
}
