/**
 * Exports small components that several views share: `Failure` shows an error, `Answered` shows an
 * answer once it is there, and `Pairs` shows names and values.
 */
import type { ComponentChildren } from './preact.ts';
import { isPassing, messageOf } from './server.ts';
import type { Asked } from './use-answer.ts';

/** @param onAgain asks again; offered where the failure may pass */
export function Failure({
  error,
  onAgain,
}: {
  readonly error: unknown;
  readonly onAgain?: () => void;
}) {
  return (
    <>
      <pre class="error" role="alert">
        {messageOf(error)}
      </pre>
      {onAgain === undefined || !isPassing(error) ? null : (
        <button type="button" onClick={onAgain}>
          Try again
        </button>
      )}
    </>
  );
}

/** What an answer is shown as once it is there; before that it says that it is waited for. */
export function Answered<Answer>(props: {
  readonly asked: Asked<Answer>;
  readonly children: (answer: Answer) => ComponentChildren;
}) {
  const { answer, failure, again } = props.asked;
  if (failure !== undefined) return <Failure error={failure} onAgain={again} />;
  if (answer === undefined)
    return (
      <p class="note" role="status">
        Loading…
      </p>
    );
  return <>{props.children(answer)}</>;
}

export function Pairs({
  of,
  label,
}: {
  readonly of: readonly (readonly [string, ComponentChildren])[];
  readonly label: string;
}) {
  if (of.length === 0) return <p class="note">None.</p>;
  return (
    <table class="pairs" aria-label={label}>
      <tbody>
        {of.map(([name, value]) => (
          <tr key={name}>
            <th scope="row">{name}</th>
            <td>{value}</td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}
