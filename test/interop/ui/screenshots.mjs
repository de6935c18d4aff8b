/** Makes the pictures of docs/looking-at-data.md, of the catalog that the browser tests look at. */
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { launch, openPage, serve } from './browser.mjs';
import { buildCatalog } from './catalog.mjs';

const SQL =
  'SELECT city, round(avg(score)) AS mean FROM prod.search.user GROUP BY city ORDER BY mean DESC LIMIT 12';
const SHOWN = [
  [
    'rows',
    "t/prod/search/user?where=city+%3D+'London'+AND+age+%3E+40&sort=score&desc=1",
    '.grid .row:nth-child(3)',
  ],
  ['columns', 't/prod/search/user?view=columns', '.histogram'],
  ['vectors', 't/prod/search/user?view=vectors', '.plane circle'],
  ['sql', `sql?q=${encodeURIComponent(SQL)}&show=chart`, '.chart rect'],
];

const images = fileURLToPath(new URL('../../../docs/images/', import.meta.url));
mkdirSync(images, { recursive: true });
const folder = mkdtempSync(join(tmpdir(), 'dirspace-ui-'));
await buildCatalog(join(folder, 'catalog'), { tenMillion: 0 });
const server = await serve({ root: join(folder, 'catalog'), readOnly: true });
const browser = await launch();
for (const [name, place, sight] of SHOWN) {
  const { page, show, close } = await openPage(browser, server.url, { height: 620 });
  await show(`#/${place}`);
  await page.locator(sight).first().waitFor();
  await page.screenshot({ path: join(images, `page-${name}.png`) });
  await close();
}
await browser.close();
await server.close();
rmSync(folder, { recursive: true, force: true });
