/**
 * `KeyChoice` lets the reader choose how the rows of two versions are matched: by where they are
 * stored, by the values of some columns, or by all values. `keyOf` reads the choice from the
 * address: undefined for the place, the names of the columns, or an empty list for all values.
 */
import { type Column, decoded } from '../base/index.ts';

const WHOLE = '*';

/** Undefined without a key; no columns are whole rows. */
export function keyOf(on: string | undefined): readonly string[] | undefined {
  if (on === undefined || on === '') return undefined;
  return on === WHOLE ? [] : on.split(',').map(decoded);
}

export function KeyChoice({
  columns,
  value,
  onChange,
}: {
  readonly columns: readonly Column[];
  readonly value: readonly string[] | undefined;
  /** With the text for the address. */
  readonly onChange: (on: string | undefined) => void;
}) {
  const chosen = value ?? [];
  const toggle = (name: string): void => {
    const next = chosen.includes(name)
      ? chosen.filter((one) => one !== name)
      : columns.map((column) => column.name).filter((one) => one === name || chosen.includes(one));
    onChange(next.length === 0 ? undefined : next.map(encodeURIComponent).join(','));
  };
  const how =
    value === undefined
      ? 'where they are stored'
      : chosen.length === 0
        ? 'all of their values'
        : chosen.join(', ');
  return (
    <details class="choice">
      <summary>Rows are matched by {how}</summary>
      <div class="choices" role="group" aria-label="Columns that rows are matched by">
        <button type="button" onClick={() => onChange(undefined)}>
          Where they are stored
        </button>
        <button type="button" onClick={() => onChange(WHOLE)}>
          All of their values
        </button>
        {columns.map(({ name, type }) => (
          <label key={name}>
            <input type="checkbox" checked={chosen.includes(name)} onChange={() => toggle(name)} />
            {name} <span class="type">{type}</span>
          </label>
        ))}
      </div>
    </details>
  );
}
