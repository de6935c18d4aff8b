/**
 * `open` opens a catalog on a REST server, the implementation `rest`. It converts properties and
 * connect options to the options of `RestNamespace`. Headers come from properties named
 * `headers.X`, from `clientConfig` and from `headerProvider`. Unknown properties, a session, and
 * options of `db://` addresses throw InvalidInput, and members of `clientConfig` without a
 * counterpart Unsupported. Other options of directories, such as `cacheBytes`, have no effect.
 */
import { platformFetch, RestNamespace } from '../../client/index.ts';
import { DirspaceError } from '../../errors.ts';
import type { ConnectOptions } from './connect-options.ts';
import { defined } from './defined.ts';
import { withProvidedHeaders } from './header-provider.ts';
import type { Catalog } from './implementations.ts';
import { checkProperties, type Properties } from './properties.ts';
import { readClientConfig, refuseRemoteOptions } from './remote-database.ts';

const HEADERS = 'headers.';
const RULES = { required: ['uri'], optional: ['delimiter'], prefixes: [HEADERS] };

export function open(properties: Properties, options: ConnectOptions): Catalog {
  const checked = checkProperties('rest', properties, RULES);
  refuseRemoteOptions(options, 'rest');
  const { clientConfig = {}, session, ...others } = options;
  if (session !== undefined) {
    throw new DirspaceError(
      'InvalidInput',
      'The option session is for directories, whose caches it holds, and a remote catalog has none; leave it out.',
      { details: { option: 'session' } },
    );
  }
  const config = readClientConfig(clientConfig, others);
  const headers = Object.entries(checked)
    .filter(([name]) => name.startsWith(HEADERS))
    .map(([name, value]) => [name.slice(HEADERS.length), value]);
  const { readOnly, headerProvider, timeoutMs, retries, env } = config.options;
  const own = config.options.fetch;
  const fetch =
    headerProvider === undefined ? own : withProvidedHeaders(own ?? platformFetch, headerProvider);
  const delimiter = config.delimiter ?? checked.delimiter;
  return new RestNamespace({
    uri: checked.uri as string,
    headers: { ...Object.fromEntries(headers), ...config.headers },
    ...defined({ delimiter, readOnly, fetch, timeoutMs, retries, env }),
  });
}
