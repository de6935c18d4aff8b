/**
 * Defines the types of indexes that this release builds. `indexTypeOf` parses their names, with or
 * without separators and in any case, such as `LABEL_LIST` and `LabelList`. `INVERTED` stands for
 * `FTS`, and all IVF types of LanceDB, such as `IVF_PQ`, stand for one type, `IVF_SQ`. A type that
 * only other engines have throws Unsupported with advice; an unknown name throws InvalidInput.
 */
import { DirspaceError } from '../errors.ts';

/** Sorted values; compares, ranges, prefixes. */
export const BTREE = 'BTREE';

/** The rows of each value. */
export const BITMAP = 'BITMAP';

/** The rows of each item of lists. */
export const LABEL_LIST = 'LABEL_LIST';

/** The words of texts, for full-text search. */
export const FTS = 'FTS';

/** Partitions of vectors, which are kept in a byte for each element, and a bit. */
export const IVF = 'IVF_SQ';

/** What is asked for where others build what they call so. */
const IVF_NAMES: readonly string[] = [
  'IVFSQ',
  'IVFFLAT',
  'IVFPQ',
  'IVFRQ',
  'IVFHNSWFLAT',
  'IVFHNSWSQ',
  'IVFHNSWPQ',
];

export type IndexType = ScalarIndexType | typeof FTS | typeof IVF;
export type ScalarIndexType = typeof BTREE | typeof BITMAP | typeof LABEL_LIST;
export const SCALAR_INDEXES: readonly string[] = [
  BTREE,
  BITMAP,
  LABEL_LIST,
] satisfies ScalarIndexType[];

/** Types that LanceDB's clients ask for, and what to do without them. */
const ELSEWHERE: Readonly<Record<string, string>> = {
  FM: 'LIKE scans the column.',
  NGRAM: 'LIKE scans the column.',
  ZONEMAP: 'Every fragment holds the bounds of its batches already.',
  BLOOMFILTER: 'Create a BTREE, which finds equal values.',
  RTREE: 'Conditions on places scan the column.',
};
const VECTORS =
  'Of vectors, ask for IVF_SQ, IVF_FLAT, IVF_PQ, IVF_RQ or IVF_HNSW_SQ, all of which give one of type IVF_SQ.';

/**
 * The type of that name, however it is written.
 * @throws Unsupported, InvalidInput for one that is none
 */
export function indexTypeOf(name: string): IndexType {
  const folded = name.replaceAll(/[_\s-]/g, '').toUpperCase();
  if (folded === FTS || folded === 'INVERTED') return FTS;
  if (IVF_NAMES.includes(folded)) return IVF;
  const known = SCALAR_INDEXES.find((type) => type.replaceAll('_', '') === folded);
  if (known !== undefined) return known as ScalarIndexType;
  const advice = Object.hasOwn(ELSEWHERE, folded) ? ELSEWHERE[folded] : undefined;
  const instead = advice ?? (/^(IVF|HNSW|VECTOR)/.test(folded) ? VECTORS : undefined);
  const built = [...SCALAR_INDEXES, FTS, IVF].join(', ');
  throw new DirspaceError(
    instead === undefined ? 'InvalidInput' : 'Unsupported',
    instead === undefined
      ? `There is no type of index ${JSON.stringify(name.slice(0, 80))}; this release builds ${built}.`
      : `This release builds no index of type ${name.slice(0, 80)}; it builds ${built}. ${instead}`,
    { details: { index_type: name.slice(0, 80) } },
  );
}
