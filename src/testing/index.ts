/**
 * Exports fixtures for tests: `fixture` with its seeds, faults and journal. It is for tests alone; no
 * other room but the command line uses it.
 */

export type { Fault } from './faults.ts';
export { type Fixture, type FixtureOptions, fixture } from './fixture.ts';
export type { FixtureRequest } from './journal.ts';
export type { Seed, SeedNamespace, SeedTable } from './seed.ts';
