/**
 * Exports the public names of the entry `dirspace/testing`: `fixture`, a catalog in memory behind a
 * server for tests. The code is in testing/.
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
