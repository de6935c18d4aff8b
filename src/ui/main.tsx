/** Starts the browser page: applies the theme and renders `App`. */
import { App } from './app.tsx';
import { render } from './base/index.ts';
import { applyTheme } from './theme.ts';

applyTheme();
render(<App />, document.getElementById('app') as HTMLElement);
