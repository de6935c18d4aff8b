/**
 * Exports `buildBatch`, which makes an Arrow record batch of row objects, and `buildContext`, which
 * makes the context that it needs. Also exports helpers for other folders of the SDK: checks of
 * values, places of values in the input (`Place`), and parts of error messages (`misfit`,
 * `showValue`).
 */

export { buildBatch, buildContext } from './build-column.ts';
export { fixedPlace, listPlace, structPlace } from './build-nested.ts';
export { type BuildContext, columnPlace, misfit, type Place } from './column-data.ts';
export { asBytes, asItems, isDate, isRecord, isThenable } from './js-values.ts';
export { hasMember, type Records, take } from './records.ts';
export { showValue } from './show-value.ts';
