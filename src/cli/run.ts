/**
 * One call of the CLI, from its arguments to its exit code. Sees the process through what it is
 * given only.
 */
import { existsSync } from 'node:fs';
import { systemEnv } from '../env.ts';
import { DirspaceError, isDirspaceError } from '../errors.ts';
import type { Connection } from '../sdk/connection.ts';
import { VERSION } from '../version.ts';
import { type Options, type Surroundings, type Terminals, UsageError } from './command.ts';
import { COMMANDS } from './commands.ts';
import { EXIT, exitCode } from './exit-codes.ts';
import { orInterrupted, untilInterrupted } from './interruption.ts';
import { printAnswer } from './print.ts';
import { type Request, readArguments } from './program.ts';
import { showProgress } from './progress.ts';

/** Data goes to `out`, everything else to `error`. Never throws. */
export async function runCli(argv: readonly string[], around: Surroundings): Promise<number> {
  try {
    const facts = { version: VERSION, commands: COMMANDS };
    const request = await readArguments(argv, facts, around);
    if (typeof request === 'number') return request;
    return await run(request, around);
  } catch (error) {
    around.error(`dirspace: ${problem(error)}\n`);
    return exitCode(error);
  }
}

async function run(request: Request, around: Surroundings): Promise<number> {
  const { command, arguments: given, options } = request;
  if ('service' in command) return command.run({ arguments: given, options, around });
  const { reads } = command;
  const readOnly = typeof reads === 'function' ? reads(given) : reads;
  const { terminals = NO_TERMINALS } = around;
  const asJson = options.flag('json');
  const signal = untilInterrupted(around);
  let state = (): string | undefined => undefined;
  const line = showProgress(command.name, () => state(), around, terminals.error, systemEnv);
  const work = async (): Promise<number> => {
    const connection = await open(options, around, readOnly, signal);
    try {
      const answer = await command.run({
        connection,
        arguments: given,
        options,
        terminals,
        signal,
        progress: (told) => {
          // A program that reads the errors of `--json` finds nothing else there.
          if (terminals.error || !asJson) state = told;
        },
      });
      const error = (text: string): void => line.aside(() => around.error(text));
      await printAnswer(answer, asJson, { ...around, error });
      return EXIT.ok;
    } finally {
      await connection.close();
    }
  };
  try {
    // What changes nothing has nothing to take back.
    return await (readOnly ? orInterrupted(work(), signal) : work());
  } finally {
    line.end();
  }
}

const NO_TERMINALS: Terminals = { input: false, output: false, error: false };

const SERVER = /^https?:\/\//i;

/** A directory, or a server where the place is its address. */
async function open(
  options: Options,
  { env }: Surroundings,
  readOnly: boolean,
  signal: AbortSignal,
): Promise<Connection> {
  const given = [options.text('root'), options.text('uri')].filter((place) => place !== undefined);
  if (given.length > 1) throw new UsageError('--root and --uri are both given; one is enough.');
  const place = given[0] ?? (env.DIRSPACE_URI || '.');
  // Help and wrong usage answer without loading the engine.
  const { connect, connectNamespace } = await import('../sdk/connect.ts');
  if (!SERVER.test(place)) {
    if (options.text('uri') === place && !/^file:/i.test(place)) {
      throw new UsageError(
        `--uri is ${JSON.stringify(place)}; an address begins with http:// or https://. Give --root for a directory.`,
      );
    }
    if (readOnly) requireFolder(place);
    return connect(place, { readOnly, signal });
  }
  const { DIRSPACE_API_KEY: key, DIRSPACE_TOKEN: token, DIRSPACE_DATABASE: database } = env;
  const properties = {
    uri: place,
    ...(key ? { 'headers.x-api-key': key } : {}),
    ...(token ? { 'headers.authorization': `Bearer ${token}` } : {}),
    ...(database ? { 'headers.x-service-database': database } : {}),
  };
  return connectNamespace('rest', properties, { readOnly, signal });
}

/** Reading what is not there would show an empty catalog where a path was misspelt. */
function requireFolder(place: string): void {
  if (/^[a-z][a-z0-9+.-]+:/i.test(place) || existsSync(place)) return;
  throw new DirspaceError(
    'NamespaceNotFound',
    `There is no catalog at ${JSON.stringify(place)}: the folder does not exist. Check --root; import and create-namespace make a new one.`,
  );
}

function problem(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  return isDirspaceError(error) ? `${error.message} (${error.code})` : error.message;
}
