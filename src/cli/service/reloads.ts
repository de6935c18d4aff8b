/**
 * `Reloads` reloads the configuration of a running server, on request (`reload`) and when the
 * configuration file or a file with keys or certificates changes, which is looked for each second.
 * If the new configuration is unusable, the server keeps the old one and logs the error. Changed
 * settings that need a restart are logged by name. `end` stops watching.
 */
import { unwatchFile, watchFile } from 'node:fs';
import type { Logger, RunningServer, ServerConfig } from '../../server/index.ts';

export interface ReloadFacts {
  readonly server: Pick<RunningServer, 'reload'>;
  readonly logger: Logger;
  /** What the server was started with. */
  readonly config: ServerConfig;
  readonly load: () => Promise<ServerConfig>;
  /** The file that the configuration is read from. */
  readonly file: string | undefined;
}

/** Looks by name, so that files that are replaced, or are links to others by now, are noticed. */
const LOOK_MS = 1_000;

/** Members that a server takes while it runs. */
const LIVE: readonly string[] = ['auth', 'allowedHosts', 'cors', 'tls'];

export class Reloads {
  readonly #facts: ReloadFacts;
  readonly #changed = (): void => void this.reload();
  #watched: readonly string[] = [];
  #last: Promise<void> = Promise.resolve();
  #ended = false;

  constructor(facts: ReloadFacts) {
    this.#facts = facts;
    this.#watch(facts.config);
  }

  /** One after the other. Never rejects. */
  reload(): Promise<void> {
    this.#last = this.#last.then(() => this.#reload());
    return this.#last;
  }

  async #reload(): Promise<void> {
    const { server, logger, config, load } = this.#facts;
    if (this.#ended) return;
    try {
      const next = await load();
      const { logLevel: _, ...options } = next;
      server.reload(options);
      this.#watch(next);
      const kept = differing(config, next);
      if (kept.length === 0) logger.info?.({}, 'configuration reloaded');
      else logger.warn?.({ kept }, 'configuration reloaded, but these take a restart');
    } catch (failure) {
      logger.error?.({ failure: String(failure) }, 'configuration not reloaded: the old one stays');
    }
  }

  end(): void {
    this.#ended = true;
    for (const file of this.#watched) unwatchFile(file, this.#changed);
    this.#watched = [];
  }

  #watch({ auth, tls }: ServerConfig): void {
    const files = [this.#facts.file, auth?.jwt?.jwksFile, tls?.certFile, tls?.keyFile].filter(
      (file) => file !== undefined,
    );
    for (const file of this.#watched) if (!files.includes(file)) unwatchFile(file, this.#changed);
    for (const file of files) {
      if (this.#watched.includes(file)) continue;
      watchFile(file, { interval: LOOK_MS, persistent: false }, this.#changed);
    }
    this.#watched = files;
  }
}

/** Names of members that differ and are not taken while a server runs. */
function differing(from: ServerConfig, to: ServerConfig): readonly string[] {
  const shown = (config: ServerConfig, name: string): string =>
    JSON.stringify(config[name as keyof ServerConfig]) ?? '';
  return [...new Set([...Object.keys(from), ...Object.keys(to)])].filter(
    (name) => !LIVE.includes(name) && shown(from, name) !== shown(to, name),
  );
}
