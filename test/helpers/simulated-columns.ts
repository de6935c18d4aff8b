/**
 * What writers of a simulation do to columns, and how rows with more columns read as text: the name,
 * then each value of a column that was added, by the name that the column has by then.
 */
import type { RecordBatch } from '../../src/arrow/apache.ts';
import type { Rows } from './history.ts';
import type { Attempt, SimulatedWriter } from './simulated-writer.ts';

/** Few, so that writers meet in them and dropped names come back. */
const NAMES = ['x', 'y'];

/** Of each row its id and its text; nulls of added columns are left out. */
export function textsOf(batch: RecordBatch): [id: number, text: string][] {
  const { fields } = batch.schema;
  const added = fields.filter(({ name }) => name !== 'id' && name !== 'name');
  const columns = added
    .map(({ name }) => [name, batch.getChild(name)] as const)
    .sort(([a], [b]) => (a < b ? -1 : 1));
  const [ids, names] = [batch.getChild('id'), batch.getChild('name')];
  return Array.from({ length: batch.numRows }, (_, row) => {
    const values = columns.flatMap(([name, column]) => {
      const value: unknown = column?.get(row);
      return value === null || value === undefined ? [] : [`;${name}=${value}`];
    });
    return [Number(ids?.get(row)), `${names?.get(row)}${values.join('')}`];
  });
}

/** The text of a row with another name. */
export const renamed = (text: string, name: string): string => text.replace(/^[^;]*/, name);

/** The values of a row's added columns, changed. */
export function recoloured(
  rows: Rows,
  change: (values: Map<string, string>, id: number) => void,
): Rows {
  return new Map(
    [...rows].map(([id, text]) => {
      const [name, ...parts] = text.split(';');
      const values = new Map(parts.map((part) => part.split('=') as [string, string]));
      change(values, id);
      const shown = [...values].sort(([a], [b]) => (a < b ? -1 : 1));
      return [id, [name, ...shown.map((pair) => pair.join('='))].join(';')];
    }),
  );
}

export function changeColumns(writer: SimulatedWriter, id: string[]): Attempt {
  const { simulation } = writer;
  const name = simulation.pick(...NAMES);
  const other = simulation.pick(...NAMES);
  const roll = simulation.below(12);
  if (roll < 2) {
    return {
      what: `add the column ${name} of nulls to ${id}`,
      // What a dropped column of that name held must not come back.
      apply: (rows) => rows,
      exact: true,
      run: (catalog) =>
        catalog.alterTableAddColumns({
          id,
          new_columns: [{ name, expression: 'CAST(NULL AS BIGINT)' }],
        }),
    };
  }
  if (roll < 5) {
    const factor = 1 + simulation.below(90);
    return {
      what: `add the column ${name} of ${factor} to ${id}`,
      apply: (rows) =>
        recoloured(rows, (values, row) => void values.set(name, String(row * factor))),
      exact: true,
      run: (catalog) =>
        catalog.alterTableAddColumns({
          id,
          new_columns: [{ name, expression: `id * ${factor}` }],
        }),
    };
  }
  if (roll < 8) {
    return {
      what: `rename the column ${name} of ${id} to ${other}`,
      apply: (rows) =>
        recoloured(rows, (values) => {
          const value = values.get(name);
          values.delete(name);
          if (value !== undefined) values.set(other, value);
        }),
      exact: true,
      run: (catalog) =>
        catalog.alterTableAlterColumns({ id, alterations: [{ path: name, rename: other }] }),
    };
  }
  if (roll < 11) {
    return {
      what: `drop the column ${name} of ${id}`,
      apply: (rows) => recoloured(rows, (values) => void values.delete(name)),
      exact: true,
      run: (catalog) => catalog.alterTableDropColumns({ id, columns: [name] }),
    };
  }
  return {
    what: `widen the ids of ${id}`,
    apply: (rows) => rows,
    exact: true,
    run: (catalog) =>
      catalog.alterTableAlterColumns({
        id,
        alterations: [{ path: 'id', data_type: { type: 'int64' } }],
      }),
  };
}
