/**
 * Opens the catalog implementation `rest` (`open`): converts its properties and the connect options
 * to the options of `RestNamespace`. Unknown properties are refused; those named `headers.X` become
 * headers.
 */
import { RestNamespace } from '../../client/index.ts';
import type { ConnectOptions } from './connect-options.ts';
import { defined } from './defined.ts';
import type { Catalog } from './implementations.ts';
import { checkProperties, type Properties } from './properties.ts';

const HEADERS = 'headers.';
const RULES = { required: ['uri'], optional: ['delimiter'], prefixes: [HEADERS] };

export function open(properties: Properties, options: ConnectOptions): Catalog {
  const checked = checkProperties('rest', properties, RULES);
  const headers = Object.entries(checked)
    .filter(([name]) => name.startsWith(HEADERS))
    .map(([name, value]) => [name.slice(HEADERS.length), value]);
  const { readOnly, fetch, timeoutMs, retries, env } = options;
  return new RestNamespace({
    uri: checked.uri as string,
    headers: Object.fromEntries(headers),
    ...defined({ delimiter: checked.delimiter, readOnly, fetch, timeoutMs, retries, env }),
  });
}
