#!/usr/bin/env node
/** The CLI's entry: data goes to stdout, everything else to stderr. */
import { isDirspaceError } from '../errors.ts';
import { connect } from '../sdk/connect.ts';
import { VERSION } from '../version.ts';
import { COMMANDS } from './commands.ts';
import { EXIT, exitCode } from './exit-codes.ts';
import { toJson } from './output.ts';
import { type Request, readArguments } from './program.ts';

const streams = {
  out: (text: string): void => void process.stdout.write(text),
  error: (text: string): void => void process.stderr.write(text),
};

/** A reader such as `head` that has seen enough is no failure. */
for (const stream of [process.stdout, process.stderr]) {
  stream.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code !== 'EPIPE') throw error;
    process.exit();
  });
}

async function main(): Promise<number> {
  try {
    const facts = { version: VERSION, commands: COMMANDS };
    const request = await readArguments(process.argv.slice(2), facts, streams);
    if (typeof request === 'number') return request;
    await run(request);
    return EXIT.ok;
  } catch (error) {
    streams.error(`dirspace: ${problem(error)}\n`);
    return exitCode(error);
  }
}

async function run({ command, arguments: given, options }: Request): Promise<void> {
  const uri = options.text('root') ?? (process.env.DIRSPACE_URI || '.');
  const connection = await connect(uri, { readOnly: command.reads });
  try {
    const { json, text = '', note } = await command.run({ connection, arguments: given, options });
    if (options.flag('json')) streams.out(`${toJson(json)}\n`);
    else if (text !== '') streams.out(`${text}\n`);
    if (note !== undefined) streams.error(`${note}\n`);
  } finally {
    await connection.close();
  }
}

function problem(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  return isDirspaceError(error) ? `${error.message} (${error.code})` : error.message;
}

process.exitCode = await main();
