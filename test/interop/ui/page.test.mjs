/**
 * The page in a headless Chromium: every tab, ten million rows, hostile names and values, the
 * keyboard, labels, back and forward. After each test the console is empty, the policy was kept,
 * and nothing was asked of another address.
 */
import assert from 'node:assert/strict';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { request as ask, createServer } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { connect } from '../../../dist/index.js';
import { launch, openPage, serve } from './browser.mjs';
import { buildCatalog, EVERY_CHARACTER, HOSTILE } from './catalog.mjs';

const folder = mkdtempSync(join(tmpdir(), 'dirspace-ui-'));
const root = join(folder, 'catalog');
const ROWS = 10_000_000;
let browser;
let server;

before(async () => {
  await buildCatalog(root, { tenMillion: ROWS, tables: 10_000 });
  server = await serve({ root, readOnly: true });
  browser = await launch();
});
after(async () => {
  await browser?.close();
  await server?.close();
  rmSync(folder, { recursive: true, force: true });
});

/** The bytes that a link gives, as text. */
async function saved(page, link, name) {
  const [file] = await Promise.all([
    page.waitForEvent('download'),
    page.getByRole('link', { name: link }).click(),
  ]);
  assert.equal(file.suggestedFilename(), name);
  assert.equal(await file.failure(), null);
  return readFileSync(await file.path(), 'latin1');
}

/** A test with a page of its own, on which nothing may go wrong. */
function looks(name, look, options = {}) {
  test(name, async () => {
    const opened = await openPage(browser, options.base?.() ?? server.url, options);
    try {
      await look(opened.page, opened.show);
      assert.deepEqual(opened.wrong, []);
      assert.equal(await opened.page.evaluate(() => window.pwned), undefined);
    } finally {
      await opened.close();
    }
  });
}

const USER = '#/t/prod/search/user';
const cell = (page, text) => page.getByRole('gridcell', { name: text, exact: true }).first();
const firstRow = async (page) => {
  const row = page.locator('.grid .row:not(.header)').first();
  return (await row.locator('.cell').allTextContents()).slice(0, 2);
};

describe('the tree', () => {
  looks('opens namespaces and shows tables', async (page, show) => {
    await show('');
    await page.getByRole('treeitem', { name: 'namespace prod' }).click();
    await page.getByRole('treeitem', { name: 'namespace search' }).click();
    await page.getByRole('treeitem', { name: 'table user' }).click();
    await page.getByRole('grid').waitFor();
    assert.match(page.url(), /#\/t\/prod\/search\/user/);
  });

  looks('takes ten thousand tables, and finds one of them', async (page, show) => {
    await show('#/n/many');
    await page.getByRole('treeitem', { name: 'namespace many' }).click();
    const first = page.getByRole('treeitem', { name: 'table t00000' });
    await first.waitFor();
    const places = ['aria-level', 'aria-posinset', 'aria-setsize'];
    assert.deepEqual(await Promise.all(places.map((name) => first.getAttribute(name))), [
      '2',
      '1',
      '10000',
    ]);
    assert.ok((await page.getByRole('treeitem').count()) < 100);
    await page.getByRole('tree').focus();
    await page.keyboard.press('End');
    await page.getByRole('treeitem', { name: 'namespace prod' }).waitFor();
    await page.getByRole('searchbox', { name: 'Find a table' }).fill('many 09999');
    const found = page.getByRole('treeitem', { name: 'table many/t09999' });
    await found.click();
    await cell(page, '9950').waitFor();
    assert.match(page.url(), /find=many\+09999/);
  });

  looks('is walked by the keyboard', async (page, show) => {
    await show('');
    await page.getByRole('treeitem', { name: 'namespace prod' }).waitFor();
    await page.getByRole('tree').focus();
    for (const key of ['ArrowDown', 'ArrowDown', 'ArrowRight']) await page.keyboard.press(key);
    await page.getByRole('treeitem', { name: 'table events' }).waitFor();
    for (const key of ['ArrowDown', 'ArrowDown', 'Enter']) await page.keyboard.press(key);
    await page.getByRole('grid', { name: 'Rows of prod/events' }).waitFor();
  });
});

describe('SQL', () => {
  looks('answers a statement, and keeps it in the address', async (page, show) => {
    await show('');
    await page.getByRole('link', { name: 'SQL' }).click();
    await page.getByRole('textbox').first().waitFor();
    const box = page.getByLabel('A SELECT over tables');
    await box.fill('SELECT 1 + 2 AS three, NULL AS none');
    await box.press('Control+Enter');
    const rows = page.getByRole('table', { name: 'Rows of the answer' });
    await rows.waitFor();
    assert.deepEqual(await rows.locator('td').allTextContents(), ['3', 'null']);
    assert.match(page.url(), /#\/sql\?q=SELECT\+1/);
    await page.goBack();
    await page.getByText('Nothing was asked yet.').waitFor();
  });

  looks('says where a statement is wrong', async (page, show) => {
    await show('#/sql?q=SELECT%20nothing%20FROM%20prod.search.user');
    const alert = page.getByRole('alert');
    await alert.waitFor();
    assert.match(await alert.textContent(), /There is no column nothing.*\n {9}\^/s);
    const box = page.getByLabel('A SELECT over tables');
    assert.equal(await box.getAttribute('aria-invalid'), 'true');
    assert.equal(await box.getAttribute('aria-describedby'), await alert.getAttribute('id'));
    await page.getByRole('button', { name: 'plan' }).click();
    await page.waitForFunction(() => /show=plan/.test(location.hash));
    await alert.waitFor();
  });

  looks('completes tables, columns, words and functions by the keyboard', async (page, show) => {
    await show('#/sql');
    const box = page.getByLabel('A SELECT over tables');
    await box.pressSequentially('SELECT 1 FROM search.us');
    const option = (name) => page.getByRole('option', { name, exact: true });
    await option('prod.search.user').waitFor();
    assert.equal(await box.getAttribute('aria-activedescendant'), 'statement-word-0');
    await box.press('Tab');
    assert.equal(await box.inputValue(), 'SELECT 1 FROM prod.search.user');
    // Another line begins where no word was chosen by an arrow.
    await box.pressSequentially(' u\nwhe');
    await option('WHERE').waitFor();
    await box.press('ArrowDown');
    await box.press('ArrowUp');
    await box.press('Enter');
    await box.pressSequentially(' u.ag');
    await option('u.age').waitFor();
    await page.keyboard.press('Escape');
    await option('u.age').waitFor({ state: 'detached' });
    await box.press('Backspace');
    await option('u.age').click();
    await box.pressSequentially(' > 80\nord');
    await option('ORDER').waitFor();
    await box.press('Enter');
    assert.equal(
      await box.inputValue(),
      'SELECT 1 FROM prod.search.user u\nWHERE u.age > 80\nord\n',
    );
    for (let at = 0; at < 4; at++) await box.press('Backspace');
    await box.press('Home');
    await box.pressSequentially('AND upp');
    await option('upper').waitFor();
    await box.press('Tab');
    await box.pressSequentially("(u.name) = 'ADA'");
    await box.press('Control+Enter');
    await page.getByRole('table', { name: 'Rows of the answer' }).waitFor();
  });

  looks('gives all rows of an answer as files', async (page, show) => {
    await show(`#/sql?q=${encodeURIComponent('SELECT id, name FROM prod.search.user')}`);
    await page.getByText('The first 1,000 rows').waitFor();
    const text = await saved(page, 'CSV of all rows of the answer', 'rows.csv');
    assert.match(text, /^id,name\n/);
    assert.ok(text.split('\n').length > 20_000);
  });

  looks('shows at most a thousand rows, and says so', async (page, show) => {
    await show(`#/sql?q=${encodeURIComponent('SELECT 1 AS one FROM prod.search.user')}`);
    await page.getByText('The first 1,000 rows').waitFor();
    assert.equal(await page.locator('tbody tr').count(), 1000);
  });

  looks('shows the beginning of an answer of a thousand columns', async (page, show) => {
    const columns = Array.from({ length: 1000 }, (_, at) => `id + ${at} AS c${at}`).join(', ');
    await show(`#/sql?q=${encodeURIComponent(`SELECT ${columns} FROM prod.search.user`)}`);
    await page.getByText('The first 333 rows, 60 of 1,000 columns').waitFor();
    assert.equal(await page.locator('tbody td').count(), 333 * 60);
  });

  looks('draws an answer as bars, a line and points', async (page, show) => {
    const values = "SELECT * FROM (VALUES ('a', 2), ('b', 5), ('c', 3)) v(name, n)";
    for (const [kind, marks] of [
      ['bar', 'rect'],
      ['line', 'polyline'],
      ['scatter', 'circle'],
    ]) {
      await show(`#/sql?q=${encodeURIComponent(values)}&show=chart&chart=${kind}`);
      const chart = page.getByRole('img', { name: 'n by name' });
      await chart.waitFor();
      assert.ok((await chart.locator(marks).count()) >= 1, kind);
    }
    await page.getByLabel('Chart').selectOption('bar');
    await page.locator('.chart rect').first().waitFor();
    assert.match(page.url(), /chart=bar/);
  });

  looks('tells the steps of a statement', async (page, show) => {
    await show(`#/sql?q=${encodeURIComponent('SELECT count(*) FROM prod.search.user')}&show=plan`);
    await page.getByText('Sum up: count(*)').waitFor();
  });

  looks('shows hostile values as texts', async (page, show) => {
    const hostile = '<img src=x onerror="window.pwned=1">';
    await show(
      `#/sql?q=${encodeURIComponent(`SELECT '${hostile}' AS "${hostile.replaceAll('"', '""')}"`)}`,
    );
    await page.getByRole('cell', { name: hostile }).waitFor();
  });
});

describe('rows', () => {
  looks('leave the address to a page that was gone to while they scrolled', async (page, show) => {
    await show('#/t/prod/events');
    await cell(page, '0').waitFor();
    await page.getByRole('grid').evaluate((element) => {
      element.scrollTop = (element.scrollHeight - element.clientHeight) / 2;
      history.pushState(null, '', '#/sql');
    });
    await page.waitForFunction(() =>
      [...document.querySelectorAll('[role=gridcell]')].some(({ textContent }) =>
        /^(4|5)\d{6}$/.test(textContent),
      ),
    );
    // The place is told by a timer of 300 ms, which began before this one.
    await page.evaluate(() => new Promise((resolve) => setTimeout(resolve, 400)));
    assert.equal(new URL(page.url()).hash, '#/sql');
  });

  looks(
    'of ten million are reached by the scroll bar, the wheel and the keys',
    async (page, show) => {
      await show('#/t/prod/events');
      await cell(page, '0').waitFor();
      const grid = page.getByRole('grid');
      await grid.evaluate((element) => {
        element.scrollTop = (element.scrollHeight - element.clientHeight) / 2;
      });
      await page.waitForFunction(() =>
        [...document.querySelectorAll('[role=gridcell]')].some(({ textContent }) =>
          /^(4|5)\d{6}$/.test(textContent),
        ),
      );
      const [label, value] = await firstRow(page);
      assert.equal(Number(label.replaceAll(',', '')), Number(value) + 1);
      await grid.hover();
      await page.mouse.wheel(0, 260);
      await page.waitForFunction((before) => {
        const cells = [...document.querySelectorAll('.grid .row:not(.header) [role=gridcell]')];
        return Number(cells[0]?.textContent) === before;
      }, Number(value) + 10);
      await grid.focus();
      await page.keyboard.press('Control+End');
      await cell(page, String(ROWS - 1)).waitFor();
      await page.keyboard.press('Control+Home');
      await cell(page, '0').waitFor();
      await page.keyboard.press('PageDown');
      await page.keyboard.press('Enter');
      await page.getByRole('region', { name: /^Row / }).waitFor();
      await page.keyboard.press('Escape');
      await page.getByRole('region', { name: /^Row / }).waitFor({ state: 'detached' });
    },
  );

  looks('scroll without a frame that takes longer than 50 ms on the whole', async (page, show) => {
    await show('#/t/prod/events');
    await cell(page, '0').waitFor();
    const late = await page.getByRole('grid').evaluate(async (element) => {
      let [frames, late, last] = [0, 0, performance.now()];
      for (const end = last + 3_000; last < end; frames++) {
        element.scrollTop += 997;
        const now = await new Promise(requestAnimationFrame);
        if (now - last > 50) late++;
        last = now;
      }
      return late / frames;
    });
    // A machine that does other things at the same time drops some.
    assert.ok(late < 0.2, `${late} of the frames were late`);
  });

  looks('are filtered, with completion and the error under the text', async (page, show) => {
    await show(USER);
    const filter = page.getByRole('combobox', { name: 'where' });
    await filter.pressSequentially('ag');
    await page.getByRole('option', { name: 'age' }).waitFor();
    await filter.press('Tab');
    assert.equal(await filter.inputValue(), 'age');
    await filter.press('End');
    await filter.pressSequentially(' >> 30');
    await filter.press('Enter');
    const alert = page.getByRole('alert');
    await alert.waitFor();
    assert.match(await alert.textContent(), /age >> 30\n {6}\^/);
    assert.equal(await filter.getAttribute('aria-invalid'), 'true');
    await filter.fill("age > 80 AND name = 'Ada'");
    await filter.press('Enter');
    await page.getByText(/^\d+ of 20,\d{3} rows$/).waitFor();
    assert.match(page.url(), /where=age\+%3E\+80/);
    await page.goBack();
    await alert.waitFor();
    await page.goForward();
    await page.getByText(/^\d+ of 20,\d{3} rows$/).waitFor();
  });

  looks('are ordered by a heading, both ways and not', async (page, show) => {
    await show(USER);
    const heading = page.getByRole('columnheader', { name: /^age/ });
    await heading.getByRole('button').click();
    await page.waitForFunction(() => document.querySelector('[aria-sort=ascending]'));
    await heading.getByRole('button').click();
    await page.waitForFunction(() => document.querySelector('[aria-sort=descending]'));
    await page.waitForFunction(
      () =>
        Number(
          document.querySelectorAll('.grid .row:not(.header) [data-column="2"]')[0]?.textContent,
        ) > 80,
    );
    await page.getByRole('button', { name: 'Row order' }).click();
    await page.waitForFunction(() => !document.querySelector('[aria-sort=descending]'));
  });

  looks(
    'are ordered by the keyboard, which stays at the heading, as the place does',
    async (page, show) => {
      await show('#/t/many-columns');
      const last = page.getByRole('columnheader', { name: /^c39/ }).getByRole('button');
      await page.getByRole('grid').focus();
      await page.keyboard.press('End');
      await last.focus();
      for (const sorted of ['ascending', 'descending']) {
        await page.keyboard.press('Enter');
        await page.locator(`[aria-sort=${sorted}]`).waitFor();
        await page.getByRole('status').filter({ hasText: '3 of 3 rows' }).waitFor();
        await cell(page, sorted === 'ascending' ? '39' : '2039').waitFor();
        assert.match(await page.evaluate(() => document.activeElement.textContent), /^c39/);
      }
      assert.equal(await page.getByRole('region', { name: /^Row / }).count(), 0);
    },
  );

  looks('are shown from the first one on where another order is chosen', async (page, show) => {
    await show('#/t/prod/events?where=id+%3C+1000&top=500');
    await cell(page, '500').waitFor();
    await page.getByRole('columnheader', { name: /^id/ }).getByRole('button').click();
    await cell(page, '0').waitFor();
    await page.waitForFunction(() => !/top=/.test(location.hash));
    await page.goBack();
    await cell(page, '500').waitFor();
  });

  looks('are found by full text where an index is', async (page, show) => {
    await show(USER);
    await page.getByLabel('text').fill('manifest snapshot');
    await page.getByRole('button', { name: 'Search' }).click();
    await page.getByText(/of 20,\d{3} rows/).waitFor();
    await show('#/t/prod/events');
    await page.getByRole('grid').waitFor();
    assert.equal(await page.getByLabel('text').count(), 0);
  });

  looks('show the columns that are chosen', async (page, show) => {
    await show(USER);
    await page.getByText('All columns').click();
    await page.getByRole('checkbox', { name: /^bio/ }).uncheck();
    await page.getByText('7 of 8 columns').waitFor();
    await page.getByRole('columnheader', { name: /^bio/ }).waitFor({ state: 'detached' });
  });
});

describe('files of rows', () => {
  looks('are of the whole version that is shown', async (page, show) => {
    await show(`${USER}?version=1`);
    const of = 'of version 1';
    const csv = await saved(page, `CSV ${of}`, 'user-v1.csv');
    assert.equal(csv.trim().split('\n').length, 20_001);
    const lines = await saved(page, `NDJSON ${of}`, 'user-v1.ndjson');
    assert.deepEqual(Object.keys(JSON.parse(lines.split('\n')[7])).slice(0, 3), [
      'id',
      'name',
      'age',
    ]);
    assert.match(await saved(page, `Parquet ${of}`, 'user-v1.parquet'), /^PAR1.*PAR1$/s);
    assert.match(await saved(page, `Arrow ${of}`, 'user-v1.arrow'), /^ARROW1.*ARROW1$/s);
  });

  looks('are of what a filter finds, in its order and columns', async (page, show) => {
    await show(`${USER}?where=age+%3E+80&sort=age&cols=age`);
    const csv = await saved(page, 'CSV of all rows found', 'user-v5.csv');
    const [head, ...ages] = csv.trim().split('\n');
    assert.equal(head, 'age');
    assert.ok(ages.length > 10);
    assert.deepEqual(
      ages,
      ages.toSorted((a, b) => a - b),
    );
    await show(`${USER}?where=nope`);
    await page.getByRole('alert').waitFor();
    assert.equal(await page.getByRole('group', { name: /^Download/ }).count(), 0);
  });

  looks('are not linked where the address would be too long', async (page, show) => {
    await show(
      `${USER}?where=${encodeURIComponent(`age > 80 OR name IN ('${'x'.repeat(13_000)}')`)}`,
    );
    await page.getByText('too long for a link').waitFor();
  });
});

describe('the other tabs', () => {
  looks('columns, with histograms, and all rows where they are asked for', async (page, show) => {
    // Within a fifth of a second a busy machine looks at a sample.
    await show(`${USER}?view=columns&all=1`);
    const age = page.getByRole('region', { name: 'Column age' });
    await age.getByRole('img', { name: /^Histogram of age, from 20 to / }).waitFor();
    await page.getByText('All 20,').waitFor();
    const city = page.getByRole('table', { name: 'Values of city that are there most' });
    await city.getByRole('cell', { name: 'unknown' }).waitFor();
    await show('#/t/prod/events?view=columns');
    await page.getByText(/^A sample: [\d,]+ of 10,000,000 rows were looked at/).waitFor();
    await page.getByRole('link', { name: 'Look at all rows' }).waitFor();
  });

  looks('vectors, and the neighbours of one that is clicked', async (page, show) => {
    await show(`${USER}?view=vectors`);
    await page.getByRole('img', { name: 'Histogram of lengths of vector' }).waitFor();
    const plane = page.getByRole('img', { name: /^2,000 vectors on a plane/ });
    await plane.locator('circle').nth(1000).click({ force: true });
    await page.getByRole('table', { name: /^Rows near to row id/ }).waitFor();
    assert.match(page.url(), /near=\d+/);
    await show('#/t/prod/events?view=vectors');
    await page.getByText('The table has no column of vectors').waitFor();
  });

  looks('schema', async (page, show) => {
    await show(USER);
    await page.getByRole('tab', { name: 'Schema' }).click();
    const columns = page.getByRole('table', { name: 'Columns' });
    await columns.getByRole('row', { name: /vector fixed_size_list<float32>\[32\]/ }).waitFor();
    await page.getByRole('table', { name: 'Indexes' }).getByText('FTS on bio').waitFor();
  });

  looks('history, and what two versions have apart', async (page, show) => {
    await show(`${USER}?view=history`);
    await page.getByRole('radio', { name: 'compare from version 1' }).check();
    await page.getByRole('radio', { name: 'compare to version 4' }).check();
    await page
      .getByRole('region', { name: 'Differences of versions 1 and 4' })
      .getByText('20,000')
      .first()
      .waitFor();
    await page.getByRole('link', { name: '1', exact: true }).click();
    await page.getByText('version 1', { exact: true }).waitFor();
    await page.getByText('20,000 rows').first().waitFor();
    await page.getByRole('link', { name: /show the newest/ }).click();
    await page.getByText('version 5', { exact: true }).waitFor();
  });

  looks('rows that two versions have apart, by a key', async (page, show) => {
    await show(`${USER}?view=history&from=1&to=5`);
    const region = page.getByRole('region', { name: 'Differences of versions 1 and 5' });
    await region.getByText('Rows are matched by where they are stored').click();
    await region.getByRole('checkbox', { name: /^id / }).check();
    await region.getByText('500 added').waitFor();
    assert.match(page.url(), /on=id/);
    await region.getByText('The first 100 of 500 rows added').waitFor();
    const changed = region.getByRole('table', { name: 'Rows changed' });
    await changed.getByText('unknown').first().waitFor();
    assert.equal(await changed.locator('del').first().textContent(), 'null');
    await region.getByRole('table', { name: 'Rows removed' }).waitFor();
    await page.goBack();
    await region.getByText('20,000 written').or(region.getByText('gone')).first().waitFor();
    await page.goForward();
    await region.getByText('Rows are matched by id').waitFor();
    await region.getByRole('button', { name: 'All of their values' }).click();
    await region.getByText('Rows are matched by all of their values').waitFor();
    await region.getByRole('table', { name: 'Rows added' }).waitFor();
  });

  looks('tags and branches', async (page, show) => {
    await show(`${USER}?view=refs`);
    await page.getByRole('link', { name: 'trial' }).click();
    await page.getByText(/of branch trial/).waitFor();
    await page.goBack();
    await page.getByRole('link', { name: 'first' }).click();
    await page.getByText('version 1', { exact: true }).waitFor();
  });

  looks('are walked by the arrows', async (page, show) => {
    await show(USER);
    await page.getByRole('tab', { name: 'Rows' }).focus();
    await page.keyboard.press('ArrowRight');
    await page.getByRole('tab', { name: 'Columns', selected: true }).waitFor();
    await page.keyboard.press('ArrowLeft');
    await page.getByRole('tab', { name: 'Rows', selected: true }).waitFor();
  });
});

describe('hostile names and values', () => {
  looks('are shown as they are, and nothing of them runs', async (page, show) => {
    await show('');
    await page.getByRole('treeitem', { name: `namespace ${EVERY_CHARACTER}` }).click();
    await page.getByRole('treeitem', { name: `table ${EVERY_CHARACTER}` }).click();
    await page.getByRole('columnheader', { name: HOSTILE[0] }).waitFor();
    await cell(page, HOSTILE[1]).waitFor();
    await page.getByRole('columnheader', { name: HOSTILE[0] }).getByRole('button').click();
    await page.waitForFunction(() => document.querySelector('[aria-sort=ascending]'));
    await page.getByRole('grid').focus();
    await page.keyboard.press('Enter');
    await page.getByRole('region', { name: /^Row / }).getByText(HOSTILE[0]).first().waitFor();
    await page.getByRole('tab', { name: 'Schema' }).click();
    await page.getByRole('cell', { name: HOSTILE[1] }).waitFor();
    assert.equal(await page.locator('main img, main script').count(), 0);
  });

  looks('are compared, completed and saved as they are', async (page, show) => {
    const table = `#/t/${EVERY_CHARACTER}/${EVERY_CHARACTER}`;
    await show(`${table}?view=history&from=1&to=2`);
    await page.getByText('Rows are matched by').click();
    await page.getByRole('checkbox', { name: HOSTILE[0] }).check();
    await page.getByRole('table', { name: 'Rows added' }).getByText('control').first().waitFor();
    await show(`${table}?version=1`);
    const name = `${EVERY_CHARACTER.slice(0, 80)}-v1.csv`;
    const csv = await saved(page, 'CSV of version 1', name);
    assert.ok(csv.includes('window.pwned=1'));
    await show('#/sql');
    const box = page.getByLabel('A SELECT over tables');
    await box.fill(
      `SELECT 1 FROM ${`"${EVERY_CHARACTER}"`}.${`"${EVERY_CHARACTER}"`} t WHERE t."<im`,
    );
    await box.press('End');
    await box.press('g');
    await page.getByRole('option', { name: HOSTILE[0].replaceAll('"', '""') }).waitFor();
    await box.press('Tab');
    assert.ok((await box.inputValue()).endsWith(`t."${HOSTILE[0].replaceAll('"', '""')}"`));
    assert.equal(await page.locator('main img, main script').count(), 0);
  });

  for (const text of HOSTILE) {
    looks(`in the address: ${JSON.stringify(text)}`, async (page, show) => {
      // A half of a pair has no form in an address; the page gets the character that stands for it.
      const sent = encodeURIComponent(Buffer.from(text).toString());
      await show(`#/t/${sent}?where=${sent}`);
      await page.getByRole('alert').first().waitFor();
      await show(`${USER}?where=${sent}&text=${sent}`);
      await page.getByRole('alert').first().waitFor();
    });
  }
});

describe('the page', () => {
  looks('has a name for everything that can be used', async (page, show) => {
    for (const view of ['rows', 'columns', 'vectors', 'schema', 'history', 'refs']) {
      await show(`${USER}?view=${view}`);
      await page.getByRole('tabpanel').waitFor();
      const nameless = await page.evaluate(() =>
        [
          ...document.querySelectorAll(
            'button, input, select, textarea, a, [role=grid], [role=tree]',
          ),
        ]
          .filter((element) => {
            const label =
              element.getAttribute('aria-label') ?? element.labels?.[0]?.textContent ?? '';
            return (label + element.textContent).trim() === '';
          })
          .map(({ outerHTML }) => outerHTML.slice(0, 100)),
      );
      assert.deepEqual(nameless, []);
      const ids = await page.evaluate(() =>
        [...document.querySelectorAll('[id]')].map(({ id }) => id),
      );
      assert.equal(new Set(ids).size, ids.length);
    }
    assert.equal(await page.evaluate(() => document.documentElement.lang), 'en');
  });

  for (const colorScheme of ['light', 'dark']) {
    looks(
      `can be read in ${colorScheme}`,
      async (page, show) => {
        await show(USER);
        await cell(page, 'Ada').waitFor();
        const ratios = await page.evaluate(() => {
          const luminance = (text) => {
            const [r, g, b] = text.match(/[\d.]+/g).map((part) => Number(part) / 255);
            const linear = (c) => (c <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4);
            return 0.2126 * linear(r) + 0.7152 * linear(g) + 0.0722 * linear(b);
          };
          const backOf = (element) => {
            const { backgroundColor } = getComputedStyle(element);
            if (!/, 0\)$/.test(backgroundColor)) return backgroundColor;
            return element.parentElement === null
              ? 'rgb(255, 255, 255)'
              : backOf(element.parentElement);
          };
          return [
            ...document.querySelectorAll('.cell, .type, .facts span, button, .item, label'),
          ].map((element) => {
            const pair = [luminance(getComputedStyle(element).color), luminance(backOf(element))];
            return (Math.max(...pair) + 0.05) / (Math.min(...pair) + 0.05);
          });
        });
        assert.ok(ratios.length > 50);
        assert.ok(Math.min(...ratios) >= 4.5, `the least contrast is ${Math.min(...ratios)}`);
      },
      { colorScheme },
    );
  }

  looks('remembers the colours that were chosen', async (page, show) => {
    await show('');
    await page.getByRole('button', { name: 'Colours: system' }).click();
    await page.getByRole('button', { name: 'Colours: light' }).click();
    await page.reload();
    await page.getByRole('button', { name: 'Colours: dark' }).waitFor();
    const back = await page.evaluate(() => getComputedStyle(document.body).backgroundColor);
    assert.equal(back, 'rgb(20, 24, 29)');
  });
});

describe('the focus', () => {
  const focused = (page, name) =>
    page.waitForFunction((text) => document.activeElement.textContent === text, name);

  looks('goes back to the rows from one of them', async (page, show) => {
    await show(USER);
    await page.getByRole('grid').press('Enter');
    await page.getByRole('region', { name: /^Row / }).press('Escape');
    await page.locator('.grid:focus').waitFor();
  });

  looks('goes to the title from a link that is gone', async (page, show) => {
    await show(`${USER}?view=history`);
    for (const link of [
      page.getByRole('link', { name: '1', exact: true }),
      page.getByRole('link', { name: /show the newest/ }),
    ]) {
      await link.press('Enter');
      await focused(page, 'prod / search / user');
    }
    await show(`${USER}?view=refs`);
    await page.getByRole('link', { name: 'trial' }).press('Enter');
    await focused(page, 'prod / search / user');
    assert.equal(await page.getByRole('heading', { level: 1 }).count(), 1);
  });
});

looks(
  'a link to a table asks what the table is while it asks who the caller is',
  async (page, show) => {
    const [answered, held] = [[], []];
    await page.route('**/ui/api/*', async (route) => {
      const name = route.request().url().split('/').at(-1);
      if (name === 'about') await new Promise((resolve) => held.push(resolve));
      answered.push(name);
      await route.continue();
    });
    page.on('response', (response) => {
      if (response.url().endsWith('/api/table')) for (const go of held) go();
    });
    await show(USER);
    await page.getByRole('grid').waitFor();
    assert.deepEqual(answered.slice(0, 2), ['table', 'about']);
    assert.equal(answered.filter((name) => name === 'table' || name === 'about').length, 2);
  },
);

looks('a link far below what there is asks for what there is alone', async (page, show) => {
  let asked = 0;
  page.on('request', () => asked++);
  await show(`#/t/prod/${'n/'.repeat(500)}table`);
  await page.getByRole('alert').first().waitFor();
  await page.getByRole('treeitem', { name: 'table events' }).waitFor();
  assert.ok(asked < 20, `${asked} requests`);
});

looks('what two versions have apart stays in words beside long values', async (page, show) => {
  await show(`${USER}?view=history&from=1&to=5&on=id`);
  const heading = page
    .getByRole('table', { name: 'Rows added' })
    .getByRole('columnheader', { name: 'score' });
  assert.ok((await heading.boundingBox()).height < 35);
});

describe('a table that is changed while it is open', () => {
  const changed = join(folder, 'changed');
  let db;
  let changing;
  before(async () => {
    db = await connect(changed);
    changing = await serve({ root: changed });
  });
  after(async () => {
    await changing?.close();
    await db?.close();
  });
  const base = () => changing.url;
  const note = (page) => page.locator('.facts').getByRole('status');
  const look = (page) => page.evaluate(() => window.dispatchEvent(new Event('focus')));

  looks(
    'is told of by its newer version, which is shown where that is asked for',
    async (page, show) => {
      const table = await db.createTable('grown', [{ id: 7 }]);
      await show('#/t/grown?sort=id');
      await cell(page, '7').waitFor();
      await look(page);
      assert.equal((await note(page).textContent()).trim(), '');
      await table.add([{ id: 5 }]);
      await look(page);
      await note(page).filter({ hasText: 'Version 2 is there now.' }).waitFor();
      await page.getByRole('button', { name: 'Show it' }).press('Enter');
      await cell(page, '5').waitFor();
      assert.match(page.url(), /sort=id/);
      await page.getByText('version 2', { exact: true }).waitFor();
      assert.equal(await page.evaluate(() => document.activeElement.id), 'title');
    },
    { base },
  );

  looks(
    'is in the tree, and found, when the window gets the focus',
    async (page, show) => {
      await db.createNamespace(['later']);
      await db.createTable('first', [{ id: 1 }], ['later']);
      await show('#/n/later');
      const item = (name) => page.getByRole('treeitem', { name });
      await item('namespace later').click();
      await item('table first').waitFor();
      await db.createTable('second', [{ id: 1 }], ['later']);
      await db.dropTable('first', ['later']);
      await look(page);
      await item('table second').waitFor();
      await item('table first').waitFor({ state: 'detached' });
      const field = page.getByRole('searchbox', { name: 'Find a table' });
      await field.fill('later');
      await item('table later/second').waitFor();
      await db.createTable('third', [{ id: 1 }], ['later']);
      await look(page);
      await item('table later/third').waitFor();
      await field.fill('');
      await item('namespace later').click();
      await db.createTable('fourth', [{ id: 1 }], ['later']);
      await item('namespace later').click();
      await item('table fourth').waitFor();
    },
    { base },
  );

  looks(
    'is told of by an overwrite, and by other columns of it',
    async (page, show) => {
      await db.createTable('written', [{ id: 7 }]);
      await show('#/t/written');
      await cell(page, '7').waitFor();
      await db.createTable('written', [{ name: 'new' }], { mode: 'overwrite' });
      await page.getByRole('tab', { name: 'Schema' }).click();
      await note(page).filter({ hasText: 'is there now.' }).waitFor();
      await page.getByRole('button', { name: 'Show it' }).click();
      await page.getByRole('tab', { name: 'Rows' }).click();
      await cell(page, 'new').waitFor();
    },
    { base },
  );

  looks(
    'is told of where it is gone, and where another has its name',
    async (page, show) => {
      await db.createTable('gone', [{ id: 7 }]);
      await show('#/t/gone');
      await cell(page, '7').waitFor();
      await db.dropTable('gone');
      await look(page);
      await note(page).filter({ hasText: 'not there any more' }).waitFor();
      assert.equal(await page.getByRole('button', { name: 'Show it' }).count(), 0);
      await db.createTable('gone', [{ id: 8 }]);
      await look(page);
      await note(page).filter({ hasText: 'Another table has this name now.' }).waitFor();
      await page.getByRole('button', { name: 'Show it' }).click();
      await cell(page, '8').waitFor();
    },
    { base },
  );
});

looks('a statement that runs can be stopped, and another asked then', async (page, show) => {
  const held = [];
  await page.route('**/ui/api/sql', async (route) => {
    if (held.length > 0) return route.continue();
    await new Promise((resolve) => held.push(resolve));
    await route.abort().catch(() => {});
  });
  await show('#/sql');
  const box = page.getByLabel('A SELECT over tables');
  await box.fill('SELECT 1 AS one');
  await box.press('Control+Enter');
  const aborted = page.waitForEvent('requestfailed');
  await page.getByRole('button', { name: 'Stop' }).press('Enter');
  assert.match((await aborted).failure().errorText, /ABORTED/);
  await page.getByText('The statement was stopped.').waitFor();
  assert.equal(await page.getByRole('button', { name: 'Stop' }).count(), 0);
  assert.equal(await page.evaluate(() => document.activeElement.id), 'statement');
  held[0]();
  await page.getByRole('button', { name: 'Run' }).click();
  await page.getByRole('table', { name: 'Rows of the answer' }).waitFor();
});

looks('the cell that the keys are at is copied', async (page, show) => {
  await page.context().grantPermissions(['clipboard-read', 'clipboard-write']);
  await show(`${USER}?where=id = 7&cols=id,city,vector`);
  await cell(page, '7').waitFor();
  const copied = async () => {
    await page.keyboard.press('Control+c');
    return page.evaluate(() => navigator.clipboard.readText());
  };
  await page.getByRole('grid').focus();
  assert.equal(await copied(), '7');
  await page.keyboard.press('End');
  assert.match(await copied(), /^\[[-\d., ]+…/);
});

looks('texts of right-to-left scripts are read from their right', async (page, show) => {
  await show(`#/sql?q=${encodeURIComponent("SELECT 'שלום' AS a, 'x' AS b, 1 AS c")}`);
  const cells = page.getByRole('table', { name: 'Rows of the answer' }).locator('td');
  await cells.first().waitFor();
  const directions = await cells.evaluateAll((all) =>
    all.map((td) => getComputedStyle(td).direction),
  );
  assert.deepEqual(directions, ['rtl', 'ltr', 'ltr']);
});

looks('names that turn the direction of texts leave that to themselves', async (page, show) => {
  await show(`#/t/${EVERY_CHARACTER}/${EVERY_CHARACTER}?view=columns`);
  await page.locator('.column h2').first().waitFor();
  const isolated = await page
    .locator('.column h2')
    .evaluateAll((all) =>
      all.every(({ firstElementChild }) => firstElementChild.localName === 'bdi'),
    );
  assert.ok(isolated);
});

looks('the chosen tab is told apart where the system chooses the colours', async (page, show) => {
  await page.emulateMedia({ forcedColors: 'active' });
  await show(USER);
  await cell(page, 'Ada').waitFor();
  const borders = await page
    .getByRole('tab')
    .evaluateAll((all) => all.map((tab) => getComputedStyle(tab).borderBottomColor));
  assert.equal(new Set(borders.slice(1)).size, 1);
  assert.notEqual(borders[0], borders[1]);
});

looks('what is printed is the view alone, as a whole', async (page, show) => {
  await page.emulateMedia({ media: 'print' });
  await show(`${USER}?view=columns`);
  await page.locator('.histogram').first().waitFor();
  assert.equal(await page.getByRole('tree').isVisible(), false);
  const heights = await page
    .locator('.scroll')
    .evaluate(({ clientHeight, scrollHeight }) => [clientHeight, scrollHeight]);
  assert.equal(heights[0], heights[1]);
  assert.ok(heights[0] > 1_000, String(heights));
});

describe('a server that goes away', () => {
  let leaving;
  before(async () => {
    leaving = await serve({ root, readOnly: true });
  });
  after(() => leaving?.close());

  looks(
    'is asked again once it is back',
    async (page, show) => {
      const port = Number(new URL(leaving.url).port);
      await show(USER);
      await page.getByRole('gridcell').first().waitFor();
      // The tree lists one level after the other; it is whole then.
      await page.getByRole('treeitem', { name: 'table user' }).waitFor();
      await leaving.close();
      await page.getByRole('button', { name: 'age', exact: true }).click();
      await page.getByRole('alert').filter({ hasText: 'does not answer' }).waitFor();
      leaving = await serve({ root, readOnly: true, port });
      await page.getByRole('button', { name: 'Try again' }).click();
      await page.getByRole('status').filter({ hasText: 'of 20' }).waitFor();
      await page.getByRole('gridcell').first().waitFor();
      assert.equal(await page.getByRole('alert').count(), 0);
    },
    { base: () => leaving.url, mayStop: true },
  );

  looks('tables that are not there are called by their paths', async (page, show) => {
    await show('#/t/prod/nothing');
    await page.getByRole('alert').filter({ hasText: 'The table prod/nothing was not' }).waitFor();
  });
});

describe('a narrow window', () => {
  for (const [width, height] of [
    [720, 900],
    [390, 800],
    [320, 480],
  ]) {
    looks(
      `draws the rows in sight alone, at ${width} by ${height}`,
      async (page, show) => {
        await show('#/t/prod/events');
        await page.getByRole('gridcell').first().waitFor();
        const grid = page.getByRole('grid');
        const rows = page.locator('.grid .row');
        assert.ok((await rows.count()) < 40, String(await rows.count()));
        const room = await grid.evaluate(({ clientHeight }) => clientHeight);
        assert.ok(room >= 100 && room < height, String(room));
        const button = await page.getByRole('button', { name: 'Filter' }).boundingBox();
        const panel = await page.getByRole('tabpanel').boundingBox();
        assert.ok(button.x + button.width <= panel.x + panel.width + 1);
        await grid.press('Control+End');
        await page.getByText('10,000,000').first().waitFor();
      },
      { width, height },
    );
  }
});

/** A proxy that answers for a server below `/front`, and for nothing else. */
async function fronted(address) {
  const proxy = createServer((request, response) => {
    if (!request.url.startsWith('/front/')) return response.writeHead(404).end();
    const { method, headers } = request;
    const url = `${address}${request.url.slice('/front'.length)}`;
    const passed = ask(url, { method, headers }, (answer) => {
      response.writeHead(answer.statusCode, answer.headers);
      answer.pipe(response);
    });
    request.pipe(passed);
  });
  await new Promise((resolve) => proxy.listen(0, '127.0.0.1', resolve));
  const close = () => {
    proxy.closeAllConnections();
    return new Promise((resolve) => proxy.close(resolve));
  };
  return { url: `http://127.0.0.1:${proxy.address().port}/front`, close };
}

describe('with keys', () => {
  let keyed;
  let front;
  const ticket = 'a-ticket-of-more-than-32-characters-0123456789';
  before(async () => {
    keyed = await serve({
      root,
      readOnly: true,
      auth: { apiKeys: [{ key: 'search-key', name: 'search', grants: ['read:prod$search'] }] },
      ui: { ticket: { token: ticket, credentials: { apiKey: 'search-key' } } },
    });
    front = await fronted(keyed.url);
  });
  after(async () => {
    await front?.close();
    await keyed?.close();
  });

  looks(
    'asks for one, and shows what it may read',
    async (page, show) => {
      await show(USER);
      await page.getByLabel('API key or token').fill('wrong');
      await page.getByRole('button', { name: 'Sign in' }).click();
      await page.getByRole('alert').waitFor();
      await page.getByLabel('API key or token').fill('search-key');
      await page.getByRole('button', { name: 'Sign in' }).click();
      await page.getByRole('grid').waitFor();
      await show('#/t/prod/events');
      await page.getByRole('alert').filter({ hasText: 'do not allow' }).waitFor();
      assert.equal(await page.getByRole('treeitem', { name: 'table events' }).count(), 0);
      await page.getByRole('button', { name: 'Sign out' }).click();
      await page.getByLabel('API key or token').waitFor();
    },
    { base: () => keyed.url },
  );

  looks(
    'a proxy may put a path in front',
    async (page) => {
      await page.goto(`${front.url}/ui${USER}`);
      await page.getByLabel('API key or token').fill('search-key');
      await page.getByRole('button', { name: 'Sign in' }).click();
      await page.getByRole('grid').waitFor();
      const [{ path }] = await page.context().cookies();
      assert.equal(path, '/front/ui');
      await page.goto(`${front.url}/ui/${USER}`);
      await page.getByRole('grid').waitFor();
      assert.match(await saved(page, 'NDJSON of version 5', 'user-v5.ndjson'), /^\{"id":/);
      await page.getByRole('button', { name: 'Sign out' }).click();
      await page.getByLabel('API key or token').waitFor();
      assert.deepEqual(await page.context().cookies(), []);
    },
    { base: () => front.url },
  );

  looks(
    'a ticket opens the page without one, once',
    async (page) => {
      await page.goto(`${keyed.url}/ui?ticket=${ticket}`);
      await page.getByText('key:search').waitFor();
      assert.equal(page.url().includes(ticket), false);
      const cookies = await page.context().cookies();
      assert.deepEqual(
        cookies.map(({ httpOnly, sameSite, path }) => ({ httpOnly, sameSite, path })),
        [{ httpOnly: true, sameSite: 'Strict', path: '/ui' }],
      );
      await page.context().clearCookies();
      await page.goto(`${keyed.url}/ui?ticket=${ticket}`);
      await page.getByText('was used').waitFor();
    },
    { base: () => keyed.url },
  );
});
