/**
 * Defines `Exchange`, the record of a request and its answer in reports. `shown` formats a value as
 * JSON, and `shortened` cuts text of more than 2,000 characters. Records have no headers except the
 * content type, because others may hold credentials.
 */

/** One request of a case with its answer. */
export interface Exchange {
  readonly operation: string;
  /** `POST <url>` with its body, or the call of a method with its request. */
  readonly request: string;
  /** The status with the body, or the value or error that a method answered. */
  readonly answer: string;
  /** How a readable answer deviates from the status that the protocol lists for the operation. */
  readonly deviation?: { readonly expected: string; readonly got: string };
}

const MOST_CHARACTERS = 2000;

export function shortened(text: string): string {
  if (text.length <= MOST_CHARACTERS) return text;
  return `${text.slice(0, MOST_CHARACTERS)} ... (${text.length} characters)`;
}

/** JSON for people: integers too wide for its numbers are strings, bytes are told by their length. */
export function shown(value: unknown): string {
  const text = JSON.stringify(value, (_, item: unknown) => {
    if (typeof item === 'bigint') return String(item);
    return item instanceof Uint8Array ? `<${item.length} bytes>` : item;
  });
  return shortened(text ?? 'nothing');
}
