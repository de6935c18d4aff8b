/**
 * `RefsView` lists the tags and branches of a table, each with a link that opens the version.
 */
import {
  Answered,
  dbOf,
  formatLocation,
  moment,
  useAnswer,
  type ViewProps,
} from '../base/index.ts';

interface Tags {
  readonly tags: Readonly<Record<string, { readonly version: number; readonly branch?: string }>>;
}

interface Branches {
  readonly branches: Readonly<
    Record<
      string,
      { readonly parentBranch?: string; readonly parentVersion: number; readonly createAt: number }
    >
  >;
}

export function RefsView({ facts, location }: ViewProps) {
  const { id } = facts;
  const tags = useAnswer<Tags>('ListTableTags', { id });
  const branches = useAnswer<Branches>('ListTableBranches', { id });
  const link = (query: Record<string, string>): string =>
    formatLocation({ kind: 't', path: id, query: { view: 'rows', ...dbOf(location), ...query } });
  return (
    <div class="view scroll">
      <h2>Tags</h2>
      <Answered asked={tags}>
        {(answer) => (
          <Listed
            label="Tags"
            columns={['Tag', 'Version', 'Branch']}
            rows={Object.entries(answer.tags).map(([name, { version, branch }]) => [
              <a
                href={link({
                  version: String(version),
                  ...(branch === undefined || branch === 'main' ? {} : { branch }),
                })}
              >
                {name}
              </a>,
              version,
              branch ?? 'main',
            ])}
          />
        )}
      </Answered>
      <h2>Branches</h2>
      <Answered asked={branches}>
        {(answer) => (
          <Listed
            label="Branches"
            columns={['Branch', 'From', 'Made (UTC)']}
            rows={[
              [<a href={link({})}>main</a>, '', ''],
              ...Object.entries(answer.branches).map(([name, made]) => [
                <a href={link({ branch: name })}>{name}</a>,
                `version ${made.parentVersion} of ${made.parentBranch ?? 'main'}`,
                moment(made.createAt * 1000),
              ]),
            ]}
          />
        )}
      </Answered>
    </div>
  );
}

function Listed({
  label,
  columns,
  rows,
}: {
  readonly label: string;
  readonly columns: readonly string[];
  readonly rows: readonly (readonly (preact.JSX.Element | string | number)[])[];
}) {
  if (rows.length === 0) return <p class="note">None.</p>;
  return (
    <table aria-label={label}>
      <thead>
        <tr>
          {columns.map((column) => (
            <th key={column} scope="col">
              {column}
            </th>
          ))}
        </tr>
      </thead>
      <tbody>
        {rows.map((row, at) => (
          <tr key={at}>
            {row.map((cell, column) => (
              <td key={column}>{cell}</td>
            ))}
          </tr>
        ))}
      </tbody>
    </table>
  );
}
