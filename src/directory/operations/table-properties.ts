/**
 * Reads the properties of a table. `propertiesAt` takes them from its record, unless the newest
 * version of main, which the caller passes, carries later ones. Properties in a version are
 * replaced atomically with its rows. `readableProperties` finds that version itself, and falls back
 * to the record if it is damaged or of a newer format.
 */
import { isDirspaceError } from '../../errors.ts';
import type { Snapshot } from '../../table/index.ts';
import { type Catalog, newestOfMain, type Table } from '../catalog/index.ts';

/** `newest` is the newest version of main, undefined when there is none. */
export function propertiesAt(
  { record }: Pick<Table, 'record'>,
  newest: Snapshot | undefined,
): Record<string, string> {
  const versioned = newest?.manifest.properties;
  const isLater = versioned !== undefined && versioned.since > (record.since ?? 0);
  return { ...(isLater ? versioned.values : record.properties) };
}

async function propertiesOf(catalog: Catalog, table: Table): Promise<Record<string, string>> {
  return propertiesAt(table, await newestOfMain(catalog, table));
}

/** For answers of operations that must also work on a damaged table: what is still readable. */
export async function readableProperties(
  catalog: Catalog,
  table: Table,
): Promise<Record<string, string>> {
  try {
    return await propertiesOf(catalog, table);
  } catch (error) {
    if (isDirspaceError(error, 'Corrupt') || isDirspaceError(error, 'UnsupportedFormat')) {
      return { ...table.record.properties };
    }
    throw error;
  }
}
