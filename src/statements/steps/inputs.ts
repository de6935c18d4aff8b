/**
 * `inputsOf` lists the steps that a step reads from. `withInputs` returns the step with each of
 * them replaced by the result of a function.
 */
import type { Plan } from './plan-tree.ts';

export function inputsOf(plan: Plan): readonly Plan[] {
  switch (plan.kind) {
    case 'scan':
    case 'values':
    case 'working':
      return [];
    case 'recursive':
      return [plan.base, plan.step];
    case 'join':
    case 'mark':
      return [plan.left, plan.right];
    case 'union':
      return plan.inputs;
    default:
      return [plan.input];
  }
}

/** The step over what `change` makes of its inputs, whose columns stay as they are. */
export function withInputs(plan: Plan, change: (input: Plan) => Plan): Plan {
  switch (plan.kind) {
    case 'scan':
    case 'values':
    case 'working':
      return plan;
    case 'recursive':
      return { ...plan, base: change(plan.base), step: change(plan.step) };
    case 'join':
    case 'mark':
      return { ...plan, left: change(plan.left), right: change(plan.right) };
    case 'union':
      return { ...plan, inputs: plan.inputs.map(change) };
    default:
      return { ...plan, input: change(plan.input) };
  }
}
