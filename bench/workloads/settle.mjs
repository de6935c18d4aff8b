import { spawnSync } from 'node:child_process';

/**
 * What either side wrote and did not flush reaches the disk now. Without it our next flush would
 * wait for hundreds of megabytes that the peer left in memory.
 */
export function settle() {
  spawnSync('sync');
}
