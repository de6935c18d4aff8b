/**
 * Fragments, versions and catalogs as Lance reads them: the Lance part of a fragment, and manifests. Reads
 * the manifests of Lance's own writers too. Pure functions; source of the formats are the protobuf files
 * of the public Lance repository.
 */

export {
  type FieldPlace,
  type FieldPlaces,
  FragmentColumns,
  placesOfFile,
} from './data-columns.ts';
export { HOW_TO_REWRITE, type LanceBytes, LanceDataFile } from './data-file.ts';
export {
  type LanceCatalogEntry,
  type LanceCatalogFile,
  lanceCatalogDigest,
  lanceCatalogFile,
  lanceCatalogManifest,
} from './lance-catalog.ts';
export {
  decodeLanceDeletions,
  type LanceDeletionKind,
  type LanceDeletions,
} from './lance-deletions.ts';
export { type LanceField, lanceFields } from './lance-fields.ts';
export {
  type ClosedLanceVersion,
  closedLanceManifest,
  isOwnLanceManifest,
  type LanceBranch,
  type LanceVersion,
  lanceDeletionId,
  lanceManifest,
  lanceManifestBytes,
} from './lance-manifest.ts';
export { LancePartWriter, lanceColumns } from './lance-part.ts';
export { encodeLanceBranch, encodeLanceTag, isOwnLanceRef } from './lance-refs.ts';
export { type LanceColumn, type LanceSchema, lanceSchema } from './lance-schema.ts';
export type {
  ParsedBase,
  ParsedDataFile,
  ParsedDeletion,
  ParsedField,
  ParsedFragment,
  ParsedIndex,
  ParsedSequence,
} from './parsed-fragment.ts';
export {
  lanceManifestSteps,
  MAX_LANCE_MANIFEST_BYTES,
  type ParsedManifest,
  readLanceManifest,
} from './parsed-manifest.ts';
export type {
  ParsedMapUpdate,
  ParsedOperation,
  ParsedRewriteGroup,
  ParsedTransaction,
} from './parsed-transaction.ts';
