/**
 * `readArguments` parses command-line arguments with commander, and returns the command with its
 * arguments and options. If it printed help or the version instead, it returns the exit code.
 * Unknown commands or options and a wrong number of arguments throw `UsageError` with a hint.
 * Values of options are checked by the commands (`Options`).
 */
import { CommanderError, Option, Command as Program } from 'commander';
import {
  type Command,
  type CommandOption,
  Options,
  otherOption,
  type ServiceCommand,
  UsageError,
} from './terminal/index.ts';

/** What was asked for; nothing for help and the like, whose text is printed already. */
export interface Request {
  readonly command: Command | ServiceCommand;
  readonly arguments: readonly (string | undefined)[];
  readonly options: Options;
}

export interface Streams {
  out(text: string): void;
  error(text: string): void;
}

export interface ProgramFacts {
  readonly version: string;
  /** Whether errors are JSON, and no text beside it. */
  readonly asJson: boolean;
  readonly commands: readonly (Command | ServiceCommand)[];
}

/** Turns help for an unknown command into that command, whose error suggests the nearest name. */
function withoutHelp(argv: readonly string[], commands: ProgramFacts['commands']): string[] {
  const [first, second] = argv;
  const isHelp = first === 'help' && second !== undefined && !second.startsWith('-');
  return isHelp && !commands.some(({ name }) => name === second) ? argv.slice(1) : [...argv];
}

/** Answers the request, or the exit code where there is none. */
export async function readArguments(
  argv: readonly string[],
  facts: ProgramFacts,
  streams: Streams,
): Promise<Request | number> {
  let request: Request | undefined;
  let asked: Command | ServiceCommand | undefined;
  const errorStreams = facts.asJson ? { ...streams, error: () => {} } : streams;
  const program = configure(new Program('dirspace'), errorStreams)
    .description('Look at and change a catalog of Arrow tables in a directory.')
    .option('-V, --version', 'print the version of dirspace')
    .on('option:version', () => {
      throw new VersionAsked();
    })
    .option('--root <dir>', 'the directory of the catalog (default: $DIRSPACE_URI, or ".")')
    .option('--uri <address>', 'the address of a server, such as http://127.0.0.1:2333')
    .option('--json', 'print one JSON document')
    .addHelpText('after', HELP);
  for (const command of facts.commands) {
    const sub = configure(program.command(command.name), errorStreams)
      .description(command.summary)
      .exitOverride((error) => {
        asked = command;
        throw error;
      });
    for (const [name, summary] of command.arguments) sub.argument(name, summary);
    for (const option of command.options ?? []) sub.addOption(optionOf(option));
    const examples = command.examples?.map((line) => `  ${line}`).join('\n');
    if (examples !== undefined) sub.addHelpText('after', `\nExamples:\n${examples}`);
    sub.action(() => {
      // A variadic argument, which is the last, is a list of its own.
      const given = sub.processedArgs.flat() as (string | undefined)[];
      request = { command, arguments: given, options: new Options(sub.optsWithGlobals()) };
    });
  }
  try {
    await program.parseAsync(withoutHelp(argv, facts.commands), { from: 'user' });
  } catch (error) {
    if (error instanceof VersionAsked) return tellVersion(argv, facts, streams);
    if (!(error instanceof CommanderError)) throw error;
    if (error.exitCode === 0) return 0;
    // Help that was not asked for is printed already.
    if (error.code === 'commander.help' && !facts.asJson) return 2;
    if (error.code === 'commander.help') throw new UsageError('No command is given.');
    throw new UsageError(said(error, asked, facts.commands));
  }
  return request ?? 2;
}

class VersionAsked extends Error {}

/** After a command it is taken for the version of a table, which has another name. */
function tellVersion(
  argv: readonly string[],
  { version, commands }: ProgramFacts,
  streams: Streams,
): number {
  const command = commands.find(({ name }) => argv.includes(name));
  const hint = command === undefined ? undefined : otherOption('--version', command);
  if (hint !== undefined) throw new UsageError(`--version is of dirspace itself. ${hint}`);
  streams.out(`${version}\n`);
  return 0;
}

function said(
  { code, message }: CommanderError,
  asked: Command | ServiceCommand | undefined,
  commands: ProgramFacts['commands'],
): string {
  const text = message.replace(/^error: /, '');
  const help = 'Give --help for help.';
  if (code === 'commander.missingArgument' || code === 'commander.excessArguments') {
    const usage = asked?.arguments.map(([name]) => ` ${name}`).join('') ?? '';
    const tooMany = code === 'commander.excessArguments' ? asked?.ofTooMany : undefined;
    const hint = tooMany === undefined ? '' : `\n${tooMany}`;
    const [example] = asked?.examples ?? [];
    const shown = example === undefined ? '' : `\nFor example: ${example}`;
    return `${text}${hint}\nUsage: dirspace ${asked?.name ?? '<command>'}${usage}${shown}\n${help}`;
  }
  const [, option] = /^unknown option '([^'=]*)/.exec(text) ?? [];
  if (option !== undefined) {
    // What another program calls so is nearer than a name of similar letters.
    const meant = otherOption(option, asked);
    if (meant !== undefined) return `${text.split('\n')[0]}\n${meant}\n${help}`;
  }
  const [, unknown] = /^unknown command '([^']*)'/.exec(text) ?? [];
  const meant = commands.find(({ otherNames }) => otherNames?.includes(unknown ?? ''))?.name;
  const hint =
    meant === undefined || text.includes(`${meant}?`) ? '' : `\n(Did you mean ${meant}?)`;
  return `${text}${hint}\n${help}`;
}

const HELP = `
Ids are names joined by "/", such as prod/search/user; "$" joins them too. "/" is the root.
A server gets $DIRSPACE_API_KEY, $DIRSPACE_TOKEN and $DIRSPACE_DATABASE, where they are set.
Exit codes: 0 ok, 1 failure, 2 usage, 3 not found, 4 already exists, 5 conflict,
6 not allowed, 7 unavailable, 8 no server of the protocol, 130 interrupted.`;

function configure(program: Program, streams: Streams): Program {
  return program
    .exitOverride()
    .showSuggestionAfterError()
    .configureHelp({ showGlobalOptions: true })
    .configureOutput({
      writeOut: (text) => streams.out(text),
      writeErr: (text) => streams.error(text),
      // Thrown as an error, and told where all others are.
      outputError: () => {},
    });
}

function optionOf({ flags, summary, repeated }: CommandOption): Option {
  const option = new Option(flags, summary);
  return repeated === true
    ? option.argParser((value: string, before: readonly string[] = []) => [...before, value])
    : option;
}
