/**
 * `dirspace files` lists the Arrow files that hold the rows of a version, for programs that read
 * them without this package. It also lists where the deleted rows of each fragment are recorded;
 * how columns are stored otherwise than in the version is in the JSON alone. `--no-deletions` fails
 * if there are deleted rows. `--plain` fails if the files alone do not give the rows, because of
 * deleted rows or of columns that are stored differently.
 */
import type { FragmentFiles, Table, TableFiles } from '../../sdk/index.ts';
import {
  type Answer,
  argument,
  type Call,
  type Command,
  columns,
  counted,
  openSelected,
  parseObject,
} from '../terminal/index.ts';

export const files: Command = {
  name: 'files',
  summary: 'List the Arrow files of a table, for other programs that read them',
  otherNames: ['fragments', 'paths'],
  arguments: [['<id>', 'the table']],
  options: [
    { flags: '--at <version>', summary: 'a version or a tag; the newest version if absent' },
    { flags: '--branch <name>', summary: 'a branch; the main one if absent' },
    { flags: '--no-deletions', summary: 'fail where files hold deleted rows' },
    {
      flags: '--plain',
      summary: 'fail where the files alone do not give the rows: deleted ones, other columns',
    },
  ],
  examples: ['dirspace files prod/search/user --json', 'dirspace files user --at launch --plain'],
  refusedIsUsage: true,
  reads: true,
  async run(call: Call): Promise<Answer> {
    const { options, signal } = call;
    const table: Table = await openSelected(call, parseObject(argument(call, 0)));
    const found = await table.files({
      // The parser takes --no-deletions for the opposite of a flag that is on.
      noDeletions: !options.flag('deletions'),
      plain: options.flag('plain'),
      signal,
    });
    return { json: found, text: filesText(found) };
  },
};

const HEAD = ['FILE', 'ROWS', 'DELETED', 'FIRST ROW', 'BYTES', 'DELETION FILE', 'COLUMNS'];

function filesText(found: TableFiles): string {
  const { version, rowCount, fragments, location } = found;
  const rows = fragments.flatMap((fragment) => fragmentRows(fragment, found));
  const about = `${counted(rowCount, 'row')} of version ${version} in ${counted(fragments.length, 'fragment')}`;
  const note = location === undefined ? ', by paths below the location of the table.' : '.';
  return rows.length === 0 ? `${about}${note}` : `${columns(HEAD, rows)}\n\n${about}${note}`;
}

/** A line for each file; the files of columns that were written later stand below the fragment's own. */
function fragmentRows(fragment: FragmentFiles, { layouts }: TableFiles): unknown[][] {
  const { deletion } = fragment;
  const place = deletion?.offset === undefined ? '' : ` from byte ${deletion.offset}`;
  const isPlain = layouts[fragment.layout]?.plain === true;
  return fragment.files.map(({ path, bytes }, at) =>
    at > 0
      ? [path, '', '', '', bytes, '', 'later ones']
      : [
          path,
          fragment.rows,
          fragment.deletedRows,
          fragment.firstRow,
          bytes,
          deletion === undefined ? '' : `${deletion.path}${place}`,
          isPlain ? 'as the version' : 'others: see --json',
        ],
  );
}
