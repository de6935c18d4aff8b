import { describe, expect, test } from 'vitest';
import { onDemand } from '../../src/on-demand.ts';

describe('onDemand', () => {
  test('loads once, for the first use, and works at once afterwards', async () => {
    let loads = 0;
    const demand = onDemand(async () => ({ number: ++loads }));
    expect(loads).toBe(0);
    const both = [demand(async ({ number }) => number), demand(async ({ number }) => number)];
    expect(loads).toBe(1);
    expect(await Promise.all(both)).toEqual([1, 1]);

    let isUsed = false;
    const later = demand(async ({ number }) => {
      isUsed = true;
      return number;
    });
    expect(isUsed).toBe(true);
    expect(await later).toBe(1);
  });

  test('tells every use of a load that failed, and loads again for the next', async () => {
    const outcomes = [Promise.reject(new Error('no file')), Promise.resolve({ found: 7 })];
    outcomes[0]?.catch(() => {});
    const demand = onDemand(() => outcomes.shift() as Promise<{ found: number }>);
    const first = [demand(async () => 1), demand(async () => 2)];
    const told = await Promise.allSettled(first);
    expect(told.map(({ status }) => status)).toEqual(['rejected', 'rejected']);
    expect(await demand(async ({ found }) => found)).toBe(7);
    expect(outcomes).toEqual([]);
  });

  test('hands on what the work throws, and keeps the module', async () => {
    let loads = 0;
    const demand = onDemand(async () => ({ number: ++loads }));
    const failing = async (): Promise<never> => {
      throw new RangeError('too much');
    };
    await expect(demand(failing)).rejects.toThrow(RangeError);
    await expect(demand(failing)).rejects.toThrow(RangeError);
    expect(await demand(async ({ number }) => number)).toBe(1);
  });
});
