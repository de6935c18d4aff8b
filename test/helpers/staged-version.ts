/** Manifests that a caller of the table-version operations has written, and not published yet. */
import { isReadByLance } from '../../src/format/catalog/fragment-entry.ts';
import { decodeVersion, encodeManifest, type Manifest } from '../../src/format/catalog/manifest.ts';
import type { Subject } from '../suites/namespace/context.ts';

export interface Staged {
  readonly id: string[];
  readonly version: number;
  readonly manifest_path: string;
  readonly branch?: string;
}

/** Stages a manifest as the next version: the newest one's content without its first fragment. */
export async function stage(
  { namespace, files }: Pick<Subject, 'namespace' | 'files'>,
  id: string[],
  options: { readonly branch?: string; readonly change?: (next: Manifest) => Manifest } = {},
): Promise<Staged> {
  if (files === undefined) throw new Error('staging needs the files');
  const branch = options.branch === undefined ? {} : { branch: options.branch };
  const newest = (await namespace.describeTableVersion({ id, ...branch })).version;
  const path = newest.manifest_path.slice(files.root.length + 1);
  const found = decodeVersion(files.read(path), path);
  if (!('manifest' in found)) throw new Error('no manifest');
  const { manifest, checksum } = found;
  const [first, ...fragments] = manifest.fragments;
  const { totals } = manifest;
  const lanceFragments = fragments.filter(isReadByLance).length;
  const next: Manifest = {
    ...manifest,
    version: manifest.version + 1,
    parent: { version: manifest.version, branch: manifest.branch, checksum },
    transaction: `${manifest.table}.${'0'.repeat(8)}-staged-${id.join('-').toLowerCase()}-${manifest.version + 1}`,
    batch: undefined,
    operation: { kind: 'delete', summary: {} },
    fragments,
    totals: {
      rows: totals.rows - (first?.rows ?? 0),
      deletedRows: totals.deletedRows,
      bytes: totals.bytes - (first?.bytes ?? 0),
      fragments: fragments.length,
      ...(lanceFragments === 0 ? {} : { lanceFragments }),
    },
  };
  const changed = options.change?.(next) ?? next;
  const folder = path.slice(0, path.lastIndexOf('/'));
  const manifest_path = `${folder}/staged-test.json`;
  files.write(manifest_path, encodeManifest(changed).bytes);
  return { id, version: changed.version, manifest_path, ...branch };
}
