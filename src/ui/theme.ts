/**
 * Reads and switches the theme of the page: the system's, light or dark (`theme`, `nextTheme`,
 * `applyTheme`). The choice is stored in the browser if that is possible; otherwise it lasts as long as
 * the page.
 */

const THEMES = ['system', 'light', 'dark'] as const;
type Theme = (typeof THEMES)[number];
const KEY = 'dirspace-theme';

export function theme(): Theme {
  const kept = remembered();
  return THEMES.find((name) => name === kept) ?? 'system';
}

/** The next one, which is in force from then on. */
export function nextTheme(): Theme {
  const next = THEMES[(THEMES.indexOf(theme()) + 1) % THEMES.length] as Theme;
  try {
    localStorage.setItem(KEY, next);
  } catch {
    // A browser may keep nothing: the theme then lasts as long as the page.
  }
  applyTheme(next);
  return next;
}

export function applyTheme(name: Theme = theme()): void {
  document.documentElement.dataset.theme = name;
}

function remembered(): string | null {
  try {
    return localStorage.getItem(KEY);
  } catch {
    return null;
  }
}
