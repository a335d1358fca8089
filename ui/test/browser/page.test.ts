// The shell and the flame graph in a real browser.
import assert from 'node:assert/strict';
import {readFileSync} from 'node:fs';
import test from 'node:test';
import {chromium} from 'playwright-core';
import {clickAt, colourAt, FLAGS, foundOf, pages, plain, pointAt, statusOf, withPage, zoomOf} from './harness';
import {placeOf} from './place';

test('the head says what was recorded', () => withPage('small', 'view=flame', async (page) => {
  const text = plain(await page.innerText('header'));
  for (const fact of ['JVM 17.0.15+6-Debian', 'pid 4242', '30.0 s', '900 cpu samples']) assert.ok(text.includes(fact), fact);
  assert.equal(await page.title(), 'demo \u00b7 tarsier');
}));

test('a click zooms, Escape, double click and breadcrumbs go back', () => withPage('small', 'view=flame', async (page) => {
  assert.equal(await zoomOf(page), 'all');
  await clickAt(page, 2, 0.2);
  assert.equal(await zoomOf(page), 'Orders.load 50.0 %');
  await clickAt(page, 3, 0.2);
  assert.equal(await zoomOf(page), 'Json.parse 40.0 %');
  await page.keyboard.press('Escape');
  assert.equal(await zoomOf(page), 'Orders.load 50.0 %');
  const {x, y} = await pointAt(page, 3, 0.2);
  await page.mouse.dblclick(x, y);
  assert.equal(await zoomOf(page), 'all');
  await clickAt(page, 3, 0.2);
  await page.click('.breadcrumbs button:has-text("Main.main")');
  assert.equal(await zoomOf(page), 'Main.main 60.0 %');
  await page.click('.breadcrumbs button:has-text("all")');
  assert.equal(await zoomOf(page), 'all');
}));

test('hovering says name, weights, samples, type and line', () => withPage('small', 'view=flame', async (page) => {
  const {x, y} = await pointAt(page, 2, 0.2);
  await page.mouse.move(x, y);
  const text = (await page.innerText('.tooltip')).replace(/\u202f/g, ' ');
  assert.equal(text, 'app.Orders.load\ntotal 500 ms, 50.0 % (95 % sure: 47.1\u201352.9 %) \u00b7 self 100 ms, 10.0 % \u00b7 500 samples\n' +
                     'c2 \u00b7 lines 40 80.0 %, 41 20.0 %');
}));

test('a search shows the share of all stacks with a match', () => withPage('small', 'view=flame', async (page) => {
  await page.keyboard.press('/');
  await page.keyboard.type('json');
  assert.equal(await foundOf(page), '60.0 % matched \u00b7 600 ms');
  assert.equal(await colourAt(page, 3, 0.35), '#7b2d8e');
  await page.fill('.search input', '(');
  assert.equal(await foundOf(page), 'no match');
  await page.click('button.regex');
  assert.match(await foundOf(page), /Invalid regular expression/);
  await page.fill('.search input', '^app\\.(Json|Report)');
  assert.equal(await foundOf(page), '70.0 % matched \u00b7 700 ms');
  await page.keyboard.press('r');
  await page.click('button:has-text("Reverse")');
  assert.equal(await page.inputValue('.search input'), '^app\\.(Json|Report)r');
  await page.fill('.search input', '^app\\.(Json|Report)');
  assert.equal(await foundOf(page), '70.0 % matched \u00b7 700 ms');
  await page.press('.search input', 'Escape');
  assert.equal(await foundOf(page), '');
}));

test('a method of the table is found by a click', () => withPage('small', 'view=flame', async (page) => {
  const row = page.locator('.methods tbody tr').first();
  assert.match((await row.innerText()).replace(/\s+/g, ' '), /60\.0 % 60\.0 % inlined Json\.parse app/);
  await row.locator('button').click();
  assert.equal(await foundOf(page), '60.0 % matched \u00b7 600 ms');
}));

test('r reverses: hot methods first', () => withPage('small', 'view=flame', async (page) => {
  await page.keyboard.press('r');
  assert.equal(await page.getAttribute('button:has-text("Reverse")', 'aria-pressed'), 'true');
  await page.focus('#flame');
  await page.keyboard.press('ArrowDown');
  await page.keyboard.press('ArrowDown');
  assert.match(await statusOf(page), /^app\.Json\.parse\s+total 600 ms, 60\.0 %/);
  await page.keyboard.press('ArrowDown');
  assert.match(await statusOf(page), /^app\.Orders\.load\s+total 300 ms, 30\.0 %/);
  await page.keyboard.press('Enter');
  assert.equal(await zoomOf(page), 'Orders.load 30.0 %');
}));

test('t puts threads first, the list chooses one', () => withPage('small', 'view=flame', async (page) => {
  await page.keyboard.press('t');
  await page.focus('#flame');
  await page.keyboard.press('ArrowUp');
  await page.keyboard.press('ArrowUp');
  assert.match(await statusOf(page), /^main\s+total 600 ms, 60\.0 %.* thread/);
  await page.keyboard.press('ArrowRight');
  assert.match(await statusOf(page), /^pool-1-thread-1\s+total 250 ms, 25\.0 %/);
  await page.keyboard.press('t');
  await page.selectOption('select', 't1');
  assert.match(await page.innerText('option:checked'), /25\.0.%\s+pool-1-thread-1 \(102\)/);
  await page.fill('.search input', 'json');
  assert.equal(await foundOf(page), '80.0 % matched \u00b7 200 ms');
}));

test('arrows, Enter, Escape, i and ? do what they say', () => withPage('small', 'view=flame', async (page) => {
  await page.focus('#flame');
  for (const key of ['ArrowUp', 'ArrowUp', 'ArrowRight', 'ArrowUp']) await page.keyboard.press(key);
  assert.match(await statusOf(page), /^app\.Worker\.run/);
  await page.keyboard.press('Enter');
  assert.equal(await zoomOf(page), 'Worker.run 29.0 %');
  await page.keyboard.press('i');
  await page.keyboard.press('ArrowDown');
  assert.match(await statusOf(page), /^app\.Json\.parse\s+total 200 ms/);
  await page.keyboard.press('Escape');
  assert.equal(await zoomOf(page), 'all');
  await page.keyboard.press('?');
  assert.ok(await page.isVisible('dialog'));
  await page.keyboard.press('Escape');
  assert.ok(!(await page.isVisible('dialog')));
  assert.equal(await zoomOf(page), 'all');
}));

test('the legend shows one type alone', () => withPage('small', 'view=flame', async (page) => {
  const before = await colourAt(page, 4, 0.55);
  await page.click('.legend button:has-text("vm")');
  assert.notEqual(await colourAt(page, 4, 0.55), before);
  await page.click('.legend button:has-text("vm")');
  await page.click('.legend button:has-text("kernel")');
  assert.equal(await colourAt(page, 4, 0.55), before);
}));

test('dark follows the system until d says otherwise', () => withPage('small', 'view=flame', async (page) => {
  const background = () => page.evaluate(() => getComputedStyle(document.body).backgroundColor);
  assert.equal(await background(), 'rgb(255, 255, 255)');
  await page.emulateMedia({colorScheme: 'dark'});
  await page.waitForFunction(() => document.documentElement.dataset['theme'] === 'dark');
  assert.equal(await background(), 'rgb(23, 25, 30)');
  await page.keyboard.press('d');
  await page.waitForFunction(() => document.documentElement.dataset['theme'] === 'light');
  assert.equal(await background(), 'rgb(255, 255, 255)');
  await page.evaluate(() => localStorage.clear());
}));

test('hostile names run nothing and are seen as they are', () => withPage('hostile', 'view=flame', async (page) => {
  await page.click('summary'); // the problems
  await page.keyboard.press('t');
  await page.keyboard.press('r');
  await page.keyboard.press('r');
  await page.focus('#flame');
  for (let i = 0; i < 12; i++) {
    await page.keyboard.press(i < 3 ? 'ArrowUp' : 'ArrowRight');
    await statusOf(page);
  }
  await clickAt(page, 2, 0.05);
  const {x, y} = await pointAt(page, 1, 0.05);
  await page.mouse.move(x, y);
  assert.equal(await page.evaluate(() => (window as {hacked?: unknown}).hacked), undefined);
  assert.equal(await page.locator('img, script:not([type]) ~ script').count(), 0);
  const text = await page.innerText('body');
  assert.ok(text.includes('</script><script>window.hacked=1</script>'));
  assert.ok(text.includes('a\\u{202e}gnirts.desrever\\u{2066}\\u{200b}b'));
  assert.ok(!/[\u202a-\u202e\u2066-\u2069]/.test(text));
  assert.ok(text.length < 30_000, 'a name of 60,000 characters is cut');
  assert.ok(await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth));
}));

test('a stack of 100,000 frames is drawn, scrolled, zoomed and reversed', () => withPage('deep', 'view=flame', async (page) => {
  assert.equal(await page.evaluate(() => document.getElementById('flame')!.scrollHeight), 100_001 * 18);
  assert.equal(await colourAt(page, 1, 0.4), '#68aede');
  await page.evaluate(() => document.getElementById('flame')!.scrollTo(0, 900_000));
  await page.waitForTimeout(50);
  const box = await placeOf(page, '#flame canvas');
  await page.mouse.click(box.x + 20, box.y + box.height / 2);
  assert.match(await page.innerText('.breadcrumbs'), /more/);
  await page.keyboard.press('r');
  await page.focus('#flame');
  await page.keyboard.press('ArrowDown');
  await page.keyboard.press('ArrowDown');
  assert.match(await statusOf(page), /^app\.Deep\.level9\s+total 1\.00 s, 50\.0 %/);
}));

test('an empty recording says so', () => withPage('empty', 'view=flame', async (page) => {
  assert.match(await page.innerText('.empty'), /^No samples in this recording\.\s+/);
}));

for (const [width, height] of [[320, 640], [768, 1024], [1920, 1080], [3840, 2160]] as const) {
  test(`${width} x ${height} holds the page without scrolling sideways`, () => withPage('server', 'view=flame', async (page) => {
    await page.setViewportSize({width, height});
    const sizes = await page.evaluate(() => ({
      page: document.documentElement.scrollWidth, window: innerWidth,
      canvas: document.querySelector('#flame canvas')!.clientWidth,
    }));
    assert.ok(sizes.page <= sizes.window, JSON.stringify(sizes));
    assert.ok(sizes.canvas >= sizes.window * 0.6, JSON.stringify(sizes));
  }));
}

test('the canvas has a pixel for every pixel of the screen', async () => {
  const browser = await chromium.launch({executablePath: process.env['CHROMIUM']!, args: FLAGS});
  try {
    const page = await browser.newPage({deviceScaleFactor: 2});
    await page.goto(`file://${pages['small']}#view=flame`);
    await page.waitForSelector('#flame');
    const [real, css] = await page.evaluate(() => {
      const canvas = document.querySelector<HTMLCanvasElement>('#flame canvas')!;
      return [canvas.width, canvas.clientWidth];
    });
    assert.equal(real, 2 * css!);
  } finally {
    await browser.close();
  }
});

for (const scheme of ['light', 'dark'] as const) {
  test(`axe finds nothing serious in ${scheme}`, async () => {
    for (const name of ['small', 'compared', 'hostile', 'empty']) {
      await withPage(name, 'view=flame', async (page) => {
        await page.emulateMedia({colorScheme: scheme});
        await page.waitForFunction((want) => document.documentElement.dataset['theme'] === want, scheme);
        await page.keyboard.press('/');
        await page.keyboard.type('json');
        await page.evaluate(readFileSync('node_modules/axe-core/axe.min.js', 'utf8'));
        const found = await page.evaluate(async () => {
          const axe = (window as unknown as {axe: {run: () => Promise<{violations: {id: string; impact: string;
            nodes: {html: string}[]}[]}>}}).axe;
          return (await axe.run()).violations.map((v) => `${v.impact} ${v.id}: ${v.nodes[0]!.html.slice(0, 200)}`);
        });
        assert.deepEqual(found.filter((line) => /^(serious|critical)/.test(line)), []);
      });
    }
  });
}

test('an allocation profile counts bytes and shows classes innermost', () => withPage('alloc', 'view=flame', async (page) => {
  await clickAt(page, 3, 0.3);
  const status = await statusOf(page);
  assert.match(status, /byte\[\]/);
  assert.match(status, /total 3\.00 GB, 75\.0 %/);
  assert.match(status, /class/);
  assert.match(plain(await page.innerText('.summary')), /800 alloc samples/);
  assert.match(await page.innerText('.legend'), /class/);
}));

test('a comparison shows what changed, what is new and what is gone', () => withPage('compared', 'view=flame', async (page) => {
  const head = (await page.innerText('header')).replace(/\u202f/g, ' ');
  assert.match(head, /compared with <\/script>/);
  assert.equal(await page.evaluate(() => (window as unknown as {hacked?: number}).hacked), undefined);
  const legend = await page.innerText('.legend');
  for (const kind of ['same', 'more', 'gone', 'new']) assert.match(legend, new RegExp(kind));
  const rows = (await page.innerText('.methods tbody')).replace(/\u202f/g, ' ').split('\n').filter((line) => line.trim() !== '');
  assert.match(rows.join(' '), /^300 ms\s+600 ms\s+more\s+Main\.slower.*300 ms\s+0 s\s+gone\s+Main\.gone/);
  await page.focus('#flame');
  await page.keyboard.press('Home');
  await page.keyboard.press('ArrowUp');
  assert.match(await statusOf(page), /^app\.Main\.main\s+total 1\.00 s \u2192 1\.20 s \(\+200 ms, \u00d71\.20\)/);
  await page.click('.methods button:has-text("gone")');
  assert.match(await foundOf(page), /matched/);
}));
