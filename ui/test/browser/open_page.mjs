// Opens pages in Chromium as a user would, tries some keys, and prints what came of it: one JSON line per page.
//
//   node test/browser/open_page.mjs CHROMIUM PAGE..
import {mkdtempSync, rmSync} from 'node:fs';
import {tmpdir} from 'node:os';
import {chromium} from 'playwright-core';

const [executablePath, ...pages] = process.argv.slice(2);
const folder = mkdtempSync(`${tmpdir()}/tarsier-open-`);
const context = await chromium.launchPersistentContext(folder, {
  executablePath, viewport: {width: 1280, height: 800},
  args: ['--headless', '--no-sandbox', '--disable-gpu', '--no-first-run', '--disable-background-networking',
         '--disable-component-update', '--disable-sync'],
});
try {
  for (const path of pages) {
    const page = await context.newPage();
    const complaints = [];
    page.on('console', (message) => {
      if (!message.text().includes('getImageData')) complaints.push(`console: ${message.text()}`);
    });
    page.on('pageerror', (error) => complaints.push(`error: ${error.message}`));
    page.on('dialog', (dialog) => {
      complaints.push(`dialog: ${dialog.message()}`);
      void dialog.dismiss();
    });
    page.on('request', (request) => {
      if (request.url().split('#')[0] !== `file://${path}` && request.url() !== 'data:,') complaints.push(`request: ${request.url()}`);
    });
    await page.goto(`file://${path}#view=flame`);
    await page.waitForSelector('#flame');
    await page.keyboard.press('t');
    await page.focus('#flame');
    for (const key of ['ArrowUp', 'ArrowUp', 'ArrowUp', ...Array(12).fill('ArrowRight')]) {
      await page.keyboard.press(key);
      await page.evaluate(() => new Promise(requestAnimationFrame));
    }
    await page.mouse.move(300, 400);
    console.log(JSON.stringify({
      complaints,
      hacked: await page.evaluate(() => 'hacked' in window),
      strangers: await page.locator('img, script:not([type]) ~ script').count(),
      text: await page.innerText('body'),
    }));
    await page.close();
  }
} finally {
  await context.close();
  rmSync(folder, {recursive: true, force: true});
}
