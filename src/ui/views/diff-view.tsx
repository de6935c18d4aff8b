/**
 * `DiffView` shows how two versions of a branch differ in columns, metadata, properties and rows,
 * from the operation DiffTable. Without a key, rows are matched by where they are stored, so a row
 * that was moved counts as removed and added. With a key (`on=` in the address), rows are matched
 * by its values, and row-differences.tsx shows up to 100 of each kind.
 */
import { Answered, changed, Pairs, useAnswer, type ViewProps } from '../base/index.ts';
import { KeyChoice, keyOf } from './key-choice.tsx';
import { type RowChanges, RowDifferences } from './row-differences.tsx';

interface Column {
  readonly name: string;
  readonly data_type: string;
  readonly nullable: boolean;
}

interface Changes {
  readonly added: Readonly<Record<string, string>>;
  readonly removed: Readonly<Record<string, string>>;
  readonly changed: Readonly<Record<string, { readonly from: string; readonly to: string }>>;
}

/** The members of the answer that are shown. */
interface Compared {
  readonly from: { readonly row_count: number };
  readonly to: { readonly row_count: number };
  readonly schema: {
    readonly added: readonly Column[];
    readonly dropped: readonly Column[];
    readonly changed: readonly {
      readonly from: Column;
      readonly to: Column;
      readonly metadata_changed: boolean;
    }[];
  };
  readonly metadata: Changes;
  readonly properties: Changes;
  readonly rows: RowChanges;
}

/** Rows of each kind that are shown. */
const MOST_ROWS = 100;

export function DiffView({ facts, location, go }: ViewProps) {
  const { from, to } = location.query;
  const key = keyOf(location.query.on);
  const isAsked = from !== undefined && to !== undefined && from !== to;
  const named = (version: string | undefined): object => ({
    version: Number(version),
    ...(facts.branch === undefined ? {} : { branch: facts.branch }),
  });
  const asked = useAnswer<Compared>(isAsked ? 'DiffTable' : undefined, {
    id: facts.id,
    from: named(from),
    to: named(to),
    ...(key === undefined ? {} : { on: key, limit: MOST_ROWS }),
  });
  if (!isAsked) {
    return <p class="note">Choose two versions, From and To, to see what is different.</p>;
  }
  return (
    <section class="diff" aria-label={`Differences of versions ${from} and ${to}`}>
      <h2>
        From version {from} to {to}
      </h2>
      <KeyChoice
        columns={facts.columns}
        value={key}
        onChange={(on) => go(changed(location, { on }))}
      />
      <Answered asked={asked}>
        {(found) => (
          <>
            <Pairs
              label="Differences"
              of={[
                [
                  'Rows',
                  `${number(found.from.row_count)} → ${number(found.to.row_count)}: ${rowChanges(found)}`,
                ],
                ...columnChanges(found),
                ...mapChanges('metadata', found.metadata),
                ...mapChanges('property', found.properties),
              ]}
            />
            {key === undefined ? null : <RowDifferences rows={found.rows} />}
          </>
        )}
      </Answered>
    </section>
  );
}

const number = (count: number): string => count.toLocaleString('en');

const rowChanges = ({ rows: { by, added, removed, changed } }: Compared): string =>
  by === 'key'
    ? `${number(added)} added, ${number(removed)} removed, ${number(changed)} changed`
    : [
        `${number(added)} written`,
        `${number(removed)} gone`,
        ...(changed > 0 ? [`${number(changed)} with columns written anew`] : []),
      ].join(', ');

const typeOf = ({ data_type, nullable }: Column): string =>
  nullable ? data_type : `${data_type} not null`;

function columnChanges({ schema: { added, dropped, changed } }: Compared): [string, string][] {
  const changes: [string, string][] = [
    ...added.map((column): [string, string] => [column.name, `column added: ${typeOf(column)}`]),
    ...changed.map(({ from, to, metadata_changed: metadata }): [string, string] => [
      to.name,
      [
        ...(from.name === to.name ? [] : [`renamed from ${from.name}`]),
        ...(typeOf(from) === typeOf(to) ? [] : [`type ${typeOf(from)} → ${typeOf(to)}`]),
        ...(metadata ? ['other metadata'] : []),
      ].join(', '),
    ]),
    ...dropped.map((column): [string, string] => [
      column.name,
      `column removed: ${typeOf(column)}`,
    ]),
  ];
  return changes.length > 0 ? changes : [['Columns', 'the same']];
}

const mapChanges = (kind: string, { added, removed, changed }: Changes): [string, string][] => [
  ...Object.entries(added).map(([name, value]): [string, string] => [
    `${kind} ${name}`,
    `added: ${value}`,
  ]),
  ...Object.entries(changed).map(([name, { from, to }]): [string, string] => [
    `${kind} ${name}`,
    `${from} → ${to}`,
  ]),
  ...Object.keys(removed).map((name): [string, string] => [`${kind} ${name}`, 'removed']),
];
