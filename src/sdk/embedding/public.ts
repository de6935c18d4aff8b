/**
 * Lists what programs get as `embedding`: the base classes of embedding functions, their registry,
 * `LanceSchema` for schemas that name them, the parser of their metadata, and the function for
 * servers with OpenAI's protocol. index.ts exports this module under that name.
 */

export {
  EmbeddingFunction,
  type EmbeddingFunctionConstructor,
  type FieldOptions,
  type FunctionField,
  type FunctionOptions,
  type QueryEmbedding,
  TextEmbeddingFunction,
  type Vectors,
} from './embedding-function.ts';
export { LanceSchema, type LanceSchemaFields } from './lance-schema.ts';
export { type EmbeddingMetadataEntry, parseEmbeddingMetadata } from './metadata.ts';
export { OpenAIEmbeddingFunction, type OpenAIOptions } from './openai.ts';
export {
  type CreateReturnType,
  type EmbeddingFunctionConfig,
  type EmbeddingFunctionCreate,
  EmbeddingFunctionRegistry,
  getRegistry,
  type ResolvedEmbeddingFunctionConfig,
  register,
} from './registry.ts';
