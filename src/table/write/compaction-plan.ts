/**
 * `planCompaction` chooses which neighbouring fragments compaction rewrites together, using only
 * their entries in the manifest. Together they stay within the target rows and bytes, and are of
 * one kind (`kindOf`). A fragment on its own is chosen only if there is a reason to rewrite it: a
 * share of deleted rows above the limit, overlays, or `mustRewrite`. With the option `tiered`, a
 * fragment at the head of a group is left out while it has more live rows than all that follow it
 * there, so none with live rows is chosen on its own.
 */
import { type FragmentEntry, liveRows, storedBytes } from '../../format/index.ts';

export interface CompactionGoals {
  /** Rows a fragment should have at most. */
  readonly targetRows: number;
  /** Bytes a fragment should have at most. */
  readonly targetBytes: number;
  /** A fragment of which a larger share of rows is deleted is rewritten without them. */
  readonly maxDeletedShare: number;
  /** Fragments that are to be rewritten however large they are. */
  readonly mustRewrite?: ((fragment: FragmentEntry) => boolean) | undefined;
  /** Fragments are joined only where it says the same of both. */
  readonly kindOf?: ((fragment: FragmentEntry) => string) | undefined;
  /** Leaves large fragments alone that have only few rows after them to join with. */
  readonly tiered: boolean;
}

/** A share of deleted rows from which a fragment is worth rewriting. */
export const DEFAULT_MAX_DELETED_SHARE = 0.1;

/** Neighbours in the list of fragments, in its order. */
export type FragmentRun = readonly FragmentEntry[];

/**
 * Runs of neighbours that fit into one fragment together. Planning what came out of the plan gives
 * nothing: runs are filled in order, and two of them next to each other never fit into one.
 */
export function planCompaction(
  fragments: readonly FragmentEntry[],
  goals: CompactionGoals,
): FragmentRun[] {
  const runs: FragmentEntry[][] = [];
  let open: FragmentEntry[] = [];
  let rows = 0;
  let bytes = 0;
  let openKind: string | undefined;
  const close = (): void => {
    if (open.length > 0) runs.push(open);
    open = [];
    rows = 0;
    bytes = 0;
  };
  for (const fragment of fragments) {
    const live = liveRows(fragment);
    const size = liveBytes(fragment);
    const kind = goals.kindOf?.(fragment);
    if (rows + live > goals.targetRows || bytes + size > goals.targetBytes || kind !== openKind) {
      close();
    }
    openKind = kind;
    open.push(fragment);
    rows += live;
    bytes += size;
  }
  close();
  return runs.flatMap((run) => {
    const rest = goals.tiered ? withoutLargeHead(run) : run;
    const worthwhile =
      rest.length > 1 ||
      rest.some(
        (fragment) =>
          isHollow(fragment, goals) ||
          (fragment.overlays !== undefined && !goals.tiered) ||
          goals.mustRewrite?.(fragment) === true,
      );
    return worthwhile ? [rest] : [];
  });
}

const isHollow = (fragment: FragmentEntry, goals: CompactionGoals): boolean =>
  (fragment.deletion?.rows ?? 0) > fragment.rows * goals.maxDeletedShare;

/** Rewriting a large fragment for the few rows behind it, over and over, would cost the square. */
function withoutLargeHead(run: FragmentRun): FragmentRun {
  let rest = run.reduce((sum, fragment) => sum + liveRows(fragment), 0);
  let first = 0;
  for (const fragment of run) {
    rest -= liveRows(fragment);
    if (liveRows(fragment) <= rest) break;
    first += 1;
  }
  return run.slice(first);
}

/** About the bytes that the live rows take. */
const liveBytes = (fragment: FragmentEntry): number =>
  Math.ceil(storedBytes(fragment) * (liveRows(fragment) / Math.max(1, fragment.rows)));
