/**
 * Defines what a command of the command line is: its description and code (`Command`), its input
 * (`Call`) and its result (`Answer`, `RowsAnswer`). Service commands get the process as
 * `Surroundings`, so that tests need none. The errors defined here tell why a command did nothing:
 * `UsageError`, `InputError`, `MissingFile`, `Declined` and `OtherProtocol`; each has its exit
 * code. `Options` reads the values of options, and throws UsageError for a value of a wrong form.
 * `action`, `nameFor` and `argument` read arguments.
 */
import { DirspaceError } from '../../errors.ts';
import { suggestion } from '../../known-names.ts';
import type { Connection, Row } from '../../sdk/index.ts';
import { MILLIS_PER_DAY } from '../../values/index.ts';
import type { ShowPath } from './ids.ts';

export interface CommandOption {
  /** As in `-n, --limit <rows>`; a name without a value is a flag. */
  readonly flags: string;
  readonly summary: string;
  /** May be given several times. */
  readonly repeated?: true;
}

export interface Command {
  readonly name: string;
  readonly summary: string;
  /** What other programs call it: answered with a hint. */
  readonly otherNames?: readonly string[];
  /** As in `<id>` and `[path]`, with what each means; ids are called `id`, `path` or `new`. */
  readonly arguments: readonly (readonly [name: string, summary: string])[];
  readonly options?: readonly CommandOption[];
  /** Said where more arguments are given. */
  readonly ofTooMany?: string;
  /** The words that an argument or an option takes, by its name. */
  readonly choices?: Readonly<Record<string, readonly string[]>>;
  /** Shown under the help. */
  readonly examples?: readonly string[];
  /** Its ids name dropped objects, so hints suggest no existing names for them. */
  readonly ofDropped?: true;
  /** Tables are named in SQL: messages show ids as SQL writes them. */
  readonly namesAreSql?: true;
  /** What the engine refuses is a mistake in what was typed, SQL or a name: exit code 2, not 1. */
  readonly refusedIsUsage?: true;
  /** True for commands that change nothing: they open the catalog read-only. */
  readonly reads: boolean | ((given: readonly (string | undefined)[]) => boolean);
  /** If interrupted, it removes what it wrote outside the catalog, and this is waited for. */
  readonly takesBack?: true;
  /** Whether it makes a catalog where none is. Others exit with 3. */
  readonly makesCatalog?: true;
  /** Undefined where all there is was printed. */
  run(call: Call): Promise<Answer | RowsAnswer | undefined>;
}

export interface Call {
  readonly connection: Connection;
  readonly terminals: Terminals;
  /** Aborted when the user ends the command; every call of the connection is given it. */
  readonly signal: AbortSignal;
  /** A path as ids were typed in this call. */
  readonly show: ShowPath;
  /**
   * Asks on a terminal. True where there is none to ask on, and where there is no question: it is made
   * only where it is asked.
   */
  confirm(question: () => Promise<string | undefined>): Promise<boolean>;
  /** Prints an answer now, for commands that have several. */
  print(answer: Answer | RowsAnswer): Promise<void>;
  /** Says something to a person who is asked for lines. */
  note(text: string): void;
  /**
   * The lines of standard input. On a terminal each is asked for by the prompt at hand, with those of
   * before to go back to, and `complete` gives the words that the last one of a line may become.
   */
  lines(
    prompt: () => string,
    complete: (line: string) => Promise<LineCompletion>,
  ): AsyncIterable<string>;
  /** `state` says how far the work is, in words; it is asked for once that takes longer than a second. */
  progress(state: () => string | undefined): void;
  /** Writes to standard output as it is; resolves when more can be taken. */
  write(data: Uint8Array): void | Promise<void>;
  /** By position; undefined where an optional one was left out. */
  readonly arguments: readonly (string | undefined)[];
  readonly options: Options;
}

/** A command that works on no catalog of its own: it serves one, or asks a server. */
export interface ServiceCommand extends Omit<Command, 'reads' | 'run'> {
  readonly service: true;
  /** Writes what there is to say itself, and answers the exit code. */
  run(call: ServiceCall): Promise<number>;
}

export interface ServiceCall extends Pick<Call, 'arguments' | 'options'> {
  readonly around: Surroundings;
}

/** The process a command runs in. */
export interface Surroundings {
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Resolves when more can be taken. Whoever writes much waits for it, so that memory stays bounded. */
  out(data: string | Uint8Array): void | Promise<void>;
  error(text: string): void;
  /** None is one if absent. */
  readonly terminals?: Terminals;
  /** After this call, readers of `out` and `error` that leave do not end the process. */
  outliveReaders?(): void;
  /** Calls `listener` whenever the process is asked to read its configuration again. */
  reloadAsked?(listener: () => void): void;
  /** Resolves when the user, or the system, asks the process to end after this call. */
  interrupted?(): Promise<Interruption | undefined>;
  /** Resolves when the standard input has ended, or cannot be read. What is in it is thrown away. */
  inputEnded?(): Promise<void>;
  /** The line that is typed for a question; undefined at the end of the input. */
  ask?(question: string, signal: AbortSignal): Promise<string | undefined>;
  /** Lines of standard input, as `Call.lines` gives them; none if absent. */
  lines?(
    prompt: () => string,
    complete: (line: string) => Promise<LineCompletion>,
  ): AsyncIterable<string>;
  /** Ends the process at once. */
  abandon?(code: number): void;
}

/** Words, and the end of the line that each of them is to take the place of. */
export type LineCompletion = readonly [words: string[], replaced: string];

/** The signal by which a process is asked to end. */
export type Interruption = 'SIGINT' | 'SIGTERM';

/** Which of the process's streams a person looks at, or types into. */
export interface Terminals {
  readonly input: boolean;
  readonly output: boolean;
  /** Columns of the one that output goes to, where it tells them. */
  readonly columns?: number | undefined;
  readonly error: boolean;
}

/** One result in both forms. */
export interface Answer {
  /** One document, for programs; undefined where the command has written its data itself. */
  readonly json: unknown;
  /** The same for people; nothing is printed when it is empty. */
  readonly text?: string;
  /** What was done, which is no data and goes to stderr. */
  readonly note?: string;
  /** Thrown once the answer is printed. */
  readonly failure?: Error;
}

/** Rows of a table, printed as they are read. */
export interface RowsAnswer {
  /** In the order they are shown in. */
  readonly columns: readonly string[];
  /** In groups of a size that memory can hold. */
  readonly rows: AsyncIterable<readonly Row[]>;
  /** As the note of an answer; asked for once all rows are printed. */
  readonly note?: () => Promise<string | undefined>;
}

/** A call that cannot be understood; nothing was done. */
export class UsageError extends Error {
  override readonly name = 'UsageError';
}

/** A file that the call names is not there; nothing was done. */
export class MissingFile extends Error {
  override readonly name = 'MissingFile';
}

/** The answer to a question was not yes; nothing was done. */
export class Declined extends Error {
  override readonly name = 'Declined';
}

/** What answers at an address is no server of the protocol. */
export class OtherProtocol extends Error {
  override readonly name = 'OtherProtocol';
}

/** SQL, or a name in it, that the catalog refused. */
export class InputError extends UsageError {
  override readonly cause: DirspaceError;

  constructor(cause: DirspaceError) {
    super(cause.message);
    this.cause = cause;
  }
}

/** Times so many days ago are still dates. */
const MOST_DAYS = 1_000_000;

/** The values of a command's options by their camel-case names. */
export class Options {
  readonly #values: Readonly<Record<string, unknown>>;

  constructor(values: Readonly<Record<string, unknown>>) {
    this.#values = values;
  }

  flag(name: string): boolean {
    return this.#values[name] === true;
  }

  text(name: string): string | undefined {
    const value = this.#values[name];
    return typeof value === 'string' ? value : undefined;
  }

  texts(name: string): readonly string[] {
    const value = this.#values[name];
    return Array.isArray(value) ? value.map(String) : [];
  }

  count(name: string, absent: number, most: number = Number.MAX_SAFE_INTEGER): number {
    const text = this.text(name);
    if (text === undefined) return absent;
    const value = Number(text);
    if (/^\d+$/.test(text) && value <= most) return value;
    const upTo = most === Number.MAX_SAFE_INTEGER ? '' : ` up to ${most}`;
    throw new UsageError(`${flagOf(name)} is ${JSON.stringify(text)}; give a whole number${upTo}.`);
  }

  /** A number of days, in milliseconds. */
  days(name: string, absent: number): number {
    return this.count(name, absent, MOST_DAYS) * MILLIS_PER_DAY;
  }

  /** For what every command may be given and this one has no use for. `instead` says what to do. */
  refuse(names: readonly string[], instead: string): void {
    const given = names.find((name) => this.text(name) !== undefined || this.flag(name));
    if (given !== undefined)
      throw new UsageError(`${flagOf(given)} means nothing here: ${instead}`);
  }

  /** The word of an option, or the first one where it is not given. @throws UsageError */
  choice<const Word extends string>(name: string, words: readonly [Word, ...Word[]]): Word {
    return this.optionalChoice(name, words) ?? words[0];
  }

  /** As `choice`, but undefined where the option is not given. */
  optionalChoice<const Word extends string>(
    name: string,
    words: readonly [Word, ...Word[]],
  ): Word | undefined {
    const text = this.text(name);
    if (text === undefined) return undefined;
    const word = words.find((candidate) => candidate === text);
    if (word !== undefined) return word;
    throw new UsageError(
      `${flagOf(name)} is ${JSON.stringify(text)}; give one of ${words.join(', ')}.${suggestion(text, words)}`,
    );
  }
}

/** What other programs call actions. */
const OTHER_ACTIONS: Readonly<Record<string, readonly string[]>> = {
  add: ['create'],
  new: ['create'],
  set: ['create', 'move'],
  build: ['create'],
  list: ['ls'],
  show: ['ls'],
  rm: ['delete', 'drop', 'empty'],
  remove: ['delete', 'drop', 'empty'],
  del: ['delete', 'drop'],
  drop: ['delete'],
  delete: ['drop'],
  update: ['move'],
  purge: ['empty'],
  clear: ['empty'],
  undrop: ['restore'],
};

/** The action of a command that has several. Throws UsageError for a word that is none. */
export function action<const Word extends string>(
  { arguments: [given = '', id = ''] }: Pick<Call, 'arguments'>,
  command: string,
  words: readonly Word[],
): Word {
  const word = words.find((candidate) => candidate === given);
  if (word !== undefined) return word;
  const swapped = words.find((candidate) => candidate === id);
  const called = given.toLowerCase();
  const others = Object.hasOwn(OTHER_ACTIONS, called) ? OTHER_ACTIONS[called] : undefined;
  const meant = others?.find((each) => words.includes(each as Word));
  let hint = meant === undefined ? suggestion(given, words) : ` Did you mean "${meant}"?`;
  if (swapped !== undefined) {
    hint = ` The action comes first: dirspace ${command} ${swapped} ${given}.`;
  } else if (hint === '' && given !== '') {
    hint = ` The action comes first, as in dirspace ${command} ${words[0]} ${given}.`;
  }
  throw new UsageError(
    `There is no action ${JSON.stringify(given)} of ${command}; there is ${words.join(', ')}.${hint}`,
  );
}

/**
 * The name that an action on named things of a table is about, its third argument. Only ls, which
 * lists them all, has none. `example` is one for the message.
 */
export function nameFor(
  { arguments: [, , name] }: Pick<Call, 'arguments'>,
  asked: string,
  thing: 'tag' | 'branch' | 'index' | 'column',
  example: string,
): string {
  if (asked === 'ls' && name !== undefined) {
    throw new UsageError(`ls takes no ${thing}; it lists them all.`);
  }
  if (asked !== 'ls' && name === undefined) {
    throw new UsageError(`Name the ${thing} to ${asked}, such as ${example}.`);
  }
  return name ?? '';
}

/** As the user writes it: the parser has made `targetRows` of `--target-rows`. */
const flagOf = (name: string): string =>
  `--${name.replaceAll(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}`;

/** The argument at a position; the parser has made sure of it. */
export function argument(call: Call, position: number): string {
  const value = call.arguments[position];
  if (value !== undefined) return value;
  throw new DirspaceError('Internal', `The argument ${position + 1} is missing.`);
}
