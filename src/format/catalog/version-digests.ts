/**
 * Encodes (`encodeDigests`) and decodes (`decodeDigests`) the files of version digests, of up to 64
 * versions each (`firstInFile`). A digest (`digestOf`) holds what a list of versions shows, so that
 * listing need not read each manifest. It also has the checksums of the version's manifest and of
 * the parent's. With these, table/history/version-digests.ts tells whether the digest is still
 * true. Decoding throws Corrupt for damage and for digests of another table or branch, and
 * UnsupportedFormat for a newer format.
 */
import {
  arrayMember,
  asObject,
  corrupt,
  encodeChecksummed,
  integerMember,
  isWholeNumber,
  type JsonObject,
  parseChecksummed,
  stringMapMember,
  stringMember,
} from '../../json.ts';
import {
  decodeOperation,
  type Manifest,
  type Operation,
  type ParentVersion,
  refuseNewer,
} from './manifest.ts';

/** What lists say of a version. */
export interface VersionDigest {
  readonly version: number;
  /** Size and checksum of its manifest. */
  readonly bytes: number;
  readonly checksum: string;
  readonly timestamp: number;
  readonly transaction: string;
  /** Set when the version counts only if that multi-table commit was committed. */
  readonly batch: string | undefined;
  readonly operation: Operation;
  readonly annotations: Readonly<Record<string, string>> | undefined;
  readonly parent: ParentVersion | undefined;
}

/** Versions whose digests are in one file. */
export const DIGESTS_IN_FILE = 64;

/** The first version of those that share a file with this one. */
export const firstInFile = (version: number): number => version - ((version - 1) % DIGESTS_IN_FILE);

export const digestOf = (manifest: Manifest, checksum: string, bytes: number): VersionDigest => ({
  version: manifest.version,
  bytes,
  checksum,
  timestamp: manifest.timestamp,
  transaction: manifest.transaction,
  batch: manifest.batch,
  operation: manifest.operation,
  annotations: manifest.annotations,
  parent: manifest.parent,
});

/** Whose versions they are. */
interface Owner {
  readonly incarnation: string;
  readonly branch: string;
}

/** By columns, which are short and quickly parsed: most versions differ in few members. */
export function encodeDigests(owner: Owner, digests: readonly VersionDigest[]): Uint8Array {
  const operations = new Map<string, number>();
  const parents: unknown[] = [];
  const batches: unknown[] = [];
  const annotated: unknown[] = [];
  const kinds = digests.map((digest, at) => {
    const { operation, parent, batch, annotations } = digest;
    if (!isParent(digests[at - 1], parent, owner)) {
      parents.push([
        at,
        ...(parent === undefined ? [] : [parent.version, parent.checksum, parent.branch]),
      ]);
    }
    if (batch !== undefined) batches.push([at, batch]);
    if (annotations !== undefined) annotated.push([at, annotations]);
    const text = JSON.stringify({ kind: operation.kind, summary: operation.summary });
    const known = operations.get(text) ?? operations.size;
    operations.set(text, known);
    return known;
  });
  return encodeChecksummed({
    format: 1,
    table: owner.incarnation,
    branch: owner.branch,
    versions: digests.map(({ version }) => version),
    bytes: digests.map(({ bytes }) => bytes),
    checksums: digests.map(({ checksum }) => checksum),
    timestamps: digests.map(({ timestamp }) => timestamp),
    transactions: digests.map(({ transaction }) => shortened(transaction, owner)),
    operations: [...operations.keys()].map((text) => JSON.parse(text)),
    operation: kinds,
    parents,
    batches,
    annotations: annotated,
  }).bytes;
}

/** Whether the parent is the version of the row above, as it is of most. */
const isParent = (
  above: VersionDigest | undefined,
  parent: ParentVersion | undefined,
  { branch }: Owner,
): boolean =>
  above !== undefined &&
  parent?.version === above.version &&
  parent.checksum === above.checksum &&
  parent.branch === branch;

/** Transactions begin with the id of their table; others with a sign that no id begins with. */
const shortened = (transaction: string, { incarnation }: Owner): string =>
  transaction.startsWith(`${incarnation}.`)
    ? transaction.slice(incarnation.length)
    : `=${transaction}`;

/** @throws Corrupt, UnsupportedFormat */
export function decodeDigests(bytes: Uint8Array, owner: Owner, file: string): VersionDigest[] {
  const { document } = parseChecksummed(bytes, file);
  refuseNewer(document, file);
  if (
    stringMember(document, 'table', file) !== owner.incarnation ||
    stringMember(document, 'branch', file) !== owner.branch
  ) {
    throw corrupt(file, 'it tells of the versions of another table or branch');
  }
  const versions = arrayMember(document, 'versions', file);
  if (versions.length > DIGESTS_IN_FILE) {
    throw corrupt(file, `it tells of ${versions.length} versions`);
  }
  const column = (name: string, isValue: (value: unknown) => boolean): readonly unknown[] => {
    const values = arrayMember(document, name, file);
    if (values.length === versions.length && values.every(isValue)) return values;
    throw corrupt(file, `${name} is not a value for each version`);
  };
  const numbers = column('versions', isWholeNumber) as readonly number[];
  const sizes = column('bytes', isWholeNumber) as readonly number[];
  const checksums = column('checksums', isString) as readonly string[];
  const timestamps = column('timestamps', isWholeNumber) as readonly number[];
  const transactions = column('transactions', isString) as readonly string[];
  const operations = arrayMember(document, 'operations', file).map((operation) =>
    decodeOperation(asObject(operation, file, 'an operation'), file),
  );
  const kinds = column('operation', (at) => isWholeNumber(at) && at < operations.length);
  const parents = sparse(document, 'parents', file);
  const batches = sparse(document, 'batches', file);
  const annotations = sparse(document, 'annotations', file);
  const digests: VersionDigest[] = [];
  for (let at = 0; at < numbers.length; at++) {
    const parent = parents.get(at);
    const batch = batches.get(at);
    const noted = annotations.get(at);
    const short = transactions[at] as string;
    digests.push({
      version: numbers[at] as number,
      bytes: sizes[at] as number,
      checksum: checksums[at] as string,
      timestamp: timestamps[at] as number,
      transaction: short.startsWith('=') ? short.slice(1) : owner.incarnation + short,
      batch: batch && stringMember({ batch: batch[0] }, 'batch', file),
      operation: operations[kinds[at] as number] as Operation,
      annotations: noted && stringMapMember({ annotations: noted[0] }, 'annotations', file),
      parent:
        parent === undefined
          ? parentAbove(digests[at - 1], owner, file)
          : decodeParent(parent, file),
    });
  }
  return digests;
}

const isString = (value: unknown): boolean => typeof value === 'string';

/** What few versions have, by their place in the file. */
function sparse(
  document: JsonObject,
  name: string,
  file: string,
): ReadonlyMap<number, readonly unknown[]> {
  const found = new Map<number, readonly unknown[]>();
  for (const item of arrayMember(document, name, file)) {
    const [at, ...values]: readonly unknown[] = Array.isArray(item) ? item : [];
    if (!isWholeNumber(at)) throw corrupt(file, `${name} holds something else than lists`);
    found.set(at, values);
  }
  return found;
}

function parentAbove(
  above: VersionDigest | undefined,
  { branch }: Owner,
  file: string,
): ParentVersion {
  if (above === undefined) throw corrupt(file, 'its first version lacks a parent');
  return { version: above.version, checksum: above.checksum, branch };
}

function decodeParent(
  [version, checksum, branch]: readonly unknown[],
  file: string,
): ParentVersion | undefined {
  if (version === undefined) return undefined;
  const named: JsonObject = { version, checksum, branch };
  return {
    version: integerMember(named, 'version', file),
    checksum: stringMember(named, 'checksum', file),
    branch: stringMember(named, 'branch', file),
  };
}
