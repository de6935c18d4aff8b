/**
 * Exports the client of the REST protocol, `RestNamespace`. Also exports parts that other folders
 * use: the validation of options, the building of addresses, and `platformFetch`.
 */

export { RestNamespace } from './client.ts';
export { clientSettings, type Fetch } from './client-options.ts';
export { addressOf } from './client-request.ts';
export { platformFetch } from './platform-fetch.ts';
