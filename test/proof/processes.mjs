/** Child processes that speak lines of JSON, and randomness from a seed. */
import { spawn } from 'node:child_process';
import { mkdtempSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** Uniform in [0, 1) from a seed: mulberry32. */
export function randomOf(seed) {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let word = Math.imul(state ^ (state >>> 15), state | 1);
    word ^= word + Math.imul(word ^ (word >>> 7), word | 61);
    return ((word ^ (word >>> 14)) >>> 0) / 2 ** 32;
  };
}

/** A folder of its own on the real disk, removed when the work ends. */
export async function inFolder(work) {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), 'dirspace-proof-')));
  try {
    return await work(folder);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** A script of this folder in a process of its own. */
export class Child {
  lines = [];
  #running;
  #rest = '';
  #waiting = [];
  #ended;

  constructor(script, ...args) {
    this.#running = spawn(
      process.execPath,
      [new URL(script, import.meta.url).pathname, ...args.map(String)],
      { stdio: ['pipe', 'pipe', 'inherit'] },
    );
    this.#running.stdin.on('error', () => {});
    this.#running.stdout.on('data', (chunk) => this.#take(String(chunk)));
    this.#ended = new Promise((resolve) => {
      this.#running.on('close', (code, signal) => {
        for (const { resolve: tell } of this.#waiting.splice(0)) tell(undefined);
        resolve(signal ?? code);
      });
    });
  }

  #take(text) {
    const parts = (this.#rest + text).split('\n');
    this.#rest = parts.pop();
    for (const part of parts) {
      const line = JSON.parse(part);
      this.lines.push(line);
      this.#waiting = this.#waiting.filter(({ wanted, resolve }) => {
        if (!wanted(line)) return true;
        resolve(line);
        return false;
      });
    }
  }

  /** The first line that fits, past or to come; undefined once the process ended without one. */
  line(wanted) {
    const known = this.lines.find(wanted);
    if (known !== undefined) return Promise.resolve(known);
    return new Promise((resolve) => {
      this.#waiting.push({ wanted, resolve });
    });
  }

  tell(message) {
    this.#running.stdin.write(`${JSON.stringify(message)}\n`);
  }

  /** SIGKILL, at once. */
  kill() {
    this.#running.kill('SIGKILL');
    return this.#ended;
  }

  /** Resolves with the exit code or the signal's name. */
  ended() {
    return this.#ended;
  }
}

export const median = (values) => values.toSorted((a, b) => a - b)[values.length >> 1];
