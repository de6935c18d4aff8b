/**
 * Names the HTTP headers and media types that client and server share, such as
 * `x-dirspace-applied`. `namesIn` splits a header value at its commas, and gives one empty name if
 * there is no header. `mediaType` returns the media type of a content-type header, in lower case
 * and without its parameters; it is empty if there is no header.
 */

export const API_KEY_HEADER = 'x-api-key';
export const IDEMPOTENCY_HEADER = 'idempotency-key';
export const REQUEST_ID_HEADER = 'x-request-id';
/** Names the members that other servers pass over and an answer has heeded, with commas between. */
export const APPLIED_HEADER = 'x-dirspace-applied';
/** Names what other servers pass over and this one honours, in every answer, with commas between. */
export const SUPPORTS_HEADER = 'x-dirspace-supports';

/** Context entries that travel as headers have this before the header's name. */
export const HEADER_CONTEXT = 'header.';

/** How this package's own client names itself. */
export const OWN_CLIENT = 'dirspace';

export const JSON_TYPE = 'application/json';
export const ARROW_STREAM_TYPE = 'application/vnd.apache.arrow.stream';
export const ARROW_FILE_TYPE = 'application/vnd.apache.arrow.file';

/** The names that such a header lists. */
export const namesIn = (header: string | null): string[] =>
  (header ?? '').split(',').map((name) => name.trim());

/** The type of a content-type header, without its parameters; empty where there is none. */
export function mediaType(header: string | null | undefined): string {
  return (header ?? '').split(';', 1)[0]?.trim().toLowerCase() ?? '';
}
