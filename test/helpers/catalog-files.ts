/** The files of a catalog, as a test reaches behind it. */
import type nodeFs from 'node:fs';
import type { CatalogFiles } from '../suites/namespace/context.ts';

export function filesOf(fs: typeof nodeFs, root: string): CatalogFiles {
  const walk = (folder: string): string[] =>
    fs.readdirSync(`${root}/${folder}`, { withFileTypes: true }).flatMap((entry) => {
      const path = `${folder}${String(entry.name)}`;
      return entry.isDirectory() ? [`${path}/`, ...walk(`${path}/`)] : [path];
    });
  return {
    root,
    read: (path) => new Uint8Array(fs.readFileSync(`${root}/${path}`)),
    write: (path, bytes) => {
      const file = `${root}/${path}`;
      fs.mkdirSync(file.slice(0, file.lastIndexOf('/')), { recursive: true });
      fs.writeFileSync(file, bytes);
    },
    link: (target, path) => fs.symlinkSync(target, `${root}/${path}`),
    all: () => walk('').sort(),
  };
}
