/**
 * Defines `Processes`, which tells whether the process that left a marker in a file name is
 * `alive`, `dead` or `unknown`. Processes of other machines are `unknown`, and so are those whose
 * id may have been reused. Cleanup and the upkeep of the list of tables for Lance ask it.
 * `systemProcesses` answers for this machine by process-identity.ts; tests pass their own.
 */
import { hasDied, thisProcess } from './process-identity.ts';

export interface ProcessMark {
  /** Eight hexadecimal digits: equal for processes that see each other's ids. */
  readonly scope: string;
  readonly pid: number;
  /** When the process began, in the platform's own count; 0 where that is not to be had. */
  readonly start: number;
}

export interface Processes {
  readonly self: ProcessMark;
  /** `unknown` for a process of another machine or container, and where an id may have been reused. */
  stateOf(mark: ProcessMark): 'alive' | 'dead' | 'unknown';
}

/** This process and those that run beside it. */
export function systemProcesses(): Processes {
  const own = thisProcess();
  return {
    self: { scope: own.host, pid: own.pid, start: own.start },
    stateOf({ scope, pid, start }) {
      if (scope !== own.host) return 'unknown';
      if (pid === own.pid && start === own.start) return 'alive';
      if (hasDied({ host: scope, pid, start })) return 'dead';
      return start === 0 ? 'unknown' : 'alive';
    },
  };
}
