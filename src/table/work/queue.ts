/**
 * `Queue` runs pieces of work one at a time for each key, in the order in which they come, within
 * this process. Work that fails does not keep the next one back.
 */
export class Queue {
  readonly #tails = new Map<string, Promise<unknown>>();

  async run<Result>(key: string, work: () => Promise<Result>): Promise<Result> {
    const before = this.#tails.get(key);
    const turn = before === undefined ? work() : before.then(work, work);
    this.#tails.set(key, turn);
    try {
      return await turn;
    } finally {
      if (this.#tails.get(key) === turn) this.#tails.delete(key);
    }
  }
}
