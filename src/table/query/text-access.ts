/**
 * `textAccess` chooses the full-text indexes that a search uses: the newest index of each column.
 * All texts are read instead if a column has no index, if the indexes do not cover the same rows
 * part by part, or if a phrase needs positions of words that an index does not keep.
 * `textSettingsOf` returns the settings by which the texts of a column are cut into words, which
 * are the default ones without an index. `indexedTextColumns` lists the columns that have such an
 * index.
 */
import type { IndexEntry } from '../../format/index.ts';
import { FTS } from '../../indexes/index.ts';
import {
  DEFAULT_SETTINGS,
  type TextMembers,
  type TextSettings,
  textSettings,
} from '../../search/index.ts';
import { type Coverage, type CoveredSegment, coverageOf, indexedField } from '../indexes/index.ts';
import type { Engine, Snapshot } from '../versions/index.ts';

export interface TextAccess {
  /** The index of each column, or none where all texts are read. */
  readonly indexes: readonly IndexEntry[];
  /** Their segments: for each part of the table, one of each column. */
  readonly segments: readonly (readonly CoveredSegment[])[];
  /** Ids of the fragments that are covered. */
  readonly covered: ReadonlySet<number>;
  /** Whether rows are read only because a part of an index cannot be. */
  readonly isDamaged: boolean;
  /** In words, for plans. */
  readonly said: string;
}

/** The newest full-text index of a column. */
function textIndexOf(snapshot: Snapshot, column: string): IndexEntry | undefined {
  let newest: IndexEntry | undefined;
  for (const index of snapshot.manifest.indexes ?? []) {
    if (index.type !== FTS) continue;
    if (indexedField(snapshot, index)?.path.join('.') !== column) continue;
    if (newest === undefined || index.created >= newest.created) newest = index;
  }
  return newest;
}

/** Columns that have a full-text index, by their real names. */
export function indexedTextColumns(snapshot: Snapshot): readonly string[] {
  const names = (snapshot.manifest.indexes ?? [])
    .filter(({ type }) => type === FTS)
    .map((index) => indexedField(snapshot, index)?.path.join('.'));
  return [...new Set(names)].filter((name) => name !== undefined);
}

export function textSettingsOf(snapshot: Snapshot, column: string): TextSettings {
  const index = textIndexOf(snapshot, column);
  return index === undefined ? DEFAULT_SETTINGS : textSettings(index.parameters as TextMembers);
}

const scanned = (why: string, isDamaged = false): TextAccess => ({
  isDamaged,
  indexes: [],
  segments: [],
  covered: new Set(),
  said: `all rows are read, as ${why}`,
});

/**
 * @param columns by their real names
 * @param needsPositions of words, for phrases
 * @param isFast whether rows that no index covers are left out
 */
export async function textAccess(
  engine: Engine,
  snapshot: Snapshot,
  columns: readonly string[],
  needsPositions: boolean,
  isFast: boolean,
): Promise<TextAccess> {
  const indexes: IndexEntry[] = [];
  const coverages: Coverage[] = [];
  for (const column of columns) {
    const index = textIndexOf(snapshot, column);
    if (index === undefined) return scanned(`there is no index of ${column}`);
    if (needsPositions && index.parameters.with_position !== true) {
      return scanned(`a phrase needs positions, which the index ${index.name} does not keep`);
    }
    indexes.push(index);
    coverages.push(await coverageOf(engine, snapshot, index));
  }
  const damages = coverages.flatMap((coverage) => coverage.damages);
  const broken = damages.length === 0 ? '' : `; an index is damaged: ${damages[0]}`;
  const [first, ...others] = coverages;
  if (first === undefined) return scanned('no column is searched');
  if (!others.every((other) => coversAlike(first, other))) {
    return scanned(
      `the indexes of its columns do not cover the same rows${broken}`,
      damages.length > 0,
    );
  }
  return {
    indexes,
    segments: first.segments.map((_, at) =>
      coverages.map(({ segments }) => segments[at] as CoveredSegment),
    ),
    covered: first.fragments,
    isDamaged: damages.length > 0,
    said: `${indexes.map(({ name }) => name).join(', ')} for ${first.indexedRows} rows, and ${first.otherRows} are ${isFast && damages.length === 0 ? 'left out' : 'read'}${broken}`,
  };
}

const coversAlike = (left: Coverage, right: Coverage): boolean =>
  left.segments.length === right.segments.length &&
  left.segments.every((segment, at) => runsText(segment) === runsText(right.segments[at]));

const runsText = (covered: CoveredSegment | undefined): string =>
  JSON.stringify([
    covered?.segment.runs.map(({ fragment, rows }) => [fragment, rows]),
    covered?.entries.map(({ id }) => id),
  ]);
