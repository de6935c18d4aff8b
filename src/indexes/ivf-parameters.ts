/**
 * `ivfRequest` checks the options of a request for an IVF index and converts them to the parameters
 * that the manifest keeps. Unknown options or distances, too large numbers, and both a number and a
 * size of partitions throw InvalidInput, and hamming distances throw Unsupported. All IVF types
 * build one kind of index, so options for the forms of other engines, such as `num_sub_vectors`,
 * are recorded without effect. `ivfParameters` reads the parameters back, with defaults for missing
 * or invalid members.
 */

import { DirspaceError } from '../errors.ts';
import type { JsonObject } from '../json.ts';
import { type IvfMetric, MOST_PARTITIONS } from './ivf/index.ts';

/** Options of every type of IVF index, by their members of the protocol. */
const OPTIONS: readonly string[] = [
  'distance_type',
  'num_partitions',
  'target_partition_size',
  'sample_rate',
  'max_iterations',
];
/**
 * Options that say how other engines keep vectors or graphs of them, by the type that they belong
 * to.
 */
const ELSEWHERE: readonly (readonly [RegExp, readonly string[]])[] = [
  [/PQ$/, ['num_sub_vectors', 'num_bits']],
  [/RQ$/, ['num_bits']],
  [/HNSW/, ['m', 'ef_construction']],
];

const METRICS: readonly string[] = ['l2', 'cosine', 'dot'] satisfies IvfMetric[];
const SAMPLE_RATE = 64;
const ITERATIONS = 8;
const MOST_ITERATIONS = 1_000;
/**
 * Partitions of a segment at most, times the root of its rows: finding their centroids compares
 * samples of all partitions with all centroids, so that twice as many take four times as long.
 */
const MOST_PER_ROOT = 4;

export interface IvfParameters {
  readonly metric: IvfMetric;
  /**
   * How many partitions a segment of this many rows has: as requested by their number or size, else
   * a quarter of the root of the rows; no more than four times that root.
   */
  partitions(rows: number): number;
  /** Vectors sampled for each centroid, to find centroids. */
  readonly sampleRate: number;
  readonly iterations: number;
}

/**
 * @param type as it was asked for
 * @throws InvalidInput naming an option that is unknown or out of bounds, Unsupported for hamming
 */
export function ivfRequest(type: string, given: JsonObject): JsonObject {
  const asked = type.replaceAll(/[_\s-]/g, '').toUpperCase();
  const parameters: Record<string, unknown> = { distance_type: 'l2' };
  const requested: Record<string, unknown> = { index_type: type.slice(0, 80) };
  for (const [member, value] of Object.entries(given)) {
    if (OPTIONS.includes(member)) parameters[member] = value;
    else if (ELSEWHERE.some(([of, members]) => of.test(asked) && members.includes(member))) {
      requested[member] = value;
    } else {
      throw new DirspaceError(
        'InvalidInput',
        `An index of type ${type.slice(0, 80)} has no option ${member}. Leave it out; there are ${OPTIONS.join(', ')}.`,
        { details: { member } },
      );
    }
  }
  parameters.distance_type = metricNamed(parameters.distance_type);
  checkMost(parameters, 'num_partitions', MOST_PARTITIONS);
  checkMost(parameters, 'max_iterations', MOST_ITERATIONS);
  if (parameters.num_partitions !== undefined && parameters.target_partition_size !== undefined) {
    throw new DirspaceError(
      'InvalidInput',
      'The request has both num_partitions and target_partition_size; give one of them.',
      { details: { member: 'target_partition_size' } },
    );
  }
  return { ...parameters, requested };
}

function metricNamed(value: unknown): IvfMetric {
  const metric = String(value).toLowerCase();
  if (METRICS.includes(metric)) return metric as IvfMetric;
  const isHamming = metric === 'hamming';
  throw new DirspaceError(
    isHamming ? 'Unsupported' : 'InvalidInput',
    isHamming
      ? 'There is no index for hamming distances: they are searched exactly without one.'
      : `There is no distance ${JSON.stringify(metric.slice(0, 80))} that an index can be for; use one of ${METRICS.join(', ')}.`,
    { details: { member: 'distance_type' } },
  );
}

function checkMost(parameters: JsonObject, member: string, most: number): void {
  const value = parameters[member];
  if (value === undefined || (value as number) <= most) return;
  throw new DirspaceError('InvalidInput', `${member} is ${value}, and ${most} is the most.`, {
    details: { member },
  });
}

/** Reads the parameters of a manifest; members that are missing or invalid have their defaults. */
export function ivfParameters(parameters: JsonObject): IvfParameters {
  const metric = String(parameters.distance_type);
  const own = countOf(parameters.num_partitions);
  const size = countOf(parameters.target_partition_size);
  return {
    metric: METRICS.includes(metric) ? (metric as IvfMetric) : 'l2',
    partitions: (rows) => {
      const wanted = own ?? (size === undefined ? Math.sqrt(rows) / 4 : rows / size);
      const most = Math.min(MOST_PARTITIONS, Math.ceil(MOST_PER_ROOT * Math.sqrt(rows)), rows);
      return Math.max(1, Math.min(most, Math.round(wanted)));
    },
    sampleRate: countOf(parameters.sample_rate) ?? SAMPLE_RATE,
    iterations: Math.min(MOST_ITERATIONS, countOf(parameters.max_iterations) ?? ITERATIONS),
  };
}

const countOf = (value: unknown): number | undefined =>
  Number.isSafeInteger(value) && (value as number) > 0 ? (value as number) : undefined;
