/**
 * Exports the public names of the entry `dirspace/testing`: `fixture`, which starts a server with a
 * catalog in memory for tests, and its types. The code is in testing/.
 */

export {
  type Fault,
  type Fixture,
  type FixtureOptions,
  type FixtureRequest,
  fixture,
  type Seed,
  type SeedNamespace,
  type SeedTable,
} from './testing/index.ts';
