// The other views of stacks, their links, and what they have in common.
import assert from 'node:assert/strict';
import {readFileSync} from 'node:fs';
import test from 'node:test';
import type {Page} from 'playwright-core';
import {foundOf, plain, statusOf, withPage, zoomOf, clickAt} from './harness';
import {placeOf} from './place';

const rowsOf = async (page: Page, label: string): Promise<string[]> =>
  (await page.locator(`table[aria-label="${label}"] tbody tr:not([aria-hidden])`).allInnerTexts()).map((row) =>
    plain(row).replace(/\s+/g, ' ').trim());
const hash = (page: Page): Promise<string> => page.evaluate(() => location.hash);

test('every view has a link, and Back returns to the one before', () => withPage('timed', 'view=flame', async (page) => {
  for (const [label, view] of [['Call tree', 'tree'], ['Methods', 'methods'], ['Callers', 'callers'], ['Ring', 'ring']] as const) {
    await page.click(`.views a:has-text("${label}")`);
    await page.waitForSelector(`.views a[aria-current]:has-text("${label}")`);
    assert.match(await hash(page), new RegExp(`view=${view}`));
  }
  await page.goBack();
  await page.waitForSelector('.views a[aria-current]:has-text("Callers")');
  await page.keyboard.press('4');
  await page.waitForSelector('.views a[aria-current]:has-text("Methods")');
}));

test('Back undoes a zoom, and the link of a zoom restores it', () => withPage('timed', 'view=flame', async (page) => {
  await clickAt(page, 2, 0.2);
  assert.match(await zoomOf(page), /^Orders\.load/);
  const link = await hash(page);
  await page.goBack();
  await page.waitForFunction(() => document.querySelector('.breadcrumbs [aria-current]')!.textContent === 'all');
  await page.evaluate((to) => {
    location.hash = to;
  }, link);
  await page.waitForFunction(() => document.querySelector('.breadcrumbs [aria-current]')!.textContent!.startsWith('Orders.load'));
  await page.reload();
  await page.waitForSelector('#flame');
  assert.match(await zoomOf(page), /^Orders\.load/);
}));

test('the link of a zoom in the reversed graph restores it, by threads as well', () => withPage('timed', 'view=flame&flame.reverse=1&flame.threads=1', async (page) => {
  await page.focus('#flame');
  for (const key of ['ArrowDown', 'ArrowDown', 'ArrowDown', 'ArrowDown', 'Enter']) await page.keyboard.press(key);
  assert.match(await zoomOf(page), /^Orders\.load 30\.0 %/);
  await page.reload();
  await page.waitForSelector('#flame');
  assert.match(await zoomOf(page), /^Orders\.load 30\.0 %/);
  assert.match(await page.innerText('.breadcrumbs'), /main/);
}));

test('a link has weight, time, threads, search and stacks', () => withPage('timed',
  'view=methods&range=0-5&thread=t0&q=json&stacks.exclude=print&weight=cpu', async (page) => {
    assert.deepEqual((await rowsOf(page, 'Methods')).map((row) => row.replace(/.*?([A-Z]\w+\.\w+).*/, '$1')), ['Json.parse']);
    assert.equal(await page.inputValue('.search input'), 'json');
    assert.equal(await page.inputValue('input[placeholder="exclude"]'), 'print');
    assert.match(plain(await page.innerText('.filter-bar')), /0\.0 – 0\.5 s \(500 ms\)/);
    assert.match(plain(await page.innerText('.filter-bar')), /main \(101\)/);
    assert.equal(await foundOf(page), '80.0 % matched \u00b7 400 ms');
    await page.click('button[aria-label="Remove the range of time"]');
    await page.waitForFunction(() => !location.hash.includes('range'));
  }));

test('dragging over the strip of time filters every view, and Back undoes it', () => withPage('timed', 'view=flame', async (page) => {
  const box = await placeOf(page, '.time-strip');
  await page.mouse.move(box.x + box.width * 0.41, box.y + 10);
  await page.mouse.down();
  await page.mouse.move(box.x + box.width * 0.45, box.y + 12, {steps: 4});
  await page.mouse.move(box.x + box.width * 0.49, box.y + 12, {steps: 4});
  await page.mouse.up();
  await page.waitForFunction(() => location.hash.includes('range=4-5'));
  assert.match(plain(await page.innerText('.methods tbody tr')), /^100 %\s+100 %/);
  assert.match(await page.innerText('.methods tbody'), /ksys_write/);
  await page.keyboard.press('3');
  await page.waitForSelector('table[aria-label="Call tree"]');
  assert.equal((await rowsOf(page, 'Call tree')).length, 4);
  await page.goBack();
  await page.goBack();
  await page.waitForFunction(() => !location.hash.includes('range'));
}));

test('the range of time is moved with the keyboard', () => withPage('timed', 'view=flame', async (page) => {
  await page.focus('.handle.first');
  for (let i = 0; i < 5; i++) await page.keyboard.press('ArrowRight');
  await page.waitForFunction(() => location.hash.includes('range=5-10'));
  assert.equal(await page.getAttribute('.handle.first', 'aria-valuetext'), '0.50 seconds');
  await page.keyboard.press('Escape');
  await page.waitForFunction(() => !location.hash.includes('range'));
}));

test('the weight can be changed', () => withPage('timed', 'view=methods', async (page) => {
  assert.match((await rowsOf(page, 'Methods'))[0]!, /^600 ms 60\.0 % \S+ 600 ms 60\.0 % \S+ 600 inlined Json\.parse/);
  await page.click('.segments button:has-text("Allocation")');
  await page.waitForFunction(() => document.querySelector('table[aria-label="Methods"]')!.textContent!.includes('byte[]'));
  assert.match((await rowsOf(page, 'Methods'))[0]!, /^1\.00 GB 100 % \S+ 1\.00 GB 100 %/);
}));

test('include and exclude keep and drop stacks', () => withPage('small', 'view=methods', async (page) => {
  await page.fill('input[placeholder="include"]', 'worker');
  await page.press('input[placeholder="include"]', 'Enter');
  await page.waitForFunction(() => location.hash.includes('include'));
  assert.match(plain(await page.innerText('#methods-title')), /of 290 ms/);
  await page.fill('input[placeholder="exclude"]', '/Monitor|array/');
  await page.press('input[placeholder="exclude"]', 'Enter');
  await page.waitForFunction(() => document.querySelector('#methods-title')!.textContent!.includes('200'));
  await page.fill('input[placeholder="exclude"]', '/(/');
  await page.press('input[placeholder="exclude"]', 'Enter');
  await page.waitForSelector('.bad');
  await page.fill('input[placeholder="exclude"]', 'Thread.run');
  await page.press('input[placeholder="exclude"]', 'Enter');
  await page.click('button:has-text("Show everything")');
  await page.waitForFunction(() => document.querySelector('#methods-title')!.textContent!.includes('1.00'));
}));

test('"only" leaves stacks with a match, the share stays that of all', () => withPage('small', 'view=flame&q=json', async (page) => {
  assert.equal(await foundOf(page), '60.0 % matched \u00b7 600 ms');
  await page.click('button.only');
  await page.focus('#flame');
  await page.keyboard.press('Home');
  assert.match(await statusOf(page), /^all\s+total 600 ms, 100 %/);
  assert.equal(await foundOf(page), '60.0 % matched \u00b7 600 ms');
}));

test('the call tree opens, closes and is walked with the arrow keys', () => withPage('small', 'view=tree', async (page) => {
  const table = 'table[aria-label="Call tree"]';
  await page.focus(table);
  await page.keyboard.press('ArrowDown');
  assert.match(await statusOf(page), /^app\.Main\.main\s+total 600 ms, 60\.0 %/);
  const open = (await rowsOf(page, 'Call tree')).length;
  await page.keyboard.press('ArrowLeft');
  await page.waitForFunction(() => document.querySelector('tr[aria-selected="true"]')!.getAttribute('aria-expanded') === 'false');
  assert.ok((await rowsOf(page, 'Call tree')).length < open);
  await page.keyboard.press('ArrowRight');
  await page.keyboard.press('ArrowRight');
  assert.match(await statusOf(page), /^app\.Orders\.load/);
  await page.keyboard.press('ArrowLeft');
  await page.keyboard.press('ArrowLeft');
  assert.match(await statusOf(page), /^app\.Main\.main/);
  await page.click('.actions button:has-text("Flame graph")');
  await page.waitForSelector('#flame');
  assert.match(await zoomOf(page), /^Main\.main/);
}));

test('a search leaves of the call tree what leads to matches', () => withPage('small', 'view=tree&q=ksys', async (page) => {
  assert.deepEqual((await rowsOf(page, 'Call tree')).map((row) => row.split(' ').slice(-2).join(' ')),
    ['Main.main app', 'Report.print app', 'native write', 'kernel ksys_write']);
}));

test('callers and callees of a method, and on to the next', () => withPage('small', 'view=callers&callers.method=app.Worker.run', async (page) => {
  assert.match(plain(await page.innerText('.sides h2')), /app\.Worker\.run\s+total 29\.0 %, self 0 %, 290 samples/);
  assert.deepEqual(await rowsOf(page, 'Direct callers'), ['100 % Thread.run java.lang']);
  assert.deepEqual((await rowsOf(page, 'Direct callees')).map((row) => row.split(' ').slice(0, 3).join(' ')),
    ['69.0 % Json.parse', '17.2 % jlong_disjoint_arraycopy', '13.8 % JVM_MonitorNotify']);
  await page.click('table[aria-label="Direct callees"] button:has-text("Json.parse")');
  await page.waitForFunction(() => document.querySelector('.sides h2')!.textContent!.includes('Json.parse'));
  assert.match(plain(await page.innerText('.sides h2')), /total 60\.0 %, self 60\.0 %/);
  await page.goBack();
  await page.waitForFunction(() => document.querySelector('.sides h2')!.textContent!.includes('Worker.run'));
  await page.click('table[aria-label="Choose a method"] tr:has-text("Orders.load")');
  await page.waitForFunction(() => document.querySelector('.sides h2')!.textContent!.includes('Orders.load'));
}));

test('the ring goes in by a click and out by its centre', () => withPage('small', 'view=ring', async (page) => {
  const box = await placeOf(page, '#ring canvas');
  const [x, y] = [box.x + box.width / 2, box.y + box.height / 2];
  assert.equal(await zoomOf(page), 'all');
  await page.mouse.click(x + 44 + 20, y); // a quarter of the way round, innermost ring
  assert.match(await zoomOf(page), /^Main\.main 60\.0 %/);
  assert.deepEqual((await rowsOf(page, 'Calls of the innermost ring')).map((row) => row.split(' ').slice(0, 2).join(' ')), ['83.3 %', '16.7 %']);
  await page.mouse.click(x, y);
  assert.equal(await zoomOf(page), 'all');
  await page.focus('#ring');
  for (const key of ['ArrowUp', 'ArrowRight', 'Enter']) await page.keyboard.press(key);
  assert.match(await zoomOf(page), /^Thread\.run 29\.0 %/);
  await page.keyboard.press('Backspace');
  assert.equal(await zoomOf(page), 'all');
}));

test('what is shown can be copied as text and saved as a picture', () => withPage('small', 'view=flame', async (page) => {
  const copied = async (): Promise<string> => {
    await page.click('.export button:has-text("Copy")');
    await page.waitForSelector('.export [role="status"]:has-text("copied")');
    return page.evaluate(() => navigator.clipboard.readText());
  };
  assert.match(await copied(), /^total\tshare\tself\tsamples\tframe\n1000000000\t1\.000000\t0\t900\tall\n600000000\t0\.600000\t0\t600\t {2}app\.Main\.main\n/);
  for (const view of ['flame', 'callers', 'ring']) {
    await page.click(`.views a[href*="view=${view}"]`);
    await page.waitForSelector('.export button:has-text("PNG")');
    const [download] = await Promise.all([page.waitForEvent('download'), page.click('.export button:has-text("PNG")')]);
    assert.match(download.suggestedFilename(), /^demo-\w+\.png$/);
    const bytes = readFileSync((await download.path())!);
    assert.equal(bytes.subarray(1, 4).toString(), 'PNG');
    assert.ok(bytes.length > 2000, `${view}: ${bytes.length}`);
  }
  for (const [view, first] of [['tree', 'total'], ['methods', 'self'], ['ring', 'ring'], ['callers', 'direction']] as const) {
    await page.click(`.views a[href*="view=${view}"]`);
    await page.waitForSelector('.export button:has-text("Copy")');
    assert.ok((await copied()).startsWith(`${first}\t`), view);
  }
}));

test('a comparison shows change in the tree and among methods', () => withPage('compared', 'view=tree', async (page) => {
  const rows = await rowsOf(page, 'Call tree');
  assert.match(rows[0]!, /^1\.00 s 1\.20 s \+200 ms ×1\.20 2,200 \S \w+ Main\.main/);
  assert.ok(rows.some((row) => /^300 ms 0 s −300 ms gone −300 ms 300 gone Main\.gone/.test(row)), rows.join('\n'));
  await page.click('.views a[href*="view=methods"]');
  await page.waitForSelector('table[aria-label="Methods"]');
  const methods = await rowsOf(page, 'Methods');
  assert.match(methods[0]!, /^300 ms 600 ms \+300 ms ×2\.00 300 ms 600 ms \+300 ms 900 more Main\.slower/);
  assert.match(methods[1]!, /^300 ms 0 s −300 ms gone .* gone Main\.gone/);
  await page.click('.views a[href*="view=ring"]');
  await page.waitForSelector('#ring');
  await page.click('.views a[href*="view=callers"]');
  await page.waitForSelector('.sides h2');
}));

for (const view of ['tree', 'methods', 'callers', 'ring', 'flame']) {
  test(`hostile and empty recordings in ${view}`, async () => {
    await withPage('hostile', `view=${view}`, async (page) => {
      assert.equal(await page.evaluate(() => (window as {hacked?: unknown}).hacked), undefined);
      assert.equal(await page.locator('img, main script').count(), 0);
      const text = await page.innerText('body');
      assert.ok(!/[\u202a-\u202e\u2066-\u2069]/.test(text));
      assert.ok(text.length < 60_000);
      assert.ok(await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth));
    });
    await withPage('empty', `view=${view}`, async (page) => {
      assert.match(await page.innerText('.empty'), /^No samples in this recording/);
    });
  });
}

for (const view of ['tree', 'methods', 'callers', 'ring']) {
  test(`${view} fits into narrow and wide windows`, () => withPage('server', `view=${view}`, async (page) => {
    for (const [width, height] of [[320, 640], [768, 1024], [1920, 1080]] as const) {
      await page.setViewportSize({width, height});
      await page.waitForTimeout(50);
      const sizes = await page.evaluate(() => ({page: document.documentElement.scrollWidth, window: innerWidth}));
      assert.ok(sizes.page <= sizes.window, `${view} ${JSON.stringify(sizes)}`);
    }
  }));
}

for (const scheme of ['light', 'dark'] as const) {
  test(`axe finds nothing serious in any view in ${scheme}`, async () => {
    for (const [name, view] of [['timed', 'tree'], ['timed', 'methods'], ['timed', 'callers'], ['timed', 'ring'], ['compared', 'tree'],
                                ['compared', 'methods'], ['hostile', 'tree']] as const) {
      await withPage(name, `view=${view}&range=1-6`, async (page) => {
        await page.emulateMedia({colorScheme: scheme});
        await page.waitForFunction((want) => document.documentElement.dataset['theme'] === want, scheme);
        await page.evaluate(readFileSync('node_modules/axe-core/axe.min.js', 'utf8'));
        const found = await page.evaluate(async () => {
          const axe = (window as unknown as {axe: {run: () => Promise<{violations: {id: string; impact: string;
            nodes: {html: string}[]}[]}>}}).axe;
          return (await axe.run()).violations.map((v) => `${v.impact} ${v.id}: ${v.nodes[0]!.html.slice(0, 300)}`);
        });
        assert.deepEqual(found.filter((line) => /^(serious|critical)/.test(line)), [], `${name} ${view}`);
      });
    }
  });
}

test('time blocked by locks is a weight, by who was blocked and by who held them, and exact', () => withPage('locks', 'view=methods&weight=locks', async (page) => {
  const heading = async (): Promise<string> => plain(await page.innerText('h2:has-text("methods")'));
  assert.match(await heading(), /of 400 ms, 2 contentions \u00b7 exact/);
  assert.doesNotMatch(plain(await page.innerText('main, body')), /95 %/);
  assert.match((await rowsOf(page, 'Methods'))[0]!, /^400 ms 100 % 400 ms 100 % 2 class Cache app/);
  await page.keyboard.press('w');
  await page.waitForSelector('button[aria-pressed="true"]:has-text("Lock owners")');
  assert.match(await hash(page), /weight=owners/);
  assert.match(await heading(), /of 400 ms, 3 delays \u00b7 exact/);
  assert.ok((await rowsOf(page, 'Methods')).some((row) => /^0 s 0 % 350 ms 87\.5 % 0 c2 Cache\.put app$/.test(row)));
  await page.keyboard.press('w');
  await page.waitForSelector('button[aria-pressed="true"]:has-text("CPU")');
  assert.match(plain(await page.innerText('body')), /95 %/);
}));

test('a contention has its part of each moment: it goes on where none began', () => withPage('locks', 'view=flame&weight=locks&range=2-3', async (page) => {
  await page.focus('#flame');
  for (const key of ['ArrowUp', 'ArrowUp']) await page.keyboard.press(key);
  assert.match(await statusOf(page), /total 100 ms, 100 % \(exact\)/);
}));
