/** The client of the REST protocol: `RestNamespace`, over fetch, with retries. */

export { RestNamespace } from './client.ts';
export { clientSettings, type Fetch } from './client-options.ts';
export { addressOf } from './client-request.ts';
