/**
 * `HistoryView` lists the newest 200 versions of a branch, newest first, with their operation,
 * changed rows and tags. Older ones are shown on request. A version can be opened, and two can be
 * compared (diff-view.tsx).
 */

import {
  Answered,
  ask,
  changed,
  count,
  formatLocation,
  moment,
  type Tag,
  useAnswer,
  useState,
  type Version,
  type ViewProps,
} from '../base/index.ts';
import { DiffView } from './diff-view.tsx';

const MOST_VERSIONS = 200;

interface Listed {
  readonly versions: readonly Version[];
  readonly page_token?: string;
}

export function HistoryView(props: ViewProps) {
  const { facts, location, go } = props;
  const { id, branch } = facts;
  const [more, setMore] = useState(1);
  const asked = useAnswer<Listed>(
    'ListTableVersions',
    {
      id,
      ...(branch === undefined ? {} : { branch }),
      descending: true,
      limit: MOST_VERSIONS * more,
    },
    (name, body, signal) => ask(name, body, signal),
  );
  const tags = useAnswer<{ tags: Readonly<Record<string, Tag>> }>('ListTableTags', { id });
  const { from, to } = location.query;
  const named = (version: number): string =>
    Object.entries(tags.answer?.tags ?? {})
      .filter(([, tag]) => tag.version === version && (tag.branch ?? 'main') === (branch ?? 'main'))
      .map(([name]) => name)
      .join(', ');
  return (
    <div class="view scroll">
      <DiffView {...props} />
      <Answered asked={asked}>
        {({ versions, page_token }) => (
          <>
            <table aria-label="Versions">
              <thead>
                <tr>
                  <th scope="col">From</th>
                  <th scope="col">To</th>
                  <th scope="col">Version</th>
                  <th scope="col">Time (UTC)</th>
                  <th scope="col">Operation</th>
                  <th scope="col">Rows</th>
                  <th scope="col">Tags</th>
                </tr>
              </thead>
              <tbody>
                {versions.map(({ version, timestamp_millis, metadata = {} }) => (
                  <tr key={version} class={version === facts.version ? 'current' : ''}>
                    {(['from', 'to'] as const).map((end) => (
                      <td key={end}>
                        <input
                          type="radio"
                          name={end}
                          aria-label={`compare ${end} version ${version}`}
                          checked={(end === 'from' ? from : to) === String(version)}
                          onChange={() => go(changed(location, { [end]: String(version) }))}
                        />
                      </td>
                    ))}
                    <td>
                      <a
                        href={formatLocation(
                          changed(location, {
                            version: String(version),
                            view: 'rows',
                            from: undefined,
                            to: undefined,
                            top: undefined,
                          }),
                        )}
                      >
                        {version}
                      </a>
                      {version === facts.version ? ' (shown)' : ''}
                    </td>
                    <td>{moment(timestamp_millis)}</td>
                    <td>{metadata.operation ?? ''}</td>
                    <td>{changesOf(metadata)}</td>
                    <td>{named(version)}</td>
                  </tr>
                ))}
              </tbody>
            </table>
            {page_token === undefined ? null : (
              <button type="button" onClick={() => setMore(more + 4)}>
                Show older versions
              </button>
            )}
          </>
        )}
      </Answered>
    </div>
  );
}

/** `+2,000 −3` of what the summary of an operation counts. */
function changesOf(metadata: Readonly<Record<string, string>>): string {
  const parts: string[] = [];
  const number = (name: string): number => Number(metadata[name] ?? 0);
  const added = number('added_rows');
  const removed = number('removed_rows') + number('deleted_rows');
  const updated = number('updated_rows');
  if (added > 0) parts.push(`+${count(added)}`);
  if (removed > 0) parts.push(`−${count(removed)}`);
  if (updated > 0) parts.push(`${count(updated)} changed`);
  return parts.join(' ');
}
