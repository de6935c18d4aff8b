/**
 * Recognises options that other programs have, such as `--order-by`, and names the replacement: an
 * option of dirspace, an argument or an environment variable (`otherOption`). The text is a hint in
 * an error; the options are not accepted. It is undefined for an option that is known nowhere.
 * `namesOf` splits the flags of an option into its names.
 */
import type { Command, ServiceCommand } from './command.ts';

type Asked = Pick<Command | ServiceCommand, 'name' | 'options' | 'arguments'>;

/** Own options, of which a command has one or none, and the names that other programs give them. */
const OTHER_NAMES: readonly (readonly [own: string, others: readonly string[]])[] = [
  ['--rows', ['--limit', '--top', '--count', '--max', '--head']],
  ['--limit', ['--rows', '--top', '--count', '--max']],
  ['--select', ['--columns', '--column', '--cols', '--fields', '--project', '--projection']],
  ['--sort', ['--order-by', '--orderby', '--order', '--desc', '--reverse']],
  ['--at', ['--version', '--tag', '--as-of', '--ref', '--snapshot']],
  ['--cascade', ['--recursive', '-r', '-R', '--all']],
  ['--yes', ['--force', '-f', '--assume-yes', '--no-confirm']],
  ['--long', ['--all', '--details', '--verbose']],
  ['--types', ['--column-types', '--dtypes', '--dtype', '--type', '--cast']],
  ['--delimiter', ['--delim', '--separator', '--sep', '--fs', '-d']],
  ['--null', ['--nulls', '--na', '--na-values', '--nullstr', '--null-value']],
  ['--decimal', ['--decimal-separator', '--decimal-point', '--dec']],
  ['--skip', ['--skip-lines', '--skip-rows', '--skiprows']],
  ['--on', ['--key', '--keys', '--by', '--id', '--primary-key']],
  ['--reject', ['--rejects', '--bad', '--errors', '--ignore-errors']],
  ['--set', ['--value', '--values', '--add']],
  ['--only', ['--filter', '--case']],
  ['--parents', ['--exist-ok', '--if-not-exists', '--recursive']],
  ['--target-rows', ['--rows', '--fragment-rows']],
  ['--apply', ['--yes', '--force', '-y']],
  ['--header', ['--api-key']],
];

/** What stands at the place of an argument, or of no option at all. */
const OTHER_WAYS: Readonly<Record<string, string>> = {
  '--append': '--mode append',
  '--overwrite': '--mode overwrite',
  '--replace': '--mode overwrite',
  '--dir': '--root',
  '--directory': '--root',
  '--folder': '--root',
  '--catalog': '--root',
  '--path': '--root',
  '--url': '--uri',
  '--server': '--uri',
  '--host': '--uri',
  '--format': '--json',
};

const PREDICATES = ['--where', '--filter', '--predicate', '--sql', '-w'];
const VARIABLES: Readonly<Record<string, string>> = {
  '--key': 'DIRSPACE_API_KEY',
  '--api-key': 'DIRSPACE_API_KEY',
  '--token': 'DIRSPACE_TOKEN',
  '--database': 'DIRSPACE_DATABASE',
};
const TO_FILES = ['--output', '--out', '-o', '--to'];

/** A sentence or a question; nothing where the option is known nowhere. */
export function otherOption(flag: string, command: Asked | undefined): string | undefined {
  const options = command?.options?.map(({ flags }) => flags) ?? [];
  const has = (name: string): boolean => options.some((flags) => namesOf(flags).includes(name));
  const own = OTHER_NAMES.find(([name, others]) => others.includes(flag) && has(name))?.[0];
  if (own !== undefined) return didYouMean(own);
  const argument = command?.arguments.find(([name]) => name.includes('predicate'))?.[0];
  if (command !== undefined && argument !== undefined && PREDICATES.includes(flag)) {
    return `The predicate is the second argument: dirspace ${command.name} <id> "age > 40".`;
  }
  const way = OTHER_WAYS[flag];
  if (way !== undefined && (!way.startsWith('--mode') || has('--mode'))) return didYouMean(way);
  const variable = VARIABLES[flag];
  if (variable !== undefined) return `It is taken from the environment: $${variable}.`;
  if (TO_FILES.includes(flag))
    return 'Data goes to standard output; send it to a file with > FILE.';
  return undefined;
}

const didYouMean = (name: string): string => `(Did you mean ${name}?)`;

/** `-n` and `--rows` of `-n, --rows <count>`. */
export const namesOf = (flags: string): string[] =>
  flags
    .replace(/ <.*$/, '')
    .split(', ')
    .filter((name) => name !== '');
