/**
 * Starts the browser page: applies the theme, sends the first requests (`beginAsking`) and renders
 * `App`.
 */
import { App, beginAsking } from './app.tsx';
import { render } from './base/index.ts';
import { applyTheme } from './theme.ts';

applyTheme();
beginAsking();
render(<App />, document.getElementById('app') as HTMLElement);
