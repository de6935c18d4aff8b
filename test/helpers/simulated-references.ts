/** What writers of a simulation do to tags, branches and versions, each held to its history. */

import type { DirectoryNamespace } from '../../src/directory/directory-namespace.ts';
import { DirspaceError } from '../../src/errors.ts';
import { decodeVersion, encodeManifest } from '../../src/format/catalog/manifest.ts';
import { readAll } from './read-all.ts';
import type { Attempt, SimulatedWriter } from './simulated-writer.ts';

const TAGS = ['v', 'w'];
export const BRANCHES = ['one', 'two'];

/** The number of a version that was the newest a while ago. */
export function lately({ simulation, history }: SimulatedWriter): number {
  const newest = [...history.lines.values()].map((line) => history.newest(line));
  return Math.max(1, (simulation.pick(...newest)?.manifest.version ?? 1) - simulation.below(4));
}

export function setTag(writer: SimulatedWriter, id: string[], isNew: boolean): Attempt {
  const { simulation, history } = writer;
  const tag = simulation.pick(...TAGS);
  const version = lately(writer);
  const branch = simulation.pick('main', 'main', 'main', ...BRANCHES);
  const request = { id, tag, version, branch };
  return {
    what: `${isNew ? 'tag' : 'update the tag'} ${tag} of ${id} ${branch} ${version}`,
    purpose: isNew ? 'create tag' : 'update tag',
    run: (catalog) => (isNew ? catalog.createTableTag(request) : catalog.updateTableTag(request)),
    check: (_, from, to, number) => {
      const made = history.references.tagOf(number);
      if (made?.tag === tag && made.version === version && made.branch === branch) return undefined;
      return `was acknowledged between ${from} and ${to} and left ${JSON.stringify(made)}`;
    },
  };
}

export function deleteTag(writer: SimulatedWriter, id: string[]): Attempt {
  const tag = writer.simulation.pick(...TAGS);
  return {
    what: `delete the tag ${tag} of ${id}`,
    purpose: 'delete tag',
    run: (catalog) => catalog.deleteTableTag({ id, tag }),
    check: (_, from, to, number) =>
      writer.history.references.removedTag(number)
        ? undefined
        : `was acknowledged between ${from} and ${to} and removed nothing`,
  };
}

/** Reads what a tag names. */
export function readTag(writer: SimulatedWriter, id: string[]): Attempt {
  const tag = writer.simulation.pick(...TAGS);
  return {
    what: `read the tag ${tag} of ${id}`,
    run: (catalog) => catalog.describeTable({ id, tag, load_detailed_metadata: true }),
  };
}

export function createBranch(writer: SimulatedWriter, id: string[]): Attempt {
  const { simulation, history } = writer;
  const name = simulation.pick(...BRANCHES);
  const from = simulation.random() < 0.5 ? {} : { from_version: lately(writer) };
  const parent = simulation.random() < 0.7 ? {} : { from_branch: simulation.pick(...BRANCHES) };
  return {
    what: `branch ${name} of ${id} ${JSON.stringify({ ...from, ...parent })}`,
    purpose: 'create branch',
    run: (catalog) => catalog.createTableBranch({ id, name, ...from, ...parent }),
    check: (_, begun, ended, number) => {
      const made = [...history.references.branches.values()].filter(
        ({ operation, foreign, removed }) =>
          operation === number && !foreign && removed?.by !== number,
      );
      return made.length === 1
        ? undefined
        : `was acknowledged between ${begun} and ${ended} and is there ${made.length} times`;
    },
  };
}

export function deleteBranch(writer: SimulatedWriter, id: string[]): Attempt {
  const name = writer.simulation.pick(...BRANCHES);
  return {
    what: `delete the branch ${name} of ${id}`,
    purpose: 'delete branch',
    run: (catalog) => catalog.deleteTableBranch({ id, name }),
    check: (_, from, to) => {
      const gone = [...writer.history.references.branches.values()].some(
        (branch) => branch.name === name && branch.removed && branch.removed.step >= from,
      );
      return gone ? undefined : `was acknowledged between ${from} and ${to} and removed nothing`;
    },
  };
}

export function deleteVersions(writer: SimulatedWriter, id: string[]): Attempt {
  const end = lately(writer);
  const start = Math.max(0, end - 1 - writer.simulation.below(4));
  return {
    what: `delete the versions from ${start} to ${end} of ${id}`,
    run: (catalog) =>
      catalog.batchDeleteTableVersions({
        id,
        ranges: [{ start_version: start, end_version: end }],
      }),
  };
}

/** New versions of several tables with the rows they have, all of them or none. */
export function batch(writer: SimulatedWriter, ids: readonly string[][]): Attempt {
  return {
    what: `a batch of ${ids.join(' and ')}`,
    apply: (rows) => rows,
    exact: true,
    versions: ids.length,
    run: async (catalog) => {
      const operations = [];
      for (const id of ids)
        operations.push({ create_table_version: await staged(writer, catalog, id) });
      return catalog.batchCommitTables({ operations });
    },
  };
}

/** The newest version once more, as a caller stages it. */
async function staged(writer: SimulatedWriter, catalog: DirectoryNamespace, id: string[]) {
  const { process } = writer;
  const { base } = process.simulation;
  const newest = (await catalog.describeTableVersion({ id })).version.manifest_path;
  // A caller whose table moves away finds nothing to build on.
  if (base.lstatSync(newest, { throwIfNoEntry: false }) === undefined)
    throw new DirspaceError('TableNotFound', `${newest} is gone`);
  const found = decodeVersion(readAll(base, newest), newest);
  if (!('manifest' in found)) throw new Error(`${newest} is no manifest`);
  const { manifest, checksum } = found;
  const { version, branch, table } = manifest;
  const next = {
    ...manifest,
    version: version + 1,
    parent: { version, branch, checksum },
    transaction: `${table}.${process.env.uuid()}`,
    batch: undefined,
    operation: { kind: 'update' as const, summary: {} },
  };
  const folder = newest.slice(0, newest.lastIndexOf('/'));
  const manifest_path = `${folder}/staged-${process.env.uuid()}.json`;
  const fd = base.openSync(manifest_path, 'wx', 0o600);
  try {
    const { bytes } = encodeManifest(next);
    base.writeSync(fd, bytes, 0, bytes.byteLength, null);
  } finally {
    base.closeSync(fd);
  }
  return { id, version: version + 1, manifest_path };
}
