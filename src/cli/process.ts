/**
 * `runProcess` runs the command line in this process and sets its exit code. It connects `runCli`
 * (run.ts) to the process's arguments, environment, streams, signals and questions on the terminal.
 * After an interruption it ends the process at once.
 */
import { createInterface } from 'node:readline/promises';
import { errorText } from './report-error.ts';
import { isJsonAsked, runCli } from './run.ts';
import { EXIT, OutputStream } from './terminal/index.ts';
import { typedLines } from './typed-lines.ts';

/** Runs the command that the process was started with, and sets its exit code. */
export async function runProcess(): Promise<void> {
  const output = new OutputStream(process.stdout);
  // A failed write to standard error must not end work that is under way.
  process.stderr.on('error', () => {});

  const argv = process.argv.slice(2);
  const code = await runCli(argv, {
    env: process.env,
    out: (data) => output.write(data),
    error: (text) => void process.stderr.write(text),
    terminals: {
      input: process.stdin.isTTY === true,
      output: process.stdout.isTTY === true,
      columns: process.stdout.columns,
      error: process.stderr.isTTY === true,
    },
    reloadAsked: (listener) => void process.on('SIGHUP', listener),
    outliveReaders: () => output.outliveReaders(),
    interrupted: () =>
      new Promise((resolve) => {
        // Listeners that stay: a second signal while the server closes does not kill it.
        for (const signal of ['SIGINT', 'SIGTERM'] as const)
          process.on(signal, () => resolve(signal));
      }),
    inputEnded,
    ask,
    lines: typedLines,
    abandon: (exitCode) => process.exit(exitCode),
  });
  // Pending output without a reader must not keep a process alive that was asked to end.
  if (code > 128) process.exit(code);
  const lost = code === EXIT.ok ? await output.end() : undefined;
  if (lost !== undefined) process.stderr.write(errorText(lost, isJsonAsked(argv)));
  process.exitCode = lost === undefined ? code : EXIT.failure;
}

function inputEnded(): Promise<void> {
  const { stdin } = process;
  return new Promise((resolve) => {
    for (const event of ['end', 'close', 'error']) stdin.once(event, () => resolve());
    stdin.resume();
    // An input that stays open must not keep a process that was asked to end. Files have no handle.
    (stdin as { unref?: () => void }).unref?.();
  });
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
