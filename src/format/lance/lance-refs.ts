/**
 * Encodes (`encodeLanceTag`, `encodeLanceBranch`) and parses the JSON files by which Lance finds
 * the tags and branches of a dataset. The files of this engine have the members that Lance's own
 * clients write, and metadata by which `isOwnLanceRef` recognises them. `parseLanceRefFile` parses
 * a file of any writer, and returns undefined for one that names no version. `namesSame` tells
 * whether two files name the same version.
 */
import { isWholeNumber } from '../../json.ts';

export interface LanceTag {
  /** Null for main. */
  readonly branch: string | null;
  readonly version: number;
  /** Milliseconds since the epoch. */
  readonly timestamp: number;
  readonly manifestSize: number;
}

export interface LanceBranchRef {
  /** Null for main. */
  readonly parentBranch: string | null;
  /** Which version each branch on the way from main was made of, and its id, this one last. */
  readonly chain: readonly (readonly [number, string])[];
  readonly parentVersion: number;
  /** Milliseconds since the epoch. */
  readonly createdAt: number;
  readonly manifestSize: number;
}

const WRITTEN_BY = 'written_by';
const WRITER = 'dirspace';
const METADATA = { [WRITTEN_BY]: WRITER };

/** The same bytes for the same tag. */
export function encodeLanceTag({ branch, version, timestamp, manifestSize }: LanceTag): Uint8Array {
  const time = new Date(timestamp).toISOString();
  return encode({
    branch,
    version,
    createdAt: time,
    updatedAt: time,
    manifestSize,
    metadata: METADATA,
  });
}

export const encodeLanceBranch = (of: LanceBranchRef): Uint8Array =>
  encode({
    parentBranch: of.parentBranch,
    identifier: { version_mapping: of.chain },
    parentVersion: of.parentVersion,
    createAt: Math.floor(of.createdAt / 1000),
    manifestSize: of.manifestSize,
    metadata: METADATA,
  });

const encode = (value: object): Uint8Array =>
  Buffer.from(`${JSON.stringify(value, undefined, 2)}\n`);

/** Whether a tag or branch file was written by an engine of this kind, as it is or damaged. */
export function isOwnLanceRef(bytes: Uint8Array): boolean {
  const text = Buffer.from(bytes).toString('latin1');
  if (textOf(text, WRITTEN_BY) !== WRITER) return false;
  // A client that moves a tag keeps its metadata, and notes when it did.
  const [created, updated] = [textOf(text, 'createdAt'), textOf(text, 'updatedAt')];
  return created === undefined || updated === undefined || created === updated;
}

/** A text that a file says, without parsing it. */
const textOf = (file: string, member: string): string | undefined =>
  new RegExp(`"${member}"\\s*:\\s*"([^"]*)"`).exec(file)?.[1];

/** What the file of a tag or branch names, which may be another program's; undefined where it names nothing. */
export interface NamedByRef {
  /** Null for main. */
  readonly branch: string | null;
  readonly version: number;
  /** Bytes of the manifest that was the version's when the file was written, where the file says so. */
  readonly manifestSize?: number | undefined;
}

export type LanceRefKind = 'tag' | 'branch';

const MEMBERS = {
  tag: ['branch', 'version'],
  branch: ['parentBranch', 'parentVersion'],
} as const satisfies Record<LanceRefKind, readonly [string, string]>;

/** The version that a tag names, or that a branch was made from. */
export function parseLanceRefFile(kind: LanceRefKind, bytes: Uint8Array): NamedByRef | undefined {
  let found: unknown;
  try {
    found = JSON.parse(Buffer.from(bytes).toString());
  } catch {
    return undefined;
  }
  if (typeof found !== 'object' || found === null) return undefined;
  const [branch, version] = MEMBERS[kind];
  const {
    [branch]: name = null,
    [version]: number,
    manifestSize,
  } = found as Record<string, unknown>;
  const isWhole = (name === null || typeof name === 'string') && isWholeNumber(number);
  const size = isWholeNumber(manifestSize) ? { manifestSize } : {};
  return isWhole ? { branch: name, version: number, ...size } : undefined;
}

/** Whether two files of tags, or of branches, name the same version. */
export function namesSame(kind: LanceRefKind, one: Uint8Array, other: Uint8Array): boolean {
  const [left, right] = [parseLanceRefFile(kind, one), parseLanceRefFile(kind, other)];
  return left !== undefined && left.branch === right?.branch && left.version === right.version;
}
