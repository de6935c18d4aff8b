/**
 * `columnFiles` lists the files that hold the columns of one fragment: its own file, and its
 * overlays, whose columns were added later or take the place of earlier ones. `storedBytes` and
 * `fileIds` give their bytes and names. `withOverlay` adds an overlay to an entry, and drops
 * overlays whose columns have all been replaced; its callers see to it that no more than
 * `MOST_OVERLAYS` are left.
 */
import {
  type ColumnFile,
  type FragmentEntry,
  type OverlayEntry,
  REPLACED_FIELD,
} from './fragment-entry.ts';

/** A file, and which of the entry's `fields` and `statistics` are of its columns. */
export interface ColumnFilePlace extends ColumnFile {
  readonly first: number;
  readonly columns: number;
}

const places = new WeakMap<FragmentEntry, readonly ColumnFilePlace[]>();

/** Oldest first: the fragment's own file, then its overlays. */
export function columnFiles(entry: FragmentEntry): readonly ColumnFilePlace[] {
  const known = places.get(entry);
  if (known !== undefined) return known;
  const { overlays = [], fields, file, bytes, footerBytes, footerChecksum, lance } = entry;
  let first = fields.length - overlays.reduce((sum, { columns }) => sum + columns, 0);
  const own = { file, bytes, footerBytes, footerChecksum, lance, first: 0, columns: first };
  const found: ColumnFilePlace[] = [own];
  for (const overlay of overlays) {
    found.push({ ...overlay, first });
    first += overlay.columns;
  }
  places.set(entry, found);
  return found;
}

/** Bytes of all files of columns. */
export const storedBytes = ({ bytes, overlays }: FragmentEntry): number =>
  overlays === undefined ? bytes : overlays.reduce((sum, overlay) => sum + overlay.bytes, bytes);

/** Names of all files of columns. */
export const fileIds = ({ file, overlays }: FragmentEntry): string[] =>
  overlays === undefined ? [file] : [file, ...overlays.map((overlay) => overlay.file)];

/** A file of columns as it was written. */
export type WrittenColumns = Omit<FragmentEntry, 'id' | 'deletion' | 'overlays'>;

/** The fragment with columns that take the place of those of the same fields, or come beside them. */
export function withOverlay(entry: FragmentEntry, written: WrittenColumns): FragmentEntry {
  const { file, bytes, footerBytes, footerChecksum, lance, compressed, fields, statistics } =
    written;
  const replaced = new Set(fields);
  const made: OverlayEntry = {
    file,
    columns: fields.length,
    bytes,
    footerBytes,
    footerChecksum,
    ...(compressed === undefined ? {} : { compressed }),
    ...(lance === undefined ? {} : { lance }),
  };
  const kept: OverlayEntry[] = [];
  const all: { id: number; known: unknown }[] = [];
  for (const [at, part] of columnFiles(entry).entries()) {
    const own = entry.fields.slice(part.first, part.first + part.columns).map((id, column) => {
      const isReplaced = id === REPLACED_FIELD || replaced.has(id);
      const known = isReplaced ? [] : entry.statistics[part.first + column];
      return { id: isReplaced ? REPLACED_FIELD : id, known };
    });
    const overlay = entry.overlays?.[at - 1];
    if (overlay !== undefined && own.every(({ id }) => id === REPLACED_FIELD)) continue;
    if (overlay !== undefined) kept.push(overlay);
    all.push(...own);
  }
  return {
    ...entry,
    // What a writer of Lance called the files by, it would take for files with the values of before.
    ...(entry.lance === undefined ? {} : { lance: withoutOrigin(entry.lance) }),
    fields: [...all.map(({ id }) => id), ...fields],
    statistics: [...all.map(({ known }) => known), ...statistics],
    overlays: [...kept, made],
  };
}

function withoutOrigin(lance: NonNullable<ColumnFile['lance']>): NonNullable<ColumnFile['lance']> {
  if ('problem' in lance || lance.origin === undefined) return lance;
  const { fileSize, fields } = lance;
  return { fileSize, fields };
}
