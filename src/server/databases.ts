/**
 * `Databases` finds the catalog (database) of a request, and the namespace that the request sees as
 * its root. `target` reads both from the headers or the host; if there is only one database, it
 * needs no name. If so configured, the namespaces of one root are the databases. `catalog` opens a
 * catalog on first use. It throws NamespaceNotFound for an unknown database, and ServiceUnavailable
 * for one whose folder is gone. `begin` checks the folders, or makes them. Failures of calls are
 * reported to `noteFailure`, which closes a catalog whose folder is gone. `checkUsable` checks the
 * roots for `/ready`. `close` closes the catalogs that were opened here; those that were passed in
 * open stay open.
 */
import { readdir, stat } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { DirspaceError, isDirspaceError } from '../errors.ts';
import { directoryOf } from '../local-path.ts';
import {
  checkComponent,
  checkPath,
  DEFAULT_DELIMITER,
  type Namespace,
  type ObjectPath,
} from '../protocol/index.ts';
import type { RequestHeaders } from './auth/index.ts';
import { isRootGone, LostFolders, rootGone } from './lost-folders.ts';
import { FolderTrials, isMissing, isSetUp, requireFolders } from './root-folders.ts';
import { flag, mapOf, object, text, texts } from './settings/index.ts';

/** Where requests say which database they are for. */
export interface DatabaseRouting {
  /** Headers that may hold the database's name; two with different names are refused. */
  readonly headers?: readonly string[];
  /** Headers that hold the path of the namespace that requests see as their root. */
  readonly prefixHeaders?: readonly string[];
  /** Databases of whole host names; else the first label of a host is tried. */
  readonly hosts?: Readonly<Record<string, string>>;
  /**
   * The namespaces right below the one root are the databases: a request that names one sees it as its root,
   * and one that names none lists, creates and drops them as namespaces. LanceDB's `connect_catalog` works so.
   */
  readonly namespaces?: boolean;
}

const HEADERS = ['x-service-database', 'x-lancedb-database'];
const PREFIX_HEADERS = ['x-service-database-prefix', 'x-lancedb-database-prefix'];

/** Exactly one of them. */
export interface DatabaseSource {
  /** One catalog, whatever database is named. */
  readonly namespace?: Namespace;
  /** A path or a `file:` URL, as all roots here. */
  readonly root?: string;
  /** Catalogs by name: the path of a root, or a catalog that is open already. */
  readonly databases?: Readonly<Record<string, string | Namespace>>;
  /** Every folder in this one is the root of a catalog. */
  readonly databasesRoot?: string;
}

export type OpenCatalog = (root: string) => Promise<Namespace>;

export interface Target {
  /** The name the catalog goes by; empty where there is only one, undefined where none is named. */
  readonly database: string | undefined;
  /** Whether the name follows from the host: a host may name nothing, and be no mistake. */
  readonly byHost: boolean;
  /** What ids of the request are relative to. */
  readonly prefix: ObjectPath;
}

export class Databases {
  readonly #source: DatabaseSource;
  readonly #open: OpenCatalog;
  readonly #readOnly: boolean;
  /** Whether the folder of databases was ever seen: one that is missing since is lost. */
  #rootWasThere = false;
  readonly #byNamespace: boolean;
  readonly #headers: readonly string[];
  readonly #prefixHeaders: readonly string[];
  readonly #hosts: ReadonlyMap<string, string>;
  readonly #opened = new Map<string, Namespace | Promise<Namespace>>();
  readonly #trials = new FolderTrials();
  /** Roots that held a catalog when they were first seen. */
  readonly #setUp = new Set<string>();
  readonly #lost = new LostFolders();

  constructor(
    source: DatabaseSource,
    routing: DatabaseRouting,
    open: OpenCatalog,
    readOnly = false,
  ) {
    const given = ['namespace', 'root', 'databases', 'databasesRoot'].filter(
      (name) => source[name as keyof DatabaseSource] !== undefined,
    );
    if (given.length !== 1) {
      const found = given.length === 0 ? 'none' : given.join(' and ');
      throw new DirspaceError(
        'InvalidInput',
        `A server needs exactly one of namespace, root, databases and databasesRoot; found ${found}.`,
      );
    }
    object(routing, 'databaseRouting', ['headers', 'prefixHeaders', 'hosts', 'namespaces']);
    const headers = texts(routing.headers ?? HEADERS, 'databaseRouting.headers');
    const prefixes = texts(
      routing.prefixHeaders ?? PREFIX_HEADERS,
      'databaseRouting.prefixHeaders',
    );
    const hosts = mapOf(routing.hosts ?? {}, 'databaseRouting.hosts', text);
    this.#byNamespace = flag(routing.namespaces ?? false, 'databaseRouting.namespaces');
    if (this.#byNamespace && source.root === undefined && source.namespace === undefined) {
      throw new DirspaceError(
        'InvalidInput',
        'databaseRouting.namespaces takes the namespaces of one root for databases, and this server has several roots. Serve one root, or leave it out.',
      );
    }
    for (const name of Object.keys(source.databases ?? {})) checkComponent(name);
    this.#source = withPaths(source);
    this.#open = open;
    this.#readOnly = readOnly;
    this.#headers = headers.map((name) => name.toLowerCase());
    this.#prefixHeaders = prefixes.map((name) => name.toLowerCase());
    this.#hosts = new Map(Object.entries(hosts).map(([host, name]) => [host.toLowerCase(), name]));
  }

  /**
   * Makes sure that every folder to serve is there, or makes it where `create`. @throws
   * NamespaceNotFound, and InvalidInput where nothing may be made
   */
  async begin(create: boolean): Promise<void> {
    const { root, databases = {}, databasesRoot } = this.#source;
    const folders = [root, databasesRoot, ...Object.values(databases)].filter(
      (value): value is string => typeof value === 'string',
    );
    await requireFolders(folders, { create, readOnly: this.#readOnly });
    this.#rootWasThere = true;
    for (const folder of folders) if (isSetUp(folder)) this.#setUp.add(folder);
  }

  /** Paths that must not be shown. */
  get roots(): readonly string[] {
    const { root, databases = {}, databasesRoot } = this.#source;
    return [root, databasesRoot, ...Object.values(databases)]
      .filter((value): value is string => typeof value === 'string')
      .map((path) => resolve(path))
      .filter((path) => path.length > 1);
  }

  /** Where requests say what they are for. A single catalog needs no name. */
  get routingHeaders(): {
    readonly headers: readonly string[];
    readonly prefixHeaders: readonly string[];
  } {
    const isNamed = !this.single || this.#byNamespace;
    return { headers: isNamed ? this.#headers : [], prefixHeaders: this.#prefixHeaders };
  }

  /** Whether any catalog is opened here; else all were given open. */
  get opens(): boolean {
    const { namespace, databases = {} } = this.#source;
    if (namespace !== undefined) return false;
    const given = Object.values(databases);
    return given.length === 0 || given.some((value) => typeof value === 'string');
  }

  /** Names of hosts that select a database. */
  get hosts(): readonly string[] {
    return [...this.#hosts.keys()];
  }

  get single(): boolean {
    return this.#source.namespace !== undefined || this.#source.root !== undefined;
  }

  /** The databases that a header can name; undefined where there is only one catalog. */
  async names(): Promise<readonly string[] | undefined> {
    const { databases, databasesRoot } = this.#source;
    if (databases !== undefined) return Object.keys(databases).sort();
    if (databasesRoot === undefined) return undefined;
    const entries = await this.#folders(databasesRoot);
    return entries.sort();
  }

  /** Does not ask whether what a header names is there. */
  target(headers: RequestHeaders): Target | Promise<Target> {
    const below = prefixPath(onlyHeader(headers, this.#prefixHeaders));
    const namespace = this.#byNamespace ? onlyHeader(headers, this.#headers) : undefined;
    const prefix = namespace === undefined ? below : [checkComponent(namespace), ...below];
    const named = this.single ? '' : onlyHeader(headers, this.#headers);
    if (named !== undefined) return { database: named, byHost: false, prefix };
    return this.#byHost(headers, prefix);
  }

  async #byHost(headers: RequestHeaders, prefix: ObjectPath): Promise<Target> {
    const host = hostName(headers.host);
    const named = this.#hosts.get(host) ?? (await this.#ofLabel(host));
    if (named !== undefined) return { database: named, byHost: true, prefix };
    return { database: await this.#only(), byHost: false, prefix };
  }

  /** The error for a request that names none of several databases. */
  unnamed(): DirspaceError {
    return new DirspaceError(
      'InvalidInput',
      `The request names no database; send its name in the header ${this.#headers[0] ?? 'host'}.`,
    );
  }

  async #ofLabel(host: string): Promise<string | undefined> {
    const [label = '', ...rest] = host.split('.');
    if (rest.length === 0 || /^[\d.]+$/.test(host)) return undefined;
    return (await this.#exists(label)) ? label : undefined;
  }

  async #only(): Promise<string | undefined> {
    const { databases, databasesRoot } = this.#source;
    if (databases !== undefined) {
      const names = Object.keys(databases);
      return names.length === 1 ? names[0] : undefined;
    }
    const names = await this.#folders(databasesRoot as string);
    return names.length === 1 ? names[0] : undefined;
  }

  /** The names of the databases in a folder. */
  async #folders(databasesRoot: string): Promise<string[]> {
    const entries = await readdir(databasesRoot, { withFileTypes: true }).catch(
      (error: NodeJS.ErrnoException) => {
        if (error.code === 'ENOENT' && !this.#rootWasThere) return [];
        throw databasesGone(error);
      },
    );
    this.#rootWasThere ||= entries.length > 0;
    const found: string[] = [];
    for (const entry of entries) {
      if (!isName(entry.name)) continue;
      const isFolder =
        entry.isDirectory() ||
        (entry.isSymbolicLink() && (await isFolderAt(join(databasesRoot, entry.name))));
      if (isFolder) found.push(entry.name);
    }
    return found;
  }

  async #exists(name: string): Promise<boolean> {
    const { databases, databasesRoot } = this.#source;
    if (databases !== undefined) return Object.hasOwn(databases, name);
    if (!isName(name)) return false;
    const folder = databasesRoot as string;
    const isFolder = await isFolderAt(join(folder, name));
    if (isFolder !== undefined) {
      this.#rootWasThere = true;
      return isFolder;
    }
    // A lost disk is not a database that is not there.
    await stat(folder).catch((error: NodeJS.ErrnoException) => {
      if (this.#rootWasThere) throw databasesGone(error);
    });
    return false;
  }

  /** The catalog of that name, opened when it is first asked for. Throws NamespaceNotFound. */
  catalog(database: string): Namespace | Promise<Namespace> {
    if (this.#source.namespace !== undefined) return this.#source.namespace;
    return this.#opened.get(database) ?? this.#openOnce(database);
  }

  #openOnce(database: string): Promise<Namespace> {
    const opening = this.#openNamed(database);
    this.#opened.set(database, opening);
    opening.then(
      (catalog) => {
        if (this.#opened.has(database)) this.#opened.set(database, catalog);
      },
      // What failed may work later, such as after the folder was made.
      () => this.#opened.delete(database),
    );
    return opening;
  }

  async #openNamed(database: string): Promise<Namespace> {
    const { root, databases } = this.#source;
    if (root !== undefined) return this.#openRoot(root);
    if (!(await this.#exists(database))) {
      this.#lost.missing(database);
      throw new DirspaceError(
        'NamespaceNotFound',
        `There is no database ${JSON.stringify(database.slice(0, 80))}.`,
      );
    }
    if (databases === undefined) return this.#openFolder(database);
    const found = databases[database] as string | Namespace;
    return typeof found === 'string' ? this.#openRoot(found) : found;
  }

  async #openFolder(database: string): Promise<Namespace> {
    const folder = join(this.#source.databasesRoot as string, database);
    this.#lost.checkFound(database, folder);
    const catalog = await this.#openRoot(folder);
    await this.#lost.opened(database, folder);
    return catalog;
  }

  /**
   * To be told of what a call of a database failed with. A catalog whose folder in `databasesRoot` is gone
   * is let go, so that the next request finds what is there then.
   */
  async noteFailure(database: string, failure: unknown): Promise<void> {
    const { databasesRoot } = this.#source;
    const catalog = this.#opened.get(database);
    if (databasesRoot === undefined || catalog === undefined || catalog instanceof Promise) return;
    if (!isRootGone(failure)) return;
    this.#opened.delete(database);
    await this.#lost.note(database, join(databasesRoot, database), databasesRoot);
    await catalog.close();
  }

  /** What is wrong with a root is for the log: the request is not to blame. */
  async #openRoot(root: string): Promise<Namespace> {
    const wasSetUp = this.#setUp.has(root);
    if (this.#rootWasThere && (wasSetUp ? !isSetUp(root) : await isMissing(root))) throw rootGone();
    try {
      return await this.#open(root);
    } catch (cause) {
      if (!isDirspaceError(cause, 'InvalidInput')) throw cause;
      throw new DirspaceError('Internal', `The root ${root} cannot be opened.`, { cause });
    }
  }

  /**
   * Whether the roots can be read, and written unless they are opened read-only, and the catalogs
   * that are open are still there. Opens a single root. @throws what is wrong
   */
  async checkUsable(): Promise<void> {
    const { root, databases = {} } = this.#source;
    if (root !== undefined) await this.catalog('');
    const within = this.#source.databasesRoot;
    const names = within === undefined ? [] : [...this.#opened.keys()];
    const folders = [...this.roots, ...names.map((name) => join(within as string, name))];
    for (const folder of folders) await this.#trials.check(folder, this.#readOnly);
    const named = Object.values(databases);
    for (const catalog of await Promise.all(this.#opened.values())) {
      if (!named.includes(catalog)) await catalog.namespaceExists({ id: [] });
    }
  }

  /** Closes the catalogs that were opened here; those that were given stay open. */
  async close(): Promise<void> {
    const { databases = {} } = this.#source;
    const given = new Set(Object.values(databases).filter((value) => typeof value !== 'string'));
    const opened = await Promise.allSettled(this.#opened.values());
    this.#opened.clear();
    await Promise.all(
      opened.map(async (result) => {
        if (result.status === 'fulfilled' && !given.has(result.value)) await result.value.close();
      }),
    );
  }
}

function databasesGone(cause: NodeJS.ErrnoException): DirspaceError {
  return new DirspaceError(
    'ServiceUnavailable',
    'The folder of the databases is gone or cannot be read; bring it back.',
    { cause },
  );
}

/** Roots that are `file:` URLs are paths from here on. */
function withPaths(source: DatabaseSource): DatabaseSource {
  const { root, databases, databasesRoot } = source;
  const placed = (value: string | Namespace): string | Namespace =>
    typeof value === 'string' ? directoryOf(value) : value;
  return {
    ...source,
    ...(root === undefined ? {} : { root: directoryOf(root) }),
    ...(databasesRoot === undefined ? {} : { databasesRoot: directoryOf(databasesRoot) }),
    ...(databases === undefined
      ? {}
      : {
          databases: Object.fromEntries(
            Object.entries(databases).map(([name, value]) => [name, placed(value)]),
          ),
        }),
  };
}

/** Whether a path, or what it is a link to, is a folder; undefined where nothing is there. */
const isFolderAt = (path: string): Promise<boolean | undefined> =>
  stat(path).then(
    (found) => found.isDirectory(),
    () => undefined,
  );

/** A folder whose name could not be sent or is hidden is no database. */
const isName = (name: string): boolean => /^[A-Za-z0-9_-][A-Za-z0-9_.-]*$/.test(name);

/** The value of any of the headers. @throws InvalidInput where two of them differ */
function onlyHeader(headers: RequestHeaders, names: readonly string[]): string | undefined {
  let found: Header | undefined;
  for (const name of names) {
    const value = headers[name];
    if (typeof value !== 'string' || value === '' || value === found?.value) continue;
    if (found !== undefined) throw twoValues(found, { name, value });
    found = { name, value };
  }
  return found?.value;
}

interface Header {
  readonly name: string;
  readonly value: string;
}

const shownHeader = ({ name, value }: Header): string =>
  `${name} is ${JSON.stringify(value.slice(0, 120))}`;

const twoValues = (first: Header, second: Header): DirspaceError =>
  new DirspaceError(
    'InvalidInput',
    `The headers of the request say two different things: ${shownHeader(first)} and ${shownHeader(second)}. Send one of them; nothing was changed.`,
  );

/** The path in components joined by `$` or `/`. */
function prefixPath(header: string | undefined): ObjectPath {
  if (header === undefined || header === DEFAULT_DELIMITER) return [];
  return checkPath(header.split(/[$/]/));
}

/** Without the port, in lower case. */
function hostName(host: string | readonly string[] | undefined): string {
  return String(host ?? '')
    .replace(/:\d+$/, '')
    .toLowerCase();
}
