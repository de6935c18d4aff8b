/**
 * `Collector` asks V8 to collect garbage when the process holds many more bytes of buffers than its
 * requests and caches use: 64 MiB more, or a quarter of the requests' memory limit if that is
 * larger. What a collection leaves counts as used from then on. V8 alone would let far more garbage
 * pile up. The server calls `look` as requests release memory.
 */
import { getHeapStatistics, setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { afterRound } from '../event-loop.ts';

const MIB = 1024 * 1024;
/** Bytes of garbage that are left to the runtime, at least. */
const LEAST_GARBAGE = 64 * MIB;

export interface CollectorFacts {
  /** Bytes that requests have now. */
  readonly taken: () => number;
  /** Bytes of buffers that may be in use beside them, such as those of caches. */
  readonly kept: number;
  /** The most bytes that all requests may have together. */
  readonly limit: number;
  /** Bytes of buffers that the process has. */
  readonly buffers?: () => number;
  readonly collect?: () => void;
}

export class Collector {
  readonly #facts: Required<CollectorFacts>;
  readonly #slack: number;
  /** Bytes of buffers that are in use beside those of requests. */
  #kept: number;
  #asked = false;

  constructor(facts: CollectorFacts) {
    this.#facts = { buffers: bufferBytes, collect: collectGarbage, ...facts };
    this.#slack = Math.max(LEAST_GARBAGE, facts.limit / 4);
    this.#kept = facts.kept;
  }

  /** Called as requests let go of memory; looks once the event loop has come to an end of its round. */
  look(): void {
    if (this.#asked) return;
    this.#asked = true;
    afterRound(() => {
      this.#asked = false;
      const { taken, buffers, collect, kept } = this.#facts;
      if (buffers() - taken() <= this.#kept + this.#slack) return;
      collect();
      // What is left is in use; it is not asked for again while there is no more than that.
      this.#kept = Math.max(kept, buffers() - taken());
    }).unref();
  }
}

const bufferBytes = (): number => getHeapStatistics().external_memory;

let collector: (() => void) | undefined;

function collectGarbage(): void {
  if (collector === undefined) {
    setFlagsFromString('--expose-gc');
    collector = runInNewContext('gc') as () => void;
  }
  collector();
}
