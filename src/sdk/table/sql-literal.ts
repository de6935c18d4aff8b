/**
 * `toSql` formats a JavaScript value as an SQL literal, for the `values` of `Table.update`. A value
 * that has no literal, such as a plain object or an invalid Date, throws InvalidInput.
 */
import { Buffer } from 'node:buffer';
import { DirspaceError } from '../../errors.ts';
import { quotedText } from '../../sql-quotes.ts';

/** A value that has a literal; arrays hold such values. */
export type IntoSql =
  | string
  | number
  | bigint
  | boolean
  | null
  | Date
  | ArrayBufferLike
  | ArrayBufferView
  | readonly IntoSql[];

export function toSql(value: IntoSql): string {
  switch (typeof value) {
    case 'string':
      // Half of a surrogate pair becomes U+FFFD, as where rows are added.
      return quotedText(Buffer.from(value).toString());
    case 'boolean':
      return value ? 'TRUE' : 'FALSE';
    case 'bigint':
      return value.toString();
    case 'number':
      return numberSql(value);
    case 'object':
      return value === null ? 'NULL' : objectSql(value);
    default:
      return refuse(typeof value);
  }
}

function numberSql(value: number): string {
  if (Object.is(value, -0) || !Number.isFinite(value)) {
    return `CAST('${Object.is(value, -0) ? '-0' : value}' AS DOUBLE)`;
  }
  // The shortest text of a large integer is that of another integer, and columns take no other.
  const isLong = Number.isInteger(value) && !Number.isSafeInteger(value);
  return isLong && Math.abs(value) < 1e21 ? BigInt(value).toString() : value.toString();
}

function objectSql(value: Exclude<IntoSql & object, null>): string {
  if (Array.isArray(value)) return `[${value.map(toSql).join(', ')}]`;
  if (value instanceof Date) {
    return Number.isNaN(value.getTime()) ? refuse('invalid Date') : quotedText(value.toISOString());
  }
  if (value instanceof ArrayBuffer || value instanceof SharedArrayBuffer) {
    return bytesSql(new Uint8Array(value));
  }
  if (!ArrayBuffer.isView(value)) return refuse('object');
  if (value instanceof Uint8Array) return bytesSql(value);
  if (value instanceof DataView) return refuse('DataView');
  const numbers = value as unknown as Iterable<number | bigint>;
  return `[${Array.from(numbers, (item) => toSql(item)).join(', ')}]`;
}

function bytesSql({ buffer, byteOffset, byteLength }: Uint8Array): string {
  return `X'${Buffer.from(buffer, byteOffset, byteLength).toString('hex')}'`;
}

function refuse(found: string): never {
  throw new DirspaceError(
    'InvalidInput',
    `A value of type ${found} has no SQL literal; give an SQL expression with "valuesSql".`,
  );
}
