/** Child processes that speak lines of JSON, folders on the real disk, randomness from a seed. */
import { type ChildProcess, spawn } from 'node:child_process';
import { existsSync, mkdtempSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

/** A folder of its own on the real disk, removed when the work ends. */
export async function inFolder<T>(work: (folder: string) => Promise<T>): Promise<T> {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), 'dirspace-proof-')));
  try {
    return await work(folder);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** The path of a compiled script of this folder, by its name without an ending; see bundle.ts. */
export function scriptPath(name: string): string {
  const bundled = fileURLToPath(new URL(`bundled/${name}.js`, import.meta.url));
  return existsSync(bundled) ? bundled : fileURLToPath(new URL(`${name}.js`, import.meta.url));
}

interface Waiting<Line> {
  readonly wanted: (line: Line) => boolean;
  readonly resolve: (line: Line | undefined) => void;
}

/** A script of this folder in a process of its own. `Line` is what it says. */
export class Child<Line> {
  readonly lines: Line[] = [];
  readonly #running: ChildProcess;
  readonly #ended: Promise<NodeJS.Signals | number | null>;
  #rest = '';
  #waiting: Waiting<Line>[] = [];

  constructor(script: string, ...args: readonly string[]) {
    this.#running = spawn(process.execPath, [scriptPath(script), ...args], {
      stdio: ['pipe', 'pipe', 'inherit'],
    });
    this.#running.stdin?.on('error', () => {});
    this.#running.stdout?.on('data', (chunk) => this.#take(String(chunk)));
    this.#ended = new Promise((resolve) => {
      this.#running.on('close', (code, signal) => {
        for (const { resolve: tell } of this.#waiting.splice(0)) tell(undefined);
        resolve(signal ?? code);
      });
    });
  }

  #take(text: string): void {
    const parts = (this.#rest + text).split('\n');
    this.#rest = parts.pop() ?? '';
    for (const part of parts) {
      const line = JSON.parse(part) as Line;
      this.lines.push(line);
      this.#waiting = this.#waiting.filter(({ wanted, resolve }) => {
        if (!wanted(line)) return true;
        resolve(line);
        return false;
      });
    }
  }

  /** The first line that fits, past or to come; undefined once the process ended without one. */
  line(wanted: (line: Line) => boolean): Promise<Line | undefined> {
    const known = this.lines.find(wanted);
    if (known !== undefined) return Promise.resolve(known);
    return new Promise((resolve) => {
      this.#waiting.push({ wanted, resolve });
    });
  }

  tell(message: unknown): void {
    this.#running.stdin?.write(`${JSON.stringify(message)}\n`);
  }

  /** SIGKILL, at once. */
  kill(): Promise<NodeJS.Signals | number | null> {
    this.#running.kill('SIGKILL');
    return this.#ended;
  }

  /** Resolves with the exit code or the signal's name. */
  ended(): Promise<NodeJS.Signals | number | null> {
    return this.#ended;
  }
}
