/**
 * Protects the engine from small staged manifests that would need gigabytes of memory: Lance
 * stores nulls and absent columns in no bytes, and a dictionary's text once for any number of
 * rows, but this engine writes them all out. Rows may take 256 MiB, or 64 bytes for each byte of
 * the data files if that is more. Before files are read, `checkCosts` throws InvalidInput if the
 * rows take more at least, or if a new fragment has no field of the table. `RowCosts` throws it
 * while rows are read.
 */
import { type Data, dataBytes } from '../../arrow/index.ts';
import { nullBytes } from '../../format/index.ts';
import type { IdentifiedField } from '../fields/index.ts';
import { invalid } from './refusals.ts';
import type { StagedChange } from './staged-change.ts';
import type { PlannedFragment } from './staged-fragments.ts';

/**
 * Bytes that rows may take whatever the size of their data files, over all fragments of a manifest.
 */
const FREE_BYTES = 256 * 1024 * 1024;
/** Or, if that is more, this many bytes for each byte of the data files. */
const MOST_PER_BYTE = 64;

/** In short steps; reads no file. @throws InvalidInput naming the fragment */
export function* checkCosts({ plan, schema }: StagedChange): Generator<undefined, void> {
  let [taken, given] = [0, 0];
  for (const fragment of plan.fragments) {
    yield;
    const { id, rows, before, sources, places } = fragment;
    if (before === undefined && places.size === 0)
      throw invalid(`fragment ${id} is new, and none of its files has a field of the table`);
    if (sources === undefined) continue;
    // A row of nothing but nulls is a place in a batch yet.
    taken += rows * Math.max(1, rowBytes(sources, schema));
    given += fileBytes(fragment);
    // Each file is opened, and must have that size, before its rows are written.
    refuseBeyond(id, taken, given);
  }
}

/** Counts the bytes of the rows of a manifest as they are written. */
export class RowCosts {
  #taken = 0;
  #given = 0;

  begin(fragment: PlannedFragment): void {
    this.#given += fileBytes(fragment);
  }

  /** @param columns that were read from data files @throws InvalidInput naming the fragment */
  add({ id }: PlannedFragment, columns: readonly Data[]): void {
    for (const column of columns) this.#taken += dataBytes(column);
    refuseBeyond(id, this.#taken, this.#given);
  }
}

function refuseBeyond(id: number, taken: number, given: number): void {
  const most = Math.max(FREE_BYTES, given * MOST_PER_BYTE);
  if (taken <= most) return;
  throw invalid(
    `with fragment ${id} its rows take ${taken} bytes at least, and ${most} may come from data files of ${given} bytes. Leave out columns that are null in every row, or write fewer rows at once`,
  );
}

const fileBytes = ({ places }: PlannedFragment): number =>
  [...new Set([...places.values()].map(({ file }) => file))].reduce(
    (sum, { fileSize }) => sum + fileSize,
    0,
  );

/** Bytes that a row takes at least, without values in files that were there before. */
function rowBytes(
  sources: NonNullable<PlannedFragment['sources']>,
  { tree, isNew }: StagedChange['schema'],
): number {
  // A file has one column at least.
  if (sources.every((source) => source === 'nulls')) return costOf(tree[0] as IdentifiedField);
  const added = (field: IdentifiedField): number =>
    isNew(field.id) ? costOf(field) : field.children.reduce((sum, each) => sum + added(each), 0);
  return tree.reduce((sum, column, at) => {
    if (sources[at] === 'files') return sum + costOf(column);
    return sources[at] === 'before' ? sum + added(column) : sum;
  }, 0);
}

const costOf = ({ field }: IdentifiedField): number => nullBytes(field.type);
