/** All that can be read from a catalog, values of every type included, as plain JSON. */
import type { RecordBatch } from '../../src/arrow/apache.ts';
import type { Namespace } from '../../src/protocol/namespace.ts';
import { exactValues } from './arrow-samples.ts';

/** JSON has no word for some values: these get one that nothing else has. */
export function plain(value: unknown): unknown {
  if (value === undefined || value === null) return null;
  if (typeof value === 'bigint') return `${value}n`;
  if (typeof value === 'number') {
    return Number.isFinite(value) && !Object.is(value, -0) ? value : `number ${value}`;
  }
  if (ArrayBuffer.isView(value)) {
    const { buffer, byteOffset, byteLength } = value;
    return `0x${Buffer.from(buffer, byteOffset, byteLength).toString('hex')}`;
  }
  if (Array.isArray(value)) return value.map(plain);
  if (value instanceof Map) return [...value].map(([key, inner]) => [plain(key), plain(inner)]);
  if (typeof value === 'object') {
    return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, plain(inner)]));
  }
  return value;
}

async function rowsOf(
  namespace: Namespace,
  id: string[],
  selection: { readonly version: number; readonly branch: string },
): Promise<unknown> {
  const stream = await namespace.queryTable({
    id,
    k: Number.MAX_SAFE_INTEGER,
    with_row_id: true,
    ...selection,
  });
  const batches: RecordBatch[] = [];
  for await (const batch of stream) batches.push(batch);
  return plain(exactValues(batches));
}

async function describeBranch(
  namespace: Namespace,
  id: string[],
  branch: string,
): Promise<unknown> {
  const listed = (await namespace.listTableVersions({ id, branch })).versions;
  const versions: Record<string, unknown> = {};
  for (const { version, metadata, timestamp_millis, e_tag } of listed) {
    const { schema, stats } = await namespace.describeTable({
      id,
      branch,
      version,
      load_detailed_metadata: true,
    });
    const rows = await rowsOf(namespace, id, { version, branch });
    const { indexes } = await namespace.listTableIndices({ id, branch, version });
    versions[version] = {
      metadata,
      timestamp_millis,
      e_tag,
      schema,
      stats,
      rows,
      ...(indexes.length === 0 ? {} : { indexes }),
    };
  }
  return versions;
}

async function describeTable(namespace: Namespace, id: string[]): Promise<unknown> {
  const { properties, is_only_declared, version, metadata } = await namespace.describeTable({
    id,
    load_detailed_metadata: true,
  });
  const { branches } = await namespace.listTableBranches({ id });
  const contents: Record<string, unknown> = {};
  for (const branch of ['main', ...Object.keys(branches)]) {
    contents[branch] = await describeBranch(namespace, id, branch);
  }
  const { tags } = await namespace.listTableTags({ id });
  return { properties, is_only_declared, version, metadata, tags, branches, contents };
}

export async function goldenState(namespace: Namespace): Promise<unknown> {
  const namespaces: Record<string, unknown> = {};
  const visit = async (path: string[]): Promise<void> => {
    for (const name of (await namespace.listNamespaces({ id: path })).namespaces) {
      const id = [...path, name];
      namespaces[id.join('$')] = (await namespace.describeNamespace({ id })).properties;
      await visit(id);
    }
  };
  await visit([]);
  const tables: Record<string, unknown> = {};
  for (const id of (await namespace.listAllTables({})).tables) {
    tables[id] = await describeTable(namespace, id.split('$'));
  }
  return { namespaces, tables };
}
