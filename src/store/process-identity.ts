/**
 * Identifies a process in file names, by host key, process id and start time. `thisProcess` is the
 * identity of this one. `processTag` makes that part of a name, and `parseProcessTag` reads it, or
 * returns undefined. `hasDied` is true only if the process has the host key of this one and is
 * certain to have ended. On Linux the host key covers the host name, the boot and the container. On
 * other systems it covers the host name and the platform, so two machines of one name count as one.
 */
import { createHash } from 'node:crypto';
import { readFileSync, readlinkSync } from 'node:fs';
import { hostname } from 'node:os';
import { systemEnv } from '../env.ts';

export interface ProcessIdentity {
  /** The machine, its boot and the namespace of its process ids, as 8 hex digits. */
  readonly host: string;
  readonly pid: number;
  /** When it started, as the system counts; 0 where the system does not tell. */
  readonly start: number;
}

/** What the system says of processes; tests have others. */
export interface ProcessTable {
  /** As `process.kill(pid, 0)`: throws ESRCH for a process that is not there. */
  signal(pid: number): void;
  /** The content of /proc/<pid>/stat; throws where there is none. */
  stat(pid: number): string;
}

const systemTable: ProcessTable = {
  signal: (pid) => void process.kill(pid, 0),
  stat: (pid) => readFileSync(`/proc/${pid}/stat`, 'latin1'),
};

let own: ProcessIdentity | undefined;

export function thisProcess(): ProcessIdentity {
  own ??= {
    host: hostKey(),
    pid: process.pid,
    start: statOf(process.pid, systemTable)?.start ?? 0,
  };
  return own;
}

/** True only where it is certain that no process of that identity runs any more. */
export function hasDied(
  { host, pid, start }: ProcessIdentity,
  table: ProcessTable = systemTable,
  here: ProcessIdentity = thisProcess(),
): boolean {
  if (host !== here.host) return false;
  try {
    table.signal(pid);
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'ESRCH';
  }
  // The number may belong to another process by now, or to one that ended and is not buried yet.
  const found = statOf(pid, table);
  if (found === undefined) return false;
  return found.state === 'Z' || found.state === 'X' || (start !== 0 && found.start !== start);
}

/** As a part of a file name: hex digits joined by `-`. */
export const processTag = ({ host, pid, start }: ProcessIdentity = thisProcess()): string =>
  `${host}-${pid.toString(16)}-${start.toString(16)}`;

const TAG = /^([0-9a-f]{8})-([0-9a-f]{1,8})-([0-9a-f]{1,12})(?:-|$)/;

/** Of a name that begins with a tag; undefined for others, such as a UUID. */
export function parseProcessTag(name: string): ProcessIdentity | undefined {
  // Names of older releases are UUIDs, whose parts have other lengths.
  if (UUID.test(name)) return undefined;
  const [, host, pid, start] = TAG.exec(name) ?? [];
  if (host === undefined || pid === undefined || start === undefined) return undefined;
  return { host, pid: Number.parseInt(pid, 16), start: Number.parseInt(start, 16) };
}

const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}/;

/** The third and the 22nd field of /proc/<pid>/stat; the second, in brackets, may hold anything. */
function statOf(pid: number, table: ProcessTable): { state: string; start: number } | undefined {
  try {
    const text = table.stat(pid);
    const fields = text.slice(text.lastIndexOf(')') + 2).split(' ');
    const start = Number(fields[19]);
    if (!Number.isSafeInteger(start) || start < 0) return undefined;
    return { state: fields[0] ?? '', start };
  } catch {
    return undefined;
  }
}

/**
 * Process ids are meaningful only within one boot and one pid namespace. Where Linux does not tell
 * these, the key is random, so that no process of another one is ever taken for dead.
 */
function hostKey(): string {
  const facts = [hostname(), process.platform];
  if (process.platform === 'linux') {
    try {
      facts.push(readFileSync('/proc/sys/kernel/random/boot_id', 'latin1').trim());
      for (const kind of ['pid', 'time']) facts.push(linkOf(`/proc/self/ns/${kind}`));
    } catch {
      facts.push(systemEnv.uuid());
    }
  }
  return createHash('sha256').update(facts.join('\n')).digest('hex').slice(0, 8);
}

/** Kernels before 5.6 have no namespaces of time, and others may hide both. */
function linkOf(path: string): string {
  try {
    return readlinkSync(path);
  } catch (error) {
    if (path.endsWith('time') && (error as NodeJS.ErrnoException).code === 'ENOENT') return '';
    throw error;
  }
}
