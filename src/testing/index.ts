/**
 * Exports fixtures for tests: `fixture` with its seeds, faults and journal. Inside the package only
 * the entry src/testing.ts and the command line import it.
 */

export type { Fault } from './faults.ts';
export { type Fixture, type FixtureOptions, fixture } from './fixture.ts';
export type { FixtureRequest } from './journal.ts';
export type { Seed, SeedNamespace, SeedTable } from './seed.ts';
