/** What `@lancedb/lancedb/embedding` exports, as dirspace has it. */
import { embedding } from '../../../dist/index.js';

export const {
  EmbeddingFunction,
  EmbeddingFunctionRegistry,
  getRegistry,
  LanceSchema,
  parseEmbeddingMetadata,
  register,
  TextEmbeddingFunction,
} = embedding;
