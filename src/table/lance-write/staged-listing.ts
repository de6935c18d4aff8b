/**
 * Compares the fragments of a staged Lance manifest with those that its transaction lists, without
 * reading a file: new, listed again, updated, removed, compacted, with other columns, and their
 * order. Each `require` function throws InvalidInput for one kind of difference. For example,
 * `requireNew` throws it if the added fragments are not the listed ones, and `requireGone` if a
 * fragment that the transaction removes is still there. `firstPath` names a fragment by its first
 * file that holds a field.
 */
import type {
  LanceFileEntry,
  ParsedDataFile,
  ParsedDeletion,
  ParsedFragment,
  ParsedReplacement,
  ParsedRewriteGroup,
} from '../../format/index.ts';
import { shown } from './refusals.ts';
import { contradiction, type StagedChange } from './staged-change.ts';
import { namesOf } from './staged-fragments.ts';

/**
 * The new fragments are those that the transaction lists, in that order; ids are given out later.
 */
export function requireNew(change: StagedChange, listed: readonly ParsedFragment[]): void {
  const { manifest, plan } = change;
  const known = new Set(plan.fragments.flatMap(({ id, before }) => (before ? [id] : [])));
  requireSame(
    change,
    manifest.fragments.filter(({ id }) => !known.has(id)),
    listed,
  );
}

/** All fragments are those that an overwrite lists, in that order, those of before among them. */
export const requireListed = (change: StagedChange, listed: readonly ParsedFragment[]): void =>
  requireSame(change, change.manifest.fragments, listed);

function requireSame(
  change: StagedChange,
  fragments: readonly ParsedFragment[],
  listed: readonly ParsedFragment[],
): void {
  for (const [at, fragment] of fragments.entries()) {
    if (!isSameFragment(fragment, listed[at]))
      throw contradiction(change, `it does not list fragment ${fragment.id} so`);
  }
}

/** The fragments are as many as the transaction lists. */
export function requireAll(change: StagedChange, listed: readonly ParsedFragment[]): void {
  const { length } = change.plan.fragments;
  if (length !== listed.length)
    throw contradiction(change, `${length} fragments are there, where it lists ${listed.length}`);
}

/**
 * Fragments of before that the transaction lists are there as it lists them. A client that builds
 * on a newer version may list the files of a fragment by names of its own, or with fields that were
 * dropped since, and has the table's in the manifest.
 */
export function requireUpdated(
  change: StagedChange,
  listed: readonly ParsedFragment[],
  removed: ReadonlySet<number> = new Set(),
): void {
  const { manifest, entries, base } = change;
  const found = new Map(manifest.fragments.map((each) => [each.id, each]));
  const before = new Map(entries.map((entry) => [entry.id, entry]));
  const living = new Set(manifest.fields.map(({ id }) => id));
  for (const fragment of listed) {
    // With rows that another version deleted meanwhile, all of its rows are gone.
    if (removed.has(fragment.id)) continue;
    const entry = before.get(fragment.id);
    const names = entry === undefined ? [] : namesOf(entry, base);
    if (!isSameFragment(found.get(fragment.id), fragment, names, living))
      throw contradiction(change, `fragment ${fragment.id} is not as it lists it`);
  }
}

/**
 * Of the fragments that the transaction removes each was there, and none is left. A client that was
 * not told what became of one would have deleted rows that stand in another one by now.
 */
export function requireGone(change: StagedChange, removed: ReadonlySet<number>): void {
  const known = new Set(change.entries.map(({ id }) => id));
  for (const id of removed)
    if (!known.has(id)) throw contradiction(change, `there was no fragment ${id} before`);
  for (const { id, before } of change.plan.fragments) {
    if (before !== undefined && removed.has(id))
      throw contradiction(change, `fragment ${id} is still there`);
  }
}

/**
 * Each fragment that goes stands in one group, and each that comes in one, in the order of the
 * list.
 */
export function requireGroups(change: StagedChange, groups: readonly ParsedRewriteGroup[]): void {
  const { plan, manifest } = change;
  const gone = new Set(plan.removed.map(({ id }) => id));
  for (const { id } of groups.flatMap(({ oldFragments }) => oldFragments)) {
    if (!gone.delete(id))
      throw contradiction(change, `fragment ${id}, which it removes, is still there or was not`);
  }
  const fresh = new Set(plan.fragments.flatMap(({ id, before }) => (before ? [] : [id])));
  // No two fragments share a new file.
  const places = new Map(
    manifest.fragments.flatMap((fragment, at) =>
      fresh.has(fragment.id) ? [[firstPath(fragment), at] as const] : [],
    ),
  );
  for (const { newFragments } of groups) {
    let from = -1;
    for (const listed of newFragments) {
      const at = places.get(firstPath(listed)) ?? -1;
      const fragment = at > from ? manifest.fragments[at] : undefined;
      if (fragment === undefined || !isSameFragment(fragment, listed) || !fresh.delete(fragment.id))
        throw contradiction(change, 'its new fragments are others, or in another order');
      from = at;
    }
  }
}

/** The path of the first file of a fragment that holds a field. */
export const firstPath = ({ files }: ParsedFragment): string | undefined =>
  files.find(({ fields }) => fields.some((field) => field >= 0))?.path;

/**
 * Columns of before get other values where the transaction says so, and lose them nowhere.
 * @param modified Lance's ids of the fields that it gives other values
 */
export function requireModified(change: StagedChange, modified: ReadonlySet<number>): void {
  const { plan, schema } = change;
  for (const { id, before, sources } of plan.fragments) {
    if (before === undefined || sources === undefined) continue;
    for (const [at, column] of schema.tree.entries()) {
      const had = before.fields.includes(column.id);
      const isModified = schema.columns[at]?.some((field) => modified.has(field)) === true;
      if (!had || isModified || sources[at] === 'before') continue;
      const what = sources[at] === 'nulls' ? 'no values' : 'other values';
      throw contradiction(
        change,
        `fragment ${id} has ${what} of the column ${shown(column.field.name)}`,
      );
    }
  }
}

/**
 * Each file that the transaction lists stands in its fragment, gives it all values of its fields,
 * and no other column has other values.
 */
export function requireReplaced(
  change: StagedChange,
  replacements: readonly ParsedReplacement[],
): void {
  const { manifest, plan, schema } = change;
  const listed = new Map<number, ParsedReplacement[]>();
  for (const each of replacements) {
    const others = listed.get(each.fragmentId);
    if (others === undefined) listed.set(each.fragmentId, [each]);
    else others.push(each);
  }
  const found = new Map(manifest.fragments.map((each) => [each.id, each.files]));
  for (const { fragmentId: id, file } of replacements) {
    if (found.get(id)?.some((each) => isSameFile(each, file)) !== true)
      throw contradiction(change, `fragment ${id} does not have the file ${shown(file.path)}`);
  }
  for (const { id, before, sources, places } of plan.fragments) {
    if (before === undefined || sources === undefined) continue;
    const paths = new Set(listed.get(id)?.map(({ file }) => file.path));
    for (const [at, { id: column, field }] of schema.tree.entries()) {
      const source = sources[at];
      const isGiven =
        source === 'files' &&
        schema.columns[at]?.every((each) => paths.has(places.get(each)?.file.path ?? ''));
      const isKept = source === (before.fields.includes(column) ? 'before' : 'nulls');
      if (!isGiven && !isKept)
        throw contradiction(
          change,
          `fragment ${id} has other values of the column ${shown(field.name)}`,
        );
    }
  }
}

/**
 * Lance keeps fragments in the order of their ids. Where they are otherwise, those of before stay
 * as they were, and new ones come behind, or stand in the place of what a compaction took away.
 */
export function requireOrder(change: StagedChange): void {
  const { plan, entries, manifest } = change;
  const ids = plan.fragments.map(({ id }) => id);
  if (ids.every((id, at) => at === 0 || id > (ids[at - 1] as number))) return;
  const gone = new Set(plan.removed.map(({ id }) => id));
  const stays = entries.filter(({ id }) => !gone.has(id));
  const isCompacted = manifest.transaction?.operation?.kind === 'rewrite';
  const found = isCompacted ? plan.fragments.filter(({ before }) => before) : plan.fragments;
  for (const [at, { id }] of stays.entries()) {
    if (found[at]?.id !== id) throw contradiction(change, `fragment ${id} is elsewhere`);
  }
}

/**
 * @param listed as the transaction lists it. A file that has no field any more may be gone since.
 * @param names of the files with all that the fragment held before
 * @param living ids of the fields that there are
 */
function isSameFragment(
  one: ParsedFragment | undefined,
  listed: ParsedFragment | undefined,
  names: readonly LanceFileEntry[] = [],
  living: ReadonlySet<number> = new Set(),
): boolean {
  if (one === undefined || listed === undefined) return false;
  const files = listed.files.filter(({ fields }) => fields.some((field) => field >= 0));
  const found = one.files.filter(({ fields }) => fields.some((field) => field >= 0));
  // A compaction that copies pages lists its file before it knows the size.
  const isSame =
    found.length === files.length &&
    found.every((file, at) => {
      const other = files[at] as ParsedDataFile;
      return isSameFile(file, other.fileSize === 0 ? { ...other, fileSize: file.fileSize } : other);
    });
  return (
    one.physicalRows === listed.physicalRows &&
    (isSame || (areNamed(found, names) && areKnown(files, names, living))) &&
    isSameDeletion(one.deletion, listed.deletion)
  );
}

const areNamed = (files: readonly ParsedDataFile[], names: readonly LanceFileEntry[]): boolean =>
  files.every((file) => names.some((name) => isSameFile(file, name)));

/**
 * Whether the files are among those, but for the ids of fields that are gone: a client lists a
 * fragment as it was when it opened the table, and what was dropped since may have another id by
 * now.
 * @param living ids of the fields that there are
 */
const areKnown = (
  files: readonly ParsedDataFile[],
  names: readonly LanceFileEntry[],
  living: ReadonlySet<number>,
): boolean =>
  files.every((file) =>
    names.some((name) => {
      const fields = name.fields.map((id, at) => (living.has(id) ? id : (file.fields[at] ?? id)));
      return isSameFile(file, { ...name, fields });
    }),
  );

const isSameFile = (one: LanceFileEntry, other: LanceFileEntry): boolean =>
  one.path === other.path &&
  one.fileSize === other.fileSize &&
  one.fields.join() === other.fields.join() &&
  one.columns.join() === other.columns.join();

const isSameDeletion = (
  one: ParsedDeletion | undefined,
  other: ParsedDeletion | undefined,
): boolean =>
  one?.kind === other?.kind &&
  one?.readVersion === other?.readVersion &&
  one?.id === other?.id &&
  one?.rows === other?.rows;
