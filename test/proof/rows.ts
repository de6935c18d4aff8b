/**
 * Every program of the test plan, by its row. Each row runs in a process of its own, which loads
 * that row's modules and no others.
 */
import type { ProofRow } from './row.ts';

export interface ListedRow {
  /** As the row names itself. */
  readonly row: string;
  /** About what the short run takes on two quiet cores. */
  readonly seconds: number;
  /** Uses several processes, or measures: no other row runs beside it. */
  readonly alone?: true;
  /** What one case is, where the last line of the table sums it up. */
  readonly cases?: 'SIGKILLs' | 'fuzzed inputs';
  load(): Promise<ProofRow>;
}

export const ROWS: readonly ListedRow[] = [
  {
    row: 'T1 fault at every call',
    seconds: 60,
    load: async () => (await import('./faults.ts')).faults,
  },
  {
    row: 'T2 kill at every call',
    seconds: 60,
    alone: true,
    cases: 'SIGKILLs',
    load: async () => (await import('./kill-calls.ts')).killCalls,
  },
  {
    row: 'T3 system calls',
    seconds: 25,
    alone: true,
    load: async () => (await import('./traced-kills.ts')).tracedKills,
  },
  {
    row: 'T4 random kills',
    seconds: 80,
    alone: true,
    cases: 'SIGKILLs',
    load: async () => (await import('./kills.ts')).kills,
  },
  {
    row: 'T7 writers',
    seconds: 40,
    alone: true,
    load: async () => (await import('./writers.ts')).writers,
  },
  {
    row: 'REST server kills',
    seconds: 40,
    alone: true,
    cases: 'SIGKILLs',
    load: async () => (await import('./server-kills.ts')).serverKills,
  },
];
