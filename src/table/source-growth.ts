/**
 * `onlyGrew` tells whether the source of a view has only gained rows at its end since a version. It
 * looks at the operations of the versions in between. It returns false if one of these is missing,
 * damaged or newer than this release, if there are more than 65,536, or if the table was made anew.
 * `isSame` and `isUnchanged` compare two states of a source.
 */
import { isDirspaceError } from '../errors.ts';
import type { ViewSource } from '../format/index.ts';
import { digestsOf } from './history/index.ts';
import type { Engine, Snapshot } from './versions/index.ts';

export const isSame = (one: ViewSource, other: ViewSource): boolean =>
  one.table === other.table && one.version === other.version;

export const isUnchanged = (one: ViewSource | undefined, other: ViewSource | undefined): boolean =>
  one === other || (one !== undefined && other !== undefined && isSame(one, other));

/** Changes that leave the rows there are, with their order. */
const GROWING: readonly string[] = ['append', 'compact', 'metadata'];
/** With more versions in between, all rows are computed anew. */
const MOST_VERSIONS = 65_536;

/** Whether the source has the rows that it had, in their order, and others only after them. */
export async function onlyGrew(
  engine: Engine,
  source: Snapshot,
  of: ViewSource | undefined,
): Promise<boolean> {
  if (of === undefined || of.table !== source.branch.incarnation) return false;
  const count = source.version - of.version;
  if (count < 0 || count > MOST_VERSIONS || of.rows > source.rowCount) return false;
  const numbers = Array.from({ length: count }, (_, at) => of.version + 1 + at);
  try {
    const digests = await digestsOf(engine, source.branch, numbers);
    const grew = ({ operation }: (typeof digests)[number]): boolean =>
      GROWING.includes(operation.kind);
    return digests.length === count && digests.every(grew);
  } catch (error) {
    // A version in between is damaged or newer than this release: what it did is not known.
    if (isDirspaceError(error, 'Corrupt', 'UnsupportedFormat')) return false;
    throw error;
  }
}
