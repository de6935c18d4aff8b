/**
 * Exports `diffBranch`, which compares a branch with main, `cherryPick`, which brings the changes
 * of a branch to main, and `stageClone`, which builds a new table from a version of another.
 */

export {
  type CherryPicked,
  type CherryPickOptions,
  cherryPick,
  type Obstacle,
} from './cherry-pick.ts';
export { type BranchDifference, diffBranch } from './diff-branch.ts';
export { type CloneOptions, stageClone } from './stage-clone.ts';
