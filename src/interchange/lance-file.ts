/**
 * `openLance` opens a Lance dataset or a single data file of one. With a version, the path is that
 * of a dataset, which is a folder; the version `{}` means the newest. Without a version, the path
 * is that of a data file. A missing path throws InvalidInput, and so does a folder without a
 * version. `isDataset` recognises the folder of a dataset, and `isLanceFile` paths that end in
 * `.lance`. The code of the reader is imported when rows are read.
 */
import { extname, join } from 'node:path';
import type { LanceVersionChoice } from '../datasets/index.ts';
import type { FileRows } from './file-formats.ts';
import { fileProblem, kindOfPath } from './files/index.ts';

/** Whether the name is that of a Lance data file, or of a dataset. */
export const isLanceFile = (path: string): boolean => extname(path).toLowerCase() === '.lance';

/** Whether it is the folder of a Lance dataset, whatever its name ends with. */
export const isDataset = (path: string): boolean =>
  kindOfPath(path) === 'folder' && kindOfPath(join(path, '_versions')) === 'folder';

/** A dataset of Lance or one of its data files; the version is that of a dataset. */
export function openLance(
  path: string,
  signal: AbortSignal | undefined,
  version: LanceVersionChoice | undefined,
): { rows(): Promise<FileRows>; read(): number; size(): number | undefined } {
  const kind = kindOfPath(path);
  if (kind === undefined) {
    const place = { file: path, missing: true } as const;
    throw fileProblem(`There is no file ${JSON.stringify(path)}.`, place);
  }
  if (version === undefined && kind !== 'file') {
    const what =
      kind === 'folder'
        ? 'is a folder, not a file, and no Lance dataset: it has no folder _versions'
        : 'is no regular file';
    throw fileProblem(`${JSON.stringify(path)} ${what}.`, { file: path });
  }
  let bytes = 0;
  let size: number | undefined;
  const options = {
    ...(signal && { signal }),
    onRead: (more: number) => {
      bytes += more;
    },
  };
  return {
    rows: async () => {
      const { openLanceDataFile, openLanceDataset } = await import('../datasets/index.ts');
      const rows =
        version === undefined
          ? await openLanceDataFile(path, options)
          : await openLanceDataset(path, version, options);
      if (rows.bytes > 0) size = rows.bytes;
      return { data: rows };
    },
    read: () => bytes,
    size: () => size,
  };
}
