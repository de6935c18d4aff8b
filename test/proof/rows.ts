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
  /** Keeps several processes busy, or measures: no other row runs beside it. */
  readonly alone?: true;
  /** What one case is, where the last line of the table sums it up. */
  readonly cases?: 'SIGKILLs' | 'fuzzed inputs';
  load(): Promise<ProofRow>;
}

export const ROWS: readonly ListedRow[] = [
  {
    row: 'T1 fault at every call',
    seconds: 130,
    load: async () => (await import('./faults.ts')).faults,
  },
  {
    row: 'T2 kill at every call',
    seconds: 100,
    cases: 'SIGKILLs',
    load: async () => (await import('./kill-calls.ts')).killCalls,
  },
  {
    row: 'T3 system calls',
    seconds: 45,
    load: async () => (await import('./traced-kills.ts')).tracedKills,
  },
  {
    row: 'T4 random kills',
    seconds: 45,
    alone: true,
    cases: 'SIGKILLs',
    load: async () => (await import('./kills.ts')).kills,
  },
  {
    row: 'T25 kills and contention',
    seconds: 45,
    alone: true,
    cases: 'SIGKILLs',
    load: async () => (await import('./contention.ts')).contention,
  },
  {
    row: 'T6 file-system images',
    seconds: 20,
    load: async () => (await import('./file-system-images.ts')).fileSystemImages,
  },
  {
    row: 'T7 writers',
    seconds: 40,
    alone: true,
    load: async () => (await import('./writers.ts')).writers,
  },
  {
    row: 'T9 negative controls',
    seconds: 10,
    load: async () => (await import('./controls.ts')).controls,
  },
  {
    row: 'T20 full disk',
    seconds: 15,
    load: async () => (await import('./full-disk.ts')).fullDisk,
  },
  {
    row: 'T5 power loss',
    seconds: 40,
    load: async () => (await import('./power-loss.ts')).powerLoss,
  },
  {
    row: 'T8 conflicts',
    seconds: 25,
    load: async () => (await import('./conflicts.ts')).conflicts,
  },
  {
    row: 'T10 simulation',
    seconds: 100,
    load: async () => (await import('./simulation.ts')).simulation,
  },
  {
    row: 'T11 locks',
    seconds: 25,
    alone: true,
    load: async () => (await import('./locks.ts')).locks,
  },
  {
    row: 'T12 drop and rename races',
    seconds: 25,
    load: async () => (await import('./incarnations.ts')).incarnations,
  },
  {
    row: 'T21 cleanup',
    seconds: 40,
    load: async () => (await import('./cleanup-safety.ts')).cleanupSafety,
  },
  {
    row: 'T21 cleanup beside writers',
    seconds: 40,
    load: async () => (await import('./cleanup-writers.ts')).cleanupWriters,
  },
  {
    row: 'T21 cleanup beside stalled writers',
    seconds: 80,
    load: async () => (await import('./stalled-writers.ts')).stalledWriters,
  },
  {
    row: 'T13 watching',
    seconds: 20,
    alone: true,
    load: async () => (await import('./watching.ts')).watching,
  },
  {
    row: 'T14 manifest fuzz',
    seconds: 8,
    cases: 'fuzzed inputs',
    load: async () => (await import('./metadata-fuzz.ts')).metadataFuzz,
  },
  {
    row: 'T15 fragment fuzz',
    seconds: 25,
    cases: 'fuzzed inputs',
    load: async () => (await import('./fragment-fuzz.ts')).fragmentFuzz,
  },
  {
    row: 'T16 foreign Arrow fuzz',
    seconds: 60,
    cases: 'fuzzed inputs',
    load: async () => (await import('./foreign-arrow-fuzz.ts')).foreignArrowFuzz,
  },
  {
    row: 'T16 Lance fuzz',
    seconds: 60,
    cases: 'fuzzed inputs',
    load: async () => (await import('./lance-fuzz.ts')).lanceFuzz,
  },
  {
    row: 'T17 round trips',
    seconds: 25,
    load: async () => (await import('./round-trip.ts')).roundTrip,
  },
  {
    row: 'T18 names',
    seconds: 7,
    load: async () => (await import('./names.ts')).names,
  },
  {
    row: 'T19 links and hostile paths',
    seconds: 35,
    load: async () => (await import('./hostile-places.ts')).hostilePlaces,
  },
  {
    row: 'T22 strict file system',
    seconds: 8,
    load: async () => (await import('./strict-fs.ts')).strictFs,
  },
  {
    row: 'T23 leaks',
    seconds: 15,
    alone: true,
    load: async () => (await import('./leaks.ts')).leaks,
  },
  {
    row: 'T24 performance floor',
    seconds: 25,
    alone: true,
    load: async () => (await import('./floor.ts')).floor,
  },
  {
    row: "T26 results are the caller's",
    seconds: 40,
    load: async () => (await import('./aliasing.ts')).aliasing,
  },
  {
    row: 'T27 hostile requests beside describes',
    seconds: 40,
    alone: true,
    load: async () => (await import('./hostile-soak.ts')).hostileSoak,
  },
  {
    row: 'T31 Lance by path',
    seconds: 40,
    load: async () => (await import('./lance-path.ts')).lancePath,
  },
  {
    row: 'REST server kills',
    seconds: 40,
    alone: true,
    cases: 'SIGKILLs',
    load: async () => (await import('./server-kills.ts')).serverKills,
  },
];
