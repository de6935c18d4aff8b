/**
 * Carries out ProfileTable (`profileTable`): returns statistics of the columns of a version, such
 * as nulls, bounds, distinct values, the most frequent ones and a histogram. If the time (200 ms
 * unless the request gives another) is too short to read all rows, they describe a sample, and the
 * answer says so. Unknown columns throw TableColumnNotFound, and a faulty filter InvalidInput.
 * `atMost` throws InvalidInput if a number in a request exceeds a limit.
 */
import { DirspaceError } from '../../../errors.ts';
import { MAIN_BRANCH } from '../../../format/index.ts';
import type {
  CallOptions,
  ProfiledColumn,
  ProfileTableRequest,
  ProfileTableResponse,
} from '../../../protocol/index.ts';
import {
  type ColumnProfile,
  profileTable as profileVersion,
  type Snapshot,
} from '../../../table/index.ts';
import { type Catalog, snapshotToRead } from '../../catalog/index.ts';

const BUDGET_MILLIS = 200;
const LONGEST_BUDGET_MILLIS = 600_000;
const BUCKETS = 20;
const TOP = 10;
/** Buckets and values that a request may ask for. */
const MOST = 1_000;

/** @throws TableColumnNotFound, InvalidInput for a faulty filter and beyond a bound */
export async function profileTable(
  catalog: Catalog,
  request: ProfileTableRequest,
  options: CallOptions = {},
): Promise<ProfileTableResponse> {
  const { budget_millis: budget = BUDGET_MILLIS, buckets = BUCKETS, top = TOP } = request;
  const snapshot = await snapshotToRead(catalog, { ...request, id: [...request.id] });
  const profile = await profileVersion(catalog.engine, snapshot, {
    columns: request.columns,
    filter: request.filter,
    budgetMillis: atMost('budget_millis', budget, LONGEST_BUDGET_MILLIS),
    buckets: atMost('buckets', buckets, MOST),
    top: atMost('top', top, MOST),
    signal: options.signal,
  });
  return {
    version: snapshot.version,
    ...branchOf(snapshot),
    rows: profile.rows,
    rows_exact: profile.rowsExact,
    sampled: profile.sampled,
    rows_scanned: profile.rowsScanned,
    rows_matched: profile.rowsMatched,
    elapsed_millis: Math.max(0, Math.round(profile.millis)),
    columns: profile.columns.map(profiledColumn),
  };
}

const branchOf = ({ branch: { branch } }: Snapshot): { branch?: string } =>
  branch === MAIN_BRANCH ? {} : { branch };

function profiledColumn(profile: ColumnProfile): ProfiledColumn {
  const { allNulls, mean, histogram } = profile;
  return {
    name: profile.name,
    data_type: profile.type,
    kind: profile.kind,
    rows: profile.rows,
    nulls: profile.nulls,
    nans: profile.nans,
    ...(allNulls === undefined ? {} : { all_nulls: allNulls }),
    min: profile.min,
    max: profile.max,
    bounds_exact: profile.boundsExact,
    ...(mean === undefined ? {} : { mean }),
    distinct: profile.distinct,
    distinct_exact: profile.distinctExact,
    top: profile.top,
    top_exact: profile.topExact,
    ...(histogram === undefined ? {} : { histogram }),
  };
}

/** @throws InvalidInput beyond a bound, naming the member */
export function atMost(member: string, value: number, most: number): number {
  if (value <= most) return value;
  throw new DirspaceError(
    'InvalidInput',
    `${member} is ${value}, and at most ${most} are answered. Ask for fewer.`,
    { details: { member } },
  );
}
