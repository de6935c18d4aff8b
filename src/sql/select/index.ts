/**
 * Predicates over columns that are compared with constants: counts and selects rows without evaluating
 * the whole tree.
 */

export { countCompared } from './count-compared.ts';
export { CountKernels, countKernels } from './count-kernels.ts';
export { selectCompared } from './select-compared.ts';
