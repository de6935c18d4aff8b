/**
 * Fragments, versions and catalogs as Lance reads them: the Lance part of a fragment, and manifests. Pure
 * functions; source of the formats are the protobuf files of the public Lance repository.
 */

export {
  decodeLanceDeletions,
  type LanceDeletionKind,
  type LanceDeletions,
} from './lance-deletions.ts';
export { lanceFields } from './lance-fields.ts';
export { type LanceVersion, lanceDeletionId, lanceManifest } from './lance-manifest.ts';
export { LancePartWriter, lanceColumns } from './lance-part.ts';
