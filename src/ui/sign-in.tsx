/**
 * `SignIn` asks for an API key or a bearer token and sends it to the server, which keeps it for the
 * session. The page does not keep it.
 */
import { Failure, signIn, useState } from './base/index.ts';

export function SignIn({
  wasUsed,
  done,
}: {
  readonly wasUsed: boolean;
  readonly done: () => void;
}) {
  const [credential, setCredential] = useState('');
  const [failure, setFailure] = useState<unknown>();
  const submit = (event: Event): void => {
    event.preventDefault();
    signIn(credential).then(() => {
      setCredential('');
      done();
    }, setFailure);
  };
  return (
    <main class="sign-in" id="main">
      <h1 id="title" tabIndex={-1}>
        Sign in
      </h1>
      {wasUsed ? (
        <p class="note">
          The address with a token opens one session, and was used. Start dirspace ui again for
          another, or sign in.
        </p>
      ) : null}
      <form onSubmit={submit}>
        <label for="credential">API key or token</label>
        <input
          id="credential"
          type="password"
          autocomplete="off"
          required
          value={credential}
          onInput={(event) => setCredential(event.currentTarget.value)}
        />
        <button type="submit">Sign in</button>
      </form>
      {failure === undefined ? null : <Failure error={failure} />}
      <p class="note">The page shows what the key may read, and changes nothing.</p>
    </main>
  );
}
