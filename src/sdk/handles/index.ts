/**
 * Exports the parts that connections and tables share: opening catalogs and converting LanceDB's
 * configurations of them, sessions and header providers, lifetimes of handles, targets of requests,
 * checks of option names and properties, paging, fallbacks, and observation by tracers and metrics.
 */

export {
  type ClientConfig,
  type ConnectionOptions,
  type ConnectNamespaceOptions,
  type ConnectOptions,
  type OAuthConfig,
  OAuthFlowType,
  type RetryConfig,
  type TimeoutConfig,
  type TlsConfig,
} from './connect-options.ts';
export { type Defined, defined } from './defined.ts';
export { isThere, ownOr } from './fall-back.ts';
export {
  HeaderProvider,
  type HeaderSource,
  OAuthHeaderProvider,
  StaticHeaderProvider,
  type TokenResponse,
} from './header-provider.ts';
export {
  type Catalog,
  implementationNames,
  type NamespaceFactory,
  openNamespace,
  registerNamespace,
} from './implementations.ts';
export { Lifetime } from './lifetime.ts';
export {
  type BucketStats,
  type GenerationStats,
  type LsmStats,
  type LsmWriteSpec,
  type MemtableStats,
  refuseLsm,
  refuseLsmCall,
} from './lsm.ts';
export { instrumentLanceDbMetrics, type MeterProviderLike, recorder } from './metrics.ts';
export {
  type DirNamespaceConfig,
  type NamespaceConfig,
  propertiesOf,
  type RestNamespaceConfig,
} from './namespace-config.ts';
export { offered } from './offered.ts';
export {
  ADD_OPTIONS,
  COMPACTION_OPTIONS,
  CONNECTION_OPTIONS,
  CREATE_OPTIONS,
  checkChangeOptions,
  checkOptionNames,
  checkWhere,
  DESCRIBE_MEMBERS,
  DIFF_OPTIONS,
  EXECUTE_OPTIONS,
  FILES_OPTIONS,
  LIST_VERSIONS_OPTIONS,
  OPEN_OPTIONS,
  OPTIMIZE_OPTIONS,
  onlyOptions,
  PROFILE_OPTIONS,
  RUN_OPTIONS,
  refuseLanceFiles,
  refuseReadOptions,
  SELECTION_MEMBERS,
  showKind,
} from './option-names.ts';
export { pages } from './pages.ts';
export { checkProperties, type Properties, type PropertyRules } from './properties.ts';
export { isRemoteDatabase, remoteDatabase } from './remote-database.ts';
export { Session } from './session.ts';
export {
  atVersion,
  branchMember,
  detailedRequest,
  displayPath,
  entered,
  type Home,
  type OnTable,
  onBranch,
  onTable,
  pathOf,
  type TableTarget,
  tableId,
} from './target.ts';
export { observed, type SpanLike, type TracerLike } from './tracing.ts';
