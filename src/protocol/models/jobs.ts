/**
 * Defines the JSON Schemas and TypeScript types of requests and responses about jobs. A job is a
 * long operation that a catalog carries out in the background. `JOB_TYPES` lists the operations
 * that can run as a job (`JOB_OPERATIONS`), with the names by which programs know their jobs.
 * `jobType` returns that name; for an operation that is not listed, it returns the operation's own
 * name.
 */

import { request, response } from './common.ts';
import {
  anyObject,
  array,
  boolean,
  count,
  object,
  oneOf,
  ref,
  type Static,
  string,
} from './model-schema.ts';

/**
 * What a job can carry out, which are operations on one table that may take long, with the names
 * that programs know such jobs by.
 */
export const JOB_TYPES = {
  CreateTableIndex: 'create_index',
  CreateTableScalarIndex: 'create_index',
  OptimizeTable: 'optimize',
  CleanupTable: 'cleanup',
  AlterTableBackfillColumns: 'refresh_column',
  RefreshMaterializedView: 'refresh_materialized_view',
} as const;
export type JobOperation = keyof typeof JOB_TYPES;
export const JOB_OPERATIONS = Object.keys(JOB_TYPES) as readonly JobOperation[];

/** Operations that a later release has are known by their own names. */
export const jobType = (operation: string): string =>
  Object.hasOwn(JOB_TYPES, operation) ? JOB_TYPES[operation as JobOperation] : operation;

const id = array(string);

export const JobProgress = object({ rows_done: count, rows_total: count });
export type JobProgress = Static<typeof JobProgress>;

/** `code` is the name of the error, as in docs/errors.md. */
export const JobFailure = object({ code: string, message: string, retryable: boolean });
export type JobFailure = Static<typeof JobFailure>;

const known = {
  job_id: string,
  /** The id of the table that the job works on. */
  id,
  operation: string,
  /** Running until it ends in one of the others. */
  state: oneOf('running', 'finished', 'failed', 'cancelled'),
  /** Milliseconds since the epoch. */
  created_at_millis: count,
  /** What the operation was asked for, beside the id. */
  parameters: anyObject,
};
const later = {
  ended_at_millis: count,
  /** Absent where the operation tells none. */
  progress: ref<JobProgress>('JobProgress'),
  /** What the operation answered. */
  result: anyObject,
  failure: ref<JobFailure>('JobFailure'),
};

export const JobContent = object(known, later);
export type JobContent = Static<typeof JobContent>;

export const BeginJobRequest = request({ operation: string }, { id, parameters: anyObject });
export type BeginJobRequest = Static<typeof BeginJobRequest>;
export const BeginJobResponse = response(known, later);
export type BeginJobResponse = Static<typeof BeginJobResponse>;

export const DescribeJobRequest = request({ job_id: string });
export type DescribeJobRequest = Static<typeof DescribeJobRequest>;
export const DescribeJobResponse = response(known, later);
export type DescribeJobResponse = Static<typeof DescribeJobResponse>;

export const ListJobsRequest = request({});
export type ListJobsRequest = Static<typeof ListJobsRequest>;
export const ListJobsResponse = response({ jobs: array(ref<JobContent>('JobContent')) });
export type ListJobsResponse = Static<typeof ListJobsResponse>;

export const CancelJobRequest = request({ job_id: string });
export type CancelJobRequest = Static<typeof CancelJobRequest>;
export const CancelJobResponse = response(known, later);
export type CancelJobResponse = Static<typeof CancelJobResponse>;
