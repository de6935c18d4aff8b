/** Work in steps: generators that yield where their caller may let other work go on. */

/** Runs it to its end, without a break. */
export function drained<Result>(steps: Generator<void, Result>): Result {
  for (;;) {
    const { done, value } = steps.next();
    if (done === true) return value;
  }
}
