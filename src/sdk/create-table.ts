/**
 * `createTable` creates a table from any data that a user may pass and returns its handle. It
 * converts the data to Arrow, computes missing vectors by the embedding functions that the schema
 * or the options name, and sends the rows to the catalog. A table of that name throws
 * TableAlreadyExists, unless the mode is `exist_ok`, which ignores the data, or `overwrite`.
 * Unknown options throw InvalidInput, and LanceDB's options for other file formats Unsupported.
 * `tableToCreate` reads the forms of arguments that `Connection.createTable` takes.
 */
import {
  type CreateTableArguments,
  type CreateTableOptions,
  copy,
  createMode,
  pathAndOptions,
  propertiesOf,
} from './connection-options.ts';
import { type DataInput, handOver } from './convert/index.ts';
import { toEmbeddedStream } from './embedding/index.ts';
import {
  CREATE_OPTIONS,
  checkChangeOptions,
  defined,
  type Home,
  refuseLanceFiles,
  tableId,
} from './handles/index.ts';
import { Table } from './table/index.ts';

export interface TableToCreate {
  readonly id: string[];
  readonly data: DataInput;
  readonly options: CreateTableOptions;
}

/** Of one object and a path, or of a name, data, a path and options. */
export function tableToCreate(
  nameOrAll: string | CreateTableArguments,
  dataOrPath: DataInput | readonly string[] | undefined,
  pathOrOptions: readonly string[] | CreateTableOptions | undefined,
  given: CreateTableOptions | undefined,
): TableToCreate {
  if (typeof nameOrAll === 'object' && nameOrAll !== null) {
    const { name, data, ...options } = nameOrAll;
    const [path] = pathAndOptions<CreateTableOptions>(dataOrPath as readonly string[], undefined);
    return { id: tableId(name, path), data, options };
  }
  const [path, options] = pathAndOptions<CreateTableOptions>(pathOrOptions, given);
  return { id: tableId(nameOrAll, path), data: dataOrPath as DataInput, options };
}

export async function createTable(
  home: Home,
  id: string[],
  data: DataInput,
  options: CreateTableOptions,
): Promise<Table> {
  home.lifetime.enter(options);
  checkChangeOptions(options, CREATE_OPTIONS);
  refuseLanceFiles(options);
  const { schema, vectorColumns, signal, storageOptions, embeddingFunction } = options;
  const properties = propertiesOf(options);
  const rows = await toEmbeddedStream(data, { schema, vectorColumns, signal }, embeddingFunction);
  const request = defined({
    id,
    mode: createMode(options),
    properties,
    storage_options: copy(storageOptions),
  });
  const { incarnation } = await handOver(rows, (given) =>
    home.catalog.createTable(request, given, options),
  );
  return new Table(home, defined({ id, incarnation }));
}
