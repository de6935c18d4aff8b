/**
 * `RowDifferences` shows the first rows that only one of two versions has, and the first pairs of
 * rows with one key and different values. In a pair it marks the old and the new value of each
 * changed column.
 */
import { count, counted } from '../base/index.ts';

type Row = Readonly<Record<string, unknown>>;

/** The members of the answer of DiffTable that are about rows. */
export interface RowChanges {
  readonly by: string;
  readonly added: number;
  readonly removed: number;
  readonly changed: number;
  readonly not_compared: readonly string[];
  readonly examples?: {
    readonly added: readonly Row[];
    readonly removed: readonly Row[];
    readonly changed: readonly {
      readonly before: Row;
      readonly after: Row;
      readonly columns: readonly string[];
    }[];
  };
}

/** Characters of a value. */
const MOST = 160;

const shown = (value: unknown): string => {
  const text =
    typeof value === 'object' && value !== null ? JSON.stringify(value) : String(value ?? 'null');
  return text.length > MOST ? `${text.slice(0, MOST)}…` : text;
};

export function RowDifferences({ rows }: { readonly rows: RowChanges }) {
  const { added = [], removed = [], changed = [] } = rows.examples ?? {};
  return (
    <>
      {rows.not_compared.length === 0 ? null : (
        <p class="note">Not compared, as their types do not fit: {rows.not_compared.join(', ')}.</p>
      )}
      <Rows title="added" all={rows.added} of={added} />
      <Rows title="removed" all={rows.removed} of={removed} />
      <Rows
        title="changed"
        all={rows.changed}
        of={changed.map(({ after }) => after)}
        old={(at, name) =>
          changed[at]?.columns.includes(name) ? shown(changed[at]?.before[name]) : undefined
        }
      />
    </>
  );
}

function Rows({
  title,
  all,
  of,
  old,
}: {
  readonly title: string;
  readonly all: number;
  readonly of: readonly Row[];
  /** The value before, of what changed. */
  readonly old?: (row: number, name: string) => string | undefined;
}) {
  if (of.length === 0) return null;
  const names = [...new Set(of.flatMap((row) => Object.keys(row)))];
  return (
    <div class="wide">
      <h2>
        {of.length < all ? `The first ${count(of.length)} of ` : ''}
        {counted(all, 'row')} {title}
      </h2>
      <table aria-label={`Rows ${title}`}>
        <thead>
          <tr>
            {names.map((name) => (
              <th key={name} scope="col">
                {name}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {of.map((row, at) => (
            <tr key={at}>
              {names.map((name) => {
                const before = old?.(at, name);
                return (
                  <td key={name}>
                    {before === undefined ? null : (
                      <>
                        <del>{before}</del>
                        {' → '}
                      </>
                    )}
                    {before === undefined ? shown(row[name]) : <ins>{shown(row[name])}</ins>}
                  </td>
                );
              })}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}
