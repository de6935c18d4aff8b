/**
 * `NamespacePage` shows the properties of a namespace.
 */
import { Answered, type Location, Pairs, useAnswer } from './base/index.ts';

export function NamespacePage({ location }: { readonly location: Location }) {
  const { path, query } = location;
  const asked = useAnswer<{ properties?: Readonly<Record<string, string>> }>('DescribeNamespace', {
    id: path,
    db: query.db,
  });
  return (
    <main class="page" id="main">
      <h1 class="id" id="title" tabIndex={-1}>
        {path.length === 0 ? 'Catalog' : path.join(' / ')}
      </h1>
      <div class="view scroll">
        {path.length === 0 ? (
          <p class="note">Choose a table on the left, or find one by its name.</p>
        ) : null}
        <h2>Properties</h2>
        <Answered asked={asked}>
          {({ properties = {} }) => <Pairs label="Properties" of={Object.entries(properties)} />}
        </Answered>
      </div>
    </main>
  );
}
