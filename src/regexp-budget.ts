/**
 * `RegexpBudget` counts the steps that the regular expressions of one request take. Callers report
 * steps with `take`, which throws InvalidInput once they exceed the limit, if one is set. The
 * matching in sql/regexp/ bounds the work on each single text, but a request may match very many
 * texts. `isTired` returns true once when 262,144 steps or more were taken since it last did; the
 * request should then let other work go on.
 */
import { DirspaceError } from './errors.ts';

/** Steps after which other work goes on: a few milliseconds. */
const TURN_STEPS = 1 << 18;

export class RegexpBudget {
  readonly limit: number;
  #done = 0;
  #atTurn = 0;

  /** @param limit steps: characters passed and states looked at; no bound if absent */
  constructor(limit: number = Number.POSITIVE_INFINITY) {
    this.limit = limit;
  }

  /** Counts steps that were done. @throws InvalidInput beyond the limit */
  take(steps: number): void {
    this.#done += steps;
    if (this.#done > this.limit) {
      throw new DirspaceError(
        'InvalidInput',
        `The regular expressions of this request take more than ${this.limit} steps (maxRegexpSteps). Search fewer rows, by another condition beside them, use simpler patterns or LIKE, or raise maxRegexpSteps.`,
        { details: { limit: 'maxRegexpSteps', maxRegexpSteps: this.limit } },
      );
    }
  }

  /** Whether so many steps were done since this was last true that other work should go on. */
  isTired(): boolean {
    if (this.#done - this.#atTurn < TURN_STEPS) return false;
    this.#atTurn = this.#done;
    return true;
  }
}
