/**
 * `segmentsOn` lists the index segments of a version that use one of the given files, and
 * `dropSegments` commits a version without them, for repair, or nothing if the newest has none of
 * them. Rows, older versions and the files stay as they are. The fragments of dropped segments are
 * scanned until update-indexes.ts covers them again.
 */
import { type IndexSegment, indexFile, type Manifest } from '../../format/index.ts';
import type { Committed, Engine, TableBranch } from '../versions/index.ts';
import { commitIndexes } from './create-index.ts';

export interface SegmentPlace {
  /** The name of the index. */
  readonly index: string;
  /** The file of the segment, one of those that were asked for. */
  readonly path: string;
}

type Files = ReadonlySet<string>;

/** @param files by their paths */
export function segmentsOn(
  { tableFolder }: Pick<TableBranch, 'tableFolder'>,
  { indexes = [] }: Pick<Manifest, 'indexes'>,
  files: Files,
): SegmentPlace[] {
  return indexes.flatMap(({ name, segments }) =>
    segments.flatMap((segment) =>
      pathsOf(tableFolder, segment)
        .filter((path) => files.has(path))
        .map((path) => ({ index: name, path })),
    ),
  );
}

/** Commits nothing where the newest version has none of them. */
export const dropSegments = (
  engine: Engine,
  branch: TableBranch,
  files: Files,
): Promise<Committed> =>
  commitIndexes(engine, branch, {}, [], ({ manifest }) => {
    const { indexes = [] } = manifest;
    if (segmentsOn(branch, manifest, files).length === 0) return undefined;
    return indexes.map((index) => {
      const isSound = (segment: IndexSegment): boolean =>
        !pathsOf(branch.tableFolder, segment).some((path) => files.has(path));
      return { ...index, segments: index.segments.filter(isSound) };
    });
  });

const pathsOf = (tableFolder: string, { files }: IndexSegment): string[] =>
  files.map(({ file }) => indexFile(tableFolder, file));
