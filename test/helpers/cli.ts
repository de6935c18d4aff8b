/** Runs the CLI, in this process or in one of its own. */
import { execFileSync, spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { runCli } from '../../src/cli/run.ts';
import { compiledModule } from './compiled.ts';
import { temporaryFolder } from './temporary.ts';

export interface CliResult {
  readonly code: number | null;
  readonly out: string;
  readonly error: string;
}

export interface CliOptions {
  readonly env?: Readonly<Record<string, string>>;
  /** Columns of the terminal that output goes to; none is one if absent. */
  readonly width?: number;
  /** Standard input; none if absent. */
  readonly input?: string;
  /** Whether that is typed at a terminal. */
  readonly isTyped?: boolean;
  /** Done while a command lasts that ends when it is asked to: from its first line on. */
  readonly during?: (line: string, said: () => string) => Promise<void>;
  /** Resolves when the standard input has ended. */
  readonly inputEnded?: () => Promise<void>;
  /** Is given what asks a running command to read its configuration again. */
  readonly reloadAsked?: (listener: () => void) => void;
}

export async function callCli(
  args: readonly string[],
  options: CliOptions = {},
): Promise<CliResult> {
  let [out, error] = ['', ''];
  const { during } = options;
  let told: (line: string) => void = () => {};
  const first = new Promise<string>((resolve) => {
    told = resolve;
  });
  const code = await runCli(args, {
    env: options.env ?? {},
    ...(options.width === undefined
      ? {}
      : { terminals: { input: false, output: true, error: false, columns: options.width } }),
    ...(during === undefined
      ? {}
      : {
          interrupted: () =>
            first.then((line) => during(line, () => error)).then(() => 'SIGINT' as const),
        }),
    ...(options.inputEnded === undefined ? {} : { inputEnded: options.inputEnded }),
    ...(options.input === undefined
      ? {}
      : {
          lines: async function* () {
            yield* (options.input ?? '').split('\n');
          },
        }),
    ...(options.isTyped === true ? { terminals: { input: true, output: true, error: true } } : {}),
    ...(options.reloadAsked === undefined ? {} : { reloadAsked: options.reloadAsked }),
    out: (data) => {
      const text = typeof data === 'string' ? data : Buffer.from(data).toString('utf8');
      out += text;
      told(text);
    },
    error: (text) => {
      error += text;
    },
  });
  return { code, out, error };
}

/** `unread` closes the pipe of its standard output at once. */
export function spawnCli(
  args: readonly string[],
  options: CliOptions & { readonly cwd?: string; readonly unread?: boolean } = {},
): Promise<CliResult> {
  const { DIRSPACE_URI: _, ...env } = process.env;
  const child = spawn(process.execPath, [fileURLToPath(compiledModule('cli/main.js')), ...args], {
    env: { ...env, ...options.env },
    cwd: options.cwd,
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let [out, error] = ['', ''];
  if (options.unread === true) child.stdout.destroy();
  else {
    child.stdout.setEncoding('utf8').on('data', (text: string) => {
      out += text;
    });
  }
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    error += text;
  });
  return new Promise((resolve, reject) => {
    child.on('error', reject);
    child.on('close', (code) => resolve({ code, out, error }));
  });
}

/** Whether the program is there that gives others a terminal. */
export const hasTerminal: boolean = ((): boolean => {
  try {
    return execFileSync('script', ['--version'], { encoding: 'utf8' }).includes('util-linux');
  } catch {
    return false;
  }
})();

/** What a terminal shows of a line: work that takes long writes its progress there, and clears it. */
const afterProgress = (line: string): string => line.split('\r\u001b[K').at(-1) ?? '';

/**
 * Runs the command with a terminal as its input and output, on which `typed` is typed. What goes to
 * standard error is kept apart, or comes to the terminal too where `errorsToo`.
 */
export function onTerminal(
  args: readonly string[],
  options: { readonly typed?: string; readonly errorsToo?: boolean } = {},
): { code: number; out: string[]; error: string } {
  const { typed = '', errorsToo = false } = options;
  const folder = temporaryFolder();
  const [errors, ended] = [join(folder, 'errors'), join(folder, 'ended')];
  const main = fileURLToPath(compiledModule('cli/main.js'));
  const words = [process.execPath, main, ...args].map((word) => `'${word}'`).join(' ');
  const apart = errorsToo ? '' : ` 2>'${errors}'`;
  const command = `${words}${apart}; echo $? >'${ended}'`;
  const out = execFileSync('script', ['-qec', command, '/dev/null'], {
    encoding: 'utf8',
    input: typed,
  });
  return {
    code: Number(readFileSync(ended, 'utf8')),
    out: out.trimEnd().split(/\r?\n/).map(afterProgress),
    error: errorsToo ? '' : readFileSync(errors, 'utf8'),
  };
}
