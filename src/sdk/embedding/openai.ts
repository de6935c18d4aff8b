/**
 * `OpenAIEmbeddingFunction` requests vectors from a server with OpenAI's `/embeddings` protocol, up
 * to 512 texts in one request. `baseURL` and `fetch` can be replaced. The option `apiKey` names a
 * variable (`$var:NAME`): a key as plain text, and a variable without a value or a default, throw
 * InvalidInput. Without the option, `OPENAI_API_KEY` of the environment is sent, if there is one.
 * It does not retry: errors of `fetch` pass through, status 401 throws Unauthenticated, and any
 * other error status, or an answer without a vector for each text, throws ServiceUnavailable.
 */
import { type Float, Float32 } from '../../arrow/index.ts';
import { DirspaceError } from '../../errors.ts';
import { EmbeddingFunction } from './embedding-function.ts';

/** How vectors are asked for. */
export type OpenAIOptions = {
  /** `$var:NAME`; `OPENAI_API_KEY` of the environment if absent. */
  apiKey: string;
  model: string;
  /** Before `/embeddings`; `https://api.openai.com/v1` if absent. */
  baseURL: string;
  /** Asks for vectors of this length. */
  dimensions: number;
  /** Sends the requests in place of the platform's; tables do not keep it. */
  fetch: (url: string, init: RequestInit) => Promise<Response>;
};

const LENGTHS: ReadonlyMap<string, number> = new Map([
  ['text-embedding-ada-002', 1536],
  ['text-embedding-3-small', 1536],
  ['text-embedding-3-large', 3072],
]);

/** Texts of one request. */
const AT_ONCE = 512;

/** Vectors of texts by OpenAI's protocol. */
export class OpenAIEmbeddingFunction extends EmbeddingFunction<string, Partial<OpenAIOptions>> {
  readonly #options: Partial<OpenAIOptions>;
  readonly #model: string;

  constructor(optionsRaw: Partial<OpenAIOptions> = {}) {
    super();
    const { fetch, ...kept } = optionsRaw;
    this.#options = { ...this.resolveVariables(kept), ...(fetch === undefined ? {} : { fetch }) };
    this.#model = this.#options.model ?? 'text-embedding-ada-002';
  }

  protected override getSensitiveKeys(): string[] {
    return ['apiKey'];
  }

  override ndims(): number | undefined {
    return this.#options.dimensions ?? LENGTHS.get(this.#model);
  }

  override embeddingDataType(): Float {
    return new Float32();
  }

  override async computeSourceEmbeddings(data: string[]): Promise<number[][]> {
    const vectors: number[][] = [];
    for (let at = 0; at < data.length; at += AT_ONCE) {
      vectors.push(...(await this.#ask(data.slice(at, at + AT_ONCE))));
    }
    return vectors;
  }

  async #ask(input: string[]): Promise<number[][]> {
    const {
      baseURL = 'https://api.openai.com/v1',
      dimensions,
      fetch: send = fetch,
    } = this.#options;
    const key = this.#options.apiKey ?? process.env.OPENAI_API_KEY;
    const response = await send(`${baseURL.replace(/\/+$/, '')}/embeddings`, {
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        ...(key === undefined ? {} : { authorization: `Bearer ${key}` }),
      },
      body: JSON.stringify({
        model: this.#model,
        input,
        ...(dimensions === undefined ? {} : { dimensions }),
      }),
    });
    const text = await response.text();
    if (!response.ok) {
      throw new DirspaceError(
        response.status === 401 ? 'Unauthenticated' : 'ServiceUnavailable',
        `The server of embeddings answered ${response.status}: ${text.slice(0, 200)}`,
        { details: { status: response.status } },
      );
    }
    return readVectors(text, input.length);
  }
}

function readVectors(text: string, wanted: number): number[][] {
  let rows: unknown;
  try {
    rows = (JSON.parse(text) as { data?: unknown }).data;
  } catch {
    rows = undefined;
  }
  const vectors = new Array<number[]>(wanted);
  if (Array.isArray(rows) && rows.length === wanted) {
    for (const [at, row] of rows.entries()) {
      const place: unknown = row?.index ?? at;
      if (!Number.isSafeInteger(place) || (place as number) < 0) continue;
      if (!Array.isArray(row?.embedding)) continue;
      vectors[place as number] = row.embedding;
    }
  }
  if (vectors.length === wanted && Object.keys(vectors).length === wanted) return vectors;
  throw new DirspaceError(
    'ServiceUnavailable',
    `The server of embeddings answered no vector for each of ${wanted} texts: ${text.slice(0, 200)}`,
  );
}
