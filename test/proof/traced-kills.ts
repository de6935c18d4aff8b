/** T3: strace kills a process at a system call, or lets the call fail: nothing injected from within. */
import { spawn, spawnSync } from 'node:child_process';
import nodeFs, { mkdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import type { FileSystem } from '../../src/index.ts';
import { CRASH_OPERATIONS, type CrashOperation } from '../helpers/crash-operations.ts';
import { type CrashCase, checkReopened, crashCase } from '../helpers/crash-runs.ts';
import { seeded } from '../helpers/seeded.ts';
import { plant } from '../helpers/trees.ts';
import type { OperationDone, OperationTask } from './operation-child.ts';
import { inFolder, scriptPath } from './processes.ts';
import type { ProofRow } from './row.ts';

const OPERATIONS = ['append', 'create table', 'rename', 'drop', 'compact', 'overwrite'];
/** What a change of a catalog does to the disk; node itself does none of it when it starts. */
const CALLS = ['fdatasync', 'fsync', 'link', 'unlink', 'rename'];
const INJECTIONS = ['signal=SIGKILL', 'error=EIO', 'error=ENOSPC'];
/** Injections that met a call; some operations make none of a kind. */
const HITS = { ci: 5, short: 40, nightly: 120 };
const LATEST = 2;
const LANES = 2;

interface TracedCase {
  readonly each: CrashCase;
  readonly call: string;
  readonly when: number;
  readonly injection: string;
}

export const tracedKills: ProofRow = {
  row: 'T3 system calls',
  async run({ seed, size, violated }) {
    if (spawnSync('strace', ['-V']).status !== 0)
      return { cases: 0, skipped: 'this machine has no strace' };
    if (spawnSync('strace', ['-f', '-o', '/dev/null', 'true']).status !== 0)
      return { cases: 0, skipped: 'strace may not trace here' };
    const cases = await shuffled(seeded(seed));
    let [tried, hit, killed] = [0, 0, 0];
    await inFolder(async (folder) => {
      const lane = async (): Promise<void> => {
        for (let next = cases.pop(); next !== undefined; next = cases.pop()) {
          if (hit >= HITS[size]) break;
          tried++;
          const { each, call, when, injection } = next;
          const where = `${each.name}, ${call} ${when} ${injection}`;
          const root = join(folder, `${cases.length}`);
          mkdirSync(root);
          plant(nodeFs, root, each.tree);
          try {
            const { done, injected } = await traced({ root, operation: each.name }, next);
            if (injected) hit++;
            if (done === undefined) killed++;
            if (done === undefined && !injection.includes('SIGKILL'))
              throw new Error('the process ended without an answer');
            const refused = done?.error !== undefined;
            if (refused && !/^DirspaceError/.test(done.error ?? ''))
              throw new Error(`no typed error: ${done.error}`);
            const exact = each.operation.exact && done?.code !== 'CommitStateUnknown';
            const allowed =
              done === undefined || (refused && !exact)
                ? [each.before, each.after]
                : [refused ? each.before : each.after];
            const fs = nodeFs as unknown as FileSystem;
            await checkReopened(fs, each, { root, turn: when, allowed });
          } catch (error) {
            violated(`${where}: ${(error as Error).stack}`);
          }
          rmSync(root, { recursive: true });
        }
      };
      await Promise.all(Array.from({ length: LANES }, lane));
    });
    return { cases: hit, note: `${killed} killed, ${tried - hit} more met no such call` };
  },
};

async function shuffled(random: () => number): Promise<TracedCase[]> {
  const all: TracedCase[] = [];
  for (const name of OPERATIONS) {
    const each = await crashCase(name, CRASH_OPERATIONS[name] as CrashOperation);
    for (const call of CALLS) {
      for (let when = 1; when <= LATEST; when++) {
        for (const injection of INJECTIONS) all.push({ each, call, when, injection });
      }
    }
  }
  const cases: TracedCase[] = [];
  while (all.length > 0) cases.push(...all.splice(Math.floor(random() * all.length), 1));
  return cases;
}

interface Traced {
  /** Undefined when the process was killed. */
  readonly done: OperationDone | undefined;
  readonly injected: boolean;
}

function traced(task: OperationTask, { call, when, injection }: TracedCase): Promise<Traced> {
  return new Promise((resolve, reject) => {
    const trace = ['-f', '-qq', '--seccomp-bpf', '-e', `trace=${call}`];
    const inject = ['-e', `inject=${call}:${injection}:when=${when}`];
    const program = [process.execPath, scriptPath('operation-child')];
    const child = spawn('strace', [...trace, ...inject, ...program], {
      stdio: ['pipe', 'pipe', 'pipe'],
      // Calls are counted thread by thread.
      env: { ...process.env, UV_THREADPOOL_SIZE: '1' },
    });
    let [output, log] = ['', ''];
    child.stdout.on('data', (chunk) => {
      output += String(chunk);
    });
    child.stderr.on('data', (chunk) => {
      log += String(chunk);
    });
    child.on('error', reject);
    child.on('close', () => {
      const [line] = output.split('\n');
      const done = line ? (JSON.parse(line) as OperationDone) : undefined;
      resolve({ done, injected: log.includes('INJECTED') || log.includes('SIGKILL') });
    });
    child.stdin.on('error', () => {});
    child.stdin.end(`${JSON.stringify(task)}\n`);
  });
}
