/**
 * Reads and switches the theme of the page: the system's, light or dark (`theme`, `nextTheme`,
 * `applyTheme`). The choice is stored in the browser. Where the browser stores nothing, the choice
 * lasts as long as the page.
 */

const THEMES = ['system', 'light', 'dark'] as const;
type Theme = (typeof THEMES)[number];
const KEY = 'dirspace-theme';

/** The last choice on this page, once there was one. */
let chosen: Theme | undefined;

export function theme(): Theme {
  return chosen ?? stored() ?? 'system';
}

/** The next one, which is in force from then on. */
export function nextTheme(): Theme {
  chosen = THEMES[(THEMES.indexOf(theme()) + 1) % THEMES.length] as Theme;
  try {
    localStorage.setItem(KEY, chosen);
  } catch {
    // A browser may store nothing: `chosen` has it.
  }
  applyTheme(chosen);
  return chosen;
}

export function applyTheme(name: Theme = theme()): void {
  document.documentElement.dataset.theme = name;
}

function stored(): Theme | undefined {
  try {
    const name = localStorage.getItem(KEY);
    return THEMES.find((known) => known === name);
  } catch {
    return undefined;
  }
}
