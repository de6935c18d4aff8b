/**
 * `showValue` formats a JavaScript value for error messages, as its kind and a shortened form, such
 * as `string "abc"` or `array of 3`.
 */
const shorten = (text: string): string => (text.length > 48 ? `${text.slice(0, 45)}...` : text);

/** The kind of a value and, shortened, the value: `string "abc"`, `array of 3`, `null`. */
export function showValue(value: unknown): string {
  switch (typeof value) {
    case 'string':
      return `string ${shorten(JSON.stringify(value.slice(0, 60)))}`;
    case 'bigint':
      return `bigint ${shorten(value.toString())}n`;
    case 'number':
      return `number ${Object.is(value, -0) ? '-0' : value}`;
    case 'boolean':
      return `boolean ${value}`;
    case 'object':
      return value === null ? 'null' : showObject(value);
    default:
      return typeof value;
  }
}

function showObject(value: object): string {
  if (Array.isArray(value)) return `array of ${value.length}`;
  const tag = Object.prototype.toString.call(value).slice(8, -1);
  if (tag === 'Date') {
    const time = (value as Date).getTime();
    return Number.isNaN(time) ? 'Date (invalid)' : `Date ${new Date(time).toISOString()}`;
  }
  if (tag === 'DataView') return `DataView of ${(value as DataView).byteLength} bytes`;
  if (ArrayBuffer.isView(value)) return `${tag} of ${(value as Uint8Array).length} items`;
  if (tag === 'Map' || tag === 'Set') return `${tag} of ${(value as Map<unknown, unknown>).size}`;
  if (tag !== 'Object') return tag;
  return `object with keys ${shorten(Object.keys(value).slice(0, 12).join(', ')) || '(none)'}`;
}
