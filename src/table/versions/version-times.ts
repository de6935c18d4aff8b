/**
 * Decides the timestamp of a new version (`nextTimestamp`) and when older ones were superseded
 * (`Supersession`), although the clocks of some writers may be wrong. Clocks may lie five minutes
 * apart (`MAX_CLOCK_SKEW`). If times contradict each other, a version counts as superseded late
 * rather than early, but never later than now. `Supersession.at` must be asked for places in
 * ascending order. Versions are ordered by number; times only tell how old one is.
 */

/**
 * How far clocks of writers may lie apart and their versions still be in order, in milliseconds.
 */
export const MAX_CLOCK_SKEW: number = 5 * 60_000;

/**
 * The timestamp of a version made now on a parent of that timestamp. It does not run ahead of the
 * writer's clock by more than the skew: a parent dated later than that was made by a wrong clock.
 */
export function nextTimestamp(now: number, parent: number | undefined): number {
  return parent !== undefined && parent > now && parent - now <= MAX_CLOCK_SKEW ? parent : now;
}

/**
 * When the versions of a branch were superseded: at the time of the next one. Where times
 * contradict each other it errs to the late side, so that a reader never has less time than was
 * promised: what is dated after now was superseded before the next version that is not, and nothing
 * was superseded before an older version was made.
 */
export class Supersession {
  readonly #count: number;
  readonly #timeOf: (at: number) => Promise<number | undefined>;
  readonly #now: number;
  readonly #times = new Map<number, number | undefined>();
  #latest = 0;
  #next = 0;
  #done = -1;

  /** @param timeOf the timestamp of the version at that place; undefined for one never visible */
  constructor(count: number, timeOf: (at: number) => Promise<number | undefined>, now: number) {
    this.#count = count;
    this.#timeOf = timeOf;
    this.#now = now;
  }

  /**
   * When the version at that place was superseded, never later than now; now for the newest. Places
   * must ascend from call to call.
   */
  async at(place: number): Promise<number> {
    while (this.#done < place) {
      this.#done += 1;
      this.#latest = Math.max(this.#latest, (await this.#believable(this.#done)) ?? 0);
    }
    this.#next = Math.max(this.#next, place + 1);
    while (this.#next < this.#count) {
      const time = await this.#believable(this.#next);
      if (time !== undefined) return Math.min(this.#now, Math.max(time, this.#latest));
      this.#next += 1;
    }
    return this.#now;
  }

  async #believable(place: number): Promise<number | undefined> {
    if (!this.#times.has(place)) this.#times.set(place, await this.#timeOf(place));
    const time = this.#times.get(place);
    return time !== undefined && time <= this.#now + MAX_CLOCK_SKEW ? time : undefined;
  }
}
