/**
 * `Metrics` counts requests, their durations and bytes, and the limits that they reach (`ended`),
 * and answers to bytes that are no request (`malformed`). `answer` writes the answer of `/metrics`.
 * It also has the commits and cache hits of the catalogs that the server opened, the delays of the
 * event loop, and the memory of the process. Labels have few possible values, such as routes and
 * statuses, and never name tables or callers.
 */

import type { CacheCounts, Counters } from '../../counters.ts';
import { isDirspaceError } from '../../errors.ts';
import type { ServerMemory } from '../../request-memory.ts';
import { ClientGone, type HttpAnswer, type RequestState, RequestTimeout } from '../http/index.ts';
import { DEFAULT_LIMITS, type QueueCount } from '../settings/index.ts';
import type { EventLoopPressure } from './pressure.ts';
import { type Family, METRICS_TYPE, metricsText, numberText, type Sample } from './prometheus.ts';

export interface MetricsFacts {
  /** Requests that began and have not ended. */
  readonly inFlight: () => number;
  readonly queue: QueueCount;
  readonly pressure: EventLoopPressure;
  readonly serverMemory: ServerMemory;
  /** Undefined where all catalogs were given to the server open. */
  readonly counters: Counters | undefined;
}

/** Seconds; one more bucket takes what is longer. */
const BUCKETS = [
  0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 120,
];

/** The requests of one route. */
class RouteCounts {
  readonly statuses = new Map<string, number>();
  readonly buckets: number[] = Array.from({ length: BUCKETS.length + 1 }, () => 0);
  count = 0;
  seconds = 0;
}

export class Metrics {
  readonly #facts: MetricsFacts;
  readonly #routes = new Map<string, RouteCounts>();
  readonly #malformed = new Map<string, number>();
  readonly #refused = new Map<string, number>();
  #received = 0;
  #sent = 0;

  constructor(facts: MetricsFacts) {
    this.#facts = facts;
  }

  /** To be called once for each request, when it has ended. */
  ended(state: RequestState, status: number): void {
    const route = state.route ?? 'unknown';
    let counts = this.#routes.get(route);
    if (counts === undefined) {
      counts = new RouteCounts();
      this.#routes.set(route, counts);
    }
    const seconds = (performance.now() - state.begun) / 1000;
    const bucket = BUCKETS.findIndex((bound) => seconds <= bound);
    (counts.buckets[bucket < 0 ? BUCKETS.length : bucket] as number)++;
    counts.count++;
    counts.seconds += seconds;
    add(counts.statuses, endOf(state, status));
    this.#received += state.received;
    this.#sent += state.sent;
    const limit = limitOf(state.failure ?? state.brokenOff);
    if (limit !== undefined) add(this.#refused, limit);
  }

  /** Bytes that were no request were answered with that status. */
  malformed(status: number): void {
    add(this.#malformed, String(status));
  }

  answer(): HttpAnswer {
    const body = metricsText([
      ...this.#requestFamilies(),
      ...this.#catalogFamilies(),
      ...processFamilies(this.#facts),
    ]);
    return { status: 200, headers: { 'content-type': METRICS_TYPE }, body };
  }

  #requestFamilies(): Family[] {
    const { inFlight, queue } = this.#facts;
    const routes = [...this.#routes];
    return [
      {
        name: 'dirspace_requests_total',
        type: 'counter',
        help: 'Requests that ended, by operation and status; gone where the caller left, broken where the answer broke off.',
        samples: routes.flatMap(([operation, { statuses }]) =>
          [...statuses].map(([status, value]) => ({ labels: { operation, status }, value })),
        ),
      },
      {
        name: 'dirspace_request_duration_seconds',
        type: 'histogram',
        help: 'Time from the headers of a request to the end of its answer.',
        samples: routes.flatMap(([operation, counts]) => histogram(operation, counts)),
      },
      gauge(
        'dirspace_requests_in_flight',
        'Requests under way, those that wait included.',
        inFlight(),
      ),
      gauge('dirspace_requests_queued', 'Requests that wait for a place.', queue.waiting),
      {
        name: 'dirspace_requests_refused_total',
        type: 'counter',
        help: 'Requests that a limit ended, by its name.',
        samples: samplesOf(this.#refused, 'limit'),
      },
      {
        name: 'dirspace_malformed_requests_total',
        type: 'counter',
        help: 'Answers to bytes that are no HTTP request, by status.',
        samples: samplesOf(this.#malformed, 'status'),
      },
      counter(
        'dirspace_request_body_bytes_total',
        'Bytes read of the bodies of requests that ended.',
        this.#received,
      ),
      counter(
        'dirspace_response_body_bytes_total',
        'Bytes sent of the bodies of answers that ended.',
        this.#sent,
      ),
    ];
  }

  #catalogFamilies(): Family[] {
    const { counters } = this.#facts;
    if (counters === undefined) return [];
    const { commits, conflicts, metadata, heads, buffers } = counters;
    const caches = Object.entries({ metadata, heads, buffers });
    const samples = (count: (cache: CacheCounts) => number): Sample[] =>
      caches.map(([cache, counts]) => ({ labels: { cache }, value: count(counts) }));
    return [
      counter(
        'dirspace_commits_total',
        'Versions of tables that were committed; a new branch and a repair make others.',
        commits,
      ),
      counter(
        'dirspace_commit_conflicts_total',
        'Attempts at a version that another writer was faster with.',
        conflicts,
      ),
      {
        name: 'dirspace_cache_hits_total',
        type: 'counter',
        help: 'Look-ups that a cache answered.',
        samples: samples(({ hits }) => hits),
      },
      {
        name: 'dirspace_cache_misses_total',
        type: 'counter',
        help: 'Look-ups that a cache had no answer to.',
        samples: samples(({ misses }) => misses),
      },
    ];
  }
}

function processFamilies({ pressure, serverMemory }: MetricsFacts): Family[] {
  const { count, seconds, median, high, longest } = pressure.delays;
  const { rss, heapUsed, heapTotal, external } = process.memoryUsage();
  return [
    {
      name: 'dirspace_event_loop_delay_seconds',
      type: 'summary',
      help: 'How late turns of the event loop are; quantiles of a second or more before the last reading.',
      samples: [
        { labels: { quantile: '0.5' }, value: median },
        { labels: { quantile: '0.99' }, value: high },
        { labels: { quantile: '1' }, value: longest },
        { suffix: '_sum', value: seconds },
        { suffix: '_count', value: count },
      ],
    },
    gauge(
      'dirspace_server_memory_taken_bytes',
      'Counted memory of all requests under way.',
      serverMemory.taken,
    ),
    gauge('dirspace_server_memory_limit_bytes', 'The limit serverMemory.', serverMemory.limit),
    gauge('process_resident_memory_bytes', 'Resident memory of the process.', rss),
    gauge('nodejs_heap_size_used_bytes', 'Used heap of the process.', heapUsed),
    gauge('nodejs_heap_size_total_bytes', 'Heap of the process.', heapTotal),
    gauge('nodejs_external_memory_bytes', 'Memory of buffers outside of the heap.', external),
    gauge(
      'process_start_time_seconds',
      'Start of the process in seconds since the epoch.',
      performance.timeOrigin / 1000,
    ),
  ];
}

function add(counts: Map<string, number>, key: string): void {
  counts.set(key, (counts.get(key) ?? 0) + 1);
}

function endOf({ progress, brokenOff }: RequestState, status: number): string {
  if (progress.reason instanceof ClientGone) return 'gone';
  return brokenOff === undefined ? String(status) : 'broken';
}

/** The name of the limit of the server that a request has run into. */
function limitOf(failure: unknown): string | undefined {
  if (failure instanceof RequestTimeout) return failure.limit;
  if (!isDirspaceError(failure)) return undefined;
  const { limit } = failure.details;
  // What the reader of Arrow data calls it.
  if (limit === 'maxContentBytes') return 'maxArrowBytes';
  return typeof limit === 'string' && Object.hasOwn(DEFAULT_LIMITS, limit) ? limit : undefined;
}

const samplesOf = (counts: ReadonlyMap<string, number>, label: string): Sample[] =>
  [...counts].map(([key, value]) => ({ labels: { [label]: key }, value }));

function histogram(operation: string, { buckets, count, seconds }: RouteCounts): Sample[] {
  let below = 0;
  return [
    ...buckets.map((own, at): Sample => {
      below += own;
      const le = numberText(BUCKETS[at] ?? Number.POSITIVE_INFINITY);
      return { suffix: '_bucket', labels: { operation, le }, value: below };
    }),
    { suffix: '_sum', labels: { operation }, value: seconds },
    { suffix: '_count', labels: { operation }, value: count },
  ];
}

const gauge = (name: string, help: string, value: number): Family => ({
  name,
  type: 'gauge',
  help,
  samples: [{ value }],
});

const counter = (name: string, help: string, value: number): Family => ({
  ...gauge(name, help, value),
  type: 'counter',
});
