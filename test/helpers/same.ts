/** Equality of large values, which matchers take ten times as long to tell as the runtime does. */
import { isDeepStrictEqual } from 'node:util';
import { expect } from 'vitest';

/** What `expect(found, message).toEqual(expected)` says; the matcher is asked where they differ. */
export function expectSame(found: unknown, expected: unknown, message?: () => string): void {
  if (!isDeepStrictEqual(found, expected)) expect(found, message?.()).toEqual(expected);
}
