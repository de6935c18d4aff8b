/**
 * Defines the props of the views of a table (`ViewProps`), and `Go`, the function that shows
 * another place. `pinned` builds the members by which their requests name the version shown.
 */
import type { Location } from './location.ts';
import type { TableFacts } from './types.ts';

/** Shows a place; `quietly` without an entry in the history of the browser. */
export type Go = (location: Location, quietly?: boolean) => void;

export interface ViewProps {
  readonly facts: TableFacts;
  readonly location: Location;
  readonly go: Go;
}

export const pinned = ({ id, branch, version, described }: TableFacts): object => ({
  id,
  version,
  ...(branch === undefined ? {} : { branch }),
  ...(described.incarnation === undefined ? {} : { incarnation: described.incarnation }),
});
