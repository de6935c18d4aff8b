/**
 * Exports the comparison of a branch with main, and bringing what a branch changed to main.
 */

export {
  type CherryPicked,
  type CherryPickOptions,
  cherryPick,
  type Obstacle,
} from './cherry-pick.ts';
export { type BranchDifference, diffBranch } from './diff-branch.ts';
