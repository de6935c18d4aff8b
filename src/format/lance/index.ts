/**
 * Exports the encoders and decoders of Lance's files: the Lance part of a fragment, manifests and
 * their transactions, tags and branches, data files, deletion files, and the table `__manifest`
 * that lists a catalog. They do no I/O: callers pass the bytes, or a function that reads ranges of
 * a data file.
 */

export {
  type FieldPlace,
  type FieldPlaces,
  FragmentColumns,
  placesOfFile,
} from './data-columns.ts';
export { HOW_TO_REWRITE, type LanceBytes, LanceDataFile } from './data-file.ts';
export {
  byLanceCatalogKey,
  isLanceCatalogKeyBelow,
  isSameLanceCatalogRow,
  type LanceCatalogEntry,
  type LanceCatalogPart,
  type LanceCatalogRow,
  LanceCatalogRows,
  type LanceCatalogVersion,
  lanceCatalogDigest,
  lanceCatalogFile,
  lanceCatalogKey,
  lanceCatalogManifest,
  lanceCatalogRow,
  readLanceCatalogManifest,
} from './lance-catalog.ts';
export {
  decodeLanceDeletions,
  type LanceDeletionKind,
} from './lance-deletions.ts';
export {
  type LanceExportSchema,
  LanceFileEncoder,
  lanceExportManifest,
  lanceExportSchema,
} from './lance-export.ts';
export {
  type LanceField,
  lanceDataFiles,
  lanceFields,
  lanceIdOf,
  lanceNumbered,
  metadataFromLance,
} from './lance-fields.ts';
export {
  type ClosedLanceVersion,
  closedLanceManifest,
  isOwnLanceManifest,
  LANCE_TABLE_KEY,
  type LanceBranch,
  type LanceFragment,
  type LanceVersion,
  lanceDeletionId,
  lanceFence,
  lanceManifest,
  lanceManifestBytes,
  lanceManifestForms,
} from './lance-manifest.ts';
export { type LanceOperation, lanceTransactionSteps } from './lance-operation.ts';
export { LancePartWriter, lanceColumns } from './lance-part.ts';
export {
  encodeLanceBranch,
  encodeLanceTag,
  isOwnLanceRef,
  type LanceRefKind,
  type NamedByRef,
  namesSame,
  parseLanceRefFile,
} from './lance-refs.ts';
export { damaged, type LanceColumn, type LanceSchema, lanceSchema } from './lance-schema.ts';
export { nullBytes } from './page-decoder.ts';
export { type ReadBudget, readInBatches } from './page-reader.ts';
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
  strangeToReaders,
} from './parsed-manifest.ts';
export type {
  ParsedMapUpdate,
  ParsedOperation,
  ParsedReplacement,
  ParsedRewriteGroup,
  ParsedTransaction,
} from './parsed-transaction.ts';
