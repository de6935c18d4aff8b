/**
 * Creates, finds, lists, moves and deletes the tags of a table (`createTag`, `findTag`, `listTags`,
 * `replaceTag`, `deleteTag`). A tag is a small file that names one version of one branch and keeps
 * it from cleanup. `createTag` throws TableTagAlreadyExists; `replaceTag` writes a tag whether or
 * not it exists. `findTag` returns undefined and `deleteTag` false if there is no such tag. These
 * functions do not check that the version exists: the caller must hold it while it makes a tag, as
 * history/reference-changes.ts does. Tags of an earlier table in the same folder are not found, and
 * make room.
 */
import { DirspaceError } from '../../errors.ts';
import {
  decodeTag,
  encodeTag,
  MAIN_BRANCH,
  parseTagFile,
  type TagRecord,
  tagFile,
  tagsFolder,
  versionsFolder,
} from '../../format/index.ts';
import type { Engine } from './engine.ts';
import { incarnationAt, tableLeft, tableNamed } from './incarnation.ts';

/** Undefined when there is no such tag. */
export async function findTag(
  engine: Engine,
  tableFolder: string,
  incarnation: string,
  tag: string,
): Promise<TagRecord | undefined> {
  const file = tagFile(tableFolder, tag);
  const bytes = await engine.store.get(file);
  const record = bytes === undefined ? undefined : decodeTag(bytes, file);
  // Written for a table that was dropped and recreated meanwhile: not a tag of this one.
  return record?.table === incarnation ? record : undefined;
}

/** All tags, by name. */
export async function listTags(
  engine: Engine,
  tableFolder: string,
  incarnation: string,
): Promise<ReadonlyMap<string, TagRecord>> {
  const entries = (await engine.store.list(tagsFolder(tableFolder))) ?? [];
  const names = entries.flatMap(({ name }) => parseTagFile(name) ?? []);
  const tags = new Map<string, TagRecord>();
  for (const name of names.sort()) {
    const record = await findTag(engine, tableFolder, incarnation, name);
    if (record !== undefined) tags.set(name, record);
  }
  return tags;
}

/** @throws TableTagAlreadyExists, TableNotFound where another table has taken the place of the tag's own */
export async function createTag(
  engine: Engine,
  tableFolder: string,
  tag: string,
  record: TagRecord,
): Promise<void> {
  const file = tagFile(tableFolder, tag);
  const via = versionsFolder(tableFolder, record.table, MAIN_BRANCH);
  await engine.store.createFolder(tagsFolder(tableFolder), tableFolder);
  if (await engine.store.putIfAbsent(file, encodeTag(record), undefined, via)) return;
  if ((await findTag(engine, tableFolder, record.table, tag)) === undefined) {
    // A leftover tag of an earlier table in this folder, unless our own table is the one that is
    // gone.
    const found = await incarnationAt(engine, tableFolder);
    if (found !== record.table) throw tableLeft(record.table, found);
    await replaceTag(engine, tableFolder, tag, record);
    return;
  }
  const { name, details } = tableNamed(engine, tableFolder);
  throw new DirspaceError(
    'TableTagAlreadyExists',
    `The tag ${tag} of the table ${name} already exists. Update it to let it name another version, or choose another name.`,
    { details: { ...details, tag } },
  );
}

/** Never of another table that has taken the place of the tag's own. */
export async function replaceTag(
  engine: Engine,
  tableFolder: string,
  tag: string,
  record: TagRecord,
): Promise<void> {
  const via = versionsFolder(tableFolder, record.table, MAIN_BRANCH);
  await engine.store.put(tagFile(tableFolder, tag), encodeTag(record), via);
}

/** False when there was none. Never of another table that has taken the place of this one. */
export async function deleteTag(
  engine: Engine,
  tableFolder: string,
  incarnation: string,
  tag: string,
): Promise<boolean> {
  const via = versionsFolder(tableFolder, incarnation, MAIN_BRANCH);
  const removed = await engine.store.delete(tagFile(tableFolder, tag), via);
  if (removed) await engine.store.syncFolders([tagsFolder(tableFolder), via]);
  return removed;
}
