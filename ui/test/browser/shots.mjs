// Screenshots of a page, to be looked at: node test/browser/shots.mjs OUT-FOLDER URL NAME.. where each NAME is the
// fragment of a view; both themes, 1280 and 1920 pixels.
import {existsSync, mkdirSync} from 'node:fs';
import {chromium} from 'playwright-core';

const [folder, url, ...fragments] = process.argv.slice(2);
const executablePath = [process.env.CHROMIUM, '/usr/bin/chromium'].find((path) => path && existsSync(path));
mkdirSync(folder, {recursive: true});
const browser = await chromium.launch({executablePath, args: ['--no-sandbox', '--disable-gpu']});
try {
  for (const colorScheme of (process.env.THEMES ?? 'light,dark').split(',')) {
    for (const width of (process.env.WIDTHS ?? '1280,1920').split(',').map(Number)) {
      const page = await browser.newPage({viewport: {width, height: width === 1280 ? 800 : 1080}, colorScheme});
      page.on('console', (message) => console.log('console:', message.text()));
      page.on('pageerror', (error) => console.log('error:', error.message));
      for (const fragment of fragments) {
        await page.goto('about:blank');
        await page.goto(`${url}#${fragment}`);
        await page.waitForTimeout(Number(process.env.WAIT ?? 400));
        await page.screenshot({path: `${folder}/${fragment.replace(/[^\w]+/g, '_')}-${colorScheme}-${width}.png`});
      }
      await page.close();
    }
  }
} finally {
  await browser.close();
}
