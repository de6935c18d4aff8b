/** Header names that both sides of the protocol know. What they mean is decided elsewhere. */

export const API_KEY_HEADER = 'x-api-key';
export const IDEMPOTENCY_HEADER = 'idempotency-key';
export const REQUEST_ID_HEADER = 'x-request-id';

/** Context entries that travel as headers have this before the header's name. */
export const HEADER_CONTEXT = 'header.';

export const JSON_TYPE = 'application/json';
export const ARROW_STREAM_TYPE = 'application/vnd.apache.arrow.stream';
export const ARROW_FILE_TYPE = 'application/vnd.apache.arrow.file';

/** The type of a content-type header, without its parameters; empty where there is none. */
export function mediaType(header: string | null | undefined): string {
  return (header ?? '').split(';', 1)[0]?.trim().toLowerCase() ?? '';
}
