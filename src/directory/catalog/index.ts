/**
 * Exports the parts of an open catalog that operations use, such as the look-up of ids and
 * versions, listing and paging, the trash, tables that other programs write, and journals.
 */

export {
  beginWrite,
  type Catalog,
  type CredentialVendor,
  findNamespace,
  findTable,
  followMove,
  locationOf,
  missingBranch,
  missingNamespace,
  type NamedTable,
  namespaceId,
  readNamespace,
  readTableRecord,
  requireNamespace,
  requireRoom,
  requireStill,
  requireTable,
  showId,
  storedTable,
  type Table,
  tableId,
} from './catalog.ts';
export { CatalogRoot, rootGone } from './catalog-root.ts';
export { recordDetached } from './detached.ts';
export {
  dropNamespaceFolder,
  finishIntents,
  isNamespaceEmpty,
  isUndecided,
  replaceFolder,
} from './drop-namespace.ts';
export { GHOST, isGhost, moveToPlace, recordQuarantine } from './ghosts.ts';
export {
  finishJournal,
  finishJournals,
  hasJournal,
  type Journal,
  writeJournal,
} from './journal.ts';
export { answeredOnce } from './kept-answers.ts';
export {
  closeToOthers,
  fence,
  isFence,
  isOfOthers,
  type LanceVersion,
  lanceHome,
  lancePlace,
  lanceVersion,
  lanceVersions,
  placeOf,
  placesIn,
  rowsElsewhere,
  tablePlace,
} from './lance-tables.ts';
export { allTables, isTable, namespacesIn, tableFoldersIn, tablesIn } from './listing.ts';
export { folderAt, liesOutside, tableIdAt } from './locations.ts';
export {
  clearNamespacePlace,
  decideNamespace,
  namespaceHasName,
  withdrawNamespace,
} from './name-contest.ts';
export { byCodeUnits, pageLimit, pageOf, pageStart, pageToken, strangeToken } from './paging.ts';
export { sweepStaging } from './staging.ts';
export {
  namespaceInTheWay,
  refuseNamespaceOfThatName,
  strangerInTheWay,
  tableExists,
  tablePlaceTaken,
} from './taken-names.ts';
export {
  describedTarget,
  failureWithin,
  lanceTarget,
  missingTag,
  type NamedVersion,
  newestOfMain,
  resolveTarget,
  snapshotToRead,
  type Target,
  targetToRead,
} from './target.ts';
export {
  listTrash,
  numberedAnew,
  purgeTrash,
  settleDrop,
  sweepInBackground,
  sweepTrash,
  undropTable,
} from './trash.ts';
export { prepareTrash } from './trash-entries.ts';
export { claimForRows, isOnlyDeclared, refuseStorage, withoutVersion } from './without-version.ts';
