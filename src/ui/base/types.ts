/**
 * Defines the types of the server's answers that the page shows, and `TableFacts`, the description
 * of a table that every view gets.
 */

export interface Column {
  readonly name: string;
  readonly type: string;
}

export interface About {
  readonly version: string;
  readonly principal: string;
  readonly signed_in: boolean;
  readonly read_only: boolean;
  readonly databases?: readonly string[];
}

export interface JsonType {
  readonly type: string;
  readonly length?: number;
  readonly fields?: readonly JsonField[];
}

export interface JsonField {
  readonly name: string;
  readonly nullable?: boolean;
  readonly type: JsonType;
  readonly metadata?: Readonly<Record<string, string>>;
}

export interface Described {
  readonly version?: number;
  readonly location?: string;
  readonly incarnation?: string;
  readonly schema?: { readonly fields: readonly JsonField[] };
  readonly properties?: Readonly<Record<string, string>>;
  readonly metadata?: Readonly<Record<string, string>>;
  readonly is_only_declared?: boolean;
  readonly materialized_view?: { readonly source: readonly string[] };
}

export interface Stats {
  readonly total_bytes: number;
  readonly num_rows: number;
  readonly num_indices: number;
  readonly fragment_stats: { readonly num_fragments: number };
}

export interface Version {
  readonly version: number;
  readonly timestamp_millis?: number;
  readonly metadata?: Readonly<Record<string, string>>;
}

export interface Tag {
  readonly version: number;
  readonly branch?: string;
}

export interface Index {
  readonly index_name: string;
  readonly columns: readonly string[];
  readonly index_type?: string;
}

/** What every view of a table gets. */
export interface TableFacts {
  readonly id: readonly string[];
  readonly branch: string | undefined;
  /** The version that is shown, and the newest one of its branch. */
  readonly version: number;
  readonly newest: number;
  readonly rows: number;
  readonly bytes: number;
  readonly fragments: number;
  readonly described: Described;
  readonly columns: readonly Column[];
}
