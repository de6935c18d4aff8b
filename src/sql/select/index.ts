/**
 * Exports counting and selecting of rows by comparison with a constant, which need no evaluation of
 * a whole tree.
 */

export { countCompared } from './count-compared.ts';
export { CountKernels, countKernels } from './count-kernels.ts';
export { selectCompared } from './select-compared.ts';
