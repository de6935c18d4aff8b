#!/usr/bin/env node
/** The process of the CLI. */
import { createInterface } from 'node:readline/promises';
import { EXIT } from './exit-codes.ts';
import { runCli } from './run.ts';

let outlivesReaders = false;

/** A reader such as `head` that has seen enough is no failure. What is served goes on without one. */
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  if (outlivesReaders) return;
  if (error.code === 'EPIPE') process.exit();
  process.stderr.write(`dirspace: cannot write the output: ${error.code ?? error.message}\n`);
  process.exit(EXIT.failure);
});
/** What cannot be told must not end work that is under way. */
process.stderr.on('error', () => {});

const code = await runCli(process.argv.slice(2), {
  env: process.env,
  out: (text) => (process.stdout.write(text) ? undefined : drained(process.stdout)),
  error: (text) => void process.stderr.write(text),
  terminals: {
    input: process.stdin.isTTY === true,
    output: process.stdout.isTTY === true,
    error: process.stderr.isTTY === true,
  },
  reloadAsked: (listener) => void process.on('SIGHUP', listener),
  outliveReaders: () => {
    outlivesReaders = true;
  },
  interrupted: () =>
    new Promise((resolve) => {
      // Listeners that stay: a second signal while the server closes does not kill it.
      for (const signal of ['SIGINT', 'SIGTERM'] as const)
        process.on(signal, () => resolve(signal));
    }),
  ask,
  abandon: (exitCode) => process.exit(exitCode),
});
// Output that nobody takes must not keep a process that was asked to end.
if (code > 128) process.exit(code);
process.exitCode = code;

function drained(stream: NodeJS.WriteStream): Promise<void> {
  return new Promise((resolve) => void stream.once('drain', resolve));
}

/** The terminal stays as it is, so that Ctrl-C ends the command and not the question alone. */
async function ask(question: string, signal: AbortSignal): Promise<string | undefined> {
  const lines = createInterface({ input: process.stdin, output: process.stderr, terminal: false });
  const ended = new Promise<undefined>(
    (resolve) => void lines.once('close', () => resolve(undefined)),
  );
  try {
    return await Promise.race([lines.question(question, { signal }), ended]);
  } catch (error) {
    signal.throwIfAborted();
    throw error;
  } finally {
    lines.close();
  }
}
