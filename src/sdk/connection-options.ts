/** What the methods of a connection take and answer. Types, and the reading of overloads. */
import { DirspaceError } from '../errors.ts';
import type { CallOptions } from '../protocol/namespace.ts';
import type { DataInput } from './data.ts';
import type { VectorColumns } from './infer.ts';
import type { SchemaInput } from './schema-like.ts';
import { pathOf } from './target.ts';

type Strings = Readonly<Record<string, string>>;

export interface PageOptions extends CallOptions {
  /** At most so many in one answer. */
  readonly limit?: number;
  /** From the answer before this one. */
  readonly pageToken?: string;
}

export interface ListTablesOptions extends PageOptions {
  /** False leaves out tables that are declared and have no data. */
  readonly includeDeclared?: boolean;
}

export interface TableNamesOptions extends CallOptions {
  /** Names after this one. */
  readonly startAfter?: string;
  /** At most so many; all of them if absent. */
  readonly limit?: number;
}

export interface ListNamespacesResult {
  readonly namespaces: string[];
  readonly pageToken?: string;
}

export interface ListTablesResult {
  readonly tables: string[];
  readonly pageToken?: string;
}

export interface CreateNamespaceOptions extends CallOptions {
  readonly mode?: 'create' | 'exist_ok' | 'overwrite';
  readonly properties?: Strings;
}

export interface CreateNamespaceResult {
  readonly properties?: Record<string, string>;
  readonly transactionId?: string;
}

export interface DropNamespaceOptions extends CallOptions {
  /** `skip` makes dropping what is not there no error. */
  readonly mode?: 'fail' | 'skip';
  /** `cascade` drops what is in it too. */
  readonly behavior?: 'restrict' | 'cascade';
}

export interface DropNamespaceResult {
  readonly properties?: Record<string, string>;
  readonly transactionId?: string[];
}

export interface NamespacePropertyChanges {
  readonly properties?: Strings;
  /** Names to remove. */
  readonly removals?: readonly string[];
}

export interface CreateTableOptions extends CallOptions {
  /** `overwrite` replaces schema and rows as a new version of the table that is there. */
  readonly mode?: 'create' | 'exist_ok' | 'overwrite';
  /** Opens a table that is there instead of failing, and ignores the data. */
  readonly existOk?: boolean;
  /** Wins over everything inferred from the data. */
  readonly schema?: SchemaInput;
  readonly vectorColumns?: VectorColumns;
  readonly properties?: Strings;
  readonly storageOptions?: Strings;
}

export type CreateTableArguments = CreateTableOptions & {
  readonly name: string;
  readonly data: DataInput;
};

export interface DeclareTableOptions extends CallOptions {
  /** Relative to the root, inside it; the usual place if absent. */
  readonly location?: string;
  readonly properties?: Strings;
  readonly vendCredentials?: boolean;
}

export interface RegisterTableOptions extends CallOptions {
  readonly mode?: 'create' | 'overwrite';
  readonly properties?: Strings;
}

export interface RenameTableOptions extends CallOptions {
  /** Where the table is; the root if absent. */
  readonly namespacePath?: readonly string[];
  /** Where it goes; it stays where it is if absent. */
  readonly newNamespacePath?: readonly string[];
}

export interface TableExistsOptions extends CallOptions {
  readonly version?: number;
}

export interface WatchOptions {
  /** The namespace to watch, with all below it; everything if absent. */
  readonly path?: readonly string[];
  readonly signal?: AbortSignal;
}

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

/** The one mode that `mode` and `existOk` say together. */
export function createMode({ mode, existOk }: CreateTableOptions): string | undefined {
  return existOk === true && (mode === undefined || mode === 'create') ? 'exist_ok' : mode;
}
