/**
 * Exports the client of the REST protocol: `RestNamespace` (over fetch, with retries) and the
 * validation of its options, which the conformance suite uses too.
 */

export { RestNamespace } from './client.ts';
export { clientSettings, type Fetch } from './client-options.ts';
export { addressOf } from './client-request.ts';
