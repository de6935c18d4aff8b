/**
 * `Readiness` lists for `/ready` why a server cannot do its work now (`reasons`, empty if it can):
 * it is stopping, its event loop is late, or it cannot use a root. The reasons name nothing that is
 * stored; details go to the log.
 */
import type { Databases } from './databases.ts';
import type { EventLoopPressure } from './observe/index.ts';
import type { Logger } from './settings/index.ts';

export interface ReadinessFacts {
  readonly databases: Databases;
  readonly pressure: EventLoopPressure;
  readonly logger: Logger;
  readonly isStopping: () => boolean;
}

export class Readiness {
  readonly #facts: ReadinessFacts;
  #checking: Promise<boolean> | undefined;

  constructor(facts: ReadinessFacts) {
    this.#facts = facts;
  }

  /** Why it is not ready; none if it is. However many ask, the disk is asked once at a time. */
  async reasons(): Promise<readonly string[]> {
    const { pressure, isStopping } = this.#facts;
    if (isStopping()) return ['stopping'];
    this.#checking ??= this.#usable().finally(() => {
      this.#checking = undefined;
    });
    const usable = await this.#checking;
    return [
      ...(pressure.late ? ['the event loop is late'] : []),
      ...(usable ? [] : ['a root cannot be used']),
      ...(isStopping() ? ['stopping'] : []),
    ];
  }

  async #usable(): Promise<boolean> {
    const { databases, logger } = this.#facts;
    try {
      await databases.checkUsable();
      return true;
    } catch (error) {
      logger.warn?.({ failure: String(error) }, 'not ready');
      return false;
    }
  }
}
