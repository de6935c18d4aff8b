/**
 * Defines the request and response types of TakeRows, FetchBlobs, ProfileTable, DiffTable,
 * ListTableFiles, RunSql and ExplainSql; TakeRows, FetchBlobs and RunSql answer with Arrow. Values
 * in the JSON of profiles and differences are `ShownValue`. `FETCHED_FROM` names the metadata of
 * answers of FetchBlobs. ListTableFiles describes the Arrow files that hold the rows of a version,
 * for programs that read them without this package.
 */
import type { QueryColumns } from './models/index.ts';

/** Rows named one by one: by `row_ids`, or by `offsets` among the live rows of the version. */
export interface TakeRowsRequest {
  readonly id: readonly string[];
  readonly incarnation?: string;
  readonly branch?: string;
  readonly version?: number;
  readonly row_ids?: readonly bigint[];
  readonly offsets?: readonly bigint[];
  readonly columns?: QueryColumns;
  readonly with_row_id?: boolean;
}

/**
 * Blobs of the rows with these ids, in that order. The answer has a column of the bytes, called like
 * the column asked for, and `_size`, how long each blob is as a whole; both are null where it is. The
 * metadata of its schema (`FETCHED_FROM`) has the version that was read, and the table's incarnation.
 */
export interface FetchBlobsRequest {
  readonly id: readonly string[];
  readonly incarnation?: string;
  readonly branch?: string;
  readonly version?: number;
  /** A column of blobs; a member of a struct by the names with dots between them. */
  readonly column: string;
  readonly row_ids: readonly bigint[];
  /** Where the bytes begin in each blob, 0 if absent; below 0 they are counted from its end. */
  readonly offset?: number;
  /** How many bytes of each blob, at most; all to its end if absent. */
  readonly length?: number;
}

/** Keys of the metadata by which an answer of FetchBlobs tells where it came from. */
export const FETCHED_FROM = {
  version: 'dirspace:version',
  incarnation: 'dirspace:incarnation',
} as const;

/**
 * A value as JSON holds it: integers beyond 2^53, NaN, infinities, decimals, dates and times are
 * text, bytes are hexadecimal digits, nested values are JSON in text, and text is cut after 256
 * characters.
 */
export type ShownValue = string | number | boolean | null;

/** Which columns of which rows to look at, and for how long. */
export interface ProfileTableRequest {
  readonly id: readonly string[];
  readonly incarnation?: string;
  readonly branch?: string;
  readonly version?: number;
  /** Names the version, in place of `branch` and `version`. */
  readonly tag?: string;
  /** All of them if absent. */
  readonly columns?: readonly string[];
  /** SQL; the rows for which it is true. All rows if absent. */
  readonly filter?: string;
  /** After so many milliseconds no other batch of rows is begun; 200 if absent. */
  readonly budget_millis?: number;
  /** Buckets of a histogram, at most: 1 to 1,000; 20 if absent. */
  readonly buckets?: number;
  /** Most frequent values of a column, at most 1,000; 10 if absent. */
  readonly top?: number;
}

/** Statistics of the columns of a version. */
export interface ProfileTableResponse {
  readonly version: number;
  readonly branch?: string;
  /** Rows of the version, or those that the filter selects: an estimate where `rows_exact` is false. */
  readonly rows: number;
  readonly rows_exact: boolean;
  /** Whether some rows were not looked at, as the time was up. */
  readonly sampled: boolean;
  /** Rows that were looked at, and how many of them the filter selects. */
  readonly rows_scanned: number;
  readonly rows_matched: number;
  readonly elapsed_millis: number;
  readonly columns: readonly ProfiledColumn[];
}

/** Statistics of one column. Counts are of the rows that were scanned. */
export interface ProfiledColumn {
  readonly name: string;
  readonly data_type: string;
  /** `number`, `time`, `boolean`, `text`, `binary`, `vector`, `list` or `other`. */
  readonly kind: string;
  /** The rows that the counts are of. */
  readonly rows: number;
  readonly nulls: number;
  readonly nans: number;
  /** The nulls of all rows, where they are known though not all rows were looked at. */
  readonly all_nulls?: number;
  /** The least and the greatest value; null where there is none. NaN is neither. */
  readonly min: ShownValue;
  readonly max: ShownValue;
  /** Whether they are those of all rows; false also for texts so long that a part is told. */
  readonly bounds_exact: boolean;
  /** The mean of the numbers that are not NaN. */
  readonly mean?: string | number;
  /** Distinct values of all rows, without null: an estimate where `distinct_exact` is false. */
  readonly distinct: number;
  readonly distinct_exact: boolean;
  /** The most frequent values. One that occurs once is there only where all values are. */
  readonly top: readonly { readonly value: ShownValue; readonly count: number }[];
  /** False where another value may be as frequent. */
  readonly top_exact: boolean;
  /** Absent where there is nothing to measure. */
  readonly histogram?: ProfiledHistogram;
}

/** Counts between edges. */
export interface ProfiledHistogram {
  /** `values`, `lengths` (characters, bytes, items), `norms` of vectors, or `booleans`. */
  readonly of: string;
  /**
   * Ascending and equally far apart; one more than there are counts, and a value on an edge is in the
   * bucket above it. Of booleans: false and true.
   */
  readonly edges: readonly ShownValue[];
  readonly counts: readonly number[];
}

/** A version: the newest one of main if empty. */
export interface VersionName {
  readonly branch?: string;
  readonly version?: number;
  /** In place of the other two. */
  readonly tag?: string;
}

/** The versions to compare. */
export interface DiffTableRequest {
  readonly id: readonly string[];
  readonly incarnation?: string;
  readonly from: VersionName;
  /** The newest one of main if absent. */
  readonly to?: VersionName;
  /**
   * Key columns by which rows are matched, named as in `to`; an empty list matches whole rows. If
   * absent no row is read: rows are told apart by the file that they were written to.
   */
  readonly on?: readonly string[];
  /** Examples of each kind of rows, at most 1,000; 10 if absent. */
  readonly limit?: number;
}

/** The differences between two versions. */
export interface DiffTableResponse {
  readonly from: DiffVersion;
  readonly to: DiffVersion;
  readonly schema: {
    readonly added: readonly DiffColumn[];
    readonly dropped: readonly DiffColumn[];
    readonly changed: readonly DiffColumnChange[];
  };
  /** Of the metadata of the table and of its schema. */
  readonly metadata: DiffMap;
  /** Of its properties, where versions carry them. */
  readonly properties: DiffMap;
  readonly fragments: {
    readonly kept: number;
    /** In both, with other deleted rows or with columns that were written anew. */
    readonly changed: number;
    readonly added: number;
    readonly removed: number;
  };
  readonly rows: DiffRows;
}

/** One of the versions compared. */
export interface DiffVersion {
  readonly branch: string;
  readonly version: number;
  readonly row_count: number;
}

/** A column, or a field of one by its path. */
export interface DiffColumn {
  readonly name: string;
  readonly data_type: string;
  readonly nullable: boolean;
}

/** A column that both have: renamed, of another type, or with other metadata. */
export interface DiffColumnChange {
  readonly from: DiffColumn;
  readonly to: DiffColumn;
  readonly metadata_changed: boolean;
}

/** Names and values that only one version has, or with another value. */
export interface DiffMap {
  readonly added: Readonly<Record<string, string>>;
  readonly removed: Readonly<Record<string, string>>;
  readonly changed: Readonly<Record<string, { readonly from: string; readonly to: string }>>;
}

/** Rows of two versions, counted. */
export interface DiffRows {
  /** `key`: matched by values. `place`: told apart by where they were written. */
  readonly by: string;
  readonly added: number;
  readonly removed: number;
  readonly changed: number;
  readonly unchanged: number;
  /** By key: for each column the rows in which its value is another. */
  readonly changed_columns: readonly { readonly name: string; readonly rows: number }[];
  /** By key: columns of both versions whose types do not fit each other. */
  readonly not_compared: readonly string[];
  /** By key: the first rows of each kind. */
  readonly examples?: {
    readonly added: readonly DiffRow[];
    readonly removed: readonly DiffRow[];
    readonly changed: readonly {
      readonly before: DiffRow;
      readonly after: DiffRow;
      readonly columns: readonly string[];
    }[];
  };
}

/** Values by column. */
export type DiffRow = Readonly<Record<string, ShownValue>>;

/** Which version, and which of its fragments in row order. */
export interface ListTableFilesRequest {
  readonly id: readonly string[];
  readonly incarnation?: string;
  readonly branch?: string;
  readonly version?: number;
  /** Names the version, in place of `branch` and `version`. */
  readonly tag?: string;
  /** Fragments of a page; 10,000 if absent, and at most. */
  readonly limit?: number;
  /** As the page before answered it. It names a version: that of another one is refused. */
  readonly page_token?: string;
}

/** The files of some fragments of a version, and all that is needed to read its rows from them. */
export interface ListTableFilesResponse {
  readonly version: number;
  readonly branch?: string;
  /** Of the whole version: live rows, rows that are deleted and still in the files, and fragments. */
  readonly row_count: number;
  readonly num_deleted_rows: number;
  readonly num_fragments: number;
  readonly columns: readonly { readonly name: string; readonly data_type: string }[];
  /** The schema of the version: an Arrow IPC message in base64, as `pyarrow.ipc.read_schema` takes it. */
  readonly arrow_schema: string;
  /** How the columns lie in the fragments, which name theirs by its place here. */
  readonly layouts: readonly ListedLayout[];
  /** In row order. */
  readonly fragments: readonly ListedFragment[];
  /** Where there are more. */
  readonly page_token?: string;
}

/** How fragments hold the columns of the version. */
export interface ListedLayout {
  /** Whether the one file of such a fragment has the version's columns, in their order, and no others. */
  readonly plain: boolean;
  /** The columns of the version, in their order. */
  readonly columns: readonly ListedColumn[];
}

/** Where a column of the version is in a fragment. */
export interface ListedColumn {
  readonly name: string;
  /**
   * `stored`: the file has its values. `cast`: a cast of Arrow to the type of the version gives them.
   * `fields`: the fields within have other names, members or order. `missing`: all of them are null.
   */
  readonly form: string;
  /** Which of the fragment's files has it, and its name and type there. */
  readonly file?: number;
  readonly stored_name?: string;
  readonly stored_type?: string;
}

/** A fragment: rows next to each other, in files of the same rows. */
export interface ListedFragment {
  /** Ids of its rows are `id * 2^32` plus the offset in the file. */
  readonly id: number;
  /** Live rows of the version before its own. */
  readonly first_row: number;
  /** Rows in its files; `num_deleted_rows` of them are no rows of the version. */
  readonly rows: number;
  readonly num_deleted_rows: number;
  readonly files: readonly { readonly path: string; readonly bytes: number }[];
  /** Whether buffers are compressed, in Arrow's form of ZSTD. */
  readonly compressed: boolean;
  readonly deletion?: ListedDeletion;
  /** Which of `layouts`. */
  readonly layout: number;
}

/** The offsets of the rows of a fragment that are deleted, ascending. */
export interface ListedDeletion {
  readonly path: string;
  readonly rows: number;
  /**
   * Where the file is one of several fragments: its byte at which `rows` little-endian uint32 begin. If
   * absent, the file is an Arrow file whose one column holds the offsets of this fragment.
   */
  readonly offset?: number;
}

/** A SELECT over tables of one catalog. */
export interface RunSqlRequest {
  /** The namespace that names of tables are looked up in, with those below it; the root if absent. */
  readonly id?: readonly string[];
  /** The table that it reads, which is to be the only one: another that took its name is not meant. */
  readonly incarnation?: string;
  /** One statement, as docs/sql.md describes it. */
  readonly sql: string;
  /** Values for `?` by order, `$1` by number or `$name` by name, which are never read as SQL. */
  readonly parameters?: readonly SqlParameter[] | Readonly<Record<string, SqlParameter>>;
}

/** A value of a statement, as JSON holds it: what JSON has no form for is a text, with a CAST. */
export type SqlParameter =
  | string
  | number
  | boolean
  | null
  | readonly (string | number | boolean | null)[];

/** As that of RunSql. */
export type ExplainSqlRequest = RunSqlRequest;

/** How a SELECT is carried out. */
export interface ExplainSqlResponse {
  /** One step a line, each above those that it reads from. */
  readonly plan: string;
}
