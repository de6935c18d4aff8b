/**
 * `adoptTags` creates tags of the table from the tags that Lance's clients wrote into `_refs/tags`,
 * so that cleanup keeps their versions, and returns how many. `followTags` also moves tags of the
 * table that such a client moved. A client's tag that means another program's version of the same
 * number is renamed. A tag whose file a client deleted stays, and a tag that cannot be adopted,
 * such as one of a name that no tag may have, is left alone. Nothing happens if these clients may
 * not write the table.
 */
import { isDirspaceError } from '../../errors.ts';
import { lanceTagsFolder, parseLanceRef, parseTagFile, tagsFolder } from '../../format/index.ts';
import { clientTag, moveAside } from '../lance/index.ts';
import { type Engine, findTag, mainBranch, resolveHead } from '../versions/index.ts';
import { createVersionTag, updateVersionTag } from './reference-changes.ts';

const LEFT = ['InvalidInput', 'TableTagAlreadyExists', 'TableVersionNotFound', 'Corrupt'] as const;

/** How many tags were adopted; none where Lance's clients may not write the table. */
export const adoptTags = (
  engine: Engine,
  tableFolder: string,
  incarnation: string,
): Promise<number> => adopt(engine, tableFolder, incarnation, false);

/** Adopts new tags and moved ones. It looks at the file of each tag, which a commit has no time for. */
export const followTags = (
  engine: Engine,
  tableFolder: string,
  incarnation: string,
): Promise<number> => adopt(engine, tableFolder, incarnation, true);

async function adopt(
  engine: Engine,
  tableFolder: string,
  incarnation: string,
  followsMoves: boolean,
): Promise<number> {
  const { store } = engine;
  const folder = lanceTagsFolder(tableFolder);
  // Each commit asks, and most tables have no tags.
  if (!(await store.hasFolder(folder))) return 0;
  const names = ((await store.list(folder)) ?? []).flatMap(({ name, kind }) =>
    kind === 'file' ? (parseLanceRef(name) ?? []) : [],
  );
  if (names.length === 0) return 0;
  const main = mainBranch(tableFolder, incarnation);
  const newest = (await resolveHead(engine, main))?.snapshot;
  if (newest?.manifest.lanceWrites !== true) return 0;
  const known = new Set(
    ((await store.list(tagsFolder(tableFolder))) ?? []).map(({ name }) => parseTagFile(name)),
  );
  let adopted = 0;
  for (const name of names) {
    const isKnown = known.has(name);
    if (isKnown && !followsMoves) continue;
    try {
      const found = await clientTag(engine, main, name);
      if (found === undefined) continue;
      const { path, isOfVersion, snapshot } = found;
      const { branch: home, version } = snapshot;
      const record = isKnown ? await findTag(engine, tableFolder, incarnation, name) : undefined;
      if (record?.branch === home.branch && record.version === version) continue;
      if (!isOfVersion) {
        // By it Lance's readers would take the rows of this version for those of another.
        await moveAside(engine, path);
        continue;
      }
      if (!isKnown) await createVersionTag(engine, name, home, version);
      else if (!(await updateVersionTag(engine, name, home, version))) continue;
      adopted++;
    } catch (error) {
      // A name that no tag may have, what is damaged or comes or goes meanwhile: verify reports it.
      if (!isDirspaceError(error, ...LEFT)) throw error;
    }
  }
  return adopted;
}
