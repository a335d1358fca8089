// Reads what the page shows, as its reader would take it along: by "Copy". Prints one JSON line for each fragment.
//
//   node test/browser/read_page.mjs CHROMIUM ADDRESS FRAGMENT..
import {mkdtempSync, rmSync} from 'node:fs';
import {tmpdir} from 'node:os';
import {chromium} from 'playwright-core';

const [executablePath, address, ...fragments] = process.argv.slice(2);
const folder = mkdtempSync(`${tmpdir()}/tarsier-read-`);
const context = await chromium.launchPersistentContext(folder, {
  executablePath, viewport: {width: 1600, height: 1000},
  args: ['--headless', '--no-sandbox', '--disable-gpu', '--no-first-run', '--disable-background-networking',
         '--disable-component-update', '--disable-sync'],
});
try {
  const page = await context.newPage();
  let complaints = [];
  page.on('console', (message) => {
    if (!message.text().includes('getImageData')) complaints.push(`console: ${message.text()}`);
  });
  page.on('pageerror', (error) => complaints.push(`error: ${error.message}`));
  await page.addInitScript(() => {
    const clipboard = {writeText: (text) => Promise.resolve(void (window.copied = text))};
    Object.defineProperty(navigator, 'clipboard', {value: clipboard});
  });
  for (const fragment of fragments) {
    await page.goto('about:blank');
    await page.goto(`${address}#${fragment}`);
    // Of a served page: all of it has been read, and the parts that the view wants are there.
    await page.waitForFunction(() => !document.querySelector('.waiting, .reading, [aria-busy="true"]') && document.querySelector('main'));
    await page.waitForLoadState('networkidle');
    await page.evaluate(() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done))));
    const copied = [];
    for (const button of await page.getByRole('button', {name: /^Copy/}).all()) {
      await button.click();
      await page.waitForFunction(() => window.copied !== undefined);
      copied.push(await page.evaluate(() => {
        const text = window.copied;
        delete window.copied;
        return text;
      }));
    }
    console.log(JSON.stringify({fragment, copied, complaints, text: await page.innerText('body')}));
    complaints = [];
  }
} finally {
  await context.close();
  rmSync(folder, {recursive: true, force: true});
}
