/**
 * Opens a catalog on a directory tree (`openDirectoryNamespace`), and creates the memory that
 * several of them may share.
 */

export { DEFAULT_BUFFER_BYTES, type KeptMemory, keptMemory } from '../table/index.ts';
export type { CredentialVendor } from './catalog/index.ts';
export { openDirectoryNamespace } from './directory-namespace.ts';
