/**
 * Exports jobs: handles on work that runs in the background (`Job`), in this process or where the
 * catalog is, and the jobs of a connection (`jobsOf`). `carriedOut` begins an operation as a job
 * of the catalog and waits for its end.
 */

export { type Asked, carriedOut } from './catalog-job.ts';
export { type Jobs, jobsOf } from './connection-jobs.ts';
export {
  Job,
  type JobEventsOptions,
  type JobFailureInfo,
  type JobInfo,
  type JobProgress,
  type JobState,
} from './jobs.ts';
export type { JobWork } from './local-job.ts';
