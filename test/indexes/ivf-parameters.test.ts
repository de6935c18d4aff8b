/** What requests ask of an IVF index, what a manifest keeps of it, and what is read back. */
import { expect, test } from 'vitest';
import { ivfParameters, ivfRequest } from '../../src/indexes/index.ts';

test.each([
  [{ num_partitions: 32_768 }, 1_000_000, 4_000],
  [{ target_partition_size: 1 }, 1_000_000, 4_000],
  [{ num_partitions: 32_768 }, 3, 3],
  [{ num_partitions: 300 }, 10_000, 300],
  [{}, 1_000_000, 250],
  [{}, 0, 1],
])('parameters %j of %i rows ask for %i partitions', (parameters, rows, partitions) => {
  expect(ivfParameters(parameters).partitions(rows)).toBe(partitions);
});

test('what a manifest has no valid value for has its default', () => {
  const usual = { metric: 'l2', sampleRate: 64, iterations: 8 };
  expect(ivfParameters({})).toMatchObject(usual);
  const wrong = {
    distance_type: 'mean',
    sample_rate: -1,
    max_iterations: 1.5,
    num_partitions: '9',
  };
  expect(ivfParameters(wrong)).toMatchObject(usual);
  expect(ivfParameters(wrong).partitions(1_000_000)).toBe(250);
  const given = { distance_type: 'dot', sample_rate: 3, max_iterations: 5_000 };
  expect(ivfParameters(given)).toMatchObject({ metric: 'dot', sampleRate: 3, iterations: 1_000 });
});

test('a request is kept as it was made, by the members that count and those that do not', () => {
  expect(ivfRequest('IVF_PQ', {})).toEqual({
    distance_type: 'l2',
    requested: { index_type: 'IVF_PQ' },
  });
  const asked = { distance_type: 'COSINE', num_partitions: 7, num_bits: 8, num_sub_vectors: 2 };
  expect(ivfRequest('ivf-pq', asked)).toEqual({
    distance_type: 'cosine',
    num_partitions: 7,
    requested: { index_type: 'ivf-pq', num_bits: 8, num_sub_vectors: 2 },
  });
  const graph = { m: 4, ef_construction: 9 };
  expect(ivfRequest('IVF_HNSW_SQ', graph).requested).toMatchObject(graph);
  expect(ivfRequest('IVF_RQ', { num_bits: 2 }).requested).toMatchObject({ num_bits: 2 });
});

test('options of other types, values out of bounds and two that exclude each other are refused', () => {
  // Requests of clients that know no kinds.
  for (const [type, member] of [
    ['IVF_FLAT', 'num_sub_vectors'],
    ['IVF_RQ', 'num_sub_vectors'],
    ['IVF_SQ', 'num_bits'],
    ['IVF_PQ', 'm'],
    ['IVF_HNSW_SQ', 'num_bits'],
    ['IVF_HNSW_SQ', 'with_position'],
  ] as const) {
    expect(() => ivfRequest(type, { [member]: 2 })).toThrow(`${type} has no option ${member}.`);
  }
  const refused = (given: object, message: string): void =>
    expect(() => ivfRequest('IVF_PQ', given as never)).toThrow(message);
  refused({ num_partitions: 40_000 }, 'num_partitions is 40000');
  refused({ max_iterations: 1_001 }, 'max_iterations is 1001');
  refused({ distance_type: 'mean' }, 'use one of l2, cosine, dot');
  refused({ distance_type: 'hamming' }, 'searched exactly without one');
  refused({ num_partitions: 2, target_partition_size: 3 }, 'give one of them');
  expect(ivfRequest('IVF_PQ', { num_partitions: 32_768, max_iterations: 1_000 })).toMatchObject({
    num_partitions: 32_768,
  });
});
