import { afterEach, beforeEach, expect, test, vi } from 'vitest';

const root = { dataset: {} as Record<string, string> };

beforeEach(() => {
  vi.resetModules();
  root.dataset = {};
  vi.stubGlobal('document', { documentElement: root });
});

afterEach(() => {
  vi.unstubAllGlobals();
});

/** The module as a page loads it: anew for each. */
const page = () => import('../../src/ui/theme.ts');

test('the choice is stored and is the theme of the next page', async () => {
  const stored = new Map<string, string>();
  vi.stubGlobal('localStorage', {
    getItem: (key: string) => stored.get(key) ?? null,
    setItem: (key: string, value: string) => stored.set(key, value),
  });
  const { nextTheme } = await page();
  expect([nextTheme(), nextTheme()]).toEqual(['light', 'dark']);
  vi.resetModules();
  const next = await page();
  next.applyTheme();
  expect([next.theme(), root.dataset.theme]).toEqual(['dark', 'dark']);
});

test.each([
  ['is not there', undefined],
  [
    'refuses',
    {
      getItem: () => {
        throw new Error('SecurityError');
      },
      setItem: () => {
        throw new Error('QuotaExceededError');
      },
    },
  ],
])('every theme is reached where the storage of the browser %s', async (_, storage) => {
  vi.stubGlobal('localStorage', storage);
  const { nextTheme, theme } = await page();
  expect(theme()).toBe('system');
  expect([nextTheme(), nextTheme(), nextTheme()]).toEqual(['light', 'dark', 'system']);
  nextTheme();
  expect([theme(), root.dataset.theme]).toEqual(['light', 'light']);
});

test('a stored name that is no theme counts as none', async () => {
  vi.stubGlobal('localStorage', { getItem: () => 'sepia', setItem: () => undefined });
  expect((await page()).theme()).toBe('system');
});
