/**
 * `typedLines` yields the lines of standard input. On a terminal it shows a prompt, and lines can
 * be edited, completed and recalled, even from earlier sessions. The newest 1,000 lines are kept in
 * a file (`historyFile`) that is made so that only its owner may read it. A history that cannot be
 * read or written is ignored.
 */
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { dirname, isAbsolute, join } from 'node:path';
import { createInterface } from 'node:readline';
import type { LineCompletion } from './terminal/index.ts';

/** Lines that are kept. */
const HISTORY = 1_000;

export async function* typedLines(
  prompt: () => string,
  complete: (line: string) => Promise<LineCompletion>,
): AsyncGenerator<string> {
  const { stdin, stdout } = process;
  if (stdin.isTTY !== true) {
    yield* createInterface({ input: stdin, terminal: false });
    return;
  }
  const lines = createInterface({
    input: stdin,
    output: stdout,
    terminal: true,
    historySize: HISTORY,
    history: keptHistory(),
    removeHistoryDuplicates: true,
    completer: (line: string, done: (error: null, found: LineCompletion) => void) => {
      const none = (): LineCompletion => [[], line];
      complete(line)
        .catch(none)
        .then((found) => done(null, found));
    },
  } as never);
  let history: readonly string[] = [];
  lines.on('history', (all: string[]) => {
    history = [...all];
  });
  const typed: string[] = [];
  let isEnded = false;
  let wake = (): void => {};
  lines.on('line', (line) => {
    // Several come at once where they are pasted.
    typed.push(line);
    wake();
  });
  lines.once('close', () => {
    isEnded = true;
    wake();
  });
  let isAsking = false;
  // Ctrl-C takes back what is typed, and ends what runs as it does elsewhere.
  lines.on('SIGINT', () => {
    if (!isAsking) process.kill(process.pid, 'SIGINT');
    else if (lines.line === '') lines.close();
    else lines.write(null, { ctrl: true, name: 'u' });
  });
  try {
    for (;;) {
      if (typed.length === 0 && !isEnded) {
        lines.setPrompt(prompt());
        lines.prompt();
        isAsking = true;
        await new Promise<void>((resolve) => {
          wake = resolve;
        });
        isAsking = false;
      }
      const line = typed.shift();
      if (line !== undefined) yield line;
      else if (isEnded) return;
    }
  } finally {
    lines.close();
    keepHistory(history);
  }
}

export function historyFile({ XDG_STATE_HOME: named }: NodeJS.ProcessEnv = process.env): string {
  // The specification of XDG has empty and relative paths ignored.
  const state = named && isAbsolute(named) ? named : join(homedir(), '.local', 'state');
  return join(state, 'dirspace', 'sql-history');
}

/** Newest first. A file that cannot be read is none. */
function keptHistory(): string[] {
  try {
    return readFileSync(historyFile(), 'utf8').split('\n').filter(Boolean).reverse();
  } catch {
    return [];
  }
}

/** What cannot be kept is not worth a failure. */
function keepHistory(history: readonly string[]): void {
  if (history.length === 0) return;
  try {
    mkdirSync(dirname(historyFile()), { recursive: true, mode: 0o700 });
    const lines = history.slice(0, HISTORY).toReversed();
    writeFileSync(historyFile(), `${lines.join('\n')}\n`, { mode: 0o600 });
  } catch {}
}
