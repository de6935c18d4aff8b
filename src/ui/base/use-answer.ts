/**
 * `useAnswer` is a hook that requests the data of a view, and requests it again when the question
 * changes or `again` is called. When the question changes, it aborts the earlier request and never
 * shows its answer.
 */
import { useLayoutEffect, useState } from './preact.ts';
import { ask, isAborted } from './server.ts';

export interface Asked<Answer> {
  readonly answer: Answer | undefined;
  readonly failure: unknown;
  readonly isLoading: boolean;
  /** Asks the same again. */
  again(): void;
}

interface State<Answer> extends Omit<Asked<Answer>, 'again'> {
  readonly key: string | undefined;
  readonly round: number;
}

/** Nothing is asked where `name` is undefined. The answer of an older question is never shown. */
export function useAnswer<Answer>(
  name: string | undefined,
  body: object,
  read: (name: string, body: object, signal: AbortSignal) => Promise<Answer> = ask,
): Asked<Answer> {
  const key = name === undefined ? undefined : `${name} ${JSON.stringify(body)}`;
  const [round, setRound] = useState(0);
  const again = (): void => setRound((before) => before + 1);
  const [state, setState] = useState<State<Answer>>({
    key: undefined,
    round,
    answer: undefined,
    failure: undefined,
    isLoading: false,
  });
  // Before the browser draws, which may take longer than the answer.
  useLayoutEffect(() => {
    if (name === undefined) return undefined;
    const controller = new AbortController();
    read(name, body, controller.signal).then(
      (answer) => {
        if (controller.signal.aborted) return;
        setState({ key, round, answer, failure: undefined, isLoading: false });
      },
      (failure: unknown) => {
        if (controller.signal.aborted || isAborted(failure)) return;
        setState({ key, round, answer: undefined, failure, isLoading: false });
      },
    );
    return () => controller.abort();
  }, [key, round]);
  if (state.key === key && state.round === round) return { ...state, again };
  return { answer: undefined, failure: undefined, isLoading: key !== undefined, again };
}
