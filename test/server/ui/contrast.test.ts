/** The colours of the page can be told apart, in light and in dark (WCAG 2.2, level AA). */
import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';

const css = readFileSync(new URL('../../../src/ui/app.css', import.meta.url), 'utf8');

/** The palettes in their order: light, dark by choice, dark by the system. */
const palettes = [...css.matchAll(/:root[^{]*\{([^}]*--back[^}]*)\}/g)].map(([, body = '']) =>
  Object.fromEntries(
    [...body.matchAll(/--(\w+): (#\w{6});/g)].map(([, name, value]) => [name, value]),
  ),
);

function luminance(colour: string): number {
  const [red = 0, green = 0, blue = 0] = [1, 3, 5].map((at) => {
    const part = Number.parseInt(colour.slice(at, at + 2), 16) / 255;
    return part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4;
  });
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
}

function contrast(one: string, other: string): number {
  const [dark = 0, light = 0] = [luminance(one), luminance(other)].sort((a, b) => a - b);
  return (light + 0.05) / (dark + 0.05);
}

test('the contrast of black and white is the greatest', () => {
  expect(contrast('#000000', '#ffffff')).toBeCloseTo(21, 10);
});

test.each(['light', 'dark'])('%s', (name) => {
  const palette = palettes[name === 'light' ? 0 : 1] as Record<string, string>;
  const low: string[] = [];
  const atLeast = (least: number, fronts: string[], backs: string[]): void => {
    for (const front of fronts) {
      for (const back of backs) {
        const found = contrast(palette[front] as string, palette[back] as string);
        if (!(found >= least)) low.push(`${front} on ${back}: ${found.toFixed(2)} of ${least}`);
      }
    }
  };
  atLeast(4.5, ['text', 'dim', 'accent', 'wrong'], ['back', 'soft', 'mark']);
  // Edges of fields and buttons, bars, and what has the focus.
  atLeast(3, ['edge', 'bar', 'accent'], ['back', 'soft']);
  expect(low).toEqual([]);
});

test('dark is the same by choice and by the system', () => {
  expect(palettes).toHaveLength(3);
  expect(palettes[2]).toEqual(palettes[1]);
});
