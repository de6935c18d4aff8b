/**
 * Exports the public names of the entry `dirspace/embedding`: the base classes of embedding
 * functions, their registry, `LanceSchema` and the function for servers with OpenAI's protocol. They
 * are the members of `embedding` of the main entry.
 */

export {
  type CreateReturnType,
  EmbeddingFunction,
  type EmbeddingFunctionConfig,
  type EmbeddingFunctionConstructor,
  type EmbeddingFunctionCreate,
  EmbeddingFunctionRegistry,
  type EmbeddingMetadataEntry,
  type FieldOptions,
  type FunctionField,
  type FunctionOptions,
  getRegistry,
  LanceSchema,
  type LanceSchemaFields,
  OpenAIEmbeddingFunction,
  type OpenAIOptions,
  parseEmbeddingMetadata,
  type QueryEmbedding,
  type ResolvedEmbeddingFunctionConfig,
  register,
  TextEmbeddingFunction,
  type Vectors,
} from './sdk/index.ts';
