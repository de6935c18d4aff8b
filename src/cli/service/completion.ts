/**
 * `dirspace completion` prints the script by which bash, zsh or fish complete commands. The script
 * calls dirspace again with what was typed so far, and gets the words that fit. Zsh and fish give
 * words (`completion words`). Bash gives the whole line (`completion line`), and `wordsOfLine`
 * splits it. The answer `:files` asks the shell for file names. To complete ids, the catalog is
 * opened read-only; if that fails, nothing is offered.
 */
import type { Connection } from '../../sdk/index.ts';
import {
  type Command,
  EXIT,
  namesOf,
  Options,
  openConnection,
  type ServiceCall,
  type ServiceCommand,
  UsageError,
} from '../terminal/index.ts';
import { SCRIPTS } from './completion-scripts.ts';

type AnyCommand = Command | ServiceCommand;

const SHELLS = Object.keys(SCRIPTS);
const WORDS = 'words';
/** As `words`, for bash: its own words are cut at every `=` and `:`, and have their quotes. */
const LINE = 'line';

/** `commands` are asked for when they are needed: this is one of them. */
export const completion = (commands: () => readonly AnyCommand[]): ServiceCommand => ({
  name: 'completion',
  summary: 'Print a script by which bash, zsh or fish complete commands, options and ids',
  arguments: [
    ['<shell>', `${SHELLS.join(', ')}`],
    ['[words...]', 'for the scripts: what was typed, to complete'],
  ],
  choices: { shell: SHELLS },
  examples: [
    'source <(dirspace completion bash)',
    'dirspace completion zsh > ~/.zfunc/_dirspace',
    'dirspace completion fish > ~/.config/fish/completions/dirspace.fish',
  ],
  service: true,
  async run({ arguments: [shell = '', ...words], around }: ServiceCall): Promise<number> {
    if (shell === WORDS || shell === LINE) {
      const typed =
        shell === WORDS ? words.map(String) : wordsOfLine(words[0] ?? '', around.env).slice(1);
      const found = await complete(typed, commands(), around).catch(() => []);
      await around.out(found.map((word) => `${word}\n`).join(''));
      return EXIT.ok;
    }
    const script = Object.hasOwn(SCRIPTS, shell) ? SCRIPTS[shell] : undefined;
    if (script === undefined) {
      throw new UsageError(
        `There is no script for ${JSON.stringify(shell)}; there is one for ${SHELLS.join(', ')}.`,
      );
    }
    if (words.length > 0) throw new UsageError(`completion ${shell} takes nothing more.`);
    await around.out(script);
    return EXIT.ok;
  },
});

/** The words of a line up to the cursor, the last one as far as it is typed, as a shell reads them. */
export function wordsOfLine(
  line: string,
  env: Readonly<Record<string, string | undefined>>,
): string[] {
  const words: string[] = [];
  let word: string | undefined;
  for (const [part] of line.matchAll(/\s+|'[^']*'?|"(?:[^"\\]|\\.)*"?|\\.?|[^\s'"\\]+/gs)) {
    if (/^\s/.test(part)) {
      if (word !== undefined) words.push(word);
      word = undefined;
    } else word = (word ?? '') + unquoted(part, word === undefined, env);
  }
  return [...words, word ?? ''];
}

function unquoted(
  part: string,
  isStart: boolean,
  env: Readonly<Record<string, string | undefined>>,
): string {
  if (part.startsWith("'")) return part.replace(/^'([^']*)'?$/s, '$1');
  if (part.startsWith('\\')) return part.slice(1);
  const isQuoted = part.startsWith('"');
  const text = isQuoted
    ? part.replace(/^"((?:[^"\\]|\\.)*)"?$/s, '$1').replaceAll(/\\(["\\$`])/g, '$1')
    : isStart
      ? part.replace(/^~(?=\/|$)/, () => env.HOME ?? '~')
      : part;
  // A "$" joins names of ids too.
  return text.replaceAll(/\$(?:\{(\w+)\}|(\w+))/g, (found, braced, plain) => {
    return env[braced ?? plain] ?? found;
  });
}

const FILES = [':files'];
/** Options that every command has. */
const GLOBAL = ['--root <dir>', '--uri <address>', '--json', '-h, --help'];
/** Values that are files or folders. */
const FILE_VALUES = /<(file|dir)>/;

interface Typed {
  readonly command: AnyCommand | undefined;
  /** The number of arguments up to the cursor, without options and their values. */
  readonly positions: number;
  /** The option whose value is at the cursor, as its flags. */
  readonly option: string | undefined;
  readonly places: Readonly<Record<string, string>>;
}

async function complete(
  words: readonly string[],
  commands: readonly AnyCommand[],
  around: ServiceCall['around'],
): Promise<string[]> {
  const current = words.at(-1) ?? '';
  const { command, positions, option, places } = readTyped(words.slice(0, -1), commands);
  const fitting = (known: readonly string[]): string[] =>
    known.filter((word) => word.startsWith(current));
  if (option !== undefined) {
    if (FILE_VALUES.test(option)) return FILES;
    return fitting(command?.choices?.[nameOf(option).replace(/^--/, '')] ?? []);
  }
  if (current.startsWith('-')) return fitting(flagsOf(command).flatMap(namesOf));
  if (command === undefined) return fitting(commands.map(({ name }) => name));
  const [argument = ''] = command.arguments[positions] ?? [];
  const name = argument.replace(/[<>[\].]/g, '');
  if (name === 'file') return FILES;
  const choices = command.choices?.[name];
  if (choices !== undefined) return fitting(choices);
  if (!/^(id|path|new)$/.test(name)) return [];
  const connection = await openConnection(new Options(places), around, { readOnly: true });
  try {
    return await ids(connection, current);
  } finally {
    await connection.close();
  }
}

function readTyped(words: readonly string[], commands: readonly AnyCommand[]): Typed {
  let command: AnyCommand | undefined;
  let positions = 0;
  let option: string | undefined;
  const places: Record<string, string> = {};
  for (const word of words) {
    if (option !== undefined) {
      places[nameOf(option).slice(2)] = word;
      option = undefined;
    } else if (word.startsWith('-')) {
      const flags = flagsOf(command).find((known) => namesOf(known).includes(word));
      if (flags?.includes('<')) option = flags;
      const [, place, value] = /^--(root|uri)=(.*)$/s.exec(word) ?? [];
      if (place !== undefined && value !== undefined) places[place] = value;
    } else if (command === undefined) command = commands.find(({ name }) => name === word);
    else positions++;
  }
  const { root, uri } = places;
  const given = { ...(root === undefined ? {} : { root }), ...(uri === undefined ? {} : { uri }) };
  return { command, positions, option, places: given };
}

const flagsOf = (command: AnyCommand | undefined): string[] => [
  ...(command?.options ?? []).map(({ flags }) => flags),
  ...GLOBAL,
];

const nameOf = (flags: string): string => namesOf(flags).at(-1) ?? '';

/** Shells are given names as they are. */
const PLAIN = /^[A-Za-z0-9_.-]+$/;
const MOST_NAMES = 1000;

/** What is in the namespace of an id that is typed so far; namespaces end in `/`. */
async function ids(connection: Connection, current: string): Promise<string[]> {
  const [, typed = '', start = ''] = /^(.*?)([^/$]*)$/s.exec(current) ?? [];
  const path = typed.split(/[/$]/).filter((name) => name !== '');
  const options = { limit: MOST_NAMES };
  const { namespaces } = await connection.listNamespaces(path, options);
  const tables = await connection.tableNames(path, options);
  const fits = (name: string): boolean => PLAIN.test(name) && name.startsWith(start);
  return [
    ...namespaces.filter(fits).map((name) => `${typed}${name}/`),
    ...tables.filter(fits).map((name) => `${typed}${name}`),
  ];
}
