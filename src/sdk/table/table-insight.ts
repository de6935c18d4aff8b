/**
 * `TableInsight` describes a table: `stats` returns the sizes of its newest version, `profile`
 * tells what the values of its columns are like, `diff` tells how two versions differ, and
 * `storageOptions` what the catalog vends for access to its files. The catalog computes the
 * answers; this file renames their members to camel case. `profile` and `diff` throw Unsupported if
 * the catalog lacks the operation, and `stats` if the handle is pinned to a version.
 */
import { DirspaceError } from '../../errors.ts';
import {
  type CallOptions,
  type DiffMap,
  type DiffRow,
  type DiffTableResponse,
  type ProfiledColumn,
  type ProfiledHistogram,
  type ProfileTableRequest,
  type ShownValue,
  unsupported,
  type VersionName,
} from '../../protocol/index.ts';
import {
  atVersion,
  branchMember,
  checkOptionNames,
  checkWhere,
  DIFF_OPTIONS,
  defined,
  onBranch,
  onTable,
  PROFILE_OPTIONS,
  SELECTION_MEMBERS,
} from '../handles/index.ts';
import type { TablePosition } from './position.ts';
import { type TableStatistics, tableStatistics } from './table-results.ts';
import { followsNewest, resolveSelection, selectionOf, type VersionSelection } from './versions.ts';

/** Counts between edges. */
export type ColumnHistogram = ProfiledHistogram;

/** Names and values that only one version has, or with another value. */
export type MapChanges = DiffMap;

/** A row as it is shown: values by column. */
export type ShownRow = DiffRow;

/** Which columns of which rows to look at, and for how long. */
export interface ProfileOptions extends CallOptions {
  /** All of them if absent. */
  readonly columns?: readonly string[];
  /** SQL; the rows for which it is true. */
  readonly where?: string;
  /** After so many milliseconds no other batch of rows is begun; 200 if absent. */
  readonly budgetMs?: number;
  /** Buckets of a histogram, at most: 1 to 1,000; 20 if absent. */
  readonly buckets?: number;
  /** Most frequent values of a column, at most 1,000; 10 if absent. */
  readonly top?: number;
}

/** What the columns of a version are like. */
export interface TableProfile {
  readonly version: number;
  /** Rows of the version, or those that `where` selects: an estimate where `rowsExact` is false. */
  readonly rows: number;
  readonly rowsExact: boolean;
  /** Whether some rows were not looked at, as the time was up. */
  readonly sampled: boolean;
  /** Rows that were looked at, and how many of them `where` selects. */
  readonly rowsScanned: number;
  readonly rowsMatched: number;
  readonly elapsedMs: number;
  readonly columns: readonly ColumnProfile[];
}

/**
 * What one column is like. Counts are of the rows that were looked at. Values are as JSON holds them:
 * integers beyond 2^53, decimals, dates and times are texts.
 */
export interface ColumnProfile {
  readonly name: string;
  readonly dataType: string;
  /** `number`, `time`, `boolean`, `text`, `binary`, `vector`, `list` or `other`. */
  readonly kind: string;
  readonly rows: number;
  readonly nulls: number;
  readonly nans: number;
  /** The nulls of all rows, where they are known though not all rows were looked at. */
  readonly allNulls?: number;
  /** Null where there is no value. */
  readonly min: ShownValue;
  readonly max: ShownValue;
  /** Whether they are those of all rows; false also for texts so long that a part is told. */
  readonly boundsExact: boolean;
  /** Of numbers that are not NaN. */
  readonly mean?: string | number;
  /** Of all rows, without null: an estimate where `distinctExact` is false. */
  readonly distinct: number;
  readonly distinctExact: boolean;
  /** The most frequent values. One that occurs once is there only where all values are. */
  readonly top: readonly { readonly value: ShownValue; readonly count: number }[];
  readonly topExact: boolean;
  /** Absent where there is nothing to measure. */
  readonly histogram?: ColumnHistogram;
}

/** How versions are compared. */
export interface DiffOptions extends CallOptions {
  /**
   * The key by which rows are matched; `[]` matches whole rows. If absent no row is read: rows are
   * told apart by the file that they were written to.
   */
  readonly on?: string | readonly string[];
  /** Examples of each kind of rows, at most 1,000; 10 if absent. */
  readonly limit?: number;
}

/** What two versions have apart from each other. */
export interface TableDiff {
  readonly from: ComparedVersion;
  readonly to: ComparedVersion;
  /** Columns by what became of them; fields of structs by their paths. */
  readonly schema: {
    readonly added: readonly ComparedColumn[];
    readonly dropped: readonly ComparedColumn[];
    /** Renamed, of another type, nullable or not, or with other metadata. */
    readonly changed: readonly ColumnChange[];
  };
  readonly metadata: MapChanges;
  readonly properties: MapChanges;
  readonly fragments: {
    readonly kept: number;
    /** In both, with other deleted rows or with columns that were written anew. */
    readonly changed: number;
    readonly added: number;
    readonly removed: number;
  };
  readonly rows: RowDifferences;
}

/** One of the versions compared. */
export interface ComparedVersion {
  readonly branch: string;
  readonly version: number;
  readonly rowCount: number;
}

/** A column, or a field of one by its path. */
export interface ComparedColumn {
  readonly name: string;
  readonly dataType: string;
  readonly nullable: boolean;
}

/** A column that both versions have and define differently. */
export interface ColumnChange {
  readonly from: ComparedColumn;
  readonly to: ComparedColumn;
  readonly metadataChanged: boolean;
}

/** Rows of two versions, counted. */
export interface RowDifferences {
  /** `key`: matched by values. `place`: told apart by where they were written. */
  readonly by: string;
  readonly added: number;
  readonly removed: number;
  /** By key: with another value in a column of both versions. By place: with a column written anew. */
  readonly changed: number;
  readonly unchanged: number;
  readonly changedColumns: readonly { readonly name: string; readonly rows: number }[];
  /** Columns of both versions whose types do not fit each other. */
  readonly notCompared: readonly string[];
  /** The first rows of each kind; by key alone. */
  readonly examples?: {
    readonly added: readonly ShownRow[];
    readonly removed: readonly ShownRow[];
    readonly changed: readonly {
      readonly before: ShownRow;
      readonly after: ShownRow;
      readonly columns: readonly string[];
    }[];
  };
}

export class TableInsight {
  readonly #at: TablePosition;

  constructor(at: TablePosition) {
    this.#at = at;
  }

  /** @throws Unsupported where a version is checked out */
  async stats(options?: CallOptions): Promise<TableStatistics> {
    this.#at.reading(options);
    if (this.#at.pinned !== undefined) {
      throw new DirspaceError(
        'Unsupported',
        `Statistics are of the newest version, but ${this.#at.display()} is checked out; call checkoutLatest() first.`,
      );
    }
    const request = onBranch(this.#at.newest);
    return tableStatistics(await this.#at.home.catalog.getTableStats(request, options));
  }

  /** What the catalog vends for access to the table's files; null where it vends nothing. */
  async storageOptions(options?: CallOptions): Promise<Record<string, string> | null> {
    this.#at.reading(options);
    const request = { ...onTable(this.#at.newest), vend_credentials: true };
    return (await this.#at.home.catalog.describeTable(request, options)).storage_options ?? null;
  }

  /** @throws TableColumnNotFound, InvalidInput; Unsupported from a catalog that has no operation for it */
  async profile(options: ProfileOptions): Promise<TableProfile> {
    this.#at.lifetime.enter(options);
    checkOptionNames(options, PROFILE_OPTIONS);
    const { catalog } = this.#at.home;
    if (catalog.profileTable === undefined) throw unsupported('ProfileTable');
    const { columns, where, budgetMs, buckets, top, ...call } = options;
    const request: ProfileTableRequest = {
      ...atVersion(this.#at.target),
      ...defined({ columns, budget_millis: budgetMs, buckets, top, filter: checkWhere(where) }),
    };
    const told = await catalog.profileTable(request, call);
    return {
      version: told.version,
      rows: told.rows,
      rowsExact: told.rows_exact,
      sampled: told.sampled,
      rowsScanned: told.rows_scanned,
      rowsMatched: told.rows_matched,
      elapsedMs: told.elapsed_millis,
      columns: told.columns.map(columnProfile),
    };
  }

  /** @throws TableVersionNotFound, TableTagNotFound, TableBranchNotFound, InvalidInput */
  async diff(
    from: number | string | VersionSelection,
    to: number | string | VersionSelection | undefined,
    options: DiffOptions,
  ): Promise<TableDiff> {
    this.#at.lifetime.enter(options);
    checkOptionNames(options, DIFF_OPTIONS);
    const { catalog } = this.#at.home;
    if (catalog.diffTable === undefined) throw unsupported('DiffTable');
    const { on, limit, ...call } = options;
    const { branch, version, ...table } = atVersion(this.#at.target);
    const request = {
      ...table,
      from: await this.#named(from, call),
      to: to === undefined ? defined({ branch, version }) : await this.#named(to, call),
      ...defined({ on: typeof on === 'string' ? [on] : on, limit }),
    };
    return tableDiff(await catalog.diffTable(request, call));
  }

  /** A number is a version of the handle's branch, a text a tag. */
  async #named(
    given: number | string | VersionSelection,
    options: CallOptions,
  ): Promise<VersionName> {
    const selection = selectionOf(given, this.#at.newest.branch);
    checkOptionNames(selection ?? undefined, SELECTION_MEMBERS);
    if (selection !== null && typeof selection === 'object' && followsNewest(selection)) {
      return branchMember(selection.branch ?? this.#at.newest.branch);
    }
    return resolveSelection(() => this.#at.newest, selection, options);
  }
}

function columnProfile(told: ProfiledColumn): ColumnProfile {
  return {
    name: told.name,
    dataType: told.data_type,
    kind: told.kind,
    rows: told.rows,
    nulls: told.nulls,
    nans: told.nans,
    min: told.min,
    max: told.max,
    boundsExact: told.bounds_exact,
    distinct: told.distinct,
    distinctExact: told.distinct_exact,
    top: told.top,
    topExact: told.top_exact,
    ...defined({ allNulls: told.all_nulls, mean: told.mean, histogram: told.histogram }),
  };
}

type ToldColumn = DiffTableResponse['schema']['added'][number];

const comparedColumn = ({ name, data_type, nullable }: ToldColumn): ComparedColumn => ({
  name,
  dataType: data_type,
  nullable,
});

const comparedVersion = ({
  branch,
  version,
  row_count,
}: DiffTableResponse['to']): ComparedVersion => ({
  branch,
  version,
  rowCount: row_count,
});

function tableDiff({ schema, rows, ...told }: DiffTableResponse): TableDiff {
  const { by, added, removed, changed, unchanged, examples } = rows;
  return {
    from: comparedVersion(told.from),
    to: comparedVersion(told.to),
    schema: {
      added: schema.added.map(comparedColumn),
      dropped: schema.dropped.map(comparedColumn),
      changed: schema.changed.map((change) => ({
        from: comparedColumn(change.from),
        to: comparedColumn(change.to),
        metadataChanged: change.metadata_changed,
      })),
    },
    metadata: told.metadata,
    properties: told.properties,
    fragments: told.fragments,
    rows: {
      by,
      added,
      removed,
      changed,
      unchanged,
      changedColumns: rows.changed_columns,
      notCompared: rows.not_compared,
      ...defined({ examples }),
    },
  };
}
