/**
 * `planFragments` compares the fragments of a manifest that a writer of Lance has staged with those
 * of the version before: which stay, are new or gone, lose rows, get other columns, or are listed
 * again by an overwrite (`fragmentsAgain`). Any other change throws InvalidInput or Unsupported,
 * and so do more than a million new ids. It yields after each fragment and reads no file.
 * `reservedAfter` returns the reserved ids that are left. Writers of Lance keep their own names for
 * the files that they wrote, so a file is known by that name (`origin`) and by the table's;
 * `namesOf` lists both.
 */
import { DataType } from '../../arrow/index.ts';
import {
  type FragmentEntry,
  isLanceFile,
  isReadByLance,
  type LanceColumn,
  type LanceFileEntry,
  lanceDataFiles,
  lanceDeletionFile,
  lanceDeletionId,
  lastName,
  type ParsedDataFile,
  type ParsedDeletion,
  type ParsedFragment,
  type ParsedManifest,
} from '../../format/index.ts';
import { lanceDeletionName } from '../../lance-paths.ts';
import type { Snapshot } from '../versions/index.ts';
import { invalid, shown, unsupported } from './refusals.ts';
import type { StagedSchema } from './staged-schema.ts';

/**
 * Where the rows of a top-level column come from: nowhere, the fragment as it was, or new files.
 */
export type ColumnSource = 'nulls' | 'before' | 'files';

/** Where a field lies in a new file. */
export interface PlaceOfField {
  readonly file: ParsedDataFile;
  readonly column: number;
}

export interface PlannedFragment {
  readonly id: number;
  /** Deleted ones included. */
  readonly rows: number;
  /** The fragment as it is in the base, or is to be named by this id; undefined for a new one. */
  readonly before: FragmentEntry | undefined;
  /** The fragment of the base whose files an overwrite lists again, under another id. */
  readonly again: FragmentEntry | undefined;
  /** The source of each top-level column; undefined if the file stays. */
  readonly sources: readonly ColumnSource[] | undefined;
  /** The places of the fields in new files, by Lance's ids. */
  readonly places: ReadonlyMap<number, PlaceOfField>;
  /** Rows that are deleted now; undefined where those of before are. */
  readonly deletion: ParsedDeletion | undefined;
  /** The names that the client uses for the files from this version on; undefined if they are unchanged. */
  readonly origin: readonly LanceFileEntry[] | undefined;
}

export interface FragmentPlan {
  /** In the order of rows. */
  readonly fragments: readonly PlannedFragment[];
  /** Fragments of the base that are gone. */
  readonly removed: readonly FragmentEntry[];
  readonly nextFragmentId: number;
}

/** A client that runs ahead would use up the ids. */
const MOST_NEW_IDS = 1_000_000;
/**
 * Columns of all fragments together that a manifest may have, beside some times those of the
 * version before: each is looked at.
 */
const MOST_PLACES = 20_000_000;
/** Row ids have 32 bits for the fragment. */
const MOST_IDS = 2 ** 32 - 1;
/** Rows of one fragment: offsets have 32 bits, and an Arrow column counts in signed ones. */
const MOST_ROWS = 2 ** 31 - 1;
const REPLACED = -2;

export type StagedFragments = Pick<ParsedManifest, 'fragments' | 'maxFragmentId' | 'bases'>;

/**
 * @param anew whether no fragment goes on from the base, as in an overwrite
 * @param listedAgain fragments of the base whose rows go on under other ids nevertheless
 * @throws InvalidInput, Unsupported
 */
export function* planFragments(
  { fragments: staged, maxFragmentId, bases }: StagedFragments,
  base: Snapshot,
  entries: readonly FragmentEntry[],
  schema: StagedSchema,
  anew: boolean,
  listedAgain: ListedAgain = new Map(),
): Generator<undefined, FragmentPlan> {
  const { nextFragmentId, lanceReserved: reserved = [] } = base.manifest;
  const next = (maxFragmentId ?? -1) + 1;
  if (next < nextFragmentId) {
    throw invalid(
      `its largest fragment id is ${next - 1}, and ${nextFragmentId - 1} was given out`,
    );
  }
  if (next > Math.min(nextFragmentId + MOST_NEW_IDS, MOST_IDS)) {
    throw invalid(`its largest fragment id is ${next - 1}, far above ${nextFragmentId - 1}`);
  }
  const most = MOST_PLACES + 4 * base.fields.length * entries.length;
  if (staged.length * schema.tree.length > most) {
    throw invalid(
      `it has ${staged.length} fragments of ${schema.tree.length} columns, and at most ${most} columns of fragments are looked at`,
    );
  }
  const known = new Map(anew ? [] : entries.map((entry) => [entry.id, entry]));
  const seen = new Set<number>();
  const places = new Set(bases.map((each) => each.id));
  const owners = new Map<string, number>();
  const taken = new Set<FragmentEntry>();
  const fragments: PlannedFragment[] = [];
  for (const fragment of staged) {
    yield;
    const { id } = fragment;
    if (seen.has(id)) throw invalid(`two fragments have the id ${id}`);
    seen.add(id);
    refuseOthers(fragment, places);
    const before = known.get(id);
    const isFree = (id >= nextFragmentId && id < next) || isReserved(id, reserved);
    if (before === undefined && !isFree) {
      throw invalid(
        `fragment ${id} is new, and its id is not from ${nextFragmentId} to ${next - 1}`,
      );
    }
    const again = findAgain(fragment, listedAgain);
    if (again !== undefined && taken.has(again))
      throw invalid(`fragment ${id} has the files of another fragment`);
    if (again !== undefined) taken.add(again);
    const planned =
      again === undefined
        ? planFragment(fragment, before, base, schema)
        : planAgain(fragment, again, base, schema);
    for (const { path } of new Set([...planned.places.values()].map(({ file }) => file))) {
      const owner = owners.get(path) ?? id;
      if (owner !== id) throw invalid(`fragments ${owner} and ${id} share the file ${shown(path)}`);
      owners.set(path, id);
    }
    fragments.push(planned);
  }
  const removed = entries.filter(({ id }) => anew || !seen.has(id));
  return { fragments, removed, nextFragmentId: next };
}

/** Fragments of the base by the paths of their files. */
type ListedAgain = ReadonlyMap<string, FragmentEntry>;

/** The fragments of which a staged manifest of an overwrite lists files again. */
export function fragmentsAgain(
  { fragments }: Pick<ParsedManifest, 'fragments'>,
  base: Snapshot,
  entries: readonly FragmentEntry[],
): ListedAgain {
  const staged = new Set(fragments.flatMap(({ files }) => files.map(({ path }) => path)));
  return new Map(
    entries.flatMap((entry) =>
      namesOf(entry, base).flatMap(({ path }) =>
        staged.has(path) ? [[path, entry] as const] : [],
      ),
    ),
  );
}

const findAgain = ({ files }: ParsedFragment, known: ListedAgain): FragmentEntry | undefined =>
  known.size === 0 ? undefined : files.flatMap(({ path }) => known.get(path) ?? [])[0];

/** The rows are those of before, deleted ones too, in all columns that the fragment has. */
function planAgain(
  fragment: ParsedFragment,
  entry: FragmentEntry,
  base: Snapshot,
  schema: StagedSchema,
): PlannedFragment {
  const { id } = fragment;
  const planned = planFragment(fragment, { ...entry, id }, base, schema);
  const isHeld = schema.tree.some((column) => entry.fields.includes(column.id));
  if (!isHeld || planned.sources !== undefined || planned.deletion !== undefined)
    throw unsupported(
      `an overwrite in which fragment ${id} has files of before and other columns or deleted rows`,
      'List it as it was, with the fields of the table by their ids, or write its rows anew.',
    );
  return { ...planned, again: entry };
}

type Ranges = NonNullable<Snapshot['manifest']['lanceReserved']>;

const isReserved = (id: number, ranges: Ranges): boolean =>
  ranges.some(([first, end]) => id >= first && id < end);

/** More reservations are forgotten, the oldest first: whoever made one never came back. */
const MOST_RESERVED = 32;

/** The reserved ids that are left: each is used once. */
export function reservedAfter(
  { fragments, nextFragmentId }: FragmentPlan,
  { manifest }: Snapshot,
  reserves: boolean,
): Ranges {
  const used = fragments.flatMap(({ id, before, again }) =>
    before === undefined || again !== undefined ? [id] : [],
  );
  const left = (manifest.lanceReserved ?? []).flatMap(([first, end]): Ranges => {
    const taken = used.filter((id) => id >= first && id < end);
    const from = taken.reduce((most, id) => Math.max(most, id + 1), first);
    return from < end ? [[from, end]] : [];
  });
  if (reserves && nextFragmentId > manifest.nextFragmentId)
    left.push([manifest.nextFragmentId, nextFragmentId]);
  return left.slice(-MOST_RESERVED);
}

/** @param places ids of base paths: of files that the dataset does not have itself */
function refuseOthers(fragment: ParsedFragment, places: ReadonlySet<number>): void {
  const { id, rowIds, lastUpdatedVersions, createdVersions, overlays, physicalRows } = fragment;
  if (rowIds !== undefined) throw unsupported(`fragment ${id} with stable row ids`);
  if (lastUpdatedVersions !== undefined || createdVersions !== undefined)
    throw unsupported(`fragment ${id} with versions of rows`);
  if (overlays > 0) throw unsupported(`fragment ${id} with overlays`);
  if (physicalRows < 1 || physicalRows > MOST_ROWS)
    throw invalid(`fragment ${id} has ${physicalRows} rows`);
  for (const {
    path,
    base,
    majorVersion,
    minorVersion,
    fields,
    columns,
    fileSize,
  } of fragment.files) {
    if (base !== undefined && !places.has(base))
      throw unsupported(`the file ${shown(path)} under the base path ${base}`);
    if (majorVersion !== 2 || minorVersion !== 0) {
      throw unsupported(
        `the file ${shown(path)} of version ${majorVersion}.${minorVersion}`,
        'Write with the data storage version of the table, 2.0.',
      );
    }
    if (fields.length !== columns.length || fields.length === 0)
      throw invalid(
        `the file ${shown(path)} has ${fields.length} fields and ${columns.length} columns`,
      );
    if (fileSize === 0) throw invalid(`the size of the file ${shown(path)} is not given`);
  }
  const { base } = fragment.deletion ?? {};
  if (base !== undefined && !places.has(base))
    throw unsupported(`the deletion file of fragment ${id} under the base path ${base}`);
}

function planFragment(
  fragment: ParsedFragment,
  before: FragmentEntry | undefined,
  base: Snapshot,
  schema: StagedSchema,
): PlannedFragment {
  const { id, physicalRows: rows, files } = fragment;
  if (before !== undefined && before.rows !== rows)
    throw invalid(`fragment ${id} has ${rows} rows, and had ${before.rows}`);
  const given = before === undefined ? [] : namesOf(before, base);
  const [old, added] = [[] as ParsedDataFile[], [] as ParsedDataFile[]];
  const names = new Set<string>();
  for (const file of files) {
    if (names.has(file.path))
      throw invalid(`fragment ${id} has the file ${shown(file.path)} twice`);
    names.add(file.path);
    const same = given.find(({ path }) => path === file.path);
    if (same !== undefined) {
      requireSame(id, same, file, schema);
      old.push(file);
    } else {
      if (!isLanceFile(file.path)) throw invalid(`fragment ${id} has a file ${shown(file.path)}`);
      if (file.base !== undefined)
        throw unsupported(`the new file ${shown(file.path)} under a base path`);
      added.push(file);
    }
  }
  for (const file of added) requireKnownFields(id, file, base, schema);
  const held = heldFields(id, old, added, schema);
  const known = before === undefined ? undefined : wholeFragment(before, base, old);
  const sources = schema.lanceColumns.map((column, at) =>
    sourceOf(column, schema.columns[at] as readonly number[], held, known),
  );
  const isKept =
    before !== undefined &&
    schema.tree.every(
      ({ id: column }, at) => sources[at] === (before.fields.includes(column) ? 'before' : 'nulls'),
    );
  return {
    id,
    rows,
    before,
    again: undefined,
    sources: isKept ? undefined : sources,
    places: held.added,
    deletion: plannedDeletion(fragment, before),
    origin: isKept ? undefined : files.map(plainFile),
  };
}

const plainFile = ({ path, fields, columns, fileSize }: ParsedDataFile): LanceFileEntry => ({
  path,
  fields,
  columns,
  fileSize,
});

/** Our files as Lance finds them, and those that the client wrote and goes on to name. */
export const namesOf = (
  entry: FragmentEntry,
  { manifest }: Snapshot,
): readonly LanceFileEntry[] => {
  const { lance } = entry;
  if (!isReadByLance(entry) || lance === undefined || 'problem' in lance) return [];
  return [...lanceDataFiles(entry, manifest), ...(lance.origin ?? [])];
};

/**
 * The same file, but for fields that went to another one. Which ids fields have that are gone, the
 * table has forgotten where Lance's were others.
 */
function requireSame(
  id: number,
  given: LanceFileEntry,
  file: ParsedDataFile,
  { ownIds }: StagedSchema,
): void {
  const isSameField = (field: number, at: number): boolean => {
    const known = given.fields[at] as number;
    if (field === known || field === REPLACED) return true;
    return !ownIds.has(field) && !ownIds.has(known);
  };
  const isSame =
    file.fileSize === given.fileSize &&
    file.fields.length === given.fields.length &&
    file.fields.every(isSameField) &&
    file.columns.every((column, at) => column === given.columns[at]);
  if (!isSame)
    throw invalid(`fragment ${id} describes the file ${shown(file.path)} otherwise than it is`);
}

/**
 * A writer that is behind may send fields that are dropped by now. Ids that no version had are
 * those of no field: Lance would give one of them to the next column, which would then have these
 * values in the file.
 */
function requireKnownFields(
  id: number,
  { path, fields }: ParsedDataFile,
  { manifest }: Snapshot,
  { ownIds }: StagedSchema,
): void {
  for (const field of fields) {
    const wasKnown = field >= 0 && field < manifest.nextFieldId;
    if (wasKnown || field === REPLACED || ownIds.has(field)) continue;
    throw invalid(
      `the file ${shown(path)} of fragment ${id} holds field ${field}, which the table has never had`,
    );
  }
}

interface HeldFields {
  /** Lance's ids of the fields that the files of before hold. */
  readonly before: ReadonlySet<number>;
  /** The new file of a field, and its column there. */
  readonly added: ReadonlyMap<number, PlaceOfField>;
}

/** Finds the file of each field of the schema; a field may be in one file at most. */
function heldFields(
  id: number,
  old: readonly ParsedDataFile[],
  files: readonly ParsedDataFile[],
  schema: StagedSchema,
): HeldFields {
  const before = new Set<number>();
  const added = new Map<number, PlaceOfField>();
  const claim = (field: number): void => {
    if (before.has(field) || added.has(field))
      throw invalid(`field ${field} stands in two files of fragment ${id}`);
  };
  for (const { fields } of old) {
    for (const field of fields) {
      const own = schema.ownIds.get(field);
      if (field === REPLACED || own === undefined) continue;
      claim(field);
      if (!schema.known.has(own))
        throw invalid(
          `field ${field} is new, and a file of fragment ${id} was written with it before`,
        );
      before.add(field);
    }
  }
  for (const file of files) {
    for (const [at, field] of file.fields.entries()) {
      if (field === REPLACED || !schema.ownIds.has(field)) continue;
      claim(field);
      const column = file.columns[at] as number;
      if (column < 0)
        throw invalid(`field ${field} has the column ${column} of ${shown(file.path)}`);
      added.set(field, { file, column });
    }
  }
  return { before, added };
}

/**
 * The files of a fragment as the client names them: by the names of the table, by those of its own,
 * or, where it names some in each way, by both. Its own may lack members of structs.
 */
function wholeFragment(
  entry: FragmentEntry,
  base: Snapshot,
  named: readonly ParsedDataFile[],
): readonly LanceFileEntry[] {
  const both = namesOf(entry, base);
  const { lance } = entry;
  const origin = lance !== undefined && 'origin' in lance ? (lance.origin ?? []) : [];
  const table = both.slice(0, both.length - origin.length);
  const hasAll = (files: readonly LanceFileEntry[]): boolean =>
    named.every(({ path }) => files.some((file) => file.path === path));
  return [table, origin].find(hasAll) ?? both;
}

/**
 * @param ids Lance's, of the column and what it holds, depth first
 * @param given the files of the fragment as it was; undefined for a new one
 */
function sourceOf(
  column: LanceColumn,
  ids: readonly number[],
  held: HeldFields,
  given: readonly LanceFileEntry[] | undefined,
): ColumnSource {
  const parted = (): Error =>
    unsupported(
      `the column ${shown(column.field.name)}, of which only parts stand in new files,`,
      'Write the column with all of its members.',
    );
  const found = ids.filter((id) => held.added.has(id)).length;
  if (found > 0) {
    const isWhole = found === ids.length;
    if (isWhole || (given === undefined && isButForMembers(column, held.added))) return 'files';
    throw parted();
  }
  const stay = ids.filter((id) => held.before.has(id));
  if (stay.length === 0) return 'nulls';
  const were = ids.filter((id) => given?.some(({ fields }) => fields.includes(id)));
  if (were.length !== stay.length) throw parted();
  return 'before';
}

/**
 * Whether files hold a column but for members of structs, which are null then. A member that is a
 * struct has to be there: Lance reads it as a null struct, which files of data format 2.0 cannot
 * hold.
 */
function isButForMembers({ id, field, children }: LanceColumn, held: HeldFields['added']): boolean {
  if (!held.has(id)) return false;
  const isStruct = DataType.isStruct(field.type);
  return children.every(
    (child) =>
      isButForMembers(child, held) ||
      (isStruct && !DataType.isStruct(child.field.type) && !isHeld(child, held)),
  );
}

const isHeld = ({ id, children }: LanceColumn, held: HeldFields['added']): boolean =>
  held.has(id) || children.some((child) => isHeld(child, held));

function plannedDeletion(
  { id, deletion, physicalRows }: ParsedFragment,
  before: FragmentEntry | undefined,
): ParsedDeletion | undefined {
  const known = before?.deletion;
  if (deletion === undefined) {
    if (known === undefined) return undefined;
    throw invalid(
      `fragment ${id} has no deletion file, and ${known.rows} of its rows were deleted`,
    );
  }
  const { rows } = deletion;
  const name = lanceDeletionName(id, deletion);
  const own = known && lastName(lanceDeletionFile('', id, lanceDeletionId(known.file)));
  const isKnown = known !== undefined && (name === own || name === known.origin);
  if (rows < (known?.rows ?? 1) || rows >= physicalRows || (isKnown && rows !== known.rows)) {
    throw invalid(
      `the deletion file of fragment ${id} counts ${rows} of ${physicalRows} rows, and ${known?.rows ?? 0} were deleted`,
    );
  }
  if (!isKnown && deletion.base !== undefined)
    throw unsupported(`the new deletion file of fragment ${id} under a base path`);
  return isKnown ? undefined : deletion;
}
