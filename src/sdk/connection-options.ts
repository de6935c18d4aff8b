/**
 * Defines the options and results of a connection's methods for namespaces and tables, such as
 * `CreateTableOptions`. Functions such as `createMode`, `propertiesOf` and `page` translate options
 * into members of requests. `pathAndOptions` reads the arguments of methods whose path may be left
 * out, and `namesFrom` collects the names of all pages. InvalidInput is thrown for options given
 * twice, for `lance` or `compression` that contradict the property of that name, for unknown
 * members of `NamespacePropertyChanges`, and for a limit of `namesFrom` that is no count. The
 * catalog checks the rest.
 */

import { type Compression, checkCompression } from '../compression.ts';
import { DirspaceError } from '../errors.ts';
import { checkLanceMode, type LanceMode } from '../lance-mode.ts';
import { type CallOptions, CREATE_MODES, parseMode } from '../protocol/index.ts';
import type { AnyRow, RowsInput, SchemaInput, VectorColumns } from './convert/index.ts';
import type { EmbeddingFunctionConfig } from './embedding/index.ts';
import { defined, pathOf } from './handles/index.ts';
import type { VersionSelection } from './table/index.ts';

type Strings = Readonly<Record<string, string>>;

/** One page of a list. */
export interface PageOptions extends CallOptions {
  /** At most so many in one answer. */
  readonly limit?: number;
  /** From the answer before this one. */
  readonly pageToken?: string;
}

/** One page of namespaces. */
export type ListNamespacesOptions = PageOptions;

/** One page of tables. */
export interface ListTablesOptions extends PageOptions {
  /** False leaves out tables that are declared and have no data. */
  readonly includeDeclared?: boolean;
}

/** A part of all names. */
export interface TableNamesOptions extends CallOptions {
  /** Names after this one. */
  readonly startAfter?: string;
  /** At most so many; all of them if absent. */
  readonly limit?: number;
}

/** One page of names; `pageToken` asks for the next, and is absent on the last. */
export interface ListNamespacesResult {
  readonly namespaces: string[];
  readonly pageToken?: string;
}

/** One page of names; `pageToken` asks for the next, and is absent on the last. */
export interface ListTablesResult {
  readonly tables: string[];
  readonly pageToken?: string;
}

/** How to make a namespace. */
export interface CreateNamespaceOptions extends CallOptions {
  /** `overwrite` moves one that is there to the trash, with all it holds. */
  readonly mode?: 'create' | 'exist_ok' | 'overwrite';
  readonly properties?: Strings;
}

/** The properties it has now. */
export interface CreateNamespaceResult {
  readonly properties?: Record<string, string>;
  readonly transactionId?: string;
}

/** How to drop a namespace: only an empty one if absent. */
export interface DropNamespaceOptions extends CallOptions {
  /** `skip` makes dropping what is not there no error. */
  readonly mode?: 'fail' | 'skip';
  /** `cascade` drops what is in it too. */
  readonly behavior?: 'restrict' | 'cascade';
}

/** The properties it had. */
export interface DropNamespaceResult {
  readonly properties?: Record<string, string>;
  readonly transactionId?: string[];
}

/** Changes of single properties; the others stay. */
export interface NamespacePropertyChanges {
  /** Set or replaced. */
  readonly properties?: Strings;
  /** Names to remove. */
  readonly removals?: readonly string[];
}

/** How to make a table. */
export interface CreateTableOptions extends CallOptions {
  /** `overwrite` replaces schema and rows as a new version of the table that is there. */
  readonly mode?: 'create' | 'exist_ok' | 'overwrite';
  /** With the mode `create`: opens a table that is there instead of failing, and ignores the data. */
  readonly existOk?: boolean;
  /** Wins over everything inferred from the data. */
  readonly schema?: SchemaInput;
  /** Columns of number arrays to store as vectors, with the type of their elements. */
  readonly vectorColumns?: VectorColumns;
  /** Fills a column of vectors by another; the table keeps its name, and is searched by text through it. */
  readonly embeddingFunction?: EmbeddingFunctionConfig;
  readonly properties?: Strings;
  /**
   * Whether the table opens in Lance's readers too; what the catalog says if absent. Kept as the property
   * `lance`. Overwriting can switch it on, and not off again.
   */
  readonly lance?: LanceMode;
  /**
   * How its fragments are compressed: `zstd` wherever that saves 15 %, `auto` only texts that get smaller
   * than two fifths, which is so if absent. Kept as the property `compression`, and changed by
   * `optimize({compression})`.
   */
  readonly compression?: Compression;
  /** For remote catalogs; a directory refuses any. */
  readonly storageOptions?: Strings;
  /** Of files in Lance's format: `stable` and `2.0` is what they are, others are refused. */
  readonly dataStorageVersion?: string;
  /** Of files in Lance's format: `true` is how manifests are named, `false` is refused. */
  readonly enableV2ManifestPaths?: boolean;
}

/** All of `createTable` in one object. */
export type CreateTableArguments<RowType = AnyRow> = CreateTableOptions & {
  readonly name: string;
  readonly data: RowsInput<RowType>;
};

/** How to declare a table. */
export interface DeclareTableOptions extends CallOptions {
  /** Relative to the root, inside it; the usual place if absent. */
  readonly location?: string;
  readonly properties?: Strings;
  /** Asks for `storage_options` that give access to its location. */
  readonly vendCredentials?: boolean;
}

/** How to take in a table that lies elsewhere. */
export interface RegisterTableOptions extends CallOptions {
  /** `overwrite` moves a table of that name to the trash. */
  readonly mode?: 'create' | 'overwrite';
  readonly properties?: Strings;
}

/** Which version of the source is cloned, and where to. */
export interface CloneTableOptions extends CallOptions {
  /** The namespace of the new table; the root if absent. */
  readonly targetNamespacePath?: readonly string[];
  /** The namespace of the source, where it is named; the root if absent. */
  readonly sourceNamespacePath?: readonly string[];
  /** The newest version of the main branch where none of these is given; a tag stands alone. */
  readonly sourceBranch?: string;
  readonly sourceVersion?: number;
  readonly sourceTag?: string;
  /** False copies all files, so that no byte on the disk is shared. */
  readonly isShallow?: boolean;
  /** Properties that replace those of the source. */
  readonly properties?: Readonly<Record<string, string>>;
}

/** Where a table is and where it goes. */
export interface RenameTableOptions extends CallOptions {
  /** Where the table is; the root if absent. */
  readonly namespacePath?: readonly string[];
  /** Where it goes; it stays where it is if absent. */
  readonly newNamespacePath?: readonly string[];
}

/** The version to open; the newest one of the main branch if absent. */
export type OpenTableOptions = VersionSelection &
  CallOptions & {
    /** Refused unless it is empty: the catalog reads the files of its tables. */
    readonly storageOptions?: Strings;
    /** Refused: caches belong to the connection. */
    readonly indexCacheSize?: number;
  };

/** What has to be there. */
export interface TableExistsOptions extends CallOptions {
  /** A version of the main branch that must be there too. */
  readonly version?: number;
}

/** What to watch, and for how long. */
export interface WatchOptions {
  /** The namespace to watch, with all below it; everything if absent. */
  readonly path?: readonly string[];
  /** Ends the events; closing the connection does too. */
  readonly signal?: AbortSignal;
}

/** Arguments of which the path may be left out. */
export type PathAndOptions<Options> =
  | [options?: Options | undefined]
  | [path?: readonly string[] | undefined, options?: Options | undefined];

/** Reads `(path, options)`, `(options)` and `(path)` alike. */
export function pathAndOptions<Options extends object>(
  pathOrOptions: readonly string[] | Options | undefined,
  options: Options | undefined,
): [path: string[], options: Options] {
  if (pathOrOptions === undefined || pathOrOptions === null)
    return [[], options ?? ({} as Options)];
  if (isPath(pathOrOptions)) return [pathOf(pathOrOptions), options ?? ({} as Options)];
  if (typeof pathOrOptions !== 'object') pathOf(pathOrOptions);
  if (options !== undefined) {
    throw new DirspaceError(
      'InvalidInput',
      'Options were given twice; the path comes before them.',
    );
  }
  return [[], pathOrOptions];
}

const isPath = (value: unknown): value is readonly string[] => Array.isArray(value);

/** The mode that the options `mode`, in any spelling, and `existOk` ask for together. */
export function createMode({ mode, existOk }: CreateTableOptions): string | undefined {
  if (existOk !== true) return mode;
  return parseMode(mode ?? undefined, CREATE_MODES) === 'Create' ? 'exist_ok' : mode;
}

/** All that these have is said by their names, so that one not known is a mistake. */
export function checkedChanges(changes: NamespacePropertyChanges): NamespacePropertyChanges {
  const isObject = typeof changes === 'object' && changes !== null;
  const strange = isObject
    ? Object.keys(changes).find((name) => name !== 'properties' && name !== 'removals')
    : undefined;
  if (isObject && strange === undefined) return changes;
  const found = strange === undefined ? '' : `; there is no ${JSON.stringify(strange)}`;
  throw new DirspaceError(
    'InvalidInput',
    `Changes of a namespace are an object with "properties" to set, and "removals" that names those to remove${found}.`,
  );
}

/** What is no object of strings is left for the catalog to refuse. */
export const copy = (strings: Strings | undefined): Record<string, string> | undefined =>
  typeof strings === 'object' && !Array.isArray(strings) ? { ...strings } : strings;

/** The properties of a new table: `lance` and `compression` are among them. @throws InvalidInput */
export function propertiesOf(options: CreateTableOptions): Strings | undefined {
  const { properties, lance, compression } = options;
  const own: Record<string, string> = defined({
    lance: lance === undefined ? undefined : checkLanceMode(lance),
    compression: compression === undefined ? undefined : checkCompression(compression),
  });
  const copied = copy(properties);
  // What is no object of strings is left for the catalog to refuse.
  if (copied !== undefined && (typeof copied !== 'object' || Array.isArray(copied))) return copied;
  for (const [name, value] of Object.entries(own)) {
    const other = copied?.[name];
    if (other === undefined || other === value) continue;
    throw new DirspaceError(
      'InvalidInput',
      `The option ${name} is "${value}", and the property ${name} is ${JSON.stringify(other).slice(0, 80)}. Give one of them.`,
      { details: { property: name } },
    );
  }
  return Object.keys(own).length === 0 ? copied : { ...copied, ...own };
}

/** The members of a request for one page. */
export const page = ({ limit, pageToken }: PageOptions): { limit?: number; page_token?: string } =>
  defined({ limit, page_token: pageToken });

/** The names on the pages that `listed` fetches. @throws InvalidInput for a limit that counts nothing */
export async function namesFrom(
  { startAfter, limit = Infinity }: TableNamesOptions,
  listed: () => AsyncIterable<{ readonly tables: readonly string[] }>,
): Promise<string[]> {
  const names: string[] = [];
  if (limit !== Infinity && !(Number.isSafeInteger(limit) && limit >= 0)) {
    throw new DirspaceError('InvalidInput', `limit is ${limit}; give a whole number from 0 on.`);
  }
  if (limit === 0) return names;
  for await (const { tables } of listed()) {
    for (const name of tables) {
      if (startAfter !== undefined && name <= startAfter) continue;
      if (names.push(name) >= limit) return names;
    }
  }
  return names;
}

/** The member of a request that leaves out tables without data. */
export const declared = ({ includeDeclared }: ListTablesOptions): { include_declared?: boolean } =>
  defined({ include_declared: includeDeclared });
