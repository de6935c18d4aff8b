/**
 * Exports the client of the REST protocol, `RestNamespace`. Also exports what the conformance suite
 * shares with it: the validation of options and the building of addresses.
 */

export { RestNamespace } from './client.ts';
export { clientSettings, type Fetch } from './client-options.ts';
export { addressOf } from './client-request.ts';
export { platformFetch } from './platform-fetch.ts';
