/**
 * `loadPeer` loads `@duckdb/node-api`, which the program installs itself. If the package is missing
 * or cannot be loaded, it throws Unsupported and names the package. A connection of another class
 * throws InvalidInput. The file declares the types that it uses, because with the package's own
 * types, the declarations of this package would depend on it.
 */
import { DirspaceError } from '../errors.ts';

/** The connection of the program: a `DuckDBConnection` of `@duckdb/node-api`. */
export interface DuckDBConnectionLike {
  run(sql: string): Promise<unknown>;
  runAndReadAll(sql: string): Promise<{ getRows(): readonly (readonly unknown[])[] }>;
  createAppender(
    table: string,
    schema?: string | null,
    catalog?: string | null,
  ): Promise<DuckDBAppenderLike>;
}

/** Its appender, as far as it is used. */
export interface DuckDBAppenderLike {
  columnType(column: number): unknown;
  // biome-ignore lint/suspicious/noExplicitAny: a class of the package, which has private members
  appendDataChunk(chunk: any): void;
  flushSync(): void;
  closeSync(): void;
}

/** Values by column, of as many rows as are set before. */
export interface DataChunk {
  rowCount: number;
  reset(): void;
  setColumnValues(column: number, values: ArrayLike<unknown>): void;
}

/** The parts of the package that are used. */
export interface Peer {
  readonly DuckDBConnection: new (...given: never[]) => object;
  readonly DuckDBDataChunk: { create(types: readonly unknown[], rows: number): DataChunk };
  readonly DuckDBArrayValue: new (items: ArrayLike<unknown>) => object;
  readonly DuckDBBlobValue: new (bytes: Uint8Array) => object;
  readonly DuckDBDateValue: new (days: number) => object;
  readonly DuckDBDecimalValue: new (value: bigint, width: number, scale: number) => object;
  readonly DuckDBIntervalValue: new (months: number, days: number, micros: bigint) => object;
  readonly DuckDBListValue: new (items: ArrayLike<unknown>) => object;
  readonly DuckDBMapValue: new (entries: readonly { key: unknown; value: unknown }[]) => object;
  readonly DuckDBStructValue: new (entries: Readonly<Record<string, unknown>>) => object;
  readonly DuckDBTimeValue: new (micros: bigint) => object;
  readonly DuckDBTimeNSValue: new (nanos: bigint) => object;
  readonly DuckDBTimestampSecondsValue: new (seconds: bigint) => object;
  readonly DuckDBTimestampMillisecondsValue: new (millis: bigint) => object;
  readonly DuckDBTimestampValue: new (micros: bigint) => object;
  readonly DuckDBTimestampNanosecondsValue: new (nanos: bigint) => object;
  readonly DuckDBTimestampTZValue: new (micros: bigint) => object;
}

const PACKAGE = '@duckdb/node-api';

/**
 * @throws Unsupported where the package is not installed, InvalidInput for another connection than
 * one of it
 */
export async function loadPeer(
  connection: DuckDBConnectionLike,
  load: () => Promise<unknown> = () => import(PACKAGE as string),
): Promise<Peer> {
  let peer: Peer;
  try {
    peer = (await load()) as Peer;
  } catch (cause) {
    // Node or a bundler names the package so. If the binaries of the platform are missing, it names
    // theirs.
    const isMissing = [`'${PACKAGE}'`, `"${PACKAGE}"`].some((name) => String(cause).includes(name));
    throw new DirspaceError(
      'Unsupported',
      isMissing
        ? `dirspace/duckdb needs the package ${PACKAGE}, which is not installed. Install it beside dirspace: npm install ${PACKAGE}`
        : `The package ${PACKAGE} cannot be loaded: ${String(cause)}. Install a release of it for this platform.`,
      { cause, details: { package: PACKAGE } },
    );
  }
  if (connection instanceof peer.DuckDBConnection) return peer;
  throw new DirspaceError(
    'InvalidInput',
    `The first argument is a DuckDBConnection of the ${PACKAGE} that dirspace finds, and is ${connection === null || typeof connection !== 'object' ? typeof connection : `a ${Object.getPrototypeOf(connection)?.constructor?.name ?? 'plain object'} of something else`}. Give what instance.connect() answers, and see that the package is installed once.`,
  );
}
