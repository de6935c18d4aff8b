/**
 * `SchemaView` shows the columns of a version with type, nullability and metadata. It also shows
 * the version's indexes, properties, schema metadata, row count and location, and the size of the
 * newest version. `fieldRows` builds the rows of a column and, for a struct, of the fields in it.
 */
import {
  Answered,
  bytes,
  count,
  type Index,
  type JsonField,
  Pairs,
  pinned,
  typeText,
  useAnswer,
  type ViewProps,
} from '../base/index.ts';

export function SchemaView({ facts }: ViewProps) {
  const { described } = facts;
  const indexes = useAnswer<{ indexes: readonly Index[] }>('ListTableIndices', pinned(facts));
  return (
    <div class="view scroll">
      <h2>Columns</h2>
      <table aria-label="Columns">
        <thead>
          <tr>
            <th scope="col">Name</th>
            <th scope="col">Type</th>
            <th scope="col">Nullable</th>
            <th scope="col">Metadata</th>
          </tr>
        </thead>
        <tbody>
          {(described.schema?.fields ?? []).flatMap((field, at) => fieldRows(field, [at]))}
        </tbody>
      </table>
      <h2>Indexes</h2>
      <Answered asked={indexes}>
        {(answer) => (
          <Pairs
            label="Indexes"
            of={answer.indexes.map((index) => [
              index.index_name,
              `${index.index_type ?? ''} on ${index.columns.join(', ')}`,
            ])}
          />
        )}
      </Answered>
      <h2>Properties</h2>
      <Pairs label="Properties" of={Object.entries(described.properties ?? {})} />
      <h2>Metadata of the schema</h2>
      <Pairs label="Metadata of the schema" of={Object.entries(described.metadata ?? {})} />
      <h2>Storage</h2>
      <Pairs
        label="Storage"
        of={[
          ['Rows', count(facts.rows)],
          ['Bytes of the newest version', bytes(facts.bytes)],
          ['Fragments of the newest version', count(facts.fragments)],
          ['Location', described.location ?? ''],
        ]}
      />
    </div>
  );
}

/** @param place of the field: its index, behind those of the fields that it is in */
export function fieldRows(
  { name, type, nullable, metadata }: JsonField,
  place: readonly number[],
): preact.JSX.Element[] {
  const told = Object.entries(metadata ?? {}).map(([key, value]) => `${key}=${value}`);
  const row = (
    <tr key={place.join(' ')}>
      <td style={{ paddingLeft: `${place.length * 16 - 8}px` }}>{name}</td>
      <td class="type">{typeText(type)}</td>
      <td>{nullable === false ? 'no' : 'yes'}</td>
      <td>{told.join(', ')}</td>
    </tr>
  );
  if (type.type !== 'struct') return [row];
  const children = (type.fields ?? []).flatMap((child, at) => fieldRows(child, [...place, at]));
  return [row, ...children];
}
