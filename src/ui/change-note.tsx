/**
 * `ChangeNote` tells what became of a table since the page opened it: a newer version, another
 * table of the same name, or that the table is gone (`changeText`). It asks the server when the
 * window gets the focus and when another place of the table is shown, and offers to open the table
 * anew.
 */
import {
  ask,
  type Described,
  isMissing,
  type TableFacts,
  useEffect,
  useRef,
  useState,
} from './base/index.ts';

type Found = Pick<Described, 'version' | 'incarnation'> | 'gone' | undefined;

/** @param place what is shown of the table; the server is asked where it changes */
export function ChangeNote({
  facts,
  place,
  onAgain,
}: {
  readonly facts: TableFacts;
  readonly place: string;
  readonly onAgain: () => void;
}) {
  const { id, branch } = facts;
  const [found, setFound] = useState<Found>();
  const shown = useRef(place);
  useEffect(() => {
    const controller = new AbortController();
    const look = (): void => {
      if (document.visibilityState === 'hidden') return;
      const of = branch === undefined ? { id } : { id, branch };
      const body = { ...of, load_detailed_metadata: true };
      ask<Described>('DescribeTable', body, controller.signal).then(setFound, (error: unknown) => {
        // What else fails is told by the view, which asks too.
        if (isMissing(error)) setFound('gone');
      });
    };
    if (shown.current !== place) look();
    shown.current = place;
    window.addEventListener('focus', look);
    document.addEventListener('visibilitychange', look);
    return () => {
      controller.abort();
      window.removeEventListener('focus', look);
      document.removeEventListener('visibilitychange', look);
    };
  }, [place]);
  const text = changeText(facts, found);
  return (
    <span role="status">
      {text}{' '}
      {text === '' || found === 'gone' ? null : (
        <button type="button" onClick={onAgain}>
          Show it
        </button>
      )}
    </span>
  );
}

/** What differs from the table that was opened; '' where nothing does. */
export function changeText({ described, newest }: TableFacts, found: Found): string {
  if (found === undefined) return '';
  if (found === 'gone') return 'The table is not there any more.';
  if (found.incarnation !== described.incarnation) return 'Another table has this name now.';
  return found.version === undefined || found.version === newest
    ? ''
    : `Version ${found.version} is there now.`;
}
