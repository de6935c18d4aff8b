/**
 * `requireNoNulls` throws InvalidInput if a column that is to be made required holds nulls, and
 * says in how many rows. It counts the nulls by a scan, which does not read fragments and batches
 * whose statistics tell. A field of a struct does not count as null where the struct itself is. A
 * field in a list is always refused. With `among`, only rows of those fragments count.
 */
import { DataType } from '../../arrow/index.ts';
import { DirspaceError } from '../../errors.ts';
import { quotedPath } from '../../sql-quotes.ts';
import type { FieldPlace } from '../fields/index.ts';
import { countMatches, planScan } from '../read/index.ts';
import type { Engine, Snapshot } from '../versions/index.ts';

/**
 * @param among the ids of the fragments whose rows count; all of them if absent
 * @throws InvalidInput saying how many rows are null
 */
export async function requireNoNulls(
  engine: Engine,
  base: Snapshot,
  place: FieldPlace,
  among?: ReadonlySet<number>,
): Promise<void> {
  for (const { field } of place.chain.slice(0, -1)) {
    if (DataType.isStruct(field.type)) continue;
    throw new DirspaceError(
      'InvalidInput',
      `Whether ${JSON.stringify(place.name)} may be null cannot be changed: it lies in a list.`,
    );
  }
  const names = place.chain.map(({ field }) => field.name);
  const parent = quotedPath(names.slice(0, -1));
  const isNull = `${quotedPath(names)} IS NULL`;
  const filter = parent === '' ? isNull : `${isNull} AND ${parent} IS NOT NULL`;
  const plan = await planScan(engine, base, { columns: [], filter });
  // An index counts the rows of the whole table.
  const counted = among && { indexNote: undefined, isNeedless: notAmong(among) };
  const nulls = await countMatches({ ...plan, ...counted });
  if (nulls === 0) return;
  throw new DirspaceError(
    'InvalidInput',
    `The column ${JSON.stringify(place.name)} cannot be made required: it is null in ${nulls} rows. Update or delete those first.`,
    { details: { column: place.name, nulls } },
  );
}

const notAmong =
  (ids: ReadonlySet<number>) =>
  ({ id }: { readonly id: number }): boolean =>
    !ids.has(id);
