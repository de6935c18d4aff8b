/**
 * `requireSameRows` refuses a compaction, by InvalidInput, whose new fragments hold other live rows
 * than the fragments they replace, or the same rows in another order. For each group of the
 * transaction it reads the old fragments and the new ones, as they were written, and compares
 * digests of every column.
 */
import type { Schema } from '../../arrow/index.ts';
import { type FragmentEntry, liveRows, type ParsedRewriteGroup } from '../../format/index.ts';
import { readFields } from '../fragments/index.ts';
import { fragmentPlaces, planScan, type ScanPlan, selectedCount } from '../read/index.ts';
import type { Engine } from '../versions/index.ts';
import { ColumnDigest } from './column-digest.ts';
import { invalid, shown } from './refusals.ts';
import type { StagedChange } from './staged-change.ts';
import { firstPath } from './staged-listing.ts';

/**
 * @param written the new fragments, by id
 * @throws InvalidInput naming the fragments, and the column
 */
export async function requireSameRows(
  engine: Engine,
  { base, plan, manifest }: StagedChange,
  groups: readonly ParsedRewriteGroup[],
  written: ReadonlyMap<number, FragmentEntry>,
): Promise<void> {
  const { schema } = base;
  const names = schema.fields.map(({ name }) => name);
  const scan = await planScan(engine, base, { columns: names, fresh: true });
  const removed = new Map(plan.removed.map((entry) => [entry.id, entry]));
  // The groups list fragments without their new ids; no two new fragments share a file.
  const fresh = new Map(
    manifest.fragments.flatMap((fragment) => {
      const entry = written.get(fragment.id);
      return entry === undefined ? [] : [[firstPath(fragment), entry] as const];
    }),
  );
  for (const { oldFragments, newFragments } of groups) {
    const before = oldFragments.map(({ id }) => removed.get(id) as FragmentEntry);
    const after = newFragments.map((each) => fresh.get(firstPath(each)) as FragmentEntry);
    const what = `fragments ${listed(after)} stand for fragments ${listed(before)}`;
    const [rows, now] = [rowsOf(before), rowsOf(after)];
    if (rows !== now) throw refusal(`${what}, and ${rows} rows became ${now}`);
    const old = await digestsOf(scan, schema, names, before);
    const changed = (await digestsOf(scan, schema, names, after)).findIndex(
      (digest, at) => digest !== old[at],
    );
    if (changed >= 0)
      throw refusal(
        `${what}, and their rows hold other values of ${shown(names[changed] as string)}, or the same in another order`,
      );
  }
}

const refusal = (what: string): Error => invalid(`its transaction is rewrite, ${what}`);

const listed = (entries: readonly FragmentEntry[]): string =>
  entries.length === 0 ? 'none' : entries.map(({ id }) => id).join(', ');

const rowsOf = (entries: readonly FragmentEntry[]): number =>
  entries.reduce((sum, entry) => sum + liveRows(entry), 0);

/** Digests each column over the live rows of the fragments. */
async function digestsOf(
  scan: ScanPlan,
  schema: Schema,
  names: readonly string[],
  entries: readonly FragmentEntry[],
): Promise<readonly string[]> {
  const digests = schema.fields.map(({ type }) => new ColumnDigest(type));
  for (const entry of entries) {
    for await (const place of fragmentPlaces(scan, entry, 0)) {
      const kept = place.deleted?.keptBetween(place.first, place.rows);
      if (selectedCount(kept, place.rows) === 0) continue;
      const columns = await readFields(scan, place, names, kept);
      for (const [at, column] of columns.entries()) digests[at]?.add(column);
    }
  }
  return digests.map((digest) => digest.finish());
}
