/**
 * `FolderInspector` lists the folders of a table for verify and records problems and leftovers in
 * `Findings`, which also counts what was checked (`countBytes`). A folder that cannot be read is a
 * problem, not an error, and counts as empty. `stray` notes a file that should not be there: as a
 * leftover if an interrupted write left it, otherwise as a problem. `isTemporaryFile` recognises
 * such a leftover by its name.
 */
import { isTemporary, joinPath } from '../../format/index.ts';
import type { VerifiedKind, VerifyLeftover, VerifyProblem } from '../../protocol/index.ts';
import type { ReadableStore } from '../../store/index.ts';
import { problemIn } from './verify-files.ts';

/** The problems, leftovers and counts found so far; all verifiers share them. */
export interface Findings {
  readonly problems: VerifyProblem[];
  readonly leftovers: VerifyLeftover[];
  readonly counts: {
    namespaces: number;
    tables: number;
    branches: number;
    tags: number;
    versions: number;
    fragments: number;
    bytes: number;
  };
  /** Called when bytes were counted. */
  readonly onRead?: () => void;
}

/** Bytes whose checksums were computed. */
export function countBytes(findings: Findings, bytes: number): void {
  findings.counts.bytes += bytes;
  findings.onRead?.();
}

/** Something that lies in a folder. */
export interface Entry {
  readonly name: string;
  readonly kind: string;
  readonly path: string;
}

export const isTemporaryFile = ({ name, kind }: Entry): boolean =>
  kind === 'file' && isTemporary(name);

export class FolderInspector {
  readonly findings: Findings;
  readonly #store: ReadableStore;

  constructor(store: ReadableStore, findings: Findings) {
    this.#store = store;
    this.findings = findings;
  }

  problem(path: string, kind: VerifiedKind, what: string): void {
    this.findings.problems.push({ path, kind, what });
  }

  leftover(path: string, kind: VerifyLeftover['kind']): void {
    this.findings.leftovers.push({ path, kind });
  }

  /** In order of names. A folder that cannot be read is a problem, and has nothing in it. */
  async list(folder: string): Promise<Entry[]> {
    let entries: { name: string; kind: string }[] = [];
    const problem = await problemIn(async () => {
      entries = (await this.#store.list(folder)) ?? [];
    });
    if (problem !== undefined) this.problem(folder, 'unknown', problem);
    return entries
      .map(({ name, kind }) => ({ name, kind, path: joinPath(folder, name) }))
      .sort((a, b) => (a.name < b.name ? -1 : 1));
  }

  /** Notes what should not be there, and what a write in progress left. */
  stray(entry: Entry): void {
    const { path } = entry;
    if (isTemporaryFile(entry)) this.leftover(path, 'temporary');
    else this.problem(path, 'unknown', 'It is nothing that the engine makes.');
  }
}
