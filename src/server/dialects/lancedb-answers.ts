/**
 * `lancedbAnswer` converts the response of an operation to the form that LanceDB's clients read.
 * For example, it names column types as Lance does, and returns tags as a bare map. It returns
 * undefined if these clients read the protocol's own form.
 */
import {
  type AnyOperation,
  branchDiff,
  type CherryPickTableBranchResponse,
  cherryPickResult,
  type DiffTableBranchResponse,
  type JobContent,
  jobType,
  type Model,
  schemaFromJson,
  schemaToLanceJson,
} from '../../protocol/index.ts';

export function lancedbAnswer(operation: AnyOperation, response: unknown): unknown {
  switch (operation) {
    case 'DescribeTable': {
      const described = response as Model<'DescribeTableResponse'>;
      if (described.schema === undefined) return undefined;
      return { ...described, schema: schemaToLanceJson(schemaFromJson(described.schema)) };
    }
    case 'ListTableTags':
      return (response as Model<'ListTableTagsResponse'>).tags;
    case 'DiffTableBranch':
      return branchDiff(response as DiffTableBranchResponse);
    case 'CherryPickTableBranch':
      return cherryPickResult(response as CherryPickTableBranchResponse);
    case 'DescribeJob':
    case 'CancelJob':
      return lancedbJob(response as JobContent);
    case 'ListJobs':
      return { jobs: (response as Model<'ListJobsResponse'>).jobs.map(lancedbJob) };
    case 'MergeInsertIntoTable': {
      const merged = response as Model<'MergeInsertIntoTableResponse'>;
      const { num_inserted_rows: inserted = 0, num_updated_rows: updated = 0 } = merged;
      return { ...merged, num_rows: inserted + updated };
    }
    case 'UpdateTable': {
      const updated = response as Model<'UpdateTableResponse'>;
      return { ...updated, rows_updated: updated.updated_rows };
    }
    default:
      return undefined;
  }
}

const JOB_STATES = {
  running: 'IN_PROGRESS',
  finished: 'DONE',
  failed: 'FAILED',
  cancelled: 'CANCELLED',
} as const;

/** A job as its clients read it, described or in a list. */
const lancedbJob = (job: JobContent): object => ({
  job_id: job.job_id,
  job_state: JOB_STATES[job.state],
  state: JOB_STATES[job.state],
  table: job.id.at(-1),
  table_name: job.id.at(-1),
  job_type: jobType(job.operation),
  creation_ms: job.created_at_millis,
  created_at_millis: job.created_at_millis,
  spec: job.parameters,
  ...(job.result === undefined ? {} : { result: job.result }),
  ...(job.failure === undefined
    ? {}
    : {
        failure: {
          phase: jobType(job.operation),
          message: job.failure.message,
          retryable: job.failure.retryable,
        },
      }),
});
