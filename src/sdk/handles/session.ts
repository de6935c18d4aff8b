/**
 * `Session` holds the caches that several connections to directory catalogs share, as in LanceDB's
 * SDK. They are created when the first catalog asks for them (`sharedMemory`), and live as long as
 * the session. Their sizes are given and returned in bytes, as bigints; another value throws
 * InvalidInput.
 */
import type { KeptMemory } from '../../directory/index.ts';
import { DirspaceError } from '../../errors.ts';

let made: (session: Session, make: MakeMemory) => KeptMemory;

type MakeMemory = (cacheBytes?: number, bufferBytes?: number) => KeptMemory;

/** Caches that connections share: `connect(uri, {session})`. */
export class Session {
  readonly #bufferBytes: number | undefined;
  readonly #cacheBytes: number | undefined;
  #memory: KeptMemory | undefined;

  static {
    made = (session, make) => {
      session.#memory ??= make(session.#cacheBytes, session.#bufferBytes);
      return session.#memory;
    };
  }

  /**
   * @param indexCacheSizeBytes of indexes and table data; 128 MiB if absent
   * @param metadataCacheSizeBytes of metadata; 64 MiB if absent
   */
  constructor(indexCacheSizeBytes?: bigint | null, metadataCacheSizeBytes?: bigint | null) {
    this.#bufferBytes = bytesOf('indexCacheSizeBytes', indexCacheSizeBytes);
    this.#cacheBytes = bytesOf('metadataCacheSizeBytes', metadataCacheSizeBytes);
  }

  /** With the usual sizes. */
  static default(): Session {
    return new Session();
  }

  /** Bytes that the caches hold now. */
  sizeBytes(): bigint {
    if (this.#memory === undefined) return 0n;
    const { cache, buffers, sketches } = this.#memory;
    return BigInt(cache.used + buffers.used + sketches.used);
  }

  /** Entries that the caches of metadata and of table data hold now. */
  approxNumItems(): number {
    if (this.#memory === undefined) return 0;
    return this.#memory.cache.items + this.#memory.buffers.items;
  }
}

/** The caches of a session, made by the first catalog that asks. */
export const sharedMemory = (session: Session, make: MakeMemory): KeptMemory => made(session, make);

function bytesOf(name: string, size: bigint | null | undefined): number | undefined {
  if (size === undefined || size === null) return undefined;
  if (typeof size === 'bigint' && size >= 0n && size <= BigInt(Number.MAX_SAFE_INTEGER)) {
    return Number(size);
  }
  throw new DirspaceError(
    'InvalidInput',
    `${name} is a bigint of bytes from 0n on, such as 1_000_000n, and was given ${typeof size}.`,
  );
}
