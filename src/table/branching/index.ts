/**
 * Exports `diffBranch`, which compares a branch with main, and `cherryPick`, which brings the
 * changes of a branch to main.
 */

export {
  type CherryPicked,
  type CherryPickOptions,
  cherryPick,
  type Obstacle,
} from './cherry-pick.ts';
export { type BranchDifference, diffBranch } from './diff-branch.ts';
export { type CloneOptions, stageClone } from './stage-clone.ts';
