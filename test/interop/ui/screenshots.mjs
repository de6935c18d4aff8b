/** Makes the pictures of docs/looking-at-data.md, of the catalog that the browser tests look at. */
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { launch, openPage, serve } from './browser.mjs';
import { buildCatalog } from './catalog.mjs';

const SHOWN = [
  ['rows', "where=city+%3D+'London'+AND+age+%3E+40&sort=score&desc=1", '.grid .row:nth-child(3)'],
  ['columns', 'view=columns', '.histogram'],
  ['vectors', 'view=vectors', '.plane circle'],
];

const images = fileURLToPath(new URL('../../../docs/images/', import.meta.url));
mkdirSync(images, { recursive: true });
const folder = mkdtempSync(join(tmpdir(), 'dirspace-ui-'));
await buildCatalog(join(folder, 'catalog'), { tenMillion: 0 });
const server = await serve({ root: join(folder, 'catalog'), readOnly: true });
const browser = await launch();
for (const [name, query, sight] of SHOWN) {
  const { page, show, close } = await openPage(browser, server.url, { height: 620 });
  await show(`#/t/prod/search/user?${query}`);
  await page.locator(sight).first().waitFor();
  await page.getByRole('treeitem', { name: 'table user' }).waitFor();
  await page.screenshot({ path: join(images, `page-${name}.png`) });
  await close();
}
await browser.close();
await server.close();
rmSync(folder, { recursive: true, force: true });
