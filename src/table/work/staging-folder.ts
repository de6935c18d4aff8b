/**
 * `stagingFolder` returns the path of a new folder under `.dirspace/staging/`, without creating it.
 * The name identifies the process, so that the folders of a dead process can be removed at once.
 */
import type { Env } from '../../env.ts';
import { STAGING_FOLDER } from '../../format/index.ts';
import { processTag } from '../../store/index.ts';

/** A new one, whose name tells the process: what a dead one left may be removed at once. */
export const stagingFolder = (env: Env): string =>
  `${STAGING_FOLDER}/${processTag()}-${env.uuid().replaceAll('-', '')}`;
