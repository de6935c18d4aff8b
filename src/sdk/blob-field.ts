/**
 * `blob` declares a column of blobs, for which queries return descriptions instead of bytes. The
 * field has the form of LanceDB's: a struct of `data` and `uri`, marked by metadata. LanceDB's
 * thresholds are kept as metadata, but have no effect. An unknown option, and a threshold that is
 * no integer or too small, throw InvalidInput.
 */
import { BLOB_METADATA, Field, LargeBinary, Struct, Utf8 } from '../arrow/index.ts';
import { DirspaceError } from '../errors.ts';
import { checkOptionNames } from './handles/index.ts';

/** Whether values may be null, and LanceDB's thresholds, in bytes. */
export interface BlobOptions {
  /** True if absent. */
  nullable?: boolean;
  /** LanceDB keeps up to so many bytes of a value in its data file; kept as metadata. */
  inlineSizeThreshold?: number;
  /** LanceDB gives larger values a file each; kept as metadata. */
  dedicatedSizeThreshold?: number;
  /** The largest file that LanceDB packs values into; kept as metadata. */
  packFileSizeThreshold?: number;
}

const THRESHOLDS = [
  ['inlineSizeThreshold', 'lance-encoding:blob-inline-size-threshold', 0],
  ['dedicatedSizeThreshold', 'lance-encoding:blob-dedicated-size-threshold', 1],
  ['packFileSizeThreshold', 'lance-encoding:blob-pack-file-size-threshold', 1],
] as const;

/**
 * Declares a column of blobs: a struct of `data` (large binary) and `uri` (text). Rows give the
 * bytes, as a Buffer or a Uint8Array; `fetchBlobs` and `fetchBlobFiles` of a table read them.
 * @throws InvalidInput for a threshold that is no integer, or too small
 */
export function blob(name: string, options: BlobOptions = {}): Field {
  checkOptionNames(options, ['nullable', ...THRESHOLDS.map(([option]) => option)]);
  const metadata = new Map(BLOB_METADATA);
  for (const [option, key, least] of THRESHOLDS) {
    const value = options[option];
    if (value === undefined) continue;
    if (!Number.isSafeInteger(value) || value < least) {
      throw new DirspaceError(
        'InvalidInput',
        `${option} is an integer from ${least} on, not ${String(value)}.`,
        { details: { member: option } },
      );
    }
    metadata.set(key, String(value));
  }
  const type = new Struct([
    new Field('data', new LargeBinary(), true),
    new Field('uri', new Utf8(), true),
  ]);
  return new Field(name, type, options.nullable ?? true, metadata);
}
