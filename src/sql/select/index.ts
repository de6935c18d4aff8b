/**
 * Exports counting and selecting rows by comparison with a constant, without evaluating a whole
 * tree.
 */

export { countCompared } from './count-compared.ts';
export { CountKernels, countKernels } from './count-kernels.ts';
export { selectCompared } from './select-compared.ts';
