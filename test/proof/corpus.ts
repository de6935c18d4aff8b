/**
 * Seeds that once found something. A run replays those of its rows first, in the size for CI and,
 * where every case has a seed, that case alone.
 */

export interface CorpusEntry {
  readonly row: string;
  readonly seed: number;
  /** What was found, as a violation would say it. */
  readonly found: string;
}

export const CORPUS: readonly CorpusEntry[] = [
  {
    row: 'T1 fault at every call',
    seed: 2_148_003_767,
    found: 'cleanup removed the files of a version that the disk denied once',
  },
  {
    row: 'T1 fault at every call',
    seed: 2_148_005_776,
    found: 'cleanup removed all files of a table whose versions could not be listed',
  },
  {
    row: 'T1 fault at every call',
    seed: 2_147_655_659,
    found: 'a version that is listed and cannot be opened kept a writer busy for ever',
  },
  {
    row: 'T1 fault at every call',
    seed: 2_148_556_679,
    found: 'an update of a tag removed it when versions could not be listed',
  },
  {
    row: 'T1 fault at every call',
    seed: 2_148_655_666,
    found: 'a branch that could not be moved was acknowledged as deleted',
  },
  {
    row: 'T1 fault at every call',
    seed: 2_148_356_709,
    found: 'a namespace being replaced stayed in the trash where the disk denied the new one',
  },
  {
    row: 'T1 fault at every call',
    seed: 2_148_354_684,
    found: 'a namespace was replaced by a folder whose marker did not count yet',
  },
  {
    row: 'T21 cleanup',
    seed: 943_178_603,
    found: 'a table moved away and back at that moment counted as one without data',
  },
  {
    row: 'T21 cleanup beside stalled writers',
    seed: 10_069,
    found: 'a change was acknowledged whose version a cleanup had swept from a freed number',
  },
  {
    row: 'T21 cleanup beside stalled writers',
    seed: 10_033,
    found: 'a cleanup removed files of the newest version, which was not in its list',
  },
  {
    row: 'T10 simulation',
    seed: 429_769_664,
    found: 'cleanup removed files of a version whose deletion was begun and could still be read',
  },
  {
    row: 'T10 simulation',
    seed: 545,
    found: 'a first version that landed meanwhile was overwritten by one that names no parent',
  },
  {
    row: 'T10 simulation',
    seed: 68_527_518,
    found: 'a file was called damaged whose table had been dropped and brought back',
  },
  {
    row: 'T10 simulation',
    seed: 241,
    found: 'a branch was removed that belongs to the table which took the name',
  },
  {
    row: 'T10 simulation',
    seed: 781,
    found: 'two deletions of versions left a mark that hid a tagged version',
  },
  {
    row: 'T10 simulation',
    seed: 2_899,
    found: 'a deletion that died before it saw a tag hid the tagged version',
  },
  {
    row: 'T10 simulation',
    seed: 1_454_557_371,
    found: 'the deletion of a tag that was moved away first counted as removing nothing',
  },
  {
    row: 'T12 drop and rename races',
    seed: 74_342_815,
    found: 'a reader found an older version while its table was moved away and back',
  },
  {
    row: 'T5 power loss',
    seed: 375,
    found: 'a record cut short before its drop was told as damage',
  },
];
