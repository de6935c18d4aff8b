/** All that a caller can see of a catalog, as one plain value that can be compared. */
import type { CatalogExtensions } from '../../src/protocol/extensions.ts';
import type { Namespace } from '../../src/protocol/namespace.ts';
import { idsOf } from './people.ts';

export interface VisibleTable {
  readonly properties: Readonly<Record<string, string>>;
  readonly declared: boolean;
  /** Versions that can be read, by branch: number -> ids of the rows, in order. */
  readonly versions: Readonly<Record<string, Readonly<Record<number, readonly number[]>>>>;
  /** What reading the newest version gives, by branch. */
  readonly newest: Readonly<Record<string, readonly number[]>>;
  readonly tags: Readonly<Record<string, string>>;
  readonly parents: Readonly<Record<string, string>>;
}

export interface VisibleState {
  readonly namespaces: Readonly<Record<string, Readonly<Record<string, string>>>>;
  readonly tables: Readonly<Record<string, VisibleTable>>;
}

export async function visibleState(
  namespace: Namespace & CatalogExtensions,
): Promise<VisibleState> {
  const namespaces: Record<string, Record<string, string>> = {};
  const tables: Record<string, VisibleTable> = {};
  const visit = async (path: string[]): Promise<void> => {
    for (const name of (await namespace.listTables({ id: path })).tables) {
      tables[[...path, name].join('$')] = await visibleTable(namespace, [...path, name]);
    }
    for (const name of (await namespace.listNamespaces({ id: path })).namespaces) {
      const id = [...path, name];
      const { created_at, ...properties } =
        (await namespace.describeNamespace({ id })).properties ?? {};
      namespaces[id.join('$')] = { ...properties, dated: String(created_at !== undefined) };
      await visit(id);
    }
  };
  await visit([]);
  const listed = (await namespace.listAllTables({})).tables;
  if (listed.join() !== Object.keys(tables).sort().join()) {
    throw new Error(`list all says ${listed.join()}, the lists ${Object.keys(tables).join()}`);
  }
  return { namespaces, tables };
}

async function visibleTable(namespace: Namespace, id: string[]): Promise<VisibleTable> {
  const described = await namespace.describeTable({ id, load_detailed_metadata: true });
  const isLances = /\/lance\//.test(described.location ?? '');
  const versions: Record<string, Record<number, readonly number[]>> = {};
  const newest: Record<string, readonly number[]> = {};
  const { branches } = await namespace.listTableBranches({ id });
  for (const branch of ['main', ...Object.keys(branches)]) {
    // Outside of the root nothing is looked at.
    const isAway = described.location?.includes('://') === true;
    const listed = isAway ? [] : (await namespace.listTableVersions({ id, branch })).versions;
    const read: Record<number, readonly number[]> = {};
    for (const { version } of listed) {
      // Rows in Lance's format are not read here.
      if (isLances) {
        read[version] = [];
        continue;
      }
      const ids = await idsOf(namespace, id, { version, branch });
      const { count } = await namespace.countTableRows({ id, version, branch });
      if (count !== ids.length) throw new Error(`${id} v${version}: ${count} rows are counted`);
      read[version] = ids;
    }
    versions[branch] = read;
    if (listed.length > 0 && !isLances) newest[branch] = await idsOf(namespace, id, { branch });
  }
  const { tags } = await namespace.listTableTags({ id });
  return {
    properties: described.properties ?? {},
    declared: described.is_only_declared === true,
    versions,
    newest,
    tags: Object.fromEntries(
      Object.entries(tags).map(([tag, { version, branch }]) => [
        tag,
        `${branch ?? 'main'}:${version}`,
      ]),
    ),
    parents: Object.fromEntries(
      Object.entries(branches).map(([branch, { parentBranch, parentVersion }]) => [
        branch,
        `${parentBranch ?? 'main'}:${parentVersion}`,
      ]),
    ),
  };
}
