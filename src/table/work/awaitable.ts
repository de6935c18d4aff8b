/**
 * `andThen` is like `then`, but calls its function synchronously if the value is not a promise,
 * because a microtask takes as long as reading a few rows.
 */
import type { Awaitable } from '../../store/index.ts';

export const andThen = <Value, Result>(
  value: Awaitable<Value>,
  use: (value: Value) => Awaitable<Result>,
): Awaitable<Result> => (value instanceof Promise ? value.then(use) : use(value));
