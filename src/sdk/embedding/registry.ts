/**
 * `EmbeddingFunctionRegistry` keeps classes of embedding functions by name, so that the schema of a
 * table can name its function. `getRegistry` returns the one registry of the process, which has
 * `openai` from the beginning. Adding a class to it by `register` under a name that is taken throws
 * InvalidInput; `get` returns undefined for an unknown name. The registry writes functions into the
 * metadata of schemas as LanceDB's SDK does (`getTableMetadata`), and creates them again from it
 * (`parseFunctions`), where a name without a class throws InvalidInput.
 */
import { DirspaceError } from '../../errors.ts';
import { suggestion } from '../../known-names.ts';
import type {
  EmbeddingFunction,
  EmbeddingFunctionConstructor,
  FunctionOptions,
} from './embedding-function.ts';
import { type EmbeddingMetadataEntry, METADATA_KEY, parseEmbeddingMetadata } from './metadata.ts';
import { OpenAIEmbeddingFunction } from './openai.ts';
import { getVariable, setVariable } from './variables.ts';

/** A promise where the function has to be loaded first. */
export type CreateReturnType<T> = T extends { init: () => Promise<void> } ? Promise<T> : T;

/** Makes a registered function. */
export interface EmbeddingFunctionCreate<T extends EmbeddingFunction> {
  create(options?: T['TOptions']): CreateReturnType<T>;
}

/** A function with the column it reads and the one it fills, which is `vector` if absent. */
export interface EmbeddingFunctionConfig {
  sourceColumn: string;
  vectorColumn?: string;
  function: EmbeddingFunction;
}

/** A function as a table names it. */
export type ResolvedEmbeddingFunctionConfig = EmbeddingFunctionConfig & { vectorColumn: string };

const DEFAULT_COLUMN = 'vector';

/** Embedding functions by name. */
export class EmbeddingFunctionRegistry {
  readonly #functions = new Map<string, EmbeddingFunctionConstructor>();
  readonly #names = new WeakMap<object, string>();

  /** How many functions there are. */
  length(): number {
    return this.#functions.size;
  }

  /**
   * Answers a function, or a decorator of a class, that adds the class under a name: its own if absent.
   * @throws InvalidInput for a name that is taken
   */
  register<T extends EmbeddingFunctionConstructor = EmbeddingFunctionConstructor>(
    alias?: string,
  ): (ctor: T) => T {
    return (ctor) => {
      const name = alias ?? ctor.name;
      if (!this.#functions.has(name)) return this.setBuiltIn(name, ctor);
      throw new DirspaceError(
        'InvalidInput',
        `Embedding function with alias ${JSON.stringify(name)} already exists.`,
        { details: { name } },
      );
    };
  }

  /** Adds a class under a name, or replaces the one there. */
  setBuiltIn<T extends EmbeddingFunctionConstructor = EmbeddingFunctionConstructor>(
    name: string,
    ctor: T,
  ): T {
    this.#functions.set(name, ctor);
    this.#names.set(ctor, name);
    return ctor;
  }

  /** Undefined where there is none of the name. */
  get<T extends EmbeddingFunction<unknown>>(name: string): EmbeddingFunctionCreate<T> | undefined {
    const Made = this.#functions.get(name) as EmbeddingFunctionConstructor<T> | undefined;
    if (Made === undefined) return undefined;
    return {
      create: (options?: FunctionOptions) => {
        const made = new Made(options);
        return (made.init === undefined
          ? made
          : made.init().then(() => made)) as unknown as CreateReturnType<T>;
      },
    };
  }

  /** Takes out every function. */
  reset(): void {
    this.#functions.clear();
  }

  /** The functions that a schema's metadata names, by the column they fill. */
  async parseFunctions(
    metadata: ReadonlyMap<string, string>,
  ): Promise<Map<string, ResolvedEmbeddingFunctionConfig>> {
    const json = metadata.get(METADATA_KEY);
    const found = new Map<string, ResolvedEmbeddingFunctionConfig>();
    for (const entry of json === undefined ? [] : parseEmbeddingMetadata(json)) {
      const { sourceColumn, vectorColumn } = entry;
      found.set(vectorColumn, { sourceColumn, vectorColumn, function: await this.made(entry) });
    }
    return found;
  }

  /** The function that an entry of the metadata names. @throws InvalidInput where it is not registered */
  async made({ name, model }: EmbeddingMetadataEntry): Promise<EmbeddingFunction> {
    const known = this.get<EmbeddingFunction>(name);
    if (known !== undefined) return known.create(model);
    const names = [...this.#functions.keys()];
    throw new DirspaceError(
      'InvalidInput',
      `Function ${JSON.stringify(name)} not found in registry. The table makes its vectors by this embedding function: register it first, as register(${JSON.stringify(name)})(Class).${suggestion(name, names)}`,
      { details: { name } },
    );
  }

  /**
   * A class that is not registered is named as it is called, so that a table can be made with it;
   * rows that come later need it registered under that name.
   * @throws InvalidInput for one without a name, and what is no function
   */
  functionToMetadata(conf: EmbeddingFunctionConfig): Record<string, unknown> {
    const made = conf.function.constructor;
    const registered = this.#names.get(made);
    const isNamed = made.name !== '' && typeof conf.function.toJSON === 'function';
    if (registered === undefined && !isNamed) {
      throw new DirspaceError(
        'InvalidInput',
        'The embedding function is of a class that has no name and is not registered, or of no such class, so that no table can name it: call register() with a name and the class.',
      );
    }
    const name = registered ?? made.name;
    const { sourceColumn, vectorColumn = DEFAULT_COLUMN } = conf;
    return { sourceColumn, vectorColumn, name, model: conf.function.toJSON() };
  }

  /** The metadata of a schema whose table has these functions. */
  getTableMetadata(functions: readonly EmbeddingFunctionConfig[]): Map<string, string> {
    const entries = functions.map((one) => this.functionToMetadata(one));
    return new Map([[METADATA_KEY, JSON.stringify(entries)]]);
  }

  /** Sets what `$var:name` in the options of functions stands for, in this process. */
  setVar(name: string, value: string): void {
    setVariable(name, value);
  }

  getVar(name: string): string | undefined {
    return getVariable(name);
  }
}

let registry: EmbeddingFunctionRegistry | undefined;

/** The registry of this process. */
export function getRegistry(): EmbeddingFunctionRegistry {
  if (registry === undefined) {
    registry = new EmbeddingFunctionRegistry();
    registry.setBuiltIn('openai', OpenAIEmbeddingFunction);
  }
  return registry;
}

/** Adds a class to the registry of this process: `register('name')(Class)`, or as a decorator. */
export const register = (name?: string): (<T extends EmbeddingFunctionConstructor>(ctor: T) => T) =>
  getRegistry().register(name) as <T extends EmbeddingFunctionConstructor>(ctor: T) => T;
