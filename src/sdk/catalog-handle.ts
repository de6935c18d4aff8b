/**
 * A catalog as its users see it, but for its tables: its life, its namespaces, its transactions and
 * what happens in it.
 */
import { type Env, systemEnv } from '../env.ts';
import {
  type AlterTransactionAction,
  type AlterTransactionResponse,
  type CallOptions,
  type CatalogWatch,
  type DescribeNamespaceResponse,
  type DescribeTransactionResponse,
  parseId,
  unsupported,
} from '../protocol/index.ts';
import {
  type CreateNamespaceOptions,
  type CreateNamespaceResult,
  checkedChanges,
  type DropNamespaceOptions,
  type DropNamespaceResult,
  type ListNamespacesResult,
  type NamespacePropertyChanges,
  type PageOptions,
  type PurgeTrashOptions,
  type PurgeTrashResult,
  pathAndOptions,
  type TrashedItem,
  type WatchOptions,
} from './connection-options.ts';
import {
  type Catalog,
  CONNECTION_OPTIONS,
  checkChangeOptions,
  checkOptionNames,
  defined,
  type Home,
  Lifetime,
  pathOf,
} from './handles/index.ts';
import { copy, isThere, page } from './requests.ts';
import { timeOf } from './table/index.ts';

export class CatalogHandle implements AsyncDisposable {
  /** The bare protocol. It ends with the connection. */
  readonly namespace: Catalog;
  protected readonly home: Home;
  readonly #label: string;
  #closing: Promise<void> | undefined;

  /** `connect` and `connectNamespace` make connections. */
  constructor(namespace: Catalog, options: { readonly label?: string; readonly env?: Env } = {}) {
    this.namespace = namespace;
    this.#label = options.label ?? 'custom';
    const lifetime = new Lifetime(() => 'The connection');
    this.home = { catalog: namespace, lifetime, env: options.env ?? systemEnv };
  }

  isOpen(): boolean {
    return this.home.lifetime.isOpen;
  }

  /** Ends the handles of its tables too. What is called after it throws Closed. */
  close(): Promise<void> {
    this.home.lifetime.end();
    this.#closing ??= this.namespace.close();
    return this.#closing;
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  /** One line for people. */
  display(): string {
    return `Connection(${this.#label})`;
  }

  async createNamespace(
    path: readonly string[],
    options: CreateNamespaceOptions = {},
  ): Promise<CreateNamespaceResult> {
    checkChangeOptions(options, CONNECTION_OPTIONS.createNamespace);
    const { mode, properties } = options;
    const request = defined({ id: this.#path(path, options), mode, properties: copy(properties) });
    const answer = await this.namespace.createNamespace(request, options);
    return defined({ properties: answer.properties, transactionId: answer.transaction_id });
  }

  async listNamespaces(options?: PageOptions): Promise<ListNamespacesResult>;
  async listNamespaces(
    path?: readonly string[],
    options?: PageOptions,
  ): Promise<ListNamespacesResult>;
  async listNamespaces(
    pathOrOptions?: readonly string[] | PageOptions,
    given?: PageOptions,
  ): Promise<ListNamespacesResult> {
    const [id, options] = this.enter(pathOrOptions, given, CONNECTION_OPTIONS.page);
    const answer = await this.namespace.listNamespaces({ id, ...page(options) }, options);
    return defined({ namespaces: answer.namespaces, pageToken: answer.page_token });
  }

  async describeNamespace(
    path: readonly string[],
    options?: CallOptions,
  ): Promise<DescribeNamespaceResponse> {
    return this.namespace.describeNamespace({ id: this.#path(path, options) }, options);
  }

  async namespaceExists(path: readonly string[], options?: CallOptions): Promise<boolean> {
    const id = this.#path(path, options);
    return isThere(this.namespace.namespaceExists({ id }, options), 'NamespaceNotFound');
  }

  async dropNamespace(
    path: readonly string[],
    options: DropNamespaceOptions = {},
  ): Promise<DropNamespaceResult> {
    checkChangeOptions(options, CONNECTION_OPTIONS.dropNamespace);
    const { mode, behavior } = options;
    const request = defined({ id: this.#path(path, options), mode, behavior });
    const answer = await this.namespace.dropNamespace(request, options);
    return defined({ properties: answer.properties, transactionId: answer.transaction_id });
  }

  /** Sets and removes single properties and answers what they are then. */
  async updateNamespaceProperties(
    path: readonly string[],
    changes: NamespacePropertyChanges,
    options?: CallOptions,
  ): Promise<Readonly<Record<string, string>>> {
    const id = this.#path(path, options);
    checkChangeOptions(options);
    const { namespace } = this;
    if (namespace.updateNamespaceProperties === undefined) {
      throw unsupported('UpdateNamespaceProperties');
    }
    const { properties, removals } = checkedChanges(changes);
    const request = defined({ id, properties, removals });
    return (await namespace.updateNamespaceProperties(request, options)).properties;
  }

  /** What was dropped at or below a namespace and can be brought back, newest drop first. */
  async listTrash(path: readonly string[] = [], options?: CallOptions): Promise<TrashedItem[]> {
    const id = this.#path(path, options);
    checkOptionNames(options, CONNECTION_OPTIONS.listTrash);
    if (this.namespace.listTrash === undefined) throw unsupported('ListTrash');
    const { entries } = await this.namespace.listTrash({ id }, options);
    return entries.map((entry) =>
      defined({
        trashId: entry.trash_id,
        kind: entry.kind,
        path: entry.id,
        droppedAt: entry.dropped_at === undefined ? undefined : new Date(entry.dropped_at),
        tables: entry.tables,
      }),
    );
  }

  /** Removes for good what was dropped: all of it, or what was dropped before a time. */
  async purgeTrash(options: PurgeTrashOptions = {}): Promise<PurgeTrashResult> {
    this.home.lifetime.enter(options);
    checkChangeOptions(options, CONNECTION_OPTIONS.purgeTrash);
    const { olderThan, dryRun } = options;
    if (this.namespace.purgeTrash === undefined) throw unsupported('PurgeTrash');
    const age = olderThan === undefined ? 0 : this.home.env.now() - timeOf(olderThan, 'olderThan');
    const request = defined({ older_than_millis: Math.max(0, Math.floor(age)), dry_run: dryRun });
    const { removed, dry_run } = await this.namespace.purgeTrash(request, options);
    return { removed, dryRun: dry_run };
  }

  /**
   * Events from now on, until the signal or the end of the connection ends them. Waiting for one does
   * not keep the process alive.
   */
  watch(options: WatchOptions = {}): CatalogWatch {
    checkOptionNames(options, CONNECTION_OPTIONS.watch);
    const { path, signal } = options;
    this.home.lifetime.enter(options);
    if (this.namespace.watch === undefined) throw unsupported('Watch');
    const id = path && pathOf(path, 'path');
    return this.namespace.watch(defined({ id }), defined({ signal }));
  }

  /** The transaction of a commit, by the id that the commit answered. */
  async describeTransaction(
    id: string | readonly string[],
    options?: CallOptions,
  ): Promise<DescribeTransactionResponse> {
    const path = this.#transaction(id, options);
    return this.namespace.describeTransaction({ id: path }, options);
  }

  async alterTransaction(
    id: string | readonly string[],
    actions: readonly AlterTransactionAction[],
    options?: CallOptions,
  ): Promise<AlterTransactionResponse> {
    const path = this.#transaction(id, options);
    checkChangeOptions(options);
    return this.namespace.alterTransaction({ id: path, actions: actions.slice() }, options);
  }

  protected enter<Options extends CallOptions>(
    pathOrOptions: readonly string[] | Options | undefined,
    given: Options | undefined,
    known: readonly string[],
  ): [string[], Options] {
    const [path, options] = pathAndOptions(pathOrOptions, given);
    checkOptionNames(options, known);
    this.home.lifetime.enter(options);
    return [path, options];
  }

  #path(path: readonly string[], options?: CallOptions): string[] {
    this.home.lifetime.enter(options);
    return pathOf(path, 'path');
  }

  #transaction(id: string | readonly string[], options?: CallOptions): string[] {
    this.home.lifetime.enter(options);
    return typeof id === 'string' ? parseId(id) : pathOf(id, 'id');
  }
}
