/**
 * `runCli` runs one command of the command line. It parses the arguments, opens the catalog, runs
 * the command, prints the answer or the error, and returns the exit code. It never throws. Service
 * commands, such as `serve`, open and print what they need themselves. Streams, environment and
 * terminals are parameters, so tests need no process. `isJsonAsked` tells whether `--json` is among
 * arguments, which may be wrong.
 */
import { systemEnv } from '../env.ts';
import { isDirspaceError } from '../errors.ts';
import type { Connection } from '../sdk/index.ts';
import { VERSION } from '../version.ts';
import { COMMANDS } from './commands.ts';
import { explained, type TypedIds } from './hints.ts';
import { printAnswer } from './print.ts';
import { type Request, readArguments } from './program.ts';
import { errorText } from './report-error.ts';
import {
  type Call,
  type Command,
  EXIT,
  exitCode,
  InputError,
  OutputClosed,
  openConnection,
  orInterrupted,
  type Surroundings,
  showAsTyped,
  showProgress,
  type Terminals,
  untilAborted,
  untilInterrupted,
} from './terminal/index.ts';

/**
 * Runs one command and returns its exit code. Data goes to `out`, everything else to `error`. Never
 * throws.
 */
export async function runCli(argv: readonly string[], around: Surroundings): Promise<number> {
  try {
    const facts = { version: VERSION, commands: COMMANDS, asJson: isJsonAsked(argv) };
    const request = await readArguments(argv, facts, around);
    if (typeof request === 'number') return request;
    return await run(request, around);
  } catch (error) {
    if (error instanceof OutputClosed) return EXIT.ok;
    around.error(errorText(error, isJsonAsked(argv)));
    return exitCode(error);
  }
}

/** Also where the arguments cannot be understood. */
export function isJsonAsked(argv: readonly string[]): boolean {
  const end = argv.indexOf('--');
  return argv.slice(0, end < 0 ? argv.length : end).includes('--json');
}

const NO_TERMINALS: Terminals = { input: false, output: false, error: false };

async function run(request: Request, around: Surroundings): Promise<number> {
  const { command, arguments: given, options } = request;
  if ('service' in command) return command.run({ arguments: given, options, around });
  const { reads } = command;
  const readOnly = typeof reads === 'function' ? reads(given) : reads;
  const purpose = { readOnly, makesCatalog: command.makesCatalog === true };
  const { terminals = NO_TERMINALS } = around;
  const asJson = options.flag('json');
  const signal = untilInterrupted(around);
  const typed = typedIds(command, given, options);
  let state = (): string | undefined => undefined;
  const line = showProgress(command.name, () => state(), around, terminals.error, systemEnv);
  const error = (text: string): void => line.aside(() => around.error(text));
  const callOn = (connection: Connection): Call => ({
    connection,
    arguments: given,
    options,
    terminals,
    signal,
    show: typed.show,
    print: (answer) => printAnswer(answer, asJson, { ...around, error }),
    note: (text) => error(`${text}\n`),
    lines: (prompt, complete) =>
      untilAborted(around.lines?.(prompt, complete) ?? noLines(), signal),
    confirm: (question) => confirm(question, around, terminals, signal),
    progress: (told) => {
      // A program that reads the errors of `--json` finds nothing else there.
      if (terminals.error || !asJson) state = told;
    },
    write: (data) => around.out(data),
  });
  const work = async (): Promise<number> => {
    const connection = await openConnection(options, around, purpose, signal);
    try {
      const answer = await command.run(callOn(connection));
      if (answer !== undefined) await printAnswer(answer, asJson, { ...around, error });
      return EXIT.ok;
    } catch (failure) {
      const show = command.namesAreSql === true ? await shownInSql() : typed.show;
      const told = await explained(failure, { ...typed, show }, connection, signal);
      const isUsage = command.refusedIsUsage === true;
      if (isUsage && isDirspaceError(told, 'InvalidInput', 'TableColumnNotFound')) {
        throw new InputError(told);
      }
      throw told;
    } finally {
      await connection.close();
    }
  };
  try {
    // What changes nothing has nothing to take back.
    const isWaited = !readOnly || command.takesBack === true;
    return await (isWaited ? work() : orInterrupted(work(), signal));
  } finally {
    line.end();
  }
}

/** As SQL names tables. Other commands do without the grammar. */
async function shownInSql(): Promise<TypedIds['show']> {
  const { formatTable } = await import('../sql/index.ts');
  return formatTable;
}

function typedIds(
  command: Command,
  given: Request['arguments'],
  options: Request['options'],
): TypedIds {
  const isId = (at: number): boolean =>
    /^[<[](id|path|new)\b/.test(command.arguments[at]?.[0] ?? '');
  const ids = given.filter((text, at): text is string => text !== undefined && isId(at));
  const words = [...given.filter((_, at) => !isId(at)), options.text('at'), options.text('branch')];
  return {
    ids,
    words: words.filter((text) => text !== undefined),
    show: showAsTyped(ids),
    areDropped: command.ofDropped === true,
  };
}

async function* noLines(): AsyncGenerator<string> {}

async function confirm(
  question: () => Promise<string | undefined>,
  { ask }: Surroundings,
  terminals: Terminals,
  signal: AbortSignal,
): Promise<boolean> {
  if (ask === undefined || !terminals.input || !terminals.error) return true;
  const text = await question();
  if (text === undefined) return true;
  return /^y(es)?$/i.test((await ask(`${text} [y/N] `, signal))?.trim() ?? '');
}
