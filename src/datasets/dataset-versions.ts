/**
 * `findManifest` finds and reads the manifest of one version of a Lance dataset: the version of a
 * tag, or a numbered or the newest version of main or of a branch. If a tag is given, it alone
 * decides. A missing version, tag or branch throws TableVersionNotFound, TableTagNotFound or
 * TableBranchNotFound. A folder that is not a dataset, and a malformed name of a branch, throw
 * InvalidInput, a damaged file Corrupt, and a newer or too large manifest UnsupportedFormat.
 * `isPlainName` accepts names that stay within a folder.
 */
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { DirspaceError } from '../errors.ts';
import {
  damaged,
  lanceRefFile,
  lanceTagsFolder,
  MAX_LANCE_MANIFEST_BYTES,
  type ParsedManifest,
  readLanceManifest,
} from '../format/index.ts';
import { parseJson } from '../json.ts';
import { tellsMissing } from '../store/index.ts';
import { wholeFile } from './file-bytes.ts';

/** Names a version of a dataset; the newest if it is empty. */
export interface LanceVersionChoice {
  readonly version?: number | undefined;
  readonly tag?: string | undefined;
  readonly branch?: string | undefined;
}

export interface FoundManifest {
  readonly manifest: ParsedManifest;
  /** The folder of the data set or of its branch: below it lie `data` and `_deletions`. */
  readonly home: string;
}

const MAX_REF_BYTES = 1 << 20;
const LAST_VERSION = 2n ** 64n - 1n;

/**
 * @param folder of the dataset
 * @throws TableVersionNotFound, TableTagNotFound, TableBranchNotFound, InvalidInput for a folder
 * that is no dataset, Corrupt, UnsupportedFormat
 */
export async function findManifest(
  folder: string,
  choice: LanceVersionChoice,
): Promise<FoundManifest> {
  let { version, branch } = choice;
  if (choice.tag !== undefined) ({ version, branch } = await readTag(folder, choice.tag));
  if (branch === 'main') branch = undefined;
  const home = branch === undefined ? folder : join(folder, 'tree', ...partsOf(branch));
  const versions = await versionsIn(join(home, '_versions'));
  if (versions === undefined || versions.size === 0) {
    if (branch !== undefined) {
      throw new DirspaceError(
        'TableBranchNotFound',
        `The Lance dataset ${folder} has no branch ${JSON.stringify(branch)}.`,
      );
    }
    throw new DirspaceError(
      'InvalidInput',
      `${JSON.stringify(folder)} is no Lance dataset: it has no manifest in a folder _versions.`,
    );
  }
  const wanted = version ?? [...versions.keys()].reduce((a, b) => Math.max(a, b));
  const name = versions.get(wanted);
  if (name === undefined) {
    throw new DirspaceError(
      'TableVersionNotFound',
      `The Lance dataset ${folder} has no version ${wanted}. It has ${rangeOf(versions)}.`,
    );
  }
  const path = join(home, '_versions', name);
  const bytes = await wholeFile(path, MAX_LANCE_MANIFEST_BYTES);
  if (bytes === undefined) throw damaged(path, 'it was removed meanwhile');
  const manifest = readLanceManifest(bytes, path);
  if (manifest.version !== wanted) {
    throw damaged(path, `it is named version ${wanted}, and says ${manifest.version}`);
  }
  return { manifest, home };
}

/** File names by version; undefined where there is no such folder. */
async function versionsIn(folder: string): Promise<Map<number, string> | undefined> {
  let names: string[];
  try {
    names = await readdir(folder);
  } catch (error) {
    if (tellsMissing(error)) return undefined;
    throw error;
  }
  const versions = new Map<number, string>();
  for (const name of names) {
    const digits = /^(\d{1,20})\.manifest$/.exec(name)?.[1];
    if (digits === undefined) continue;
    // Newer names count down from the last number, so that the newest version is listed first.
    const number = digits.length === 20 ? LAST_VERSION - BigInt(digits) : BigInt(digits);
    if (number > 0n && number <= BigInt(Number.MAX_SAFE_INTEGER))
      versions.set(Number(number), name);
  }
  return versions;
}

async function readTag(
  folder: string,
  tag: string,
): Promise<{ version: number; branch: string | undefined }> {
  const notFound = (): DirspaceError =>
    new DirspaceError(
      'TableTagNotFound',
      `The tag ${JSON.stringify(tag)} does not exist in the Lance dataset ${folder}.`,
    );
  if (!/^[A-Za-z0-9._-]+$/.test(tag) || tag.startsWith('.')) throw notFound();
  const path = lanceRefFile(lanceTagsFolder(folder), tag);
  const bytes = await wholeFile(path, MAX_REF_BYTES);
  if (bytes === undefined) throw notFound();
  const { version, branch } = parseJson(bytes, path);
  if (!Number.isSafeInteger(version) || (version as number) < 1) {
    throw damaged(path, 'it names no version');
  }
  if (branch !== undefined && branch !== null && typeof branch !== 'string') {
    throw damaged(path, 'its branch is no text');
  }
  return { version: version as number, branch: branch ?? undefined };
}

/** The folders of a branch: its name, cut at slashes. */
function partsOf(branch: string): string[] {
  const parts = branch.split('/');
  if (parts.every((part) => isPlainName(part))) return parts;
  throw new DirspaceError('InvalidInput', `${JSON.stringify(branch)} is no name of a branch.`);
}

/** One name within a folder, that leads nowhere else. */
export const isPlainName = (name: string): boolean =>
  name !== '' && name !== '.' && name !== '..' && !/[/\\\0]/.test(name);

function rangeOf(versions: ReadonlyMap<number, string>): string {
  const numbers = [...versions.keys()].sort((a, b) => a - b);
  return numbers.length > 10
    ? `${numbers.length} versions from ${numbers[0]} to ${numbers.at(-1)}`
    : numbers.join(', ');
}
