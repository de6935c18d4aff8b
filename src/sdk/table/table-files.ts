/**
 * `tableFiles` lists the Arrow files that hold the rows of a version, for programs that read them
 * without this package. The option `noDeletions` throws InvalidTableState if the files hold deleted
 * rows, which such a program would bring back. `plain` does so too, and also if a fragment's
 * columns are not those of the version. Paths are absolute if this program opens the catalog's
 * files itself; if not, they are relative to the table's folder. A catalog without the operation
 * throws Unsupported.
 */
import { join } from 'node:path';
import { DirspaceError } from '../../errors.ts';
import {
  type CallOptions,
  type ListedColumn,
  type ListedFragment,
  type ListTableFilesResponse,
  unsupported,
} from '../../protocol/index.ts';
import {
  atVersion,
  branchMember,
  checkOptionNames,
  defined,
  displayPath,
  FILES_OPTIONS,
  onBranch,
  onTable,
  pages,
} from '../handles/index.ts';
import type { TablePosition } from './position.ts';

/** Which version, and what its files must be like. */
export interface FilesOptions extends CallOptions {
  /** The version, of the handle's branch, or a tag; what the handle reads if absent. */
  readonly version?: number;
  readonly tag?: string;
  /** Rejects with InvalidTableState where files hold deleted rows. */
  readonly noDeletions?: boolean;
  /** The same, and where the columns of some file are not those of the version. */
  readonly plain?: boolean;
}

/** The files of a version. */
export interface TableFiles {
  readonly version: number;
  readonly branch?: string;
  /** The folder of the table, where its files are on this disk: paths are absolute then, and relative to it if not. */
  readonly location?: string;
  /** Live rows, and rows that are deleted and still in the files. */
  readonly rowCount: number;
  readonly deletedRows: number;
  readonly columns: readonly { readonly name: string; readonly dataType: string }[];
  /** The schema of the version: an Arrow IPC message in base64, as `pyarrow.ipc.read_schema` takes it. */
  readonly arrowSchema: string;
  /** How the columns lie in the fragments, which name theirs by its place here. */
  readonly layouts: readonly FileLayout[];
  /** In row order. */
  readonly fragments: readonly FragmentFiles[];
}

/** How fragments hold the columns of the version. */
export interface FileLayout {
  /** Whether the one file of such a fragment has the version's columns, in their order, and no others. */
  readonly plain: boolean;
  readonly columns: readonly FileColumn[];
}

/** Where a column of the version is in a fragment. */
export interface FileColumn {
  readonly name: string;
  /**
   * `stored`: the file has its values. `cast`: a cast of Arrow to the type of the version gives them.
   * `fields`: the fields within have other names, members or order. `missing`: all of them are null.
   */
  readonly form: string;
  /** Which of the fragment's files has it, and its name and type there. */
  readonly file?: number;
  readonly storedName?: string;
  readonly storedType?: string;
}

/** Rows next to each other, in files of the same rows. */
export interface FragmentFiles {
  /** Ids of its rows are `id * 2^32` plus the offset in the file. */
  readonly id: number;
  /** Live rows of the version before its own. */
  readonly firstRow: number;
  /** Rows in its files; `deletedRows` of them are no rows of the version. */
  readonly rows: number;
  readonly deletedRows: number;
  readonly files: readonly { readonly path: string; readonly bytes: number }[];
  /** Whether buffers are compressed, in Arrow's form of ZSTD. */
  readonly compressed: boolean;
  /**
   * The offsets of deleted rows. With `offset` they are uint32 from that byte of the file on, little-endian;
   * if absent, the file is an Arrow file of one column.
   */
  readonly deletion?: { readonly path: string; readonly rows: number; readonly offset?: number };
  readonly layout: number;
}

/** @throws InvalidTableState where `noDeletions` or `plain` asks for what is not so, TableVersionNotFound, TableTagNotFound */
export async function tableFiles(at: TablePosition, options: FilesOptions): Promise<TableFiles> {
  at.lifetime.enter(options);
  checkOptionNames(options, FILES_OPTIONS);
  const { catalog } = at.home;
  const { version, tag, noDeletions, plain, ...call } = options;
  const list = catalog.listTableFiles?.bind(catalog);
  if (list === undefined) throw unsupported('ListTableFiles');
  const named =
    version === undefined && tag === undefined
      ? atVersion(at.target)
      : // A tag names its branch.
        {
          ...(tag === undefined ? onBranch(at.newest) : onTable(at.newest)),
          ...defined({ version, tag }),
        };
  let first: ListTableFilesResponse | undefined;
  const layouts: FileLayout[] = [];
  const fragments: FragmentFiles[] = [];
  const location =
    catalog.opensFiles === true
      ? (await catalog.describeTable(onTable(at.newest), call)).location
      : undefined;
  const fetched = pages((token) =>
    // The pages after the first are of its version, whatever is committed meanwhile.
    list(first === undefined ? named : { ...pageMembers(at, first), ...token }, call),
  );
  for await (const page of fetched) {
    first ??= page;
    const before = layouts.length;
    for (const layout of page.layouts) {
      layouts.push({ plain: layout.plain, columns: layout.columns.map(fileColumn) });
    }
    for (const fragment of page.fragments) {
      fragments.push(fragmentFiles(fragment, before, location));
    }
  }
  const told = first as ListTableFilesResponse;
  const found: TableFiles = {
    version: told.version,
    ...defined({ branch: told.branch, location }),
    rowCount: told.row_count,
    deletedRows: told.num_deleted_rows,
    columns: told.columns.map(({ name, data_type }) => ({ name, dataType: data_type })),
    arrowSchema: told.arrow_schema,
    layouts,
    fragments,
  };
  if (noDeletions === true || plain === true) refuseDeletions(at, found);
  if (plain === true) refuseOtherColumns(at, found);
  return found;
}

const pageMembers = (at: TablePosition, { version, branch }: ListTableFilesResponse) => ({
  ...onTable(at.newest),
  ...branchMember(branch),
  version,
});

const fileColumn = ({ stored_name, stored_type, ...column }: ListedColumn): FileColumn => ({
  ...column,
  ...defined({ storedName: stored_name, storedType: stored_type }),
});

function fragmentFiles(
  { first_row, num_deleted_rows, files, deletion, layout, ...rest }: ListedFragment,
  before: number,
  location: string | undefined,
): FragmentFiles {
  const placed = (path: string): string => (location === undefined ? path : join(location, path));
  return {
    ...rest,
    firstRow: first_row,
    deletedRows: num_deleted_rows,
    files: files.map(({ path, bytes }) => ({ path: placed(path), bytes })),
    ...(deletion === undefined ? {} : { deletion: { ...deletion, path: placed(deletion.path) } }),
    layout: before + layout,
  };
}

function refuseDeletions(at: TablePosition, { version, deletedRows, fragments }: TableFiles): void {
  const holding = fragments.filter((fragment) => fragment.deletedRows > 0).length;
  if (holding === 0) return;
  throw new DirspaceError(
    'InvalidTableState',
    `Files of ${displayPath(at.newest.id)} at version ${version} hold ${deletedRows} deleted rows, in ${holding} of ${fragments.length} fragments: whoever reads them alone brings these rows back. ${REMEDY} Or subtract the offsets that the deletion files list.`,
    { details: { id: at.newest.id, version, deleted_rows: deletedRows } },
  );
}

function refuseOtherColumns(at: TablePosition, { version, layouts, fragments }: TableFiles): void {
  const unlike = fragments.filter(({ layout }) => layouts[layout]?.plain !== true);
  const [one] = unlike;
  if (one === undefined) return;
  throw new DirspaceError(
    'InvalidTableState',
    `${unlike.length} of the ${fragments.length} fragments of ${displayPath(at.newest.id)} at version ${version} have other columns than the version, such as ${one.files[0]?.path}: ${difference(layouts[one.layout], one)}. ${REMEDY} Texts of compressed fragments and columns of views stay of another type.`,
    { details: { id: at.newest.id, version, fragments: unlike.length } },
  );
}

const REMEDY =
  'optimize({ compaction: { plain: true } }) writes them anew, as does dirspace optimize --plain; then read the newest version.';

/** The first thing that is not as in the version. */
function difference(layout: FileLayout | undefined, { files }: FragmentFiles): string {
  const column = layout?.columns.find(
    ({ form, name, storedName }) => form !== 'stored' || name !== storedName,
  );
  if (column === undefined) {
    return files.length > 1
      ? `it is one of ${files.length} files`
      : 'it has more, or in another order';
  }
  const name = JSON.stringify(column.name);
  if (column.form === 'missing') return `it has no column ${name}`;
  if (column.storedName !== column.name) {
    return `its column ${name} is called ${JSON.stringify(column.storedName)} there`;
  }
  if (column.form === 'fields') return `its column ${name} has other fields`;
  return `its column ${name} is of ${column.storedType}`;
}
