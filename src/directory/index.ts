/**
 * Exports `openDirectoryNamespace`, which opens a catalog on a directory tree, and `keptMemory`,
 * the cache memory that several open catalogs may share, with the default size of its buffer pool
 * (`DEFAULT_BUFFER_BYTES`).
 */

export { DEFAULT_BUFFER_BYTES, type KeptMemory, keptMemory } from '../table/index.ts';
export type { CredentialVendor } from './catalog/index.ts';
export { openDirectoryNamespace } from './directory-namespace.ts';
