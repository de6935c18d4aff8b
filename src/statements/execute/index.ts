/**
 * `relationOf` carries out a plan and returns its rows, batch by batch. An inner join keeps the
 * side in memory that is estimated to have fewer rows. A semi or anti join with keys keeps the right
 * side (its keys alone, if it has no other condition), or the rows of the left side if these are
 * estimated to be less than half as many. Other joins keep the right side.
 */

import { isHalf, type Plan, rowsOf } from '../steps/index.ts';
import { expandedRows } from './expand.ts';
import { groupedRows } from './group.ts';
import { joinedRows } from './join.ts';
import { markedRows } from './mark.ts';
import { recursiveRows, workingRows } from './recursive.ts';
import type { Relation, Work } from './relation.ts';
import {
  checkedRows,
  filteredRows,
  limitedRows,
  projectedRows,
  repeatedRows,
  singleRow,
  unitedRows,
  writtenRows,
} from './rows.ts';
import { scanned } from './scan.ts';
import { matchedRows } from './semi-join.ts';
import { sortedRows } from './sort.ts';
import { knownRow } from './statistics.ts';
import { windowedRows } from './window.ts';

export type { Work } from './relation.ts';

/** @param isEncoded whether columns may have dictionaries that the schema does not say */
export function relationOf(plan: Plan, work: Work, isEncoded = false): Relation {
  switch (plan.kind) {
    case 'scan':
      return scanned(plan, isEncoded);
    case 'filter':
      return filteredRows(relationOf(plan.input, work, isEncoded), plan.condition, work);
    case 'project':
      return projectedRows(relationOf(plan.input, work, isEncoded), plan, work);
    case 'join': {
      const left = relationOf(plan.left, work);
      const right = relationOf(plan.right, work);
      if (isHalf(plan.join) && plan.keys.length > 0 && plan.condition === undefined) {
        const keepsLeft = 2 * rowsOf(plan.left) < rowsOf(plan.right);
        return matchedRows({ left, right, step: plan, keepsLeft }, work);
      }
      const keepsLeft =
        (plan.join === 'inner' && rowsOf(plan.left) < rowsOf(plan.right)) ||
        (isHalf(plan.join) && plan.keys.length > 0 && 2 * rowsOf(plan.left) < rowsOf(plan.right));
      return joinedRows({ left, right, step: plan, keepsLeft, isEncoded }, work);
    }
    case 'mark':
      return markedRows(relationOf(plan.left, work), relationOf(plan.right, work), plan, work);
    case 'group': {
      const read = (): Relation => groupedRows(relationOf(plan.input, work, true), plan, work);
      return knownRow(plan, work, read) ?? read();
    }
    case 'window':
      return windowedRows(relationOf(plan.input, work), plan, work);
    case 'sort':
      return sortedRows(relationOf(plan.input, work), plan.keys, plan.limit, work);
    case 'limit':
      return limitedRows(relationOf(plan.input, work), plan.limit, plan.offset);
    case 'union':
      return unitedRows(
        plan.inputs.map((input) => relationOf(input, work)),
        plan.schema,
        work,
      );
    case 'single':
      return singleRow(relationOf(plan.input, work), plan, work);
    case 'checked':
      return checkedRows(relationOf(plan.input, work), plan);
    case 'repeat':
      return repeatedRows(relationOf(plan.input, work), plan, work);
    case 'expand':
      return expandedRows(relationOf(plan.input, work), plan, work);
    case 'recursive':
      return recursiveRows(plan, work, relationOf);
    case 'working':
      return workingRows(plan, work);
    case 'values':
      return writtenRows(plan, work);
  }
}
