/**
 * `App` renders the whole page. It follows the address and asks the server who the caller is. If
 * the answer is 401, it asks for a key. Any other failure is shown, with a button to try again if
 * it may pass. After an answer it shows the tree next to a namespace, a table or the SQL view.
 * `beginAsking` sends the first requests before anything is rendered.
 */
import {
  ABOUT,
  type About,
  ask,
  askAhead,
  dbOf,
  Failure,
  forgetAhead,
  formatLocation,
  isSignedOut,
  type Location,
  parseLocation,
  signOut,
  useDatabase,
  useEffect,
  useRef,
  useState,
  whenSignedOut,
} from './base/index.ts';
import { NamespacePage } from './namespace-page.tsx';
import { SignIn } from './sign-in.tsx';
import { SqlPage } from './sql-page.tsx';
import { TABLE, TablePage, tableRequest } from './table-page.tsx';
import { nextTheme, theme } from './theme.ts';
import { CatalogTree } from './tree.tsx';

/** Sends what the page asks for first, before there is anything to draw. */
export function beginAsking(): void {
  const location = here();
  useDatabase(location.query.db);
  askAhead(ABOUT, {});
  if (location.kind === 't') askAhead(TABLE, tableRequest(location));
}

const here = (): Location => parseLocation(window.location.hash);

export function App() {
  const [location, setLocation] = useState(here);
  const [about, setAbout] = useState<About | undefined>();
  const [failure, setFailure] = useState<unknown>();
  const [asked, setAsked] = useState(0);

  useEffect(() => whenSignedOut(() => setAsked((times) => times + 1)), []);
  useEffect(() => {
    const follow = (): void => setLocation(here());
    window.addEventListener('popstate', follow);
    window.addEventListener('hashchange', follow);
    return () => {
      window.removeEventListener('popstate', follow);
      window.removeEventListener('hashchange', follow);
    };
  }, []);
  useEffect(() => {
    ask<About>(ABOUT).then(
      (answer) => {
        setAbout(answer);
        setFailure(undefined);
      },
      (error: unknown) => {
        forgetAhead();
        setFailure(error);
      },
    );
  }, [asked]);
  // The views that are there now have asked.
  useEffect(() => {
    if (about !== undefined) forgetAhead();
  }, [about]);
  useEffect(() => {
    document.title = `${location.kind === 'sql' ? 'SQL' : location.path.join('/') || 'Catalog'} - dirspace`;
  }, [location.kind, location.path.join('/')]);

  // A link that is gone once it was followed leaves the focus nowhere: the title gets it.
  const { top: _top, find: _find, ...view } = location.query;
  const place = formatLocation({ ...location, query: view });
  const placed = useRef(place);
  useEffect(() => {
    if (placed.current === place) return;
    placed.current = place;
    if (document.activeElement !== document.body) return;
    document.getElementById('title')?.focus({ preventScroll: true });
  }, [place]);

  /** Typing and scrolling replace the entry of the history; everything else adds one. */
  const go = (next: Location, quietly = false): void => {
    // What is told a moment later, such as the place in a grid, is of no page that was left meanwhile.
    if (quietly && formatLocation(here()) !== formatLocation(location)) return;
    const fragment = formatLocation(next);
    const samePlace =
      next.kind === location.kind && next.path.join('/') === location.path.join('/');
    const isTyping = samePlace && next.query.find !== location.query.find;
    if (quietly || isTyping) history.replaceState(null, '', fragment);
    else if (fragment !== window.location.hash) history.pushState(null, '', fragment);
    setLocation(next);
  };

  if (isSignedOut(failure)) {
    return <SignIn wasUsed={location.query.ticket === 'used'} done={() => setAsked(asked + 1)} />;
  }
  if (failure !== undefined) {
    return <Failure error={failure} onAgain={() => setAsked(asked + 1)} />;
  }
  if (about === undefined)
    return (
      <p class="note" role="status">
        Loading…
      </p>
    );
  const { databases } = about;
  const db = location.query.db ?? databases?.[0];
  useDatabase(databases === undefined ? undefined : db);
  return (
    <>
      <button
        type="button"
        class="skip"
        onClick={() => {
          const first = 'main input, main [tabindex], main button, main a';
          document.querySelector<HTMLElement>(first)?.focus();
        }}
      >
        Skip to the content
      </button>
      <header class="bar">
        <a
          class="home"
          href={formatLocation({
            kind: 'n',
            path: [],
            query: location.query.db === undefined ? {} : { db: location.query.db },
          })}
        >
          dirspace
        </a>
        {databases === undefined ? null : (
          <label>
            database{' '}
            <select
              value={db}
              onChange={(event) =>
                go({ kind: 'n', path: [], query: { db: event.currentTarget.value } })
              }
            >
              {databases.map((name) => (
                <option key={name} value={name}>
                  {name}
                </option>
              ))}
            </select>
          </label>
        )}
        <a href={formatLocation({ kind: 'sql', path: [], query: dbOf(location) })}>SQL</a>
        <span class="space" />
        {about.principal === 'anybody' ? null : <span>{about.principal}</span>}
        {about.signed_in ? (
          <button
            type="button"
            onClick={() => signOut().then(() => setAsked(asked + 1), setFailure)}
          >
            Sign out
          </button>
        ) : null}
        <ThemeButton />
      </header>
      <div class="columns" key={db}>
        <CatalogTree location={location} go={go} />
        {location.kind === 'sql' ? (
          <SqlPage location={location} go={go} />
        ) : location.kind === 't' ? (
          <TablePage key={location.path.join('/')} location={location} go={go} />
        ) : (
          <NamespacePage location={location} />
        )}
      </div>
    </>
  );
}

function ThemeButton() {
  const [name, setName] = useState(theme);
  return (
    <button type="button" aria-label={`Colours: ${name}`} onClick={() => setName(nextTheme())}>
      {name}
    </button>
  );
}
