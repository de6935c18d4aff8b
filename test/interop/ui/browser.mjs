/**
 * Starts a server of a catalog and a headless Chromium that looks at its page, and keeps what must
 * not happen: errors and warnings on the console, reports of the content security policy, and
 * requests to anywhere else than the server.
 */
import { existsSync } from 'node:fs';
import { startServer } from '../../../dist/server.js';

const PLACES = ['/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome'];

/** Where Chromium is; undefined where it is not. */
export const chromiumPath = () =>
  [process.env.CHROMIUM, ...PLACES].find((path) => path !== undefined && existsSync(path));

export async function launch() {
  const { chromium } = await import('playwright-core');
  return chromium.launch({
    executablePath: chromiumPath(),
    args: ['--no-sandbox', '--headless=new', '--disable-gpu', '--force-color-profile=srgb'],
  });
}

export const serve = (options) =>
  startServer({ ui: true, limits: { maxEventLoopDelayMs: 0 }, ...options });

/** A page with what went wrong on it. */
export async function openPage(
  browser,
  base,
  { colorScheme = 'light', width = 1200, height = 760, mayStop = false } = {},
) {
  const context = await browser.newContext({
    viewport: { width, height },
    colorScheme,
    reducedMotion: 'reduce',
  });
  const page = await context.newPage();
  const wrong = [];
  // Failed requests are on the console too; those that a test expects are passed over there.
  page.on('console', (message) => {
    const text = message.text();
    if (!['error', 'warning'].includes(message.type())) return;
    if (/^Failed to load resource: the server responded with a status of 4/.test(text)) return;
    if (mayStop && /net::ERR_CONNECTION_REFUSED/.test(text)) return;
    wrong.push(`console: ${text}`);
  });
  page.on('pageerror', (error) => wrong.push(`error: ${error}`));
  page.on('request', (request) => {
    const url = request.url();
    if (!url.startsWith(`${base}/ui`) && !url.startsWith('data:')) wrong.push(`request: ${url}`);
  });
  await page.addInitScript(() => {
    document.addEventListener('securitypolicyviolation', (event) => {
      console.error(`policy: ${event.violatedDirective} ${event.blockedURI} ${event.sample}`);
    });
  });
  const show = async (fragment) => {
    await page.goto(`${base}/ui/${fragment}`);
    await page.waitForFunction(() => document.querySelector('#app')?.childElementCount);
  };
  return { page, wrong, show, close: () => context.close() };
}
