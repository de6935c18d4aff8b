/**
 * `propertiesOf` converts the configuration of `dir` and `rest`, with the nested objects and
 * flags of LanceDB's SDK, to properties, which are strings by name. Configurations of other
 * implementations are not converted. The properties in `more` are added, except for names that the
 * configuration has. `manifestEnabled` may be true in a configuration of `dir`, and is dropped; any
 * other use throws InvalidInput. So do headers of `rest`, and properties in `more`, that are not
 * strings.
 */
import { DirspaceError } from '../../errors.ts';
import { checkStrings, type Properties } from './properties.ts';

/** A catalog on a directory. */
export interface DirNamespaceConfig {
  /** The path of the directory, or `memory://`. */
  readonly root: string;
  /** Namespaces are always there: `false` is refused. */
  readonly manifestEnabled?: boolean;
  /** Other properties of `dir`. */
  readonly extraProperties?: Readonly<Record<string, string>>;
}

/** A catalog on a server. */
export interface RestNamespaceConfig {
  /** The address of the server. */
  readonly uri: string;
  /** Sent with every request. */
  readonly headers?: Readonly<Record<string, string>>;
  /** Other properties of `rest`. */
  readonly extraProperties?: Readonly<Record<string, string>>;
}

/** What LanceDB's SDK configures a built-in implementation with. */
export type NamespaceConfig = DirNamespaceConfig | RestNamespaceConfig;

export function propertiesOf(
  name: string,
  config: Properties | NamespaceConfig,
  more: Properties | undefined,
): Properties {
  const isBuiltIn = name === 'dir' || name === 'rest';
  if (!isBuiltIn || typeof config !== 'object' || config === null) {
    return joined(name, config as Properties, more);
  }
  const { extraProperties, manifestEnabled, headers, ...own } = config as DirNamespaceConfig &
    RestNamespaceConfig;
  if (manifestEnabled !== undefined && (name !== 'dir' || manifestEnabled !== true)) {
    throw new DirspaceError(
      'InvalidInput',
      `manifestEnabled is ${JSON.stringify(manifestEnabled)}: namespaces are always there; leave it out.`,
      { details: { property: 'manifestEnabled' } },
    );
  }
  const isText = typeof headers === 'string';
  const sent =
    headers === undefined || isText || name === 'dir' ? {} : checkStrings('headers', headers);
  const prefixed = Object.entries(sent).map(([header, value]) => [`headers.${header}`, value]);
  const rest = headers === undefined || (!isText && name === 'rest') ? own : { ...own, headers };
  const extra = Object.entries(extraProperties ?? {}).map(([key, value]) => [
    // LanceDB's spelling.
    name === 'rest' ? key.replace(/^header\./, 'headers.') : key,
    value,
  ]);
  const properties = { ...Object.fromEntries(extra), ...rest, ...Object.fromEntries(prefixed) };
  return joined(name, properties, more);
}

function joined(name: string, properties: Properties, more: Properties | undefined): Properties {
  if (more === undefined) return properties;
  return { ...checkStrings(name, more), ...properties };
}
