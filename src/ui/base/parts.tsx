/**
 * Exports small components that several views share: `Failure` shows an error, `Answered` waits for
 * an answer, and `Pairs` shows names and values.
 */
import type { ComponentChildren } from './preact.ts';
import { messageOf } from './server.ts';
import type { Asked } from './use-answer.ts';

export function Failure({ error }: { readonly error: unknown }) {
  return (
    <pre class="error" role="alert">
      {messageOf(error)}
    </pre>
  );
}

/** What an answer is shown as once it is there; before that it says that it is waited for. */
export function Answered<Answer>(props: {
  readonly asked: Asked<Answer>;
  readonly children: (answer: Answer) => ComponentChildren;
}) {
  const { answer, failure } = props.asked;
  if (failure !== undefined) return <Failure error={failure} />;
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
